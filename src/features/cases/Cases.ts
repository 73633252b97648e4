/** Opens, lists and shows compliance cases about players, whether opened by staff or by the service. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Case, CaseDetails, CaseEvidence, CaseReport } from "../../contract/cases/CaseResource.ts"
import { Obligation } from "../../contract/obligations/ObligationResource.ts"
import type { listedCaseStatuses } from "../../contract/cases/StaffApi.ts"
import { caseStatuses, type CaseType, isTold } from "../../domain/case/Case.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { Ids } from "../../platform/Ids.ts"
import { iso, toDate } from "../../platform/Time.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { listOf, newestFirst } from "../../store/Lists.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { Outbox } from "../../store/Outbox.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Notes that are kept with one case. */
const maxNotes = 200

/** Alerts that are part of one case. */
export const maxAlerts = 200

export interface OpeningCase {
  readonly player: number
  /** Absent: the player's. Another one is refused as if there were no such player. */
  readonly operator?: number
  readonly type: CaseType
  /** As the audit log names who acts. */
  readonly by: string
  readonly note?: string
  /** Alerts of the player that become part of it. */
  readonly alerts?: ReadonlyArray<number>
  /** What it is about, for a case that opens by itself: the one that there is of the player and type is given, whatever its status. */
  readonly occurrence?: string
  /** Kept with the case and shown in it alone. */
  readonly details?: { readonly [name: string]: unknown }
}

/** Everything else that is shown of one case, each. */
const maxShown = 200

/** Absent means any. */
interface CaseFilters {
  readonly playerId?: number | undefined
  readonly type?: CaseType | undefined
  readonly status?: (typeof listedCaseStatuses)[number] | undefined
}

type Opened = Case & { readonly isNew: boolean }

const noPlayer = refuse("NOT_FOUND", "There is no such player.")
const noSuchAlerts = refuseFields({ alerts: ["must be open alerts of the player that are part of no case"] })
const notFound = refuse("NOT_FOUND", "There is no such case.")

const ownerRows = rowsOf(Schema.Struct({ operatorId: Schema.Number }))
const alertRows = rowsOf(Schema.Struct({ id: Schema.Number }))
const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))
const hitRows = rowsOf(Schema.Struct({ hits: CaseDetails.fields.hits }))
const noteRows = rowsOf(Schema.Struct({
  at: Schema.Date,
  by: Schema.String,
  status: Schema.Literals(caseStatuses),
  note: Schema.String
}))

