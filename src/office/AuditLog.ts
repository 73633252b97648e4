/** Audit log of the back office: actor, action, record before and after; written in the change's own transaction, never updated. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Chain } from "../chain/Chain.ts"
import type { AuditLine } from "../chain/Lines.ts"
import { type Refusal, temporarilyUnavailable } from "../domain/Refusal.ts"
import { Ids } from "../platform/Ids.ts"
import { inTransaction } from "../platform/InTransaction.ts"
import { toDate } from "../platform/Time.ts"
import { recordsOf } from "../store/Records.ts"
import type { Part, PartQuery } from "../store/Cursors.ts"
import { listOf, newestFirst } from "../store/Lists.ts"
import { orTryAgain } from "../store/Rows.ts"
import type { Action } from "./Authorisation.ts"
import { type Scope } from "../store/OperatorScope.ts"
import { AuditLine as AuditRecord } from "../contract/audit/StaffApi.ts"

/** Audit record. `before` and `after` hold no secrets. */
interface AuditEntry {
  readonly action: Action
  readonly operatorId?: number
  readonly playerId?: number
  /** Subject of the change, `kind:id`. */
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly reason?: string
}

/** One change under way, inside its transaction. */
export interface ChangeUnit {
  /** Id for the record that the change may create. */
  readonly newId: number
  /** Epoch milliseconds. */
  readonly now: number
  /** Sets the change's line of the audit log, once; it is written at the end of the transaction. */
  readonly record: (entry: AuditEntry) => Effect.Effect<void>
  /** As `record`, of one record of an operator or of none; the noun of the action is its kind. Gives the record as it is now. */
  readonly recordChange: <A extends { readonly id: number; readonly operator_id?: number | null }>(
    action: Action,
    before: A | null,
    after: A
  ) => Effect.Effect<A>
}

/** Absent means any. */
export interface AuditFilters {
  readonly scope: Scope
  readonly playerId?: number | undefined
  /** Actor as logged: `staff:<id>`. */
  readonly actor?: string | undefined
  readonly action?: string | undefined
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

type AuditRecord = typeof AuditRecord.Type

export class AuditLog extends Context.Service<AuditLog, {
  /** Runs a change in one transaction with its line of the log: both are kept, or neither. */
  readonly change: <A, E>(
    actor: { readonly label: string },
    body: (unit: ChangeUnit) => Effect.Effect<A, E>
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">>
  /** Newest first. A cursor is the id of the last line that was read: there is nothing below a line that is not there. */
  readonly list: (
    query: AuditFilters & PartQuery
  ) => Effect.Effect<Part<AuditRecord>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/audit/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      // the real one: that of a request is its operator's
      const clock = yield* Clock.Clock
      const chain = yield* Chain

      const change = <A, E>(
        actor: { readonly label: string },
        body: (unit: ChangeUnit) => Effect.Effect<A, E>
      ): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">> =>
        Effect.gen(function*() {
          const id = yield* ids.reserve(2).pipe(
            Effect.tapError(({ reason }) =>
              Effect.annotateLogs(Effect.logWarning("audit log id allocation failed"), { reason })
            ),
            Effect.mapError(() => temporarilyUnavailable)
          )
          const now = yield* Clock.currentTimeMillis
          const lines: Array<AuditLine> = []
          const record = (entry: AuditEntry) =>
            Effect.sync(() => {
              lines.push({
                id,
                at: clock.currentTimeMillisUnsafe(),
                actor: actor.label,
                action: entry.action,
                operatorId: entry.operatorId ?? null,
                playerId: entry.playerId ?? null,
                subject: entry.subject,
                before: entry.before,
                after: entry.after,
                reason: entry.reason ?? null
              })
            })
          const recordChange: ChangeUnit["recordChange"] = (action, before, after) =>
            Effect.as(
              record({
                action,
                ...(typeof after.operator_id === "number" ? { operatorId: after.operator_id } : {}),
                subject: `${action.split(".", 1)[0]}:${after.id}`,
                before,
                after
              }),
              after
            )
          // written last: from then on every other change of the back office waits for the end of this one
          return yield* inTransaction(sql)(
            Effect.tap(body({ newId: id + 1, now, record, recordChange }), () => chain.writeAuditLines(lines))
          )
        }).pipe(orTryAgain)

      const log = yield* recordsOf("audit_log", AuditRecord)

      const listed = listOf<AuditRecord, Omit<AuditFilters, "scope">, "newest">(sql, {
        read: (where, end) => log.all(sql`${where} ${end}`),
        operator: "operator_id",
        filters: {
          playerId: (value) => sql`player_id = ${value}::float8::bigint`,
          actor: (value) => sql`actor = ${value}`,
          action: (value) => sql`action = ${value}`,
          from: (value) => sql`at >= ${toDate(value)}`,
          to: (value) => sql`at <= ${toDate(value)}`
        },
        orders: {
          newest: { ...newestFirst("at", "id", ({ at }) => Date.parse(at)), typed: { from: "audit_log" } }
        }
      })

      const list = Effect.fn("AuditLog.list")(
        ({ scope, ...query }: AuditFilters & PartQuery) => listed.part(scope, query, "newest"),
        orTryAgain
      )

      return AuditLog.of({ change, list })
    })
  )
}
