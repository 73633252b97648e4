/** Staff accounts and their bearer tokens. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { PasswordHashes } from "../../auth/PasswordHashes.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { equalSecrets, sha256 } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { isWithin } from "../../store/OperatorScope.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import type { Actor } from "../../office/Actor.ts"
import { accountIdOf, bootstrapLabel, makeStaffFacts } from "../../office/SpendingFacts.ts"
import { type HandoverKind, pathBetween } from "../../domain/staff/StaffTrust.ts"
import { type Action, isMoneyAction, rolesFor } from "../../office/Authorisation.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { orTaken } from "../../office/References.ts"
import { StaffAccount, type StaffInput, type StaffUpdate } from "../../contract/staff/StaffApi.ts"
import { makeEndWays } from "./WaysIn.ts"

type StaffAccount = typeof StaffAccount.Type

const dayMs = 86_400_000

/** How often the last use of a token is written down. */
const usedEveryMs = 60_000

/** Default amount that a staff member may give away per day, minor units. */
const defaultDailyBudget = 1_000_000

const presence = rowsOf(Schema.Struct({ isThere: Schema.Boolean }))
const retirements = rowsOf(Schema.Struct({ retired_at: Schema.Date, retired_by: Schema.String }))

/** Retirement of the bootstrap token: time and actor. */
export interface Retirement {
  readonly retired_at: string
  readonly retired_by: string
}

/** 43 characters of 62 carry 256 bits: a plain hash of them cannot be reversed. */
const newToken = (entropy: Entropy["Service"]): string => entropy.token("st_", 43)

const names = { staff_sign_in_name: "name", staff_oidc_subject: "name" }

const notFound = refuse("NOT_FOUND", "There is no such staff account.")

const lastAdmin = (field: string) =>
  refuseFields({ [field]: ["must not take away the last active admin of all operators: make another one first"] })

const ownBudget = refuseFields({ daily_budget: ["must not be one's own: another admin sets it"] })

const ownPassword = refuseFields({ password: ["must not be one's own: it is changed in a session"] })

const ownSecondFactor = refuseFields({ reset_second_factor: ["must not be one's own: another admin resets it"] })

const noAdmin = refuse(
  "INVALID_REQUEST",
  "The bootstrap token is the only way to sign in. Create an admin account of all operators first."
)

/** The bootstrap token is for the setup: money is moved by a staff account as soon as there is one that may. */
const staffOnly = (action: Action) =>
  refuse("INSUFFICIENT_SCOPE", "The bootstrap token cannot move money once a staff account may. Use that account.", {
    required_roles: rolesFor(action),
    reason: "bootstrap_token"
  })

const passwordIsName = refuseFields({ password: ["must not be the name"] })

/** Case does not make another password of a name. */
export const isNameAsPassword = (name: string, password: string): boolean =>
  password.toLowerCase() === name.toLowerCase()

const idArray = (ids: ReadonlyArray<number>) => Result.getOrThrow(PgTypes.array(ids, PgTypes.OID.int8))

type Unavailable = Refusal<"TRY_AGAIN">

