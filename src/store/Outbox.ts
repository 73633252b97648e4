/** Event outbox: writes events that no player commit writes, and notifies senders of new events. */
import { Cause, Context, Effect, Latch, Layer, Schema, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Event } from "../domain/state/Change.ts"
import { numbers, texts, times } from "../platform/ArrayParameters.ts"
import { rowsOf } from "./Rows.ts"

/** Retention of events and their deliveries in ms. Pending deliveries expire after it. */
export const eventRetentionMs = 30 * 24 * 60 * 60_000

const written = rowsOf(Schema.Struct({ one: Schema.Number }))

/**
 * Writes events outside of player actors, and notifies their senders of new ones.
 *
 *     yield* inTransaction(sql)(Effect.andThen(raiseAlert, outbox.insert([event])))
 */
export class Outbox extends Context.Service<Outbox, {
  /** Inserts events in the open transaction, atomically with their cause. Adds the player summary. Notifies listeners after the commit. */
  readonly insert: (events: ReadonlyArray<Event>) => Effect.Effect<void, SqlError.SqlError>
  /** Notifies listeners that events, or due deliveries, have been committed. */
  readonly announce: () => void
  /** Subscribes until the scope closes. A listener must be fast and must not throw. */
  readonly listen: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
}>()("pitboss/store/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Kept: listeners. Wakes the sender of webhooks after a commit. Several nodes: its own; events of other nodes are found by the sender's look,
      // every second.
      const listeners = new Set<() => void>()

      const announce = () => {
        for (const listener of listeners) listener()
      }

      const insert = Effect.fn("Outbox.insert")(function*(events: ReadonlyArray<Event>) {
        if (events.length === 0) return
        const rows = yield* written(sql`
          INSERT INTO events (id, operator_id, player_id, type, data, created_at, player_version)
          SELECT u.id::bigint, p.operator_id, p.id, u.type, u.data::jsonb ||
              jsonb_build_object('player',
                jsonb_build_object('id', p.id, 'external_id', p.external_id, 'username', p.username)),
            u.created_at, coalesce((SELECT a.version FROM accounts a WHERE a.player_id = p.id), 0)
          FROM unnest(${numbers(events.map(({ id }) => id))}::float8[],
              ${numbers(events.map(({ operatorId }) => operatorId))}::float8[],
              ${numbers(events.map(({ playerId }) => playerId))}::float8[],
              ${texts(events.map(({ type }) => type))}::text[],
              ${texts(events.map(({ data }) => JSON.stringify(data)))}::text[],
              ${times(events.map(({ createdAt }) => createdAt))}::timestamptz[])
              AS u(id, operator_id, player_id, type, data, created_at)
            JOIN players p ON p.id = u.player_id::bigint AND p.operator_id = u.operator_id::bigint
          RETURNING 1 AS one`)
        if (rows.length < events.length) {
          return yield* Effect.die(
            new Error(`one of ${events.length} events is about a player its operator does not have`)
          )
        }
        yield* sql.afterCommit(Effect.sync(announce))
      })

      const listen = (listener: () => void) =>
        Effect.asVoid(Effect.acquireRelease(
          Effect.sync(() => listeners.add(listener)),
          () => Effect.sync(() => listeners.delete(listener))
        ))

      return Outbox.of({ insert, announce, listen })
    })
  )
}

/** Delay between a commit and what it wakes, so that the events of several commits are worked on together. */
const gatherMs = 250

/**
 * Works soon after commits that write events, until the scope closes; with `everyMs` also at the start, for what an earlier process has left, and at the
 * latest after that time. A failure is given to `postponed`.
 */
export const afterCommits = Effect.fnUntraced(function*<E>(
  work: Effect.Effect<unknown, E>,
  { everyMs, postponed }: {
    readonly everyMs?: number
    readonly postponed: (cause: Cause.Cause<E>) => Effect.Effect<void>
  }
) {
  const outbox = yield* Outbox
  const wake = yield* Latch.make(everyMs !== undefined)
  yield* outbox.listen(() => wake.openUnsafe())
  yield* Effect.forkScoped(Effect.forever(
    Effect.gen(function*() {
      yield* everyMs === undefined ? wake.await : Effect.timeoutOption(wake.await, everyMs)
      yield* Effect.sleep(gatherMs)
      wake.closeUnsafe()
      yield* work
    }).pipe(
      Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : postponed(cause))
    )
  ))
})
