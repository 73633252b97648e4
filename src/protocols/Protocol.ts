/**
 * What a protocol of a game provider is (`docs/decisions/0043-provider-protocols.md`): pure functions between a vendor's words and the
 * wallet's, and effects for the calls to the vendor.
 */
import { type Effect, Result, Schema, SchemaAST } from "effect"
import type { Refusal } from "../domain/Refusal.ts"
import type { Settlement, SettlementPolicy } from "../domain/settlement/Settlement.ts"
import type { Amount, Decimal } from "./Decimal.ts"

/** A call of a vendor, read to its end. */
export interface VendorCall {
  readonly method: string
  /** What follows the provider's address: empty, or beginning with a slash. Without the query. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** The value of a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
  /** Epoch milliseconds. */
  readonly now: number
}

export interface VendorAnswer {
  readonly status: number
  readonly body: string
  /** `application/json` unless said. */
  readonly contentType?: string
}

/** How a call names its player. A reference decides; a token beside it must be of the same player. A transaction is the last resort. */
export interface PlayerName {
  readonly ref: string | null
  readonly token: string | null
  readonly transactionId: string | null
}

export type WalletAction =
  | {
    readonly action: "bet"
    readonly transactionId: string
    /** Of a free bet zero: its stake is the vendor's. */
    readonly amount: Amount
    readonly closesRound: boolean | "when_settled"
  }
  | {
    readonly action: "win"
    readonly transactionId: string
    /** Null: the win is the round's. */
    readonly betTransactionId: string | null
    readonly amount: Amount
    readonly closesRound: boolean | "when_settled"
  }
  | {
    readonly action: "rollback"
    readonly transactionId: string
    readonly targetTransactionId: string
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

/** What a win that belongs to no bet is. */
export type PromoKind = Extract<WalletAction, { readonly action: "promo_win" }>["kind"]

/** What a vendor's call asks of the wallet. */
export type WalletCall =
  /** Whose a session token is; with `exchange` it gets a new one, and the old one takes no more bets. */
  | {
    readonly kind: "identify"
    readonly method: string
    readonly player: PlayerName
    readonly exchange: boolean
    /** Whether the token may be over: for who asks by reference. */
    readonly gameId: string | null
  }
  | {
    readonly kind: "balance"
    readonly method: string
    readonly player: PlayerName
    readonly gameId: string | null
    /** Refused when it is not the player's; null: not said. */
    readonly currency: string | null
  }
  /** What the player has for each of several games. */
  | {
    readonly kind: "balances"
    readonly method: string
    readonly player: PlayerName
    readonly gameIds: ReadonlyArray<string>
  }
  /**
   * In order, all or nothing. Without actions nothing moves and the player's funds are answered. A round to be closed may be named without its
   * game: it is looked for among the player's latest, and left as it is when it is none of them.
   */
  | {
    readonly kind: "settle"
    readonly method: string
    readonly player: PlayerName
    readonly gameId: string | null
    readonly roundId: string | null
    readonly currency: string | null
    /** A bet needs a running session under the token; `none`: the call names no session, and any earlier one of the player will do. */
    readonly session: "token" | "none"
    readonly actions: ReadonlyArray<WalletAction>
    /** The vendor's free-round grant that the call ends or belongs to; an unknown one is refused with NOT_FOUND where `mustExist`. */
    readonly grant?: {
      readonly reference: string
      readonly mustExist: boolean
      readonly finishes: boolean
      /** What they won in all, where that is not what the call's actions pay; null: not said. */
      readonly won?: Amount | null
    }
  }

/** What a player has to play a game with, minor units; `bonus` is zero where it may not be staked on the game. May be negative. */
export interface Funds {
  readonly currency: string
  readonly real: number
  readonly bonus: number
}

export interface Identified {
  readonly playerRef: string
  /** The new one after an exchange, else as it came; null when the call named none. */
  readonly token: string | null
  readonly country: string
  readonly language: string
  /** ISO date; null: not known. */
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
    readonly _tag: "Settled"
    /** One for each action, in their order. */
    readonly settlements: ReadonlyArray<Settlement>
    readonly playerRef: string
    readonly funds: Funds
  }
  /** Every code may come: also TRY_AGAIN, and SERVER_ERROR for a defect. */
  | {
    readonly _tag: "Refused"
    readonly refusal: Refusal
    readonly playerRef: string | null
    readonly funds: Funds | null
  }

/** An outcome that is no refusal. */
export type Granted = Exclude<WalletOutcome, { readonly _tag: "Refused" }>

/** A call that was read: what it asks of the wallet, and how its outcome is answered. */
export interface ReadCall {
  readonly call: WalletCall
  readonly render: (outcome: WalletOutcome) => VendorAnswer
}

export type Received =
  | { readonly _tag: "NotFound" }
  /** Answered without asking the wallet. `reason` is for logs and `provider calls`; `notice`: the vendor told what moves nothing. */
  | {
    readonly _tag: "Answered"
    readonly answer: VendorAnswer
    readonly reason: "signature" | "form" | "notice"
    readonly method: string
  }
  | { readonly _tag: "Call" } & ReadCall

/** A request to a vendor. */
export interface VendorRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** Undefined for a GET. */
  readonly body?: string
}

