/**
 * Casino of acceptance tests: set up through the staff API; its operator, its game provider and its players'
 * browsers call the public API over real HTTP. Only the clock is the test's. Independent of the implementation.
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { BothServers, layerBothServers, made, staffCall } from "./Backoffice.ts"
import { Calendar } from "./Calendar.ts"
import * as Clients from "./Clients.ts"
import { callerOf } from "./E2eHttp.ts"
import { type Answer, type Call, opened, send, sendSigned, type Signer } from "./HttpCalls.ts"
import { registration } from "./PublicApi.ts"

export interface Fields {
  readonly [field: string]: unknown
}

let count = 0

/** A name that nothing else has. */
export const fresh = (prefix: string): string => `${prefix}${count++}`

export type { Answer }

/** A signed call; `uri` is the whole path with its query. */
export const signedCall = Effect.fnUntraced(function*(signer: Signer, uri: string, options: Call = {}) {
  const { publicPort } = yield* BothServers
  return opened(yield* sendSigned(publicPort, signer, uri, { nonce: fresh("c"), ...options }))
})

/** A call without a signature. */
export const plainCall = Effect.fnUntraced(function*(uri: string, options: Call = {}) {
  const { publicPort } = yield* BothServers
  return opened(yield* send(publicPort, uri, options))
})

/** Call of a player's browser; paths are relative to `/api/v1/player`. */
export const browserCall = (token: string, path: string, options: Call = {}) =>
  plainCall(`/api/v1/player${path}`, {
    ...options,
    headers: { authorization: `Bearer ${token}`, ...options.headers }
  })

