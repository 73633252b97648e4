/** Obligations: conditions that a player has to meet before an action, and the answers that meet them. */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"

/** Kinds that a case imposes, and ends: nothing else brings them about or meets them. */
export const imposedKinds = ["source_of_funds", "screening", "vulnerability_check"] as const

export type ImposedKind = (typeof imposedKinds)[number]

export const obligationKinds = [
  "required_limits",
  "limit_prompt",
  "terms",
  "limit_review",
  "funds_notice",
  "reality_check",
  ...imposedKinds
] as const

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
  metAt: Schema.NullOr(Instant),
  /** The case that imposed it; absent: the jurisdiction. */
  caseId: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  /** Absent: whoever may learn of the player's obligations learns of it. */
  isTold: Schema.optionalKey(Schema.Boolean)
})

export type Obligation = typeof Obligation.Type

/** Obligation to write; `isNew` claims that none of its kind is open. */
export interface ObligationChange {
  readonly obligation: Obligation
  readonly playerId: number
  readonly operatorId: number
  readonly isNew: boolean
  /** What is shown with it; only written with a new one. */
  readonly details?: { readonly [name: string]: string }
}

export const acknowledgementKinds = [
  "limit_prompt",
  "limit_raise",
  "return_to_play",
  "terms",
  "limit_review",
  "funds_notice",
  "reality_check",
  "consent"
] as const

export const answers = ["accept", "decline", "continue", "stop"] as const

/** How an answer was given. */
export const answerChannels = ["web", "app", "phone", "mail"] as const

/** Who gave it: the player, or somebody on the player's behalf. */
export const answeredBy = ["player", "operator", "staff"] as const

export const Acknowledgement = Schema.Struct({
  id: Schema.Number,
  kind: Schema.Literals(acknowledgementKinds),
  answer: Schema.Literals(answers),
  /** Limit of a raise; `channel.product` of a consent, null for all of them. */
  field: Schema.NullOr(Schema.String),
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
