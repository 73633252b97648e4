/** Refusal to start because of a setting, the data folder or the database. */
import { Schema } from "effect"

/**
 * `message` is one line that names the remedy; the composition root prints it and exits with 1.
 */
export class StartupError extends Schema.TaggedError<StartupError>()("StartupError", {
  message: Schema.String
}) {}
