/** Audit log of the back office: actor, action, record before and after; written in the change's own transaction, never updated. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import type { AuditLine } from "../../chain/Lines.ts"
import { type Refusal, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { toDate } from "../../platform/Time.ts"
import { equalTo, recordsOf } from "../../store/Records.ts"
import {
  isStorable,
  offsetOf,
  orTryAgain,
  type Page,
  type PageQuery,
  rowsOf,
  type Walk,
  walkOf,
  type WalkQuery
} from "../../store/Rows.ts"
import type { Action } from "../staff/Authorisation.ts"
import { type Scope, within } from "../staff/OperatorBounds.ts"
import { AuditLine as AuditRecord } from "./StaffApi.ts"

/** What changed. `before` and `after` hold no secrets. */
interface AuditEntry {
  readonly action: Action
  readonly operatorId?: number
  readonly playerId?: number
  /** What was changed, `kind:id`. */
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  readonly reason?: string
}

/** One change under way, inside its transaction. */
export interface ChangeUnit {
  /** An id for the one thing the change may make. */
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
  /** As the log names who acts: `staff:<id>`. */
  readonly actor?: string | undefined
  readonly action?: string | undefined
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

type AuditRecord = typeof AuditRecord.Type

/** Lines that are counted for one page. The log grows for ever. */
const maxCounted = 10_000

const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

export class AuditLog extends Context.Service<AuditLog, {
  /** Runs a change in one transaction with its line of the log: both are kept, or neither. */
  readonly change: <A, E>(
    actor: { readonly label: string },
    body: (unit: ChangeUnit) => Effect.Effect<A, E>
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">>
  /** Newest first. Counts no further than some: `total` is then a lower bound, and `more` says so. */
  readonly list: (query: AuditFilters & PageQuery) => Effect.Effect<Page<AuditRecord>, Refusal<"TRY_AGAIN">>
  /** As `list`, below the line with an id: nothing is counted. There is nothing below a line that is not there. */
  readonly walk: (query: AuditFilters & WalkQuery) => Effect.Effect<Walk<AuditRecord>, Refusal<"TRY_AGAIN">>
}>()("pitboss/audit/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const chain = yield* Chain

      const change = <A, E>(
        actor: { readonly label: string },
        body: (unit: ChangeUnit) => Effect.Effect<A, E>
      ): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">> =>
        Effect.gen(function*() {
          const id = yield* ids.reserve(2).pipe(
            Effect.tapError(({ reason }) => Effect.annotateLogs(Effect.logWarning("id allocation failed"), { reason })),
            Effect.mapError(() => temporarilyUnavailable)
          )
          const now = yield* Clock.currentTimeMillis
          const lines: Array<AuditLine> = []
          const record = (entry: AuditEntry) =>
            Effect.sync(() => {
              lines.push({
                id,
                at: now,
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

      const conditionsOf = (filters: AuditFilters): ReadonlyArray<Statement.Fragment> => [
        ...within(sql, filters.scope),
        ...equalTo(sql, {
          player_id: filters.playerId,
          actor: filters.actor,
          action: filters.action
        }),
        ...(filters.from === undefined ? [] : [sql`at >= ${toDate(filters.from)}`]),
        ...(filters.to === undefined ? [] : [sql`at <= ${toDate(filters.to)}`])
      ]

      const whereOf = (conditions: ReadonlyArray<Statement.Fragment>) =>
        conditions.length === 0 ? sql`true` : sql.and(conditions)

      const isPossible = ({ action }: AuditFilters): boolean => action === undefined || isStorable(action)

      const list = Effect.fn("AuditLog.list")(function*(query: AuditFilters & PageQuery) {
        if (!isPossible(query)) return { items: [], total: 0 }
        const where = whereOf(conditionsOf(query))
        const [found, counted] = yield* Effect.all([
          log.all(sql`${where} ORDER BY at DESC, id DESC LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`),
          counts(
            sql`SELECT count(*) AS total FROM (SELECT FROM audit_log WHERE ${where} LIMIT ${maxCounted + 1}) counted`
          )
        ], { concurrency: 2 })
        const total = counted[0]?.total ?? 0
        return { items: found, total: Math.min(total, maxCounted), more: total > maxCounted }
      }, orTryAgain)

      const walk = Effect.fn("AuditLog.walk")(function*(query: AuditFilters & WalkQuery) {
        if (!isPossible(query)) return { items: [], next: undefined }
        const { below } = query
        const conditions = [
          ...conditionsOf(query),
          ...(below === undefined
            ? []
            : [sql`(at, id) < (SELECT b.at, b.id FROM audit_log b
              WHERE ${sql.and([sql`b.id = ${below}`, ...within(sql, query.scope, "b.operator_id")])})`])
        ]
        const rows = yield* log.all(sql`${whereOf(conditions)} ORDER BY at DESC, id DESC LIMIT ${query.perPage + 1}`)
        return walkOf(rows, query, ({ id }) => id, (line) => line)
      }, orTryAgain)

      return AuditLog.of({ change, list, walk })
    })
  )
}
