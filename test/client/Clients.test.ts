import { assert, expectTypeOf, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { Games } from "../../src/features/games/Games.ts"
import { HttpApi } from "effect/http-api"
import { OperatorApi } from "../../src/contract/Api.ts"
import * as Lists from "../../src/client/Lists.ts"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import * as PlayerClient from "../../src/client/PlayerClient.ts"
import * as ProviderClient from "../../src/client/ProviderClient.ts"
import * as Services from "../../src/client/Services.ts"
import { openCasinoInRows, registration } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { portOf } from "../kit/HttpCalls.ts"

// Goal: the clients cover the contract in a few lines. Method: the clients against the running service,
// each over its own fetch, and the example of every client's doc comment executed.

const baseUrl = Effect.map(portOf, (port) => `http://127.0.0.1:${port}`)

const clientOf = Effect.fnUntraced(function*({ key, secret }: { readonly key: string; readonly secret: string }) {
  return yield* OperatorClient.make({ baseUrl: yield* baseUrl, key, secret: Redacted.make(secret), maxAttempts: 1 })
})

const profile = (username: string) => ({ ...registration(username), terms_accepted: true as const })

layer(layerPublicApi.pipe(Layer.provideMerge(Services.layer)))("the API clients", (it) => {
  it.effect("the operator's client has every endpoint of the contract", () =>
    Effect.gen(function*() {
      const { key } = yield* openCasinoInRows("every")
      const operator = yield* clientOf(key)
      const missing: Array<string> = []
      HttpApi.reflect(OperatorApi, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, group }) => {
          if (typeof Object(operator)[group.identifier]?.[endpoint.identifier] !== "function") {
            missing.push(`${group.identifier}.${endpoint.identifier}`)
          }
        }
      })
      assert.deepStrictEqual(missing, [])
    }))

  it.effect("the operator's client registers a player, deposits once, and reads both back", () =>
    Effect.gen(function*() {
      const { key } = yield* openCasinoInRows("deposits")
      const operator = yield* clientOf(key)
      const { data: me } = yield* operator.account.me()
      assert.strictEqual(me.api_key.key, key.key)
      const { data: player } = yield* operator.players.register({ payload: profile("ada") })
      const request = {
        params: { player: player.id },
        payload: { amount: 5000, external_reference: "psp-1" }
      }
      const first = yield* operator.payments.deposit(request, { idempotencyKey: "one" })
      const second = yield* operator.payments.deposit(request, { idempotencyKey: "one" })
      assert.deepStrictEqual(first, second)
      const { data: wallet } = yield* operator.wallet.get({ params: { player: player.id } })
      assert.strictEqual(wallet.balance, 5000)

      const other = yield* Effect.flip(
        operator.payments.deposit({ ...request, payload: { ...request.payload, amount: 1 } }, { idempotencyKey: "one" })
      )
      assert.deepInclude(other, { _tag: "Refused", code: "IDEMPOTENCY_KEY_REUSED", status: 422 })
      const refused = yield* Effect.flip(operator.players.register({ payload: profile("ada") }))
      assert(refused._tag === "Refused")
      assert.strictEqual(refused.code, "VALIDATION_FAILED")
      assert.hasAllKeys(refused.details, ["username", "email"])
      assert.isString(refused.requestId)
    }))

  it.effect("lists can be read to their end, by cursor and by page", () =>
    Effect.gen(function*() {
      const { key } = yield* openCasinoInRows("lists")
      const operator = yield* clientOf(key)
      const names = ["ann", "ben", "cem", "dan", "eva"]
      for (const name of names) yield* operator.players.register({ payload: profile(name) })
      const newestFirst = names.toReversed()
      const walked = Lists.walk((cursor) => operator.players.list({ query: { cursor, per_page: 2 } }))
      assert.deepStrictEqual((yield* Stream.runCollect(walked)).map(({ username }) => username), newestFirst)
      // a player registered meanwhile moves no page
      const [first, ...rest] = yield* Stream.runCollect(
        walked.pipe(Stream.tap(({ username }) =>
          username === "dan" ? Effect.asVoid(operator.players.register({ payload: profile("fay") })) : Effect.void
        ))
      )
      assert.deepStrictEqual(
        [first, ...rest].map((player) =>
          player?.username
        ),
        newestFirst
      )

      const ids: Array<number> = []
      for (const studio of ["lists-a", "lists-b", "lists-c"]) ids.push((yield* openCasinoInRows(studio)).slots.id)
      yield* (yield* Games).refresh
      const games = yield* Stream.runCollect(
        Lists.pages((page) => operator.games.list({ query: { page, per_page: 1 } }))
      )
      assert.includeMembers(games.map(({ id }) => id), ids)
      assert.strictEqual(new Set(games.map(({ id }) => id)).size, games.length)
      // a list with a cursor may refuse late pages
      const payments = yield* operator.payments.list({ query: { page: 1 } })
      expectTypeOf(payments).not.toExtend<Effect.Success<ReturnType<Parameters<typeof Lists.pages>[0]>>>()
    }))

  it.effect("the player's client launches a game, and the provider's client settles its bets", () =>
    Effect.gen(function*() {
      const { key, slots, studio } = yield* openCasinoInRows("plays")
      const operator = yield* clientOf(key)
      const { data: { id } } = yield* operator.players.register({ payload: profile("gil") })
      yield* operator.payments.deposit({
        params: { player: id },
        payload: { amount: 1000, external_reference: "psp-2" }
      })
      const { data: { token } } = yield* operator.players.issueToken({ params: { player: id } })
      const player = yield* PlayerClient.make({ baseUrl: yield* baseUrl, token: Redacted.make(token) })
      const { data: launched } = yield* player.player_session.launch({ params: { game: slots.id } })

      const provider = yield* ProviderClient.make({
        baseUrl: yield* baseUrl,
        key: studio.call.signer.key,
        secret: Redacted.make(studio.call.signer.secret)
      })
      const { data: session } = yield* provider.provider_wallet.authenticate({
        payload: { session_token: launched.session_token }
      })
      assert.strictEqual(session.balance, 1000)
      const bet = {
        request_id: "1",
        transaction_id: "t-1",
        session_token: launched.session_token,
        game_id: slots.externalId,
        round_id: "r-1",
        amount: 250,
        currency: "EUR"
      }
      assert.strictEqual((yield* provider.provider_wallet.bet({ payload: bet })).data.status, "processed")
      assert.strictEqual((yield* provider.provider_wallet.bet({ payload: bet })).data.status, "replayed")
      assert.strictEqual((yield* player.player_session.wallet()).data.balance, 750)
      const poor = yield* Effect.flip(
        provider.provider_wallet.bet({ payload: { ...bet, transaction_id: "t-2", amount: 751 } })
      )
      assert(poor._tag === "Refused")
      assert.deepStrictEqual([poor.code, poor.details], ["INSUFFICIENT_FUNDS", { balance: 750, retry: "never" }])

      const wrong = yield* PlayerClient.make({ baseUrl: yield* baseUrl, token: Redacted.make(`${token}x`) })
      assert.deepInclude(yield* Effect.flip(wrong.player_session.me()), { code: "INVALID_PLAYER_TOKEN" })
    }))

  it.effect("a refused connection fails with NoAnswer", () =>
    Effect.gen(function*() {
      const operator = yield* OperatorClient.make({
        baseUrl: "http://127.0.0.1:1",
        key: "pk",
        secret: Redacted.make("s"),
        maxAttempts: 1
      })
      assert.deepInclude(yield* Effect.flip(operator.account.me()), { _tag: "NoAnswer", status: undefined })
    }))
})
