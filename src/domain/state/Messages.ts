/** Messages of game providers, the answers to them, and the reasons for which they are refused. */
import type { GameType } from "./Bonus.ts"
import type { Refusal } from "../Refusal.ts"

/** Game of a message, from the catalogue. */
export interface SettledGame {
  readonly id: number
  readonly providerId: number
  readonly type: GameType
  /** As caps on stakes name it (`cappedCategory`). */
  readonly category: string
  /** False when the game or its provider is disabled: new bets are refused. */
  readonly active: boolean
}

/** Placeholder for a game the provider does not have: its messages are refused unless their ids are known. */
export const unknownGame: SettledGame = { id: 0, providerId: 0, type: "rng", category: "slots", active: false }

/** Settlement policy of a provider's protocol (`docs/decisions/0041-one-way-through-http.md`). Rules read these fields, never the protocol itself. */
export interface SettlementPolicy {
  /** Rollback of a bet whose round was paid. */
  readonly settledBets: "refuse" | "roll_back"
  /** Win whose bet, or whose round, has not arrived. */
  readonly winsBeforeBets: "refuse" | "pay"
  /** New bet or win of a closed round. */
  readonly closedRounds: "refuse" | "accept"
  /** Bet or win whose rollback arrived first. */
  readonly afterTombstone: "refuse" | "ignore"
  /**
   * Time in which a bet is won, for a protocol that tells no loss: neither an end of the round nor a win of nothing. Its rounds are closed from the bet
   * on, and the bonus that paid a bet is not lost before. Null when every loss is told.
   */
  readonly wonWithinMs: number | null
  /** Fields of a message with a known id that must match: all; player, kind and round; or player and kind. */
  readonly sameMessage: "content" | "round" | "kind"
}

/** The policy of Pitboss's own protocol (`docs/decisions/0005-settlement.md`). */
export const ownPolicy: SettlementPolicy = {
  settledBets: "refuse",
  winsBeforeBets: "refuse",
  closedRounds: "refuse",
  afterTombstone: "refuse",
  wonWithinMs: null,
  sameMessage: "content"
}

/**
 * Effect of a message on its round: `true` closes it, `false` leaves it as it is, `when_settled` closes it once it has no open bet. A win or a
 * rollback with `when_settled` settles one bet.
 */
export type Closing = boolean | "when_settled"

interface Message {
  readonly policy: SettlementPolicy
  readonly providerId: number
  readonly transactionId: string
  readonly currency: string
}

/** Wallet session of a bet. */
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
  /** A free bet costs nothing: an amount with it is refused. */
  readonly isFree?: boolean
  /** Null when the token belongs to no real-mode session; `none` when the message names no session: any running one of the player at the provider will do. */
  readonly session: BetSession | null | "none"
  readonly closesRound: Closing
}

export interface Win extends Message {
  readonly action: "win"
  readonly game: SettledGame
  readonly roundId: string
  /** Null for a win of the round as a whole. */
  readonly betTransactionId: string | null
  /** Belongs to the game and the round of the bet that it names, whichever it names besides. */
  readonly ofBet?: boolean
  readonly amount: number
  readonly closesRound: Closing
}

export interface Rollback {
  readonly action: "rollback"
  readonly policy: SettlementPolicy
  readonly providerId: number
  readonly transactionId: string
  readonly targetTransactionId: string
  /** Takes back bets only: a target of any other kind is left as it is, and the rollback ignored. */
  readonly onlyBets?: boolean
  /** The id is this and the target's: shows whether a bet whose rollback is rolled back was taken back in its own right as well. */
  readonly idPrefix?: string
  readonly closesRound: Closing
}

export interface PromoWin extends Message {
  readonly action: "promo_win"
  readonly kind: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
  readonly campaignId: string
  readonly amount: number
}

/** Correction by the provider within a round. */
export interface Adjustment extends Message {
  readonly action: "adjust"
  readonly game: SettledGame
  readonly roundId: string
  /** Signed: positive credits, negative debits. */
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

/** Answer to one message. Amounts are the signed changes of each wallet; balances are those after the message. */
export interface Settlement {
  readonly transactionId: string | null
  readonly status: "processed" | "replayed" | "ignored"
  /** Status of the first processing: `status`, unless this is a replay. */
  readonly first: "processed" | "ignored"
  /** Set on a replay of a message rolled back since. */
  readonly rolledBack?: true
  /** Time of the first settlement, epoch milliseconds. */
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

/** Reasons for refusing a bet. */
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

/** Reasons for refusing a win; changes of the player's account since the bet are none. */
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
