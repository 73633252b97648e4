/** Failure of a simulator's run or of its start, as one line for the person who started it. */
import { Runtime, Schema } from "effect"

export class SimulatorError extends Schema.TaggedError<SimulatorError>()("SimulatorError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}
