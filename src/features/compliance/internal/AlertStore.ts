/** Inserts alerts, once per occurrence and severity, together with the operator's webhook event. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers, texts, times } from "../../../platform/ArrayParameters.ts"
import { alertStatuses, type Finding, severities } from "../../../domain/compliance/AlertRules.ts"
import { Ids } from "../../../platform/Ids.ts"
import { iso } from "../../../platform/Time.ts"
import { OperatorClocks } from "../../../store/OperatorClocks.ts"
import { Outbox } from "../../../store/Outbox.ts"
import { rowsOf } from "../../../store/Rows.ts"

const earlierRows = rowsOf(Schema.Struct({
  index: Schema.Number,
  occurrence: Schema.String,
  status: Schema.Literals(alertStatuses),
  severity: Schema.Literals(severities)
}))
const raisedRows = rowsOf(Schema.Struct({ id: Schema.Number }))

const knownRows = rowsOf(Schema.Struct({ index: Schema.Number }))

/** A finding about a player of an operator. */
export interface Found {
  readonly subject: { readonly operatorId: number; readonly playerId: number }
  readonly finding: Finding
}

const keyOf = ({ finding: { occurrence, rule }, subject: { playerId } }: Found): string =>
  `${playerId}\n${rule}\n${occurrence}`

const rankOf = ({ finding: { severity } }: Found): number => severities.indexOf(severity)

/** What is added to an occurrence for what is worse than all that staff have seen of it. */
const again = (degree: string): string => `, again ${degree}`

/** All names that the occurrence of `u` may have. */
const namesOfOccurrence = ["u.occurrence", ...severities.map((degree) => `u.occurrence || '${again(degree)}'`)].join(
  ", "
)

const ranks = `ARRAY[${severities.map((severity) => `'${severity}'`).join(", ")}]`