/** Operator calls with one key; paths are relative to `/api/v1/operator`. */
export const operatorWith = ({ key, secret }: { readonly key: string; readonly secret: string }) => {
  const signer: Signer = { header: "X-Api-Key", key, secret }
  const call = (method: string, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) =>
    signedCall(signer, `/api/v1/operator${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  return {
    signer,
    call,
    get: (path: string) => call("GET", path),
    post: (path: string, body?: unknown, headers?: { readonly [name: string]: string }) =>
      call("POST", path, body, headers),
    put: (path: string, body: unknown) => call("PUT", path, body),
    patch: (path: string, body: unknown) => call("PATCH", path, body)
  }
}

/** A staff call that must work; gives the resource. */
export const staff = Effect.fnUntraced(function*(method: string, path: string, body?: unknown) {
  const answer = yield* staffCall(method, `/backoffice/v1${path}`, body)
  assert.isBelow(answer.status, 300, `${method} ${path} ${JSON.stringify(answer)}`)
  return answer.data
})

/** Status of a staff transition of a payment, and the code of a refusal. */
export const move = (paymentId: number, name: string, reason?: string) =>
  staffCall("POST", `/backoffice/v1/payments/${paymentId}/${name}`, reason === undefined ? {} : { reason })

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
  const table = yield* made("/games", {
    provider: studio.slug,
    external_id: "table",
    name: `Table of ${slug}`,
    type: "live",
    category: "live"
  })
  yield* made("/payment-methods", { operator: slug, code: "bank", currencies: ["EUR", "SEK"] })
  const operator = operatorWith(key)
  const provider: Signer = { header: "X-Provider-Key", key: studio.key, secret: studio.secret }
  const { publicPort } = yield* BothServers
  const operatorCaller = callerOf(false, publicPort, operator.signer)
  const providerCaller = callerOf(false, publicPort, provider)

  const register = Effect.fnUntraced(function*(more: Clients.MoreOfPlayer = {}) {
    const profile = { ...registration(fresh("player_")), ...more }
    // read as any caller would
    const player: Answer["data"] = yield* Effect.orDie(Clients.registered(operatorCaller, profile.username, profile))
    return player
  })
  /** Sends a deposit; the answer may refuse it. */
  const deposit = (playerId: number, amount: number, more: Fields = {}) =>
    operator.post(`/players/${playerId}/deposits`, { amount, external_reference: fresh("d-"), ...more })
  const withdraw = (playerId: number, amount: number, more: Fields = {}) =>
    operator.post(`/players/${playerId}/withdrawals`, { amount, payment_method: "bank", ...more })
  const balances = (playerId: number) => Effect.orDie(Clients.balancesOf(operatorCaller, playerId))
  const launch = (playerId: number, body: Fields = {}, game = slots) =>
    operator.post(`/players/${playerId}/games/${game.id}/launch`, body)
  const limit = (playerId: number, limits: Fields) => operator.put(`/players/${playerId}/limits`, { limits })
  const exclude = (playerId: number, body: Fields) => operator.post(`/players/${playerId}/self-exclusion`, body)
  const grant = (playerId: number, bonusId: number, more: Fields = {}) =>
    operator.post(`/players/${playerId}/bonuses`, { bonus_id: bonusId, ...more })
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
  /** Sends a message of the studio; paths are relative to the wallet API. */
  const callWallet = (path: string, body: Fields) =>
    signedCall(provider, `/api/v1/provider/wallet/${path}`, { method: "POST", body })

  /** Messages about one player's play. A bet is a round of its own unless it says otherwise, and names both alike. */
  const playOf = (token: string, ref: string) => ({
    token,
    ref,
    bet: (amount: number, more: Fields = {}) => {
      const name = fresh("t-")
      return callWallet("bet", {
        request_id: name,
        transaction_id: name,
        session_token: token,
        game_id: "slots",
        round_id: more["transaction_id"] ?? name,
        amount,
        currency: "EUR",
        ...more
      })
    },
    win: (betId: string, amount: number, more: Fields = {}) => {
      const name = fresh("t-")
      return callWallet("win", {
        request_id: name,
        transaction_id: name,
        player_ref: ref,
        game_id: "slots",
        round_id: betId,
        bet_transaction_id: betId,
        amount,
        currency: "EUR",
        round_closed: true,
        ...more
      })
    },
    rollback: (target: string, more: Fields = {}) => {
      const name = fresh("t-")
      return callWallet("rollback", {
        request_id: name,
        transaction_id: name,
        player_ref: ref,
        target_transaction_id: target,
        ...more
      })
    }
  })

  const seated = Effect.fnUntraced(function*(amount: number, more: Clients.MoreOfPlayer) {
    const player = yield* register(more)
    const id: number = player.id
    if (amount > 0) yield* Clients.deposit(operatorCaller, id, amount, fresh("d-"))
    const token = yield* Clients.launch(operatorCaller, id, slots.id)
    const ref = yield* Clients.authenticated(providerCaller, token)
    return { id, player, ...playOf(token, ref) }
  })
  /** A registered player with a first deposit, at the slot game. */
  const sit = (amount = 1000, more: Clients.MoreOfPlayer = {}) => Effect.orDie(seated(amount, more))

  return {
    id,
    slug,
    key,
    studio,
    slots,
    table,
    ...operator,
    register,
    deposit,
    withdraw,
    balances,
    launch,
    limit,
    exclude,
    grant,
    newBonus,
    callWallet,
    playOf,
    sit
  }
})

export type Casino = Effect.Success<ReturnType<typeof openCasino>>

/** Code of a refusal, else the status of the answer: for tables of expected outcomes. */
export const outcomeOf = ({ code, status }: { readonly code?: string | undefined; readonly status: number }) =>
  code ?? status

/** Casino shared by the tests of a file, which do not change its settings. Tests with other settings open a casino. */
export class SharedCasino extends Context.Service<SharedCasino, Casino>()("pitboss/test/SharedCasino") {}

/** Both servers by the calendar of the test, and the house. */
export const layerCasinos = Layer.effect(SharedCasino, Effect.suspend(() => openCasino())).pipe(
  Layer.provideMerge(layerBothServers),
  Layer.provideMerge(Calendar.layer)
)
