import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Redacted, Schedule } from "effect"
import { audit } from "../kit/HistoryAudit.ts"
import { layerDatabaseAt, makeFickleServer } from "../kit/E2eDatabase.ts"
import { holdPlayer, untilSomeoneWaits } from "../kit/E2eHold.ts"
import {
  addGame,
  addPaymentMethod,
  addStudio,
  addTenant,
  callWallet,
  type Seat,
  seat,
  settledOf
} from "../kit/Casino.ts"
import { layerE2eServerWithMailbox } from "../kit/E2eServer.ts"
import { type Caller, exchange, makeAgent, portOf, type Reply, staffOf } from "../kit/HttpCalls.ts"
import { History } from "../kit/History.ts"
import { playAll, replayAll, until, whilePlaying } from "../kit/Client.ts"
import { withdrawalMethod } from "../kit/Operations.ts"
import { chanceOf, seedOfRun } from "../kit/Chance.ts"
import { addStaff } from "../kit/Keys.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

/** Providers time out after three to ten seconds. */
const providerWaitsMs = 5000

const bet = (provider: Caller, { game, token }: Seat, id: string) =>
  callWallet(provider, "bet", {
    request_id: id,
    transaction_id: id,
    session_token: token,
    game_id: game.externalId,
    round_id: id,
    amount: 10,
    currency: "EUR"
  })

const promoWin = (provider: Caller, { ref }: Seat, id: string) =>
  callWallet(provider, "promo-win", {
    request_id: id,
    transaction_id: id,
    player_ref: ref,
    amount: 10,
    currency: "EUR",
    kind: "jackpot",
    campaign_id: "friday"
  })

const assertTryAgain = (reply: Reply, retry: "rollback" | "same_request" | undefined) => {
  assert.deepInclude({ status: reply.status, code: reply.code }, { status: 503, code: "TRY_AGAIN" }, reply.text)
  assert.strictEqual(reply.headers["retry-after"], "1")
  if (retry !== undefined) assert.strictEqual(reply.details["retry"], retry)
}

// Goal: while PostgreSQL is unavailable callers soon get a documented, retryable error; afterwards the service recovers without
// a restart, and no effect was lost or doubled. Method: the service as a process on a server that shuts down cleanly,
// and then once more abruptly, both times under the clients' load.
describe("an outage of PostgreSQL", () => {
  const seed = seedOfRun()

  it.live(
    `is answered TRY_AGAIN at once, and ends without a restart of the service (E2E_SEED=${seed})`,
    () =>
      Effect.gen(function*() {
        const server = yield* makeFickleServer()
        yield* Effect.gen(function*() {
          const port = yield* freePort
          const service = yield* startService({
            port,
            databaseUrl: Redacted.value(server.url),
            environment: { LOG_LEVEL: "none" }
          })
          const agent = yield* makeAgent()
          const { call: operator, operator: { id: operatorId } } = yield* addTenant(agent, port, "acme")
          yield* addPaymentMethod(operatorId, withdrawalMethod)
          const studio = yield* addStudio(agent, port, "studio")
          const game = yield* addGame(studio.id, "dice")
          const staff = staffOf(agent, () => service.backofficePort, yield* addStaff("Grace"))
          const line = { operator, provider: studio.call, staff }
          const seats = yield* Effect.forEach(
            ["player0", "player1", "player2"],
            (username) => seat(operator, studio.call, game, { username, balance: 50_000 })
          )
          const stranger = yield* seat(operator, studio.call, game, { username: "stranger", balance: 50_000 })

          const history = new History()
          let isOver = false
          const playing = yield* playAll(6, {
            history,
            seats,
            chanceOf: (stream) => chanceOf(seed, stream),
            lines: [line],
            isOver: () => isOver
          })

          const readiness = Effect.map(exchange(agent, port, "/health/ready"), ({ status }) => status)
          const readyAgain = readiness.pipe(
            Effect.repeat({ until: (status) => status === 200, schedule: Schedule.spaced("50 millis") }),
            Effect.timeout("60 seconds")
          )

          let betsThatFailed = 0
          for (const how of ["in order", "at once"] as const) {
            const before = history.answers
            yield* until(() => history.answers >= before + 100, playing)
            yield* server.leave(how)

            yield* whilePlaying(
              playing,
              readiness.pipe(
                Effect.repeat({ until: (status) => status === 503, schedule: Schedule.spaced("50 millis") }),
                Effect.timeout("60 seconds")
              )
            )
            assert.strictEqual((yield* exchange(agent, port, "/health/live")).status, 200)
            for (let turn = 0; turn < 3; turn++) {
              const askedAt = yield* Clock.currentTimeMillis
              const [placed, paid, deposited, looked] = yield* Effect.all([
                bet(studio.call, stranger, `away-bet-${++betsThatFailed}`),
                promoWin(studio.call, stranger, `away-promo-${betsThatFailed}`),
                operator.post(`/api/v1/operator/players/${stranger.playerId}/deposits`, {
                  amount: 1,
                  external_reference: `away-${betsThatFailed}`
                }),
                operator.get("/api/v1/operator/players")
              ], { concurrency: "unbounded" })
              assert.isBelow((yield* Clock.currentTimeMillis) - askedAt, providerWaitsMs)
              assertTryAgain(placed, "rollback")
              assertTryAgain(paid, "same_request")
              assertTryAgain(deposited, undefined)
              assertTryAgain(looked, undefined)
            }

            yield* server.comeBack
            yield* readyAgain
          }
          const before = history.answers
          yield* until(() => history.answers >= before + 100, playing)
          isOver = true
          yield* Fiber.join(playing)
          assert.isFalse(service.hasExited())
          assert.isAbove(history.triedAgain, 0)
          // a caller that gets TRY_AGAIN has not lost the connection
          assert.strictEqual(history.lost, 0)

          const beginning = {
            references: new Set(seats.map((_, index) => `first-player${index}`)),
            others: new Set([stranger.playerId])
          }
          const found = yield* audit(history, beginning)
          assert.deepStrictEqual(found.violations, [])
          yield* replayAll(history, line)
          assert.deepStrictEqual(yield* audit(history, beginning), found)

          // refusals during the outage had no effect
          for (let number = 1; number <= betsThatFailed; number++) {
            const settled = yield* settledOf(yield* bet(studio.call, stranger, `away-bet-${number}`))
            assert.deepInclude(settled, { status: "processed", balance: 50_000 - 10 * number })
          }
        }).pipe(Effect.provide(layerDatabaseAt(server.url)))
      }),
    300_000
  )
})

