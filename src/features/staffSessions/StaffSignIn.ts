/** Staff sign-in, by password and second factor or through an identity provider, and enrolment of the second factor. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { PasswordHashes } from "../../auth/PasswordHashes.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { roles } from "../../domain/staff/Staff.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets, sha256 } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { toDate } from "../../platform/Time.ts"
import { isStorable, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { orTaken } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import { isNameAsPassword, StaffAccounts } from "../staff/Staff.ts"
import { makeAttempts } from "./Attempts.ts"
import type { StaffSession } from "./CurrentSession.ts"
import type { OidcIdentity } from "./Oidc.ts"
import { steppedUpUntil, stepUpMs } from "./Rules.ts"
import {
  acceptedStep,
  enrolment,
  isTimeBased,
  recoveryCode,
  recoveryCodes,
  recoveryHash,
  secretBytes
} from "./SecondFactor.ts"
import { type Browser, StaffSessions } from "./StaffSessions.ts"

/** The identity provider, as the audit log names it. */
const provider: Actor = { id: null, name: "oidc", role: "admin", operators: null, label: "oidc" }

const noRole = refuse(
  "INSUFFICIENT_SCOPE",
  "The identity provider gives you no role here: admin, support, payments or compliance.",
  { reason: "role" }
)
const notActive = refuse("INSUFFICIENT_SCOPE", "Your account is switched off. An admin switches it on again.", {
  reason: "inactive"
})

/** Operators that one claim may name. */
const maxNamed = 100

const subjectRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  role: Schema.Literals(roles),
  operators: Schema.NullOr(Schema.Array(Schema.Number)),
  active: Schema.Boolean
}))
const accountRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  passwordHash: Schema.NullOr(Schema.String),
  isOfToken: Schema.Boolean,
  hasSecondFactor: Schema.Boolean
}))
const factorRows = rowsOf(Schema.Struct({
  name: Schema.String,
  sealed: Schema.NullOr(Schema.Uint8Array),
  pending: Schema.NullOr(Schema.Uint8Array),
  step: Schema.NullOr(Schema.Number)
}))
const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))
const hashRows = rowsOf(Schema.Struct({
  name: Schema.String,
  passwordHash: Schema.NullOr(Schema.String),
  isOfProvider: Schema.Boolean
}))

const wrong = refuse("INVALID_CREDENTIALS", "The name, the password or the code is wrong.")
const wrongCode = refuseFields({ code: ["is not the current code, or has already been used"] })
const wrongPassword = refuseFields({ password: ["is not the password of this account"] })
const noAccount = refuse(
  "INVALID_REQUEST",
  "The bootstrap token has no account: it has no password and no second factor."
)
const noSession = refuse("INVALID_REQUEST", "A bearer token needs no second factor. This is for sessions in a browser.")
const inBrowser = refuse(
  "INVALID_REQUEST",
  "A bearer token sets no password, no second factor and no other token. Open a sign-in link in a browser.",
  { reason: "session_required" }
)
const noFactor = refuse("INVALID_REQUEST", "This account has no second factor. Set one up first.", {
  reason: "second_factor_required"
})
const nothingBegun = refuse("INVALID_REQUEST", "No second factor is being set up. Start the setup again.")
const replacing = refuse("INSUFFICIENT_SCOPE", "Confirm with your current second factor before you replace it.", {
  reason: "step_up_required"
})
const signInFirst = refuse("INSUFFICIENT_SCOPE", "Sign in again to continue: this requires a recent sign-in.", {
  reason: "sign_in_again"
})
const ofProvider = refuse("INVALID_REQUEST", "The identity provider signs this account in. It has no password here.")
const unreadable = refuse("SERVER_ERROR", "The second factor of this account cannot be read. An admin has to reset it.")

type Unavailable = Refusal<"TRY_AGAIN">
type CodeRefusal = Refusal<"RATE_LIMITED" | "SERVER_ERROR" | "INVALID_REQUEST" | "VALIDATION_FAILED"> | Unavailable

