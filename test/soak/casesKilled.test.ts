import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { addTenant, deposit, register } from "../kit/Casino.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"
import { eventually } from "../kit/WebhookSink.ts"

// Goal: 12.6: what a case decides for money is finished or untouched after a kill -9: a hold, a gate and a cap. Method: a lock of the test stops the
// service in the middle of a decision, once before the case's commit and once between that and the player's; then it is killed and started again.

layer(layerOwnDatabase, { excludeTestServices: true })("cases of a service that is killed", (it) => {
  it.effect(
    "12.6: killed before a case's commit, the service changes no hold, gate or cap; killed after it, it applies all of them",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const url = yield* databaseUrl
        const port = yield* freePort
        const agent = yield* makeAgent()
        const start = startService({ port, databaseUrl: url, environment: { LOG_LEVEL: "error" } })
        let service = yield* start
        const staff = staffOf(agent, () => service.backofficePort, yield* addStaff("Grace"))
        const asked = Effect.fnUntraced(function*(method: string, path: string, body: unknown) {
          const reply = yield* staff.send(`/backoffice/v1${path}`, { method, body })
          assert.isBelow(reply.status, 300, reply.text)
          return reply.data
        })
        const { call } = yield* addTenant(agent, port, "acme")
        const code = "x-capped"
        yield* asked("POST", "/profiles", { code, name: "Capped", deposits: { net_cap: { amount: 1000 } } })
        yield* asked("PATCH", "/operators/acme", { profiles: [code], default_profile: code })
        yield* eventually(call.get("/profiles"), ({ data }) => JSON.stringify(data).includes(code))

        const opened = Effect.fnUntraced(function*(name: string, type: string) {
          const player = yield* register(call, name)
          yield* deposit(call, player, 500, `${name}-1`)
          const { id } = yield* asked("POST", "/cases", { type, player })
          return { player, case: Number(id) }
        })
        const held = yield* opened("held", "aml")
        const gated = yield* opened("gated", "aml")
        const capped = yield* opened("capped", "affordability")
        yield* asked("PATCH", `/cases/${capped.case}`, { status: "in_progress" })
        const all = [held, gated, capped]
        const decide = Effect.all(
          [
            asked("POST", `/cases/${held.case}/sar`, {
              reference: "R-1",
              authority: "FIU",
              submitted_at: "2026-11-20T10:00:00Z",
              consent_requested: true
            }),
            asked("POST", `/cases/${gated.case}/funds`, { text: "three payslips" }),
            asked("PATCH", `/cases/${capped.case}`, { status: "decided", decision: "raise", amount: 5000 })
          ].map(Effect.exit),
          { concurrency: 3, discard: true }
        )

        const pay = (player: number, amount: number, reference: string) =>
          call.post(`/players/${player}/deposits`, { amount, external_reference: reference })
        const withdraw = (player: number) =>
          Effect.map(
            call.post(`/players/${player}/withdrawals`, { amount: 100, payment_method: "bank" }),
            ({ details }) => details["reason"]
          )

        /** Kills the service while these rows are locked and `isThere`: what it has begun cannot end. */
        const killedWhile = Effect.fnUntraced(
          function*(table: string, column: string, isThere: Effect.Effect<boolean, unknown>) {
            const begun = yield* sql.withTransaction(Effect.gen(function*() {
              for (const one of all) {
                const id = column === "id" ? one.case : one.player
                yield* sql`SELECT 1 FROM ${sql(table)} WHERE ${sql(column)} = ${id} FOR UPDATE`
              }
              const begun = yield* Effect.forkChild(decide)
              yield* eventually(isThere, (is) => is)
              service.kill("SIGKILL")
              yield* eventually(Effect.sync(() => service.hasExited()), (hasExited) => hasExited)
              return begun
            }))
            yield* Fiber.join(begun)
            service = yield* start
          }
        )
        const count = (statement: Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
          Effect.map(statement, ({ length }) => length)
        const orders = count(sql`SELECT 1 FROM case_orders`)

        yield* killedWhile(
          "cases",
          "id",
          Effect.map(
            count(sql`SELECT 1 FROM pg_locks WHERE NOT granted`),
            (waiting) => waiting >= 3
          )
        )
        assert.strictEqual(yield* orders, 0)
        assert.strictEqual(yield* count(sql`SELECT 1 FROM case_reports`), 0)
        assert.isUndefined(yield* withdraw(held.player))
        assert.strictEqual((yield* pay(gated.player, 100, "gated-2")).status, 201)
        assert.deepInclude((yield* pay(capped.player, 1000, "capped-2")).details, { value: 1000 })

        yield* killedWhile("accounts", "player_id", Effect.map(orders, (left) => left === 3))
        yield* eventually(orders, (left) => left === 0)
        assert.strictEqual(yield* withdraw(held.player), "compliance_hold")
        assert.deepInclude((yield* pay(gated.player, 100, "gated-3")).details, {
          obligations: ["source_of_funds"]
        })
        assert.strictEqual((yield* pay(capped.player, 1000, "capped-3")).status, 201)
        assert.strictEqual(yield* count(sql`SELECT 1 FROM obligations WHERE kind = 'source_of_funds'`), 1)
      })),
    300_000
  )
})
