/** Game providers: their keys, addresses and switches. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials, providerPurpose } from "../../auth/Credentials.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { changed } from "../../platform/Changed.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Games } from "../games/Games.ts"
import type { WithSecret } from "../keys/ApiKeys.ts"
import { makeReferences, orTaken } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"
import { type ProviderInput, type ProviderUpdate, StaffProvider } from "./StaffApi.ts"

type StaffProvider = typeof StaffProvider.Type

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
  /** All providers, by id. */
  readonly list: Effect.Effect<ReadonlyArray<StaffProvider>, Unavailable>
}>()("pitboss/providers/Providers") {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const credentials = yield* Credentials
      const games = yield* Games
      const secrets = yield* Secrets
      const entropy = yield* Entropy
      const references = yield* makeReferences
      const providers = yield* recordsOf("providers", StaffProvider)

      const create = Effect.fn("Providers.create")(function*(actor: Actor, input: ProviderInput) {
        const secret = newSecret(entropy)
        const provider = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const provider: StaffProvider = {
              id: newId,
              key: entropy.token("pv_live_", 24),
              launch_url: null,
              demo_url: null,
              ip_allowlist: [],
              active: true,
              ...input,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* providers.insert(provider, { secret_sealed: secrets.seal(providerPurpose(newId), secret) })
            return yield* recordChange("provider.create", null, provider)
          }).pipe(slugTaken))
        credentials.invalidate(provider.key)
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
        const provider = yield* auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference)
            const different = changed<StaffProvider, ProviderUpdate>(before, input)
            if (different === before) return before
            const after = { ...different, updated_at: iso(now) }
            yield* providers.update(before, after)
            return yield* recordChange("provider.update", before, after)
          }).pipe(slugTaken))
        credentials.invalidate(provider.key)
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
        credentials.invalidate(provider.key)
        return { ...provider, secret }
      })

      const list = orTryAgain(providers.all(sql`true ORDER BY id`)).pipe(Effect.withSpan("Providers.list"))

      return Providers.of({ create, update, rotate, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
