/** Calls of the public API by operators, players and game providers, on a clock set by the test. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { originals } from "../../src/domain/original/Originals.ts"
import { Games } from "../../src/features/games/Games.ts"
import * as Clients from "./Clients.ts"
import { type Caller, callerOf } from "./E2eHttp.ts"
import { addGame } from "./E2eWorld.ts"
import { layerE2eServer, portOf } from "./E2eServer.ts"
import { type Call, type Reply, send, sendFresh, type Signer } from "./HttpCalls.ts"
import { addApiKey, addProvider, type KeyOptions } from "./Keys.ts"
import { layerNoon } from "./Noon.ts"
import { addOperator } from "./TestService.ts"

export { noon } from "./Noon.ts"

/** The public server on a database of its own, at noon. */
export const layerPublicApi = layerE2eServer.pipe(Layer.provideMerge(layerNoon))

let count = 0

/** Calls as the signer. Paths without `/api` are of the operator API. */
export const call = (signer: Signer, path: string, options: Call = {}) =>
  sendFresh(signer, path.startsWith("/api") ? path : `/api/v1/operator${path}`, options)

/** Calls as a player; paths are relative to `/api/v1/player`. */
export const playerCall = Effect.fnUntraced(function*(token: string, path: string, options: Call = {}) {
  return yield* send(yield* portOf, `/api/v1/player${path}`, {
    ...options,
    headers: { authorization: `Bearer ${token}`, ...options.headers }
  })
})

/** The `data` of an answer that must have this status. */
export const dataOf = (reply: Reply, status = 200) => {
  assert.strictEqual(reply.status, status, reply.text)
  return Object(reply.json).data
}

/** That an answer refuses, and how. */
export const assertRefused = (reply: Reply, status: number, code: string, details?: unknown) => {
  assert.deepStrictEqual([reply.status, reply.code], [status, code], reply.text)
  if (details !== undefined) assert.deepStrictEqual(reply.details, details)
}

/** An operator with a key of all scopes. */
export const openOperator = Effect.fnUntraced(function*(slug: string, options: KeyOptions = {}) {
  const operator = yield* addOperator(slug)
  const key = yield* addApiKey(operator.id, { rateLimit: 100_000, ...options })
  return { operator, key }
})

/** A registration that keeps every rule. */
export const registration = <More extends object>(username: string, more?: More) => ({
  ...Clients.registration(username),
  birth_date: "1990-12-31",
  ...more
})

const callers = new WeakMap<Signer, Caller>()

/** The signer's calls to the public server of the context, each over a connection of its own. */
const callerFor = (signer: Signer) =>
  Effect.map(portOf, (port) => {
    const known = callers.get(signer) ?? callerOf(false, port, signer)
    callers.set(signer, known)
    return known
  })

/** Registers a player; returns the answer. */
export const register = Effect.fnUntraced(function*(key: Signer, username: string, more: Clients.MoreOfPlayer = {}) {
  const operator = yield* callerFor(key)
  return yield* Effect.orDie(Clients.registered(operator, username, registration(username, more)))
})

/** Credits a deposit that must be taken. */
export const deposit = Effect.fnUntraced(function*(key: Signer, player: number, amount: number) {
  return yield* Effect.orDie(Clients.deposit(yield* callerFor(key), player, amount, `d-${count++}`))
})

/** Issues a player session token; fails when refused. */
export const issueToken = Effect.fnUntraced(
  function*(key: Signer, player: number, options: { readonly ttl_minutes?: number } = {}) {
    return yield* Effect.orDie(Clients.issued(yield* callerFor(key), player, options))
  }
)

/** A provider with one game; `bet` is one bet of a session in a round of its own. */
export const openGame = Effect.fnUntraced(function*(slug: string) {
  const games = yield* Games
  const provider = yield* addProvider(slug)
  const { id } = yield* addGame(provider.id, "g-1", { name: `Game of ${slug}` })
  yield* games.refresh
  const bet = (sessionToken: string, amount: number) => {
    const transaction = `t-${count++}`
    const body = {
      request_id: transaction,
      transaction_id: transaction,
      session_token: sessionToken,
      game_id: "g-1",
      round_id: transaction,
      amount,
      currency: "EUR"
    }
    return call(provider, "/api/v1/provider/wallet/bet", { body })
  }
  return { id, provider, bet }
})

/** The platform's own games under a provider of their own: their ids by name. */
export const openOriginals = Effect.fnUntraced(function*(slug: string) {
  const games = yield* Games
  const provider = yield* addProvider(slug)
  const ids = new Map<string, number>()
  for (const name of originals.keys()) {
    const about = { name: `${name} of ${slug}`, category: "instant", original: name }
    ids.set(name, (yield* addGame(provider.id, name, about)).id)
  }
  yield* games.refresh
  return { provider, idOf: (name: string) => ids.get(name) ?? assert.fail(`there is no ${name}`) }
})
