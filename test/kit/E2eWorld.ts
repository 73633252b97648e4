/**
 * Test setup: operators with keys, providers with games, players with money. Staff's part is written directly to
 * the database; the operator's and the provider's part goes over HTTP, by their clients (`Clients.ts`).
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type * as Http from "node:http"
import type { Operator } from "../../src/domain/state/Operator.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { textArray } from "./Arrays.ts"
import { authenticated, deposit, launch, register, Unexpected } from "./Clients.ts"
import { type Caller, callerOf, type ConnectionLost } from "./E2eHttp.ts"
import type { Reply } from "./HttpCalls.ts"
import { addApiKey, addProvider, type KeyOptions } from "./Keys.ts"
import { addOperator } from "./TestService.ts"
import { Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"

const unexpected = (what: string, { status, text }: Reply) => new Unexpected({ what, status, body: text })

const Enveloped = Schema.Struct({ data: Schema.Unknown })
const decodeEnvelope = Schema.decodeUnknownEffect(Enveloped)

/** The `data` of an answer of this status, as the reader understands it. */
export const dataOf = <S extends Schema.ConstraintDecoder<unknown>>(
  reply: Reply,
  status: number,
  Data: S,
  what = "an answer"
): Effect.Effect<S["Type"], Unexpected> =>
  reply.status === status
    ? decodeEnvelope(reply.json).pipe(
      Effect.flatMap(({ data }) => Schema.decodeUnknownEffect(Data)(data)),
      Effect.mapError((error) => unexpected(`${what} of another form, ${error.message}`, reply))
    )
    : Effect.fail(unexpected(what, reply))

export const settledOf = (reply: Reply) => dataOf(reply, 200, Settlement, "a settlement")

/** A payment request (SPEC section 2.5). */
export const Payment = Schema.Struct({
  id: Schema.Int,
  type: Schema.Literals(["deposit", "withdrawal"]),
  status: Schema.String,
  player_id: Schema.Int,
  amount: Schema.Int,
  currency: Schema.String,
  payment_method: Schema.NullOr(Schema.String),
  external_reference: Schema.NullOr(Schema.String),
  info: Schema.NullOr(Schema.String),
  reject_reason: Schema.NullOr(Schema.String),
  is_reversed: Schema.Boolean,
  created_at: Schema.String,
  paid_at: Schema.NullOr(Schema.String),
  rejected_at: Schema.NullOr(Schema.String),
  cancelled_at: Schema.NullOr(Schema.String),
  updated_at: Schema.String
})

export interface Game {
  readonly id: number
  /** The provider's own id. */
  readonly externalId: string
}

export interface GameOptions {
  readonly name?: string
  readonly type?: "rng" | "live"
  readonly category?: string
  readonly active?: boolean
  readonly original?: string
}

/** Adds a game to the catalogue. */
export const addGame = Effect.fnUntraced(function*(providerId: number, externalId: string, options: GameOptions = {}) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* (yield* Ids).reserve(1)
  yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, rtp, original, active, created_at, updated_at)
    VALUES (${id}, ${providerId}, ${externalId}, ${options.name ?? externalId}, ${options.type ?? "rng"},
      ${options.category ?? "slots"}, 96.5, ${options.original ?? null}, ${options.active ?? true}, now(), now())`
  return { id, externalId } satisfies Game
})

export interface MethodOptions {
  readonly currencies?: ReadonlyArray<string>
  readonly supportsDeposit?: boolean
  readonly minDeposit?: number
  readonly maxDeposit?: number
  readonly active?: boolean
}

/** Adds a payment method of an operator. */
export const addPaymentMethod = Effect.fnUntraced(
  function*(operatorId: number, code: string, options: MethodOptions = {}) {
    const sql = yield* SqlClient.SqlClient
    const id = yield* (yield* Ids).reserve(1)
    yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, supports_deposit, min_deposit,
        max_deposit, active, created_at)
      VALUES (${id}, ${operatorId}, ${code}, ${code}, ${textArray(options.currencies ?? ["EUR"])},
        ${options.supportsDeposit ?? true}, ${options.minDeposit ?? 1}, ${options.maxDeposit ?? 1_000_000_000},
        ${options.active ?? true}, now())`
  }
)

export interface Tenant {
  readonly operator: Operator
  readonly call: Caller
}

/** Never reached by a test that is not about it. */
const manyRequests = 1_000_000

/** An operator with a key of its own. */
export const addTenant = Effect.fnUntraced(
  function*(agent: Http.Agent, port: number, slug: string, options: KeyOptions & { readonly currency?: string } = {}) {
    const operator = yield* addOperator(slug, options.currency ?? "EUR")
    const key = yield* addApiKey(operator.id, { rateLimit: manyRequests, ...options })
    return { operator, call: callerOf(agent, port, key) } satisfies Tenant
  }
)

export interface Studio {
  readonly id: number
  readonly slug: string
  readonly call: Caller
}

/** A game provider. */
export const addStudio = Effect.fnUntraced(function*(agent: Http.Agent, port: number, slug: string) {
  const signer = yield* addProvider(slug)
  return { id: signer.id, slug, call: callerOf(agent, port, signer) } satisfies Studio
})

/** Sends a message of a provider; `path` follows the base of the wallet API. */
export const callWallet = (
  provider: Caller,
  path: string,
  body: { readonly [field: string]: unknown }
): Effect.Effect<Reply, ConnectionLost> => provider.post(`/api/v1/provider/wallet/${path}`, body)

/** A player at a game: with money, a session, and the provider's name for the player. */
export interface Seat {
  readonly playerId: number
  readonly token: string
  readonly ref: string
  readonly game: Game
}

/** Sets a player's limits as staff would, before the player's first request. */
const setLimits = Effect.fnUntraced(function*(playerId: number, limits: { readonly [limit: string]: number }) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE players SET limits = ${JSON.stringify(limits)}::text::jsonb WHERE id = ${playerId}`
})

/** Seats a player: registered, with a first deposit where one is given, launched and authenticated. */
export const seat = Effect.fnUntraced(function*(
  operator: Caller,
  provider: Caller,
  game: Game,
  options: {
    readonly username: string
    readonly balance: number
    readonly limits?: { readonly [limit: string]: number }
  }
) {
  const playerId = yield* register(operator, options.username)
  if (options.limits !== undefined) yield* setLimits(playerId, options.limits)
  if (options.balance > 0) yield* deposit(operator, playerId, options.balance, `first-${options.username}`)
  const token = yield* launch(operator, playerId, game.id)
  const ref = yield* authenticated(provider, token)
  return { playerId, token, ref, game } satisfies Seat
})

/** A name that no other test of the file uses. */
export const freshName = Effect.map(Entropy, ({ token }) => token("", 12))

/** The same in lower-case letters and digits. */
export const freshSlug = Effect.map(freshName, (name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "x"))
