/** Distributes seeds over threads and sums up their results. */
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import { Trace } from "../../kit/Chance.ts"
import type { Portion, SeedResult, WorkerOptions } from "./Worker.ts"

export interface RunOptions extends WorkerOptions {
  readonly firstSeed: number
  readonly seeds: number
  readonly workers: number
  /** Called with the number of finished seeds and of failed ones. */
  readonly onProgress: (done: number, failed: number) => void
}

export interface Summary {
  readonly first_seed: number
  readonly seeds: number
  readonly steps: number
  readonly failures: ReadonlyArray<{ readonly seed: number; readonly laws: ReadonlyArray<string> }>
  /** Over the traces of all seeds: the same code gives the same. */
  readonly hash: string
  readonly tasks: number
  readonly commits: number
  readonly requests: number
  readonly seconds: number
  readonly seeds_per_second: number
}

/** Number of seeds that a thread takes at a time. */
const portionSize = 20

/** Number of failures after which no further seeds are started. */
const failuresMost = 20

const isResults = (message: unknown): message is ReadonlyArray<SeedResult> => Array.isArray(message)

/** Runs the seeds; never fails, a failing seed is part of the summary. */
export const runSeeds = (options: RunOptions): Effect.Effect<Summary> =>
  Effect.callback<Summary>((resume) => {
    const { firstSeed, onProgress, bug, seeds, steps, topology } = options
    const end = firstSeed + seeds
    const startedAt = performance.now()
    const results: Array<SeedResult> = []
    const workers = new Set<Worker>()
    let next = firstSeed
    const failed = () => results.filter(({ laws }) => laws.length > 0)
    const finish = () => {
      const sorted = [...results].sort((one, other) => one.seed - other.seed)
      const trace = new Trace()
      for (const { hash } of sorted) trace.addText(hash)
      const sum = (amount: (result: SeedResult) => number) => sorted.reduce((total, one) => total + amount(one), 0)
      const seconds = (performance.now() - startedAt) / 1000
      resume(Effect.succeed({
        first_seed: firstSeed,
        seeds: sorted.length,
        steps,
        failures: sorted.filter(({ laws }) => laws.length > 0).map(({ laws, seed }) => ({ seed, laws })),
        hash: trace.digest(),
        tasks: sum(({ tasks }) => tasks),
        commits: sum(({ commits }) => commits),
        requests: sum(({ requests }) => requests),
        seconds: Math.round(seconds * 10) / 10,
        seeds_per_second: Math.round(sorted.length / seconds * 10) / 10
      }))
    }
    const feed = (worker: Worker) => {
      if (next >= end || failed().length >= failuresMost) {
        workers.delete(worker)
        void worker.terminate()
        if (workers.size === 0) finish()
        return
      }
      const portion: Portion = { from: next, to: Math.min(end, next + portionSize) }
      next = portion.to
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(portion)
    }
    const workerData: WorkerOptions = { steps, bug, topology }
    for (let number = 0; number < options.workers; number++) {
      const worker = new Worker(new URL("./Worker.ts", import.meta.url), { workerData })
      workers.add(worker)
      worker.on("message", (message: unknown) => {
        if (isResults(message)) results.push(...message)
        onProgress(results.length, failed().length)
        feed(worker)
      })
      worker.on("error", (error) => resume(Effect.die(error)))
      feed(worker)
    }
    return Effect.sync(() => {
      for (const worker of workers) void worker.terminate()
    })
  })
