/**
 * A protocol as the provider simulator speaks it: how its calls are written, what each must be answered, and the provider's side of an
 * operator's calls. Answers are judged by the provider's description, never by the code of a wallet.
 */
import type { Schema } from "effect"
import type { ExpectedState, Opening } from "./ExpectedState.ts"
import type { Answer } from "./pitboss/WalletAnswer.ts"
import type { Decimal } from "../../src/protocols/Decimal.ts"

/** Who plays, as the wallet was told or has told. */
export interface Session {
  readonly token: string
  /** The player's name at the wallet. Some protocols find it out by `authenticate`; then it is empty before. */
  readonly playerRef: string
  readonly currency: string
  readonly gameId: string
  /** The token of a launch in free play, where there is one. */
  readonly freePlayToken?: string
}

interface Named {
  /** Unique in the run: the transaction's id where the protocol has one. */
  readonly id: string
  readonly roundId: string
  readonly gameId: string
}

export interface BetMessage extends Named {
  readonly kind: "bet"
  readonly amount: Decimal
  /** The free rounds that pay it; null: the player does. */
  readonly grant: string | null
  /** Whether its round ends with it, where the protocol can say so: a lost spin in one message. */
  readonly closes?: boolean
}

export interface WinMessage extends Named {
  readonly kind: "win"
  /** What it settles; null where wins name their round. */
  readonly bet: BetMessage | null
  readonly amount: Decimal
  readonly closes: boolean
  readonly grant: string | null
}

export interface RollbackMessage extends Named {
  readonly kind: "rollback"
  readonly bet: BetMessage
  /** The transaction that is taken back, where it is another than the bet. */
  readonly targetId?: string
}

export interface PromoMessage {
  readonly kind: "promo"
  readonly id: string
  readonly gameId: string
  readonly amount: Decimal
  /** The free rounds whose winnings it is; null: a prize. */
  readonly grant: string | null
}

/** One call that bets and wins. */
interface BetWinMessage {
  readonly kind: "bet_win"
  readonly bet: BetMessage
  readonly win: WinMessage
}

/** Several messages in one call: all of them are settled, or none. */
interface BatchMessage {
  readonly kind: "batch"
  readonly id: string
  readonly messages: ReadonlyArray<BetMessage | WinMessage | RollbackMessage>
}

export type Message =
  | { readonly kind: "authenticate" }
  | { readonly kind: "balance" }
  | BetMessage
  | WinMessage
  | RollbackMessage
  | PromoMessage
  | BetWinMessage
  | BatchMessage
  | { readonly kind: "close"; readonly roundId: string; readonly gameId: string }
  | { readonly kind: "look_up"; readonly id: string }

/** How a message stands to what came before it. */
export type Situation =
  /** Nothing is in its way. */
  | "new"
  /** The same message once more, with nothing settled in between that it depends on. */
  | "duplicate"
  /** A win or a rollback whose bet, or whose round, never came. */
  | "unknown"
  /** A bet whose rollback came first, or a win or a rollback of one. */
  | "tombstoned"
  /** A win or another rollback of a bet that was rolled back; of a round all of whose bets were. */
  | "rolled_back"
  /** A rollback of a bet that was paid, or another win of a bet that has one. */
  | "settled"
  /** A stake beyond the balance. */
  | "insufficient_funds"
  /** An amount that is no whole number of minor units. */
  | "fractional_amount"
  /** A session that was exchanged, is of another kind, or never was. */
  | "session_expired"
  /** A bet in another currency than the player's. */
  | "wrong_currency"
  | "malformed"
  | "forged"

export interface Expectation {
  /** The statuses that the vendor's description allows. */
  readonly codes: ReadonlyArray<string>
  /** HTTP statuses that go with them; 200 unless said. */
  readonly http?: ReadonlyArray<number>
  /** Whether the money moves (a bet's stake, a win's amount, a rolled-back stake). */
  readonly moves: boolean
  /** Whether the answer holds the balance; it may where this says nothing. */
  readonly balance?: "required" | "absent"
}

/** What is expected in each situation. */
export type Situations = { readonly [situation in Situation]?: Expectation }

/** What is expected of each message in each situation. */
export type Expectations = { readonly [kind in Message["kind"]]?: Situations }

interface WireRequest {
  readonly method: "GET" | "POST"
  /** Below the wallet's address: empty, or beginning with a slash. */
  readonly path: string
  /** Without the question mark. */
  readonly query?: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

export interface WireAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: { readonly [name: string]: string | undefined }
}

