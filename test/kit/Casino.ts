/**
 * The casino of tests: an operator with a key, providers with games, players with sessions and money, and the calls of all of them. Set-up is done by the
 * published clients (`src/client`), the wire itself by raw requests (`HttpCalls.ts`). Staff's part goes over the staff API where that is
 * served (`openCasino`), and is written as rows where it is not: by the public server alone, or by a service of another process (`addTenant`, `addStudio`).
 */
import { assert } from "@effect/vitest"
import { Context, Deferred, Effect, Redacted, Schema } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import type * as Http from "node:http"
import type { BadRequest, NoAnswer, Refused } from "../../src/client/Errors.ts"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import * as ProviderClient from "../../src/client/ProviderClient.ts"
import * as Services from "../../src/client/Services.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"
import { textArray } from "./Arrays.ts"
import { type Call, type Caller, callerOf, ConnectionLost, portOf, type Reply, send } from "./HttpCalls.ts"
import { addApiKey, addProvider, type KeyOptions } from "./Keys.ts"
import { addOperator } from "./TestService.ts"

export interface Fields {
  readonly [field: string]: unknown
}

let count = 0

/** A name that nothing else has, in lower case. */
export const fresh = (prefix: string): string => `${prefix}${count++}`

/** An unexpected answer during setup. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {
  what: Schema.String,
  status: Schema.Number,
  body: Schema.String
}) {
  override get message() {
    return `${this.what}: ${this.status} ${this.body}`
  }
}

const unexpected = (what: string, { status, text }: Reply) => new Unexpected({ what, status, body: text })

/** The `data` of an answer that must have this status. */
export const dataOf = (reply: Reply, status = 200) => {
  assert.strictEqual(reply.status, status, reply.text)
  return reply.data
}

/** The `data` of an answer of this status, as the reader understands it. */
export const dataAs = <S extends Schema.ConstraintDecoder<unknown>>(
  reply: Reply,
  status: number,
  Data: S,
  what = "an answer"
): Effect.Effect<S["Type"], Unexpected> =>
  reply.status === status
    ? Effect.mapError(
      Schema.decodeUnknownEffect(Data)(reply.data),
      (error) => unexpected(`${what} of another form, ${error.message}`, reply)
    )
    : Effect.fail(unexpected(what, reply))

export const settledOf = (reply: Reply) => dataAs(reply, 200, Settlement, "a settlement")

/** That an answer refuses, and how. */
export const assertRefused = (reply: Reply, status: number, code: string, details?: unknown) => {
  assert.deepStrictEqual([reply.status, reply.code], [status, code], reply.text)
  if (details !== undefined) assert.deepStrictEqual(reply.details, details)
}

/** Code of a refusal, else the status of the answer: for tables of expected outcomes. */
export const outcomeOf = ({ code, status }: { readonly code?: string | undefined; readonly status: number }) =>
  code ?? status

const bytesOf = ({ body }: HttpClientRequest.HttpClientRequest) =>
  body._tag === "Uint8Array" ? body.body : new Uint8Array()

/** The caller signs, by its own clock: the client's signature is left out. */
const signing = new Set(["x-api-key", "x-provider-key", "x-timestamp", "x-nonce", "x-signature"])

const over = (caller: Caller): HttpClient.HttpClient =>
  HttpClient.make((request, url) => {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !signing.has(name)))
    return caller.send(`${url.pathname}${url.search}`, { method: request.method, raw: bytesOf(request), headers }).pipe(
      Effect.map(({ headers, status, text }) => {
        const known = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
        return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, { status, headers: known }))
      }),
      Effect.mapError((cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      )
    )
  })

const optionsOf = ({ signer: { key, secret } }: Caller) => ({
  baseUrl: "http://pitboss.test",
  key,
  secret: Redacted.make(secret),
  maxAttempts: 1
})

/** A client is made once for each caller. */
const madeOnce = <Client>(make: (caller: Caller) => Effect.Effect<Client>) => {
  const made = new WeakMap<Caller, Client>()
  return Effect.fnUntraced(function*(caller: Caller) {
    const known = made.get(caller)
    if (known !== undefined) return known
    const client = yield* make(caller)
    made.set(caller, client)
    return client
  })
}

/** The operators' client over the connections of a caller: its clock, its patience and its agent are kept, and every answer is held against the OpenAPI document. */
const operatorOver = madeOnce((caller) =>
  OperatorClient.make(optionsOf(caller)).pipe(
    Effect.provideService(HttpClient.HttpClient, over(caller)),
    Effect.provide(Services.layer),
    Effect.orDie
  )
)

/** The providers' client, of Pitboss's own protocol. */
const providerOver = madeOnce((caller) =>
  ProviderClient.make(optionsOf(caller)).pipe(
    Effect.provideService(HttpClient.HttpClient, over(caller)),
    Effect.provide(Services.layer),
    Effect.orDie
  )
)

