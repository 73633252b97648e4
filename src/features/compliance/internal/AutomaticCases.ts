/** Opens cases automatically: for reviews that the jurisdiction requires, found while AML rules are evaluated, and for critical alerts. */
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type RuleSettings } from "../../../domain/compliance/AlertRules.ts"
import { netDeposits } from "../../../domain/compliance/MoneyAlerts.ts"
import { before } from "../../../domain/jurisdiction/Duration.ts"
import { movedOf } from "../../../domain/jurisdiction/Moves.ts"
import type { Rules } from "../../../domain/jurisdiction/Rules.ts"
import { limitFields } from "../../../domain/LimitFields.ts"
import { limitBit } from "../../../domain/state/Limits.ts"
import { temporarilyUnavailable } from "../../../domain/Refusal.ts"
import { numbers, texts, times } from "../../../platform/ArrayParameters.ts"
import { toDate } from "../../../platform/Time.ts"
import { ProfileBook } from "../../../store/ProfileBook.ts"
import { orTryAgain, rowsOf } from "../../../store/Rows.ts"
import { CaseOrders } from "../../cases/CaseOrders.ts"
import { Cases, type OpeningCase } from "../../cases/Cases.ts"
import type { Found } from "./AlertStore.ts"
import type { ComplianceEffect } from "./EffectQueue.ts"

/** Critical alerts that open cases in one run, at most. */
const maxCritical = 100

/** Payments of a window are looked for among those requested so long before it: a withdrawal is paid later. */
const paidWithin = "90 days"

const limitRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  limits: Schema.Record(Schema.String, Schema.Number),
  pending: Schema.Array(Schema.Struct({ field: Schema.String, value: Schema.NullOr(Schema.Number) })),
  limitsSet: Schema.Number,
  isContacted: Schema.Boolean
}))
const netRows = rowsOf(Schema.Struct({
  paymentId: Schema.Number,
  net: Schema.Number,
  at: Schema.Date,
  lastAt: Schema.NullOr(Schema.Date)
}))
const alertRows = rowsOf(Schema.Struct({ id: Schema.Number, playerId: Schema.Number }))

/** A player whom effects are about, and the rules that count for the player. */
export interface Ruled {
  readonly operatorId: number
  readonly playerId: number
  readonly jurisdiction: string
  readonly movedFrom: string | null
  readonly looserFrom: number | null
  readonly currency: string
}

const words = ({ code, moved, version }: Rules): string =>
  `${code}, version ${version}${moved === null ? "" : `, moved from ${moved.from}`}`

