/** Job that applies due account changes (limit raises, ended exclusions, expired documents), each in the player's actor. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import { applyDueChanges, exclusionRetentionMs } from "../../domain/limit/DueChanges.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { ofClock } from "../../store/OperatorClocks.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Accounts of one kind looked after in one run, at most. */
const maxDue = 500

/** Accounts looked after at the same time. */
const atOnce = 16

const dueRows = rowsOf(Schema.Struct({ playerId: Schema.Number }))

/** Accounts with a due limit raise, one that can be confirmed from now on, ended exclusion or expired document. */
export class DueAccounts extends Context.Service<DueAccounts, {
  /** Bounded for each kind. */
  readonly find: (now: number) => Effect.Effect<ReadonlyArray<{ readonly playerId: number }>, SqlError.SqlError>
}>()("pitboss/players/DueAccounts") {
  static readonly layer = Layer.effect(
    DueAccounts,
    Effect.map(SqlClient.SqlClient, (sql) => {
      // a raise that has to be confirmed is due when it can be, and when it is not; the names are the domain's own
      const find = Effect.fnUntraced(function*(now: number) {
        const own = yield* ofClock(sql)
        return yield* dueRows(
          sql`(SELECT id AS "playerId" FROM players
              WHERE pending_limits <> '[]' AND ${own} AND EXISTS (SELECT FROM jsonb_array_elements(pending_limits) AS change
                WHERE coalesce(change ->> 'confirmUntil', change ->> 'effectiveAt')::float8 <= ${now}::float8
                  OR change ? 'confirmUntil' AND NOT change ? 'isAnnounced' AND (change ->> 'effectiveAt')::float8 <= ${now}::float8)
              LIMIT ${maxDue})
            UNION (SELECT id::float8 FROM players WHERE exclusion_over_at IS NOT NULL AND ${own}
              AND exclusion_over_at <= ${toDate(now - exclusionRetentionMs)} ORDER BY exclusion_over_at LIMIT ${maxDue})
            UNION (SELECT id::float8 FROM players WHERE kyc_status = 'verified' AND ${own} AND document_expires_at <= ${
            toDate(now)
          }
              ORDER BY document_expires_at LIMIT ${maxDue})`
        )
      })
      return DueAccounts.of({ find })
    })
  )
}

export class DueAccountChanges extends Context.Service<DueAccountChanges, {
  /**
   * Applies due limit raises, ended exclusions and expired documents. Idempotent, also with several processes at once. Processes a bounded number;
   * `hasMore` is true when the bound was reached.
   */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/players/DueAccountChanges") {
  static readonly layerWithoutRepository = Layer.effect(
    DueAccountChanges,
    Effect.gen(function*() {
      const accounts = yield* DueAccounts
      const actors = yield* PlayerActors
      const apply = (yield* RemoteCommands).define({
        name: "account.due",
        payload: Schema.Null,
        run: (playerId) => Effect.asVoid(actors.ask(null, playerId, applyDueChanges))
      })

      const run = Effect.gen(function*() {
        const due = yield* accounts.find(yield* Clock.currentTimeMillis)
        const done = yield* countDone(due, ({ playerId }) => apply(playerId, null), { concurrency: atOnce })
        // a bound that was met without anything done would be met again at once, and again
        return { done, hasMore: done > 0 && due.length >= maxDue }
      }).pipe(orTryAgain, Effect.withSpan("DueAccountChanges.run"))

      return DueAccountChanges.of({ run })
    })
  )

  static readonly layer = DueAccountChanges.layerWithoutRepository.pipe(Layer.provide(DueAccounts.layer))
}
