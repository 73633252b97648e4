import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"
import { addPaymentMethod, addTenant, dataAs, dataOf, deposit, register } from "../kit/Casino.ts"
import { makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: a bulk action of staff whose process is killed leaves every payment whole or untouched; its retry finishes it and answers for each item as if
// nothing had happened, and nothing is done twice. Method: 120 withdrawals are approved, then paid out, each in one request; the write of an item in
// the middle is held in the database, the process is killed with SIGKILL, and the held write is let through once and cut off once.

const [playerCount, each] = [10, 12]

const Outcomes = Schema.Struct({
  done: Schema.Int,
  items: Schema.Array(Schema.Struct({ id: Schema.Int, is_done: Schema.Boolean, code: Schema.NullOr(Schema.String) }))
})

layer(layerOwnDatabase, { excludeTestServices: true })("a staff bulk action whose process is killed", (it) => {
  it.effect("is completed by a retry, with each item executed once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const port = yield* freePort
      const agent = yield* makeAgent()
      const start = startService({ port, databaseUrl: yield* databaseUrl, environment: { LOG_LEVEL: "error" } })
      let service = yield* start
      const { call, operator } = yield* addTenant(agent, port, "acme")
      yield* addPaymentMethod(operator.id, "bank")
      const staff = staffOf(agent, () => service.backofficePort, yield* addStaff("Grace"))

      const held = yield* Effect.forEach(Array.from({ length: playerCount }, (_, index) => index), (index) =>
        Effect.gen(function*() {
          const player = yield* register(call, `player${index}`)
          yield* deposit(call, player, 1_000_000)
          const payments = yield* Effect.forEach(
            Array.from({ length: each }, (_, number) =>
              number),
            (number) =>
              Effect.map(
                call.post(`/players/${player}/withdrawals`, {
                  amount: 100 + number,
                  payment_method: "bank",
                  external_reference: `w-${index}-${number}`
                }),
                (answer): number => dataOf(answer, 201).id
              )
          )
          return { player, payments }
        }), { concurrency: 4 })
      const ids = held.flatMap(({ payments }) =>
        payments
      )
      const rejected = ids.at(-1)
      assert.strictEqual(
        (yield* staff.send(`/backoffice/v1/payments/${rejected}/reject`, { method: "POST", body: { reason: "x" } }))
          .status,
        200
      )
      const expected = ids.map((id) => id === rejected ? "PAYMENT_REQUEST_INVALID" : null)
      const middle = held[playerCount / 2]?.player ?? 0

      for (
        const [name, status, ending] of [
          ["approve", "allowed", "let through"],
          ["pay", "paid", "cut off"]
        ] as const
      ) {
        const send = Effect.suspend(() =>
          staff.send(`/backoffice/v1/payments/${name}`, {
            method: "POST",
            body: { payments: ids },
            headers: { "idempotency-key": `batch-${name}` }
          })
        )
        const reached = Effect.map(
          sql<{ readonly id: number }>`SELECT id::float8 AS id FROM payment_requests
            WHERE type = 'withdrawal' AND status = ${status}`,
          (rows) => new Set(rows.map(({ id }) => id))
        )
        const release = yield* holdPlayer(middle)
        const lost = yield* Effect.forkChild(Effect.result(send))
        yield* untilSomeoneWaits
        service.kill("SIGKILL")
        yield* service.exited
        assert.strictEqual((yield* Fiber.join(lost))._tag, "Failure", name)
        // in the middle: the items before the held one, and no other
        const before = ids.slice(0, ids.length / 2)
        assert.deepStrictEqual(yield* reached, new Set(before), name)
        if (ending === "cut off") {
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query ILIKE '%accounts%' AND datname = current_database() AND pid <> pg_backend_pid()`
        }
        yield* release
        service = yield* start

        const retried = yield* send
        const outcomes = yield* dataAs(retried, 200, Outcomes)
        assert.deepStrictEqual(outcomes.items.map(({ id }) => id), ids, name)
        assert.deepStrictEqual(outcomes.items.map(({ code }) => code), expected, name)
        assert.strictEqual(outcomes.done, ids.length - 1, name)
        assert.deepStrictEqual(yield* reached, new Set(ids.filter((id) => id !== rejected)), name)
        const again = yield* send
        assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [retried.text, "true"], name)
      }

      const lines = yield* sql<{ readonly action: string; readonly lines: number; readonly subjects: number }>`
        SELECT action, count(*)::float8 AS lines, count(DISTINCT subject)::float8 AS subjects FROM audit_log
        WHERE action LIKE 'payment.%' GROUP BY action ORDER BY action`
      assert.deepStrictEqual(lines, [
        { action: "payment.approve", lines: ids.length - 1, subjects: ids.length - 1 },
        { action: "payment.pay", lines: ids.length - 1, subjects: ids.length - 1 },
        { action: "payment.reject", lines: 1, subjects: 1 }
      ])
      const events = yield* sql<{ readonly payment: number }>`
        SELECT (data -> 'payment' ->> 'id')::float8 AS payment FROM events WHERE type = 'withdrawal.paid' ORDER BY payment`
      assert.deepStrictEqual(
        events.map(({ payment }) => payment),
        ids.filter((id) => id !== rejected).toSorted((one, other) => one - other)
      )
      const { json } = yield* staff.send("/backoffice/v1/ledger/verification")
      assert.deepStrictEqual(exceptAddedStaff(Object(json).data.violations), [])
    }), 300_000)
})
