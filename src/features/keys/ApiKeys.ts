/** API keys that operators sign their requests with. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { apiKeyPurpose, Credentials } from "../../auth/Credentials.ts"
import { scopes } from "../../domain/state/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso, isoOrNull, parseIso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { isStorable, orTryAgain } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { idIn, makeReferences } from "../../office/References.ts"
import type { Action } from "../../office/Authorisation.ts"
import type { Actor } from "../../office/Actor.ts"
import { ApiKey, type KeyInput } from "../../contract/keys/StaffApi.ts"

type ApiKey = typeof ApiKey.Type

/** Answer with a secret that is shown once. */
export interface WithSecret {
  readonly secret: string
}

const notFound = refuse("NOT_FOUND", "There is no such key.")
const revoked = refuse("INVALID_REQUEST", "The key is revoked. Create a new one.")

/** 43 characters of 62 carry 256 bits. */
const newSecret = (entropy: Entropy["Service"]): string => entropy.token("sk_live_", 43)

/** A line of the audit log names a key by its public part. */
const entryOf = (action: Action, before: ApiKey | null, after: ApiKey) => ({
  action,
  operatorId: after.operator_id,
  subject: `key:${after.key}`,
  before,
  after
})

type Unavailable = Refusal<"TRY_AGAIN">

export class ApiKeys extends Context.Service<ApiKeys, {
  /** Makes a key. The secret is shown here and never again. */
  readonly create: (
    actor: Actor,
    input: KeyInput
  ) => Effect.Effect<ApiKey & WithSecret, Refusal<"NOT_FOUND" | "VALIDATION_FAILED"> | Unavailable>
  /** Gives a key, by public key id or id, a new secret; the old one signs nothing from now on. `operator`: only a key of this one. */
  readonly rotate: (
    actor: Actor,
    reference: string,
    operator?: string
  ) => Effect.Effect<ApiKey & WithSecret, Refusal<"NOT_FOUND" | "INVALID_REQUEST"> | Unavailable>
  /** Ends a key for good. Doing so again changes nothing. */
  readonly revoke: (
    actor: Actor,
    reference: string,
    operator?: string
  ) => Effect.Effect<ApiKey, Refusal<"NOT_FOUND"> | Unavailable>
  /** The keys of one operator or, with undefined, all that the actor may see; newest first. */
  readonly list: (actor: Actor, operator: string | undefined) => Effect.Effect<
    ReadonlyArray<ApiKey>,
    Refusal<"NOT_FOUND"> | Unavailable
  >
}>()("pitboss/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const secrets = yield* Secrets
      const entropy = yield* Entropy
      const references = yield* makeReferences
      const keys = yield* recordsOf("api_keys", ApiKey)

      const create = Effect.fn("ApiKeys.create")(
        function*(actor: Actor, { expires_at: end = null, operator, ...input }: KeyInput) {
          const expiresAt = end === null ? null : parseIso(end) ?? 0
          if (expiresAt !== null && expiresAt <= (yield* Clock.currentTimeMillis)) {
            return yield* Effect.fail(refuseFields({ expires_at: ["must be a time to come"] }))
          }
          const secret = newSecret(entropy)
          const key = yield* auditLog.change(actor, ({ newId, now, record }) =>
            Effect.gen(function*() {
              const after: ApiKey = {
                id: newId,
                operator_id: yield* references.operatorId(operator),
                key: entropy.token("pk_live_", 24),
                name: "API key",
                scopes,
                ip_allowlist: [],
                rate_limit_per_minute: 600,
                ...input,
                expires_at: isoOrNull(expiresAt),
                revoked_at: null,
                created_at: iso(now),
                updated_at: iso(now)
              }
              yield* keys.insert(after, { secret_sealed: secrets.seal(apiKeyPurpose(newId), secret) })
              yield* record(entryOf("key.create", null, after))
              return after
            }))
          yield* credentials.invalidate(key.key)
          return { ...key, secret }
        }
      )

      /** The key that a reference names, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(reference: string, operator: string | undefined) {
        const id = idIn(reference)
        if (!isStorable(reference)) return yield* Effect.fail(notFound)
        const key = yield* keys.find(
          sql`${id === undefined ? sql`key = ${reference}` : sql`id = ${id}`} FOR NO KEY UPDATE`
        )
        if (key === undefined) return yield* Effect.fail(notFound)
        yield* references.refuseForeign(key.operator_id, operator, notFound)
        return key
      })

      const rotate = Effect.fn("ApiKeys.rotate")(function*(actor: Actor, reference: string, operator?: string) {
        const secret = newSecret(entropy)
        const key = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference, operator)
            if (before.revoked_at !== null) return yield* Effect.fail(revoked)
            const after = { ...before, updated_at: iso(now) }
            yield* keys.update(before, after, {
              secret_sealed: secrets.seal(apiKeyPurpose(before.id), secret),
              rotated_at: after.updated_at
            })
            yield* record(entryOf("key.rotate", before, after))
            return after
          }))
        yield* credentials.invalidate(key.key)
        return { ...key, secret }
      })

      const revoke = Effect.fn("ApiKeys.revoke")(function*(actor: Actor, reference: string, operator?: string) {
        const key = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference, operator)
            if (before.revoked_at !== null) return before
            const after = { ...before, revoked_at: iso(now), updated_at: iso(now) }
            yield* keys.update(before, after)
            yield* record(entryOf("key.revoke", before, after))
            return after
          }))
        yield* credentials.invalidate(key.key)
        return key
      })

      const list = Effect.fn("ApiKeys.list")(function*(actor: Actor, operator: string | undefined) {
        return yield* keys.all(
          sql`${yield* references.ofScope(actor, operator)} ORDER BY api_keys.created_at DESC, id DESC`
        )
      }, orTryAgain)

      return ApiKeys.of({ create, rotate, revoke, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
