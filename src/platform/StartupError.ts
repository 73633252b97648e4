import { Schema } from "effect"

/**
 * The service refuses to start: a setting, the data folder or the database is not what it must be. `message` is one
 * line for the person who started it and names what to change; the composition root prints it and exits with 1.
 */
export class StartupError extends Schema.TaggedError<StartupError>()("StartupError", {
  message: Schema.String
}) {}
