// The load generator's process: runs jobs from its parent one after the other and answers each with its result.
import { Schema } from "effect"
import { type GeneratorMessage, Job } from "./Job.ts"
import { LoadRun } from "./LoadRun.ts"

const send = (message: GeneratorMessage): void => {
  process.send?.(message)
}

const decodeJob = Schema.decodeUnknownSync(Job)

const run = async (message: unknown): Promise<void> => {
  try {
    const job = decodeJob(message)
    const result = await new LoadRun(job, {
      measuring: () => send({ type: "measuring" }),
      measured: () => send({ type: "measured" }),
      progress: (processed, errors) => send({ type: "progress", processed, errors })
    }).result
    send({ type: "result", result })
  } catch (error) {
    send({ type: "failed", message: error instanceof Error ? error.message : String(error) })
  }
}

process.on("message", (message) => void run(message))
process.on("disconnect", () => process.exit(0))
// The parent gets the interrupt of the terminal too and decides when this process ends.
process.on("SIGINT", () => {})
