/**
 * Synchronises a vendor's catalogue into the games table: adds new games, updates changed ones, deactivates missing ones. Games switched by staff
 * and the platform's own games are left unchanged.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { categoryOfWord } from "../../domain/jurisdiction/GameCategories.ts"
import { gameTypes } from "../../domain/state/Bonus.ts"
import { Ids } from "../../platform/Ids.ts"
import { toDate } from "../../platform/Time.ts"
import type { CatalogueGame, LeftLine } from "../../protocols/Protocol.ts"
import { rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { Games } from "../games/Games.ts"
import { inSlices } from "../../protocols/VendorCalls.ts"
import { vendorRefusal, Vendors } from "../integrations/Vendors.ts"
import type { SyncReport } from "../../contract/providers/StaffApi.ts"

/** A larger catalogue is no catalogue. */
const maxGames = 50_000

/** Rows of one statement. */
const chunkSize = 500

const noCatalogue = refuse("INVALID_REQUEST", "The provider's protocol has no catalogue: add its games by hand.", {
  reason: "no_catalogue"
})
const empty = refuse("INVALID_REQUEST", "The vendor's catalogue is empty: nothing was changed.", {
  reason: "empty_catalogue"
})
const tooLarge = refuse("INVALID_REQUEST", `The vendor's catalogue has more than ${maxGames} games.`, {
  reason: "too_many_games",
  max_games: maxGames
})

/** That the vendor says no, as a refusal of a request of staff. */
export const refusedByVendor = vendorRefusal((word) =>
  refuse("INVALID_REQUEST", "The vendor refused the request.", { reason: "vendor", vendor: word })
)

// oxlint-disable-next-line no-control-regex -- it matches control characters
const controls = /[\u0000-\u001f\u007f]+/g

const line = (text: string, maxLength: number): string =>
  text.toWellFormed().replaceAll(controls, " ").trim().slice(0, maxLength).toWellFormed()

const isPicture = (url: string): boolean =>
  url.length <= 2000 && line(url, 2000) === url && /^https:\/\//i.test(url) && URL.canParse(url)

/** Games that a report names as not taken. */
const maxNamed = 1_000

/** A game as stored; undefined when the wallet could not accept its id from the vendor. */
const readGame = (game: CatalogueGame) => {
  const { externalId, rtp, thumbnailUrl } = game
  if (externalId === "" || externalId.length > 128 || line(externalId, 128) !== externalId) return undefined
  return {
    external_id: externalId,
    name: line(game.name, 200) || externalId,
    type: game.type,
    category: categoryOfWord(game.type, game.category),
    vendor_category: line(game.category, 50) || null,
    rtp: rtp !== null && rtp >= 0 && rtp <= 100 ? Math.round(rtp * 100) / 100 : null,
    thumbnail_url: thumbnailUrl !== null && isPicture(thumbnailUrl) ? thumbnailUrl : null
  }
}

type ReadGame = NonNullable<ReturnType<typeof readGame>>

const storedRows = rowsOf(Schema.Struct({
  id: Schema.Number,
  external_id: Schema.String,
  name: Schema.String,
  type: Schema.Literals(gameTypes),
  category: Schema.String,
  vendor_category: Schema.NullOr(Schema.String),
  rtp: Schema.NullOr(Schema.Number),
  thumbnail_url: Schema.NullOr(Schema.String),
  active: Schema.Boolean
}))

const isSame = (one: ReadGame, other: ReadGame): boolean =>
  one.name === other.name && one.type === other.type && one.category === other.category &&
  one.vendor_category === other.vendor_category && one.rtp === other.rtp &&
  one.thumbnail_url === other.thumbnail_url

