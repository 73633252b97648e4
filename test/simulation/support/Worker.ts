/** A thread that runs seeds for `scripts/simulate.ts`. */
import { parentPort, workerData } from "node:worker_threads"
import { Schema } from "effect"
import { planOf, topologies, type Topology } from "./Plan.ts"
import { noBug } from "./SeededBug.ts"
import { seededBugs } from "./SeededBugs.ts"
import { simulate } from "./Simulation.ts"

/** Start parameters of a worker. */
export interface WorkerOptions {
  readonly steps: number
  /** Name of a seeded bug. */
  readonly bug: string | null
  /** Null: of every kind. */
  readonly topology: Topology | null
}

/** Range of seeds processed at a time. */
export interface Portion {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** Result of a seed. */
export interface SeedResult {
  readonly seed: number
  readonly hash: string
  readonly laws: ReadonlyArray<string>
  readonly tasks: number
  readonly commits: number
  readonly requests: number
}

const readOptions = Schema.decodeUnknownSync(
  Schema.Struct({
    steps: Schema.Int,
    bug: Schema.NullOr(Schema.String),
    topology: Schema.NullOr(Schema.Literals(topologies))
  })
)
const readPortion = Schema.decodeUnknownSync(Schema.Struct({ from: Schema.Int, to: Schema.Int }))

if (parentPort !== null) {
  // stack traces of simulated failures are unused and take a tenth of the time
  Error.stackTraceLimit = 0
  const port = parentPort
  const options: WorkerOptions = readOptions(workerData)
  const bug = options.bug === null ? noBug : seededBugs[options.bug] ?? noBug
  port.on("message", (message: unknown) => {
    const { from, to }: Portion = readPortion(message)
    const results: Array<SeedResult> = []
    for (let seed = from; seed < to; seed++) {
      const { answers, commits, violations, hash, steps } = simulate(
        planOf(seed, options.steps, options.topology ?? undefined),
        bug
      )
      const laws = [...new Set(violations.map(({ law }) => law))]
      results.push({ seed, hash, laws, tasks: steps, commits, requests: answers })
    }
    port.postMessage(results)
  })
}
