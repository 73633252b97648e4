/** Who did what in the back office, before and after: written in the transaction of what was done, never changed. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Ids } from "../platform/Ids.ts"
import { iso, toDate } from "../platform/Time.ts"
import { offsetOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../players/Rows.ts"
import type { Action } from "./Authorisation.ts"

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
  /** Writes the change's line of the audit log; once. */
  readonly record: (entry: AuditEntry) => Effect.Effect<void, SqlError.SqlError>
}

export interface AuditQuery extends PageQuery {
  readonly operatorId?: number | undefined
  readonly playerId?: number | undefined
}

const AuditRow = Schema.Struct({
  id: Schema.Number,
  at: Schema.Date,
  actor: Schema.String,
  action: Schema.String,
  operator_id: Schema.NullOr(Schema.Number),
  player_id: Schema.NullOr(Schema.Number),
  subject: Schema.String,
  before: Schema.Unknown,
  after: Schema.Unknown,
  reason: Schema.NullOr(Schema.String)
})

const toFields = (row: typeof AuditRow.Type) => ({ ...row, at: iso(row.at.getTime()) })

/** A line of the audit log as it is shown. */
export type AuditFields = ReturnType<typeof toFields>

const auditRows = rowsOf(AuditRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

const tryAgain = refuse("TRY_AGAIN", "The service cannot write right now. Send the same request again.", {
  retry: "same_request"
})

const json = (value: unknown): string | null => value === null || value === undefined ? null : JSON.stringify(value)

export class AuditLog extends Context.Service<AuditLog, {
  /** Runs a change in one transaction with its line of the log: both are kept, or neither. */
  readonly change: <A, E>(
    actor: { readonly label: string },
    body: (unit: ChangeUnit) => Effect.Effect<A, E>
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">>
  /** Newest first. */
  readonly list: (query: AuditQuery) => Effect.Effect<Page<AuditFields>, Refusal<"TRY_AGAIN">>
}>()("pitboss/backoffice/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids

      const change = <A, E>(
        actor: { readonly label: string },
        body: (unit: ChangeUnit) => Effect.Effect<A, E>
      ): Effect.Effect<A, Exclude<E, SqlError.SqlError> | Refusal<"TRY_AGAIN">> =>
        Effect.gen(function*() {
          const id = yield* ids.reserve(2).pipe(
            Effect.tapError(({ reason }) => Effect.logWarning(`no ids: ${reason}`)),
            Effect.mapError(() => tryAgain)
          )
          const now = yield* Clock.currentTimeMillis
          const record = (entry: AuditEntry) =>
            Effect.asVoid(
              sql`INSERT INTO audit_log
                  (id, at, actor, action, operator_id, player_id, subject, before, after, reason)
                VALUES (${id}, ${toDate(now)}, ${actor.label}, ${entry.action}, ${entry.operatorId ?? null},
                  ${entry.playerId ?? null}, ${entry.subject}, ${json(entry.before)}, ${json(entry.after)},
                  ${entry.reason ?? null})`
            )
          return yield* sql.withTransaction(body({ newId: id + 1, now, record }))
        }).pipe(orTryAgain)

      const list = Effect.fn("AuditLog.list")(function*(query: AuditQuery) {
        const conditions: ReadonlyArray<Statement.Fragment> = [
          ...(query.operatorId === undefined ? [] : [sql`operator_id = ${query.operatorId}`]),
          ...(query.playerId === undefined ? [] : [sql`player_id = ${query.playerId}`])
        ]
        const from = sql`FROM audit_log WHERE ${conditions.length === 0 ? sql`true` : sql.and(conditions)}`
        const [found, counted] = yield* Effect.all([
          auditRows(sql`SELECT id::float8 AS id, at, actor, action, operator_id::float8 AS operator_id,
              player_id::float8 AS player_id, subject, before, after, reason
            ${from} ORDER BY audit_log.at DESC, audit_log.id DESC LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`),
          counts(sql`SELECT count(*)::float8 AS total ${from}`)
        ], { concurrency: 2 })
        return { items: found.map(toFields), total: counted[0]?.total ?? 0 }
      }, orTryAgain)

      return AuditLog.of({ change, list })
    })
  )
}