// Goal: overload of one player is refused and affects no other. Method: a player's commit is held, the mailbox behind it filled;
// the excess gets TRY_AGAIN, the rest is done when the commit goes on, and the excess succeeds when sent again.
layer(layerE2eServerWithMailbox(4), { excludeTestServices: true })("a player's mailbox that is full", (it) => {
  it.effect("answers TRY_AGAIN at once, and the refused messages succeed when sent again", () =>
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const { call: operator } = yield* addTenant(agent, port, "acme")
      const studio = yield* addStudio(agent, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const at = yield* seat(operator, studio.call, game, { username: "crowded", balance: 1000 })
      const letGo = yield* holdPlayer(at.playerId)

      const first = yield* Effect.forkChild(bet(studio.call, at, "bet0"))
      yield* untilSomeoneWaits
      const answers: Array<Reply> = []
      const others = yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: 12 }, (_, index) => `bet${index + 1}`),
        (id) => Effect.map(bet(studio.call, at, id), (reply) => ({ id, reply, place: answers.push(reply) })),
        { concurrency: "unbounded" }
      ))
      // four wait behind the first, eight exceed the mailbox
      yield* until(() => answers.length === 8, others)
      for (const reply of answers) assertTryAgain(reply, "rollback")
      assertTryAgain(yield* promoWin(studio.call, at, "promo"), "same_request")
      const deposited = yield* operator.post(`/api/v1/operator/players/${at.playerId}/deposits`, {
        amount: 5,
        external_reference: "crowded"
      })
      assertTryAgain(deposited, undefined)
      // committed state stays readable meanwhile
      const wallet = yield* operator.get(`/api/v1/operator/players/${at.playerId}/wallet`)
      assert.include(wallet.text, "\"balance\":1000")

      yield* letGo
      assert.strictEqual((yield* settledOf(yield* Fiber.join(first))).status, "processed")
      const outcomes = yield* Fiber.join(others)
      const done = outcomes.filter(({ reply }) => reply.status === 200)
      assert.lengthOf(done, 4)
      for (const { id, reply } of outcomes) {
        const again = yield* settledOf(yield* bet(studio.call, at, id))
        assert.strictEqual(again.status, reply.status === 200 ? "replayed" : "processed")
      }
      const last = yield* settledOf(yield* bet(studio.call, at, "bet0"))
      assert.deepInclude(last, { status: "replayed", balance: 1000 - 13 * 10, wallet_seq: 14 })
    }))
})
