import { Runtime, Schema } from "effect"

/** Why a run cannot begin or has failed, in one line for the person who started it. */
export class SimulatorError extends Schema.TaggedError<SimulatorError>()("SimulatorError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}
