/** Reads the evidence that AML rules need, for a batch of effects at a time. Every query uses an index and is bounded. */
import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { Identity as Person } from "../../../domain/player/Identity.ts"
import { numbers, times } from "../../../platform/ArrayParameters.ts"
import { Instant } from "../../../domain/Instant.ts"
import { paymentStatuses, paymentTypes } from "../../../domain/state/Change.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import type { IdentityChange } from "../../../domain/compliance/IdentityAlerts.ts"
import type { DepositCase, DepositsExamined, PaymentFact, PlayNeeded } from "../../../domain/compliance/MoneyAlerts.ts"
import { columnsOf, rowsOf } from "../../../store/Rows.ts"
import { openNumbers } from "../../../store/SealedFields.ts"

/** Payments before one that are looked at, and lines of a player's audit log. */
const maxPayments = 500
const maxAuditLines = 200

/** Ledger entries that are added up at once, and how often for one withdrawal. */
const entriesAtOnce = 5000
const entryReads = 10

const nullableText = Schema.NullOr(Schema.String)

const subjectRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  operatorId: Schema.Number,
  jurisdiction: Schema.String,
  movedFrom: nullableText,
  looserFrom: Schema.NullOr(Instant),
  currency: Schema.String,
  /** As in `PaymentCase`. */
  factor: Schema.NullOr(Schema.Number)
}))

const Identity = Schema.Struct({
  playerId: Schema.Number,
  email: Schema.String,
  ...Person.fields,
  country: Schema.String,
  city: nullableText,
  address: nullableText,
  zipCode: nullableText,
  phone: nullableText,
  registrationIp: nullableText
})
const IdentityRow = Schema.Struct({
  ...Struct.omit(Identity.fields, ["personalId", "documentNumber"]),
  numbersSealed: Schema.NullOr(Schema.Uint8Array)
})
const identityRows = rowsOf(IdentityRow)
const identityColumns = columnsOf(IdentityRow, "p", {
  playerId: "p.id",
  birthDate: "to_char(p.birth_date, 'YYYY-MM-DD')"
})

/** A player as the rules about identity see one. */
export type Identity = typeof Identity.Type

const paymentRows = rowsOf(Schema.Struct({
  caseId: Schema.Number,
  id: Schema.Number,
  type: Schema.Literals(paymentTypes),
  status: Schema.Literals(paymentStatuses),
  amount: Schema.Number,
  isReversed: Schema.Boolean,
  at: Schema.Date
}))

const depositRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  amount: Schema.Number,
  at: Schema.Date,
  recentCount: Schema.Number,
  recentAmount: Schema.Number,
  similarCount: Schema.Number,
  similarAmount: Schema.Number
}))

const lineRows = rowsOf(Schema.Struct({
  playerId: Schema.Number,
  at: Schema.Date,
  fields: Schema.Array(Schema.String),
  isVerification: Schema.Boolean
}))

const sessionRows = rowsOf(Schema.Struct({ id: Schema.Number, ip: nullableText }))

const stakesRows = rowsOf(Schema.Struct({
  paymentId: Schema.Number,
  staked: Schema.Number,
  /** Null where there was no entry to add up. */
  first: Schema.NullOr(Schema.Number),
  firstAt: Schema.NullOr(Schema.Date)
}))

/** A withdrawal that asks for play before it. */
export interface PlayCase {
  readonly paymentId: number
  readonly playerId: number
  /** Time of the withdrawal request, epoch ms; later stakes do not count. */
  readonly until: number
  readonly needed: PlayNeeded
}

/** Identity of a player and its changes, from the audit log. */
export interface IdentityHistory {
  /** The latest first. */
  readonly changes: ReadonlyArray<IdentityChange>
  /** The first verification that is known, epoch milliseconds. */
  readonly verifiedAt: number | null
}

