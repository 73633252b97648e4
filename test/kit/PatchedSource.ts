/** The service with a seeded bug: a copy of its source with one text replaced. */
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

/** Returns the `main.ts` of the copy. Fails unless the text occurs exactly once in its file. */
export const patchedMain = Effect.fnUntraced(function*({ file, from, to }: Patch) {
  const folder = yield* serverFolder
  return yield* Effect.sync(() => {
    for (const name of ["src", "migrations"]) Fs.cpSync(join(root, name), join(folder, name), { recursive: true })
    Fs.copyFileSync(join(root, "package.json"), join(folder, "package.json"))
    Fs.symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    const path = join(folder, "src", file)
    const parts = Fs.readFileSync(path, "utf8").split(from)
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times: ${from}`)
    Fs.writeFileSync(path, parts.join(to))
    return join(folder, "src", "main.ts")
  })
})
