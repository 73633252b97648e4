/** The keys that operators sign their requests with. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { apiKeyPurpose, Credentials } from "../../auth/Credentials.ts"
import { type Scope, scopes } from "../../domain/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso, isoOrNull, parseIso } from "../../platform/Time.ts"
import { isStorable, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { idIn, makeReferences } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"

export interface ApiKeyInput {
  /** Id or slug. */
  readonly operator: string
  readonly name?: string
  readonly scopes?: ReadonlyArray<Scope>
  /** Addresses and CIDR ranges; empty allows any. */
  readonly ip_allowlist?: ReadonlyArray<string>
  readonly rate_limit_per_minute?: number
  /** ISO 8601. */
  readonly expires_at?: string | null
}

const ApiKeyRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  key: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  rate_limit_per_minute: Schema.Number,
  expires_at: Schema.NullOr(Schema.Date),
  revoked_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  updated_at: Schema.Date
})

const toFields = (row: typeof ApiKeyRow.Type) => ({
  ...row,
  expires_at: isoOrNull(row.expires_at?.getTime() ?? null),
  revoked_at: isoOrNull(row.revoked_at?.getTime() ?? null),
  created_at: iso(row.created_at.getTime()),
  updated_at: iso(row.updated_at.getTime())
})

/** An API key as it is shown: never with its secret. */
export type ApiKeyFields = ReturnType<typeof toFields>

/** What is shown once. */
export interface WithSecret {
  readonly secret: string
}

const keyRows = rowsOf(ApiKeyRow)

const notFound = refuse("NOT_FOUND", "There is no such key.")
const revoked = refuse("INVALID_REQUEST", "The key is revoked. Create a new one.")

/** 43 characters of 62 carry 256 bits. */
const newSecret = (entropy: Entropy["Service"]): string => entropy.token("sk_live_", 43)

type Unavailable = Refusal<"TRY_AGAIN">

export class ApiKeys extends Context.Service<ApiKeys, {
  /** Makes a key. The secret is shown here and never again. */
  readonly create: (
    actor: Actor,
    input: ApiKeyInput
  ) => Effect.Effect<ApiKeyFields & WithSecret, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /** Gives a key, by public key id or id, a new secret; the old one signs nothing from now on. `operator`: only a key of this one. */
  readonly rotate: (
    actor: Actor,
    reference: string,
    operator?: string
  ) => Effect.Effect<ApiKeyFields & WithSecret, Refusal<"NOT_FOUND" | "INVALID_REQUEST"> | Unavailable>
  /** Ends a key for good. Doing so again changes nothing. */
  readonly revoke: (
    actor: Actor,
    reference: string,
    operator?: string
  ) => Effect.Effect<ApiKeyFields, Refusal<"NOT_FOUND"> | Unavailable>
  /** The keys of one operator or, with undefined, all; newest first. */
  readonly list: (operator: string | undefined) => Effect.Effect<
    ReadonlyArray<ApiKeyFields>,
    Refusal<"NOT_FOUND"> | Unavailable
  >
}>()("pitboss/backoffice/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const secrets = yield* Secrets
      const entropy = yield* Entropy
      const references = yield* makeReferences
      const columns = sql.literal(
        `id, operator_id, key, name, scopes, ip_allowlist,
        rate_limit_per_minute, expires_at, revoked_at, created_at, updated_at`
      )

      const create = Effect.fn("ApiKeys.create")(function*(actor: Actor, input: ApiKeyInput) {
        const expiresAt = input.expires_at === undefined || input.expires_at === null
          ? null
          : parseIso(input.expires_at) ?? 0
        if (expiresAt !== null && expiresAt <= (yield* Clock.currentTimeMillis)) {
          return yield* Effect.fail(refuseFields({ expires_at: ["must be a time to come"] }))
        }
        const secret = newSecret(entropy)
        const fields = yield* auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const fields: ApiKeyFields = {
              id: newId,
              operator_id: operatorId,
              key: entropy.token("pk_live_", 24),
              name: input.name ?? "API key",
              scopes: input.scopes ?? scopes,
              ip_allowlist: input.ip_allowlist ?? [],
              rate_limit_per_minute: input.rate_limit_per_minute ?? 600,
              expires_at: isoOrNull(expiresAt),
              revoked_at: null,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* sql`INSERT INTO api_keys (id, operator_id, key, name, secret_sealed, scopes, ip_allowlist,
                rate_limit_per_minute, expires_at, created_at, updated_at)
              VALUES (${fields.id}, ${operatorId}, ${fields.key}, ${fields.name},
                ${secrets.seal(apiKeyPurpose(newId), secret)}, ${[...fields.scopes]}, ${[...fields.ip_allowlist]},
                ${fields.rate_limit_per_minute}, ${fields.expires_at}, ${fields.created_at}, ${fields.updated_at})`
            yield* record({
              action: "key.create",
              operatorId,
              subject: `key:${fields.key}`,
              before: null,
              after: fields
            })
            return fields
          }))
        credentials.invalidate(fields.key)
        return { ...fields, secret }
      })

      /** The key that a reference names, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(reference: string, operator: string | undefined) {
        const id = idIn(reference)
        if (!isStorable(reference)) return yield* Effect.fail(notFound)
        const row = yield* oneOf(keyRows(
          sql`SELECT ${columns} FROM api_keys WHERE ${
            id === undefined ? sql`key = ${reference}` : sql`id = ${id}`
          } FOR NO KEY UPDATE`
        ))
        if (row === undefined) return yield* Effect.fail(notFound)
        yield* references.refuseForeign(row.operator_id, operator, notFound)
        return toFields(row)
      })

      const rotate = Effect.fn("ApiKeys.rotate")(function*(actor: Actor, reference: string, operator?: string) {
        const secret = newSecret(entropy)
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference, operator)
            if (before.revoked_at !== null) return yield* Effect.fail(revoked)
            const after = { ...before, updated_at: iso(now) }
            yield* sql`UPDATE api_keys SET secret_sealed = ${secrets.seal(apiKeyPurpose(before.id), secret)},
                updated_at = ${after.updated_at}, rotated_at = ${after.updated_at}
              WHERE id = ${before.id}`
            yield* record({
              action: "key.rotate",
              operatorId: before.operator_id,
              subject: `key:${before.key}`,
              before,
              after
            })
            return after
          }))
        credentials.invalidate(fields.key)
        return { ...fields, secret }
      })

      const revoke = Effect.fn("ApiKeys.revoke")(function*(actor: Actor, reference: string, operator?: string) {
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference, operator)
            if (before.revoked_at !== null) return before
            const after = { ...before, revoked_at: iso(now), updated_at: iso(now) }
            yield* sql`UPDATE api_keys SET revoked_at = ${after.revoked_at}, updated_at = ${after.updated_at}
              WHERE id = ${before.id}`
            yield* record({
              action: "key.revoke",
              operatorId: before.operator_id,
              subject: `key:${before.key}`,
              before,
              after
            })
            return after
          }))
        credentials.invalidate(fields.key)
        return fields
      })

      const list = Effect.fn("ApiKeys.list")(function*(operator: string | undefined) {
        const operatorId = operator === undefined ? undefined : yield* references.operatorId(operator)
        const found = yield* keyRows(
          sql`SELECT ${columns} FROM api_keys
            WHERE ${operatorId === undefined ? sql`true` : sql`operator_id = ${operatorId}`} ORDER BY id DESC`
        )
        return found.map(toFields)
      }, orTryAgain)

      return ApiKeys.of({ create, rotate, revoke, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