export class Cases extends Context.Service<Cases, {
  /** Opens a case with its event and its line of the audit log, in a transaction of its own or within the one that is open. */
  readonly open: (
    opening: OpeningCase
  ) => Effect.Effect<Opened, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Makes open alerts of the player part of a case, in the transaction that is open. */
  readonly link: (
    found: Pick<Case, "id" | "player_id">,
    alerts: ReadonlyArray<number>,
    now: number
  ) => Effect.Effect<void, Refusal<"VALIDATION_FAILED"> | SqlError.SqlError>
  /** Ids of the alerts of a case, oldest first. */
  readonly alertsOf: (
    found: Pick<Case, "id" | "player_id">
  ) => Effect.Effect<ReadonlyArray<number>, SqlError.SqlError>
  /** Newest first. */
  readonly list: (
    scope: Scope,
    query: CaseFilters & PartQuery
  ) => Effect.Effect<Part<Case>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
  /** Adds a note to a case, in the transaction that is open. */
  readonly note: (
    found: Case,
    by: string,
    now: number,
    text: string
  ) => Effect.Effect<void, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN"> | SqlError.SqlError>
  /** Tells the operator that a case was opened or is closed, unless it must not know; in the transaction that is open. */
  readonly tell: (
    found: Pick<Case, "id" | "operator_id" | "player_id" | "type" | "status">,
    now: number
  ) => Effect.Effect<void, Refusal<"TRY_AGAIN"> | SqlError.SqlError>
  readonly show: (caseId: number) => Effect.Effect<CaseDetails, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/cases/Cases") {
  static readonly layer = Layer.effect(
    Cases,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const ids = yield* Ids
      const outbox = yield* Outbox
      const records = yield* recordsOf("cases", Case)
      const obligations = yield* recordsOf("obligations", Obligation)
      const reports = yield* recordsOf("case_reports", CaseReport)
      const evidence = yield* recordsOf("case_evidence", CaseEvidence)

      const newId = Effect.mapError(ids.reserve(1), () => temporarilyUnavailable)

      const note: Cases["Service"]["note"] = Effect.fnUntraced(function*(found, by, now, text) {
        const ofCase = sql`case_id = ${found.id}::float8::bigint AND player_id = ${found.player_id}::float8::bigint`
        const written = yield* sql`INSERT INTO case_notes (id, case_id, operator_id, player_id, at, by, status, note)
          SELECT ${yield* newId}, ${found.id}::float8::bigint, ${found.operator_id}, ${found.player_id}::float8::bigint,
            ${toDate(now)}::timestamptz, ${by}, ${found.status}, ${text}
          WHERE (SELECT count(*) FROM case_notes WHERE ${ofCase}) < ${maxNotes} RETURNING 1`
        if (written.length === 0) {
          return yield* Effect.fail(refuseFields({ note: [`is one note too many: a case has at most ${maxNotes}`] }))
        }
      })

      const tell: Cases["Service"]["tell"] = Effect.fnUntraced(function*(found, now) {
        const { id, operator_id: operatorId, player_id: playerId, status, type } = found
        if (!isTold(type)) return
        yield* outbox.insert([{
          id: yield* newId,
          operatorId,
          playerId,
          type: status === "closed" ? "compliance.case_closed" : "compliance.case_opened",
          data: { case: { id, type, status } },
          createdAt: now
        }])
      })

      const link: Cases["Service"]["link"] = Effect.fnUntraced(function*({ id, player_id: playerId }, alerts, now) {
        const linked = yield* alertRows(
          sql`UPDATE compliance_alerts SET case_id = ${id}::float8::bigint, updated_at = ${toDate(now)}
            WHERE id = ANY(${numbers(alerts)}::float8[]::bigint[]) AND player_id = ${playerId}::float8::bigint
              AND case_id IS NULL AND status <> 'closed' RETURNING id`
        )
        if (linked.length < new Set(alerts).size) return yield* Effect.fail(noSuchAlerts)
      })

      const alertsOf: Cases["Service"]["alertsOf"] = ({ id, player_id: playerId }) =>
        Effect.map(
          alertRows(
            sql`SELECT id FROM compliance_alerts WHERE case_id = ${id}::float8::bigint
              AND player_id = ${playerId}::float8::bigint ORDER BY id LIMIT ${maxAlerts}`
          ),
          (found) => found.map((alert) => alert.id)
        )

      const open = Effect.fn("Cases.open")((opening: OpeningCase) =>
        auditLog.change({ label: opening.by }, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const { alerts = [], by, details = {}, occurrence = null, player: playerId, type } = opening
            const text = opening.note?.trim() ?? ""
            const owner = yield* oneOf(ownerRows(
              sql`SELECT operator_id AS "operatorId" FROM players WHERE id = ${playerId}::float8::bigint`
            ))
            const operatorId = opening.operator ?? owner?.operatorId
            if (owner === undefined || operatorId !== owner.operatorId) return yield* Effect.fail(noPlayer)
            const made: Case = {
              id: newId,
              operator_id: operatorId,
              player_id: playerId,
              type,
              status: "open",
              decision: null,
              amount: null,
              assigned_to: null,
              opened_by: by,
              created_at: iso(now),
              updated_at: iso(now),
              closed_at: null
            }
            // another one of the same occurrence waits here for the end of this one
            const written =
              yield* sql`INSERT INTO cases (id, operator_id, player_id, type, status, opened_by, occurrence,
                details, created_at, updated_at)
              VALUES (${newId}, ${operatorId}, ${playerId}::float8::bigint, ${type}, 'open', ${by}, ${occurrence},
                ${JSON.stringify(details)}::text::jsonb, ${toDate(now)}, ${toDate(now)})
              ON CONFLICT (player_id, type, occurrence) WHERE occurrence IS NOT NULL DO NOTHING RETURNING id`
            if (written.length === 0) {
              const earlier = yield* records.find(
                sql`player_id = ${playerId}::float8::bigint AND type = ${type} AND occurrence = ${occurrence}`
              )
              return { ...(earlier ?? made), isNew: false }
            }
            if (text !== "") yield* note(made, by, now, text)
            if (alerts.length > 0) yield* link(made, alerts, now)
            yield* tell(made, now)
            yield* record({
              action: "case.open",
              operatorId,
              playerId,
              subject: `case:${newId}`,
              before: null,
              after: { type, status: "open", ...(alerts.length === 0 ? {} : { alerts }) },
              ...(text === "" ? {} : { reason: text })
            })
            return { ...made, isNew: true }
          }))
      )

      const listed = listOf<Case, CaseFilters, "newest">(sql, {
        operator: "operator_id",
        read: (where, end) => records.all(sql`${where} ${end}`),
        filters: {
          playerId: (value) => sql`player_id = ${value}::float8::bigint`,
          type: (value) => sql`type = ${value}`,
          // a literal, to match the partial index of those that wait
          status: (value) =>
            value === "closed"
              ? sql`status = 'closed'`
              : value === "waiting"
              ? sql`status <> 'closed'`
              : sql`status = ${value} AND status <> 'closed'`
        },
        orders: { newest: newestFirst("created_at", "id", ({ created_at: at }) => Date.parse(at)) }
      })

      const show = Effect.fn("Cases.show")(function*(caseId: number) {
        const found = yield* records.find(sql`id = ${caseId}::float8::bigint`)
        if (found === undefined) return yield* Effect.fail(notFound)
        const name = yield* oneOf(nameRows(
          sql`SELECT first_name || ' ' || last_name AS name FROM players WHERE id = ${found.player_id}::float8::bigint`
        ))
        const details = yield* oneOf(hitRows(
          sql`SELECT coalesce(details -> 'hits', '[]') AS hits FROM cases WHERE id = ${caseId}::float8::bigint`
        ))
        const ofCase = sql`case_id = ${caseId}::float8::bigint AND player_id = ${found.player_id}::float8::bigint`
        const notes = yield* noteRows(
          sql`SELECT at, by, status, note FROM case_notes WHERE case_id = ${caseId}::float8::bigint
            AND player_id = ${found.player_id}::float8::bigint ORDER BY id LIMIT ${maxNotes}`
        )
        return {
          ...found,
          player_name: name?.name ?? "",
          alerts: yield* alertsOf(found),
          obligations: yield* obligations.all(sql`${ofCase} ORDER BY id LIMIT ${maxShown}`),
          reports: yield* reports.all(sql`${ofCase} ORDER BY id LIMIT ${maxShown}`),
          evidence: yield* evidence.all(sql`${ofCase} ORDER BY id LIMIT ${maxShown}`),
          hits: details?.hits ?? [],
          notes: notes.map((one) => ({ ...one, at: iso(one.at.getTime()) }))
        }
      }, orTryAgain)

      return Cases.of({
        open,
        list: Effect.fn("Cases.list")((scope, query) => orTryAgain(listed.part(scope, query, "newest"))),
        show,
        link,
        alertsOf,
        note,
        tell
      })
    })
  )
}
