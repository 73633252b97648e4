import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, type Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Provider } from "../../../src/domain/state/Operator.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import { iso } from "../../../src/platform/Time.ts"
import { authenticateCall, balanceCall, batchCall, statusCall } from "../../../src/protocols/pitboss/PitbossCalls.ts"
import type { WalletCall, WalletOutcome } from "../../../src/protocols/Protocol.ts"
import { Calendar, goTo } from "../../kit/Calendar.ts"
import { type ActionMessage, callingProvider, ownWallet } from "../../kit/OwnWallet.ts"
import { acme } from "../../kit/Providers.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

const live = Layer.provideMerge(layerTestService(), Calendar.layer)

const other: Provider = { ...acme, id: 9, slug: "other", key: "other" }
const plainAnswer = { claim: undefined, render: () => ({ status: 200, body: "{}" }) }

layer(live, { excludeTestServices: true })("a player in memory", (it) => {
  // Goal: frequent calls need no fiber; one that has to look something up says so and does nothing. Method: calls about one player, started.
  it.effect("has authentications, balance queries and batches of wallet messages answered without starting a fiber", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const wallet = yield* ProviderWallet
      const operator = yield* addOperator("one")
      yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
        VALUES (1, 'acme', 'Acme', 'pv', '\\x00', now(), now())`
      yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
        VALUES (2, 1, 'reels', 'Reels', 'rng', 'slots', now(), now())`
      const playerId = yield* addPlayer(operator, "ada")
      const payment = { amount: 1000, externalReference: "d1", paymentMethod: null, info: null, notes: null }
      yield* (yield* Wallet).deposit(operator, playerId, payment, plainAnswer)
      const launch = { mode: "real", platform: null, ip: null } as const
      const { sessionToken } = yield* (yield* Launches).launch(operator.id, playerId, 2, launch, plainAnswer)
      const playerRef = (yield* PlayerRefs).playerRef(1, playerId)

      const start = (call: WalletCall, provider = acme) =>
        Effect.gen(function*() {
          const done = yield* Deferred.make<Exit.Exit<WalletOutcome>>()
          const isStarted = wallet.start(
            callingProvider(provider),
            call,
            (exit) => Deferred.doneUnsafe(done, Effect.succeed(exit))
          )
          return isStarted ? yield* Effect.flatten(Deferred.await(done)) : undefined
        })
      const refusalOf = (outcome: WalletOutcome | undefined) =>
        outcome?._tag === "Refused" ? outcome.refusal.code : undefined

      const session = yield* start(authenticateCall({ session_token: sessionToken }))
      assert(session?._tag === "Session")
      const funds = { currency: "EUR", real: 1000, bonus: 0 }
      assert.deepInclude(session, { playerRef, funds })
      const balance = { _tag: "Balance" as const, playerRef, funds }
      assert.deepStrictEqual(yield* start(balanceCall({ session_token: sessionToken })), balance)
      assert.deepStrictEqual(yield* start(balanceCall({ player_ref: playerRef })), balance)
      assert.strictEqual(
        refusalOf(yield* start(authenticateCall({ session_token: sessionToken }), other)),
        "INVALID_SESSION"
      )
      const stranger = (yield* PlayerRefs).playerRef(9, playerId)
      assert.strictEqual(refusalOf(yield* start(balanceCall({ player_ref: stranger }))), "NOT_FOUND")

      const round = { game_id: "reels", round_id: "r1", currency: "EUR" }
      const bet = { ...round, transaction_id: "b0", session_token: sessionToken, amount: 1 }
      const actions: ReadonlyArray<ActionMessage> = [
        { action: "bet", request_id: "1", transaction_id: "b1", session_token: sessionToken, amount: 100, ...round },
        {
          action: "win",
          request_id: "2",
          transaction_id: "w1",
          bet_transaction_id: "b1",
          player_ref: playerRef,
          amount: 250,
          ...round
        }
      ]
      assert.isUndefined(yield* start(statusCall("b0")))
      assert.strictEqual((yield* ownWallet(wallet).bet(acme, bet)).status, "processed")
      const changed = (change: object) => batchCall({ actions: actions.map((action) => ({ ...action, ...change })) })
      assert.isUndefined(yield* start(changed({ game_id: "nobody's" })))
      assert.isUndefined(yield* start(changed({ session_token: "none", player_ref: "none" })))
      assert.isUndefined(yield* start(changed({ amount: 200_000 })), "terms of large credits")
      const settled = yield* start(batchCall({ actions }))
      assert(settled?._tag === "Settled")
      assert.deepStrictEqual(settled.settlements.map(({ balance }) => balance), [899, 1149])
      const after = yield* start(balanceCall({ player_ref: playerRef }))
      assert.strictEqual(after?._tag === "Balance" ? after.funds.real : undefined, 1149)

      yield* goTo(iso(session.expiresAt))
      yield* ownWallet(wallet).balance(acme, playerRef)
      assert.strictEqual(
        refusalOf(yield* start(authenticateCall({ session_token: sessionToken }))),
        "INVALID_SESSION",
        "the session has expired"
      )
      assert.strictEqual((yield* start(balanceCall({ player_ref: playerRef })))?._tag, "Balance")
    }))
})
