import { Runtime, Schema } from "effect"

/** Error that ends the demo, in one line for the user. */
export class DemoError extends Schema.TaggedError<DemoError>()("DemoError", {
  message: Schema.String
}) {
  /** The command prints the message itself; the stack behind it would only hide it. */
  override readonly [Runtime.errorReported] = false
}
