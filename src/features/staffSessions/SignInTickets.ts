/** One-time sign-in links of staff: issued for an account, shown with its name, redeemed once. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { reachable } from "../../platform/Loopback.ts"
import { sha256 } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { bootstrapLabel } from "../../office/SpendingFacts.ts"
import type { Actor } from "../../office/Actor.ts"
import { StaffAccounts } from "../staff/Staff.ts"
import type { SignInLink } from "../../contract/staff/StaffApi.ts"
import type { StaffSession } from "./CurrentSession.ts"
import { ticketMs } from "./Rules.ts"
import type { LinkedAccount } from "../../contract/staffSessions/StaffApi.ts"
import { type Browser, StaffSessions } from "./StaffSessions.ts"

/** Actor of the bootstrap token, which creates the first account. */
const bootstrap: Actor = { id: null, name: "bootstrap", role: "admin", operators: null, label: bootstrapLabel }

const ticketRows = rowsOf(Schema.Struct({
  staffId: Schema.NullOr(Schema.Number),
  issuedBy: Schema.String,
  ofToken: Schema.NullOr(Schema.String)
}))
const linkRows = rowsOf(Schema.Struct({ name: Schema.NullOr(Schema.String), expiresAt: Schema.Date }))
const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** Name of the account that the first link makes. */
const firstName = "admin"

const wrongTicket = refuse("INVALID_CREDENTIALS", "This link has been used or has expired. Ask for a new one.")
const noSuchStaff = refuse("NOT_FOUND", "There is no such staff account, or it is not active.")
const othersLink = refuse(
  "INSUFFICIENT_SCOPE",
  "A sign-in link for another person's account requires an admin of all operators.",
  {
    required_roles: ["admin"]
  }
)

type Unavailable = Refusal<"TRY_AGAIN">

