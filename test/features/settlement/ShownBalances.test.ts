import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { grantStep } from "../../../src/domain/bonus/BonusGrants.ts"
import { correctionStep } from "../../../src/domain/wallet/Corrections.ts"
import { PlayerRefs } from "../../../src/features/games/PlayerRefs.ts"
import { Launches } from "../../../src/features/launches/Launches.ts"
import { ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { authenticateCall, balanceCall, betCall } from "../../../src/protocols/pitboss/PitbossCalls.ts"
import { fundsIn, type WalletCall } from "../../../src/protocols/Protocol.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { Calendar, hourMs, pass } from "../../kit/Calendar.ts"
import { welcome } from "../../kit/Messages.ts"
import { callingProvider } from "../../kit/OwnWallet.ts"
import { acme } from "../../kit/Providers.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

const live = Layer.provideMerge(layerTestService(), Calendar.layer)

const plainAnswer = { claim: undefined, render: () => ({ status: 200, body: "{}" }) }

// Goal: an answer shows what can be staked now. Method: one player without real money, with bonus money that cannot be staked.
layer(live, { excludeTestServices: true })("the balance shown to a provider", (it) => {
  const newPlayer = Effect.fnUntraced(function*(slug: string) {
    const sql = yield* SqlClient.SqlClient
    const wallet = yield* ProviderWallet
    const operator = yield* addOperator(slug)
    yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
      VALUES (1, 'acme', 'Acme', 'pv', '\\x00', now(), now()) ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
      VALUES (2, 1, 'reels', 'Reels', 'rng', 'slots', now(), now()) ON CONFLICT DO NOTHING`
    const playerId = yield* addPlayer(operator, "ada")
    const launch = Effect.gen(function*() {
      const order = { mode: "real", platform: null, ip: null } as const
      return (yield* (yield* Launches).launch(operator.id, playerId, 2, order, plainAnswer)).sessionToken
    })
    return {
      operator,
      launch,
      playerRef: (yield* PlayerRefs).playerRef(1, playerId),
      playerId,
      run: (call: WalletCall) => wallet.run(callingProvider(acme), call)
    }
  })

  it.effect("has no bonus money where no bonus runs; Pitboss's own protocol shows its bonus wallet", () =>
    Effect.gen(function*() {
      const { launch, playerId, playerRef, run } = yield* newPlayer("without")
      const correction = correctionStep({ wallet: "bonus", amount: 500, reason: "a test", actor: "staff:1" })
      yield* (yield* PlayerActors).ask(null, playerId, correction)
      const token = yield* launch
      const player = { ref: playerRef, token: null, transactionId: null }
      const shown = { currency: "EUR", real: 0, bonus: 0 }
      for (const gameId of [null, "reels"]) {
        const balance = yield* run({ kind: "balance", method: "balance", player, gameId, currency: null })
        assert.deepStrictEqual(fundsIn(balance), shown)
      }
      const own = [balanceCall({ player_ref: playerRef }), authenticateCall({ session_token: token })]
      for (const call of own) assert.deepStrictEqual(fundsIn(yield* run(call)), { ...shown, bonus: 500 })
    }))
  it.effect("has no money of an expired bonus in the answer to a refused bet", () =>
    Effect.gen(function*() {
      const { launch, operator, playerId, playerRef, run } = yield* newPlayer("expired")
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at, updated_at)
        VALUES (5, ${operator.id}, 'W', 'deposit_match', 500, 2, 1, now(), now())`
      const bonus = { ...welcome, operatorId: operator.id, validDays: 1 }
      yield* (yield* PlayerActors).ask(null, playerId, grantStep({ bonus, amount: 1000, note: null }))
      yield* pass(23 * hourMs)
      const token = yield* launch
      yield* pass(2 * hourMs)
      const bet = { game_id: "reels", round_id: "r", currency: "EUR", transaction_id: "b", amount: 600 }
      const refused = yield* run(betCall({ ...bet, session_token: token }))
      assert(refused._tag === "Refused")
      assert.strictEqual(refused.refusal.code, "INSUFFICIENT_FUNDS")
      const shown = { currency: "EUR", real: 0, bonus: 0 }
      assert.deepStrictEqual(refused.funds, shown)
      assert.deepStrictEqual(fundsIn(yield* run(balanceCall({ player_ref: playerRef }))), shown)
    }))
})
