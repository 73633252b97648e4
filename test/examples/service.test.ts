import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { Calendar, dayMs, pass } from "../kit/Calendar.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

const live = Layer.provideMerge(layerTestService(), Calendar.layer)

const deposit = (reference: string) => ({
  amount: 1000,
  externalReference: reference,
  paymentMethod: null,
  info: null,
  notes: null
})
const answering = { claim: undefined, render: () => ({ status: 201, body: "" }) }

// Goal: a daily deposit limit opens again at midnight UTC. Method: the real service on a database of its own; the clock is the
// test's.
layer(live, { excludeTestServices: true })("a test service with its own database and clock", (it) => {
  it.effect("counts deposits by the day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const wallet = yield* Wallet
      const operator = yield* addOperator("example")
      const playerId = yield* addPlayer(operator, "ada")
      yield* sql`UPDATE players SET limits = '{"max_daily_deposit": 1500}'::jsonb WHERE id = ${playerId}`

      yield* wallet.deposit(operator, playerId, deposit("first"), answering)
      const refusal = yield* Effect.flip(wallet.deposit(operator, playerId, deposit("second"), answering))
      assert.deepInclude(refusal, { code: "LIMIT_EXCEEDED" })

      yield* pass(dayMs)
      yield* wallet.deposit(operator, playerId, deposit("second"), answering)
      const { player } = yield* wallet.view(operator, playerId)
      assert.strictEqual(player.real, 2000)
    }))
})
