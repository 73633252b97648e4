/** Alerts on their way into the database, each occurrence once in each degree, with the event that tells the operator. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers, texts } from "../../../platform/ArrayParameters.ts"
import { alertStatuses, type Finding, severities } from "../../../domain/compliance/AlertRules.ts"
import { Ids } from "../../../platform/Ids.ts"
import { iso, toDate } from "../../../platform/Time.ts"
import { Outbox } from "../../../store/Outbox.ts"
import { oneOf, rowsOf } from "../../../store/Rows.ts"

const earlierRows = rowsOf(Schema.Struct({
  occurrence: Schema.String,
  status: Schema.Literals(alertStatuses),
  severity: Schema.Literals(severities)
}))
const raisedRows = rowsOf(Schema.Struct({ id: Schema.Number }))

const knownRows = rowsOf(Schema.Struct({ index: Schema.Number }))

/** A finding about a player of an operator. */
interface Found {
  readonly subject: { readonly operatorId: number; readonly playerId: number }
  readonly finding: Finding
}

/** What is added to an occurrence for what is worse than all that staff have seen of it. */
const again = (degree: string): string => `, again ${degree}`
const degrees = severities.map(again)

const ranks = `ARRAY[${severities.map((severity) => `'${severity}'`).join(", ")}]`

export const makeAlertStore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Ids
  const outbox = yield* Outbox
  const rank = (column: string) => sql.literal(`array_position(${ranks}, ${column})`)

  /**
   * Occurrence key of a finding; undefined when staff have closed an alert of this severity already. A higher severity than any closed one is a new
   * occurrence. Locks the player's alerts against concurrent changes by staff.
   */
  const occurrenceOf = Effect.fnUntraced(function*(playerId: number, { occurrence, rule, severity }: Finding) {
    const names = texts([occurrence, ...severities.map((degree) => `${occurrence}${again(degree)}`)])
    const earlier = yield* earlierRows(
      sql`SELECT occurrence, status, severity FROM compliance_alerts
        WHERE player_id = ${playerId} AND rule = ${rule} AND occurrence = ANY(${names}::text[]) FOR NO KEY UPDATE`
    )
    if (earlier.length === 0) return occurrence
    const open = earlier.find(({ status }) => status !== "closed")
    if (open !== undefined) return open.occurrence
    const seen = Math.max(...earlier.map((alert) => severities.indexOf(alert.severity)))
    return severities.indexOf(severity) > seen ? `${occurrence}${again(severity)}` : undefined
  })

  /** Raises an alert, or makes the one of the same occurrence more severe, or does nothing. Says whether it is a new one. */
  const raiseOne = Effect.fnUntraced(
    function*({ finding, subject: { operatorId, playerId } }: Found, now: number) {
      const { details, paymentId, rule, severity, stopsWithdrawals } = finding
      const occurrence = yield* occurrenceOf(playerId, finding)
      if (occurrence === undefined) return false
      const id = yield* ids.reserve(2)
      const row = yield* oneOf(raisedRows(
        sql`INSERT INTO compliance_alerts AS a (id, operator_id, player_id, rule, occurrence, severity, status,
            payment_request_id, details, hold, created_at, updated_at)
          VALUES (${id}, ${operatorId}, ${playerId}, ${rule}, ${occurrence}, ${severity}, 'open', ${paymentId},
            ${JSON.stringify(details)}, ${stopsWithdrawals ? "wanted" : "none"}, ${toDate(now)}, ${toDate(now)})
          ON CONFLICT (player_id, rule, occurrence) DO UPDATE SET severity = excluded.severity, details = excluded.details,
            payment_request_id = coalesce(excluded.payment_request_id, a.payment_request_id),
            hold = CASE WHEN a.hold = 'none' THEN excluded.hold ELSE a.hold END, updated_at = excluded.updated_at
          WHERE a.status <> 'closed' AND ${rank("excluded.severity")} > ${rank("a.severity")}
          RETURNING id`
      ))
      // an alert of the same occurrence keeps its id, so that it was there already
      if (row?.id !== id) return false
      yield* outbox.insert({
        id: id + 1,
        operatorId,
        playerId,
        type: "compliance.alert_created",
        data: { alert: { id, rule, severity, status: "open", created_at: iso(now) } },
        createdAt: now
      })
      return true
    }
  )

  /**
   * Those of many findings that may be news: without those whose alert is open in this degree or a worse one, which stays as it
   * is. Of a player with a habit every payment is such a finding.
   */
  const newsOf = Effect.fnUntraced(function*(found: ReadonlyArray<Found>) {
    if (found.length === 0) return found
    const known = yield* knownRows(
      sql`SELECT u.index FROM unnest(${numbers(found.map(({ subject }) => subject.playerId))}::float8[],
          ${texts(found.map(({ finding }) => finding.rule))}::text[],
          ${texts(found.map(({ finding }) => finding.occurrence))}::text[],
          ${texts(found.map(({ finding }) => finding.severity))}::text[])
          WITH ORDINALITY AS u(player_id, rule, occurrence, severity, index)
        WHERE EXISTS (SELECT FROM compliance_alerts a
          WHERE a.player_id = u.player_id::bigint AND a.rule = u.rule
            AND a.occurrence IN (u.occurrence, ${
        sql.literal(degrees.map((degree) => `u.occurrence || '${degree}'`).join(", "))
      })
            AND a.status <> 'closed' AND ${rank("a.severity")} >= ${rank("u.severity")})`
    )
    const indices = new Set(known.map(({ index }) => index - 1))
    return found.filter((_, index) => !indices.has(index))
  })

  /** Raises alerts of findings in the transaction that is open. Gives how many of them are new. */
  const raise = Effect.fnUntraced(function*(found: ReadonlyArray<Found>, now: number) {
    let raised = 0
    for (const one of yield* newsOf(found)) if (yield* raiseOne(one, now)) raised++
    return raised
  })

  return { raise }
})
