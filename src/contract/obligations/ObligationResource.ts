/** Wire schemas of obligations (what players have to do, such as a limit review) and their acknowledgements. */
import { Schema } from "effect"
import { limitFields } from "../../domain/LimitFields.ts"
import {
  acknowledgementKinds,
  answerChannels,
  answeredBy,
  answers,
  gates,
  obligationKinds,
  obligationStates
} from "../../domain/state/Obligation.ts"
import { integer, oneOf, text } from "../common/Fields.ts"
import { id, timestamp } from "../common/Resource.ts"

export const Obligation = Schema.Struct({
  id,
  kind: Schema.Literals(obligationKinds),
  state: Schema.Literals(obligationStates),
  gates: Schema.Array(Schema.Literals(gates)).annotate({ description: "What is refused while it is open." }),
  due_at: Schema.NullOr(timestamp),
  created_at: timestamp,
  met_at: Schema.NullOr(timestamp),
  details: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({
  identifier: "Obligation",
  examples: [{
    id: 91733,
    kind: "required_limits",
    state: "open",
    gates: ["play"],
    due_at: null,
    created_at: "2026-11-20T12:00:00.000Z",
    met_at: null,
    details: {}
  }]
})

export const Acknowledgement = Schema.Struct({
  id,
  kind: Schema.Literals(acknowledgementKinds),
  answer: Schema.Literals(answers),
  field: Schema.NullOr(Schema.String).annotate({
    description:
      "The limit of a raise; channel and product of a consent (`email.casino`, `*` for all), null where all were withdrawn."
  }),
  obligation_id: Schema.NullOr(id),
  text_version: Schema.NullOr(Schema.String),
  channel: Schema.NullOr(Schema.Literals(answerChannels)),
  by: Schema.Literals(answeredBy),
  at: timestamp
}).annotate({
  identifier: "Acknowledgement",
  examples: [{
    id: 91740,
    kind: "limit_raise",
    answer: "accept",
    field: "max_daily_deposit",
    obligation_id: null,
    text_version: null,
    channel: "web",
    by: "player",
    at: "2026-11-21T12:00:00.000Z"
  }]
})

/** An answer of a player. */
export const AcknowledgementRequest = Schema.Struct({
  kind: oneOf(acknowledgementKinds),
  answer: oneOf(answers),
  field: Schema.optionalKey(oneOf(limitFields)),
  obligation_id: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER)),
  text_version: Schema.optionalKey(text(64)),
  channel: Schema.optionalKey(oneOf(answerChannels))
}).annotate({
  identifier: "AcknowledgementRequest",
  examples: [{ kind: "limit_raise", answer: "accept", field: "max_daily_deposit", channel: "web" }]
})

/** States that a list of obligations is filtered by. */
export const obligationQuery = { state: Schema.optionalKey(oneOf(obligationStates)) }
