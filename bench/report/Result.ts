import { Effect, Schema } from "effect"
import type { Histogram } from "hdr-histogram-js"
import { execFileSync } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import { BenchError, failedAt } from "../BenchError.ts"
import { Timeline } from "../load/Job.ts"
import { type Machine, MachineSchema } from "./Machine.ts"

/** One measured quantity, with its value per round. */
export const Figure = Schema.Struct({
  name: Schema.String,
  unit: Schema.Literals(["/s", "ms", "s", "µs", "×", "%", "bytes", "MiB", ""]),
  /** Better direction; `neither` is reported but not compared. */
  better: Schema.Literals(["higher", "lower", "neither"]),
  /** One per round, in their order. */
  values: Schema.Array(Schema.Finite),
  /** Limit, in the unit and the direction of the figure. */
  limit: Schema.optionalKey(Schema.Finite)
})
export type Figure = typeof Figure.Type

/** A row: one target, operation or case of a group that is looked at together. */
export const Measurement = Schema.Struct({
  group: Schema.String,
  name: Schema.String,
  figures: Schema.Array(Figure),
  /** Of all rounds together: latency in ms that a share of 0 to 1 of the requests did not exceed. */
  curve: Schema.optionalKey(Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite]))),
  /** Timeline of the round with the median throughput. */
  timeline: Schema.optionalKey(Timeline),
  errors: Schema.Record(Schema.String, Schema.Int)
})
export type Measurement = typeof Measurement.Type

/** Headline value of a scenario. */
export const Headline = Schema.Struct({ value: Schema.String, label: Schema.String })
export type Headline = typeof Headline.Type

/** Result of one run of one scenario. */
export const Result = Schema.Struct({
  format: Schema.Literal(2),
  scenario: Schema.String,
  title: Schema.String,
  /** How it was measured, in sentences. */
  method: Schema.Array(Schema.String),
  started_at: Schema.String,
  seconds: Schema.Finite,
  /** Of the sources; null where there is no repository. */
  revision: Schema.NullOr(Schema.String),
  machine: MachineSchema,
  postgres: Schema.Record(Schema.String, Schema.String),
  options: Schema.Record(Schema.String, Schema.Unknown),
  headlines: Schema.Array(Headline),
  measurements: Schema.Array(Measurement)
})
export type Result = typeof Result.Type

/** Where results go; `BENCH_RESULTS` names another folder. */
const folder = (): string => process.env["BENCH_RESULTS"] ?? join(import.meta.dirname, "..", "results")

/** Points of a percentile curve: dense in the tail, limited by the number of values. */
export const curveOf = (histogram: Histogram): ReadonlyArray<readonly [number, number]> => {
  if (histogram.totalCount === 0) return []
  const nines = Math.min(5, Math.log10(histogram.totalCount))
  const steps = Math.ceil(nines / 0.1)
  return Array.from({ length: steps + 1 }, (_, step) => {
    const share = 1 - 10 ** -(Math.min(nines, step * 0.1))
    return [Number(share.toFixed(7)), histogram.getValueAtPercentile(share * 100) / 1000] as const
  })
}

/** A figure that every round gave. */
export const figure = (
  name: string,
  unit: Figure["unit"],
  better: Figure["better"],
  values: ReadonlyArray<number>,
  limit?: number
): Figure => ({ name, unit, better, values, ...(limit === undefined ? {} : { limit }) })

/** Revision of a checkout; null where there is no repository. */
export const revisionOf = (checkout: string): string | null => {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: checkout,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    }).trim()
  } catch {
    return null
  }
}

/** Findings of a scenario; the other fields of a result are added here. */
export interface Findings {
  readonly scenario: string
  readonly title: string
  readonly method: ReadonlyArray<string>
  readonly startedAt: Date
  readonly revision: string | null
  readonly machine: Machine
  readonly postgres: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, unknown>>
  readonly headlines: ReadonlyArray<Headline>
  readonly measurements: ReadonlyArray<Measurement>
}

export const makeResult = ({ startedAt, ...findings }: Findings): Result => ({
  format: 2,
  ...findings,
  started_at: startedAt.toISOString(),
  seconds: Math.round((Date.now() - startedAt.getTime()) / 1000)
})

/** Writes text to `bench/results/<time>-<name>` and gives the path from here. */
export const writeReport = (startedAt: string, name: string, text: string): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(folder(), { recursive: true })
      const path = join(folder(), `${startedAt.slice(0, 19).replaceAll(":", "-")}-${name}`)
      await writeFile(path, text)
      return relative(process.cwd(), path)
    },
    catch: failedAt("the result cannot be written")
  })

export const toJson = (result: Result): string => `${JSON.stringify(result, undefined, 1)}\n`

/** Reads a file that an earlier run wrote. */
export const readResult = (path: string): Effect.Effect<Result, BenchError> =>
  Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: failedAt(`${path} cannot be read`) }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Result))),
    Effect.catchTag(
      "SchemaError",
      () => Effect.fail(new BenchError({ message: `${basename(path)} is no result of this bench suite's format 2` }))
    )
  )
