import { Runtime, Schema } from "effect"

/** Error that invalidates or ends a run of the bench suite. `message` is for the user. */
export class BenchError extends Schema.TaggedError<BenchError>()("BenchError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}

/** An unexpected error as the end of a run. */
export const failedAt = (what: string) => (error: unknown): BenchError =>
  new BenchError({ message: `${what}: ${error instanceof Error ? error.message : String(error)}` })
