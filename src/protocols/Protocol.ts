/**
 * Interface of provider protocols (`docs/decisions/0041-one-way-through-http.md`): pure translation between vendor messages and wallet calls, and
 * effects for calls to the vendor.
 */
import { type Effect, Result, Schema, SchemaAST } from "effect"
import type { Refusal } from "../domain/Refusal.ts"
import type { Settlement, SettlementPolicy } from "../domain/settlement/Settlement.ts"
import type { Amount, Decimal } from "./Decimal.ts"

/** Call of a provider before its body is read. */
export interface CallHead {
  readonly method: string
  /** Path and query exactly as sent. */
  readonly target: string
  /** Value of a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  /** Address of the caller, behind trusted proxies the one that they name; undefined when that is none. */
  readonly address: () => string | undefined
}

/** Call of a vendor with its whole body. */
export interface VendorCall {
  readonly method: string
  /** Path below the provider's address: empty, or beginning with a slash. Without the query. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** Value of a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
  /** Epoch milliseconds. */
  readonly now: number
}

/** All that is known of a call that is refused before it is read. */
export type VendorHead = Pick<VendorCall, "method" | "path">

export interface VendorAnswer {
  readonly status: number
  readonly body: string
  /** `application/json` by default. */
  readonly contentType?: string
  /** Further headers. */
  readonly headers?: { readonly [name: string]: string }
}

/** Player of a call, by reference if given; a token beside it must be of the same player. A transaction is used only without either. */
export interface PlayerName {
  readonly ref: string | null
  readonly token: string | null
  readonly transactionId: string | null
}

export type WalletAction =
  | {
    readonly action: "bet"
    readonly transactionId: string
    readonly amount: Amount
    /**
     * A free bet. `true`: its stake is paid by the vendor; the amount has to be one of the currency, and is not taken. `without_stake`: it has no
     * stake; an amount with it is refused.
     */
    readonly isFree?: boolean | "without_stake"
    readonly closesRound: boolean | "when_settled"
  }
  | {
    readonly action: "win"
    readonly transactionId: string
    /** Null for a win of the round as a whole. */
    readonly betTransactionId: string | null
    /** Belongs to the game and the round of its bet, whichever the call names. */
    readonly ofBet?: boolean
    readonly amount: Amount
    readonly closesRound: boolean | "when_settled"
  }
  | {
    readonly action: "rollback"
    readonly transactionId: string
    readonly targetTransactionId: string
    /** Takes back bets only; of another kind of target it takes nothing. */
    readonly onlyBets?: boolean
    /** The transaction id is this and the target's. Where the bet itself was rolled back so, a rollback of its refund takes nothing. */
    readonly idPrefix?: string
    readonly closesRound: boolean | "when_settled"
  }
  | {
    readonly action: "promo_win"
    readonly transactionId: string
    readonly kind: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
    readonly campaignId: string
    readonly amount: Amount
  }
  | { readonly action: "adjust"; readonly transactionId: string; readonly amount: Amount }
  | { readonly action: "close_round" }

/** Call that settles. */
export type SettleCall = Extract<WalletCall, { readonly kind: "settle" }>

/** Kind of a win without a bet. */
export type PromoKind = Extract<WalletAction, { readonly action: "promo_win" }>["kind"]

/** What actions are about. */
export interface ActionSubject {
  readonly player: PlayerName
  readonly gameId: string | null
  readonly roundId: string | null
  readonly currency: string | null
  /** A bet needs a running session under the token; `none`: the call names no session, and needs a running one of the player at the provider. */
  readonly session: "token" | "none"
}

