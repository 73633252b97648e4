/** Wire schemas of data subject requests. */
import { Schema } from "effect"
import { retentionClasses } from "../../domain/jurisdiction/Profile.ts"
import { dataRequestStatuses, dataRequestTypes } from "../../domain/privacy/DataRequests.ts"
import { oneOf } from "../common/Fields.ts"
import { id, timestamp } from "../common/Resource.ts"

/** What an erasure did, and what it left. */
export const ErasureResult = Schema.Struct({
  erased: Schema.Array(Schema.Literals(retentionClasses)).annotate({
    description: "Kinds of data of which nothing is left."
  }),
  kept: Schema.Array(Schema.Struct({
    class: Schema.Literals(retentionClasses),
    until: Schema.NullOr(timestamp).annotate({
      description: "Null while the moment from which the period counts is not known."
    }),
    basis: Schema.String.annotate({ description: "The profile with its version, and its period." })
  })).annotate({ description: "What has to be kept longer; it is erased by itself when its time is over." })
})

export type ErasureResult = typeof ErasureResult.Type

export const DataRequest = Schema.Struct({
  id,
  player_id: id,
  type: Schema.Literals(dataRequestTypes),
  status: Schema.Literals(dataRequestStatuses),
  due_at: timestamp,
  created_at: timestamp,
  completed_at: Schema.NullOr(timestamp),
  result: Schema.NullOr(ErasureResult).annotate({ description: "Of an erasure." })
}).annotate({
  identifier: "DataRequest",
  examples: [{
    id: 91780,
    player_id: 4711,
    type: "erasure",
    status: "completed",
    due_at: "2026-12-20T12:00:00.000Z",
    created_at: "2026-11-20T12:00:00.000Z",
    completed_at: "2026-11-20T12:00:00.000Z",
    result: {
      erased: ["marketing", "security"],
      kept: [{ class: "payments", until: "2031-11-20T12:00:00.000Z", basis: "se version 1: retention.payments P5Y" }]
    }
  }]
})

export type DataRequest = typeof DataRequest.Type

export const DataRequestBody = Schema.Struct({ type: oneOf(dataRequestTypes) }).annotate({
  identifier: "DataRequestBody",
  examples: [{ type: "access" }]
})