export const makeEvidence = Effect.map(Effect.all([SqlClient.SqlClient, PersonalData]), ([sql, personal]) => {
  const subjects = Effect.fnUntraced(function*(playerIds: ReadonlyArray<number>) {
    const rows = yield* subjectRows(
      sql`SELECT p.id AS "playerId", p.operator_id AS "operatorId", p.jurisdiction, p.moved_from AS "movedFrom",
          p.looser_from AS "looserFrom", p.currency,
          CASE WHEN p.currency = o.currency THEN 1::float8 ELSE (SELECT x.factor::float8 FROM exchange_rates x
            WHERE x.currency = p.currency AND x.base = o.currency ORDER BY x.id DESC LIMIT 1) END AS factor
        FROM unnest(${numbers(playerIds)}::float8[]) AS u(id)
        JOIN players p ON p.id = u.id::bigint JOIN operators o ON o.id = p.operator_id`
    )
    return new Map(rows.map((row) => [row.playerId, row]))
  })

  const identities = Effect.fnUntraced(function*(playerIds: ReadonlyArray<number>) {
    if (playerIds.length === 0) return new Map<number, Identity>()
    const rows = yield* identityRows(
      sql`SELECT ${sql.literal(identityColumns)}
        FROM unnest(${numbers(playerIds)}::float8[]) AS u(id) JOIN players p ON p.id = u.id::bigint`
    )
    const identities = yield* Effect.forEach(
      rows,
      ({ numbersSealed, ...row }) =>
        Effect.map(openNumbers(personal, row.playerId, numbersSealed), (numbers): Identity => ({ ...row, ...numbers }))
    )
    return new Map(identities.map((identity) => [identity.playerId, identity]))
  })

  /** Deposits by their ids, each with the sums of its player's deposits up to it. */
  const deposits = Effect.fnUntraced(function*(
    wanted: ReadonlyArray<{ readonly paymentId: number; readonly examined: DepositsExamined }>
  ) {
    if (wanted.length === 0) return new Map<number, Omit<DepositCase, "factor">>()
    const column = (value: (examined: DepositsExamined) => number) =>
      numbers(wanted.map(({ examined }) => value(examined)))
    const rows = yield* depositRows(
      sql`SELECT d.id, d.amount, d.created_at AS at, q.*
        FROM unnest(${numbers(wanted.map(({ paymentId }) => paymentId))}::float8[],
            ${column(({ recentHours }) => recentHours)}::float8[], ${
        column(({ similarHours }) => similarHours)
      }::float8[],
            ${column(({ factor }) => factor)}::float8[], ${column(({ least }) => least)}::float8[],
            ${column(({ below }) => below)}::float8[])
            AS u(id, recent_hours, similar_hours, factor, lowest, below)
          JOIN payment_requests d ON d.id = u.id::bigint
          CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE is_recent)::float8 AS "recentCount",
              coalesce(sum(amount) FILTER (WHERE is_recent), 0)::float8 AS "recentAmount",
              count(*) FILTER (WHERE is_similar)::float8 AS "similarCount",
              coalesce(sum(amount) FILTER (WHERE is_similar), 0)::float8 AS "similarAmount"
            FROM (
              SELECT p.type, p.amount,
                p.created_at > d.created_at - make_interval(secs => u.recent_hours * 3600) AS is_recent,
                p.created_at > d.created_at - make_interval(secs => u.similar_hours * 3600)
                  AND p.amount * u.factor >= u.lowest AND p.amount * u.factor < u.below AS is_similar
              FROM payment_requests p
              WHERE p.player_id = d.player_id
                AND p.created_at > d.created_at - make_interval(secs => greatest(u.recent_hours, u.similar_hours) * 3600)
                AND (p.created_at, p.id) <= (d.created_at, d.id)
              ORDER BY p.created_at DESC, p.id DESC LIMIT ${maxPayments + 1}
            ) p
            WHERE p.type = 'deposit'
          ) q`
    )
    return new Map(
      rows.map(({ amount, at, id, recentAmount, recentCount, similarAmount, similarCount }) => [id, {
        payment: { id, amount, at: at.getTime() },
        recent: { count: recentCount, amount: recentAmount },
        similar: { count: similarCount, amount: similarAmount }
      }])
    )
  })

  /** Payments by their ids, each with those of its player so many hours before it, the newest first. */
  const payments = Effect.fnUntraced(function*(
    wanted: ReadonlyArray<{ readonly paymentId: number; readonly hours: number }>
  ) {
    const cases = new Map<number, { payment: PaymentFact | undefined; before: Array<PaymentFact> }>()
    if (wanted.length === 0) return cases
    const rows = yield* paymentRows(
      sql`SELECT u.id AS "caseId", q.id, q.type, q.status, q.amount,
          q.is_reversed AS "isReversed", q.created_at AS at
        FROM unnest(${numbers(wanted.map(({ paymentId }) => paymentId))}::float8[],
            ${numbers(wanted.map(({ hours }) => hours))}::float8[]) AS u(id, hours)
          JOIN payment_requests w ON w.id = u.id::bigint
          CROSS JOIN LATERAL (
            SELECT * FROM payment_requests p
            WHERE p.player_id = w.player_id AND p.created_at > w.created_at - make_interval(secs => u.hours * 3600)
              AND (p.created_at, p.id) <= (w.created_at, w.id)
            ORDER BY p.created_at DESC, p.id DESC LIMIT ${maxPayments + 1}
          ) q
        ORDER BY u.id, q.created_at DESC, q.id DESC`
    )
    for (const { at, caseId, ...row } of rows) {
      const found = cases.get(caseId) ?? { payment: undefined, before: [] }
      cases.set(caseId, found)
      const payment = { ...row, at: at.getTime() }
      if (payment.id === caseId) found.payment = payment
      else found.before.push(payment)
    }
    return cases
  })

  /** Changes of identity and verifications of players, from their audit logs. */
  const histories = Effect.fnUntraced(function*(playerIds: ReadonlyArray<number>) {
    const found = new Map<number, IdentityHistory>()
    if (playerIds.length === 0) return found
    const rows = yield* lineRows(
      sql`SELECT u.id AS "playerId", q.at,
          CASE WHEN q.action = 'player.profile' THEN ARRAY(SELECT jsonb_object_keys(q.after)) ELSE '{}' END AS fields,
          q.action = 'player.kyc' AS "isVerification"
        FROM unnest(${numbers(playerIds)}::float8[]) AS u(id)
          CROSS JOIN LATERAL (
            SELECT l.at, l.id, l.action, l.after FROM audit_log l
            WHERE l.player_id = u.id::bigint AND (
              (l.action = 'player.profile' AND l.after ?| ARRAY['first_name', 'last_name', 'birth_date'])
              OR (l.action = 'player.kyc' AND l.after ->> 'kyc_status' = 'verified'))
            ORDER BY l.at DESC, l.id DESC LIMIT ${maxAuditLines}
          ) q
        ORDER BY u.id, q.at DESC, q.id DESC`
    )
    for (const { at, fields, isVerification, playerId } of rows) {
      const known = found.get(playerId) ?? { changes: [], verifiedAt: null }
      const time = at.getTime()
      if (isVerification) {
        found.set(playerId, { ...known, verifiedAt: time })
        continue
      }
      // one request that changes several fields writes a line for each
      const last = known.changes.at(-1)
      found.set(playerId, {
        ...known,
        changes: last?.at === time
          ? [...known.changes.slice(0, -1), { at: time, fields: [...last.fields, ...fields].sort() }]
          : [...known.changes, { at: time, fields }]
      })
    }
    return found
  })

  /** The addresses that game sessions were opened from. */
  const sessionAddresses = Effect.fnUntraced(function*(sessionIds: ReadonlyArray<number>) {
    if (sessionIds.length === 0) return new Map<number, string | null>()
    const rows = yield* sessionRows(
      sql`SELECT s.id, s.ip FROM unnest(${numbers(sessionIds)}::float8[]) AS u(id)
        JOIN game_sessions s ON s.id = u.id::bigint`
    )
    return new Map(rows.map(({ id, ip }) => [id, ip]))
  })

  /**
   * Real money staked between the first deposit and the withdrawal, net of rollbacks, by payment. Scans backwards, one query for all, each only until
   * the requirement is met.
   */
  const staked = Effect.fnUntraced(function*(withdrawals: ReadonlyArray<PlayCase>) {
    const totals = new Map(withdrawals.map(({ paymentId }) => [paymentId, 0]))
    let left = withdrawals.map((each) => ({ ...each, below: Number.MAX_SAFE_INTEGER }))
    for (let read = 0; read < entryReads && left.length > 0; read++) {
      const rows = yield* stakesRows(
        sql`SELECT u.payment_id AS "paymentId", q.staked, q.first, q.first_at AS "firstAt"
          FROM unnest(${numbers(left.map(({ paymentId }) => paymentId))}::float8[],
              ${numbers(left.map(({ playerId }) => playerId))}::float8[],
              ${numbers(left.map(({ below }) => below))}::float8[],
              ${times(left.map(({ needed }) => needed.since))}::timestamptz[],
              ${times(left.map(({ until }) => until))}::timestamptz[]) AS u(payment_id, player_id, below, since, until)
            CROSS JOIN LATERAL (
              SELECT coalesce(sum(CASE
                  WHEN e.created_at < u.since OR e.created_at > u.until OR e.wallet <> 'real' THEN 0
                  WHEN e.type = 'casino_bet' OR (e.type = 'casino_rollback' AND e.amount > 0) THEN -e.amount
                  ELSE 0 END), 0)::float8 AS staked, min(e.seq)::float8 AS first, min(e.created_at) AS first_at
              FROM (SELECT seq, wallet, type, amount, created_at FROM ledger_entries
                WHERE player_id = u.player_id::bigint AND seq < u.below::bigint
                ORDER BY seq DESC LIMIT ${entriesAtOnce}) e
            ) q`
      )
      const found = new Map(rows.map((row) => [row.paymentId, row]))
      left = left.flatMap((each) => {
        const row = found.get(each.paymentId)
        const total = (totals.get(each.paymentId) ?? 0) + (row?.staked ?? 0)
        totals.set(each.paymentId, total)
        const first = row?.first ?? 1
        const isRead = first <= 1 || (row?.firstAt?.getTime() ?? 0) < each.needed.since
        return isRead || total >= each.needed.stakes ? [] : [{ ...each, below: first }]
      })
    }
    return totals
  })

  return { subjects, identities, deposits, payments, histories, sessionAddresses, staked }
})
