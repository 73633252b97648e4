/**
 * Job that finds players with obligations (such as a limit review) that have fallen due or are new in their jurisdiction, and players with limits
 * above its caps; their actors record the obligations and lower the limits. Of who was moved lately, the jurisdiction left counts as well.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { applyRulesStep } from "../../domain/limit/CappedLimits.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { limitFields } from "../../domain/LimitFields.ts"
import { ownBits, setBits } from "../../domain/state/Limits.ts"
import type { ObligationKind } from "../../domain/state/Obligation.ts"
import { countDone, type JobResult } from "../../platform/Scheduler.ts"
import { toDate } from "../../platform/Time.ts"
import { ClockOwner, ofClock } from "../../store/OperatorClocks.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Players looked after in one run, at most, and at the same time. */
const atMost = 500
const atOnce = 16

const rows = rowsOf(Schema.Struct({ playerId: Schema.Number }))

export class DueObligations extends Context.Service<DueObligations, {
  /**
   * Writes obligations that nobody has read yet, and lowers limits to the caps. Idempotent, also with several processes at once. Processes a bounded number; `hasMore` is true when the
   * bound was reached.
   */
  readonly run: Effect.Effect<JobResult, Refusal<"TRY_AGAIN">>
}>()("pitboss/obligations/DueObligations") {
  static readonly layer = Layer.effect(
    DueObligations,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const book = yield* ProfileBook
      const actors = yield* PlayerActors
      const note = (yield* RemoteCommands).define({
        name: "obligation.due",
        payload: Schema.Null,
        run: (playerId) => Effect.asVoid(actors.ask(null, playerId, applyRulesStep))
      })
      // Kept: walks. How far the look for obligations that are due has come. Several nodes: its own: a process that takes the job over begins anew.
      /** How far the walk by each clock is: the last player of the run before. Begins anew behind the last one. */
      const walks = new Map<number | null, number>()

      const isUnwritten = (kind: ObligationKind) =>
        sql`NOT EXISTS (SELECT FROM obligations o WHERE o.player_id = p.id AND o.kind = ${kind} AND o.state = 'open')`

      /** Condition of players that have something due under the rules that count of a code; undefined where nobody can. */
      const dueUnder = (code: string, now: number): Statement.Fragment | undefined => {
        const rules = book.current(code, now)?.profile
        if (rules === undefined) return undefined
        const { limits: { caps, required }, reviews } = rules
        const isOver = (since: string, every: string | null) =>
          every === null
            ? sql`false`
            : sql`coalesce(${sql.literal(since)}, p.created_at) + ${every}::text::interval <= ${toDate(now)}`
        const conditions = [
          ...reviews.limits === null && reviews.no_limits === null ? [] : [
            sql`(CASE WHEN p.limits_set & ${ownBits}::integer <> 0 AND p.limits <> '{}'
              THEN ${isOver("p.limits_reviewed_at", reviews.limits)}
              ELSE ${isOver("p.limits_reviewed_at", reviews.no_limits)} END AND ${isUnwritten("limit_review")})`
          ],
          ...reviews.funds_notice === null ? [] : [
            sql`(${isOver("p.funds_noticed_at", reviews.funds_notice)} AND ${isUnwritten("funds_notice")})`
          ],
          // in another currency the cap is another number: the rule looks
          ...limitFields.flatMap((field) =>
            caps[field] === undefined
              ? []
              : [
                sql`((p.limits ->> ${field}::text)::float8 > ${
                  caps[field]
                }::float8 OR p.currency <> ${rules.currency} AND p.limits ? ${field}::text)`
              ]
          ),
          ...required.map((group) =>
            sql`(p.limits_set & ${setBits(group)}::integer = 0 AND ${isUnwritten("required_limits")})`
          )
        ]
        return conditions.length === 0
          ? undefined
          : sql`((p.jurisdiction = ${code} OR p.moved_from = ${code} AND p.looser_from > ${toDate(now)})
            AND ${sql.or(conditions)})`
      }

      const run = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const clock = yield* ClockOwner
        const own = yield* ofClock(sql, "p.operator_id")
        const walked = walks.get(clock) ?? 0
        const due = [...book.versions().keys()].flatMap((code) => dueUnder(code, now) ?? [])
        if (due.length === 0) return { done: 0, hasMore: false }
        const found = yield* rows(
          sql`SELECT p.id::float8 AS "playerId" FROM players p
            WHERE (p.jurisdiction <> 'none' OR p.moved_from IS NOT NULL) AND ${own} AND ${sql.or(due)}
            AND p.id > ${walked}::float8::bigint ORDER BY p.id LIMIT ${atMost}`
        )
        const done = yield* countDone(found, ({ playerId }) => note(playerId, null), { concurrency: atOnce })
        const hasMore = found.length >= atMost
        if (hasMore) walks.set(clock, found.at(-1)?.playerId ?? 0)
        else walks.delete(clock)
        return { done, hasMore }
      }).pipe(orTryAgain, Effect.withSpan("DueObligations.run"))

      return DueObligations.of({ run })
    })
  )
}
