/**
 * The clients of `src/client` in tests, over the connections of a caller: its clock, its patience and its agent are kept, and every answer is held
 * against the OpenAPI document. For what must work before the matter of a test; a test about an answer's bytes sends them itself.
 */
import { Effect, Redacted, Schema } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import type { BadRequest, NoAnswer, Refused } from "../../src/client/Errors.ts"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import * as ProviderClient from "../../src/client/ProviderClient.ts"
import * as Services from "../../src/client/Services.ts"
import type { Caller } from "./E2eHttp.ts"
import { ConnectionLost } from "./HttpCalls.ts"

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

/** The operators' client. */
export const operatorOver = madeOnce((caller) =>
  OperatorClient.make(optionsOf(caller)).pipe(
    Effect.provideService(HttpClient.HttpClient, over(caller)),
    Effect.provide(Services.layer),
    Effect.orDie
  )
)

/** The providers' client, of Pitboss's own protocol. */
export const providerOver = madeOnce((caller) =>
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
export const registration = (username: string) => ({
  username,
  email: `${username}@example.com`,
  first_name: "Ada",
  // A self-excluded player blocks registrations with the same name and birthday.
  last_name: username,
  birth_date: "1950-12-31",
  country: "MT",
  terms_accepted: true as const
})

/** Registers a player. */
export const registered = Effect.fnUntraced(function*(operator: Caller, username: string, more: MoreOfPlayer = {}) {
  const { players } = yield* operatorOver(operator)
  return yield* must("a registration", players.register({ payload: { ...registration(username), ...more } }))
})

/** Registers a player; gives the id. */
export const register = (operator: Caller, username: string, more?: MoreOfPlayer) =>
  Effect.map(registered(operator, username, more), ({ id }) => id)

/** Deposits; gives the payment. */
export const deposit = Effect.fnUntraced(
  function*(operator: Caller, player: number, amount: number, external_reference: string) {
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
export const issued = Effect.fnUntraced(
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
export const balancesOf = Effect.fnUntraced(function*(operator: Caller, player: number) {
  const { wallet } = yield* operatorOver(operator)
  const { balance, bonus_balance } = yield* must("the balances", wallet.get({ params: { player } }))
  return [balance, bonus_balance] as const
})
