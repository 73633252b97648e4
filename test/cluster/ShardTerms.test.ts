import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ShardTerms } from "../../src/cluster/ShardTerms.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a new owner waits exactly as long as the previous owner may believe that it owns the shard. Method: nodes with leases of 100 seconds, with
// heartbeats written by the test.

const node = (owner: string) =>
  Effect.map(Layer.build(ShardTerms.layer(owner, 100)), (context) => Context.get(context, ShardTerms))

const beat = Effect.fnUntraced(function*(address: string, secondsAgo: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO cluster_runners (address, runner, last_heartbeat)
    VALUES (${address}, '', now() AT TIME ZONE 'UTC' - ${secondsAgo} * INTERVAL '1 second')
    ON CONFLICT (address) DO UPDATE SET last_heartbeat = EXCLUDED.last_heartbeat`
})

/** Moves all recorded times back. */
const age = Effect.fnUntraced(function*(seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE cluster_shards SET taken_at = taken_at - ${seconds} * INTERVAL '1 second',
    free_at = free_at - ${seconds} * INTERVAL '1 second'`
})

const waitOf = (terms: ShardTerms["Service"], shard: number) =>
  Effect.map(terms.begin([shard]), ([begun]) => begun?.waitMs ?? -1)

layer(TestDatabase.layer, { excludeTestServices: true })("terms of shard ownership by a node", (it) => {
  it.effect("begin at once for a shard without an owner, and begin anew at once for the node that already owns it", () =>
    Effect.gen(function*() {
      const one = yield* node("one:1")
      yield* beat("one:1", 0)
      assert.deepStrictEqual(yield* one.begin([1, 2]), [
        { shard: 1, term: 1, waitMs: 0 },
        { shard: 2, term: 1, waitMs: 0 }
      ])
      assert.deepStrictEqual(yield* one.begin([1]), [{ shard: 1, term: 2, waitMs: 0 }])
    }))

  it.effect("begin at once after an owner that released the shard or whose lease has expired", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* node("one:2"), yield* node("other:2")]
      yield* beat("one:2", 0)
      yield* one.end(yield* one.begin([11]))
      assert.strictEqual(yield* waitOf(other, 11), 0)
      yield* one.begin([12])
      yield* age(101)
      yield* beat("one:2", 101)
      assert.strictEqual(yield* waitOf(other, 12), 0)
    }))

  it.effect("begin one lease after the last owner's heartbeat or after it took the shard, whichever is later", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* node("one:3"), yield* node("other:3")]
      yield* beat("one:3", 0)
      yield* one.begin([21])
      yield* age(60)
      yield* beat("one:3", 30)
      const afterBeat = yield* waitOf(other, 21)
      assert.isAtMost(afterBeat, 70_000)
      assert.isAbove(afterBeat, 40_000)
      // a node that took the shard after its last heartbeat
      yield* one.begin([22])
      const afterTaking = yield* waitOf(other, 22)
      assert.isAtMost(afterTaking, 100_000)
      assert.isAbove(afterTaking, 70_000)
    }))

  // Goal: a second change of owner does not shorten the wait for the first one.
  it.effect("begin only when the leases of the last owner and of its predecessor are over", () =>
    Effect.gen(function*() {
      const [one, other, third] = [yield* node("one:4"), yield* node("other:4"), yield* node("third:4")]
      yield* beat("one:4", 0)
      yield* one.begin([31])
      yield* other.end(yield* other.begin([31]))
      assert.isAbove(yield* waitOf(third, 31), 70_000)
    }))

  it.effect("go on when an earlier term of the same node is ended afterwards", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* node("one:5"), yield* node("other:5")]
      yield* beat("one:5", 0)
      const former = yield* one.begin([41])
      yield* one.begin([41])
      yield* one.end(former)
      assert.isAbove(yield* waitOf(other, 41), 70_000)
    }))
})
