/** Job that has players' actors record reality checks that fall due without a bet, and the end of play sessions with an open reality check. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { lookAfterSessionStep } from "../../domain/obligation/Obligations.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { ofClock } from "../../store/OperatorClocks.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Sessions looked after in one run, at most, and at the same time. */
const atMost = 500
const atOnce = 16

const rows = rowsOf(Schema.Struct({ playerId: Schema.Number }))

export class DueSessions extends Context.Service<DueSessions, {
  /** Idempotent, also with several processes at once. Processes a bounded number; `hasMore` is true when the bound was reached. */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/position/DueSessions") {
  static readonly layer = Layer.effect(
    DueSessions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const lookAfter = (yield* RemoteCommands).define({
        name: "session.due",
        payload: Schema.Null,
        run: (playerId) => Effect.asVoid(actors.ask(null, playerId, lookAfterSessionStep))
      })
      const run = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const own = yield* ofClock(sql)
        const found = yield* rows(
          sql`SELECT player_id::float8 AS "playerId" FROM accounts WHERE session_due_at <= ${toDate(now)} AND ${own}
            ORDER BY session_due_at LIMIT ${atMost}`
        )
        const done = yield* countDone(found, ({ playerId }) => lookAfter(playerId, null), { concurrency: atOnce })
        // a bound that was met without anything done would be met again at once, and again
        return { done, hasMore: done > 0 && found.length >= atMost }
      }).pipe(orTryAgain, Effect.withSpan("DueSessions.run"))
      return DueSessions.of({ run })
    })
  )
}
