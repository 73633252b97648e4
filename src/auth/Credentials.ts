import { Notices } from "../cluster/Notices.ts"
import { Context, Effect, Layer, Schema } from "effect"
import { ServingClient } from "../platform/Database.ts"
import { type SqlError } from "effect/sql"
import { limitFields } from "../domain/state/Limits.ts"
import { type ApiKey, features, type Operator, type Provider, scopes } from "../domain/state/Operator.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { Secrets } from "../platform/Secrets.ts"
import { makeLogThrottle } from "../platform/LogThrottle.ts"
import { fromDateOrNull } from "../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../store/Rows.ts"
import { type Networks, networks } from "./Addresses.ts"
import { makeKeyDirectory } from "./KeyDirectory.ts"
import { type SigningKey, signingKey } from "./Signature.ts"

/** Purposes of the sealed secrets of API keys and providers. */
export const apiKeyPurpose = (id: number): string => `api-key:${id}`
export const providerPurpose = (id: number): string => `provider:${id}`

/** An operator's key with its opened secret. */
export interface OperatorCredential {
  /** Context of the handlers. */
  readonly caller: { readonly operator: Operator; readonly apiKey: ApiKey }
  readonly signingKey: SigningKey
  /** Empty allows any address. */
  readonly allowed: Networks
}

/** A provider's key with its opened secret. */
export interface ProviderCredential {
  readonly provider: Provider
  readonly signingKey: SigningKey
  readonly allowed: Networks
}

const unreadable = refuse("TRY_AGAIN", "The key cannot be checked right now. Its secret has to be renewed by staff.")

const Texts = Schema.Array(Schema.String)

const ApiKeyRow = Schema.Struct({
  id: Schema.Number,
  key: Schema.String,
  name: Schema.String,
  secret_sealed: Schema.Uint8Array,
  scopes: Texts,
  ip_allowlist: Texts,
  rate_limit_per_minute: Schema.Int,
  expires_at: Schema.NullOr(Schema.Date),
  revoked_at: Schema.NullOr(Schema.Date),
  rotated_at: Schema.NullOr(Schema.Date),
  operator_id: Schema.Number,
  operator_slug: Schema.String,
  operator_name: Schema.String,
  operator_currency: Schema.String,
  cooperation_model: Schema.Literals(["api", "turnkey"]),
  operator_active: Schema.Boolean,
  cooling_off_hours: Schema.Int,
  withdrawal_second_approval_above: Schema.NullOr(Schema.Number),
  kyc_withdrawal_threshold: Schema.NullOr(Schema.Number),
  forfeit_bonus_on_withdrawal: Schema.Boolean,
  disabled_features: Texts,
  original_max_stake: Schema.Number,
  original_max_payout: Schema.Number,
  daily_deposit_cap: Schema.NullOr(Schema.Number),
  daily_withdrawal_cap: Schema.NullOr(Schema.Number),
  default_limits: Schema.Record(Schema.Literals(limitFields), Schema.optionalKey(Schema.Number))
})

const ProviderRow = Schema.Struct({
  id: Schema.Number,
  slug: Schema.String,
  name: Schema.String,
  key: Schema.String,
  secret_sealed: Schema.Uint8Array,
  launch_url: Schema.NullOr(Schema.String),
  demo_url: Schema.NullOr(Schema.String),
  ip_allowlist: Texts,
  active: Schema.Boolean
})

const toOperator = (row: typeof ApiKeyRow.Type): Operator => ({
  id: row.operator_id,
  slug: row.operator_slug,
  name: row.operator_name,
  currency: row.operator_currency,
  cooperationModel: row.cooperation_model,
  active: row.operator_active,
  coolingOffHours: row.cooling_off_hours,
  withdrawalSecondApprovalAbove: row.withdrawal_second_approval_above,
  kycWithdrawalThreshold: row.kyc_withdrawal_threshold,
  forfeitBonusOnWithdrawal: row.forfeit_bonus_on_withdrawal,
  disabledFeatures: features.filter((feature) => row.disabled_features.includes(feature)),
  originalBounds: { maxStake: row.original_max_stake, maxPayout: row.original_max_payout },
  dailyDepositCap: row.daily_deposit_cap,
  dailyWithdrawalCap: row.daily_withdrawal_cap,
  defaultLimits: row.default_limits
})

const toApiKey = (row: typeof ApiKeyRow.Type): ApiKey => ({
  id: row.id,
  operatorId: row.operator_id,
  key: row.key,
  name: row.name,
  scopes: scopes.filter((scope) => row.scopes.includes(scope)),
  ipAllowlist: row.ip_allowlist,
  rateLimitPerMinute: row.rate_limit_per_minute,
  expiresAt: fromDateOrNull(row.expires_at),
  revokedAt: fromDateOrNull(row.revoked_at),
  rotatedAt: fromDateOrNull(row.rotated_at)
})

const toProvider = (row: typeof ProviderRow.Type): Provider => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  key: row.key,
  launchUrl: row.launch_url,
  demoUrl: row.demo_url,
  ipAllowlist: row.ip_allowlist,
  active: row.active
})

/** Form of a public key id; any other text is unknown without a query. */
const keyForm = /^[\x21-\x7e]{1,128}$/

const VersionRow = Schema.Struct({ version: Schema.String })

const isSameSecret = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/**
 * Signing keys of requests. All are in memory, with the secrets of used ones opened, and compared with the database once a second while in
 * use: changes by another process apply within two seconds, those by this process at once through `invalidate`, to be called after every
 * committed change of a key, an operator or a provider. While the database is unavailable, the last reading is used for ten seconds.
 */
