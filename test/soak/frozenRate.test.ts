import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, References, Schema } from "effect"
import { RunnerAddress } from "effect/cluster"
import { assign, shardOf } from "../../src/cluster/Shards.ts"
import { type ClusterNode, startCluster, untilBalanced } from "../kit/ClusterProcesses.ts"
import { layerDatabaseAt, makeFickleServer } from "../kit/E2eDatabase.ts"
import { addTenant, dataAs } from "../kit/Casino.ts"
import { callerOf, makeAgent, staffOf } from "../kit/HttpCalls.ts"
import { addApiKey, addStaff } from "../kit/Keys.ts"

// Goal: a key's rate is kept although the node that counts it is frozen. Method: three processes; clients call with one key through the two others, without
// a pause, when the counting one is stopped (SIGSTOP), and go on until it has woken; then all three are asked. Beyond its limit the key may pass what was
// under way when the node was stopped: those requests may have been counted by it, and are counted by another one 400 ms later.

const limit = 60
const clients = 4
/** Most of the key's window of a minute: what is sent later may be of the next one. */
const longest = 45_000

const Listed = Schema.Array(Schema.Struct({ address: Schema.String, pid: Schema.Int }))

describe("an API key whose rate is counted by a frozen node", () => {
  it.live(
    "is served at most its limit plus the requests in flight, also after the node wakes",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const server = yield* makeFickleServer()
        const agent = yield* makeAgent(64)
        const nodes = yield* startCluster({ count: 3, databaseUrl: Redacted.value(server.url) })
        const first = nodes[0] ?? assert.fail()
        const { key, list } = yield* Effect.gen(function*() {
          const { operator } = yield* addTenant(agent, first.port, "acme")
          const key = yield* addApiKey(operator.id, { rateLimit: limit })
          const staff = staffOf(agent, () => first.process().backofficePort, yield* addStaff("Grace"))
          yield* untilBalanced(staff, nodes.length)
          const list = yield* dataAs(yield* staff.send("/backoffice/v1/nodes"), 200, Listed)
          return { key, list }
        }).pipe(Effect.provide(layerDatabaseAt(server.url)), Effect.provideService(References.MinimumLogLevel, "Warn"))
        const owners = assign(list.map(({ address }) => {
          const [host = "", port] = address.split(":")
          return { address: RunnerAddress.make(host, Number(port)), weight: 1 }
        }))
        const pid = list.find(({ address }) => address === owners[shardOf(key.id) - 1])?.pid
        const counting = nodes.find((node) => node.process().pid === pid) ?? assert.fail("nobody counts the key")
        const others = nodes.filter((node) => node !== counting)

        const ask = ({ port }: ClusterNode) =>
          Effect.map(
            callerOf(agent, port, key).get("/api/v1/operator/me"),
            ({ code, status }) => code ?? String(status)
          )
        const seen = { sent: 0, passed: 0, refused: 0, isOver: false }
        const startedAt = performance.now()
        const asking = yield* Effect.forkChild(Effect.forEach(
          Array.from({ length: clients }, (_, client) => others[client % others.length] ?? counting),
          (node) =>
            Effect.gen(function*() {
              while (!seen.isOver && performance.now() - startedAt < longest) {
                seen.sent++
                const answer = yield* ask(node)
                assert.include(["200", "RATE_LIMITED"], answer)
                if (answer === "200") seen.passed++
                else seen.refused++
                // not all of the limit is used up before the node is stopped
                if (seen.refused > 0) yield* Effect.sleep("50 millis")
              }
            }),
          { concurrency: "unbounded" }
        ))
        const until = (isSo: () => boolean) =>
          Effect.gen(function*() {
            while (!isSo() && performance.now() - startedAt < longest) yield* Effect.sleep("1 millis")
          })
        yield* until(() => seen.passed >= limit / 3)
        counting.process().kill("SIGSTOP")
        const before = seen.passed
        yield* until(() => seen.refused >= 40).pipe(
          Effect.ensuring(Effect.sync(() => counting.process().kill("SIGCONT")))
        )
        const whileFrozen = seen.passed - before
        yield* until(() => seen.refused >= 80)
        seen.isOver = true
        yield* Fiber.join(asking)
        for (let time = 0; time < 10 && performance.now() - startedAt < longest; time++) {
          for (const node of [...others, counting]) if ((yield* ask(node)) === "200") seen.passed++
        }
        assert.isAbove(whileFrozen, clients)
        assert.isAtMost(seen.passed, limit + clients, `${seen.sent} sent, ${before} passed before`)
      })),
    240_000
  )
})