export class SignInTickets extends Context.Service<SignInTickets, {
  /** Issues a sign-in link: for another account with the permission, or one's own. The bootstrap token's own account is the first active admin. */
  readonly issue: (
    actor: Actor,
    staffId: number | null,
    /** Undefined: a bearer token acts. */
    session?: StaffSession
  ) => Effect.Effect<
    typeof SignInLink.Type,
    Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "INSUFFICIENT_SCOPE"> | Unavailable
  >
  /** The account that a link signs in; it is not redeemed by that. */
  readonly show: (
    ticket: string
  ) => Effect.Effect<typeof LinkedAccount.Type, Refusal<"INVALID_CREDENTIALS"> | Unavailable>
  /** Signs in by a link, once. It is no second factor. */
  readonly redeem: (
    ticket: string,
    browser: Browser
  ) => Effect.Effect<string, Refusal<"INVALID_CREDENTIALS"> | Unavailable>
}>()("pitboss/staffSessions/SignInTickets") {
  static readonly layer = Layer.effect(
    SignInTickets,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const sessions = yield* StaffSessions
      const accounts = yield* StaffAccounts
      const auditLog = yield* AuditLog
      const { backofficeHost, backofficePort, backofficeUrl } = yield* Settings

      /** Account that the bootstrap token signs in to; undefined while there is none. */
      const firstAdmin = Effect.map(
        orTryAgain(oneOf(idRows(
          sql`SELECT id FROM staff WHERE role = 'admin' AND active AND operator_ids IS NULL ORDER BY id LIMIT 1`
        ))),
        (admin) => admin?.id
      )

      const show = Effect.fn("SignInTickets.show")(function*(ticket: string) {
        const now = yield* Clock.currentTimeMillis
        const admin = yield* firstAdmin
        const found = yield* orTryAgain(oneOf(linkRows(
          sql`SELECT a.name, t.expires_at AS "expiresAt" FROM staff_tickets t
            LEFT JOIN staff a ON a.id = coalesce(t.staff_id, ${admin ?? null}::float8::bigint)
            WHERE t.token_hash = ${sha256(ticket)} AND t.used_at IS NULL AND t.expires_at > ${toDate(now)}
              AND (t.staff_id IS NULL OR a.active)`
        )))
        if (found === undefined) return yield* Effect.fail(wrongTicket)
        return {
          name: found.name ?? firstName,
          is_new: found.name === null,
          expires_at: iso(found.expiresAt.getTime())
        }
      })

      const redeem = Effect.fn("SignInTickets.redeem")(function*(ticket: string, browser: Browser) {
        const now = yield* Clock.currentTimeMillis
        const ticketed = yield* orTryAgain(
          inTransaction(sql)(Effect.gen(function*() {
            const used = yield* oneOf(ticketRows(
              sql`UPDATE staff_tickets t SET used_at = ${toDate(now)}
              WHERE t.token_hash = ${sha256(ticket)} AND t.used_at IS NULL AND t.expires_at > ${toDate(now)}
                AND (t.staff_id IS NULL OR EXISTS (SELECT FROM staff a WHERE a.id = t.staff_id AND a.active))
              RETURNING t.staff_id AS "staffId", t.issued_by AS "issuedBy", t.of_token AS "ofToken"`
            ))
            if (used === undefined) return yield* Effect.fail(wrongTicket)
            if (used.staffId !== null && used.issuedBy !== `staff:${used.staffId}`) {
              yield* accounts.entrust(used.staffId, { label: used.issuedBy }, now)
            }
            return used
          }))
        )
        const made = Effect.mapError(
          accounts.create({ ...bootstrap, label: ticketed.issuedBy }, { name: firstName, role: "admin" }),
          (refused) => refused.code === "VALIDATION_FAILED" ? wrongTicket : refused
        )
        const staffId = ticketed.staffId ?? (yield* firstAdmin) ?? (yield* made).id
        return yield* sessions.open(staffId, "ticket", browser, {
          hasShownSecondFactor: false,
          ofToken: ticketed.ofToken
        })
      })

      /** Where staff reach the back office. */
      const base = backofficeUrl ?? `http://${reachable(backofficeHost)}:${backofficePort}`

      const issue = Effect.fn("SignInTickets.issue")(function*(
        actor: Actor,
        staffId: number | null,
        session?: StaffSession
      ) {
        if (staffId !== actor.id && (actor.role !== "admin" || actor.operators !== null)) {
          return yield* Effect.fail(othersLink)
        }
        const ticket = entropy.token("tk_", 43)
        const ofToken = actor.id === null || (session !== undefined && !session.isOfToken) ? null : actor.label
        // without an admin the link creates the account: before that, no admin exists that the token must not act as
        const id = staffId ?? (yield* firstAdmin)
        return yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const written = id === undefined
              ? yield* sql`INSERT INTO staff_tickets (token_hash, issued_by, created_at, expires_at)
              VALUES (${sha256(ticket)}, ${actor.label}, ${toDate(now)}, ${toDate(now + ticketMs)}) RETURNING 1`
              : yield* sql`INSERT INTO staff_tickets (token_hash, staff_id, issued_by, of_token, created_at, expires_at)
              SELECT ${sha256(ticket)}, id, ${actor.label}, ${ofToken}, ${toDate(now)}, ${toDate(now + ticketMs)}
              FROM staff WHERE id = ${id}::float8::bigint AND active
                -- whom an identity provider signs in makes no way around it
                AND (oidc_subject IS NULL OR id <> ${actor.id ?? 0}::float8::bigint)
              RETURNING 1`
            if (written.length === 0) return yield* Effect.fail(noSuchStaff)
            const expires_at = iso(now + ticketMs)
            yield* record({
              action: "staff.ticket",
              subject: id === undefined ? actor.label : `staff:${id}`,
              before: null,
              after: { expires_at }
            })
            return { url: `${base}/sign-in?ticket=${ticket}`, expires_at }
          }))
      })

      return SignInTickets.of({ issue, show, redeem })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
