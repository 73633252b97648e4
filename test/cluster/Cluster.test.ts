import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, keys, owned, serveWhere, settled, startNode, where } from "../kit/ClusterNode.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: every key has one owner while nodes join and leave, and a call reaches that owner from any node. Method: nodes in one
// process, each with its own connections and port, over one PostgreSQL.

describe("nodes over one database", () => {
  it.live(
    "share all keys (one per player), each owned by one node that every node can call",
    () =>
      Effect.gen(function*() {
        const one = yield* startNode()
        yield* settled([one])
        assert.strictEqual(owned(one), keys.length)
        const two = yield* startNode()
        const three = yield* startNode()
        const nodes = [one, two, three]
        yield* settled(nodes)
        for (const node of nodes) serveWhere(node)
        for (const node of nodes) {
          const answers = yield* Effect.forEach(
            keys,
            (key) => node.forwarder.send(key, "where", where(key), { isRepeatable: false }),
            { concurrency: "unbounded" }
          )
          for (const [index, key] of keys.entries()) {
            const owner = nodes.find(({ placement }) => placement.epochOf(key) !== 0)
            assert.strictEqual(answers[index]?.body, `${owner?.id} ?`)
            assert.strictEqual(answers[index]?.node, owner?.id)
          }
        }
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
    60_000
  )

  it.live(
    "a leaving node hands over its shards and forwards calls to their new owners",
    () =>
      Effect.gen(function*() {
        const one = yield* startNode()
        const two = yield* startNode()
        yield* settled([one, two])
        serveWhere(one)
        serveWhere(two)
        const moved = keys.filter((key) => one.placement.epochOf(key) !== 0)
        let isReleased = false
        one.placement.onRelease(() => Effect.delay(Effect.sync(() => void (isReleased = true)), "20 millis"))
        yield* Effect.forkChild(one.nodes.leave, { startImmediately: true })
        // as SIGTERM during a drain by the staff
        yield* one.nodes.leave
        assert.isTrue(isReleased)
        assert.isTrue(one.nodes.isLeaving())
        assert.strictEqual(owned(one), 0)
        const answers = yield* Effect.forEach(
          moved,
          (key) => one.forwarder.send(key, "where", where(key), { isRepeatable: false }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([...new Set(answers.map(({ node }) => node))], [two.id])
        const listed = yield* two.nodes.list
        assert.deepStrictEqual(listed.map(({ id, isDraining, shards }) => ({ id, isDraining, shards })), [
          { id: one.id, isDraining: true, shards: 0 },
          { id: two.id, isDraining: false, shards: 300 }
        ])
        yield* one.close
        const back = yield* startNode()
        yield* settled([two, back])
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
    60_000
  )

  it.live(
    "players of a node that ends without a handover move to other nodes when its lease expires",
    () =>
      Effect.gen(function*() {
        const one = yield* startNode()
        const two = yield* startNode()
        yield* settled([one, two])
        yield* one.close
        yield* eventually(() => owned(two) === keys.length)
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
    60_000
  )
})