/** Request of a provider's call to the wallet. */
export type WalletCall =
  /** Owner of a session token; `exchange` replaces the token by a new one, and the old one takes no more bets. */
  | {
    readonly kind: "identify"
    readonly method: string
    readonly player: PlayerName
    readonly exchange: boolean
    /** Game whose stakeable funds are answered; null: none in particular. */
    readonly gameId: string | null
  }
  | {
    readonly kind: "balance"
    readonly method: string
    readonly player: PlayerName
    readonly gameId: string | null
    /** Refused when it is not the player's; null: not given. */
    readonly currency: string | null
    /** A token whose session is over will do; one that never was ours will not. */
    readonly mayBeOver?: boolean
    /** The wallets as they are are answered, whatever may be staked. */
    readonly ofWallets?: boolean
  }
  /** The player's funds for each of several games. */
  | {
    readonly kind: "balances"
    readonly method: string
    readonly player: PlayerName
    readonly gameIds: ReadonlyArray<string>
  }
  /** Owner and end of the session under a token, as `identify` without the player's profile, and the wallets as they are. */
  | { readonly kind: "session"; readonly method: string; readonly player: PlayerName }
  /** What became of a message. */
  | { readonly kind: "status"; readonly method: string; readonly player: PlayerName; readonly transactionId: string }
  /**
   * In order, all or nothing. Without actions nothing moves and the player's funds are answered. A round may be closed without naming its game: it is
   * looked for among the provider's games, and left as it is where none of them or more than one has it open.
   */
  | ActionSubject & {
    readonly kind: "settle"
    readonly method: string
    readonly actions: ReadonlyArray<WalletAction>
    /**
     * The same call about another round of the player, for a vendor whose own reference names the bet, whatever round is named beside it: used where
     * the bet that the first action names is unknown, and another round has it.
     */
    readonly inRound?: (roundId: string) => SettleCall
    /** A bet and its win count as one action: one settlement, and the wallet sequence rises once. */
    readonly isOne?: boolean
    /** Free-round grant that the call finishes or belongs to; an unknown one is refused with NOT_FOUND where `mustExist`. */
    readonly grant?: {
      readonly reference: string
      readonly mustExist: boolean
      readonly finishes: boolean
      /** Total won, if different from what the call's actions pay; null: not given. */
      readonly won?: Amount | null
    }
  }
  /** Actions with a subject each, all of one player: in order, all or nothing. */
  | {
    readonly kind: "batch"
    readonly method: string
    readonly entries: ReadonlyArray<ActionSubject & { readonly action: WalletAction }>
  }

/**
 * Funds of a player for a game, in minor units; `bonus` is zero where it may not be staked on the game or, without a game, where no bonus runs. May be
 * negative.
 */
export interface Funds {
  readonly currency: string
  readonly real: number
  readonly bonus: number
}

export interface Identified {
  readonly playerRef: string
  /** The new token after an exchange, otherwise as sent; null when the call has none. */
  readonly token: string | null
  readonly country: string
  readonly language: string
  /** ISO date; null when unknown. */
  readonly birthDate: string | null
  /** Epoch milliseconds. */
  readonly registeredAt: number
  readonly tags: ReadonlyArray<string>
}

export type WalletOutcome =
  | { readonly _tag: "Identified"; readonly player: Identified; readonly funds: Funds }
  | { readonly _tag: "Balance"; readonly playerRef: string; readonly funds: Funds }
  /** In the order of the call's games. */
  | { readonly _tag: "Balances"; readonly playerRef: string; readonly funds: ReadonlyArray<Funds> }
  | {
    readonly _tag: "Session"
    readonly playerRef: string
    readonly country: string
    readonly language: string
    /** Epoch milliseconds. */
    readonly expiresAt: number
    readonly funds: Funds
  }
  | {
    readonly _tag: "Status"
    readonly transactionId: string
    readonly status: "unknown" | "processed" | "rolled_back" | "tombstone"
  }
  | {
    readonly _tag: "Settled"
    /** One per action, in order. */
    readonly settlements: ReadonlyArray<Settlement>
    readonly playerRef: string
    readonly funds: Funds
  }
  /** Any code is possible, including TRY_AGAIN, and SERVER_ERROR for a defect. */
  | {
    readonly _tag: "Refused"
    readonly refusal: Refusal
    readonly playerRef: string | null
    readonly funds: Funds | null
  }

/** Outcome other than a refusal. */
export type Granted = Exclude<WalletOutcome, { readonly _tag: "Refused" }>

/** Funds of the player in an outcome; null where it has none, or those of several games. */
export const fundsIn = (outcome: WalletOutcome): Funds | null =>
  outcome._tag === "Status" || outcome._tag === "Balances" ? null : outcome.funds

/** Actions of a call that may tell the end of its round: the last one, which closes the round, may be known already or move nothing. */
export const withEnd = (actions: ReadonlyArray<WalletAction>, isTold: boolean): ReadonlyArray<WalletAction> =>
  isTold ? [...actions, { action: "close_round" }] : actions

/** Parsed call: the request to the wallet, and the renderer of its outcome. */
export interface ReadCall {
  readonly call: WalletCall
  readonly render: (outcome: WalletOutcome) => VendorAnswer
}

