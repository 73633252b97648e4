import { Runtime, Schema } from "effect"

/** Why the demo cannot go on, in one line for the person who started it. */
export class DemoError extends Schema.TaggedError<DemoError>()("DemoError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}
