/**
 * One list of all credentials and sessions of a staff account, by which every change by another person (a new token, a deactivation and the like)
 * revokes them, so that none outlives the token that created it (`docs/decisions/0047-staff-sessions.md`).
 */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** What a change by another person ends. */
export interface Ending {
  readonly staffId: number
  /** `all`: sessions and unused links of every origin as well; `of_token`: what goes back to the account's bearer token. */
  readonly scope: "all" | "of_token"
  /** Session that goes on. */
  readonly but?: number | undefined
}

interface WayIn {
  /** Columns that let somebody in, as `table.column`. */
  readonly columns: ReadonlyArray<string>
  /** Ends it; undefined where the change itself replaces it, or no token can make it. */
  readonly end?: (sql: SqlClient.SqlClient, ending: Ending & { readonly label: string }) => Statement.Statement<unknown>
}

/** Every way in. A column of the staff tables that is neither here nor known to be none fails a test. */
export const waysIn: ReadonlyArray<WayIn> = [
  // replaced by a rotation, and without effect while the account is switched off
  { columns: ["staff.token_hash"] },
  // written by the identity provider's own sign-in alone
  { columns: ["staff.oidc_subject"] },
  {
    columns: ["staff_sessions.token_hash"],
    end: (sql, { but = 0, label, scope, staffId }) =>
      sql`DELETE FROM staff_sessions WHERE id <> ${but}
        AND (of_token = ${label} OR (${scope === "all"} AND staff_id = ${staffId}))`
  },
  {
    columns: ["staff_tickets.token_hash"],
    end: (sql, { label, scope, staffId }) =>
      sql`DELETE FROM staff_tickets WHERE used_at IS NULL
        AND (of_token = ${label} OR (${scope === "all"} AND staff_id = ${staffId}))`
  },
  {
    columns: ["staff.password_hash"],
    end: (sql, { staffId }) =>
      sql`UPDATE staff SET password_hash = NULL, password_of_token = false WHERE id = ${staffId} AND password_of_token`
  },
  {
    // before the factor: it says whether the codes go
    columns: ["staff_recovery_codes.code_hash"],
    end: (sql, { staffId }) =>
      sql`DELETE FROM staff_recovery_codes c USING staff s WHERE c.staff_id = s.id AND s.id = ${staffId} AND s.factor_of_token`
  },
  {
    columns: ["staff.totp_sealed"],
    end: (sql, { staffId }) =>
      sql`UPDATE staff SET totp_sealed = NULL, totp_step = NULL, factor_since = NULL, factor_of_token = false
        WHERE id = ${staffId} AND factor_of_token`
  },
  {
    // who began it may not be who confirms it
    columns: ["staff.totp_pending_sealed"],
    end: (sql, { staffId }) => sql`UPDATE staff SET totp_pending_sealed = NULL WHERE id = ${staffId}`
  }
]

/** Ends what is to end, in the open transaction. */
export const makeEndWays = (sql: SqlClient.SqlClient) => (ending: Ending): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(
    waysIn.flatMap(({ end }) => end === undefined ? [] : [end(sql, { ...ending, label: `staff:${ending.staffId}` })]),
    (statement) => statement,
    { discard: true }
  )