export type Received =
  | { readonly _tag: "NotFound" }
  /** Refused before a good signature, whatever else is wrong: counted against the caller's address, and no call of the provider. */
  | {
    readonly _tag: "Stranger"
    readonly answer: VendorAnswer
    /** What failed; the signature where not given. */
    readonly refusal?: Refusal
  }
  /** Signed, and answered without the wallet. `reason` is for `provider calls`; `notice`: an informational call that moves nothing. */
  | {
    readonly _tag: "Answered"
    readonly answer: VendorAnswer
    readonly reason: "form" | "notice"
    readonly method: string
  }
  | { readonly _tag: "Call" } & ReadCall

/** Request to a vendor. */
export interface VendorRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** Undefined for a GET. */
  readonly body?: string
  /** The answer is a list, of a catalogue or a feed: at most four megabytes instead of 64 KiB. */
  readonly isList?: boolean
}

export interface VendorResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** Reason for the failure of a call to a vendor. */
export interface VendorFailure {
  readonly _tag: "VendorFailure"
  /** `unavailable`: no answer, an unreadable one, or a 5xx; `refused`: the vendor refused. */
  readonly kind: "unavailable" | "refused"
  /** Error code and word of the vendor, or ours; at most 200 characters. */
  readonly word: string
}

/** Sends one request to a vendor. No redirects; at most five seconds, and 64 KiB of an answer or four megabytes of a list. */
export type SendToVendor = (request: VendorRequest) => Effect.Effect<VendorResponse, VendorFailure>

export interface LaunchOrder {
  readonly gameId: string
  readonly token: string
  readonly mode: "real" | "demo"
  readonly platform: string | null
  readonly ip: string | null
  readonly player: Identified & { readonly currency: string; readonly username: string }
  readonly lobbyUrl: string | null
  readonly depositUrl: string | null
}

export interface CatalogueGame {
  readonly externalId: string
  readonly name: string
  readonly type: "rng" | "live"
  readonly category: string
  readonly rtp: number | null
  readonly thumbnailUrl: string | null
}

/** Line of a vendor's list that is not taken. */
export interface LeftLine {
  /** The vendor's id; null where it gives none. */
  readonly id: string | null
  readonly reason: string
}

export interface Catalogue {
  readonly games: ReadonlyArray<CatalogueGame>
  /** Games that are not understood. What is known of them stays as it is. */
  readonly odd?: ReadonlyArray<LeftLine>
  /** Games that the vendor lists and does not offer. */
  readonly withdrawn?: ReadonlyArray<LeftLine>
}

export interface FreeRoundsOrder {
  /** Our unique reference, which the vendor's wins carry. */
  readonly reference: string
  readonly playerRef: string
  readonly currency: string
  readonly country: string
  readonly language: string
  readonly gameId: string
  readonly rounds: number
  /** Per round. */
  readonly stake: Decimal
  /** Epoch milliseconds. */
  readonly validUntil: number
}

/** Transaction of the vendor's feed, under the id used by the wallet. */
export interface FeedTransaction {
  readonly transactionId: string
  readonly kind: "bet" | "win" | "rollback"
  readonly amount: Decimal
  readonly currency: string
  readonly playerRef: string
}

/** Entry of a feed of rounds instead of transactions. */
export interface FeedRound {
  readonly roundId: string
  readonly gameId: string
  readonly playerRef: string
  readonly bet: Decimal
  readonly win: Decimal
  readonly currency: string
}

export type Feed =
  & (
    | { readonly by: "transaction"; readonly lines: ReadonlyArray<FeedTransaction> }
    | { readonly by: "round"; readonly lines: ReadonlyArray<FeedRound> }
  )
  & {
    /** Lines that are not understood, under the id used by the wallet where they give one. */
    readonly odd?: ReadonlyArray<LeftLine>
    /** Lines of transactions that settled nothing, as the vendor says: declined, or given up. */
    readonly unsettled?: number
  }

