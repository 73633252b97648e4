/** Staff management of the API keys that operators sign their requests with. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { apiKeyPurpose, Credentials } from "../../auth/Credentials.ts"
import { defaultScopes } from "../../domain/state/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso, isoOrNull, parseIso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { isStorable, oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { idIn, makeReferences } from "../../office/References.ts"
import type { Action } from "../../office/Authorisation.ts"
import type { Actor } from "../../office/Actor.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { ApiKey, type KeyInput, type KeyUpdate } from "../../contract/keys/StaffApi.ts"

type ApiKey = typeof ApiKey.Type

/** Answer with a secret that is shown once. */
export interface WithSecret {
  readonly secret: string
}

const notFound = refuse("NOT_FOUND", "There is no such key.")
const revoked = refuse("INVALID_REQUEST", "The key is revoked. Create a new one.")

/** Whether an operator is for testing shows in its keys. */
type KeyKind = "live" | "test"

const operatorRows = rowsOf(Schema.Struct({ isSandbox: Schema.Boolean }))

/** 43 characters of 62 carry 256 bits. */
const newSecret = (entropy: Entropy["Service"], kind: KeyKind): string => entropy.token(`sk_${kind}_`, 43)

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
  /** Changes a key, by public key id or id, from its next request on. `operator`: only a key of this one. */
  readonly update: (
    actor: Actor,
    reference: string,
    input: KeyUpdate,
    operator?: string
  ) => Effect.Effect<ApiKey, Refusal<"NOT_FOUND" | "INVALID_REQUEST"> | Unavailable>
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
            return yield* Effect.fail(refuseFields({ expires_at: ["must be in the future"] }))
          }
          const made = yield* auditLog.change(actor, ({ newId, now, record }) =>
            Effect.gen(function*() {
              const operatorId = yield* references.operatorId(operator)
              const owner = yield* oneOf(
                operatorRows(sql`SELECT is_sandbox AS "isSandbox" FROM operators WHERE id = ${operatorId}`)
              )
              const isSandbox = owner?.isSandbox === true
              const kind = isSandbox ? "test" : "live"
              const secret = newSecret(entropy, kind)
              const after: ApiKey = {
                id: newId,
                operator_id: operatorId,
                key: entropy.token(`pk_${kind}_`, 24),
                name: "API key",
                scopes: defaultScopes(isSandbox),
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
              return { ...after, secret }
            }))
          yield* credentials.invalidate(made.key)
          return made
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

      const update = Effect.fn("ApiKeys.update")(
        function*(actor: Actor, reference: string, input: KeyUpdate, operator?: string) {
          const key = yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = yield* locked(reference, operator)
              if (before.revoked_at !== null) return yield* Effect.fail(revoked)
              const different = applyUpdate<ApiKey, KeyUpdate>(before, input)
              if (different === before) return before
              const after = { ...different, updated_at: iso(now) }
              yield* keys.update(before, after)
              yield* record(entryOf("key.update", before, after))
              return after
            }))
          yield* credentials.invalidate(key.key)
          return key
        }
      )

      const rotate = Effect.fn("ApiKeys.rotate")(function*(actor: Actor, reference: string, operator?: string) {
        const made = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference, operator)
            if (before.revoked_at !== null) return yield* Effect.fail(revoked)
            const secret = newSecret(entropy, before.key.startsWith("pk_test_") ? "test" : "live")
            const after = { ...before, updated_at: iso(now) }
            yield* keys.update(before, after, {
              secret_sealed: secrets.seal(apiKeyPurpose(before.id), secret),
              rotated_at: after.updated_at
            })
            yield* record(entryOf("key.rotate", before, after))
            return { ...after, secret }
          }))
        yield* credentials.invalidate(made.key)
        return made
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

      return ApiKeys.of({ create, update, rotate, revoke, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
