/**
 * Scheduled vendor calls: catalogue synchronisation and daily reconciliation. One at a time in a process, and one per provider across processes: its
 * row is rescheduled when the call begins. The scheduler's job starts them without waiting, since a call may outlast it.
 */
import { Clock, Context, Effect, Exit, Layer, Metric, Schema, Scope, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { Refusal } from "../../domain/Refusal.ts"
import { toDate, utcDay } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { CatalogueSync } from "./CatalogueSync.ts"
import { makeProviderSettings, ownProtocol } from "../integrations/ProviderSettings.ts"
import { Reconciliation } from "./Reconciliation.ts"

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A task that a process took and did not end is due again after this. */
const leaseMs = 2 * hourMs

/** A day is compared when the vendor has had so long to complete it. */
const settlingMs = 3 * hourMs

/** Actor in the audit log. */
const actor = { label: "system:vendor-tasks" }

const dueRows = rowsOf(Schema.Struct({
  providerId: Schema.Number,
  kind: Schema.Literals(["sync", "reconcile"]),
  syncHours: Schema.Number
}))

type DueTask = Effect.Success<ReturnType<typeof dueRows>>[number]

const tasksTotal = Metric.counter("vendor_tasks_total", {
  description: "Catalogues read and days compared at vendors without being asked for, by kind and result",
  incremental: true
})
const differences = Metric.gauge("provider_differences", {
  description:
    "Transactions or rounds of the last compared day that differ from the vendor's or were not understood, by provider"
})

/** Whether a refusal means that the protocol does not support the call. */
const isIdle = ({ details }: Refusal): boolean =>
  details["reason"] === "no_catalogue" || details["reason"] === "no_feed"

export class VendorTasks extends Context.Service<VendorTasks, {
  /** Runs due calls sequentially; returns their number. */
  readonly runDue: Effect.Effect<number, Refusal<"TRY_AGAIN">>
  /** Begins {@link runDue} and does not wait for it, unless it is under way. */
  readonly start: Effect.Effect<{ readonly done: number; readonly hasMore: boolean }>
}>()("pitboss/providers/VendorTasks") {
  static readonly layer = Layer.effect(
    VendorTasks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const catalogues = yield* CatalogueSync
      const reconciliation = yield* Reconciliation
      const { names } = yield* makeProviderSettings
      const scope = yield* Scope.Scope
      // Kept: semaphore. One run of vendor tasks at a time. Several nodes: its own; every task is leased in the database.
      const semaphore = yield* Semaphore.make(1)
      const protocols = JSON.stringify(names.filter((name) => name !== ownProtocol))

      /** The first task due, taken for as long as it may take. A new provider has its first one when its time has passed once. */
      const take = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        return yield* oneOf(dueRows(
          sql`INSERT INTO vendor_tasks AS e (provider_id, kind, next_at)
            SELECT w.id, w.kind, ${toDate(now + leaseMs)} FROM (
              SELECT p.id, k.kind, coalesce(d.next_at,
                  p.created_at + CASE k.kind WHEN 'sync' THEN p.sync_hours ELSE 24 END * interval '1 hour') AS due_at
              FROM providers p CROSS JOIN (VALUES ('sync'), ('reconcile')) AS k (kind)
              LEFT JOIN vendor_tasks d ON d.provider_id = p.id AND d.kind = k.kind
              WHERE p.active AND p.protocol IN (SELECT jsonb_array_elements_text(${protocols}::text::jsonb))
                AND (k.kind = 'reconcile' OR p.sync_hours > 0)
            ) w WHERE w.due_at <= ${toDate(now)} ORDER BY w.due_at LIMIT 1
            ON CONFLICT (provider_id, kind) DO UPDATE SET next_at = excluded.next_at WHERE e.next_at <= ${toDate(now)}
            RETURNING provider_id AS "providerId", kind,
              (SELECT sync_hours FROM providers WHERE id = provider_id) AS "syncHours"`
        ))
      })

      const compare = Effect.fnUntraced(function*(providerId: number) {
        const now = yield* Clock.currentTimeMillis
        const date = utcDay(now - dayMs)
        const { totals } = yield* reconciliation.reconcile(providerId, date, now)
        const found = totals.only_vendor + totals.only_here + totals.different + totals.not_understood
        yield* Metric.update(Metric.withAttributes(differences, { provider_id: String(providerId) }), found)
        if (found > 0) {
          yield* Effect.annotateLogs(Effect.logWarning("vendor feed differs from the ledger"), {
            provider_id: providerId,
            date,
            ...totals
          })
        }
      })

      /** Next due time after a success. */
      const nextOf = ({ kind, syncHours }: DueTask, now: number): number =>
        kind === "sync" ? now + syncHours * hourMs : Math.floor(now / dayMs) * dayMs + dayMs + settlingMs

      const run = Effect.fnUntraced(function*(due: DueTask) {
        const { kind, providerId } = due
        const exit = yield* Effect.exit(
          kind === "sync" ? catalogues.sync(actor, providerId, false) : compare(providerId)
        )
        const now = yield* Clock.currentTimeMillis
        const failure = Exit.findErrorOption(exit)
        const refusal = failure._tag === "Some" ? failure.value : undefined
        const isSuccess = Exit.isSuccess(exit) || (refusal !== undefined && isIdle(refusal))
        yield* Metric.update(Metric.withAttributes(tasksTotal, { kind, result: isSuccess ? "ok" : "failed" }), 1)
        if (!isSuccess) {
          yield* Effect.annotateLogs(
            refusal === undefined
              ? Effect.logError("vendor task interrupted", Exit.isFailure(exit) ? exit.cause : undefined)
              : Effect.logWarning("vendor task failed"),
            { provider_id: providerId, kind, reason: refusal?.message ?? null, ...refusal?.details }
          )
        }
        yield* sql`UPDATE vendor_tasks SET next_at = ${toDate(isSuccess ? nextOf(due, now) : now + hourMs)}
          WHERE provider_id = ${providerId} AND kind = ${kind}`
      })

      const runAll = Effect.gen(function*() {
        let done = 0
        for (;;) {
          const due = yield* take
          if (due === undefined) return done
          yield* run(due)
          done++
        }
      })

      const runDue = orTryAgain(semaphore.withPermits(1)(runAll)).pipe(Effect.withSpan("VendorTasks.runDue"))

      const start = Effect.as(
        Effect.forkIn(Effect.ignoreCause(semaphore.withPermitsIfAvailable(1)(runAll)), scope),
        { done: 0, hasMore: false }
      )

      return VendorTasks.of({ runDue, start })
    })
  )
}