const totpPurpose = (staffId: number): string => `staff-totp:${staffId}`
const pendingPurpose = (staffId: number): string => `staff-totp-pending:${staffId}`

export class StaffSignIn extends Context.Service<StaffSignIn, {
  /** Signs in by name and password, and by a code where the account has a second factor; gives the value of the cookie. */
  readonly byPassword: (
    input: { readonly name: string; readonly password: Redacted.Redacted; readonly code: string | undefined },
    browser: Browser
  ) => Effect.Effect<string, Refusal<"INVALID_CREDENTIALS" | "RATE_LIMITED" | "SERVER_ERROR"> | Unavailable>
  /**
   * Signs in the subject of an ID token: one account per subject, created at its first sign-in, with role and, where configured, operators set from
   * the claims at each sign-in. Unknown operators are ignored; with none left, the account sees no data.
   */
  readonly byProvider: (
    identity: OidcIdentity,
    browser: Browser
  ) => Effect.Effect<
    string,
    Refusal<"INSUFFICIENT_SCOPE" | "NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable
  >
  /** Shows the second factor again. */
  readonly stepUp: (
    actor: Actor,
    session: StaffSession | undefined,
    code: string
  ) => Effect.Effect<StaffSession, CodeRefusal>
  /** Begins to set up a second factor; the one before works until this one is confirmed. */
  readonly beginSecondFactor: (
    actor: Actor,
    session: StaffSession | undefined
  ) => Effect.Effect<ReturnType<typeof enrolment>, Refusal<"INVALID_REQUEST" | "INSUFFICIENT_SCOPE"> | Unavailable>
  /** Confirms it by one of its codes; gives recovery codes, shown here and never again. */
  readonly confirmSecondFactor: (
    actor: Actor,
    session: StaffSession | undefined,
    code: string
  ) => Effect.Effect<ReadonlyArray<string>, CodeRefusal | Refusal<"INSUFFICIENT_SCOPE">>
  /** Sets one's own password; the old one is needed if there is one. Ends the account's other sessions. */
  readonly setPassword: (
    actor: Actor,
    session: StaffSession | undefined,
    input: { readonly password: string | undefined; readonly newPassword: string }
  ) => Effect.Effect<
    void,
    Refusal<"INSUFFICIENT_SCOPE" | "INVALID_REQUEST" | "VALIDATION_FAILED" | "RATE_LIMITED"> | Unavailable
  >
  /** Replaces one's own bearer token: from then on nobody has it who issued the one before. */
  readonly renewToken: (
    actor: Actor,
    session: StaffSession | undefined
  ) => Effect.Effect<
    { readonly token: string; readonly token_expires_at: string },
    Refusal<"INVALID_REQUEST" | "INSUFFICIENT_SCOPE" | "NOT_FOUND"> | Unavailable
  >
}>()("pitboss/staffSessions/StaffSignIn") {
  static readonly layer = Layer.effect(
    StaffSignIn,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const entropy = yield* Entropy
      const passwords = yield* PasswordHashes
      const secrets = yield* Secrets
      const sessions = yield* StaffSessions
      const accounts = yield* StaffAccounts
      const auditLog = yield* AuditLog
      const { staffSessionHours } = yield* Settings

      const { attempt, succeeded } = yield* makeAttempts

      const codesOf = (staffId: number): Uint8Array => sha256(`code:${staffId}`)
      /** Apart from codes: a right password forgives no wrong code. */
      const passwordOf = (staffId: number): Uint8Array => sha256(`password:${staffId}`)

      const factorOf = (staffId: number) =>
        orTryAgain(oneOf(factorRows(
          sql`SELECT name, totp_sealed AS sealed, totp_pending_sealed AS pending, totp_step AS step
            FROM staff WHERE id = ${staffId}`
        )))

      /** Notes that the account's own second factor was shown, for the four-eyes rule. A provider's is as old as its account. */
      const noteProof = Effect.fnUntraced(function*(staffId: number) {
        const now = toDate(yield* Clock.currentTimeMillis)
        yield* orTryAgain(
          sql`UPDATE staff SET factor_proved_at = ${now}, factor_since = coalesce(factor_since, created_at)
            WHERE id = ${staffId}`
        )
      })

      /** Whether a code is the account's. It works once. */
      const takeCode = Effect.fnUntraced(function*(staffId: number, code: string) {
        const now = yield* Clock.currentTimeMillis
        if (!isTimeBased(code)) {
          const taken = yield* orTryAgain(
            sql`DELETE FROM staff_recovery_codes WHERE staff_id = ${staffId}
              AND code_hash = ${recoveryHash(staffId, code)} RETURNING 1`
          )
          if (taken.length > 0) yield* noteProof(staffId)
          return taken.length > 0
        }
        const factor = yield* factorOf(staffId)
        if (factor === undefined || factor.sealed === null) return false
        const secret = yield* Effect.mapError(secrets.open(totpPurpose(staffId), factor.sealed), () => unreadable)
        const step = acceptedStep(secret, code, now, factor.step)
        if (step === undefined) return false
        const taken = yield* orTryAgain(
          sql`UPDATE staff SET totp_step = ${step} WHERE id = ${staffId}
            AND (totp_step IS NULL OR totp_step < ${step}) RETURNING 1`
        )
        if (taken.length > 0) yield* noteProof(staffId)
        return taken.length > 0
      })

      const byPassword: StaffSignIn["Service"]["byPassword"] = Effect.fn("StaffSignIn.byPassword")(
        function*({ code, name, password }, browser) {
          const account = yield* orTryAgain(oneOf(accountRows(
            sql`SELECT id, password_hash AS "passwordHash", password_of_token AS "isOfToken",
                totp_sealed IS NOT NULL AS "hasSecondFactor" FROM staff
              WHERE lower(name) = lower(${name}) AND password_hash IS NOT NULL AND active`
          )))
          // an account by its id: the database has spellings of a name that equal it where JavaScript has others
          const subject = sha256(account === undefined ? `name:${name.toLowerCase()}` : `account:${account.id}`)
          yield* attempt(subject)
          const isCorrect = yield* passwords.verify(Redacted.value(password), account?.passwordHash ?? undefined)
          if (!isCorrect || account === undefined) return yield* Effect.fail(wrong)
          if (account.hasSecondFactor && (code === undefined || !(yield* takeCode(account.id, code)))) {
            return yield* Effect.fail(wrong)
          }
          yield* succeeded(subject)
          return yield* sessions.open(account.id, "password", browser, {
            hasShownSecondFactor: account.hasSecondFactor,
            ofToken: account.isOfToken ? `staff:${account.id}` : null
          })
        }
      )

      const stepUp: StaffSignIn["Service"]["stepUp"] = Effect.fn("StaffSignIn.stepUp")(
        function*(actor, session, code) {
          if (session === undefined || actor.id === null) return yield* Effect.fail(noSession)
          if (!session.hasSecondFactor) return yield* Effect.fail(noFactor)
          yield* attempt(codesOf(actor.id))
          if (!(yield* takeCode(actor.id, code))) return yield* Effect.fail(wrongCode)
          yield* succeeded(codesOf(actor.id))
          return yield* sessions.stepUp(session)
        }
      )

      /** Refuses a session to replace a second factor that it has not shown in the last minutes. */
      const refuseReplacement = Effect.fnUntraced(
        function*(session: StaffSession, factor: { readonly sealed: Uint8Array | null } | undefined) {
          const now = yield* Clock.currentTimeMillis
          const isSteppedUp = steppedUpUntil(session.secondFactorAt, now) !== undefined
          if (factor !== undefined && factor.sealed !== null && !isSteppedUp) return yield* Effect.fail(replacing)
        }
      )

      /** Refuses the first sign-in method to a session older than some minutes: an unlocked screen does not suffice. */
      const refuseFirst = Effect.fnUntraced(function*(session: StaffSession) {
        const now = yield* Clock.currentTimeMillis
        const isNew = now - (session.expiresAt - staffSessionHours * 3_600_000) < stepUpMs
        if (!isNew && steppedUpUntil(session.secondFactorAt, now) === undefined) return yield* Effect.fail(signInFirst)
      })

      const beginSecondFactor: StaffSignIn["Service"]["beginSecondFactor"] = Effect.fn("StaffSignIn.beginSecondFactor")(
        function*({ id }, session) {
          const factor = id === null ? undefined : yield* factorOf(id)
          if (id === null || factor === undefined) return yield* Effect.fail(noAccount)
          if (session === undefined) return yield* Effect.fail(inBrowser)
          yield* refuseReplacement(session, factor)
          if (factor.sealed === null) yield* refuseFirst(session)
          const secret = entropy.bytes(secretBytes)
          const sealed = secrets.seal(pendingPurpose(id), secret)
          yield* orTryAgain(sql`UPDATE staff SET totp_pending_sealed = ${sealed} WHERE id = ${id}`)
          return enrolment(secret, factor.name)
        }
      )

      const confirmSecondFactor: StaffSignIn["Service"]["confirmSecondFactor"] = Effect.fn(
        "StaffSignIn.confirmSecondFactor"
      )(
        function*(actor, session, code) {
          const { id } = actor
          const factor = id === null ? undefined : yield* factorOf(id)
          if (id === null || factor === undefined) return yield* Effect.fail(noAccount)
          if (session === undefined) return yield* Effect.fail(inBrowser)
          yield* refuseReplacement(session, factor)
          if (factor.sealed === null) yield* refuseFirst(session)
          if (factor.pending === null) return yield* Effect.fail(nothingBegun)
          yield* attempt(codesOf(id))
          const secret = yield* Effect.mapError(secrets.open(pendingPurpose(id), factor.pending), () => unreadable)
          const step = acceptedStep(secret, code, yield* Clock.currentTimeMillis, null)
          if (step === undefined) return yield* Effect.fail(wrongCode)
          yield* succeeded(codesOf(id))
          const codes = Array.from({ length: recoveryCodes }, () => recoveryCode(entropy.token("", 12)))
          yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              // one that takes the place of another is as old as that, and goes back to the same
              yield* sql`UPDATE staff SET totp_sealed = ${secrets.seal(totpPurpose(id), secret)},
                totp_pending_sealed = NULL, totp_step = ${step}, factor_proved_at = ${toDate(now)},
                factor_since = CASE WHEN totp_sealed IS NULL THEN ${toDate(now)}::timestamptz ELSE factor_since END,
                factor_of_token = CASE WHEN totp_sealed IS NULL THEN ${session.isOfToken} ELSE factor_of_token END
                WHERE id = ${id}`
              yield* sql`DELETE FROM staff_recovery_codes WHERE staff_id = ${id}`
              yield* Effect.forEach(codes, (one) =>
                sql`INSERT INTO staff_recovery_codes (staff_id, code_hash) VALUES (${id}, ${recoveryHash(id, one)})`)
              yield* sql`UPDATE staff_sessions SET second_factor_at = ${toDate(now)} WHERE id = ${session.id}`
              yield* record({
                action: "session.confirm_second_factor",
                subject: actor.label,
                before: { has_second_factor: factor.sealed !== null },
                after: { has_second_factor: true }
              })
            }))
          return codes
        }
      )

      const setPassword: StaffSignIn["Service"]["setPassword"] = Effect.fn("StaffSignIn.setPassword")(
        function*(actor, session, { newPassword, password }) {
          const { id } = actor
          const account = id === null ? undefined : yield* orTryAgain(oneOf(hashRows(
            sql`SELECT name, password_hash AS "passwordHash", oidc_subject IS NOT NULL AS "isOfProvider"
              FROM staff WHERE id = ${id}`
          )))
          if (id === null || account === undefined) return yield* Effect.fail(noAccount)
          if (session === undefined) return yield* Effect.fail(inBrowser)
          if (isNameAsPassword(account.name, newPassword)) {
            return yield* Effect.fail(refuseFields({ new_password: ["must not be the name"] }))
          }
          if (account.isOfProvider) return yield* Effect.fail(ofProvider)
          if (account.passwordHash === null) yield* refuseFirst(session)
          else {
            yield* attempt(passwordOf(id))
            if (!(yield* passwords.verify(password ?? "", account.passwordHash))) {
              return yield* Effect.fail(wrongPassword)
            }
            yield* succeeded(passwordOf(id))
          }
          const hash = yield* passwords.hash(newPassword)
          yield* auditLog.change(actor, ({ record }) =>
            Effect.gen(function*() {
              yield* orTaken({ staff_sign_in_name: "name" })(
                sql`UPDATE staff SET password_hash = ${hash}, password_of_token = password_of_token OR ${session.isOfToken}
                  WHERE id = ${id}`
              )
              yield* sql`DELETE FROM staff_sessions WHERE staff_id = ${id} AND id <> ${session.id}`
              yield* record({
                action: "session.password",
                subject: actor.label,
                before: { has_password: account.passwordHash !== null },
                after: { has_password: true, password: "changed" }
              })
            }))
        }
      )

      const operatorIdsOf = Effect.fnUntraced(function*(slugs: ReadonlyArray<string> | null) {
        if (slugs === null) return null
        const named = Result.getOrThrow(PgTypes.array(slugs.filter(isStorable).slice(0, maxNamed), PgTypes.OID.text))
        const found = yield* orTryAgain(
          idRows(sql`SELECT id FROM operators WHERE slug = ANY(${named}::text[]) ORDER BY operators.id`)
        )
        return found.map(({ id }) => id)
      })

      const byProvider: StaffSignIn["Service"]["byProvider"] = Effect.fn("StaffSignIn.byProvider")(
        function*({ hasShownSecondFactor, name, operators, role, subject }, browser) {
          if (role === undefined) return yield* Effect.fail(noRole)
          const ofSubject = orTryAgain(oneOf(subjectRows(
            sql`SELECT id, role, operator_ids AS operators, active FROM staff WHERE oidc_subject = ${subject}`
          )))
          const found = yield* ofSubject
          if (found?.active === false) return yield* Effect.fail(notActive)
          const said = { role, ...(operators === undefined ? {} : { operators: yield* operatorIdsOf(operators) }) }
          const isSame = ({ operators: bound, role: has }: NonNullable<typeof found>): boolean =>
            has === role && (said.operators === undefined || JSON.stringify(bound) === JSON.stringify(said.operators))
          if (found !== undefined && !isSame(found)) yield* accounts.update(provider, found.id, said)
          const made = accounts.create(provider, { name, ...said }, subject).pipe(
            // at the same moment in another window
            Effect.catchIf(
              ({ code }) => code === "VALIDATION_FAILED",
              (taken) =>
                Effect.flatMap(ofSubject, (other) => other === undefined ? Effect.fail(taken) : Effect.succeed(other))
            )
          )
          const staffId = found?.id ?? (yield* made).id
          if (hasShownSecondFactor) yield* noteProof(staffId)
          return yield* sessions.open(staffId, "oidc", browser, { hasShownSecondFactor, ofToken: null })
        }
      )

      const renewToken: StaffSignIn["Service"]["renewToken"] = Effect.fnUntraced(function*(actor, session) {
        if (actor.id === null) return yield* Effect.fail(noAccount)
        if (session === undefined) return yield* Effect.fail(inBrowser)
        const { token, token_expires_at } = yield* accounts.rotate(actor, actor.id, session)
        return { token, token_expires_at }
      })

      return StaffSignIn.of({
        byPassword,
        byProvider,
        stepUp,
        beginSecondFactor,
        confirmSecondFactor,
        setPassword,
        renewToken
      })
    })
  ).pipe(Layer.provide([Entropy.layer, PasswordHashes.layer]))
}
