/**
 * Ends of sessions that another process committed. A process remembers players; one whose sessions were ended elsewhere is read
 * again before anything more is decided or answered, so that a lock, a closure, an exclusion, a login taken away and a sign-out are
 * felt in every process within two seconds.
 *
 * One query a second, whatever the traffic: those that ended lately, found by an index.
 */
import { Effect, Layer, Schema } from "effect"
import { ServingClient } from "../platform/Database.ts"
import { rowsOf } from "./Rows.ts"
import { PlayerActors } from "./PlayerActors.ts"

/**
 * How far back every look goes: an end is dated when it is decided, by the clock of its process, and seen when it is committed.
 * Clocks of processes on one database have to agree within that.
 */
const lookBackSeconds = 30

/** The most ends that one look reads; more are read by the next ones, oldest first. */
const maxEnds = 20_000

const ends = rowsOf(Schema.Struct({ id: Schema.Number, endedAt: Schema.Date }))

/** Follows the ends of sessions in the database for as long as the service runs. */
export const layerEndedSessions = Layer.effectDiscard(
  Effect.gen(function*() {
    const sql = yield* ServingClient
    const actors = yield* PlayerActors
    /** The end that was last seen of each player of the last look. */
    let seen = new Map<number, number>()
    /** Where a look that found too many went on. */
    let from: Date | undefined

    const look = Effect.gen(function*() {
      const found = yield* ends(
        sql`SELECT id::float8 AS id, sessions_ended_at AS "endedAt" FROM players
          WHERE sessions_ended_at >= ${
          from === undefined ? sql`now() - make_interval(secs => ${lookBackSeconds})` : sql`${from}`
        }
          ORDER BY sessions_ended_at LIMIT ${maxEnds}`
      )
      const latest = new Map<number, number>()
      for (const { endedAt, id } of found) {
        const at = endedAt.getTime()
        latest.set(id, at)
        if (seen.get(id) !== at) actors.renew(id, ({ sessionsEndedAt }) => (sessionsEndedAt ?? 0) < at)
      }
      seen = latest
      from = found.length === maxEnds ? found.at(-1)?.endedAt : undefined
    })

    yield* look.pipe(
      // while the database is away nothing can be committed either; the next look is a second away
      Effect.ignoreCause,
      Effect.andThen(Effect.sleep("1 second")),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
