/**
 * Detects player sessions ended by other processes. Players in memory here whose sessions were ended elsewhere are reloaded before the next decision
 * or answer, so that a lock, closure, exclusion, withdrawn login or sign-out holds in every process within two seconds.
 *
 * Costs one indexed query per second, independent of traffic.
 */
import { Effect, Layer, Schema } from "effect"
import { ServingClient } from "../../platform/Database.ts"
import { rowsOf } from "../../store/Rows.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"

/**
 * Range of each reading before now: an end is dated when decided, by the clock of its process, and visible once committed.
 * Clocks of processes on one database must agree within it.
 */
const lookbackSeconds = 30

/** Maximum ends per reading, oldest first; the next reading continues. */
const maxEndsPerReading = 20_000

/** `instant` is exact, which a date of JavaScript is not. */
const ends = rowsOf(Schema.Struct({ id: Schema.Number, endedAt: Schema.Date, instant: Schema.String }))

/** Reads ended sessions once a second until the scope closes, at most `maxEnds` at a time. */
export const layerEndedSessionsBy = (maxEnds: number) =>
  Layer.effectDiscard(
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const actors = yield* PlayerActors
      // Kept: seen, last. Ends of sessions that the last look found. Several nodes: its own: says which of the players in this node's memory to read
      // again.
      /** The end that was last seen of each player of the last reading. */
      let seen = new Map<number, number>()
      /** The last one of a reading that found too many: any number of sessions can end at one instant. */
      let last: { readonly id: number; readonly instant: string } | undefined

      const read = Effect.gen(function*() {
        const found = yield* ends(
          sql`SELECT id, sessions_ended_at AS "endedAt", sessions_ended_at::text AS instant FROM players
          WHERE ${
            last === undefined
              ? sql`sessions_ended_at >= now() - make_interval(secs => ${lookbackSeconds})
                AND sessions_ended_at - coalesce((SELECT make_interval(secs => c.offset_ms / 1000.0) FROM operator_clocks c
                  WHERE c.operator_id = players.operator_id), '0') >= now() - make_interval(secs => ${lookbackSeconds})`
              : sql`sessions_ended_at >= ${last.instant}::timestamptz
                AND (sessions_ended_at, id) > (${last.instant}::timestamptz, ${last.id}::float8::bigint)`
          }
          ORDER BY sessions_ended_at, id LIMIT ${maxEnds}`
        )
        const latest = new Map<number, number>()
        for (const { endedAt, id } of found) {
          const at = endedAt.getTime()
          latest.set(id, at)
          if (seen.get(id) !== at) actors.renew(id, ({ sessionsEndedAt }) => (sessionsEndedAt ?? 0) < at)
        }
        seen = latest
        last = found.length === maxEnds ? found.at(-1) : undefined
      })

      yield* read.pipe(
        // while the database is unavailable nothing can be committed either; the next reading follows in a second
        Effect.ignoreCause,
        Effect.andThen(Effect.sleep("1 second")),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )

export const layerEndedSessions = layerEndedSessionsBy(maxEndsPerReading)
