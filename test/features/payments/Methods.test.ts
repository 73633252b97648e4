import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { PaymentMethods } from "../../../src/features/payments/Methods.ts"
import { Forwarder } from "../../../src/cluster/Forwarder.ts"
import { Notices } from "../../../src/cluster/Notices.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

const at = new Date("2026-11-20T12:00:00.000Z")

const addMethod = Effect.fnUntraced(
  function*(id: number, code: string, currencies: ReadonlyArray<string>, active = true) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, min_deposit, active, created_at)
    VALUES (${id}, 1, ${code}, ${code.toUpperCase()}, ${[...currencies]}, 500, ${active}, ${at})`
  }
)

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    VALUES (1, 'one', 'One', 'EUR', ${at}, ${at})`
  yield* addMethod(11, "card", ["EUR", "USD"])
  yield* addMethod(12, "bank", ["EUR"])
  yield* addMethod(13, "dollars", ["USD"])
  yield* addMethod(14, "retired", ["EUR"], false)
}))

layer(
  PaymentMethods.layer.pipe(
    Layer.provide(Notices.layer.pipe(Layer.provide(Forwarder.layerNone))),
    Layer.provideMerge(seed),
    Layer.provideMerge(TestDatabase.layer)
  )
)(
  "PaymentMethods",
  (it) => {
    it.effect("finds an active payment method by its code, whatever its currency", () =>
      Effect.gen(function*() {
        const methods = yield* PaymentMethods
        assert.strictEqual((yield* methods.find(1, "dollars"))?.id, 13)
        for (const code of ["retired", "unknown", "", "\u0000"]) assert.isUndefined(yield* methods.find(1, code))
        assert.isUndefined(yield* methods.find(2, "card"))
      }))

    // Goal: a change by staff shows at once on this node, and within two seconds when made on another.
    it.effect("applies a change at once on the node that made it, and within two seconds on other nodes", () =>
      Effect.gen(function*() {
        const methods = yield* PaymentMethods
        const sql = yield* SqlClient.SqlClient
        assert.isDefined(yield* methods.find(1, "card"))
        assert.strictEqual(methods.findUnsafe(1, "card")?.id, 11)
        yield* addMethod(15, "new", ["EUR"])
        assert.isUndefined(yield* methods.find(1, "new"), "from memory")
        yield* methods.invalidate(1)
        assert.isUndefined(methods.findUnsafe(1, "card"), "no longer in memory")
        assert.isDefined(yield* methods.find(1, "new"))
        assert.strictEqual(methods.findUnsafe(1, "new")?.id, 15)
        yield* sql`UPDATE payment_methods SET active = false WHERE id = 15`
        yield* TestClock.adjust("2 seconds")
        assert.isUndefined(methods.findUnsafe(1, "new"))
        assert.isUndefined(yield* methods.find(1, "new"))
      }))
  }
)
