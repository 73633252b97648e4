/** Copies of the service's sources: with a seeded bug, or as a release that has yet to come. */
import { Effect } from "effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import { serverFolder } from "./E2eDatabase.ts"

const root = join(import.meta.dirname, "..", "..")

export interface Patch {
  /** Below `src`. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/** Folder with the sources that a process needs, removed with the scope. */
const copyOfSources = Effect.tap(serverFolder, (folder) =>
  Effect.sync(() => {
    for (const name of ["src", "migrations"]) Fs.cpSync(join(root, name), join(folder, name), { recursive: true })
    Fs.copyFileSync(join(root, "package.json"), join(folder, "package.json"))
    Fs.symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  }))

/** Returns the `main.ts` of the copy. Fails unless the text occurs exactly once in its file. */
export const patchedMain = Effect.fnUntraced(function*({ file, from, to }: Patch) {
  const folder = yield* copyOfSources
  return yield* Effect.sync(() => {
    const path = join(folder, "src", file)
    const parts = Fs.readFileSync(path, "utf8").split(from)
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times: ${from}`)
    Fs.writeFileSync(path, parts.join(to))
    return join(folder, "src", "main.ts")
  })
})

/** Returns the `main.ts` of a later release: these sources with one migration more. */
export const laterMain = Effect.fnUntraced(function*(release: string, migration: string) {
  const folder = yield* copyOfSources
  return yield* Effect.sync(() => {
    const number = Fs.readdirSync(join(folder, "migrations")).length + 1
    Fs.writeFileSync(join(folder, "migrations", `${String(number).padStart(4, "0")}_later.sql`), migration)
    const described = join(folder, "package.json")
    Fs.writeFileSync(described, JSON.stringify({ ...JSON.parse(Fs.readFileSync(described, "utf8")), version: release }))
    return join(folder, "src", "main.ts")
  })
})
