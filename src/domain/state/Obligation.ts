/** Obligations: what must have happened before a player may do something; and the answers that meet them. */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import { limitFields } from "../LimitFields.ts"

export const obligationKinds = ["required_limits", "limit_prompt"] as const

export type ObligationKind = (typeof obligationKinds)[number]

export const gates = ["play", "deposit"] as const

/** What an open obligation stops. */
export type Gate = (typeof gates)[number]

export const obligationStates = ["open", "met", "waived"] as const

export const Obligation = Schema.Struct({
  id: Schema.Number,
  kind: Schema.Literals(obligationKinds),
  gates: Schema.Array(Schema.Literals(gates)),
  state: Schema.Literals(obligationStates),
  dueAt: Schema.NullOr(Instant),
  createdAt: Instant,
  metAt: Schema.NullOr(Instant)
})

export type Obligation = typeof Obligation.Type

/** Obligation to write; `isNew` claims that none of its kind is open. */
export interface ObligationChange {
  readonly obligation: Obligation
  readonly playerId: number
  readonly operatorId: number
  readonly isNew: boolean
}

export const acknowledgementKinds = ["limit_prompt", "limit_raise", "return_to_play"] as const

export const answers = ["accept", "decline", "continue", "stop"] as const

/** How an answer was given. */
export const answerChannels = ["web", "app", "phone", "mail"] as const

/** Who gave it: the player, or somebody on the player's behalf. */
export const answeredBy = ["player", "operator", "staff"] as const

export const Acknowledgement = Schema.Struct({
  id: Schema.Number,
  kind: Schema.Literals(acknowledgementKinds),
  answer: Schema.Literals(answers),
  field: Schema.NullOr(Schema.Literals(limitFields)),
  obligationId: Schema.NullOr(Schema.Number),
  textVersion: Schema.NullOr(Schema.String),
  channel: Schema.NullOr(Schema.Literals(answerChannels)),
  by: Schema.Literals(answeredBy),
  at: Instant
})

export type Acknowledgement = typeof Acknowledgement.Type

/** Acknowledgement to write; none is ever changed. */
export interface NewAcknowledgement extends Acknowledgement {
  readonly playerId: number
  readonly operatorId: number
}
