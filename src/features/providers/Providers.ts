/** Staff management of game providers: keys, addresses, settings and activation. */
import { Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials, providerPurpose } from "../../auth/Credentials.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { reachable } from "../../platform/Loopback.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { Games } from "../games/Games.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { Integrations } from "../integrations/Integrations.ts"
import { type ProviderCall, ProviderCallLog } from "../integrations/ProviderCallLog.ts"
import type { WithSecret } from "../keys/ApiKeys.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import { type Scope, within } from "../../store/OperatorScope.ts"
import type { Actor } from "../../office/Actor.ts"
import {
  addressIssues,
  movedIssues,
  secretsAmong,
  type SettingsObject,
  withoutNulls
} from "../../office/OutgoingSettings.ts"
import { makeProviderSettings, ownProtocol } from "../integrations/ProviderSettings.ts"
import { settingsIssues } from "../../contract/providers/SettingsResource.ts"
import {
  type ProviderDetails,
  type ProviderInput,
  type ProviderUpdate,
  StaffProvider,
  type VendorCallLine
} from "../../contract/providers/StaffApi.ts"

type StaffProvider = typeof StaffProvider.Type

const idRows = rowsOf(Schema.Struct({ id: Schema.Number }))
const sealedRows = rowsOf(Schema.Struct({ settings_sealed: Schema.NullOr(Schema.Uint8Array) }))

const protocolIsFixed = refuseFields({ protocol: ["cannot be changed: make another provider"] })

const notFound = refuse("NOT_FOUND", "There is no such provider.")

const slugTaken = orTaken({ providers_slug_key: "slug" })

/** 43 characters of 62 carry 256 bits. */
const newSecret = (entropy: Entropy["Service"]): string => entropy.token("ps_live_", 43)

type Unavailable = Refusal<"TRY_AGAIN">