const chunksOf = <A>(items: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from(
    { length: Math.ceil(items.length / chunkSize) },
    (_, index) => items.slice(index * chunkSize, (index + 1) * chunkSize)
  )

export class CatalogueSync extends Context.Service<CatalogueSync, {
  /** Reads the catalogue of a provider's vendor. New games are offered at once with `activate`. */
  readonly sync: (
    actor: { readonly label: string },
    providerId: number,
    activate: boolean
  ) => Effect.Effect<SyncReport, Refusal<"INVALID_REQUEST" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/providers/CatalogueSync") {
  static readonly layer = Layer.effect(
    CatalogueSync,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const vendors = yield* Vendors
      const games = yield* Games
      const auditLog = yield* AuditLog

      const add = Effect.fnUntraced(
        function*(providerId: number, added: ReadonlyArray<ReadGame>, active: boolean, now: number) {
          for (const chunk of chunksOf(added)) {
            const firstId = yield* Effect.mapError(ids.reserve(chunk.length), () => temporarilyUnavailable)
            const rows = chunk.map((game, index) => ({ ...game, id: firstId + index }))
            yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, vendor_category, rtp, thumbnail_url, active,
                created_at, updated_at)
              SELECT id, ${providerId}::float8::bigint, external_id, name, type, category, vendor_category, rtp, thumbnail_url, ${active},
                ${toDate(now)}, ${toDate(now)}
              FROM jsonb_to_recordset(${
              JSON.stringify(rows)
            }::text::jsonb) AS g (id bigint, external_id text, name text,
                type text, category text, vendor_category text, rtp numeric, thumbnail_url text)`
          }
        }
      )

      const change = Effect.fnUntraced(
        function*(providerId: number, changed: ReadonlyArray<ReadGame>, now: number) {
          for (const chunk of chunksOf(changed)) {
            yield* sql`UPDATE games g SET name = c.name, type = c.type, category = c.category, vendor_category = c.vendor_category, rtp = c.rtp,
                thumbnail_url = c.thumbnail_url, updated_at = ${toDate(now)}
              FROM jsonb_to_recordset(${
              JSON.stringify(chunk)
            }::text::jsonb) AS c (external_id text, name text, type text,
                category text, vendor_category text, rtp numeric, thumbnail_url text)
              WHERE g.provider_id = ${providerId} AND g.external_id = c.external_id`
          }
        }
      )

      const switchOff = Effect.fnUntraced(function*(gone: ReadonlyArray<number>, now: number) {
        for (const chunk of chunksOf(gone)) {
          yield* sql`UPDATE games SET active = false, updated_at = ${toDate(now)}
            WHERE id = ANY(string_to_array(${chunk.join(",")}, ',')::bigint[])`
        }
      })

      const sync: CatalogueSync["Service"]["sync"] = Effect.fn("CatalogueSync.sync")(
        function*(actor, providerId, activate) {
          const { outbound, tools } = yield* vendors.find(providerId, null)
          if (outbound.catalogue === undefined) return yield* Effect.fail(noCatalogue)
          const catalogue = yield* Effect.mapError(outbound.catalogue(tools), refusedByVendor)
          const { games: listed, odd = [], withdrawn = [] } = catalogue
          if (listed.length > maxGames) return yield* Effect.fail(tooLarge)
          const unread: Array<LeftLine> = [...odd]
          const read = new Map<string, ReadGame>()
          yield* inSlices(listed, (slice) =>
            Effect.sync(() => {
              for (const game of slice) {
                const { externalId: id } = game
                const kept = readGame(game)
                if (kept === undefined) {
                  unread.push({ id: line(id, 128), reason: "the id must be one line of 1 to 128 characters" })
                } else if (read.has(id)) {
                  unread.push({ id, reason: "named twice: the last one was taken" })
                }
                if (kept !== undefined) read.set(id, kept)
              }
              return []
            }))
          // what is not understood is no sign that a game is gone
          const unknown = new Set(odd.map(({ id }) => id))
          const withdrawnIds = new Set(withdrawn.map(({ id }) => id))
          // one of which nothing can be read would switch off all games as well
          if (read.size === 0) return yield* Effect.fail(empty)
          const report = yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              // two at a time must not both add a game
              yield* sql`SELECT 1 FROM providers WHERE id = ${providerId} FOR NO KEY UPDATE`
              const stored = yield* storedRows(
                sql`SELECT id, external_id, name, type, category, vendor_category, rtp::float8 AS rtp, thumbnail_url, active FROM games
                  WHERE provider_id = ${providerId} AND original IS NULL`
              )
              const known = new Map(stored.map((game) => [game.external_id, game]))
              const added = [...read.values()].filter(({ external_id }) => !known.has(external_id))
              const changed = [...read.values()].filter((game) => {
                const before = known.get(game.external_id)
                return before !== undefined && !isSame(before, game)
              })
              // one without the id of a game may be any of them, or many: then only what the vendor withdraws by name is gone
              const isWhole = odd.every(({ id }) => id !== null && known.has(id))
              const gone = stored.filter(({ active, external_id: id }) =>
                active && !read.has(id) && !unknown.has(id) && (isWhole || withdrawnIds.has(id))
              )
              yield* add(providerId, added, activate, now)
              yield* change(providerId, changed, now)
              yield* switchOff(gone.map(({ id }) => id), now)
              const report: SyncReport = {
                games: read.size,
                added: added.map(({ external_id }) => external_id),
                changed: changed.map(({ external_id }) => external_id),
                gone: gone.map(({ external_id }) => external_id),
                unreadable: unread.length,
                not_taken: [...unread, ...withdrawn].slice(0, maxNamed)
              }
              const { added: a, changed: c, gone: g, not_taken: _, ...counts } = report
              yield* record({
                action: "provider.sync",
                subject: `provider:${providerId}`,
                before: null,
                after: { ...counts, added: a.length, changed: c.length, gone: g.length, activate }
              })
              return report
            }))
          yield* games.refresh
          return report
        }
      )

      return CatalogueSync.of({ sync })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
