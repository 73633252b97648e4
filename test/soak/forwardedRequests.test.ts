import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ClusterNode, startBalanced } from "../kit/ClusterProcesses.ts"
import { layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addGame, addStudio, addTenant, callWallet, dataAs, seat, type Seat } from "../kit/Casino.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { parseMetrics } from "../kit/Metrics.ts"
import { attributeOf, spansIn } from "../kit/Spans.ts"
import { eventually, makeSink } from "../kit/WebhookSink.ts"

// Goal: a request that one node forwards to another is one trace, and both nodes' metrics count it; and those of both count the players
// that one hands over. Method: two processes with a collector that records spans; requests to one node about a player of the other,
// of an operator and of a provider; the metrics of both before and after; then the player's node is drained.

const counted = ["sent", "answered", "received", "not_mine", "lost", "unsent", "overloaded"] as const

const metricsOf = (node: ClusterNode) =>
  Effect.gen(function*() {
    const { backofficePort } = node.process()
    const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${backofficePort}/metrics`))
    const metrics = parseMetrics(yield* Effect.promise(() => response.text()))
    const value = (name: string) => metrics.value(`pitboss_cluster_${name}`) ?? assert.fail(`no metric ${name}`)
    return {
      calls: counted.map((name) => value(`calls_${name}_total`)),
      messages: value("messages_sent_total"),
      shards: value("shards_held"),
      moves: value("shard_moves_total")
    }
  })

const Listed = Schema.Array(Schema.Struct({ id: Schema.String, shards: Schema.Int }))

layer(layerOwnDatabase, { excludeTestServices: true })("a request forwarded to another node", (it) => {
  it.effect("is one trace, and is counted at both nodes", () =>
    Effect.scoped(Effect.gen(function*() {
      const collector = yield* makeSink()
      const { agent, nodes, staff: [staff] } = yield* startBalanced({
        count: 2,
        environment: {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace("/hook", ""),
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json"
        }
      })
      const [entry, owner] = nodes
      assert(entry !== undefined && owner !== undefined && staff !== undefined)
      const { call: operator } = yield* addTenant(agent, entry.port, "acme")
      const studio = yield* addStudio(agent, entry.port, "studio")
      const game = yield* addGame(studio.id, "dice")

      const { headers: { "x-served-by": ownerId = "" } } = yield* exchange(agent, owner.port, "/health/live")
      const look = (at: Seat) => callWallet(studio.call, "balance", { player_ref: at.ref })
      let found: Seat | undefined
      for (let count = 0; found === undefined; count++) {
        const at = yield* seat(operator, studio.call, game, { username: `player${count}`, balance: 10_000 })
        if ((yield* look(at)).headers["x-served-by"] === ownerId) found = at
      }
      const table = found

      const calls = 20
      // nodes tell each other the counts of rates for a moment after the last request under a key
      const [, before] = yield* eventually(
        Effect.all([Effect.forEach(nodes, metricsOf), Effect.delay(Effect.forEach(nodes, metricsOf), "1 second")]),
        ([earlier, later]) => JSON.stringify(earlier) === JSON.stringify(later)
      )
      for (let count = 0; count < calls; count++) assert.strictEqual((yield* look(table)).status, 200)
      const after = yield* Effect.forEach(nodes, metricsOf)
      const [atEntry, atOwner] = after.map((metrics, node) =>
        Object.fromEntries(
          counted.map((name, index) => [name, (metrics.calls[index] ?? 0) - (before[node]?.calls[index] ?? 0)] as const)
        )
      )
      const none = { not_mine: 0, lost: 0, unsent: 0, overloaded: 0 }
      assert.deepStrictEqual(atEntry, { ...none, sent: calls, answered: calls, received: 0 })
      assert.deepStrictEqual(atOwner, { ...none, sent: 0, answered: 0, received: calls })
      assert.strictEqual((after[0]?.messages ?? 0) - (before[0]?.messages ?? 0), calls)

      const caller = "d".repeat(16)
      const traceOf = { operator: "a".repeat(32), provider: "c".repeat(32) }
      const traced = (trace: string) => ({ traceparent: `00-${trace}-${caller}-01` })
      const deposited = yield* operator.post(`/api/v1/operator/players/${table.playerId}/deposits`, {
        amount: 100,
        external_reference: "traced"
      }, traced(traceOf.operator))
      const bet = (id: string, headers: { readonly [name: string]: string }) =>
        studio.call.post("/api/v1/provider/wallet/bet", {
          request_id: id,
          transaction_id: id,
          session_token: table.token,
          game_id: game.externalId,
          round_id: id,
          amount: 5,
          currency: "EUR"
        }, headers)
      const placed = yield* bet("traced", traced(traceOf.provider))
      assert.deepStrictEqual(
        [deposited, placed].map(({ headers, status }) => [status, headers["x-served-by"]]),
        [[201, ownerId], [200, ownerId]]
      )

      const drained = yield* staff.send(`/backoffice/v1/nodes/${ownerId}/drain`, { method: "POST" })
      assert.strictEqual(drained.status, 200, drained.text)
      const [givenTo, given] = yield* eventually(
        Effect.forEach(nodes, metricsOf),
        ([one, other]) => other?.shards === 0 && one?.shards === 300
      )
      const moved = after[1]?.shards ?? 0
      assert.isAbove(moved, 0)
      assert.strictEqual((given?.moves ?? 0) - (after[1]?.moves ?? 0), moved)
      assert.strictEqual((givenTo?.moves ?? 0) - (after[0]?.moves ?? 0), moved)
      const listed = yield* dataAs(yield* staff.send("/backoffice/v1/nodes"), 200, Listed)
      assert.deepInclude(listed, { id: ownerId, shards: 0 })

      // flushes what is not sent yet
      for (const node of [owner, entry]) {
        node.process().kill("SIGTERM")
        yield* node.process().exited
      }
      const spans = collector.received.flatMap(({ body }) => spansIn(body))
      const depositing = "POST /api/v1/operator/players/:player/deposits"
      const betting = "POST /api/v1/provider/wallet/bet"
      for (
        const [traceId, name, isTracedAtEntry] of [
          [traceOf.operator, depositing, true],
          // the providers' lane forwards the caller's trace as it is
          [traceOf.provider, betting, false]
        ] as const
      ) {
        const trace = spans.filter((span) => span.traceId === traceId)
        const requests = trace.filter((span) => span.name === name)
        const at = ({ number }: ClusterNode) => requests.filter(({ instance }) => instance === String(number))
        assert.lengthOf(at(entry), isTracedAtEntry ? 1 : 0, name)
        assert.lengthOf(at(owner), 1, name)
        const [first] = at(entry)
        const [served] = at(owner)
        assert.strictEqual(first?.parentSpanId ?? caller, caller)
        assert.strictEqual(served?.parentSpanId, first?.spanId ?? caller, name)
        // the entry node may have asked for the player first, in vain
        const step = trace.find((span) => span.name === "actor step" && span.instance === String(owner.number))
        assert.equal(step && attributeOf(step, "pitboss.player_id"), table.playerId)
        const known = new Set(trace.map(({ spanId }) => spanId))
        for (const { name, parentSpanId = "" } of trace) {
          assert.isTrue(parentSpanId === caller || known.has(parentSpanId), name)
        }
      }
    })), 240_000)
})