export class Providers extends Context.Service<Providers, {
  /** Makes a provider with its key. The secret is shown here and never again. */
  readonly create: (
    actor: Actor,
    input: ProviderInput
  ) => Effect.Effect<StaffProvider & WithSecret, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Changes a provider, by id or slug, for every request and every game from now on. */
  readonly update: (
    actor: Actor,
    reference: string,
    input: ProviderUpdate
  ) => Effect.Effect<StaffProvider, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Gives a provider a new secret; the old one signs nothing from now on. */
  readonly rotate: (
    actor: Actor,
    reference: string
  ) => Effect.Effect<StaffProvider & WithSecret, Refusal<"NOT_FOUND"> | Unavailable>
  /** A provider by id or slug, with its vendor settings and call statistics. */
  readonly show: (reference: string) => Effect.Effect<ProviderDetails, Refusal<"NOT_FOUND"> | Unavailable>
  /** Latest calls of a provider's vendor at any node, newest first. For players outside the actor's scope, only time and result. */
  readonly calls: (
    actor: Pick<Actor, "operators">,
    reference: string
  ) => Effect.Effect<ReadonlyArray<VendorCallLine>, Refusal<"NOT_FOUND"> | Unavailable>
  /** The id of a provider by id or slug. */
  readonly idOf: (reference: string) => Effect.Effect<number, Refusal<"NOT_FOUND"> | Unavailable>
  /** All providers, by id. */
  readonly list: Effect.Effect<ReadonlyArray<StaffProvider>, Unavailable>
}>()("pitboss/providers/Providers") {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const integrations = yield* Integrations
      const games = yield* Games
      const secrets = yield* Secrets
      const entropy = yield* Entropy
      const references = yield* makeReferences
      const providers = yield* recordsOf("providers", StaffProvider)
      const vendorSettings = yield* makeProviderSettings
      const callLog = yield* ProviderCallLog
      const playerRefs = yield* PlayerRefs
      const { host, port, providerAllowInsecure, publicUrl } = yield* Settings

      /** The columns of settings that the protocol takes, or everything that is wrong with them. */
      const judged = (
        providerId: number,
        name: string,
        settings: SettingsObject
      ): Effect.Effect<ReturnType<typeof vendorSettings.divide>, Refusal<"VALIDATION_FAILED">> => {
        const protocol = vendorSettings.protocolOf(name)
        if (protocol === undefined) {
          if (name !== ownProtocol) {
            return Effect.fail(refuseFields({ protocol: [`must be one of: ${vendorSettings.names.join(", ")}`] }))
          }
          return Object.keys(settings).length === 0
            ? Effect.succeed({ settings, settings_sealed: null })
            : Effect.fail(refuseFields({ settings: [`must be left out: the protocol ${ownProtocol} has none`] }))
        }
        const bound = protocol.bind(settings)
        const issues = {
          ...addressIssues(settings, providerAllowInsecure),
          ...(Result.isFailure(bound) ? settingsIssues(bound.failure) : {})
        }
        return Object.keys(issues).length === 0
          ? Effect.succeed(vendorSettings.divide(providerId, protocol, settings))
          : Effect.fail(refuseFields(issues))
      }

      /** All settings of a provider; without the secret ones where they cannot be opened any more, so that they can be given anew. */
      const opened = Effect.fnUntraced(function*(provider: StaffProvider) {
        const row = yield* oneOf(sealedRows(sql`SELECT settings_sealed FROM providers WHERE id = ${provider.id}`))
        return yield* Effect.orElseSucceed(
          vendorSettings.open({ ...provider, settings_sealed: row?.settings_sealed ?? null }),
          () => provider.settings
        )
      })

      const create = Effect.fn("Providers.create")(function*(actor: Actor, input: ProviderInput) {
        const secret = newSecret(entropy)
        const { protocol = ownProtocol, settings: given = {} } = input
        const provider = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const { settings, settings_sealed } = yield* judged(newId, protocol, withoutNulls(given))
            const provider: StaffProvider = {
              id: newId,
              key: entropy.token("pv_live_", 24),
              launch_url: null,
              demo_url: null,
              ip_allowlist: [],
              active: true,
              sync_hours: 24,
              ...input,
              protocol,
              settings,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* providers.insert(provider, {
              secret_sealed: secrets.seal(providerPurpose(newId), secret),
              settings_sealed
            })
            return yield* recordChange("provider.create", null, provider)
          }).pipe(slugTaken))
        yield* credentials.invalidate(provider.key)
        yield* integrations.invalidate(provider.slug)
        return { ...provider, secret }
      })

      /** The provider that a reference names, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(reference: string) {
        const provider = yield* providers.find(
          sql`id = ${yield* references.providerId(reference)} FOR NO KEY UPDATE`
        )
        return provider === undefined ? yield* Effect.fail(notFound) : provider
      })

      const update = Effect.fn("Providers.update")(function*(actor: Actor, reference: string, input: ProviderUpdate) {
        const { settings: given, ...fields } = input
        const provider = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference)
            if (fields.protocol !== undefined && fields.protocol !== before.protocol) {
              return yield* Effect.fail(protocolIsFixed)
            }
            const known = given === undefined ? {} : yield* opened(before)
            const moved = movedIssues(secretsOf(before.protocol), known, given ?? {})
            if (Object.keys(moved).length > 0) return yield* Effect.fail(refuseFields(moved))
            const replaced = given === undefined
              ? undefined
              : yield* judged(before.id, before.protocol, withoutNulls({ ...known, ...given }))
            const different = applyUpdate<StaffProvider, ProviderUpdate>(before, {
              ...fields,
              ...(replaced === undefined ? {} : { settings: replaced.settings })
            })
            const secretsSet = secretsAmong(secretsOf(before.protocol), given ?? {})
            if (different === before && secretsSet.length === 0) return before
            const after = { ...different, updated_at: iso(now) }
            yield* providers.update(
              before,
              after,
              replaced === undefined ? {} : { settings_sealed: replaced.settings_sealed }
            )
            yield* record({
              action: "provider.update",
              subject: `provider:${before.id}`,
              before,
              after: secretsSet.length === 0 ? after : { ...after, secrets_set: secretsSet }
            })
            return after
          }).pipe(slugTaken))
        yield* credentials.invalidate(provider.key)
        yield* integrations.invalidate(provider.slug)
        yield* games.refresh
        return provider
      })

      const rotate = Effect.fn("Providers.rotate")(function*(actor: Actor, reference: string) {
        const secret = newSecret(entropy)
        const provider = yield* auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference)
            const after = { ...before, updated_at: iso(now) }
            yield* providers.update(before, after, { secret_sealed: secrets.seal(providerPurpose(before.id), secret) })
            return yield* recordChange("provider.rotate", before, after)
          }))
        yield* credentials.invalidate(provider.key)
        return { ...provider, secret }
      })

      /** Names of the secret settings of a protocol. */
      const secretsOf = (protocol: string): ReadonlyArray<string> => vendorSettings.protocolOf(protocol)?.secrets ?? []

      const found = Effect.fnUntraced(function*(reference: string) {
        const provider = yield* providers.find(sql`id = ${yield* references.providerId(reference)}`)
        return provider === undefined ? yield* Effect.fail(notFound) : provider
      }, orTryAgain)

      const base = publicUrl ?? `http://${reachable(host)}:${port}`

      const show = Effect.fn("Providers.show")(function*(reference: string) {
        const provider = yield* found(reference)
        const { id, protocol, slug } = provider
        const { lastCalledAt, refusals } = yield* callLog.totals(id)
        return {
          ...provider,
          secret_settings: secretsAmong(secretsOf(protocol), yield* orTryAgain(opened(provider))),
          wallet_address: protocol === ownProtocol
            ? `${base}/api/v1/provider/wallet`
            : `${base}/api/v1/integrations/${slug}`,
          last_called_at: lastCalledAt === null ? null : iso(lastCalledAt),
          refusals
        }
      })

      /** Player refs of calls that are within a scope; undefined: all. */
      const refsWithin = Effect.fnUntraced(
        function*(scope: Scope, providerId: number, calls: ReadonlyArray<ProviderCall>) {
          if (scope === null) return undefined
          const named = new Map(calls.flatMap(({ player }) => {
            const id = player === null ? undefined : playerRefs.parse(providerId, player)
            return id === undefined ? [] : [[id, player]]
          }))
          const rows = yield* idRows(sql`SELECT id FROM players WHERE ${
            sql.and([
              sql`id = ANY(string_to_array(${[...named.keys()].join(",")}, ',')::bigint[])`,
              ...within(sql, scope)
            ])
          }`)
          return new Set(rows.map(({ id }) => named.get(id)))
        },
        orTryAgain
      )

      const calls = Effect.fn("Providers.calls")(function*(actor: Pick<Actor, "operators">, reference: string) {
        const { id } = yield* found(reference)
        const recent = yield* callLog.recent(id)
        const shown = yield* refsWithin(actor.operators, id, recent)
        return recent.map(({ amount, at, latencyMs, method, player, refusal, round, status, transaction }) => {
          const isShown = shown === undefined || (player !== null && shown.has(player))
          return {
            at: iso(at),
            method,
            player: isShown ? player : null,
            transaction_id: isShown ? transaction : null,
            round: isShown ? round : null,
            amount: isShown ? amount : null,
            answer: status,
            refusal,
            latency_ms: latencyMs
          }
        })
      })

      const list = orTryAgain(providers.all(sql`true ORDER BY id`)).pipe(Effect.withSpan("Providers.list"))

      const idOf = (reference: string) => orTryAgain(references.providerId(reference))

      return Providers.of({ create, update, rotate, show, calls, idOf, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
