/** Programs that packing runs, and the package.json that it starts from. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const root = join(import.meta.dirname, "..", "..")

/** An empty folder for a package. */
export const stage = (name: string): string => {
  const folder = join(root, "dist", "package", name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Runs a program to its end; its output is the reason when it fails. */
export const run = (command: string, args: ReadonlyArray<string>, cwd = root): string => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stdout + stderr}`)
  return stdout
}

interface Manifest {
  readonly version: string
  readonly license: string
  readonly description: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

export const writeJson = (file: string, value: unknown): void =>
  writeFileSync(file, JSON.stringify(value, null, 2) + "\n")

/** Compiles with the project's settings and these. */
export const compile = (
  name: string,
  { compilerOptions, ...files }: {
    readonly compilerOptions: object
    readonly files?: ReadonlyArray<string>
    readonly include: ReadonlyArray<string>
  }
): void => {
  const config = join(root, "dist", "package", `tsconfig.${name}.json`)
  writeJson(config, {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { noEmit: false, plugins: [], ...compilerOptions },
    exclude: [],
    ...files
  })
  run(join(root, "node_modules", ".bin", "tsc"), ["-p", config])
}

/** Packs a staged folder into `dist`; the name of the file. */
export const pack = (folder: string): string =>
  run("npm", ["pack", "--silent", "--pack-destination", join(root, "dist")], folder).trim()
