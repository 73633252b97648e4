import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { addTenant, deposit, register } from "../kit/Casino.ts"
import { pick, startBalanced } from "../kit/ClusterProcesses.ts"
import { layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { callerOf, patiently } from "../kit/HttpCalls.ts"
import { eventually } from "../kit/WebhookSink.ts"

// Goal: whoever follows the events of an operator misses none and gets none twice, each player's in the order of effects, while nodes and the follower itself die.
// Method: three processes that write events and are killed in turn with SIGKILL; a follower that waits for events at any of them, keeps its cursor with what it
// read, and is cut off in the middle of calls.

const players = 30
const kills = 4
const eventsPerKill = 250

const Followed = Schema.Struct({
  data: Schema.Array(Schema.Struct({
    id: Schema.String,
    type: Schema.String,
    player_sequence: Schema.Int,
    data: Schema.Struct({
      player: Schema.Struct({ id: Schema.Int }),
      payment: Schema.optionalKey(Schema.Struct({ external_reference: Schema.String }))
    })
  })),
  meta: Schema.Struct({ next_cursor: Schema.String })
})
const decodeFollowed = Schema.decodeUnknownEffect(Schema.fromJsonString(Followed))

layer(layerOwnDatabase, { excludeTestServices: true })("events of three nodes that are killed", (it) => {
  it.effect(
    "reach a client that is killed as well, each once, and in order for each player",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { agent, nodes } = yield* startBalanced()
        const { key } = yield* addTenant(agent, pick(nodes, 0).port, "acme")
        const callers = nodes.map(({ port }) => patiently(callerOf(agent, port, key)))
        const ids = yield* Effect.forEach(Array.from({ length: players }), (_, index) =>
          register(pick(callers, index), `player${index}`))

        const followed: Array<typeof Followed.Type["data"][number]> = []
        let cursor = ""
        let calls = 0
        const follow = Effect.forever(Effect.gen(function*() {
          const query = cursor === "" ? "wait=5&per_page=100" : `wait=5&per_page=100&cursor=${cursor}`
          const reply = yield* pick(callers, calls++).get(`/events?${query}`)
          if (reply.status !== 200) {
            return yield* Effect.sleep("50 millis")
          }
          const page = yield* decodeFollowed(reply.text)
          followed.push(...page.data)
          cursor = page.meta.next_cursor
        }))

        let number = 0
        const pay = Effect.suspend(() => {
          const place = number++
          return deposit(pick(callers, place), pick(ids, Math.floor(place / 3)), 100, `d${place}`)
        })
        for (let kill = 0; kill < kills; kill++) {
          const follower = yield* Effect.forkChild(follow)
          const victim = pick(nodes, kill)
          const death = eventually(
            Effect.sync(() =>
              number
            ),
            (made) => made >= kill * eventsPerKill + eventsPerKill / 2
          ).pipe(
            Effect.andThen(Effect.sync(() => victim.process().kill("SIGKILL"))),
            Effect.andThen(eventually(Effect.sync(() => victim.process().hasExited()), (hasExited) => hasExited)),
            Effect.andThen(victim.restart)
          )
          yield* Effect.all([
            Effect.forEach(Array.from({ length: eventsPerKill }), () => pay, { concurrency: 8, discard: true }),
            death
          ], { concurrency: 2, discard: true })
          // the follower dies as well, wherever it is
          yield* Fiber.interrupt(follower)
        }
        const standing = sql<{ readonly id: string }>`SELECT id::text AS id FROM events ORDER BY position`
        yield* eventually(
          sql<{ readonly left: number }>`SELECT count(*)::float8 AS left FROM events WHERE position IS NULL`,
          ([row]) => row?.left === 0
        )
        const last = yield* Effect.forkChild(follow)
        const expected = yield* standing
        yield* eventually(Effect.sync(() => followed.length), (length) => length >= expected.length)
        yield* Fiber.interrupt(last)

        assert.deepStrictEqual(followed.map(({ id }) => id), expected.map(({ id }) => id))
        const paid = followed.flatMap(({ data }) => data.payment?.external_reference ?? [])
        assert.strictEqual(new Set(paid).size, kills * eventsPerKill)
        assert.strictEqual(paid.length, kills * eventsPerKill)
        for (const [, own] of Map.groupBy(followed, ({ data }) => data.player.id)) {
          assert.deepStrictEqual(own.map((event) => event.player_sequence), own.map((_, index) => index + 1))
        }
        // as the ledger has them
        const entries = yield* sql<{ readonly player: number; readonly reference: string }>`
          SELECT e.player_id::float8 AS player, r.external_reference AS reference
          FROM ledger_entries e JOIN payment_requests r ON r.id = e.payment_request_id ORDER BY e.player_id, e.seq`
        const told = followed.filter(({ data }) => data.payment !== undefined)
          .toSorted((one, other) =>
            one.data.player.id - other.data.player.id || one.player_sequence - other.player_sequence
          )
          .map(({ data }) => ({ player: data.player.id, reference: data.payment?.external_reference }))
        assert.deepStrictEqual(told, entries.map(({ player, reference }) => ({ player, reference })))
      })),
    600_000
  )
})
