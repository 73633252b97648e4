/**
 * The service as a package: compiled programs, since Node.js strips no types below node_modules, in the folders of the checkout, so that each finds the
 * migrations, the pages and package.json where it looks for them.
 */
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { compile, manifest, pack, root, run, stage, writeJson } from "./Tools.ts"

const command = "scripts/pitboss.mjs"

/** The page of the casino: sent to browsers file by file. */
const casino = "scripts/casino/page"

/** Programs that the command starts, and those that a program starts. */
const programs = (): ReadonlyArray<string> => {
  const named = [...readFileSync(join(root, command), "utf8").matchAll(/\bfile: "([^"]+)"/g)].map(([, file = ""]) =>
    file
  )
  return [...new Set([...named, "src/main", "src/cli"])]
}

/** Dependencies that the compiled code names: those of the pages' build are left out. */
const dependenciesOf = (folder: string): Readonly<Record<string, string>> => {
  const code = globSync("{src,scripts,packages}/**/*.js", { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), "utf8")
  )
  return Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) =>
      code.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`))
    )
  )
}

/** Packs the service, whose pages are built; the name of the file. */
export const packService = (): string => {
  const folder = stage("service")
  // types are checked before each commit
  const compilerOptions = { rootDir: root, outDir: folder, sourceMap: true, inlineSources: true, noCheck: true }
  compile("casino", {
    compilerOptions: { ...compilerOptions, lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], types: [] },
    files: [join(root, casino, "Main.ts")],
    include: []
  })
  compile("service", {
    compilerOptions,
    files: programs().map((program) => join(root, `${program}.ts`)),
    include: []
  })
  mkdirSync(join(folder, "dist"), { recursive: true })
  cpSync(join(root, "migrations"), join(folder, "migrations"), { recursive: true })
  cpSync(join(root, "dist", "pages"), join(folder, "dist", "pages"), { recursive: true })
  run(process.execPath, [join(root, "scripts", "bundle.ts"), join(folder, "dist", "command")])
  copyFileSync(join(root, command), join(folder, command))
  copyFileSync(join(root, "scripts", "package", "service", "README.md"), join(folder, "README.md"))
  mkdirSync(join(folder, "docs"))
  const read = ["CHANGELOG.md", ...globSync("docs/*.md", { cwd: root })]
  for (const file of [...read, `${casino}/index.html`, `${casino}/style.css`]) {
    copyFileSync(join(root, file), join(folder, file))
  }
  const { description, engines, license, optionalDependencies, version } = manifest
  writeJson(join(folder, "package.json"), {
    name: "pitboss",
    version,
    description,
    license,
    type: "module",
    bin: { pitboss: command },
    engines,
    files: ["CHANGELOG.md", "dist", "docs", "migrations", "scripts", "src"],
    dependencies: dependenciesOf(folder),
    optionalDependencies
  })
  return pack(folder)
}
