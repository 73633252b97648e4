/** Who works in the back office: staff accounts and the tokens that prove who acts. */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { Entropy } from "../platform/Entropy.ts"
import { equalSecrets, sha256 } from "../platform/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { iso } from "../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../players/Rows.ts"
import type { Role } from "./Authorisation.ts"
import { AuditLog } from "./AuditLog.ts"
import { changed } from "./Changed.ts"

/** Somebody who acts. */
export interface Actor {
  /** Null for who holds the bootstrap token. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** How the audit log names the actor: `staff:<id>`. */
  readonly label: string
}

export interface StaffInput {
  readonly name: string
  readonly role?: Role
}

export interface StaffUpdate {
  readonly name?: string
  readonly role?: Role
  readonly active?: boolean
}

const StaffRow = Schema.Struct({
  id: Schema.Number,
  name: Schema.String,
  role: Schema.Literals(["admin", "support", "payments", "compliance"]),
  active: Schema.Boolean,
  created_at: Schema.Date,
  token_issued_at: Schema.Date
})

const toFields = (row: typeof StaffRow.Type) => ({
  ...row,
  created_at: iso(row.created_at.getTime()),
  token_issued_at: iso(row.token_issued_at.getTime())
})

/** A staff account as it is shown. */
export type StaffFields = ReturnType<typeof toFields>

const staffRows = rowsOf(StaffRow)

/** 43 characters of 62 carry 256 bits: a plain hash of them cannot be reversed. */
const newToken = (entropy: Entropy["Service"]): string => entropy.token("st_", 43)

const notFound = refuse("NOT_FOUND", "There is no such staff account.")

const lastAdmin = (field: string) =>
  refuseFields({ [field]: ["must not take away the last active admin: make another one first"] })

type Unavailable = Refusal<"TRY_AGAIN">

export class StaffAccounts extends Context.Service<StaffAccounts, {
  /** Who holds a token; undefined when nobody does, or no longer. */
  readonly authenticate: (token: string) => Effect.Effect<Actor | undefined, Unavailable>
  /** Opens an account. `token` is shown here and never again: only its hash is kept. */
  readonly create: (
    actor: Actor,
    input: StaffInput
  ) => Effect.Effect<StaffFields & { readonly token: string }, Unavailable>
  /** Changes an account. One that is not active opens nothing from now on. One active admin always remains. */
  readonly update: (
    actor: Actor,
    staffId: number,
    input: StaffUpdate
  ) => Effect.Effect<StaffFields, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /** Gives an account a new token, shown here and never again; the one before opens nothing from now on. */
  readonly rotate: (
    actor: Actor,
    staffId: number
  ) => Effect.Effect<StaffFields & { readonly token: string }, Refusal<"NOT_FOUND"> | Unavailable>
  readonly list: Effect.Effect<ReadonlyArray<StaffFields>, Unavailable>
}>()("pitboss/backoffice/StaffAccounts") {
  static readonly layer = Layer.effect(
    StaffAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const entropy = yield* Entropy
      const { bootstrapToken } = yield* Settings
      const columns = sql.literal("id::float8 AS id, name, role, active, created_at, token_issued_at")

      const authenticate = Effect.fn("StaffAccounts.authenticate")(function*(token: string) {
        if (bootstrapToken !== undefined && equalSecrets(Redacted.value(bootstrapToken), token)) {
          return { id: null, name: "bootstrap", role: "admin", label: "staff:bootstrap" } satisfies Actor
        }
        const row = yield* orTryAgain(oneOf(staffRows(
          sql`SELECT ${columns} FROM staff WHERE token_hash = ${sha256(token)} AND active`
        )))
        return row === undefined
          ? undefined
          : { id: row.id, name: row.name, role: row.role, label: `staff:${row.id}` } satisfies Actor
      })

      const create = Effect.fn("StaffAccounts.create")(function*(actor: Actor, input: StaffInput) {
        const token = newToken(entropy)
        const fields = yield* auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const fields: StaffFields = {
              id: newId,
              name: input.name,
              role: input.role ?? "admin",
              active: true,
              created_at: iso(now),
              token_issued_at: iso(now)
            }
            yield* sql`INSERT INTO staff (id, name, role, token_hash, created_at, token_issued_at)
              VALUES (${fields.id}, ${fields.name}, ${fields.role}, ${sha256(token)}, ${fields.created_at},
                ${fields.token_issued_at})`
            yield* record({ action: "staff.create", subject: `staff:${newId}`, before: null, after: fields })
            return fields
          }))
        return { ...fields, token }
      })

      /** An account, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(staffId: number) {
        const row = yield* oneOf(
          staffRows(sql`SELECT ${columns} FROM staff WHERE id = ${staffId} FOR NO KEY UPDATE`)
        )
        return row === undefined ? yield* Effect.fail(notFound) : toFields(row)
      })

      const update = Effect.fn("StaffAccounts.update")((actor: Actor, staffId: number, input: StaffUpdate) =>
        auditLog.change(actor, ({ record }) =>
          Effect.gen(function*() {
            // all admins, in one order: two who would take away each other wait here, and the second one is refused
            const admins = yield* staffRows(
              sql`SELECT ${columns} FROM staff WHERE role = 'admin' AND active ORDER BY staff.id FOR NO KEY UPDATE`
            )
            const before = yield* locked(staffId)
            const after = changed(before, input)
            if (after === before) return before
            const others = admins.filter(({ id }) => id !== staffId)
            if (admins.length > others.length && others.length === 0) {
              if (!after.active) return yield* Effect.fail(lastAdmin("active"))
              if (after.role !== "admin") return yield* Effect.fail(lastAdmin("role"))
            }
            yield* sql`UPDATE staff SET name = ${after.name}, role = ${after.role}, active = ${after.active}
              WHERE id = ${staffId}`
            yield* record({ action: "staff.update", subject: `staff:${staffId}`, before, after })
            return after
          }))
      )

      const rotate = Effect.fn("StaffAccounts.rotate")(function*(actor: Actor, staffId: number) {
        const token = newToken(entropy)
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(staffId)
            const after = { ...before, token_issued_at: iso(now) }
            yield* sql`UPDATE staff SET token_hash = ${sha256(token)}, token_issued_at = ${after.token_issued_at}
              WHERE id = ${staffId}`
            yield* record({ action: "staff.rotate", subject: `staff:${staffId}`, before, after })
            return after
          }))
        return { ...fields, token }
      })

      const list = orTryAgain(staffRows(sql`SELECT ${columns} FROM staff ORDER BY id`)).pipe(
        Effect.map((found) => found.map(toFields)),
        Effect.withSpan("StaffAccounts.list")
      )

      return StaffAccounts.of({ authenticate, create, update, rotate, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
