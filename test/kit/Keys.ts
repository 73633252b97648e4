/** Operator keys and game providers with their secrets, for tests that sign requests, and staff. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { apiKeyPurpose, Credentials, providerPurpose } from "../../src/auth/Credentials.ts"
import { type Scope, scopes } from "../../src/domain/state/Operator.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Secrets, sha256 } from "../../src/platform/Secrets.ts"
import { textArray } from "./Arrays.ts"
import type { Signer } from "./HttpCalls.ts"

export interface KeyOptions {
  readonly scopes?: ReadonlyArray<Scope>
  readonly ipAllowlist?: ReadonlyArray<string>
  readonly rateLimit?: number
  readonly expiresAt?: Date
  readonly revokedAt?: Date
}

/** Announces a new key, as the staff API does, when the test runs `Credentials`. */
const announce = (key: string) =>
  Effect.flatMap(
    Effect.serviceOption(Credentials),
    (found) => found._tag === "Some" ? found.value.invalidate(key) : Effect.void
  )

/** Adds a key of an operator. */
export const addApiKey = Effect.fnUntraced(function*(operatorId: number, options: KeyOptions = {}) {
  const sql = yield* SqlClient.SqlClient
  const { token } = yield* Entropy
  const secrets = yield* Secrets
  const id = yield* (yield* Ids).reserve(1)
  const key = token("pbk_live_", 24)
  const secret = token("", 40)
  yield* sql`INSERT INTO api_keys (id, operator_id, key, name, secret_sealed, scopes, ip_allowlist,
      rate_limit_per_minute, expires_at, revoked_at, created_at, updated_at)
    VALUES (${id}, ${operatorId}, ${key}, 'test', ${secrets.seal(apiKeyPurpose(id), secret)},
      ${textArray(options.scopes ?? scopes)}, ${textArray(options.ipAllowlist ?? [])}, ${options.rateLimit ?? 600},
      ${options.expiresAt ?? null}, ${options.revokedAt ?? null}, now(), now())`
  yield* announce(key)
  return { id, header: "X-Api-Key", key, secret } satisfies Signer & { readonly id: number }
})

/** Adds a game provider. */
export const addProvider = Effect.fnUntraced(function*(slug: string, ipAllowlist: ReadonlyArray<string> = []) {
  const sql = yield* SqlClient.SqlClient
  const { token } = yield* Entropy
  const secrets = yield* Secrets
  const id = yield* (yield* Ids).reserve(1)
  const key = token("pbp_live_", 24)
  const secret = token("", 40)
  yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, launch_url, demo_url, ip_allowlist, created_at,
      updated_at)
    VALUES (${id}, ${slug}, ${slug}, ${key}, ${secrets.seal(providerPurpose(id), secret)},
      ${`https://${slug}.example/play?token={token}&game={game}&mode={mode}`}, ${`https://${slug}.example/demo?game={game}`},
      ${textArray(ipAllowlist)}, now(), now())`
  yield* announce(key)
  return { id, header: "X-Provider-Key", key, secret } satisfies Signer & { readonly id: number }
})

/** Violations of a ledger but that of the accounts that {@link addStaff} writes past the audit log. */
export const exceptAddedStaff = <A extends { readonly rule: string }>(violations: ReadonlyArray<A>): ReadonlyArray<A> =>
  violations.filter(({ rule }) => rule !== "staff_unrecorded")

/** Adds a staff member with all permissions; returns the token. */
export const addStaff = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const token = (yield* Entropy).token("st_", 43)
  yield* sql`INSERT INTO staff (id, name, role, token_hash, token_issued_at, created_at)
    VALUES (${yield* (yield* Ids).reserve(1)}, ${name}, 'admin', ${sha256(token)}, now(), now())`
  return token
})
