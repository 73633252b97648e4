import { Context, Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type BenchError, failedAt } from "../BenchError.ts"

/** Root of this checkout. */
export const project = dirname(dirname(import.meta.dirname))

/** Checkout, its packages installed, of which service, pages and commands are measured. */
export const Checkout = Context.Reference<string>("pitboss/bench/Checkout", { defaultValue: () => project })

/** Node.js arguments of `npm start`, so that measurements run as in production. Throws when it runs something else. */
export const startArguments = (packageText: string): ReadonlyArray<string> => {
  const { scripts } = Schema.decodeSync(PackageFile)(packageText)
  const words = scripts.start.split(/\s+/)
  const [program, script] = [words.indexOf("node"), words.indexOf("src/main.ts")]
  if (program < 0 || script < program) throw new Error(`npm start runs something else: ${scripts.start}`)
  return words.slice(program + 1, script)
}

const PackageFile = Schema.fromJsonString(Schema.Struct({ scripts: Schema.Struct({ start: Schema.String }) }))

/** {@link startArguments} of a checkout; targets of comparison get those of this one. */
export const nodeFlags = (checkout: string): Effect.Effect<ReadonlyArray<string>, BenchError> =>
  Effect.try({
    try: () => startArguments(readFileSync(join(checkout, "package.json"), "utf8")),
    catch: failedAt(checkout)
  })