export class Credentials extends Context.Service<Credentials, {
  /** An operator's key; undefined when unknown. */
  readonly operator: (key: string) => Effect.Effect<OperatorCredential | undefined, Refusal<"TRY_AGAIN">>
  /** As `operator`, synchronously; undefined when it has to be looked up. `now` in epoch milliseconds. */
  readonly rememberedOperator: (key: string, now: number) => OperatorCredential | undefined
  /** A provider's key; undefined when unknown. */
  readonly provider: (key: string) => Effect.Effect<ProviderCredential | undefined, Refusal<"TRY_AGAIN">>
  /** As `provider`, synchronously; undefined when it has to be looked up. `now` in epoch milliseconds. */
  readonly rememberedProvider: (key: string, now: number) => ProviderCredential | undefined
  /** Evicts a public key id or, without one, all keys; at every node. */
  readonly invalidate: (key?: string) => Effect.Effect<void>
  /** Evicts the keys of one operator, at every node. */
  readonly invalidateOperator: (operatorId: number) => Effect.Effect<void>
}>()("pitboss/auth/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const secrets = yield* Secrets
      const throttle = yield* makeLogThrottle(5000)
      const apiKeyRows = rowsOf(ApiKeyRow)
      const providerRows = rowsOf(ProviderRow)
      const versionRows = rowsOf(VersionRow)

      /** An unreadable secret is not the caller's error: TRY_AGAIN, until the key is rotated. */
      const open = (purpose: string, sealed: Uint8Array) =>
        secrets.openText(purpose, sealed).pipe(
          Effect.map(signingKey),
          Effect.catch(() =>
            Effect.andThen(
              throttle((others) =>
                Effect.logError("key secret cannot be opened with this MASTER_KEY").pipe(
                  Effect.annotateLogs({ secret: purpose, others, remedy: "rotate the key" })
                )
              ),
              Effect.fail(unreadable)
            )
          )
        )

      /** Digest of the ids of the transactions that wrote the rows; changes with every write. */
      const version = (rows: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
        orTryAgain(Effect.map(oneOf(versionRows(rows)), (row) => row?.version ?? ""))

      const operators = yield* makeKeyDirectory<typeof ApiKeyRow.Type, OperatorCredential>({
        version: version(sql`
          SELECT md5(coalesce(string_agg(k.id || ' ' || k.xmin || ' ' || o.xmin, ',' ORDER BY k.id), '')) AS version
          FROM api_keys k JOIN operators o ON o.id = k.operator_id`),
        rows: orTryAgain(apiKeyRows(sql`
          SELECT k.id, k.key, k.name, k.secret_sealed, k.scopes, k.ip_allowlist, k.rate_limit_per_minute, k.expires_at,
            k.revoked_at, k.rotated_at, o.id AS operator_id, o.slug AS operator_slug, o.name AS operator_name,
            o.currency AS operator_currency, o.cooperation_model, o.active AS operator_active, o.cooling_off_hours,
            o.withdrawal_second_approval_above, o.kyc_withdrawal_threshold, o.forfeit_bonus_on_withdrawal,
            o.disabled_features, o.original_max_stake, o.original_max_payout,
            o.daily_deposit_cap, o.daily_withdrawal_cap, o.default_limits
          FROM api_keys k JOIN operators o ON o.id = k.operator_id`)),
        open: Effect.fnUntraced(function*(row, earlier) {
          const apiKey = toApiKey(row)
          return {
            caller: { operator: toOperator(row), apiKey },
            signingKey: earlier !== undefined && isSameSecret(earlier.row.secret_sealed, row.secret_sealed)
              ? earlier.value.signingKey
              : yield* open(apiKeyPurpose(apiKey.id), row.secret_sealed),
            allowed: networks(apiKey.ipAllowlist)
          }
        })
      })

      // a provider has one protocol: keys of providers with a vendor protocol are not accepted here
      const providers = yield* makeKeyDirectory<typeof ProviderRow.Type, ProviderCredential>({
        version: version(sql`
          SELECT md5(coalesce(string_agg(id || ' ' || xmin, ',' ORDER BY id), '')) AS version
          FROM providers WHERE protocol = 'pitboss'`),
        rows: orTryAgain(providerRows(sql`
          SELECT id, slug, name, key, secret_sealed, launch_url, demo_url, ip_allowlist, active
          FROM providers WHERE protocol = 'pitboss'`)),
        open: Effect.fnUntraced(function*(row, earlier) {
          const provider = toProvider(row)
          return {
            provider,
            signingKey: earlier !== undefined && isSameSecret(earlier.row.secret_sealed, row.secret_sealed)
              ? earlier.value.signingKey
              : yield* open(providerPurpose(provider.id), row.secret_sealed),
            allowed: networks(provider.ipAllowlist)
          }
        })
      })

      // when it fails, they are read at the first use
      yield* Effect.ignoreCause(Effect.all([operators.refresh, providers.refresh], { concurrency: 2 }))

      const notices = yield* Notices
      const forgetKey = notices.define("key", (key) =>
        Effect.sync(() => {
          if (key === "") {
            operators.invalidateWhere(() => true)
            providers.invalidateWhere(() => true)
          } else {
            operators.invalidate(key)
            providers.invalidate(key)
          }
        }))
      const forgetOperator = notices.define(
        "operator.keys",
        (operatorId) => Effect.sync(() => operators.invalidateWhere((row) => row.operator_id === Number(operatorId)))
      )

      return Credentials.of({
        operator: (key) => keyForm.test(key) ? operators.get(key) : Effect.succeed(undefined),
        provider: (key) => keyForm.test(key) ? providers.get(key) : Effect.succeed(undefined),
        rememberedOperator: operators.peek,
        rememberedProvider: providers.peek,
        invalidate: (key = "") => forgetKey(key),
        invalidateOperator: (operatorId) => forgetOperator(String(operatorId))
      })
    })
  )
}
