/**
 * Sessions ended by other processes. Resident players whose sessions were ended elsewhere are reloaded before the next decision or answer, so that a
 * lock, closure, exclusion, withdrawn login or sign-out holds in every process within two seconds.
 *
 * Costs one indexed query per second, independent of traffic.
 */
import { Effect, Layer, Schema } from "effect"
import { ServingClient } from "../../platform/Database.ts"
import { rowsOf } from "../../store/Rows.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"

/**
 * How far back every look goes: an end is dated when it is decided, by the clock of its process, and seen when it is committed.
 * Clocks of processes on one database have to agree within that.
 */
const lookbackSeconds = 30

/** The most ends that one look reads; more are read by the next ones, oldest first. */
const maxEndsPerPoll = 20_000

/** `instant` is exact, which a date of JavaScript is not. */
const ends = rowsOf(Schema.Struct({ id: Schema.Number, endedAt: Schema.Date, instant: Schema.String }))

/** Follows the ends of sessions in the database for as long as the service runs, so many at a look. */
export const layerEndedSessionsBy = (maxEnds: number) =>
  Layer.effectDiscard(
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const actors = yield* PlayerActors
      /** The end that was last seen of each player of the last reading. */
      let seen = new Map<number, number>()
      /** The last one of a reading that found too many: any number of sessions can end at one instant. */
      let last: { readonly id: number; readonly instant: string } | undefined

      const read = Effect.gen(function*() {
        const found = yield* ends(
          sql`SELECT id, sessions_ended_at AS "endedAt", sessions_ended_at::text AS instant FROM players
          WHERE ${
            last === undefined
              ? sql`sessions_ended_at >= now() - make_interval(secs => ${lookbackSeconds})`
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
        // while the database is away nothing can be committed either; the next reading is a second away
        Effect.ignoreCause,
        Effect.andThen(Effect.sleep("1 second")),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )

export const layerEndedSessions = layerEndedSessionsBy(maxEndsPerPoll)