export const makeAlertStore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Ids
  const outbox = yield* Outbox
  const clocks = yield* OperatorClocks
  const names = sql.literal(namesOfOccurrence)
  const keysOf = (found: ReadonlyArray<Found>) =>
    sql`unnest(${numbers(found.map(({ subject }) => subject.playerId))}::float8[],
      ${texts(found.map(({ finding }) => finding.rule))}::text[],
      ${texts(found.map(({ finding }) => finding.occurrence))}::text[],
      ${texts(found.map(({ finding }) => finding.severity))}::text[])
      WITH ORDINALITY AS u(player_id, rule, occurrence, severity, index)`
  const rank = (column: string) => sql.literal(`array_position(${ranks}, ${column})`)

  /**
   * Occurrence key of each finding; undefined when staff have closed an alert of this severity already. A higher severity than any closed one is
   * a new occurrence. Locks the players' alerts against concurrent changes by staff.
   */
  const occurrencesOf = Effect.fnUntraced(function*(found: ReadonlyArray<Found>) {
    const rows = yield* earlierRows(
      sql`SELECT u.index, a.occurrence, a.status, a.severity FROM ${keysOf(found)}
        JOIN compliance_alerts a ON a.player_id = u.player_id::bigint AND a.rule = u.rule AND a.occurrence IN (${names})
        ORDER BY a.id FOR NO KEY UPDATE OF a`
    )
    return found.map(({ finding: { occurrence, severity } }, at) => {
      const earlier = rows.filter(({ index }) => index === at + 1)
      if (earlier.length === 0) return occurrence
      const open = earlier.find(({ status }) => status !== "closed")
      if (open !== undefined) return open.occurrence
      const seen = Math.max(...earlier.map((alert) => severities.indexOf(alert.severity)))
      return severities.indexOf(severity) > seen ? `${occurrence}${again(severity)}` : undefined
    })
  })

  /** For findings of different occurrences: raises an alert, or makes the one of the same occurrence more severe. Gives how many are new. */
  const raiseTogether = Effect.fnUntraced(function*(found: ReadonlyArray<Found>, now: number) {
    const occurrences = yield* occurrencesOf(found)
    const firstId = yield* ids.reserve(2 * found.length)
    const wanted = found.flatMap(({ finding, subject }, index) => {
      const occurrence = occurrences[index]
      return occurrence === undefined ? [] : [{ ...finding, ...subject, occurrence, id: firstId + 2 * index }]
    })
    if (wanted.length === 0) return 0
    const rows = yield* raisedRows(
      sql`INSERT INTO compliance_alerts AS a (id, operator_id, player_id, rule, occurrence, severity, status,
          payment_request_id, details, hold, created_at, updated_at)
        SELECT u.id::bigint, u.operator_id::bigint, u.player_id::bigint, u.rule, u.occurrence, u.severity, 'open',
          u.payment::bigint, u.details::jsonb, u.hold, u.at, u.at
        FROM unnest(${numbers(wanted.map(({ id }) => id))}::float8[],
            ${numbers(wanted.map(({ operatorId }) => operatorId))}::float8[],
            ${numbers(wanted.map(({ playerId }) => playerId))}::float8[],
            ${texts(wanted.map(({ rule }) => rule))}::text[],
            ${texts(wanted.map(({ occurrence }) => occurrence))}::text[],
            ${texts(wanted.map(({ severity }) => severity))}::text[],
            ${numbers(wanted.map(({ paymentId }) => paymentId))}::float8[],
            ${texts(wanted.map(({ details }) => JSON.stringify(details)))}::text[],
            ${texts(wanted.map(({ stopsWithdrawals }) => stopsWithdrawals ? "wanted" : "none"))}::text[],
            ${times(wanted.map(({ operatorId }) => clocks.at(operatorId, now)))}::timestamptz[])
          AS u(id, operator_id, player_id, rule, occurrence, severity, payment, details, hold, at)
        ON CONFLICT (player_id, rule, occurrence) DO UPDATE SET severity = excluded.severity, details = excluded.details,
          payment_request_id = coalesce(excluded.payment_request_id, a.payment_request_id),
          hold = CASE WHEN a.hold = 'none' THEN excluded.hold ELSE a.hold END, updated_at = excluded.updated_at
        WHERE a.status <> 'closed' AND ${rank("excluded.severity")} > ${rank("a.severity")}
        RETURNING id`
    )
    const written = new Set(rows.map(({ id }) => id))
    // an alert of the same occurrence keeps its id, so that it was there already
    const raised = wanted.filter(({ id }) => written.has(id))
    yield* outbox.insert(raised.map(({ id, operatorId, playerId, rule, severity }) => ({
      id: id + 1,
      operatorId,
      playerId,
      type: "compliance.alert_created" as const,
      data: { alert: { id, rule, severity, status: "open", created_at: iso(clocks.at(operatorId, now)) } },
      createdAt: clocks.at(operatorId, now)
    })))
    return raised.length
  })

  /**
   * Those of many findings that may be news: without those whose alert is open in this degree or a worse one, which stays as it
   * is. Of a player with a habit every payment is such a finding.
   */
  const newsOf = Effect.fnUntraced(function*(found: ReadonlyArray<Found>) {
    const known = yield* knownRows(
      sql`SELECT u.index FROM ${keysOf(found)}
        WHERE EXISTS (SELECT FROM compliance_alerts a
          WHERE a.player_id = u.player_id::bigint AND a.rule = u.rule AND a.occurrence IN (${names})
            AND a.status <> 'closed' AND ${rank("a.severity")} >= ${rank("u.severity")})`
    )
    const indices = new Set(known.map(({ index }) => index - 1))
    return found.filter((_, index) => !indices.has(index))
  })

  /** Raises alerts of findings in the transaction that is open. Gives how many of them are new. */
  const raise = Effect.fnUntraced(function*(found: ReadonlyArray<Found>, now: number) {
    let raised = 0
    // a repeated occurrence waits for the next turn: it is news only when it is worse
    for (let left = found; left.length > 0;) {
      const news = yield* newsOf(left)
      if (news.length === 0) return raised
      const firsts = new Map<string, Found>()
      for (const one of news) if (!firsts.has(keyOf(one))) firsts.set(keyOf(one), one)
      raised += yield* raiseTogether([...firsts.values()], now)
      left = news.filter((one) => {
        const first = firsts.get(keyOf(one))
        return first !== undefined && rankOf(one) > rankOf(first)
      })
    }
    return raised
  })

  return { raise }
})
