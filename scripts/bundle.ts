/**
 * Bundles the back-office command line into dist/command, for the command `pitboss`: a start is nearly all loading of modules, and one file loads in a
 * third of the time of five hundred. `node scripts/bundle.ts [FOLDER]` puts it elsewhere. What it was made of stands beside it, by which
 * scripts/pitboss.mjs knows one of older sources.
 */
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { build, type Rolldown } from "vite"

const root = join(import.meta.dirname, "..")
const target = resolve(process.argv[2] ?? join(root, "dist", "command"))
const fresh = `${target}.${process.pid}`

const sources = new Set(["package-lock.json"])

/** Notes the project's own files of the bundle. */
const note: Rolldown.Plugin = {
  name: "sources",
  generateBundle: (_, bundle) => {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue
      for (const file of chunk.moduleIds) {
        if (file.startsWith(root) && !file.includes("node_modules")) sources.add(relative(root, file))
      }
    }
  }
}

await build({
  root,
  configFile: false,
  logLevel: "error",
  plugins: [note],
  ssr: { noExternal: true, target: "node" },
  build: {
    ssr: join(root, "src", "runCli.ts"),
    outDir: fresh,
    emptyOutDir: true,
    copyPublicDir: false,
    target: "node24",
    minify: true,
    rolldownOptions: { output: { entryFileNames: "command.mjs", codeSplitting: false } }
  }
})

const times = [...sources].map((file) => [file, statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0])
writeFileSync(join(fresh, "sources.json"), JSON.stringify(Object.fromEntries(times)))
mkdirSync(dirname(target), { recursive: true })
rmSync(target, { recursive: true, force: true })
try {
  renameSync(fresh, target)
} catch {
  // another process has made the same at the same time
  rmSync(fresh, { recursive: true, force: true })
}
