import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"
import { addGame, addStudio, addTenant, callWallet, seat, settledOf } from "../kit/Casino.ts"
import { exchange, makeAgent } from "../kit/HttpCalls.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: SIGTERM drops no accepted request: no new ones, those in flight are answered, exit 0 within ten seconds.
// Method: the service as a process; its database holds a player's commit at a gate, and with it the requests in flight, until the
// service has stopped listening. A second service gets SIGTERM while its database never answers.

/** Limit of the contract, independent of the machine: an undisturbed shutdown takes a small part of it. */
const mostMs = 10_000

const startScene = Effect.fnUntraced(function*(name: string) {
  const port = yield* freePort
  const backofficePort = yield* freePort
  const service = yield* startService({
    port,
    databaseUrl: yield* databaseUrl,
    environment: { LOG_LEVEL: "error", BACKOFFICE_PORT: String(backofficePort) }
  })
  const agent = yield* makeAgent()
  const { call: operator } = yield* addTenant(agent, port, name)
  const studio = yield* addStudio(agent, port, `studio-${name}`)
  const game = yield* addGame(studio.id, "dice")
  const at = yield* seat(operator, studio.call, game, { username: name, balance: 1000 })
  const bet = (id: string) =>
    callWallet(studio.call, "bet", {
      request_id: id,
      transaction_id: id,
      session_token: at.token,
      game_id: game.externalId,
      round_id: id,
      amount: 10,
      currency: "EUR"
    })
  const deposit = (id: string) =>
    operator.post(`/api/v1/operator/players/${at.playerId}/deposits`, { amount: 5, external_reference: id })
  /** Completes when `count` commands wait behind the one that is being committed. */
  const commandsWait = (count: number) =>
    Effect.promise(async () => (await fetch(`http://127.0.0.1:${backofficePort}/metrics`)).text()).pipe(
      Effect.map((text) => Number(/^pitboss_actors_commands_waiting (\d+)/m.exec(text)?.[1])),
      Effect.repeat({ until: (waiting) => waiting === count, schedule: Schedule.spaced("10 millis") }),
      Effect.timeout("60 seconds")
    )
  return { port, service, at, bet, deposit, commandsWait }
})

layer(layerOwnDatabase, { excludeTestServices: true })("SIGTERM", (it) => {
  it.effect("lets requests in flight finish, refuses new ones, and ends the service with exit code 0", () =>
    Effect.gen(function*() {
      const { at, bet, commandsWait, deposit, port, service } = yield* startScene("patient")
      const letGo = yield* holdPlayer(at.playerId)
      const first = yield* Effect.forkChild(deposit("four"))
      yield* untilSomeoneWaits
      const inFlight = yield* Effect.forkChild(
        Effect.all([bet("one"), bet("two"), bet("three"), Fiber.join(first)], { concurrency: "unbounded" })
      )
      yield* commandsWait(3)

      const toldAt = yield* Clock.currentTimeMillis
      service.kill("SIGTERM")
      const newcomers = yield* makeAgent()
      const refused = exchange(newcomers, port, "/health/live").pipe(
        Effect.match({ onSuccess: ({ status }) => status === 503 ? "503" : "served", onFailure: () => "refused" })
      )
      // requests that arrive during the shutdown get 503; after that no connection is accepted
      const answer = yield* Effect.repeat(refused, {
        until: (outcome) => outcome === "refused",
        times: 500,
        schedule: Schedule.spaced("10 millis")
      })
      assert.strictEqual(answer, "refused")
      yield* letGo

      const [one, two, three, four] = yield* Fiber.join(inFlight)
      const balances = []
      for (const reply of [one, two, three]) {
        assert.strictEqual(reply.headers["connection"], "close")
        const settled = yield* settledOf(reply)
        assert.strictEqual(settled.status, "processed")
        balances.push(settled.balance)
      }
      assert.lengthOf(new Set(balances), 3)
      assert.strictEqual(four.status, 201)
      assert.deepStrictEqual(yield* service.exited, { code: 0, signal: null }, service.output())
      assert.isBelow((yield* Clock.currentTimeMillis) - toldAt, mostMs)
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly balance: number }>`SELECT real_balance AS balance FROM accounts
        WHERE player_id = ${at.playerId}`
      assert.strictEqual(row?.balance, 975)
    }))

  it.effect("ends the service in time even when the database does not answer", () =>
    Effect.gen(function*() {
      const { at, bet, commandsWait, deposit, service } = yield* startScene("impatient")
      const letGo = yield* holdPlayer(at.playerId)
      const first = yield* Effect.forkChild(Effect.result(deposit("one")))
      yield* untilSomeoneWaits
      const second = yield* Effect.forkChild(Effect.result(bet("two")))
      yield* commandsWait(1)

      const toldAt = yield* Clock.currentTimeMillis
      service.kill("SIGTERM")
      const ending = yield* service.exited
      const tookMs = (yield* Clock.currentTimeMillis) - toldAt
      assert.deepStrictEqual(ending, { code: 0, signal: null }, service.output())
      assert.isBelow(tookMs, mostMs)
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      yield* letGo
    }))
})
