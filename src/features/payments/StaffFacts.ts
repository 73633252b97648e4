/** Staff members in the four-eyes rule (`src/domain/wallet/FourEyes.ts`). */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import type { StaffFacts } from "../../domain/wallet/FourEyes.ts"
import { toDate } from "../../platform/Time.ts"
import { rowsOf } from "../../store/Rows.ts"

/** Acting member of staff. */
export interface Spender {
  /** Null for the holder of the bootstrap token, without account and budget. */
  readonly id: number | null
  /** Audit log label of the actor: `staff:<id>`. */
  readonly label: string
}

/** Audit log label of the holder of the bootstrap token. */
export const bootstrapLabel = "staff:bootstrap"

const bootstrap: StaffFacts = {
  label: bootstrapLabel,
  isBootstrap: true,
  tokenIssuedAt: 0,
  tokenIssuedBy: null,
  createdBy: null
}

const factRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  createdBy: Schema.NullOr(Schema.String),
  tokenIssuedAt: Schema.Date,
  tokenIssuedBy: Schema.NullOr(Schema.String)
}))

export const makeStaffFacts = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    // access handed over by another person (`entrusted_at`) counts as a token issued at that time
    /** Staff by label, with the issuer of the token that was valid at `requestedAt` (epoch milliseconds). */
    Effect.fnUntraced(function*(labels: ReadonlyArray<string>, requestedAt: number) {
      const named = labels.flatMap((label) => /^staff:([1-9]\d{0,14})$/.exec(label)?.[1] ?? []).map(Number)
      const ids = numbers(named)
      const rows = named.length === 0 ? [] : yield* factRows(
        sql`SELECT s.id, s.created_by AS "createdBy",
          greatest(s.token_issued_at, s.entrusted_at) AS "tokenIssuedAt",
          t.issued_by AS "tokenIssuedBy"
        FROM unnest(${ids}::float8[]) AS u(id) JOIN staff s ON s.id = u.id::bigint
        LEFT JOIN LATERAL (SELECT issued_by FROM staff_tokens
          WHERE staff_id = s.id AND issued_at <= ${toDate(requestedAt)} ORDER BY issued_at DESC LIMIT 1) t ON true`
      )
      const facts = new Map<string, StaffFacts>(rows.map(({ id, tokenIssuedAt, ...row }) => {
        const label = `staff:${id}`
        return [label, { ...row, label, isBootstrap: false, tokenIssuedAt: tokenIssuedAt.getTime() }]
      }))
      if (labels.includes(bootstrapLabel)) facts.set(bootstrapLabel, bootstrap)
      return facts
    })
)