export interface VendorResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** Why a call to a vendor brought nothing. */
export interface VendorFailure {
  readonly _tag: "VendorFailure"
  /** `unavailable`: no answer, an unreadable one, or a 5xx; `refused`: the vendor said no. */
  readonly kind: "unavailable" | "refused"
  /** The vendor's word for it, or ours; at most 200 characters. */
  readonly word: string
}

/** Sends one request to a vendor. No redirects; five seconds and four megabytes at most. */
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

export interface FreeRoundsOrder {
  /** Ours, unique: the reference under which the vendor's wins name it. */
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

/** A transaction of the vendor's feed, under the id that the wallet keeps it under. */
export interface FeedTransaction {
  readonly transactionId: string
  readonly kind: "bet" | "win" | "rollback"
  readonly amount: Decimal
  readonly currency: string
  readonly playerRef: string
}

/** A feed that tells rounds, not transactions. */
export interface FeedRound {
  readonly roundId: string
  readonly gameId: string
  readonly playerRef: string
  readonly bet: Decimal
  readonly win: Decimal
  readonly currency: string
}

export type Feed =
  | { readonly by: "transaction"; readonly lines: ReadonlyArray<FeedTransaction> }
  | { readonly by: "round"; readonly lines: ReadonlyArray<FeedRound> }

/** Calls to the vendor, where its protocol has them. Each is given `send`. `uuid` and `nowMs` come from the caller, who has entropy and a clock. */
export interface Outbound {
  /** The address to send the player's browser to. */
  readonly launch: (order: LaunchOrder, tools: VendorTools) => Effect.Effect<string, VendorFailure>
  /** The whole catalogue, at most 50,000 games. */
  readonly catalogue?: (tools: VendorTools) => Effect.Effect<ReadonlyArray<CatalogueGame>, VendorFailure>
  readonly freeRounds?: {
    /** Gives what the vendor calls it, where that is not our reference. */
    readonly issue: (order: FreeRoundsOrder, tools: VendorTools) => Effect.Effect<string, VendorFailure>
    readonly cancel: (reference: string, playerRef: string, tools: VendorTools) => Effect.Effect<void, VendorFailure>
  }
  /** What the vendor has of a UTC day. */
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

/** A protocol with the settings of one provider. */
export interface Bound {
  readonly receive: (call: VendorCall) => Received
  readonly outbound: Outbound
  /** Where these settings make it another than the protocol's. */
  readonly policy?: SettlementPolicy
}

export interface Protocol<Settings = unknown> {
  readonly name: string
  /** The settings file. Fields that end in `url` are judged as addresses by the frame. */
  readonly settings: Schema.Codec<Settings, unknown>
  /** Settings that are sealed and never shown. */
  readonly secrets: ReadonlyArray<string & keyof Settings>
  readonly policy: SettlementPolicy
  /** Prepares keys once; throws nothing that `settings` let through. */
  readonly bind: (settings: Settings) => Bound
}

/** A setting as a form asks for it. */
interface SettingField {
  readonly name: string
  readonly isRequired: boolean
  readonly isSecret: boolean
  /** `block`: text of several lines, like a key in PEM; `choice`: one of `options`. */
  readonly kind: "text" | "block" | "integer" | "choice"
  readonly options: ReadonlyArray<string>
}

/** A protocol as the frame keeps it: the type of its settings is the protocol's own affair. */
export interface AnyProtocol {
  readonly name: string
  /** The settings, in the order in which they are declared. */
  readonly fields: ReadonlyArray<SettingField>
  readonly secrets: ReadonlyArray<string>
  readonly policy: SettlementPolicy
  /** The protocol with settings as they were given, or everything that is wrong with them; a setting it does not know is wrong as well. */
  readonly bind: (given: unknown) => Result.Result<Bound, Schema.SchemaError>
}

const formOf = (ast: SchemaAST.AST): Pick<SettingField, "kind" | "options"> => {
  if (SchemaAST.isUnion(ast)) {
    const options = ast.types.flatMap((type) => SchemaAST.isLiteral(type) ? [String(type.literal)] : [])
    return { kind: "choice", options }
  }
  const kind = SchemaAST.isNumber(ast) ? "integer" : SchemaAST.resolve(ast)?.["format"] === "pem" ? "block" : "text"
  return { kind, options: [] }
}

const fieldsOf = (ast: SchemaAST.AST, secrets: ReadonlyArray<string>): ReadonlyArray<SettingField> =>
  SchemaAST.isObjects(ast)
    ? ast.propertySignatures.map(({ name, type }) => ({
      name: String(name),
      isRequired: !SchemaAST.isOptional(type),
      isSecret: secrets.includes(String(name)),
      ...formOf(type)
    }))
    : []

/** Hides the type of a protocol's settings, for the list of protocols. */
export const anyProtocol = <Settings>({ bind, name, policy, secrets, settings }: Protocol<Settings>): AnyProtocol => {
  const decode = Schema.decodeUnknownResult(settings, { errors: "all", onExcessProperty: "error" })
  return {
    name,
    fields: fieldsOf(settings.ast, secrets),
    secrets,
    policy,
    bind: (given) => Result.map(decode(given), bind)
  }
}
