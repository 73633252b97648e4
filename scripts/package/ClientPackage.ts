/** The client as a package: plain modules, types, and the Effect client in one file. */
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build } from "vite"
import { compile, manifest, pack, root, stage, writeJson } from "./Tools.ts"

const entries = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./player": { types: "./dist/browser.d.ts", default: "./dist/browser.js" },
  "./effect": { types: "./dist/effect/client/Clients.d.ts", default: "./dist/effect.js" }
} as const

const specifiers = /((?:from |import\()")(\.[^"]+)\.ts"/g

/** Keeps the declarations that an entry leads to, since others name types of newer compilers, and has them name files that are there. */
const finishTypes = (folder: string): void => {
  const reached = new Set<string>(Object.values(entries).map(({ types }) => join(folder, types)))
  for (const file of reached) {
    const text = readFileSync(file, "utf8")
    for (const [, , path = ""] of text.matchAll(specifiers)) reached.add(join(dirname(file), `${path}.d.ts`))
    writeFileSync(file, text.replaceAll(specifiers, "$1$2.js\""))
  }
  for (const file of globSync("**/*.d.ts", { cwd: folder })) {
    if (!reached.has(join(folder, file))) rmSync(join(folder, file))
  }
}

/** Packs the client; the name of the file. */
export const packClient = async (): Promise<string> => {
  const folder = stage("client")
  const source = join(root, "scripts", "package", "client")
  compile("client", {
    compilerOptions: {
      rootDir: join(source, "src"),
      outDir: join(folder, "dist"),
      target: "ES2022",
      lib: ["ES2024", "DOM", "DOM.Iterable"],
      types: [],
      declaration: true,
      sourceMap: true,
      inlineSources: true
    },
    include: [join(source, "src")]
  })
  // types of the Effect client, whose contract is the service's
  compile("effect", {
    compilerOptions: {
      rootDir: join(root, "src"),
      outDir: join(folder, "dist", "effect"),
      declaration: true,
      emitDeclarationOnly: true
    },
    include: [join(root, "src", "client")]
  })
  await build({
    configFile: false,
    logLevel: "error",
    root,
    build: {
      outDir: join(folder, "dist"),
      emptyOutDir: false,
      target: "es2022",
      minify: false,
      sourcemap: true,
      lib: { entry: join(root, "src", "client", "Clients.ts"), formats: ["es"], fileName: () => "effect.js" },
      rolldownOptions: { external: /^effect(\/|$)/ }
    }
  })
  finishTypes(folder)
  copyFileSync(join(source, "README.md"), join(folder, "README.md"))
  writeJson(join(folder, "package.json"), {
    name: "pitboss-client",
    version: manifest.version,
    description: "Client of a Pitboss service: operators' servers, players' browsers, webhooks",
    license: manifest.license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    files: ["dist"],
    exports: { ...entries, "./package.json": "./package.json" },
    peerDependencies: { effect: `^${manifest.dependencies["effect"]}` },
    peerDependenciesMeta: { effect: { optional: true } }
  })
  return pack(folder)
}
