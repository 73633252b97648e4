/** Reads the current evidence for an alert: payments, related players and other alerts. Every query uses an index and is bounded. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AlertEvidence } from "../../../contract/compliance/StaffApi.ts"
import { evidenceSince, evidenceSums, isCounted } from "../../../domain/compliance/AlertEvidence.ts"
import { type AlertRule, alertRules, alertStatuses, severities } from "../../../domain/compliance/AlertRules.ts"
import { factKinds } from "../../../domain/compliance/IdentityAlerts.ts"
import { paymentStatuses, paymentTypes } from "../../../domain/state/Change.ts"
import { kycStatuses, playerStatuses } from "../../../domain/state/Player.ts"
import { numbers } from "../../../platform/ArrayParameters.ts"
import { iso, toDate } from "../../../platform/Time.ts"
import { oneOf, rowsOf } from "../../../store/Rows.ts"
import { makeRuleBook } from "../RuleBook.ts"

/** Payments that are added up, as many as the rules look at; of those so many are shown. */
const maxPayments = 500
const shownPayments = 50

/** Facts of the player that are compared, players who share them, and alerts of each. */
const maxFacts = 200
const maxRelated = 20
const maxAlerts = 20

const subjects = rowsOf(Schema.Struct({
  id: Schema.Number,
  name: Schema.String,
  username: Schema.String,
  status: Schema.Literals(playerStatuses),
  kyc_status: Schema.Literals(kycStatuses),
  risk_level: Schema.String,
  country: Schema.String,
  currency: Schema.String,
  balance: Schema.Number,
  registeredAt: Schema.Date,
  lastLoginAt: Schema.NullOr(Schema.Date),
  raisedAt: Schema.Date,
  factor: Schema.NullOr(Schema.Number)
}))

const paymentRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  type: Schema.Literals(paymentTypes),
  status: Schema.Literals(paymentStatuses),
  amount: Schema.Number,
  currency: Schema.String,
  paymentMethod: Schema.NullOr(Schema.String),
  isReversed: Schema.Boolean,
  createdAt: Schema.Date
}))

const relatedRows = rowsOf(Schema.Struct({
  player_id: Schema.Number,
  player_name: Schema.String,
  shares: Schema.Array(Schema.Literals(factKinds))
}))

const alertRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  player_id: Schema.Number,
  player_name: Schema.String,
  rule: Schema.Literals(alertRules),
  severity: Schema.Literals(severities),
  status: Schema.Literals(alertStatuses),
  createdAt: Schema.Date
}))

interface Alert {
  readonly id: number
  readonly operator_id: number
  readonly player_id: number
  readonly rule: AlertRule
}

