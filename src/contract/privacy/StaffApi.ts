/** Staff API endpoints for data retention, erasure and data subject requests. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { retentionClasses } from "../../domain/jurisdiction/Profile.ts"
import { dataRequestStatuses, dataRequestTypes } from "../../domain/privacy/DataRequests.ts"
import { refusals } from "../common/Errors.ts"
import { oneOf, pathId } from "../common/Fields.ts"
import { part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { action } from "../common/StaffAction.ts"
import { ofOperator, ofPlayer } from "../common/StaffFields.ts"
import { DataRequest, ErasureResult } from "./DataRequestResource.ts"

const count = Schema.Int

/** A request, and whose operator it came from. */
export const StaffDataRequest = Schema.Struct({
  operator_id: id,
  ...DataRequest.fields,
  case_id: Schema.NullOr(id),
  created_by: Schema.String.annotate({ description: "Who carried it." })
})

export type StaffDataRequest = typeof StaffDataRequest.Type

/** What is due of one class. */
const RetentionOfClass = Schema.Struct({
  class: Schema.Literals(retentionClasses),
  due: count.annotate({ description: "Players of whom data is to be erased by the next night." }),
  kept: count.annotate({ description: "Players of whom data is kept for its period." }),
  next_at: Schema.NullOr(timestamp).annotate({ description: "When the period of the next one is over." }),
  columns: Schema.Array(Schema.String).annotate({ description: "Where this data stands." })
})

export const RetentionReport = Schema.Struct({
  classes: Schema.Array(RetentionOfClass),
  examined: count.annotate({ description: "Players that were looked at: those under a profile with periods." }),
  is_complete: Schema.Boolean.annotate({ description: "False where there were more players than one report looks at." })
})

export type RetentionReport = typeof RetentionReport.Type

const Erasure = Schema.Struct({
  player_id: id,
  operator_id: id,
  dry_run: Schema.Boolean,
  ...ErasureResult.fields
})

export const DataGroup = HttpApiGroup.make("data").annotate(OpenApi.Description, "Personal data").add(
  HttpApiEndpoint.get("retention", "/retention", { query: ofOperator, success: single(RetentionReport) }).annotateMerge(
    action("What personal data is due to be erased, and what is kept", {
      roles: ["compliance"],
      concern: "operator",
      waiting: "Looking at players"
    })
  ),
  HttpApiEndpoint.post("erase", "/players/:player/erase", {
    params: { player: pathId },
    payload: Schema.Struct({
      dry_run: Schema.optionalKey(Schema.Boolean.annotate({
        description: "Say what would be erased, and erase nothing.",
        flag: { isSwitch: true }
      }))
    }),
    success: single(Erasure),
    error: refusals("INVALID_REQUEST")
  }).annotateMerge(
    action("Erase what has not to be kept of a player, for good", {
      roles: ["compliance"],
      concern: "operator",
      is: "authority"
    })
  ),
  HttpApiEndpoint.get("requests", "/data-requests", {
    query: {
      ...partQuery,
      ...ofOperator,
      ...ofPlayer,
      type: Schema.optionalKey(oneOf(dataRequestTypes).annotate({ description: "Filter by type." })),
      status: Schema.optionalKey(oneOf(dataRequestStatuses).annotate({ description: "Filter by status." }))
    },
    success: part(StaffDataRequest)
  }).annotateMerge(
    action("Requests of persons about their data, newest first", { roles: ["compliance"], concern: "operator" })
  )
)