export class StaffAccounts extends Context.Service<StaffAccounts, {
  /** The holder of a token; undefined when it is unknown, expired or inactive. */
  readonly authenticate: (token: string) => Effect.Effect<Actor | undefined, Unavailable>
  /** Refuses the bootstrap token an action that needs a named person. The caller checks the role. */
  readonly refuseBootstrap: (
    actor: Actor,
    action: string
  ) => Effect.Effect<void, Refusal<"INSUFFICIENT_SCOPE"> | Unavailable>
  /** Retires the bootstrap token for good; only a setting restores it. Needs an active admin of all operators who can sign in. */
  readonly retireBootstrap: (actor: Actor) => Effect.Effect<Retirement, Refusal<"INVALID_REQUEST"> | Unavailable>
  /** Opens an account. `token` is shown here and never again: only its hash is kept. */
  readonly create: (
    actor: Actor,
    input: StaffInput,
    /** Of an account that the identity provider signs in. */
    subject?: string
  ) => Effect.Effect<StaffAccount & { readonly token: string }, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Changes an account. One that is not active opens nothing from now on. One active admin always remains. */
  readonly update: (
    actor: Actor,
    staffId: number,
    input: StaffUpdate
  ) => Effect.Effect<StaffAccount, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /**
   * Gives an account a new token, shown here and never again; the one before, and what it made, opens nothing from now on.
   * `session`: the actor's, which has shown its second factor; undefined: a bearer token acts.
   */
  readonly rotate: (
    actor: Actor,
    staffId: number,
    session: { readonly id: number } | undefined
  ) => Effect.Effect<
    StaffAccount & { readonly token: string },
    Refusal<"NOT_FOUND"> | Unavailable
  >
  /** Notes inside a transaction that `actor` handed over a way into an account, for the four-eyes rule. */
  readonly entrust: (
    staffId: number,
    actor: { readonly label: string },
    now: number
  ) => Effect.Effect<void, SqlError.SqlError>
  readonly list: Effect.Effect<ReadonlyArray<StaffAccount>, Unavailable>
  /** Names of accounts as far as the actor works with them: all to who is bound to no operator, else those of the same operators or of all. */
  readonly colleagues: (
    actor: Actor
  ) => Effect.Effect<ReadonlyArray<Pick<StaffAccount, "id" | "name" | "role" | "active">>, Unavailable>
}>()("pitboss/staff/StaffAccounts") {
  static readonly layer = Layer.effect(
    StaffAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const entropy = yield* Entropy
      const passwords = yield* PasswordHashes
      const { bootstrapToken, bootstrapTokenRestored, staffTokenDays } = yield* Settings
      const accounts = yield* recordsOf("staff", StaffAccount, {
        computed: {
          token_expires_at: `token_issued_at + interval '${staffTokenDays * 24} hours'`,
          operators: "operator_ids",
          has_password: "password_hash IS NOT NULL",
          has_second_factor: "totp_sealed IS NOT NULL"
        }
      })

      const retirement = Effect.map(
        oneOf(retirements(sql`SELECT retired_at, retired_by FROM bootstrap_retirement`)),
        (row) => row === undefined ? undefined : { ...row, retired_at: iso(row.retired_at.getTime()) }
      )

      const authenticate = Effect.fn("StaffAccounts.authenticate")(function*(token: string) {
        if (bootstrapToken !== undefined && equalSecrets(Redacted.value(bootstrapToken), token)) {
          const isRetired = !bootstrapTokenRestored && (yield* orTryAgain(retirement)) !== undefined
          return isRetired
            ? undefined
            : { id: null, name: "bootstrap", role: "admin", operators: null, label: bootstrapLabel } satisfies Actor
        }
        const account = yield* orTryAgain(accounts.find(sql`token_hash = ${sha256(token)} AND active`))
        const now = yield* Clock.currentTimeMillis
        if (account === undefined || Date.parse(account.token_expires_at) <= now) return undefined
        const { id, last_used_at: usedAt, name, operators, role } = account
        if (usedAt === null || Date.parse(usedAt) + usedEveryMs <= now) {
          // a request goes on where this cannot be written
          yield* Effect.ignore(sql`UPDATE staff SET last_used_at = ${toDate(now)} WHERE id = ${id}`)
        }
        return { id, name, role, operators, label: `staff:${id}` } satisfies Actor
      })

      const refuseBootstrap: StaffAccounts["Service"]["refuseBootstrap"] = Effect.fn("StaffAccounts.refuseBootstrap")(
        function*(actor, action) {
          if (actor.id !== null || !isMoneyAction(action)) return
          const [row] = yield* orTryAgain(presence(
            sql`SELECT EXISTS (SELECT FROM staff WHERE active AND ${sql.in("role", rolesFor(action))}) AS "isThere"`
          ))
          if (row?.isThere === true) return yield* Effect.fail(staffOnly(action))
        }
      )

      const retireBootstrap = Effect.fn("StaffAccounts.retireBootstrap")((actor: Actor) =>
        auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* retirement
            if (before !== undefined) return before
            const admins = yield* accounts.all(
              sql`role = 'admin' AND active AND operator_ids IS NULL
                AND token_issued_at > ${toDate(now - staffTokenDays * dayMs)} ORDER BY id FOR NO KEY UPDATE`
            )
            if (admins.length === 0) return yield* Effect.fail(noAdmin)
            const after: Retirement = { retired_at: iso(now), retired_by: actor.label }
            const written = yield* sql`INSERT INTO bootstrap_retirement (retired_at, retired_by)
              VALUES (${toDate(now)}, ${actor.label}) ON CONFLICT DO NOTHING RETURNING retired_at`
            if (written.length === 0) return (yield* retirement) ?? after
            yield* record({ action: "staff.retire_bootstrap", subject: bootstrapLabel, before: null, after })
            return after
          }))
      )

      const staffFacts = yield* makeStaffFacts
      const endWays = makeEndWays(sql)

      /** Notes what was handed over, and what its issuer had proved by then. No two of an account at the same millisecond. */
      const addHandover = (
        staffId: number,
        { kind, label }: { readonly kind: HandoverKind | "renewed"; readonly label: string },
        now: number
      ) =>
        sql`INSERT INTO staff_tokens (staff_id, issued_at, issued_by, kind, issuer_proved_at, issuer_renewed_at)
          SELECT ${staffId}, greatest(${toDate(now)}::timestamptz, max(issued_at) + interval '1 millisecond'), ${label},
            ${kind}, (SELECT factor_proved_at FROM staff WHERE id = ${accountIdOf(label)}),
            (SELECT max(r.issued_at) FROM staff_tokens r WHERE r.staff_id = ${
          accountIdOf(label)
        } AND r.kind = 'renewed')
          FROM staff_tokens WHERE staff_id = ${staffId}`

      const entrust = Effect.fnUntraced(function*(staffId: number, { label }: { readonly label: string }, now: number) {
        yield* sql`UPDATE staff SET entrusted_at = ${toDate(now)} WHERE id = ${staffId}`
        yield* addHandover(staffId, { kind: "entrusted", label }, now)
      })

      const hashOf = Effect.fnUntraced(function*(password: string | undefined) {
        return password === undefined ? undefined : yield* passwords.hash(password)
      })

      /** Writes the columns that the account resource does not show. */
      const writeHidden = Effect.fnUntraced(function*(
        { id, operators }: StaffAccount,
        { hash, resetsSecondFactor = false }: {
          readonly hash: string | undefined
          readonly resetsSecondFactor?: boolean
        }
      ) {
        yield* sql`UPDATE staff SET operator_ids = ${operators === null ? null : idArray(operators)} WHERE id = ${id}`
        if (hash !== undefined) {
          yield* sql`UPDATE staff SET password_hash = ${hash}, password_of_token = false WHERE id = ${id}`
        }
        if (!resetsSecondFactor) return
        yield* sql`UPDATE staff SET totp_sealed = NULL, totp_pending_sealed = NULL, totp_step = NULL,
          factor_since = NULL, factor_of_token = false WHERE id = ${id}`
        yield* sql`DELETE FROM staff_recovery_codes WHERE staff_id = ${id}`
      })

      const create = Effect.fn("StaffAccounts.create")(
        function*(actor: Actor, { password, ...input }: StaffInput, subject?: string) {
          if (password !== undefined && isNameAsPassword(input.name, password)) {
            return yield* Effect.fail(passwordIsName)
          }
          const token = newToken(entropy)
          const hash = yield* hashOf(password)
          const account = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
            Effect.gen(function*() {
              const account: StaffAccount = {
                id: newId,
                role: "admin",
                active: true,
                operators: null,
                has_password: hash !== undefined,
                has_second_factor: false,
                daily_budget: defaultDailyBudget,
                ...input,
                created_at: iso(now),
                created_by: actor.label,
                token_issued_at: iso(now),
                token_issued_by: actor.label,
                token_expires_at: iso(now + staffTokenDays * dayMs),
                last_used_at: null
              }
              yield* orTaken(names)(accounts.insert(account, {
                token_hash: sha256(token),
                ...(subject === undefined ? {} : { oidc_subject: subject })
              }))
              yield* orTaken(names)(writeHidden(account, { hash }))
              yield* addHandover(newId, { kind: "made", label: actor.label }, now)
              return yield* recordChange("staff.create", null, account)
            }))
          return { ...account, token }
        }
      )

      /** An account, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(staffId: number) {
        const account = yield* accounts.find(sql`id = ${staffId} FOR NO KEY UPDATE`)
        return account === undefined ? yield* Effect.fail(notFound) : account
      })

      /** Refuses a budget to the account that can act as who sets it. */
      const refuseOwnBudget = Effect.fnUntraced(function*(actor: Actor, staffId: number) {
        const label = `staff:${staffId}`
        const { trust } = yield* staffFacts([actor.label, label])
        if (actor.label === label || pathBetween(trust, label, actor.label) !== undefined) {
          return yield* Effect.fail(ownBudget)
        }
      })

      const update = Effect.fn("StaffAccounts.update")(function*(
        actor: Actor,
        staffId: number,
        { password, reset_second_factor: reset, ...input }: StaffUpdate
      ) {
        if (actor.id === staffId && password !== undefined) return yield* Effect.fail(ownPassword)
        if (actor.id === staffId && reset === true) return yield* Effect.fail(ownSecondFactor)
        const hash = yield* hashOf(password)
        const isReset = hash !== undefined || reset === true
        return yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            // locks admins in a fixed order: of two that demote each other at once, the second is refused
            const admins = yield* accounts.all(
              sql`role = 'admin' AND active AND operator_ids IS NULL ORDER BY id FOR NO KEY UPDATE`
            )
            const before = yield* locked(staffId)
            const after = {
              ...applyUpdate(before, input),
              ...(hash === undefined ? {} : { has_password: true }),
              ...(reset === true ? { has_second_factor: false } : {})
            }
            if (!isReset && applyUpdate(before, input) === before) return before
            if (password !== undefined && isNameAsPassword(after.name, password)) {
              return yield* Effect.fail(passwordIsName)
            }
            if (after.daily_budget !== before.daily_budget) yield* refuseOwnBudget(actor, staffId)
            const others = admins.filter(({ id }) => id !== staffId)
            if (admins.length > others.length && others.length === 0) {
              if (!after.active) return yield* Effect.fail(lastAdmin("active"))
              if (after.role !== "admin") return yield* Effect.fail(lastAdmin("role"))
              if (after.operators !== null) return yield* Effect.fail(lastAdmin("operators"))
            }
            yield* orTaken(names)(Effect.andThen(
              accounts.update(before, after),
              writeHidden(after, { hash, resetsSecondFactor: reset === true })
            ))
            if (isReset) yield* entrust(staffId, actor, now)
            if (isReset || !after.active) yield* endWays({ staffId, scope: "all" })
            else if (actor.id !== staffId) yield* endWays({ staffId, scope: "of_token" })
            const left = yield* locked(staffId)
            yield* record({
              action: "staff.update",
              subject: `staff:${staffId}`,
              before,
              after: {
                ...left,
                ...(hash === undefined ? {} : { password: "changed" }),
                ...(reset === true ? { second_factor: "reset" } : {})
              }
            })
            return left
          }))
      })

      const rotate: StaffAccounts["Service"]["rotate"] = Effect.fn("StaffAccounts.rotate")(
        function*(actor, staffId, session) {
          const token = newToken(entropy)
          const account = yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = yield* locked(staffId)
              const isOwn = actor.id === staffId
              // later than the token before, so that the issuers of both can be distinguished
              const issuedAt = Math.max(now, Date.parse(before.token_issued_at) + 1)
              yield* accounts.update(before, {
                ...before,
                token_issued_at: iso(issuedAt),
                token_issued_by: actor.label,
                token_expires_at: iso(issuedAt + staffTokenDays * dayMs)
              }, { token_hash: sha256(token) })
              // a token replaces itself for whoever holds it: only the second factor tells the owner
              const isRenewed = isOwn && session !== undefined
              const kind = isRenewed ? "renewed" : "issued"
              yield* addHandover(staffId, { kind, label: actor.label }, issuedAt)
              yield* endWays({ staffId, scope: isOwn ? "of_token" : "all", but: session?.id })
              const after = yield* locked(staffId)
              const action = isRenewed ? "session.token" : "staff.rotate"
              yield* record({ action, subject: `staff:${staffId}`, before, after })
              return after
            }))
          return { ...account, token }
        }
      )

      const list = orTryAgain(accounts.all(sql`true ORDER BY id`)).pipe(Effect.withSpan("StaffAccounts.list"))

      const colleagues = Effect.fn("StaffAccounts.colleagues")((actor: Actor) =>
        Effect.map(
          list,
          (all) =>
            all.filter(({ operators }) => operators === null || operators.some((id) => isWithin(actor.operators, id)))
              .map(({ active, id, name, role }) => ({ id, name, role, active }))
        )
      )

      return StaffAccounts.of({
        authenticate,
        refuseBootstrap,
        retireBootstrap,
        create,
        update,
        rotate,
        entrust,
        list,
        colleagues
      })
    })
  ).pipe(Layer.provide([Entropy.layer, PasswordHashes.layer]))
}
