import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { layerChainUnkeyed } from "../kit/Chains.ts"
import { chanceOf, seedOfRun } from "../kit/Chance.ts"
import { playAll, settleAll, until } from "../kit/Client.ts"
import { layerDatabaseAt } from "../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, callWallet, seat } from "../kit/Casino.ts"
import { callerOf, makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { History, type Line } from "../kit/History.ts"
import { audit } from "../kit/HistoryAudit.ts"
import { addStaff, exceptAddedStaff } from "../kit/Keys.ts"
import { withdrawalMethod } from "../kit/Operations.ts"
import { untilBalanced } from "../kit/ClusterProcesses.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"
import { makeStandbyServers } from "../kit/StandbyServers.ts"

// Goal: after the primary dies and the standby is promoted, the service continues by itself with all acknowledged effects. Method: two
// servers, the second a synchronous standby; services with both in their address; clients that play through HTTP and record every
// answer; the first server is killed under them, the second promoted, and their history compared with the stored rows.

const seed = seedOfRun()
const clients = 8

/** Documented maximum from the promotion to the first bet, ms. */
const longestSilenceMs = 10_000

const play = Effect.fnUntraced(function*(count: 1 | 2) {
  const servers = yield* makeStandbyServers
  const agent = yield* makeAgent()
  const services = yield* Effect.forEach(
    [yield* freePort, yield* freePort].slice(0, count),
    (port) =>
      startService({
        port,
        databaseUrl: Redacted.value(servers.primary.url),
        environment: {
          LOG_LEVEL: "warn",
          DATABASE_URL: servers.serviceUrl,
          DATABASE_OWNER_URL: servers.ownerUrl,
          CLUSTER: count > 1 ? "on" : "off"
        }
      }),
    { concurrency: 2 }
  )
  const port = services[0]?.port ?? assert.fail("no service")
  const before = layerDatabaseAt(servers.primary.url)
  const chance = chanceOf(seed)
  const { game, lines, seats, single, studio } = yield* Effect.gen(function*() {
    const { call: operator, operator: { id } } = yield* addTenant(agent, port, "acme")
    yield* addPaymentMethod(id, withdrawalMethod)
    const studio = yield* addStudio(agent, port, "studio")
    const game = yield* addGame(studio.id, "dice")
    const token = yield* addStaff("Grace")
    const lines = services.map(({ backofficePort, port }): Line => ({
      operator: callerOf(agent, port, operator.signer),
      provider: callerOf(agent, port, studio.call.signer),
      staff: staffOf(agent, () => backofficePort, token)
    }))
    if (count > 1) yield* untilBalanced(staffOf(agent, () => services[0]?.backofficePort ?? 0, token), count)
    const single = yield* seat(operator, studio.call, game, { username: "single", balance: 1_000_000 })
    const seats = yield* Effect.forEach(
      ["player0", "player1", "player2", "player3"],
      (username) => seat(operator, studio.call, game, { username, balance: chance.pick([500, 20_000, 1_000_000]) })
    )
    return { game, lines, seats, single, studio }
  }).pipe(Effect.provide(before))

  const history = new History()
  let isOver = false
  const playing = yield* playAll(clients, {
    history,
    seats,
    chanceOf: (stream) => chanceOf(seed, stream),
    lines,
    isOver: () => isOver
  })
  yield* until(() => history.answers >= 300, playing)

  yield* servers.killPrimary
  const lostBefore = history.lost + history.triedAgain
  yield* until(() => history.lost + history.triedAgain > lostBefore, playing)
  yield* servers.promote
  const promotedAt = performance.now()
  let number = 0
  yield* Effect.suspend(() =>
    callWallet(studio.call, "bet", {
      request_id: `again${++number}`,
      transaction_id: `again${number}`,
      session_token: single.token,
      game_id: game.externalId,
      round_id: "again",
      amount: 1,
      currency: "EUR"
    })
  ).pipe(
    Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )
  const silentMs = performance.now() - promotedAt

  const answered = history.answers
  yield* until(() => history.answers >= answered + 300, playing)
  isOver = true
  yield* Fiber.join(playing)
  yield* Effect.forEach(lines.slice(0, 1), (line) => settleAll(history, line))
  for (const service of services) assert.isFalse(service.hasExited(), service.output())

  const beginning = {
    references: new Set(seats.map((_, index) => `first-player${index}`)),
    others: new Set([single.playerId])
  }
  const found = yield* Effect.gen(function*() {
    const { violations } = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined))
    assert.deepStrictEqual(exceptAddedStaff(violations), [])
    return yield* audit(history, beginning)
  }).pipe(
    Effect.provide(LedgerAudit.layer.pipe(
      Layer.provide(layerChainUnkeyed),
      Layer.provideMerge(layerDatabaseAt(servers.standby.url))
    ))
  )
  return { found, history, silentMs }
})

describe("failover to the standby database", () => {
  for (const count of [1, 2] as const) {
    it.live(
      `loses no acknowledged call, and takes at most ten seconds for ${
        count === 1 ? "one service" : "two nodes"
      } (E2E_SEED=${seed})`,
      () =>
        Effect.scoped(Effect.gen(function*() {
          const { found, history, silentMs } = yield* play(count)
          assert.deepStrictEqual(found.violations, [])
          assert.isAbove(found.entries, 0)
          assert.isAbove(history.triedAgain + history.lost, 0)
          assert.isBelow(silentMs, longestSilenceMs)
        })),
      300_000
    )
  }
})
