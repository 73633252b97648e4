/**
 * Demo data for an empty database: an operator with a key, a provider with a few games, the platform's own games, payment methods.
 *
 * Created once, in one transaction. Every later start reads the credentials back and writes them to `DATA_DIR/demo.json`, which only the user that
 * runs the service can read.
 */
import { Context, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { apiKeyPurpose, providerPurpose } from "../../auth/Credentials.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { ApiKeys } from "../keys/ApiKeys.ts"
import { Catalogue } from "../games/Catalogue.ts"
import { PaymentMethodCatalogue } from "../payments/PaymentMethodCatalogue.ts"
import { Operators } from "../operators/Operators.ts"
import { Providers } from "../providers/Providers.ts"
import type { Actor } from "../../office/Actor.ts"

interface DemoGame {
  readonly id: number
  readonly external_id: string
  readonly name: string
}

/** Contents of `DATA_DIR/demo.json`. */
export interface DemoCredentials {
  readonly operator: { readonly id: number; readonly slug: string; readonly key: string; readonly secret: string }
  readonly provider: { readonly id: number; readonly slug: string; readonly key: string; readonly secret: string }
  /** The provider's. */
  readonly games: ReadonlyArray<DemoGame>
  /** The platform's own, which players play without a provider. */
  readonly originals: ReadonlyArray<DemoGame>
}

const actor: Actor = { id: null, name: "demo", role: "admin", operators: null, label: "demo" }

const slug = "demo"
const fileName = "demo.json"

/** A rate limit that no trial reaches. */
const rateLimitPerMinute = 1_000_000

const games = [
  { external_id: "golden-reels", name: "Golden Reels", type: "rng", category: "slots", rtp: 96.2 },
  { external_id: "lucky-harbour", name: "Lucky Harbour", type: "rng", category: "slots", rtp: 95.1 },
  { external_id: "classic-roulette", name: "Classic Roulette", type: "rng", category: "table", rtp: 97.3 },
  { external_id: "live-blackjack", name: "Live Blackjack", type: "live", category: "live", rtp: 99.5 }
] as const

/** Provider of the originals; its key is not disclosed. */
const house = { slug: "originals", name: "Pitboss Originals" }

const originals = [
  { external_id: "dice", name: "Dice" },
  { external_id: "limbo", name: "Limbo" },
  { external_id: "coin_flip", name: "Coin Flip" },
  { external_id: "plinko", name: "Plinko" },
  { external_id: "mines", name: "Mines" }
] as const

const methods = [
  { code: "card", name: "Card", min_deposit: 500, max_deposit: 500_000 },
  { code: "bank_transfer", name: "Bank transfer", min_deposit: 1000 }
] as const

const credentialRows = rowsOf(Schema.Struct({
  operator_id: Schema.Number,
  api_key_id: Schema.Number,
  api_key: Schema.String,
  api_key_sealed: Schema.Uint8Array,
  provider_id: Schema.Number,
  provider_key: Schema.String,
  provider_sealed: Schema.Uint8Array
}))
const gameRows = rowsOf(Schema.Struct({ id: Schema.Number, external_id: Schema.String, name: Schema.String }))

const unwritable = (message: string) =>
  refuse("SERVER_ERROR", `The demo credentials cannot be written: ${message.replaceAll(/\s+/g, " ")}`)

const unreadable = refuse(
  "SERVER_ERROR",
  "The secrets of the demo operator cannot be decrypted with this MASTER_KEY: rotate its key and its provider, or set DEMO to off"
)

type SeedFailure = Refusal<"TRY_AGAIN" | "SERVER_ERROR" | "VALIDATION_FAILED" | "NOT_FOUND">

export class DemoSeed extends Context.Service<DemoSeed, {
  /** Where the credentials are kept. */
  readonly file: string
  /**
   * Seeds an empty database when `DEMO` is on; gives the credentials of the demo operator, undefined when there is none. Doing so
   * again changes nothing.
   */
  readonly ensure: Effect.Effect<DemoCredentials | undefined, SeedFailure>
}>()("pitboss/demo/DemoSeed") {
  static readonly layer = Layer.effect(
    DemoSeed,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { dataDir, demo } = yield* Settings
      const secrets = yield* Secrets
      const operators = yield* Operators
      const apiKeys = yield* ApiKeys
      const providers = yield* Providers
      const catalogue = yield* Catalogue
      const methodsOnOffer = yield* PaymentMethodCatalogue
      const file = path.join(dataDir, fileName)

      const isEmpty = Effect.map(sql`SELECT 1 FROM operators LIMIT 1`, (found) => found.length === 0)

      const seed = inTransaction(sql)(Effect.gen(function*() {
        yield* operators.create(actor, { slug, name: "Demo Casino", currency: "EUR" })
        yield* apiKeys.create(actor, { operator: slug, name: "Demo", rate_limit_per_minute: rateLimitPerMinute })
        yield* providers.create(actor, {
          slug,
          name: "Demo Games",
          launch_url: "https://games.example/launch?token={token}&game={game}&mode={mode}",
          demo_url: "https://games.example/demo/{game}"
        })
        for (const game of games) yield* catalogue.create(actor, { provider: slug, ...game })
        yield* providers.create(actor, house)
        for (const game of originals) {
          yield* catalogue.create(actor, { provider: house.slug, ...game, original: game.external_id })
        }
        for (const method of methods) yield* methodsOnOffer.create(actor, { operator: slug, ...method })
      }))

      const read = Effect.gen(function*() {
        const row = yield* oneOf(credentialRows(
          sql`SELECT o.id AS operator_id, k.id AS api_key_id, k.key AS api_key,
              k.secret_sealed AS api_key_sealed, p.id AS provider_id, p.key AS provider_key,
              p.secret_sealed AS provider_sealed
            FROM operators o JOIN api_keys k ON k.operator_id = o.id AND k.revoked_at IS NULL
              JOIN providers p ON p.slug = o.slug
            WHERE o.slug = ${slug} ORDER BY k.id LIMIT 1`
        ))
        if (row === undefined) return undefined
        const open = (purpose: string, sealed: Uint8Array) =>
          Effect.mapError(secrets.openText(purpose, sealed), () => unreadable)
        return {
          operator: {
            id: row.operator_id,
            slug,
            key: row.api_key,
            secret: yield* open(apiKeyPurpose(row.api_key_id), row.api_key_sealed)
          },
          provider: {
            id: row.provider_id,
            slug,
            key: row.provider_key,
            secret: yield* open(providerPurpose(row.provider_id), row.provider_sealed)
          },
          games: yield* gameRows(
            sql`SELECT id, external_id, name FROM games WHERE provider_id = ${row.provider_id} ORDER BY id`
          ),
          originals: yield* gameRows(
            sql`SELECT g.id, g.external_id, g.name FROM games g JOIN providers p ON p.id = g.provider_id
              WHERE p.slug = ${house.slug} AND g.original IS NOT NULL ORDER BY g.id`
          )
        } satisfies DemoCredentials
      })

      /** Written aside and renamed, so that no reader sees half of it. */
      const write = (credentials: DemoCredentials) =>
        Effect.gen(function*() {
          const aside = `${file}.new`
          yield* fs.makeDirectory(dataDir, { recursive: true, mode: 0o711 })
          yield* fs.remove(aside, { force: true })
          yield* fs.writeFileString(aside, JSON.stringify(credentials, null, 2) + "\n", { mode: 0o600 })
          yield* fs.rename(aside, file)
        }).pipe(Effect.mapError(({ message }) => unwritable(message)))

      const ensure = Effect.gen(function*() {
        if (!demo) return undefined
        if (yield* isEmpty) yield* seed
        const credentials = yield* read
        if (credentials !== undefined) yield* write(credentials)
        return credentials
      }).pipe(orTryAgain, Effect.withSpan("DemoSeed.ensure"))

      return DemoSeed.of({ file, ensure })
    })
  )
}
