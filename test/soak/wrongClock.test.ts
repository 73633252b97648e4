import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, References, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { startCluster } from "../kit/ClusterProcesses.ts"
import { layerDatabaseAt, makeFickleServer } from "../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, callWallet, dataAs, seat } from "../kit/Casino.ts"
import { callerOf, exchange, makeAgent, patiently, type Reply, signedHeaders, staffOf } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { withdrawalMethod } from "../kit/Operations.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: a clock that is wrong for a while changes nothing that cannot be undone, and a node whose clock is wrong serves nobody wrongly. Method: services
// whose clock the test sets, long enough for every job to come round.

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const json = Schema.Unknown

/** Nearly all of their time they wait for jobs, and each has services of its own. */
const waiting = { timeout: 240_000, concurrent: true }

const ok = (reply: Reply): Reply => {
  assert.include([200, 201], reply.status, reply.text)
  return reply
}

describe("a service whose clock is set wrong and back", () => {
  for (const away of [3 * dayMs, -40 * dayMs]) {
    it.live(
      `keeps exclusions, waiting limit raises and the day's sums (${away / dayMs} days)`,
      () =>
        Effect.scoped(Effect.gen(function*() {
          const server = yield* makeFickleServer()
          const agent = yield* makeAgent()
          const port = yield* freePort
          const start = (clockOffsetMs: number) =>
            startService({
              port,
              databaseUrl: Redacted.value(server.url),
              hasMovableClock: true,
              clockOffsetMs,
              environment: { LOG_LEVEL: "warn" }
            })
          let service = yield* start(0)
          yield* Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            const { call: operator, operator: { id: operatorId } } = yield* addTenant(agent, port, "acme")
            yield* addPaymentMethod(operatorId, withdrawalMethod)
            const studio = yield* addStudio(agent, port, "studio")
            const game = yield* addGame(studio.id, "dice")
            const [excluded, limited] = yield* Effect.forEach(
              ["excluded", "limited"],
              (username) => seat(operator, studio.call, game, { username, balance: 100 })
            )
            assert(excluded !== undefined && limited !== undefined)
            const path = (playerId: number, rest: string) => `/api/v1/operator/players/${playerId}/${rest}`
            ok(yield* operator.post(path(excluded.playerId, "self-exclusion"), { period: "24_hours" }))
            const setLimit = (value: number) =>
              operator.send(path(limited.playerId, "limits"), {
                method: "PUT",
                body: { limits: { max_daily_deposit: value } }
              })
            ok(yield* setLimit(150))
            ok(yield* setLimit(5000))
            let deposits = 0
            const deposit = (amount: number) =>
              patiently(operator).post(path(limited.playerId, "deposits"), {
                amount,
                external_reference: `d${++deposits}`
              })
            const state = Effect.gen(function*() {
              const profile = yield* dataAs(
                yield* patiently(operator).get(`/api/v1/operator/players/${excluded.playerId}`),
                200,
                json
              )
              const limits = yield* dataAs(yield* patiently(operator).get(path(limited.playerId, "limits")), 200, json)
              const refused = yield* deposit(100)
              const excludedBet = yield* callWallet(patiently(studio.call), "bet", {
                request_id: "b",
                transaction_id: `b${deposits}`,
                session_token: excluded.token,
                game_id: game.externalId,
                round_id: `r${deposits}`,
                amount: 10,
                currency: "EUR"
              })
              const rows = yield* sql`SELECT exclusion_type, exclusion_until::text FROM players
              WHERE id = ${excluded.playerId}`
              return { profile, limits, refused: [refused.code, refused.details["used"]], bet: excludedBet.code, rows }
            })
            const before = yield* state
            assert.deepStrictEqual(before.refused, ["LIMIT_EXCEEDED", 100])

            service.moveClock(away)
            // each job is looked at every five seconds, and due at once by a clock that is ahead
            yield* Effect.sleep("12 seconds")
            assert.deepStrictEqual(yield* state, before)
            // and for a process that begins like that
            service.kill("SIGTERM")
            yield* service.exited
            service = yield* start(away)
            yield* Effect.sleep("12 seconds")
            assert.deepStrictEqual(yield* state, before)
            assert.include(service.output(), "clocks of process and database differ")
            service.moveClock(0)
            yield* Effect.sleep("7 seconds")
            assert.deepStrictEqual(yield* state, before)
            ok(yield* deposit(50))
          }).pipe(
            Effect.provide(layerDatabaseAt(server.url)),
            Effect.provideService(References.MinimumLogLevel, "Warn")
          )
        })),
      waiting
    )
  }
})

