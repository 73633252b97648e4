/** Messages of a game provider to the wallet API, as data and as JSON. */
import { Schema } from "effect"

export interface Round {
  /** The provider's own id of the game. */
  readonly gameId: string
  readonly roundId: string
}

export interface Bet {
  readonly kind: "bet"
  readonly id: string
  readonly round: Round
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  /** Kind of session: a bet with one of a free-play launch is refused. */
  readonly session: "real" | "demo"
  readonly closes: boolean
}

export interface Win {
  readonly kind: "win"
  readonly id: string
  readonly round: Round
  readonly betId: string
  readonly amount: number
  readonly closes: boolean
}

export interface Rollback {
  readonly kind: "rollback"
  readonly id: string
  readonly targetId: string
}

export interface BetWin {
  readonly kind: "bet_win"
  readonly bet: Bet
  readonly win: Win
}

export interface PromoWin {
  readonly kind: "promo_win"
  readonly id: string
  readonly amount: number
  readonly prize: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
}

export interface Close {
  readonly kind: "close"
  readonly round: Round
}

type Action = Bet | Win | Rollback

interface Batch {
  readonly kind: "batch"
  readonly id: string
  readonly actions: ReadonlyArray<Action>
}

export type Message = Action | BetWin | PromoWin | Close | Batch

/** The provider's identifiers of a player: session tokens, and the answer of authentication. */
export interface Names {
  readonly token: string
  readonly demoToken: string
  readonly playerRef: string
  /** The wallet's, where it is not {@link currency}. */
  readonly currency?: string
}

/** The wallet currency of players, unless another is said. */
export const currency = "EUR"

const paths: { readonly [kind in Message["kind"]]: string } = {
  "bet": "bet",
  "win": "win",
  "rollback": "rollback",
  "bet_win": "bet-win",
  "promo_win": "promo-win",
  "close": "round/close",
  "batch": "batch"
}

export const pathOf = ({ kind }: Message): string => `/api/v1/provider/wallet/${paths[kind]}`

/** Transaction id of a message; undefined without one. */
export const transactionIdOf = (message: Message): string | undefined => {
  switch (message.kind) {
    case "bet_win":
      return message.bet.id
    case "batch":
    case "close":
      return undefined
    default:
      return message.id
  }
}

/** Request id derived from the message, so that a retry repeats it. */
export const requestIdOf = (message: Message): string => {
  switch (message.kind) {
    case "close":
      return `request-${message.round.roundId}`
    case "bet_win":
      return `request-${message.bet.id}`
    default:
      return `request-${message.id}`
  }
}

type Fields = { readonly [field: string]: unknown }

const roundFields = ({ gameId, roundId }: Round): Fields => ({ game_id: gameId, round_id: roundId })

/** The JSON of a request. */
export const bodyOf = (message: Message, names: Names, request_id = requestIdOf(message)): Fields => {
  switch (message.kind) {
    case "bet":
      return {
        request_id,
        transaction_id: message.id,
        session_token: message.session === "real" ? names.token : names.demoToken,
        ...roundFields(message.round),
        amount: message.amount,
        currency: message.currency,
        round_closed: message.closes
      }
    case "win":
      return {
        request_id,
        transaction_id: message.id,
        player_ref: names.playerRef,
        ...roundFields(message.round),
        bet_transaction_id: message.betId,
        amount: message.amount,
        currency: names.currency ?? currency,
        round_closed: message.closes
      }
    case "bet_win":
      return {
        ...bodyOf(message.bet, names),
        request_id,
        win: { transaction_id: message.win.id, amount: message.win.amount },
        round_closed: message.win.closes
      }
    case "rollback":
      return {
        request_id,
        transaction_id: message.id,
        player_ref: names.playerRef,
        target_transaction_id: message.targetId
      }
    case "promo_win":
      return {
        request_id,
        transaction_id: message.id,
        player_ref: names.playerRef,
        amount: message.amount,
        currency: names.currency ?? currency,
        kind: message.prize,
        campaign_id: "friday"
      }
    case "close":
      return { request_id, player_ref: names.playerRef, ...roundFields(message.round) }
    case "batch":
      return {
        request_id,
        actions: message.actions.map((action) => ({ action: action.kind, ...bodyOf(action, names) }))
      }
  }
}

/** The answer to a message that moved money, or might have. */
export const Settlement = Schema.Struct({
  request_id: Schema.NullOr(Schema.String),
  transaction_id: Schema.NullOr(Schema.String),
  status: Schema.Literals(["processed", "replayed", "ignored"]),
  wallet_transaction_ids: Schema.Array(Schema.Int),
  real_amount: Schema.Int,
  bonus_amount: Schema.Int,
  balance: Schema.Int,
  bonus_balance: Schema.Int,
  currency: Schema.String,
  wallet_seq: Schema.Int,
  round_state: Schema.Literals(["open", "closed"])
})
export type Settlement = typeof Settlement.Type
