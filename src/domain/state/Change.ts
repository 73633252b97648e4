/**
 * Rows that a rule's decision writes beside the next state of the player, such as ledger entries and events. All of them commit with the player's
 * next version, or none does.
 */
import { Schema } from "effect"
import type { Visit } from "./Activity.ts"
import type { Birth } from "./Birth.ts"
import type { PlayerBonus } from "./Bonus.ts"
import type { EventType } from "./Events.ts"
import { Instant } from "../Instant.ts"
import type { StoredReply } from "./Idempotency.ts"
import type { SeedChange } from "./PlayerSeeds.ts"
import type { NewAcknowledgement, ObligationChange } from "./Obligation.ts"
import type { Player } from "./Player.ts"
import type { Round, Transaction } from "./Rounds.ts"
import type { NewRegisterCheck } from "./RegisterCheck.ts"
import type { AcceptedSignature } from "./AcceptedSignature.ts"

export const walletKinds = ["real", "bonus"] as const

export type WalletKind = (typeof walletKinds)[number]

export const entryTypes = [
  "deposit",
  "withdrawal",
  "withdrawal_rejection",
  "correction_up",
  "correction_down",
  "bonus_correction_up",
  "bonus_correction_down",
  "bonus_conversion",
  "casino_bet",
  "casino_win",
  "casino_rollback",
  "loyalty_exchange",
  "tournament_prize",
  "chargeback"
] as const

/** Types of ledger entries (SPEC section 2.4). */
export type EntryType = (typeof entryTypes)[number]

/** Types of ledger entries posted by games. */
export type CasinoEntryType = "casino_bet" | "casino_win" | "casino_rollback"

/** Ledger entry. `amount` is signed, `balanceAfter` is the resulting balance of its wallet. Minor units, epoch milliseconds. */
export const Entry = Schema.Struct({
  id: Schema.Number,
  playerId: Schema.Number,
  operatorId: Schema.Number,
  /** Sequence number per player, without a gap. */
  seq: Schema.Number,
  wallet: Schema.Literals(walletKinds),
  type: Schema.Literals(entryTypes),
  amount: Schema.Number,
  balanceAfter: Schema.Number,
  currency: Schema.String,
  paymentRequestId: Schema.NullOr(Schema.Number),
  gameId: Schema.NullOr(Schema.Number),
  gameRoundId: Schema.NullOr(Schema.String),
  playerBonusId: Schema.NullOr(Schema.Number),
  createdAt: Instant
})

export type Entry = typeof Entry.Type

/** References of a ledger entry. */
export interface EntryReferences {
  readonly paymentRequestId?: number
  readonly gameId?: number | null
  readonly gameRoundId?: string | null
  readonly playerBonusId?: number | null
}

/** References of a game's ledger entry. */
export interface CasinoReferences extends EntryReferences {
  /** Null when it does not count towards a game's result: the rollback of a tournament prize. */
  readonly source: CasinoSource | null
}

export const paymentTypes = ["deposit", "withdrawal"] as const

export type PaymentType = (typeof paymentTypes)[number]

export const paymentStatuses = ["new", "allowed", "paid", "rejected", "cancelled"] as const

export type PaymentStatus = (typeof paymentStatuses)[number]

/** Deposit or withdrawal with all stored fields. Minor units, epoch milliseconds. */
export const Payment = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  playerId: Schema.Number,
  type: Schema.Literals(paymentTypes),
  status: Schema.Literals(paymentStatuses),
  amount: Schema.Number,
  currency: Schema.String,
  paymentMethod: Schema.NullOr(Schema.String),
  externalReference: Schema.NullOr(Schema.String),
  info: Schema.NullOr(Schema.String),
  notes: Schema.NullOr(Schema.String),
  bankName: Schema.NullOr(Schema.String),
  rejectReason: Schema.NullOr(Schema.String),
  isReversed: Schema.Boolean,
  /** First approver of a withdrawal, as an audit log label. */
  firstApprovedBy: Schema.NullOr(Schema.String),
  /** Second approver; null when one approval was enough. */
  secondApprovedBy: Schema.NullOr(Schema.String),
  createdAt: Instant,
  paidAt: Schema.NullOr(Instant),
  rejectedAt: Schema.NullOr(Instant),
  cancelledAt: Schema.NullOr(Instant),
  updatedAt: Instant
})

