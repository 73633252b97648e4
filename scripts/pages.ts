/**
 * Builds the back office's pages into dist/pages, each file also brotli-compressed, unless built from the same
 * sources already. Silent when up to date.
 *
 *     node scripts/pages.ts
 */
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants } from "node:zlib"
import { standardError } from "../src/platform/Output.ts"

const root = join(import.meta.dirname, "..")
const target = join(root, "dist", "pages")

/** Digest of the inputs of the build: sources of the pages, the staff API with its imports, and the packages. */
const digest = (): string => {
  const hash = createHash("sha256")
  for (const file of globSync("src/**/*", { cwd: root, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0")
  }
  return hash.update(readFileSync(join(root, "package-lock.json"))).digest("hex")
}

const compress = promisify(brotliCompress)

const compressible = /\.(js|css|svg|html|json)$/

/** Builds beside the target and moves it there, so that a running service never reads half a build. */
const make = async (made: string): Promise<void> => {
  const fresh = `${target}.${process.pid}`
  // independent of the environment of the caller, a test or a developer's shell
  process.env["NODE_ENV"] = "production"
  // only here: every start asks whether there is something to build, and loading what builds takes longer than the question
  const { build } = await import("vite")
  await build({
    configFile: join(root, "src", "pages", "vite.config.ts"),
    mode: "production",
    configLoader: "native",
    logLevel: "error",
    build: { outDir: fresh }
  })
  await Promise.all(
    globSync("**/*", { cwd: fresh }).filter((file) => compressible.test(file)).map(async (file) => {
      const bytes = readFileSync(join(fresh, file))
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      writeFileSync(join(fresh, `${file}.br`), await compress(bytes, { params }))
    })
  )
  writeFileSync(join(fresh, "digest"), made)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(join(root, "dist"), { recursive: true })
  try {
    renameSync(fresh, target)
  } catch (error) {
    // another process has made the same at the same time
    rmSync(fresh, { recursive: true, force: true })
    if (!existsSync(join(target, "digest"))) throw error
  }
}

const wanted = digest()
const stamp = join(target, "digest")
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  standardError.offer("pitboss: building the back office's pages\n")
  await make(wanted)
}
