import { Effect } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { BenchError } from "../BenchError.ts"

const folder = join(import.meta.dirname, "..", "results")

/** Writes a result as JSON to `bench/results/<timestamp>-<scenario>.json` and returns the path from here. */
export const writeResult = (scenario: string, startedAt: Date, result: unknown): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(folder, { recursive: true })
      const path = join(folder, `${startedAt.toISOString().slice(0, 19).replaceAll(":", "-")}-${scenario}.json`)
      await writeFile(path, `${JSON.stringify(result, null, 2)}\n`)
      return relative(process.cwd(), path)
    },
    catch: (error) => new BenchError({ message: `the result cannot be written: ${String(error)}` })
  })
