import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, References, Schedule } from "effect"
import type * as Http from "node:http"
import { startCluster, untilBalanced } from "../kit/ClusterProcesses.ts"
import { layerDatabaseAt, makeFickleServer } from "../kit/E2eDatabase.ts"
import { addGame, addStudio, addTenant, callWallet, seat, type Seat } from "../kit/Casino.ts"
import { callerOf, makeAgent, patiently, type Reply, staffOf } from "../kit/HttpCalls.ts"
import { addStaff } from "../kit/Keys.ts"
import { type Patch, patchedMain } from "../kit/PatchedSource.ts"

// Goal: a node frozen for longer than its lease does not trust its state. Method: a node of three is stopped (SIGSTOP); its
// players get money through another node; then the stopped node gets reads, and bets that only the new money covers; these
// requests wait in its sockets until it wakes. Each answer must be right, or TRY_AGAIN, but not all may be that. The same with a service
// that does not check its lease must fail, to prove that the test can.

const leaseSeconds = 3
const [before, paid, stake] = [100, 1000, 500]

/** Whether so many requests are under way, with all their bytes in the sockets of the system. */
const areWritten = ({ requests, sockets }: Http.Agent, count: number): boolean => {
  const used = Object.values(sockets).flatMap((some) => some ?? [])
  return Object.keys(requests).length === 0 && used.length === count &&
    used.every(({ connecting, writableLength }) => !connecting && writableLength === 0)
}

const balanceIn = ({ json }: Reply): number => Number(Object(Object(json).data).balance)

/** Freezes a node and wakes it; returns the answers to requests that waited in its sockets, and the wrong ones among them. */
const freeze = Effect.fnUntraced(function*(patch: Patch | undefined) {
  const server = yield* makeFickleServer()
  const agent = yield* makeAgent(256)
  const nodes = yield* startCluster({
    count: 3,
    databaseUrl: Redacted.value(server.url),
    leaseSeconds,
    ...patch === undefined ? {} : { main: yield* patchedMain(patch) }
  })
  const [frozen, other] = nodes
  assert(frozen !== undefined && other !== undefined)
  const { operator, seats, studio } = yield* Effect.gen(function*() {
    const { call: operator } = yield* addTenant(agent, other.port, "acme")
    const studio = yield* addStudio(agent, other.port, "studio")
    const game = yield* addGame(studio.id, "dice")
    const token = yield* addStaff("Grace")
    yield* untilBalanced(staffOf(agent, () => other.process().backofficePort, token), nodes.length)
    const seats = yield* Effect.forEach(
      Array.from({ length: 90 }, (_, index) => `player${index}`),
      (username) => seat(operator, studio.call, game, { username, balance: before }),
      { concurrency: 8 }
    )
    return { operator, seats, studio }
  }).pipe(Effect.provide(layerDatabaseAt(server.url)), Effect.provideService(References.MinimumLogLevel, "Warn"))

  const at = callerOf(agent, frozen.port, studio.call.signer)
  const elsewhere = callerOf(agent, other.port, studio.call.signer)
  const look = (provider: typeof at, { ref }: Seat) => callWallet(provider, "balance", { player_ref: ref })
  const bet = ({ game, playerId, token }: Seat) =>
    callWallet(at, "bet", {
      request_id: `frozen-${playerId}`,
      transaction_id: `frozen-${playerId}`,
      session_token: token,
      game_id: game.externalId,
      round_id: `frozen-${playerId}`,
      amount: stake,
      currency: "EUR"
    })
  const { headers: { "x-served-by": id } } = yield* at.get("/api/v1/provider/wallet/transactions/none")
  // also opens the connections that the requests will wait in
  const first = yield* Effect.forEach(seats, (one) => look(at, one), { concurrency: "unbounded" })
  const own = seats.filter((_, index) => first[index]?.headers["x-served-by"] === id)
  assert.isAbove(own.length, 5)

  const { kill } = frozen.process()
  kill("SIGSTOP")
  const stoppedAt = performance.now()
  const waiting = yield* Effect.gen(function*() {
    yield* Effect.forEach(own, ({ playerId }) =>
      operator.post(`/api/v1/operator/players/${playerId}/deposits`, {
        amount: paid,
        external_reference: `elsewhere-${playerId}`
      }).pipe(
        Effect.repeat({
          until: ({ status }) => status === 201 || status === 200,
          schedule: Schedule.spaced("100 millis")
        }),
        Effect.timeout("60 seconds")
      ), { concurrency: 8, discard: true })
    const asking = yield* Effect.forkChild(
      Effect.forEach(own, (one) => Effect.all([look(at, one), bet(one)], { concurrency: 2 }), {
        concurrency: "unbounded"
      })
    )
    // awake, it learns within some hundred milliseconds that it has lost its shards: the requests must be there before
    yield* Effect.repeat(Effect.sync(() => areWritten(agent, own.length * 2)), {
      until: (are) => are,
      schedule: Schedule.spaced("10 millis")
    }).pipe(Effect.timeout("60 seconds"))
    yield* Effect.sleep(Math.max(0, 2000 * leaseSeconds - (performance.now() - stoppedAt)))
    return asking
  }).pipe(Effect.ensuring(Effect.sync(() => kill("SIGCONT"))))
  const answers = yield* Fiber.join(waiting)

  const isPassing = ({ code, status }: Reply) => status === 503 && code === "TRY_AGAIN"
  const untrue = answers.flatMap(([seen, staked]) => [
    ...isPassing(seen) || [before + paid, before + paid - stake].includes(balanceIn(seen)) ? [] : [seen.text],
    ...isPassing(staked) || balanceIn(staked) === before + paid - stake ? [] : [staked.text]
  ])
  // afterwards every node gives the same, right answer
  const after = yield* Effect.forEach(
    own,
    (one) => Effect.all([look(patiently(at), one), look(patiently(elsewhere), one)])
  )
  const differing = after.filter(([one, another]) => balanceIn(one) !== balanceIn(another))
  const passing = answers.flat().filter(isPassing)
  return { answers: answers.length * 2, passing, untrue, differing }
})

describe("a node that wakes after its lease has expired", () => {
  it.live("answers correctly or with TRY_AGAIN", () =>
    Effect.scoped(Effect.gen(function*() {
      const { answers, differing, passing, untrue } = yield* freeze(undefined)
      assert.isAbove(answers, 10)
      assert.isBelow(passing.length, answers)
      assert.deepStrictEqual(untrue, [])
      assert.deepStrictEqual(differing, [])
    })), 300_000)

  it.live("is detected to answer wrongly when its lease check is removed", () =>
    Effect.scoped(Effect.gen(function*() {
      const { untrue } = yield* freeze({
        file: "cluster/Ownership.ts",
        from: "at < (heldUntil[shard] ?? 0)",
        to: "(heldUntil[shard] ?? 0) > 0"
      })
      assert.isAbove(untrue.length, 0)
    })), 300_000)
})
