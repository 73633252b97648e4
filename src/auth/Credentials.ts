/** Signing keys of operators and game providers, in memory. Secrets are decrypted at the first use of a key. */
import { Notices } from "../cluster/Notices.ts"
import { Context, Effect, Layer, Schema } from "effect"
import { ServingClient } from "../platform/Database.ts"
import { type SqlError } from "effect/sql"
import { ApiKey, Operator, Provider } from "../domain/state/Operator.ts"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import { wire } from "../domain/WireNames.ts"
import { Secrets } from "../platform/Secrets.ts"
import { makeLogThrottle } from "../platform/LogThrottle.ts"
import { columnsOf, oneOf, orTryAgain, rowsOf } from "../store/Rows.ts"
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

const unreadable = refuse("TRY_AGAIN", "The key's secret cannot be decrypted. Staff have to rotate the key.")

const ApiKeyRow = Schema.Struct({ ...ApiKey.fields, secretSealed: Schema.Uint8Array, operator: wire(Operator) })

const apiKeyColumns = columnsOf(ApiKeyRow, "k", { operator: "to_jsonb(o)" })

const ProviderRow = Schema.Struct({ ...Provider.fields, secretSealed: Schema.Uint8Array })

const providerColumns = columnsOf(ProviderRow)

/** Form of a public key id; any other text is unknown without a query. */
const keyForm = /^[\x21-\x7e]{1,128}$/

const VersionRow = Schema.Struct({ version: Schema.String })

const isSameSecret = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/**
 * Keys are compared with the database once a second while in use: changes by another process apply within two seconds, those by this process at
 * once through `invalidate`, to be called after every committed change of a key, an operator or a provider. While the database is unavailable, the
 * last reading is used for ten seconds.
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
                Effect.logError("API key secret cannot be decrypted with this MASTER_KEY").pipe(
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
          SELECT ${sql.literal(apiKeyColumns)}
          FROM api_keys k JOIN operators o ON o.id = k.operator_id`)),
        open: Effect.fnUntraced(function*({ operator, secretSealed, ...apiKey }, earlier) {
          return {
            caller: { operator, apiKey },
            signingKey: earlier !== undefined && isSameSecret(earlier.row.secretSealed, secretSealed)
              ? earlier.value.signingKey
              : yield* open(apiKeyPurpose(apiKey.id), secretSealed),
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
          SELECT ${sql.literal(providerColumns)}
          FROM providers WHERE protocol = 'pitboss'`)),
        open: Effect.fnUntraced(function*({ secretSealed, ...provider }, earlier) {
          return {
            provider,
            signingKey: earlier !== undefined && isSameSecret(earlier.row.secretSealed, secretSealed)
              ? earlier.value.signingKey
              : yield* open(providerPurpose(provider.id), secretSealed),
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
        (operatorId) => Effect.sync(() => operators.invalidateWhere((row) => row.operatorId === Number(operatorId)))
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
