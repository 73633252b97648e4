/** The messages of game providers, what answers them, and why they can be refused. */
import type { GameType } from "./bonus/Bonus.ts"
import type { Refusal } from "./Refusal.ts"

/** The game of a message, as the catalogue knows it. */
export interface SettledGame {
  readonly id: number
  readonly providerId: number
  readonly type: GameType
  /** False when the game or its provider is switched off: no new bets. */
  readonly active: boolean
}

/** A game that the provider does not have: its messages are refused, unless their ids are known. */
export const unknownGame: SettledGame = { id: 0, providerId: 0, type: "rng", active: false }

/**
 * How a provider's protocol settles (`docs/decisions/0043-provider-protocols.md`). Rules look at these fields and never at which protocol it is.
 */
export interface SettlementPolicy {
  /** A rollback of a bet whose round was paid. */
  readonly settledBets: "refuse" | "roll_back"
  /** A win whose bet, or whose round, has not come. */
  readonly winsBeforeBets: "refuse" | "pay"
  /** A new bet or win of a closed round. */
  readonly closedRounds: "refuse" | "accept"
  /** A bet or a win whose rollback came first. */
  readonly afterTombstone: "refuse" | "ignore"
  /** What of a message with a known id must agree: everything, player, kind and round, or player and kind. */
  readonly sameMessage: "content" | "round" | "kind"
}

/** The policy of Pitboss's own protocol (`docs/decisions/0005-settlement.md`). */
export const ownPolicy: SettlementPolicy = {
  settledBets: "refuse",
  winsBeforeBets: "refuse",
  closedRounds: "refuse",
  afterTombstone: "refuse",
  sameMessage: "content"
}

/**
 * Whether a message closes its round: true, false (which leaves a closed one closed), or `when_settled`: the round is closed while none of its
 * bets is open. A win or a rollback that says so settles one bet.
 */
export type Closing = boolean | "when_settled"

interface Message {
  readonly policy: SettlementPolicy
  readonly providerId: number
  readonly transactionId: string
  readonly currency: string
}

/** The wallet session of a bet. */
export interface BetSession {
  readonly id: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

export interface Bet extends Message {
  readonly action: "bet"
  readonly game: SettledGame
  readonly roundId: string
  readonly amount: number
  /** Null when there is no real-mode session under the token; `none`: the message names no session, and any earlier one will do. */
  readonly session: BetSession | null | "none"
  readonly closesRound: Closing
}

export interface Win extends Message {
  readonly action: "win"
  readonly game: SettledGame
  readonly roundId: string
  /** Null: the win is the round's. */
  readonly betTransactionId: string | null
  readonly amount: number
  readonly closesRound: Closing
}

export interface Rollback {
  readonly action: "rollback"
  readonly policy: SettlementPolicy
  readonly providerId: number
  readonly transactionId: string
  readonly targetTransactionId: string
  readonly closesRound: Closing
}

export interface PromoWin extends Message {
  readonly action: "promo_win"
  readonly kind: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
  readonly campaignId: string
  readonly amount: number
}

/** A correction by the provider within a round. */
export interface Adjustment extends Message {
  readonly action: "adjust"
  readonly game: SettledGame
  readonly roundId: string
  /** Signed: a credit above zero, a debit below. */
  readonly amount: number
}

export interface CloseRound {
  readonly action: "close_round"
  readonly policy: SettlementPolicy
  readonly providerId: number
  readonly game: SettledGame
  readonly roundId: string
}

export type Action = Bet | Win | Rollback | PromoWin | Adjustment | CloseRound

/** The answer to one message. Amounts are what the message moved in each wallet, signed; balances are those after it. */
export interface Settlement {
  readonly transactionId: string | null
  readonly status: "processed" | "replayed" | "ignored"
  /** What the message did when it came first: `status`, unless this is a replay. */
  readonly first: "processed" | "ignored"
  /** On a replay of what was taken back since. */
  readonly rolledBack?: true
  /** When it was first settled, epoch milliseconds. */
  readonly settledAt: number
  readonly entryIds: ReadonlyArray<number>
  readonly realAmount: number
  readonly bonusAmount: number
  readonly balance: number
  readonly bonusBalance: number
  readonly currency: string
  readonly walletSeq: number
  readonly roundState: "open" | "closed"
}

/** Why a bet can be refused. */
export type BetCode =
  | "DUPLICATE_TRANSACTION"
  | "BET_ROLLED_BACK"
  | "INVALID_SESSION"
  | "VALIDATION_FAILED"
  | "NOT_FOUND"
  | "ROUND_CLOSED"
  | "PLAYER_RESTRICTED"
  | "LIMIT_EXCEEDED"
  | "BONUS_INVALID"
  | "INSUFFICIENT_FUNDS"

/** Why a win can be refused: never for what became of the player since. */
export type WinCode =
  | "DUPLICATE_TRANSACTION"
  | "BET_ROLLED_BACK"
  | "BET_NOT_FOUND"
  | "ROUND_CLOSED"
  | "VALIDATION_FAILED"
  | "NOT_FOUND"

export type RollbackCode = "DUPLICATE_TRANSACTION" | "BET_ALREADY_SETTLED" | "ROLLBACK_NOT_ALLOWED" | "NOT_FOUND"

export type PromoWinCode = "DUPLICATE_TRANSACTION" | "BET_ROLLED_BACK" | "VALIDATION_FAILED" | "NOT_FOUND"

export type AdjustmentCode =
  | "DUPLICATE_TRANSACTION"
  | "BET_ROLLED_BACK"
  | "VALIDATION_FAILED"
  | "NOT_FOUND"
  | "INSUFFICIENT_FUNDS"

export type SettlementCode = BetCode | WinCode | RollbackCode

export type SettlementRefusal = Refusal<SettlementCode>