const Listed = Schema.Array(Schema.Struct({ id: Schema.String, shards: Schema.Int, pid: Schema.Int }))

describe("one of three nodes, whose clock is wrong", () => {
  for (const offsetMs of [-10 * minuteMs, 20 * minuteMs]) {
    it.live(
      `owns no players, deletes nothing, and forwards its requests (${offsetMs / minuteMs} minutes)`,
      () =>
        Effect.scoped(Effect.gen(function*() {
          const server = yield* makeFickleServer()
          const agent = yield* makeAgent(64)
          const [right, another, wrong] = yield* startCluster({
            count: 3,
            databaseUrl: Redacted.value(server.url),
            wrongClock: { node: 3, offsetMs }
          })
          assert(right !== undefined && another !== undefined && wrong !== undefined)
          yield* Effect.gen(function*() {
            const { call: operator } = yield* addTenant(agent, right.port, "acme")
            const studio = yield* addStudio(agent, right.port, "studio")
            const game = yield* addGame(studio.id, "dice")
            const token = yield* addStaff("Grace")
            const nodes = staffOf(agent, () => right.process().backofficePort, token).send("/backoffice/v1/nodes").pipe(
              Effect.flatMap((reply) => dataAs(reply, 200, Listed))
            )
            const shardsOf = (pid: number) =>
              Effect.map(nodes, (list) => list.find((node) => node.pid === pid)?.shards ?? 0)
            const until = (isSo: (shards: number) => boolean) =>
              shardsOf(wrong.process().pid).pipe(
                Effect.repeat({ until: isSo, schedule: Schedule.spaced("100 millis") }),
                Effect.timeout("60 seconds")
              )
            const isReady = Effect.map(exchange(agent, wrong.port, "/health/ready"), ({ status }) => status === 200)

            // an accepted request, to be replayed when every job has come round
            const me = "/api/v1/operator/me"
            const { signer } = operator
            const timestamp = Math.floor(Date.now() / 1000)
            const headers = signedHeaders(signer, me, { timestamp })
            ok(yield* exchange(agent, right.port, me, { headers }))
            assert.isFalse(yield* isReady)
            const seats = yield* Effect.forEach(
              Array.from({ length: 30 }, (_, index) => `player${index}`),
              (username) => seat(operator, studio.call, game, { username, balance: 100 }),
              { concurrency: 4 }
            )
            // whoever asks it is answered as elsewhere, and a time-out of minutes is one everywhere
            const atWrong = {
              operator: callerOf(agent, wrong.port, signer),
              provider: callerOf(agent, wrong.port, studio.call.signer)
            }
            for (const { playerId, ref } of seats) {
              ok(yield* callWallet(atWrong.provider, "balance", { player_ref: ref }))
              const ends_at = new Date(Date.now() + 5 * minuteMs).toISOString()
              ok(yield* operator.post(`/api/v1/operator/players/${playerId}/self-exclusion`, { until: ends_at }))
              ok(yield* atWrong.operator.get(`/api/v1/operator/players/${playerId}`))
            }
            assert.strictEqual(yield* shardsOf(wrong.process().pid), 0)
            yield* Effect.sleep("12 seconds")
            assert.isFalse(yield* isReady)
            assert.strictEqual(yield* shardsOf(wrong.process().pid), 0)
            assert.strictEqual((yield* exchange(agent, another.port, me, { headers })).code, "REPLAYED_REQUEST")

            wrong.process().moveClock(0)
            yield* until((shards) => shards > 60)
            yield* Effect.repeat(isReady, { until: (is) => is, schedule: Schedule.spaced("50 millis") })
            wrong.process().moveClock(offsetMs)
            yield* until((shards) => shards === 0)
            yield* Effect.repeat(isReady, { until: (is) => !is, schedule: Schedule.spaced("50 millis") })
            ok(yield* atWrong.operator.get(me))
            yield* Effect.repeat(nodes, {
              until: (list) => list.reduce((sum, { shards }) => sum + shards, 0) === 300,
              schedule: Schedule.spaced("100 millis")
            }).pipe(Effect.timeout("60 seconds"))
          }).pipe(
            Effect.provide(layerDatabaseAt(server.url)),
            Effect.provideService(References.MinimumLogLevel, "Warn")
          )
        })),
      waiting
    )
  }
})