export type Payment = typeof Payment.Type

/** Round to write; `isNew` claims that it has no row yet. */
export interface RoundChange {
  readonly round: Round
  readonly isNew: boolean
}

/** Payment to write; `isNew` claims that neither its id nor its external reference exists yet. */
export interface PaymentChange {
  readonly payment: Payment
  readonly isNew: boolean
}

/** Player's bonus to write; `isNew` claims that it has no row yet. */
export interface BonusChange {
  readonly bonus: PlayerBonus
  readonly isNew: boolean
  /** Written for new bonuses only. */
  readonly note: string | null
  /** Of a new bonus that ran elsewhere before: what it had, and what was wagered of it. Minor units. */
  readonly imported?: { readonly balance: number; readonly wagered: number }
}

/** Redemption of a promo code. Claims that the player has not redeemed the code before and that the code is not used up. */
export interface Redemption {
  readonly id: number
  readonly promoCodeId: number
  readonly operatorId: number
  readonly playerId: number
  readonly playerBonusId: number
  readonly createdAt: number
}

type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** JSON that a game decides on and stores. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Stored round of an original; with the server seed, sufficient to recompute its outcome. */
export interface OriginalRound {
  /** Also the round id in the ledger. */
  readonly id: number
  readonly playerId: number
  readonly operatorId: number
  readonly gameId: number
  /** Name of the built-in game at the time of the round; later changes of the catalogue do not apply. */
  readonly original: string
  readonly seedId: number
  readonly nonce: number
  readonly clientSeed: string
  /** Minor units. */
  readonly stake: number
  readonly payout: number
  readonly multiplier: number
  readonly params: JsonObject
  readonly outcome: JsonObject
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Webhook event. `data` is complete except for the player summary, which the store adds to events of a player. */
export interface Event {
  readonly id: number
  readonly operatorId: number
  readonly playerId: number
  readonly type: EventType
  readonly data: { readonly [field: string]: unknown }
  readonly createdAt: number
}

export interface GameSession {
  readonly id: number
  readonly playerId: number
  readonly gameId: number
  readonly mode: "real" | "demo"
  readonly platform: string | null
  readonly ip: string | null
  readonly openedAt: number
  readonly expiresAt: number
}

/** Wallet session closed to new bets. */
export interface EndedSession {
  readonly id: number
  readonly playerId: number
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** True when exchanged for another session; false when its launch failed. */
  readonly exchanged: boolean
}

/** Audit log line. */
export interface AuditRecord {
  readonly id: number
  readonly at: number
  /** `staff:<id>`, `key:<public key id>` or `scheduler`. */
  readonly actor: string
  readonly action: string
  readonly operatorId: number
  readonly playerId: number
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly reason: string | null
}

/** Staff note on a player. */
export interface PlayerNote {
  readonly id: number
  readonly operatorId: number
  readonly playerId: number
  /** Audit log label of the author. */
  readonly author: string
  readonly text: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Settings of a player that decisions read, as written. Always complete, so that the last of several in one commit wins. */
export interface PlayerSettings extends
  Pick<
    Player,
    | "status"
    | "kycStatus"
    | "documentExpiresAt"
    | "restrictions"
    | "withdrawalHolds"
    | "exclusion"
    | "sessionsEndedAt"
    | "limits"
    | "pendingLimits"
    | "limitsSet"
    | "rules"
    | "termsVersion"
    | "limitsReviewed"
    | "fundsNoticed"
    | "registers"
    | "netDepositCap"
    | "extras"
  >
{
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

/** Settings without the time of their change. */
export type Settings = Omit<PlayerSettings, "updatedAt">

/** Settings of a player, as written. */
export const settingsOf = (player: Settings, updatedAt: number): PlayerSettings => ({
  status: player.status,
  kycStatus: player.kycStatus,
  documentExpiresAt: player.documentExpiresAt,
  restrictions: player.restrictions,
  withdrawalHolds: player.withdrawalHolds,
  exclusion: player.exclusion,
  sessionsEndedAt: player.sessionsEndedAt,
  limits: player.limits,
  pendingLimits: player.pendingLimits,
  limitsSet: player.limitsSet,
  rules: player.rules,
  termsVersion: player.termsVersion,
  limitsReviewed: player.limitsReviewed,
  fundsNoticed: player.fundsNoticed,
  registers: player.registers,
  netDepositCap: player.netDepositCap,
  extras: player.extras,
  updatedAt
})

/** Origin or destination of a game's money. */
export interface CasinoSource {
  readonly providerId: number
  /** Type of the game when its round was opened; money outside any round counts as `rng`. */
  readonly isLive: boolean
}

export type Figure = "rounds" | "bets" | "wins" | "bonus_conversions" | "deposits" | "chargebacks" | "withdrawals"

/** Amount added to one figure of one day. */
export interface ReportCount {
  readonly figure: Figure
  /** Day number from 1970-01-01, UTC. */
  readonly day: number
  /** Null for money that belongs to no game. */
  readonly source: CasinoSource | null
  /** Signed minor units; for `rounds` the number of rounds. */
  readonly amount: number
  /** Bonus money included in `bets`. */
  readonly bonusAmount: number
}

export interface Change {
  /** Writes the player for the first time; null of one who is there. */
  readonly birth: Birth | null
  readonly entries: ReadonlyArray<Entry>
  readonly transactions: ReadonlyArray<Transaction>
  readonly rounds: ReadonlyArray<RoundChange>
  readonly payments: ReadonlyArray<PaymentChange>
  readonly sessions: ReadonlyArray<GameSession>
  readonly endedSessions: ReadonlyArray<EndedSession>
  readonly bonuses: ReadonlyArray<BonusChange>
  readonly redemptions: ReadonlyArray<Redemption>
  /** Claims that each nonce of a server seed is new. */
  readonly originalRounds: ReadonlyArray<OriginalRound>
  readonly seeds: ReadonlyArray<SeedChange>
  /** Null leaves the settings unchanged. */
  readonly settings: PlayerSettings | null
  readonly events: ReadonlyArray<Event>
  readonly audit: ReadonlyArray<AuditRecord>
  readonly notes: ReadonlyArray<PlayerNote>
  readonly obligations: ReadonlyArray<ObligationChange>
  readonly acknowledgements: ReadonlyArray<NewAcknowledgement>
  readonly registerChecks: ReadonlyArray<NewRegisterCheck>
  readonly replies: ReadonlyArray<StoredReply>
  /** Of the requests whose effects these are. */
  readonly signatures: ReadonlyArray<AcceptedSignature>
  /** Amounts to add to the report figures. */
  readonly counts: ReadonlyArray<ReportCount>
  readonly visits: ReadonlyArray<Visit>
}

const none: ReadonlyArray<never> = []

export const noChange: Change = {
  birth: null,
  entries: none,
  transactions: none,
  rounds: none,
  payments: none,
  sessions: none,
  endedSessions: none,
  bonuses: none,
  redemptions: none,
  originalRounds: none,
  seeds: none,
  settings: null,
  events: none,
  audit: none,
  notes: none,
  obligations: none,
  acknowledgements: none,
  registerChecks: none,
  replies: none,
  signatures: none,
  counts: none,
  visits: none
}

/** Ids of the posted entries, at most two. Avoids `filter`, whose result reserves room for sixteen more elements in records that players carry. */
export const ids = (first: number | undefined, second?: number): ReadonlyArray<number> =>
  first === undefined ? (second === undefined ? [] : [second]) : second === undefined ? [first] : [first, second]