export const makeAutomaticCases = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const book = yield* ProfileBook
  const cases = yield* Cases
  const orders = yield* CaseOrders

  const rulesOf = ({ currency, jurisdiction: code, operatorId, ...columns }: Ruled, now: number): Rules | undefined =>
    book.rulesFor({ currency, operatorId, rules: { code, moved: movedOf(columns) } }, now)

  /** Undefined where it cannot be: staff have made an alert part of another case meanwhile. */
  const opened = (opening: OpeningCase) =>
    cases.open(opening).pipe(
      Effect.catch(({ code }) => code === "TRY_AGAIN" ? Effect.fail(temporarilyUnavailable) : Effect.undefined)
    )

  /** Opens cases `contact` about players who set a limit above what their jurisdiction names; one at a time of each player. */
  const openContacts = Effect.fnUntraced(function*(
    effects: ReadonlyArray<ComplianceEffect>,
    players: ReadonlyMap<number, Ruled>,
    now: number
  ) {
    const wanted = new Map<number, { readonly rules: Rules; fields: ReadonlyArray<string> | undefined }>()
    for (const { fields, kind, playerId } of effects) {
      const player = players.get(playerId)
      if (player === undefined || kind !== "limits" && kind !== "registration") continue
      const rules = rulesOf(player, now)
      if (rules === undefined || Object.keys(rules.limits.contact_above).length === 0) continue
      const earlier = wanted.get(playerId)
      wanted.set(playerId, {
        rules,
        fields: kind === "registration" ? earlier?.fields : [...earlier?.fields ?? [], ...fields]
      })
    }
    if (wanted.size === 0) return
    const rows = yield* limitRows(
      sql`SELECT p.id AS "playerId", p.limits, p.pending_limits AS pending, p.limits_set::float8 AS "limitsSet",
          EXISTS (SELECT FROM cases c WHERE c.player_id = p.id AND c.type = 'contact' AND c.status <> 'closed') AS "isContacted"
        FROM unnest(${numbers([...wanted.keys()])}::float8[]) AS u(id) JOIN players p ON p.id = u.id::bigint`
    )
    for (const { isContacted, limits, limitsSet, pending, playerId } of rows) {
      const { fields, rules } = wanted.get(playerId) ?? {}
      if (isContacted || rules === undefined) continue
      const above = limitFields.filter((field) => {
        const most = rules.limits.contact_above[field]
        // of a registration those that it set
        const isSet = fields === undefined ? (limitsSet & limitBit(field)) !== 0 : fields.includes(field)
        const values = [limits[field], pending.find((one) => one.field === field)?.value]
        return most !== undefined && isSet &&
          values.some((value) => value !== null && value !== undefined && value > most)
      })
      if (above.length === 0) continue
      yield* opened({
        player: playerId,
        type: "contact",
        by: "compliance",
        note: `Set above what the jurisdiction names: ${above.join(", ")} (${words(rules)}).`
      })
    }
  })

  /** Findings of the rule `net_deposits`, one of a player in the time that the jurisdiction names. */
  const findVulnerable = Effect.fnUntraced(function*(
    effects: ReadonlyArray<ComplianceEffect>,
    players: ReadonlyMap<number, Ruled>,
    settingsOf: (playerId: number) => RuleSettings,
    now: number
  ) {
    const wanted = effects.flatMap(({ at, kind, playerId, subjectId }) => {
      const player = players.get(playerId)
      const rules = player === undefined || kind !== "deposit" ? undefined : rulesOf(player, now)
      const check = rules?.vulnerability ?? null
      return player === undefined || rules === undefined || check === null || subjectId === null
        ? []
        : [{ player, rules, check, paymentId: subjectId, since: before(check.window, at) }]
    })
    if (wanted.length === 0) return []
    const rows = yield* netRows(
      sql`SELECT d.id AS "paymentId", d.created_at AS at, (SELECT max(a.created_at) FROM compliance_alerts a
            WHERE a.player_id = d.player_id AND a.rule = 'net_deposits') AS "lastAt",
          (SELECT coalesce(sum(CASE p.type WHEN 'deposit' THEN p.amount ELSE -p.amount END), 0)::float8
            FROM payment_requests p WHERE p.player_id = d.player_id AND (p.created_at, p.id) <= (d.created_at, d.id)
              AND p.created_at > u.since - ${paidWithin}::text::interval
              AND CASE p.type WHEN 'deposit' THEN NOT p.is_reversed AND p.created_at > u.since
                ELSE p.status = 'paid' AND p.paid_at > u.since AND p.paid_at <= d.created_at END) AS net
        FROM unnest(${numbers(wanted.map(({ paymentId }) => paymentId))}::float8[],
            ${times(wanted.map(({ since }) => since))}::timestamptz[]) AS u(id, since)
          JOIN payment_requests d ON d.id = u.id::bigint`
    )
    const nets = new Map(rows.map((row) => [row.paymentId, row]))
    const found = new Map<number, Found>()
    for (const { check, paymentId, player, rules } of wanted) {
      const row = nets.get(paymentId)
      if (row === undefined || found.has(player.playerId)) continue
      const finding = netDeposits(settingsOf(player.playerId), {
        payment: { id: paymentId, at: row.at.getTime() },
        net: row.net,
        lastAt: row.lastAt?.getTime() ?? null,
        check,
        currency: player.currency,
        profile: words(rules)
      })
      if (finding !== undefined) found.set(player.playerId, { subject: player, finding })
    }
    return [...found.values()]
  })

  /** Opens a case `vulnerability` for each of these findings that has become an alert, and imposes the check. */
  const openVulnerable = Effect.fnUntraced(function*(found: ReadonlyArray<Found>) {
    if (found.length === 0) return
    const alerts = yield* alertRows(
      sql`SELECT a.id, a.player_id AS "playerId"
        FROM unnest(${numbers(found.map(({ subject }) => subject.playerId))}::float8[],
            ${texts(found.map(({ finding }) => finding.occurrence))}::text[]) AS u(player_id, occurrence)
          JOIN compliance_alerts a ON a.player_id = u.player_id::bigint AND a.rule = 'net_deposits'
            AND a.occurrence = u.occurrence
        WHERE a.case_id IS NULL AND a.status <> 'closed'`
    )
    for (const { id, playerId } of alerts) {
      const made = yield* opened({
        player: playerId,
        type: "vulnerability",
        by: "compliance",
        alerts: [id],
        occurrence: `alert ${id}`
      })
      if (made === undefined) continue
      yield* orders.keep(made, "compliance", [
        { _tag: "Impose", obligation: "vulnerability_check", dueAt: null, isTold: true, text: null }
      ])
      yield* sql.afterCommit(orders.done(playerId))
    }
  })

  /** Opens cases for critical alerts of players under a jurisdiction that are part of none. */
  const openCritical = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const alerts = yield* alertRows(
      sql`SELECT a.id, a.player_id AS "playerId" FROM compliance_alerts a JOIN players p ON p.id = a.player_id
        WHERE a.severity = 'critical' AND a.status <> 'closed' AND a.case_id IS NULL
          AND (p.jurisdiction <> 'none' OR p.moved_from IS NOT NULL AND p.looser_from > ${toDate(now)})
        ORDER BY a.id LIMIT ${maxCritical}`
    )
    for (const { id, playerId } of alerts) {
      yield* opened({
        player: playerId,
        type: "aml",
        by: "compliance",
        alerts: [id],
        occurrence: `alert ${id}`
      })
    }
  }).pipe(orTryAgain)

  return { findVulnerable, openVulnerable, openContacts, openCritical }
})
