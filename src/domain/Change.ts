/**
 * Rows that a decision writes beside the next state of the player. All of them commit with the next version, or none does.
 */
import { Schema } from "effect"
import type { Visit } from "./Activity.ts"
import type { PlayerBonus } from "./bonus/Bonus.ts"
import type { EventType } from "./Events.ts"
import { Instant } from "./Instant.ts"
import type { StoredReply } from "./Idempotency.ts"
import type { JsonObject } from "./original/Original.ts"
import type { SeedChange } from "./original/PlayerSeeds.ts"
import type { Player } from "./player/Player.ts"
import type { Round, Transaction } from "./settlement/Rounds.ts"

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

/** SPEC section 2.4. */
export type EntryType = (typeof entryTypes)[number]

/** The types of entries that are a game's. */
export type CasinoEntryType = "casino_bet" | "casino_win" | "casino_rollback"

/** One ledger entry. `amount` is signed; `balanceAfter` is the balance of its wallet with it. Minor units. */
export interface Entry {
  readonly id: number
  readonly playerId: number
  readonly operatorId: number
  /** One more than the player's entry before, without a gap. */
  readonly seq: number
  readonly wallet: WalletKind
  readonly type: EntryType
  readonly amount: number
  readonly balanceAfter: number
  readonly currency: string
  readonly paymentRequestId: number | null
  readonly gameId: number | null
  readonly gameRoundId: string | null
  readonly playerBonusId: number | null
  readonly createdAt: number
}

export const paymentTypes = ["deposit", "withdrawal"] as const

export type PaymentType = (typeof paymentTypes)[number]

export const paymentStatuses = ["new", "allowed", "paid", "rejected", "cancelled"] as const

export type PaymentStatus = (typeof paymentStatuses)[number]

/** A deposit or a withdrawal with all that is kept of it. Minor units, epoch milliseconds. */
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
  /** Who approved a withdrawal first, as the audit log names them. */
  firstApprovedBy: Schema.NullOr(Schema.String),
  /** Who approved it after the first; null where one approval was enough. */
  secondApprovedBy: Schema.NullOr(Schema.String),
  createdAt: Instant,
  paidAt: Schema.NullOr(Instant),
  rejectedAt: Schema.NullOr(Instant),
  cancelledAt: Schema.NullOr(Instant),
  updatedAt: Instant
})

export type Payment = typeof Payment.Type

/** A round to write; `isNew` claims that no row of it exists yet. */
export interface RoundChange {
  readonly round: Round
  readonly isNew: boolean
}

/** A payment to write; `isNew` claims that neither it nor its external reference exists yet. */
export interface PaymentChange {
  readonly payment: Payment
  readonly isNew: boolean
}

/** A player's bonus to write; `isNew` claims that no row of it exists yet. */
export interface BonusChange {
  readonly bonus: PlayerBonus
  readonly isNew: boolean
  /** Kept with a new one. */
  readonly note: string | null
}

/** A promo code redeemed. It claims that the player has not redeemed the code before, and that the code is not used up. */
export interface Redemption {
  readonly id: number
  readonly promoCodeId: number
  readonly operatorId: number
  readonly playerId: number
  readonly playerBonusId: number
  readonly createdAt: number
}

/** A round of an original as it is kept: with the server seed, all that is needed to make its outcome again. */
export interface OriginalRound {
  /** Also the round's name in the ledger. */
  readonly id: number
  readonly playerId: number
  readonly operatorId: number
  readonly gameId: number
  /** The built-in game, whatever the catalogue says later. */
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

/** A webhook event. `data` is complete but for the player's short form, which the store adds where the event has a player. */
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

/** A session that takes no more bets. */
export interface EndedSession {
  readonly id: number
  readonly playerId: number
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** Whether it was exchanged for another; else its launch came to nothing. */
  readonly exchanged: boolean
}

/** A line of the audit log. */
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

/** Something written about the player, for staff. */
export interface PlayerNote {
  readonly id: number
  readonly operatorId: number
  readonly playerId: number
  /** As the audit log names who acts. */
  readonly author: string
  readonly text: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * The settings of a player that decisions read, as they are to stand: always all of them, so that of several in one commit the
 * last is the whole truth.
 */
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
  >
{
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

/** Where money of a game comes from or goes to. */
export interface CasinoSource {
  readonly providerId: number
  /** As the game was when its round was opened; money of no round counts as of a game of chance (`rng`). */
  readonly isLive: boolean
}

export type Figure = "rounds" | "bets" | "wins" | "bonus_conversions" | "deposits" | "chargebacks" | "withdrawals"

/** An amount for one figure of one day. */
export interface Count {
  readonly figure: Figure
  /** Numbered from 1970-01-01, UTC. */
  readonly day: number
  /** Null for what is not of a game. */
  readonly source: CasinoSource | null
  /** Signed; for `rounds` how many. */
  readonly amount: number
  /** How much of `bets` is bonus money. */
  readonly bonusAmount: number
}

export interface Change {
  readonly entries: ReadonlyArray<Entry>
  readonly transactions: ReadonlyArray<Transaction>
  readonly rounds: ReadonlyArray<RoundChange>
  readonly payments: ReadonlyArray<PaymentChange>
  readonly sessions: ReadonlyArray<GameSession>
  readonly endedSessions: ReadonlyArray<EndedSession>
  readonly bonuses: ReadonlyArray<BonusChange>
  readonly redemptions: ReadonlyArray<Redemption>
  /** Claims that no round of the same server seed has the same nonce. */
  readonly originalRounds: ReadonlyArray<OriginalRound>
  readonly seeds: ReadonlyArray<SeedChange>
  /** Null leaves the settings as they are. */
  readonly settings: PlayerSettings | null
  readonly events: ReadonlyArray<Event>
  readonly audit: ReadonlyArray<AuditRecord>
  readonly notes: ReadonlyArray<PlayerNote>
  readonly replies: ReadonlyArray<StoredReply>
  /** What the reports add up. */
  readonly counts: ReadonlyArray<Count>
  readonly visits: ReadonlyArray<Visit>
}

const none: ReadonlyArray<never> = []

export const noChange: Change = {
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
  replies: none,
  counts: none,
  visits: none
}
