/** Reads staff accounts, and handovers of credentials between them, as inputs of the four-eyes rule (`src/domain/staff/FourEyes.ts`). */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../platform/ArrayParameters.ts"
import { handoverKinds, type StaffTrust } from "../domain/staff/StaffTrust.ts"
import type { StaffFacts } from "../domain/staff/FourEyes.ts"
import { rowsOf } from "../store/Rows.ts"

/** Acting member of staff. */
export interface Spender {
  /** Null for the holder of the bootstrap token, without account and budget. */
  readonly id: number | null
  /** Audit log label of the actor: `staff:<id>`. */
  readonly label: string
}

/** Audit log label of the holder of the bootstrap token. */
export const bootstrapLabel = "staff:bootstrap"

const bootstrap: StaffFacts = { label: bootstrapLabel, isBootstrap: true, tokenIssuedAt: 0 }

/** Id of the account that a label names; null: the bootstrap token or the identity provider. */
export const accountIdOf = (label: string): number | null => {
  const id = /^staff:([1-9]\d{0,14})$/.exec(label)?.[1]
  return id === undefined ? null : Number(id)
}

/** The identity provider, as the audit log names it: it vouches for its accounts, and no member of staff acts as it. */
const providerLabel = "oidc"

/** Members of staff as judged, and what was handed over between them and all who can act as them. */
export interface StaffTrustFacts {
  readonly staff: ReadonlyMap<string, StaffFacts>
  readonly trust: StaffTrust
}

const factRows = rowsOf(Schema.Struct({
  label: Schema.String,
  tokenIssuedAt: Schema.Date,
  factorSince: Schema.NullOr(Schema.Date),
  provedAt: Schema.NullOr(Schema.Date),
  renewedAt: Schema.NullOr(Schema.Date)
}))

const handoverRows = rowsOf(Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  kind: Schema.Literals(handoverKinds),
  at: Schema.Date,
  fromProvedAt: Schema.NullOr(Schema.Date),
  fromRenewedAt: Schema.NullOr(Schema.Date)
}))

const msOf = (at: Date | null): number | null => at === null ? null : at.getTime()

export const makeStaffFacts = Effect.map(SqlClient.SqlClient, (sql) => {
  /** The labels, and every account that something leads from to one of them. */
  const reached = (labels: ReadonlyArray<string>) =>
    sql`WITH RECURSIVE reached (label, id) AS (
        SELECT label, ${idIn("label")} FROM unnest(${texts(labels)}::text[]) AS u(label)
        UNION SELECT t.issued_by, ${idIn("t.issued_by")} FROM reached r JOIN staff_tokens t ON t.staff_id = r.id
          WHERE t.issued_by <> ${providerLabel}
      )`
  /** Id of the account that a label names; null: none. */
  const idIn = (column: string) =>
    sql.literal(`CASE WHEN ${column} ~ '^staff:[1-9][0-9]{0,14}$' THEN substr(${column}, 7)::bigint END`)

  /** Members of staff by label, with the trust between them. */
  return Effect.fnUntraced(function*(labels: ReadonlyArray<string>) {
    const accounts = yield* factRows(
      sql`${reached(labels)} SELECT r.label, greatest(s.token_issued_at, s.entrusted_at) AS "tokenIssuedAt",
          s.factor_since AS "factorSince", s.factor_proved_at AS "provedAt",
          (SELECT max(issued_at) FROM staff_tokens t WHERE t.staff_id = s.id AND t.kind = 'renewed') AS "renewedAt"
        FROM reached r JOIN staff s ON s.id = r.id`
    )
    const handovers = yield* handoverRows(
      sql`${reached(labels)} SELECT t.issued_by AS "from", r.label AS "to", t.kind, t.issued_at AS at,
          t.issuer_proved_at AS "fromProvedAt", t.issuer_renewed_at AS "fromRenewedAt"
        FROM reached r JOIN staff_tokens t ON t.staff_id = r.id
        WHERE t.issued_by <> r.label AND t.issued_by <> ${providerLabel} ORDER BY t.issued_at`
    )
    const staff = new Map(accounts.map(({ label, tokenIssuedAt }): readonly [string, StaffFacts] => [
      label,
      { label, isBootstrap: false, tokenIssuedAt: tokenIssuedAt.getTime() }
    ]))
    if (labels.includes(bootstrapLabel)) staff.set(bootstrapLabel, bootstrap)
    const trust: StaffTrust = {
      handovers: handovers.map(({ at, from, fromProvedAt, fromRenewedAt, kind, to }) => ({
        from,
        to,
        kind,
        at: at.getTime(),
        fromProofs: { provedAt: msOf(fromProvedAt), renewedAt: msOf(fromRenewedAt) }
      })),
      factors: new Map(accounts.map(({ factorSince, label, provedAt, renewedAt }) => [
        label,
        { since: msOf(factorSince), provedAt: msOf(provedAt), renewedAt: msOf(renewedAt) }
      ]))
    }
    return { staff, trust } satisfies StaffTrustFacts
  })
})