/** Calls to the vendor supported by the protocol. Each is given `send`; `uuid` and `nowMs` come from the caller, which has entropy and a clock. */
export interface Outbound {
  /** URL to redirect the player's browser to. */
  readonly launch: (order: LaunchOrder, tools: VendorTools) => Effect.Effect<string, VendorFailure>
  /** The whole catalogue, at most 50,000 games, each line of it. */
  readonly catalogue?: (tools: VendorTools) => Effect.Effect<Catalogue, VendorFailure>
  readonly freeRounds?: {
    /** Returns the vendor's id of the grant, if other than our reference. */
    readonly issue: (order: FreeRoundsOrder, tools: VendorTools) => Effect.Effect<string, VendorFailure>
    readonly cancel: (reference: string, playerRef: string, tools: VendorTools) => Effect.Effect<void, VendorFailure>
  }
  /** The vendor's records of a UTC day: each line of them, or a failure. */
  readonly feed?: (
    day: { readonly fromMs: number; readonly toMs: number },
    tools: VendorTools
  ) => Effect.Effect<Feed, VendorFailure>
}

export interface VendorTools {
  readonly send: SendToVendor
  readonly uuid: () => string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * Answers a call that is refused before it is read, with the protocol's word for the refusal: its *try again* for what may be sent again, as over a limit
 * or without room, the answer to a stranger for an address that may not call, and that to an unreadable body for one that is too large. Undefined where
 * the protocol has no such call.
 */
export type RefuseUnread = (head: VendorHead, refusal: Refusal) => VendorAnswer | undefined

/** Protocol bound to the settings of one provider. */
export interface Bound {
  /**
   * Before the signature is known to be good, nothing of the body is decoded unless its bytes and fields are bounded by the largest genuine message:
   * whoever calls, the signature of raw bytes comes first.
   */
  readonly receive: (call: VendorCall) => Received
  readonly outbound: Outbound
  /** Overrides the protocol's policy, depending on the settings. */
  readonly policy?: SettlementPolicy
}

export interface Protocol<Settings = unknown> {
  readonly name: string
  /** Schema of the settings file. Fields that end in `url` are validated as addresses by the caller. */
  readonly settings: Schema.Codec<Settings, unknown>
  /** Settings that are sealed and never shown. */
  readonly secrets: ReadonlyArray<string & keyof Settings>
  readonly policy: SettlementPolicy
  /** Prepares keys once; never throws for settings that pass the schema. */
  readonly bind: (settings: Settings) => Bound
  /** Needs no settings: they may be what cannot be read. */
  readonly refuse: RefuseUnread
}

/** Setting as a form field. */
interface SettingField {
  readonly name: string
  readonly isRequired: boolean
  readonly isSecret: boolean
  /** `block`: multi-line text, like a key in PEM; `choice`: one of `options`. */
  readonly kind: "text" | "block" | "integer" | "choice"
  readonly options: ReadonlyArray<string>
}

/** Protocol with the type of its settings hidden. */
export interface AnyProtocol {
  readonly name: string
  /** Settings in the order of their declaration. */
  readonly fields: ReadonlyArray<SettingField>
  readonly secrets: ReadonlyArray<string>
  readonly policy: SettlementPolicy
  /** Binds the protocol to unparsed settings, or returns all validation errors; an unknown setting is an error. */
  readonly bind: (given: unknown) => Result.Result<Bound, Schema.SchemaError>
  readonly refuse: RefuseUnread
}

const formOf = (ast: SchemaAST.AST): Pick<SettingField, "kind" | "options"> => {
  if (SchemaAST.isUnion(ast)) {
    const options = ast.types.flatMap((type) => SchemaAST.isLiteral(type) ? [String(type.literal)] : [])
    return { kind: "choice", options }
  }
  const kind = SchemaAST.isNumber(ast) ? "integer" : SchemaAST.resolve(ast)?.["format"] === "pem" ? "block" : "text"
  return { kind, options: [] }
}

/** Settings as form fields, in the order of their declaration. */
export const settingFieldsOf = (ast: SchemaAST.AST, secrets: ReadonlyArray<string>): ReadonlyArray<SettingField> =>
  SchemaAST.isObjects(ast)
    ? ast.propertySignatures.map(({ name, type }) => ({
      name: String(name),
      isRequired: !SchemaAST.isOptional(type),
      isSecret: secrets.includes(String(name)),
      ...formOf(type)
    }))
    : []

/** Hides the type of a protocol's settings, for the list of protocols. */
export const anyProtocol = <Settings>(
  { bind, name, policy, refuse, secrets, settings }: Protocol<Settings>
): AnyProtocol => {
  const decode = Schema.decodeUnknownResult(settings, { errors: "all", onExcessProperty: "error" })
  return {
    name,
    fields: settingFieldsOf(settings.ast, secrets),
    secrets,
    policy,
    bind: (given) => Result.map(decode(given), bind),
    refuse
  }
}