/** An answer as the vendor reads it. */
export interface Reading {
  /** The status in the vendor's word; of an answer without one, a word for its HTTP status. */
  readonly code: string
  /** Major units; undefined where the answer has none. */
  readonly balance?: Decimal | undefined
  /** A new token, and whose it is, where the answer says so. */
  readonly token?: string | undefined
  readonly playerRef?: string | undefined
  /** The wallet asks for the call again: nothing was decided. */
  readonly retry: boolean
  /** What of its form is against the description. */
  readonly problems: ReadonlyArray<string>
  /** As the summary counts it; undefined: by message, situation and code. */
  readonly labels?: ReadonlyArray<string>
  /** The whole answer, in Pitboss's own protocol. */
  readonly answer?: Answer
}

export interface Circumstances {
  /** Of this sending: a message that is sent again has another. */
  readonly callId: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly damage: "none" | "signature" | "body"
}

/** A call that an operator makes to the vendor, or a browser. */
export interface ServerCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly header: (name: string) => string | undefined
  readonly body: string
  /** Epoch milliseconds. */
  readonly now: number
}

export interface ServerAnswer {
  readonly status: number
  readonly body: string
  readonly contentType?: string
}

export interface OfferedGame {
  readonly id: string
  readonly name: string
}

/** Free rounds that the operator ordered. */
export interface Grant {
  readonly reference: string
  readonly playerRef: string
  readonly gameId: string
  readonly currency: string
  readonly rounds: number
  readonly stake: Decimal
  /** Epoch milliseconds. */
  readonly validUntil: number
}

/** A transaction that the wallet has acknowledged. */
export interface PlayedTransaction {
  /** Epoch milliseconds. */
  readonly at: number
  readonly session: Session
  readonly message: BetMessage | WinMessage | RollbackMessage
}

/** What the provider keeps, for its own side of the operator's calls. */
export interface ProviderServer {
  /** Where the vendor is, without a slash at the end. */
  readonly url: string
  readonly games: ReadonlyArray<OfferedGame>
  /** A player has opened a game: play may begin. Gives the address of the game. */
  readonly open: (session: Session) => string
  readonly grants: Map<string, Grant>
  readonly played: (fromMs: number, toMs: number) => ReadonlyArray<PlayedTransaction>
  readonly newId: () => string
}

/** A protocol with the settings of one operator. */
export interface Dialect {
  /** `exchanges`: with a new token for the old one. */
  readonly authenticate: "none" | "keeps" | "exchanges"
  readonly balance: boolean
  /** Whether a win names the bet that it settles, or its round. */
  readonly winsName: "bet" | "round"
  /** Whether a bet may be won more than once. */
  readonly winsPerBet: "one" | "many"
  readonly promo: boolean
  readonly betWin: boolean
  /** Free rounds come bet by bet, or as one sum at their end. */
  readonly freeRounds?: "bets" | "total"
  readonly close: boolean
  /** Whether bets are asked for their session. */
  readonly sessions: boolean
  readonly malformed: boolean
  /** Whether several messages may come in one call. */
  readonly batch?: boolean
  /** Whether the provider may ask what became of a transaction. */
  readonly lookUp?: boolean
  /**
   * Whether the description decides every message in every state: ids that are used again for something else, closed rounds, wins that are
   * taken back.
   */
  readonly isExact?: boolean
  /** What a provider does with a bet that was not answered: sends it again unless this says so. */
  readonly unansweredBets?: "rollback"
  /** An amount that is no amount of the currency, as fine as the protocol can write it; undefined where it can write none. */
  readonly tooFine: (minor: Decimal, minorDigits: number) => Decimal | undefined
  readonly request: (message: Message, session: Session, circumstances: Circumstances) => WireRequest
  readonly read: (message: Message, session: Session, callId: string, answer: WireAnswer) => Reading
  readonly expect: (kind: Message["kind"], situation: Situation) => Expectation
  /** The expected state of a player, where the protocol knows more than situations. `opening`: of the wallet, where it is known. */
  readonly expectedState?: (session: Session, opening?: Opening) => ExpectedState
  /** A check over all answers of one player; gives what contradicts an earlier one. */
  readonly audit?: () => (message: Message, reading: Reading) => ReadonlyArray<string>
  /** The vendor's side of an operator's call; undefined where the provider has no such path. */
  readonly serve: (call: ServerCall, providerServer: ProviderServer) => ServerAnswer | undefined
}

export interface DialectDefinition<Settings> {
  /** Of the provider's settings file, and what only the vendor has. Other fields are ignored. */
  readonly settings: Schema.Codec<Settings, unknown>
  readonly make: (settings: Settings) => Dialect
}