export const makeAlertEvidence = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const book = yield* makeRuleBook

  const related = (alert: Alert) =>
    relatedRows(
      sql`SELECT s.player_id, p.first_name || ' ' || p.last_name AS player_name, s.shares
        FROM (SELECT o.player_id, array_agg(DISTINCT o.kind) AS shares
          FROM (SELECT operator_id, kind, digest, player_id FROM player_facts
              WHERE player_id = ${alert.player_id}::float8::bigint LIMIT ${maxFacts}) mine
            CROSS JOIN LATERAL (SELECT f.player_id, f.kind FROM player_facts f
              WHERE f.operator_id = mine.operator_id AND f.kind = mine.kind AND f.digest = mine.digest
                AND f.player_id <> mine.player_id
              ORDER BY f.player_id DESC LIMIT ${maxRelated}) o
          GROUP BY o.player_id) s
        JOIN players p ON p.id = s.player_id AND p.operator_id = ${alert.operator_id}
        ORDER BY cardinality(s.shares) DESC, s.player_id DESC LIMIT ${maxRelated}`
    )

  const alertsOf = (alert: Alert, players: ReadonlyArray<number>) =>
    alertRows(
      sql`SELECT a.id, a.player_id, p.first_name || ' ' || p.last_name AS player_name, a.rule, a.severity, a.status,
          a.created_at AS "createdAt"
        FROM unnest(${numbers(players)}::float8[]) AS u(id)
          JOIN players p ON p.id = u.id::bigint AND p.operator_id = ${alert.operator_id}
          CROSS JOIN LATERAL (SELECT id, player_id, rule, severity, status, created_at FROM compliance_alerts c
            WHERE c.player_id = p.id AND c.id <> ${alert.id}::float8::bigint
            ORDER BY c.created_at DESC, c.id DESC LIMIT ${maxAlerts}) a
        ORDER BY a.created_at DESC, a.id DESC`
    )

  /** Undefined where there is no such alert. */
  return Effect.fnUntraced(function*(alert: Alert) {
    const subject = yield* oneOf(subjects(
      sql`SELECT p.id, p.first_name || ' ' || p.last_name AS name, p.username, p.status, p.kyc_status, p.risk_level,
          p.country, p.currency, b.real_balance AS balance, p.created_at AS "registeredAt",
          p.last_login_at AS "lastLoginAt", coalesce(w.created_at, a.created_at) AS "raisedAt",
          CASE WHEN p.currency = o.currency THEN 1::float8 ELSE (SELECT x.factor::float8 FROM exchange_rates x
            WHERE x.currency = p.currency AND x.base = o.currency ORDER BY x.id DESC LIMIT 1) END AS factor
        FROM compliance_alerts a JOIN operators o ON o.id = a.operator_id JOIN players p ON p.id = a.player_id
          JOIN accounts b ON b.player_id = p.id LEFT JOIN payment_requests w ON w.id = a.payment_request_id
        WHERE a.id = ${alert.id}::float8::bigint AND a.operator_id = ${alert.operator_id}`
    ))
    if (subject === undefined) return undefined
    const { factor, lastLoginAt, raisedAt, registeredAt, ...player } = subject
    const settings = (yield* book.settingsOf([alert.operator_id])).get(alert.operator_id)
    if (settings === undefined) return undefined
    const raised = raisedAt.getTime()
    const since = evidenceSince(alert.rule, settings, raised)
    const rows = yield* paymentRows(
      sql`SELECT id, type, status, amount, currency, payment_method AS "paymentMethod", is_reversed AS "isReversed",
          created_at AS "createdAt"
        FROM payment_requests WHERE player_id = ${player.id}::float8::bigint
          AND operator_id = ${alert.operator_id} AND created_at > ${toDate(since)}
        ORDER BY created_at DESC, id DESC LIMIT ${maxPayments + 1}`
    )
    const payments = rows.slice(0, maxPayments).map((payment) => ({
      ...payment,
      at: payment.createdAt.getTime(),
      isCounted: isCounted(alert.rule, settings, factor, payment)
    }))
    const others = yield* related(alert)
    const sharesOf = new Map(others.map(({ player_id: id, shares }) => [id, shares]))
    const alerts = yield* alertsOf(alert, [player.id, ...sharesOf.keys()])
    return {
      player: {
        ...player,
        registered_at: iso(registeredAt.getTime()),
        last_login_at: lastLoginAt === null ? null : iso(lastLoginAt.getTime())
      },
      since: iso(since),
      figures: evidenceSums(alert.rule, payments, raised),
      is_lower_bound: rows.length > maxPayments,
      payments: payments.slice(0, shownPayments).map((
        { amount, at, currency, id, isCounted, paymentMethod, status, type }
      ) => ({
        id,
        type,
        status,
        amount,
        currency,
        payment_method: paymentMethod,
        created_at: iso(at),
        is_counted: isCounted,
        is_later: at > raised
      })),
      alerts: alerts.map(({ createdAt, ...other }) => ({
        ...other,
        created_at: iso(createdAt.getTime()),
        shares: sharesOf.get(other.player_id) ?? []
      })),
      related: others
    } satisfies typeof AlertEvidence.Type
  })
})