/** The `data` of a call that must work; a broken connection stays one. */
const must = <A, R>(
  what: string,
  call: Effect.Effect<{ readonly data: A }, Refused | NoAnswer | BadRequest, R>
): Effect.Effect<A, Unexpected | ConnectionLost, R> =>
  call.pipe(
    Effect.map(({ data }) => data),
    Effect.mapError((error) =>
      error._tag === "NoAnswer" && error.status === undefined
        ? new ConnectionLost({ reason: error.message, isSilence: false })
        : new Unexpected({
          what,
          status: "status" in error ? error.status ?? 0 : 0,
          body: error._tag === "Refused"
            ? `${error.code} ${error.message} ${JSON.stringify(error.details)}`
            : error.message
        })
    )
  )

type RegistrationFields = Parameters<OperatorClient.OperatorClient["players"]["register"]>[0]["payload"]

/** Fields of a registration besides those that every one has. */
export type MoreOfPlayer = Partial<RegistrationFields>

/** The body of a registration that nothing is wrong with. */
export const registration = <More extends object>(username: string, more?: More) => ({
  username,
  email: `${username}@example.com`,
  first_name: "Ada",
  // A self-excluded player blocks registrations with the same name and birthday.
  last_name: username,
  birth_date: "1990-12-31",
  country: "MT",
  terms_accepted: true as const,
  ...more
})

/** Registers a player. */
export const registered = Effect.fnUntraced(function*(operator: Caller, username: string, more: MoreOfPlayer = {}) {
  const { players } = yield* operatorOver(operator)
  return yield* must("a registration", players.register({ payload: registration(username, more) }))
})

/** Registers a player; gives the id. Without the client, which an earlier version's answers do not satisfy. */
export const register = (
  operator: Caller,
  username: string,
  more?: MoreOfPlayer
): Effect.Effect<number, Unexpected | ConnectionLost> =>
  Effect.flatMap(
    operator.post("/players", registration(username, more)),
    (reply) =>
      reply.status === 201 ? Effect.succeed(Number(reply.data.id)) : Effect.fail(unexpected("a registration", reply))
  )

/** Deposits; gives the payment. */
export const deposit = Effect.fnUntraced(
  function*(operator: Caller, player: number, amount: number, external_reference = fresh("d-")) {
    const { payments } = yield* operatorOver(operator)
    return yield* must("a deposit", payments.deposit({ params: { player }, payload: { amount, external_reference } }))
  }
)

/** Launches a game; gives the session token and the address of the game. */
export const launched = Effect.fnUntraced(
  function*(operator: Caller, player: number, game: number, mode: "real" | "demo" = "real") {
    const { games } = yield* operatorOver(operator)
    return yield* must("a launch", games.launch({ params: { player, game }, payload: { mode } }))
  }
)

/** Launches a game; gives the session token. */
export const launch = (...about: Parameters<typeof launched>) =>
  Effect.map(launched(...about), ({ session_token }) => session_token)

/** Issues a token of a player's session. */
export const issueToken = Effect.fnUntraced(
  function*(operator: Caller, player: number, payload: { readonly ttl_minutes?: number } = {}) {
    const { players } = yield* operatorOver(operator)
    const { token } = yield* must("a session token", players.issueToken({ params: { player }, payload }))
    return token
  }
)

/** The provider's name for the player of a session. */
export const authenticated = Effect.fnUntraced(function*(provider: Caller, session_token: string) {
  const { provider_wallet: wallet } = yield* providerOver(provider)
  const { player_ref } = yield* must("an authentication", wallet.authenticate({ payload: { session_token } }))
  return player_ref
})

/** A player's real and bonus balance, minor units. */
const balancesOf = Effect.fnUntraced(function*(operator: Caller, player: number) {
  const { wallet } = yield* operatorOver(operator)
  const { balance, bonus_balance } = yield* must("the balances", wallet.get({ params: { player } }))
  return [balance, bonus_balance] as const
})

export interface Game {
  readonly id: number
  /** The provider's own id. */
  readonly externalId: string
}

