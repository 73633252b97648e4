import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { addTenant, dataOf, fresh, registration } from "../kit/Casino.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent, patiently, staffOf } from "../kit/HttpCalls.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: an erasure is whole or has not happened, whenever its process dies, and disturbs nobody who reads meanwhile. Method: a process that is killed with
// SIGKILL while erasures wait in their middle, for a row that the test holds, and at any moment; and a thousand erasures beside reads and reports.

const marker = "zqperson"

/** A service of another process, with a caller that repeats what was not answered. */
const makeHouse = Effect.gen(function*() {
  const port = yield* freePort
  const agent = yield* makeAgent()
  const start = startService({ port, databaseUrl: yield* databaseUrl, environment: { LOG_LEVEL: "error" } })
  let service = yield* start
  const slug = fresh("house-")
  const { call } = yield* addTenant(agent, port, slug)
  const staff = staffOf(agent, () => service.backofficePort, yield* addStaff(fresh("Grace ")))
  const caller = patiently(call)
  const leaver = Effect.fnUntraced(function*(index: number) {
    const person = registration(fresh(marker), { city: `${marker} town ${index}`, phone: `+4917${10_000_000 + index}` })
    const id: number = dataOf(yield* caller.post("/players", person), 201).id
    dataOf(yield* caller.put(`/players/${id}/status`, { status: "closed", reason: `${marker} asked` }))
    return id
  })
  const verify = Effect.map(
    Effect.suspend(() => staff.send("/backoffice/v1/ledger/verification")),
    ({ json, text }) => {
      assert.deepStrictEqual(exceptAddedStaff(Object(json).data.violations), [], text)
    }
  )
  return {
    slug,
    caller,
    staff,
    verify,
    leaver,
    kill: Effect.sync(() => service.kill("SIGKILL")),
    restart: Effect.gen(function*() {
      yield* service.exited
      service = yield* start
    }),
    erase: (id: number, key: string) =>
      caller.post(`/players/${id}/data-requests`, { type: "erasure" }, { "idempotency-key": key })
  }
})

/** Of each player: whether the row, the notes, the lines, the request and its case say that the person was erased. */
const stateOf = Effect.fnUntraced(function*(ids: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly id: number; readonly said: ReadonlyArray<boolean> }>`SELECT p.id::float8 AS id, ARRAY[
      p.erased_at IS NOT NULL,
      p.email LIKE 'erased-%',
      NOT EXISTS (SELECT FROM player_notes n WHERE n.player_id = p.id AND n.text <> 'erased'),
      NOT EXISTS (SELECT FROM audit_log a WHERE a.player_id = p.id AND a.action = 'player.status' AND a.salt IS NOT NULL),
      EXISTS (SELECT FROM audit_log a WHERE a.player_id = p.id AND a.action = 'erasure'),
      EXISTS (SELECT FROM data_requests r WHERE r.player_id = p.id AND r.status = 'completed'),
      EXISTS (SELECT FROM cases c WHERE c.player_id = p.id AND c.type = 'data_subject' AND c.status = 'closed'),
      EXISTS (SELECT FROM events e WHERE e.player_id = p.id AND e.type = 'data_request.completed')
    ] AS said FROM players p WHERE ${sql.in("p.id", [...ids])} ORDER BY p.id`
})

const left = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p')`
  const found: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql`SELECT FROM ${sql(name)} t WHERE position(${marker} in t::text) > 0 LIMIT 1`
    if (rows.length > 0) found.push(name)
  }
  return found
})

layer(layerOwnDatabase, { excludeTestServices: true, timeout: 120_000 })("11.5: erasures", (it) => {
  it.effect("are complete or have not happened when their process is killed, and happen once when they are repeated", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const house = yield* makeHouse
      const ids = yield* Effect.forEach(Array.from({ length: 24 }, (_, index) => index), house.leaver, {
        concurrency: 8
      })
      const [held = 0] = ids
      // in the middle of its erasure, behind the row of a note
      const erased = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM player_notes WHERE player_id = ${held} FOR UPDATE`
        const begun = yield* Effect.forkChild(
          Effect.forEach(ids, (id) => house.erase(id, `erase-${id}`), { concurrency: 8 })
        )
        const [seen] = yield* sql<{ readonly waiting: number }>`SELECT count(*)::float8 AS waiting FROM pg_locks
          WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`.pipe(
          Effect.delay("10 millis"),
          Effect.repeat({ until: ([row]) => (row?.waiting ?? 0) > 0, times: 500 })
        )
        assert.isAbove(seen?.waiting ?? 0, 0, "nothing waits in the middle of an erasure")
        yield* house.kill
        return begun
      }))
      yield* house.restart
      for (const { id, said } of yield* stateOf(ids)) {
        assert.lengthOf(new Set(said), 1, `player ${id} is erased in part: ${said.join(" ")}`)
      }
      for (let again = 0; again < 2; again++) {
        yield* Effect.sleep("60 millis")
        yield* house.kill
        yield* house.restart
      }
      for (const reply of yield* Fiber.join(erased)) assert.strictEqual(reply.status, 201, reply.text)
      for (const { said } of yield* stateOf(ids)) assert.deepStrictEqual([...new Set(said)], [true])
      const twice = yield* sql`SELECT player_id FROM data_requests GROUP BY player_id HAVING count(*) > 1`
      assert.deepStrictEqual(twice, [])
      assert.deepStrictEqual(yield* left, [])
      yield* house.verify
    }).pipe(Effect.scoped))

  it.effect(
    "of a thousand people do not disturb concurrent reads, and change no report",
    () =>
      Effect.gen(function*() {
        const house = yield* makeHouse
        const { caller, slug, staff } = house
        const indices = Array.from({ length: 1000 }, (_, index) => 1000 + index)
        const stays: number = dataOf(yield* caller.post("/players", registration(fresh("stays"))), 201).id
        dataOf(yield* caller.post(`/players/${stays}/deposits`, { amount: 500, external_reference: fresh("d-") }), 201)
        const ids = yield* Effect.forEach(indices, house.leaver, { concurrency: 16 })
        const report = staff.send(`/backoffice/v1/reports/ggr?operator=${slug}&from=2020-01-01&to=2020-01-31`, {})
        const figures = (yield* report).text
        let isDone = false
        const reads = yield* Effect.forkChild(Effect.forEach(
          [
            () => caller.get("/players?per_page=100"),
            () => caller.get(`/players/${ids[Math.floor(ids.length / 2)]}`),
            () => caller.get(`/players?search=${marker}`),
            () => staff.send(`/backoffice/v1/audit?operator=${slug}&per_page=100`, {}),
            () => staff.send(`/backoffice/v1/retention?operator=${slug}`, {}),
            () => report
          ],
          (read) =>
            read().pipe(
              Effect.tap(({ status, text }) => Effect.sync(() => assert.strictEqual(status, 200, text))),
              Effect.repeat({ until: () => isDone })
            ),
          { concurrency: "unbounded" }
        ))
        const erased = yield* Effect.forEach(ids, (id) => house.erase(id, `erase-${id}`), { concurrency: 16 })
        isDone = true
        yield* Fiber.join(reads)
        for (const reply of erased) assert.strictEqual(reply.status, 201, reply.text)
        assert.deepStrictEqual(yield* left, [])
        assert.strictEqual((yield* report).text, figures)
        assert.strictEqual(dataOf(yield* caller.get(`/players/${stays}/wallet`)).balance, 500)
        yield* house.verify
      }).pipe(Effect.scoped),
    240_000
  )
})
