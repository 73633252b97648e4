/** Game providers: their keys, their addresses, and whether they are on. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials, providerPurpose } from "../../auth/Credentials.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { Games } from "../games/Games.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { iso } from "../../platform/Time.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import type { WithSecret } from "../keys/ApiKeys.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { changed } from "../../platform/Changed.ts"
import { makeReferences, orTaken } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"

export interface ProviderUpdate {
  readonly slug?: string
  readonly name?: string
  /** Template with `{token}`, `{game}` and `{mode}`. */
  readonly launch_url?: string | null
  readonly demo_url?: string | null
  readonly ip_allowlist?: ReadonlyArray<string>
  readonly active?: boolean
}

export type ProviderInput = ProviderUpdate & {
  readonly slug: string
  readonly name: string
}

const ProviderRow = Schema.Struct({
  id: Schema.Number,
  slug: Schema.String,
  name: Schema.String,
  key: Schema.String,
  launch_url: Schema.NullOr(Schema.String),
  demo_url: Schema.NullOr(Schema.String),
  ip_allowlist: Schema.Array(Schema.String),
  active: Schema.Boolean,
  created_at: Schema.Date,
  updated_at: Schema.Date
})

const toFields = (row: typeof ProviderRow.Type) => ({
  ...row,
  created_at: iso(row.created_at.getTime()),
  updated_at: iso(row.updated_at.getTime())
})

/** A provider as it is shown: never with its secret. */
export type ProviderFields = ReturnType<typeof toFields>

const providerRows = rowsOf(ProviderRow)

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
  ) => Effect.Effect<ProviderFields & WithSecret, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Changes a provider, by id or slug, for every request and every game from now on. */
  readonly update: (
    actor: Actor,
    reference: string,
    input: ProviderUpdate
  ) => Effect.Effect<ProviderFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Gives a provider a new secret; the old one signs nothing from now on. */
  readonly rotate: (
    actor: Actor,
    reference: string
  ) => Effect.Effect<ProviderFields & WithSecret, Refusal<"NOT_FOUND"> | Unavailable>
  /** All providers, by id. */
  readonly list: Effect.Effect<ReadonlyArray<ProviderFields>, Unavailable>
}>()("pitboss/backoffice/Providers") {
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
      const columns = sql.literal(
        "id, slug, name, key, launch_url, demo_url, ip_allowlist, active, created_at, updated_at"
      )

      const create = Effect.fn("Providers.create")(function*(actor: Actor, input: ProviderInput) {
        const secret = newSecret(entropy)
        const fields = yield* auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const fields: ProviderFields = {
              id: newId,
              slug: input.slug,
              name: input.name,
              key: entropy.token("pv_live_", 24),
              launch_url: input.launch_url ?? null,
              demo_url: input.demo_url ?? null,
              ip_allowlist: input.ip_allowlist ?? [],
              active: input.active ?? true,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, launch_url, demo_url, ip_allowlist,
                active, created_at, updated_at)
              VALUES (${fields.id}, ${fields.slug}, ${fields.name}, ${fields.key},
                ${secrets.seal(providerPurpose(newId), secret)}, ${fields.launch_url}, ${fields.demo_url},
                ${[...fields.ip_allowlist]}, ${fields.active}, ${fields.created_at}, ${fields.updated_at})`
            yield* record({ action: "provider.create", subject: `provider:${newId}`, before: null, after: fields })
            return fields
          }).pipe(slugTaken))
        credentials.invalidate(fields.key)
        return { ...fields, secret }
      })

      /** The provider that a reference names, locked until the change is done. */
      const locked = Effect.fnUntraced(function*(reference: string) {
        const id = yield* references.providerId(reference)
        const row = yield* oneOf(providerRows(sql`SELECT ${columns} FROM providers WHERE id = ${id} FOR NO KEY UPDATE`))
        return row === undefined ? yield* Effect.fail(notFound) : toFields(row)
      })

      const update = Effect.fn("Providers.update")(function*(actor: Actor, reference: string, input: ProviderUpdate) {
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference)
            const different = changed<ProviderFields, ProviderUpdate>(before, input)
            if (different === before) return before
            const after = { ...different, updated_at: iso(now) }
            yield* sql`UPDATE providers SET slug = ${after.slug}, name = ${after.name}, launch_url = ${after.launch_url},
                demo_url = ${after.demo_url}, ip_allowlist = ${[...after.ip_allowlist]}, active = ${after.active},
                updated_at = ${after.updated_at}
              WHERE id = ${after.id}`
            yield* record({ action: "provider.update", subject: `provider:${after.id}`, before, after })
            return after
          }).pipe(slugTaken))
        credentials.invalidate(fields.key)
        yield* games.refresh
        return fields
      })

      const rotate = Effect.fn("Providers.rotate")(function*(actor: Actor, reference: string) {
        const secret = newSecret(entropy)
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* locked(reference)
            const after = { ...before, updated_at: iso(now) }
            yield* sql`UPDATE providers SET secret_sealed = ${secrets.seal(providerPurpose(before.id), secret)},
                updated_at = ${after.updated_at}
              WHERE id = ${before.id}`
            yield* record({ action: "provider.rotate", subject: `provider:${before.id}`, before, after })
            return after
          }))
        credentials.invalidate(fields.key)
        return { ...fields, secret }
      })

      const list = orTryAgain(providerRows(sql`SELECT ${columns} FROM providers ORDER BY id`)).pipe(
        Effect.map((found) => found.map(toFields)),
        Effect.withSpan("Providers.list")
      )

      return Providers.of({ create, update, rotate, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
