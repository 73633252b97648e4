import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, type Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Provider } from "../../../src/domain/state/Operator.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { type ActionMessage, ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import { acme } from "../../kit/Providers.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

const noon = Date.UTC(2026, 10, 20, 12)
const layerAtNoon = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon))))

const other: Provider = { ...acme, id: 9, slug: "other", key: "other" }
const plainAnswer = { claim: undefined, render: () => ({ status: 200, body: "{}" }) }

layer(layerAtNoon)("a player in memory", (it) => {
  // Goal: frequent calls need no fiber, and where they decline nothing was done. Method: calls of both kinds about one player, compared.
  it.effect("is authenticated, asked for balances and settled in batches at once", () =>
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

      const authenticated = yield* wallet.authenticate(acme, sessionToken)
      assert.deepInclude(authenticated, { playerRef, balance: 1000, currency: "EUR" })
      assert.deepStrictEqual(wallet.peek.authenticate(acme, sessionToken), authenticated)
      const balances = { currency: "EUR", balance: 1000, bonusBalance: 0 }
      assert.deepStrictEqual(wallet.peek.balance(acme, { sessionToken }), balances)
      assert.deepStrictEqual(wallet.peek.balance(acme, { playerRef }), balances)
      assert.isUndefined(wallet.peek.authenticate(other, sessionToken))
      assert.isUndefined(wallet.peek.balance(acme, { playerRef: (yield* PlayerRefs).playerRef(9, playerId) }))

      const round = { game_id: "reels", round_id: "r1", currency: "EUR" }
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
      const starts = (messages: ReadonlyArray<ActionMessage>) =>
        wallet.start.batch(acme, messages, () => assert.fail("it was answered"))
      // the game is in memory after its first bet
      yield* wallet.bet(acme, { ...round, transaction_id: "b0", session_token: sessionToken, amount: 1 })
      assert.isFalse(starts(actions.map((action) => ({ ...action, game_id: "nobody's" }))))
      assert.isFalse(starts(actions.map((action) => ({ ...action, session_token: "none", player_ref: "none" }))))
      const done = yield* Deferred.make<Exit.Exit<ReadonlyArray<{ readonly balance: number }>, unknown>>()
      assert.isTrue(wallet.start.batch(acme, actions, (exit) => Deferred.doneUnsafe(done, Effect.succeed(exit))))
      const settled = yield* Effect.flatten(Deferred.await(done))
      assert.deepStrictEqual(settled.map(({ balance }) => balance), [899, 1149])
      assert.strictEqual(wallet.peek.balance(acme, { playerRef })?.balance, 1149)

      yield* TestClock.setTime(authenticated.sessionExpiresAt)
      yield* wallet.balance(acme, { playerRef })
      assert.isUndefined(wallet.peek.authenticate(acme, sessionToken), "the session has expired")
      assert.isDefined(wallet.peek.balance(acme, { playerRef }))
    }))
})