interface GameOptions {
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

interface MethodOptions {
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

/** Never reached by a test that is not about it. */
const manyRequests = 1_000_000

/** An operator with a key of its own. */
export const addTenant = Effect.fnUntraced(
  function*(
    agent: Http.Agent | false,
    port: number,
    slug: string,
    options: KeyOptions & { readonly currency?: string } = {}
  ) {
    const operator = yield* addOperator(slug, options.currency ?? "EUR")
    const key = yield* addApiKey(operator.id, { rateLimit: manyRequests, ...options })
    return { operator, key, call: callerOf(agent, port, key) }
  }
)

/** A game provider. */
export const addStudio = Effect.fnUntraced(function*(agent: Http.Agent | false, port: number, slug: string) {
  const signer = yield* addProvider(slug)
  return { id: signer.id, slug, call: callerOf(agent, port, signer) }
})

/** Sends a message of a provider; `path` follows the base of the wallet API. */
export const callWallet = (provider: Caller, path: string, body: Fields) => provider.post(`/${path}`, body)

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

/** The token of `Settings.layerTest`. */
export const bootstrapToken = "test-bootstrap-token"

/** Ports of a service's two servers, and its log. The public one is the `HttpServer` of the context as well. */
export class BothServers extends Context.Service<BothServers, {
  readonly publicPort: number
  readonly backofficePort: number
  readonly logged: ReadonlyArray<string>
}>()("pitboss/test/BothServers") {}

const ask = (port: number, path: string, call: Call) =>
  send(port, path, { ...call, headers: { "content-type": "application/json", ...call.headers } })

/** Calls the staff API: a body of any form as it is, a text as the bytes to send. */
export const staffCall = Effect.fnUntraced(function*(
  method: string,
  path: string,
  body?: unknown,
  headers?: { readonly [name: string]: string }
) {
  const { backofficePort } = yield* BothServers
  const call = (sent: { readonly [name: string]: string }) =>
    ask(backofficePort, path, { method, headers: sent, ...(typeof body === "string" ? { raw: body } : { body }) })
  if (headers !== undefined) return yield* call(headers)
  const answer = yield* call({ authorization: `Bearer ${bootstrapToken}` })
  return answer.details["reason"] === staffOnly
    ? yield* call({ authorization: `Bearer ${yield* treasurerToken}` })
    : answer
})

/** Reason for refusing the bootstrap token once there are staff. */
export const staffOnly = "bootstrap_token"

/** Set before the request: calls at the same moment share one treasurer, since the bootstrap token makes no second one. */
const treasurers = new WeakMap<BothServers["Service"], Deferred.Deferred<string>>()

/** Token of the default staff member for money movements, which the bootstrap token may not make once there are staff. */
export const treasurerToken = Effect.gen(function*() {
  const servers = yield* BothServers
  const found = treasurers.get(servers)
  if (found !== undefined) return yield* Deferred.await(found)
  const made = Deferred.makeUnsafe<string>()
  treasurers.set(servers, made)
  const { data } = yield* ask(servers.backofficePort, "/backoffice/v1/staff", {
    headers: { authorization: `Bearer ${bootstrapToken}` },
    body: { name: "Treasurer", role: "payments", daily_budget: null }
  })
  const token: string = data.token
  yield* Deferred.succeed(made, token)
  return token
})

/** Creates a resource and returns it; fails when refused. */
export const made = Effect.fnUntraced(function*(path: string, body: { readonly [field: string]: unknown }) {
  const answer = yield* staffCall("POST", `/backoffice/v1${path}`, body)
  return answer.status === 201 ? answer.data : yield* Effect.die(new Error(JSON.stringify(answer)))
})

/** A staff call that must work; gives the resource. */
export const staff = Effect.fnUntraced(function*(method: string, path: string, body?: unknown) {
  const answer = yield* staffCall(method, `/backoffice/v1${path}`, body)
  assert.isBelow(answer.status, 300, `${method} ${path} ${JSON.stringify(answer)}`)
  return answer.data
})

/** Status of a staff transition of a payment, and the code of a refusal. */
export const move = (paymentId: number, name: string, reason?: string) =>
  staffCall("POST", `/backoffice/v1/payments/${paymentId}/${name}`, reason === undefined ? {} : { reason })

/** What an operator, its players and a provider do with a game. */
const casinoOver = <Slots extends Game>(operator: Caller, provider: Caller, slots: Slots) => {
  const { post, put } = operator
  /** Sends a message of the provider; paths are relative to the wallet API. */
  const callWallet = (path: string, body: Fields) => provider.post(`/${path}`, body)
  const messageOf = (about: Fields, more: Fields) => {
    const name = fresh("t-")
    return { request_id: name, transaction_id: name, ...about, ...more }
  }

  /** Messages about one player's play. A bet is a round of its own unless it says otherwise, and names both alike. */
  const playOf = (token: string, ref: string) => ({
    token,
    ref,
    bet: (amount: number, more: Fields = {}) => {
      const { transaction_id: round_id, ...message } = messageOf({}, more)
      const about = { session_token: token, game_id: slots.externalId, round_id, amount, currency: "EUR" }
      return callWallet("bet", { transaction_id: round_id, ...about, ...message })
    },
    win: (betId: string, amount: number, more: Fields = {}) => {
      const about = { player_ref: ref, game_id: slots.externalId, round_id: betId, bet_transaction_id: betId }
      return callWallet("win", messageOf({ ...about, amount, currency: "EUR", round_closed: true }, more))
    },
    rollback: (target: string, more: Fields = {}) =>
      callWallet("rollback", messageOf({ player_ref: ref, target_transaction_id: target }, more))
  })

  const registerNew = Effect.fnUntraced(function*(more: MoreOfPlayer = {}) {
    const { username = fresh("player_"), ...profile } = more
    // read the way callers do
    const player: Reply["data"] = yield* registered(operator, username, profile)
    return player
  })

  return {
    ...operator,
    callWallet,
    playOf,
    register: registerNew,
    /** Sends a deposit; the answer may refuse it. */
    deposit: (playerId: number, amount: number, more: Fields = {}) =>
      post(`/players/${playerId}/deposits`, { amount, external_reference: fresh("d-"), ...more }),
    withdraw: (playerId: number, amount: number, more: Fields = {}) =>
      post(`/players/${playerId}/withdrawals`, { amount, payment_method: "bank", ...more }),
    balances: (playerId: number) => balancesOf(operator, playerId),
    launch: (playerId: number, body: Fields = {}, game: Pick<Game, "id"> = slots) =>
      post(`/players/${playerId}/games/${game.id}/launch`, body),
    limit: (playerId: number, limits: Fields) => put(`/players/${playerId}/limits`, { limits }),
    exclude: (playerId: number, body: Fields) => post(`/players/${playerId}/self-exclusion`, body),
    grant: (playerId: number, bonusId: number, more: Fields = {}) =>
      post(`/players/${playerId}/bonuses`, { bonus_id: bonusId, ...more }),
    /** A registered player with a first deposit, at the game. */
    sit: Effect.fnUntraced(function*(amount = 1000, more: MoreOfPlayer = {}) {
      const player = yield* registerNew(more)
      const id: number = player.id
      if (amount > 0) yield* deposit(operator, id, amount)
      const token = yield* launch(operator, id, slots.id)
      return { id, player, ...playOf(token, yield* authenticated(provider, token)) }
    })
  }
}

/** Opens an operator with a key of all scopes, a way to pay, and a studio with a slot game and a live table. */
export const openCasino = Effect.fnUntraced(function*(settings: Fields = {}) {
  const slug = fresh("casino-")
  const { id } = yield* made("/operators", { slug, name: slug, currency: "EUR", ...settings })
  const key = yield* made("/keys", { operator: slug, rate_limit_per_minute: 1_000_000 })
  const studio = yield* made("/providers", {
    slug: `${slug}-studio`,
    name: `Studio of ${slug}`,
    launch_url: "https://play.example/?t={token}&g={game}&m={mode}",
    demo_url: "https://play.example/demo?g={game}"
  })
  const slots = yield* made("/games", { provider: studio.slug, external_id: "slots", name: `Slots of ${slug}` })
  const live = { external_id: "table", type: "live", category: "live" }
  const table = yield* made("/games", { ...live, provider: studio.slug, name: `Table of ${slug}` })
  yield* made("/payment-methods", { operator: slug, code: "bank", currencies: ["EUR", "SEK"] })
  const port = yield* portOf
  const operator = callerOf(false, port, { header: "X-Api-Key", key: key.key, secret: key.secret })
  const provider = callerOf(false, port, { header: "X-Provider-Key", key: studio.key, secret: studio.secret })
  const newBonus = (more: Fields = {}) =>
    made("/bonuses", {
      operator: slug,
      name: "Welcome",
      type: "deposit_match",
      default_amount: 500,
      wagering_multiplier: 10,
      max_grants_per_player: 0,
      valid_days: 7,
      ...more
    })
  const calls = casinoOver(operator, provider, { ...slots, externalId: "slots" })
  return { id, slug, key, studio, slots, table, newBonus, ...calls }
})

export type Casino = Effect.Success<ReturnType<typeof openCasino>>

/** A casino whose players are under a profile of its own with these rules. */
export const casinoUnder = Effect.fnUntraced(function*(rules: Fields, settings: Fields = {}) {
  const { code } = yield* made("/profiles", { code: fresh("x-house-"), name: "Rules of a house", ...rules })
  return { ...yield* openCasino({ profiles: [code], default_profile: code, ...settings }), profile: String(code) }
})

/** As {@link openCasino}, in rows: an operator with a key, and a studio with a slot game, at the server of the context. */
export const openCasinoInRows = Effect.fnUntraced(function*(slug: string, options: KeyOptions = {}) {
  const port = yield* portOf
  const { call, key, operator } = yield* addTenant(false, port, slug, options)
  const studio = yield* addStudio(false, port, `${slug}-studio`)
  const slots = yield* addGame(studio.id, "slots", { name: `Slots of ${slug}` })
  return { operator, key, studio, slots, caller: call, ...casinoOver(call, studio.call, slots) }
})
