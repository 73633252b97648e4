import { Runtime, Schema } from "effect"

/** Why a run of the bench suite cannot be believed or cannot go on. `message` is for the person who started it. */
export class BenchError extends Schema.TaggedError<BenchError>()("BenchError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}
