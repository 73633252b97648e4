/** Staff API endpoint for the status of background jobs. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
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

export const JobGroup = HttpApiGroup.make("job").annotate(OpenApi.Description, "Work that the service does by itself")
  .add(
    HttpApiEndpoint.get("list", "/jobs", { success: list(Job) }).annotateMerge(
      action("What runs when, and how the last run went", { roles: anyRole, concern: "catalogue" })
    )
  )
