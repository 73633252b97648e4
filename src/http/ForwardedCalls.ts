/** Format in which provider calls are forwarded between nodes. */
import { Schema } from "effect"

/** Channel of calls forwarded by other nodes about players of this node. */
export const channel = "provider"

/** A call forwarded to the player's node, which reads it again. */
const SentCall = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  target: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  address: Schema.optionalKey(Schema.String),
  now: Schema.Number,
  id: Schema.String
}))
export const encodeCall = Schema.encodeSync(SentCall)
export const decodeCall = Schema.decodeUnknownSync(SentCall)
