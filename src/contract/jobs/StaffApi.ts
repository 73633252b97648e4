/** Background jobs in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { list } from "../common/Pagination.ts"
import { timestamp } from "../common/Resource.ts"

const Job = Schema.Struct({
  name: Schema.String,
  next_run_at: timestamp,
  is_running: Schema.Boolean,
  last_started_at: Schema.NullOr(timestamp),
  last_ended_at: Schema.NullOr(timestamp),
  last_done: Schema.NullOr(Schema.Int),
  failures: Schema.Int,
  last_error: Schema.NullOr(Schema.String)
})

export const JobGroup = HttpApiGroup.make("job").add(
  HttpApiEndpoint.get("list", "/jobs", { success: list(Job) })
)
