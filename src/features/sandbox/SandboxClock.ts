/**
 * Clock of a sandbox (an operator for tests), which can be advanced to try what time brings, such as the end of an exclusion
 * (`docs/decisions/0066-sandboxes.md`). It advances from one due instant to the next, waits at each until the due work is done, and finally runs on
 * from the requested instant.
 */
import { type Cause, Clock, Context, Effect, Fiber, Layer, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { Instant } from "../../domain/Instant.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { iso, isoOrNull, toDate } from "../../platform/Time.ts"
import { ClockOwner, OperatorClocks } from "../../store/OperatorClocks.ts"
import { Outbox } from "../../store/Outbox.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { makeClockJobs } from "./ClockJobs.ts"
import { makeNextDue } from "./DueInstants.ts"

type Unavailable = Refusal<"TRY_AGAIN">

/** Longest advance of one call. */
const maxAdvanceMs = 400 * 86_400_000

/** How far a clock may be ahead of real time. */
const maxAheadMs = 10 * 365 * 86_400_000

/** How long a call waits for its advance; it goes on without the call. */
const waitMs = 20_000

/** A process that advances a clock says so this often; another one goes on for one that does not. */
const leaseMs = 15_000

/** Runs of a job at one instant, at most. */
const maxRuns = 200

export interface ClockState {
  readonly now: string
  readonly advancing: boolean
  readonly target: string | null
}

const ClockRow = Schema.Struct({
  offsetMs: Schema.Number,
  heldAt: Schema.NullOr(Instant),
  target: Schema.NullOr(Instant)
})

const clockRows = rowsOf(ClockRow)
const takenRows = rowsOf(Schema.Struct({ operatorId: Schema.Number }))

const isAdvancing = refuse(
  "INVALID_REQUEST",
  "The sandbox clock is already being advanced. Read it until it has reached its target."
)

export class SandboxClock extends Context.Service<SandboxClock, {
  readonly show: (operatorId: number) => Effect.Effect<ClockState, Unavailable>
  /** Advances the clock of an operator; gives it when all is done that falls due on the way, or after a while. */
  readonly advance: (
    operatorId: number,
    by: { readonly to: number | undefined; readonly seconds: number | undefined }
  ) => Effect.Effect<ClockState, Refusal<"VALIDATION_FAILED" | "INVALID_REQUEST"> | Unavailable>
  /** Job: goes on with advances whose process has ended. */
  readonly run: Effect.Effect<JobResult, Unavailable>
  /** What falls due by a job, of operators by real time and of each sandbox by its clock. */
  readonly everywhere: <E>(run: Effect.Effect<JobResult, E>) => Effect.Effect<JobResult, E>
}>()("pitboss/sandbox/SandboxClock") {
  static readonly layer = Layer.effect(
    SandboxClock,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const clocks = yield* OperatorClocks
      const outbox = yield* Outbox
      const scope = yield* Scope.Scope
      // the real one: that of a request is its operator's
      const clock = yield* Clock.Clock
      const nextDue = yield* makeNextDue
      const jobs = yield* makeClockJobs

      const byClockOf = <A, E>(operatorId: number, run: Effect.Effect<A, E>) =>
        clocks.around(operatorId)(Effect.provideService(run, ClockOwner, operatorId))

      const everywhere = <E>(run: Effect.Effect<JobResult, E>) =>
        Effect.map(
          Effect.forEach([run, ...clocks.going().map((operatorId) => byClockOf(operatorId, run))], (one) => one),
          (results) => ({
            done: results.reduce((sum, { done }) => sum + done, 0),
            hasMore: results.some(({ hasMore }) => hasMore)
          })
        )

      const find = (operatorId: number) =>
        oneOf(clockRows(
          sql`SELECT offset_ms::float8 AS "offsetMs", held_at AS "heldAt", target FROM operator_clocks
            WHERE operator_id = ${operatorId}`
        ))

      const timeOf = (row: typeof ClockRow.Type | undefined): number =>
        row?.heldAt ?? clock.currentTimeMillisUnsafe() + (row?.offsetMs ?? 0)

      const stateOf = (row: typeof ClockRow.Type | undefined): ClockState => ({
        now: iso(timeOf(row)),
        advancing: row !== undefined && row.target !== null,
        target: isoOrNull(row?.target ?? null)
      })

      const show: SandboxClock["Service"]["show"] = Effect.fn("SandboxClock.show")(
        function*(operatorId) {
          return stateOf(yield* find(operatorId))
        },
        orTryAgain
      )

      /** Deliveries wait by real time: what passes of the operator's time is taken from their pauses. */
      const shorten = (operatorId: number, passedMs: number) =>
        sql`UPDATE webhook_deliveries
          SET next_attempt_at = greatest(next_attempt_at - make_interval(secs => ${
          passedMs / 1000
        }), least(next_attempt_at, ${toDate(clock.currentTimeMillisUnsafe())}::timestamptz))
          WHERE operator_id = ${operatorId} AND status = 'pending'
            AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE operator_id = ${operatorId})`

      /** Moves the clock from one instant to the next, where it stands. False when it does not stand there any more: another process goes on with it. */
      const hold = Effect.fnUntraced(function*(operatorId: number, from: number, at: number) {
        const now = clock.currentTimeMillisUnsafe()
        const moved = yield* inTransaction(sql)(Effect.gen(function*() {
          const rows = yield* takenRows(
            sql`UPDATE operator_clocks SET held_at = ${toDate(at)},
                offset_ms = greatest(0, ${at - now}::float8::bigint), lease_until = ${toDate(now + leaseMs)}
              WHERE operator_id = ${operatorId} AND held_at = ${toDate(from)} RETURNING operator_id AS "operatorId"`
          )
          if (rows.length > 0) yield* shorten(operatorId, at - from)
          return rows.length > 0
        }))
        if (!moved) return false
        yield* clocks.announce
        outbox.announce()
        return true
      })

      /** Does what is due at the instant at which the clock stands. */
      const settle = Effect.fnUntraced(function*(operatorId: number) {
        for (const job of jobs) {
          for (let runs = 0; runs < maxRuns; runs++) {
            const { hasMore } = yield* byClockOf(operatorId, job.run)
            if (!hasMore) break
          }
        }
      })

      /** Goes on from wherever the clock stands, to its target. */
      const goOn = Effect.fn("SandboxClock.goOn")(function*(operatorId: number) {
        // what has not been done yet of what was due before
        yield* settle(operatorId)
        for (;;) {
          const row = yield* find(operatorId)
          if (row === undefined || row.target === null || row.heldAt === null) return
          const due = yield* nextDue(operatorId, row.heldAt, row.target)
          const at = due ?? row.target
          if (!(yield* hold(operatorId, row.heldAt, at))) continue
          yield* settle(operatorId)
          if (at < row.target) continue
          yield* sql`UPDATE operator_clocks SET target = NULL, held_at = NULL, lease_until = NULL,
              offset_ms = greatest(0, ${row.target - clock.currentTimeMillisUnsafe()}::float8::bigint)
            WHERE operator_id = ${operatorId} AND held_at = ${toDate(at)} AND target = held_at`
          yield* clocks.announce
          return
        }
      })

      /** The job goes on with it. */
      const notAdvanced = (operatorId: number) => (cause: Cause.Cause<unknown>) =>
        Effect.annotateLogs(Effect.logWarning("sandbox clock could not be advanced", cause), {
          operator_id: operatorId
        })

      const targetOf = Effect.fnUntraced(function*(
        now: number,
        { seconds, to }: { readonly to: number | undefined; readonly seconds: number | undefined }
      ) {
        if ((to === undefined) === (seconds === undefined)) {
          const one = ["exactly one of to and seconds must be sent"]
          return yield* Effect.fail(refuseFields(to === undefined ? { to: one } : { to: one, seconds: one }))
        }
        const target = to ?? now + 1000 * (seconds ?? 0)
        const field = to === undefined ? "seconds" : "to"
        if (target <= now) return yield* Effect.fail(refuseFields({ [field]: ["must be later than the clock"] }))
        if (target - now > maxAdvanceMs) {
          return yield* Effect.fail(refuseFields({ [field]: ["must not be more than 400 days later than the clock"] }))
        }
        if (target - clock.currentTimeMillisUnsafe() > maxAheadMs) {
          return yield* Effect.fail(
            refuseFields({ [field]: ["must not be more than 3650 days later than the real time"] })
          )
        }
        return target
      })

      const advance: SandboxClock["Service"]["advance"] = Effect.fn("SandboxClock.advance")(
        function*(operatorId, by) {
          const before = yield* find(operatorId)
          const now = timeOf(before)
          const target = yield* targetOf(now, by)
          const realNow = clock.currentTimeMillisUnsafe()
          // not from where the clock was before another advance or, in a successor, before a reset, which this waits for
          const taken = yield* takenRows(
            sql`INSERT INTO operator_clocks AS c (operator_id, offset_ms, held_at, target, lease_until)
              SELECT id, ${Math.max(0, now - realNow)}::float8::bigint, ${toDate(now)}::timestamptz,
                ${toDate(target)}::timestamptz, ${toDate(realNow + leaseMs)}::timestamptz
              FROM operators WHERE id = ${operatorId} AND archived_at IS NULL FOR SHARE
              ON CONFLICT (operator_id) DO UPDATE SET held_at = excluded.held_at, target = excluded.target,
                lease_until = excluded.lease_until
                WHERE c.target IS NULL AND c.offset_ms = ${before?.offsetMs ?? 0}::float8::bigint
              RETURNING operator_id AS "operatorId"`
          )
          if (taken.length === 0) {
            const other = yield* find(operatorId)
            return yield* Effect.fail((other?.target ?? null) === null ? temporarilyUnavailable : isAdvancing)
          }
          const going = yield* Effect.forkIn(Effect.catchCause(goOn(operatorId), notAdvanced(operatorId)), scope)
          yield* Effect.timeoutOption(Fiber.join(going), waitMs)
          return stateOf(yield* find(operatorId))
        },
        orTryAgain
      )

      const run = Effect.gen(function*() {
        const now = clock.currentTimeMillisUnsafe()
        const left = yield* takenRows(
          sql`UPDATE operator_clocks SET lease_until = ${toDate(now + leaseMs)}
            WHERE target IS NOT NULL AND lease_until <= ${toDate(now)} RETURNING operator_id AS "operatorId"`
        )
        yield* Effect.forEach(left, ({ operatorId }) => goOn(operatorId), { discard: true })
        return { done: left.length, hasMore: false }
      }).pipe(orTryAgain, Effect.withSpan("SandboxClock.run"))

      return SandboxClock.of({ show, advance, run, everywhere })
    })
  )
}
