/**
 * Register checks: a question to a register of excluded players and its answer, kept as proof that the register was asked
 * (`docs/decisions/0060-registers.md`).
 */
import { Schema } from "effect"
import { Instant } from "../Instant.ts"
import {
  checkVerdicts,
  type ConnectionKind,
  type keptEvents,
  type keptVerdicts,
  questionEvents,
  registerKinds
} from "../register/Register.ts"

/** A question and what came of it. Nothing in it says whom it was about. */
export const RegisterCheck = Schema.Struct({
  kind: Schema.Literals(registerKinds),
  event: Schema.Literals(questionEvents),
  verdict: Schema.Literals(checkVerdicts),
  askedAt: Instant,
  answeredAt: Instant,
  /** Ours, new for each question. */
  requestId: Schema.String,
  /** The register's; null where it gave none. */
  responseId: Schema.NullOr(Schema.String),
  /** HTTP status; null without an answer. */
  status: Schema.NullOr(Schema.Number),
  /** Why there is no proper answer; null when there is one. */
  fault: Schema.NullOr(Schema.String),
  /** Profile whose rule had the register asked, and its version. */
  profile: Schema.String,
  profileVersion: Schema.Number
})

export type RegisterCheck = typeof RegisterCheck.Type

/** Check to write; none is ever changed. */
export interface NewRegisterCheck extends RegisterCheck {
  readonly id: number
  readonly operatorId: number
  /** Null for a registration that was refused. */
  readonly playerId: number | null
  /** Keyed digest of whom the question was about. */
  readonly personDigest: Uint8Array
  /** The player goes on without an answer: the register is asked again until it gives one. */
  readonly askAgain: boolean
}

/** A check as it is kept: of a register, or of a screening. */
export interface KeptCheck extends Omit<NewRegisterCheck, "kind" | "event" | "verdict"> {
  readonly kind: ConnectionKind
  readonly event: (typeof keptEvents)[number]
  readonly verdict: (typeof keptVerdicts)[number]
}
