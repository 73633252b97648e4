/**
 * Game catalogue as operators see it, and the game lookup of bets.
 *
 * Looked-up games are cached, so that a bet costs no query. Changes by staff in this process are visible when `refresh` returns; changes by other
 * processes, or by SQL, within two seconds, by comparing a fingerprint of the games and providers tables every second.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { Notices } from "../../cluster/Notices.ts"
import { ServingClient } from "../../platform/Database.ts"
import { type SqlError } from "effect/sql"
import { type GameType, gameTypes } from "../../domain/state/Bonus.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { columnsOf, isStorable, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { unscopedListOf } from "../../store/Lists.ts"
import { byName, type Game } from "./Game.ts"
import { GameCategory, GameProvider } from "../../contract/games/GameResource.ts"
import { RecentMap } from "../../platform/RecentMap.ts"

interface GameFilters {
  /** A provider's slug. */
  readonly provider?: string | undefined
  readonly category?: string | undefined
  readonly type?: GameType | undefined
  /** Part of the name, in any case. */
  readonly search?: string | undefined
}

export interface GameQuery extends GameFilters, PageQuery {}

type Unavailable = Refusal<"TRY_AGAIN">

/** How many games are kept in memory: twice this at most. */
const remembered = 20_000

const GameRow = Schema.Struct({
  id: Schema.Number,
  externalId: Schema.String,
  name: Schema.String,
  type: Schema.Literals(gameTypes),
  category: Schema.String,
  rtp: Schema.NullOr(Schema.Number),
  thumbnailUrl: Schema.NullOr(Schema.String),
  original: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  providerId: Schema.Number,
  providerSlug: Schema.String,
  providerName: Schema.String,
  launchUrl: Schema.NullOr(Schema.String),
  demoUrl: Schema.NullOr(Schema.String),
  protocol: Schema.String
})

const toGame = (
  { demoUrl, launchUrl, protocol, providerId: id, providerName: name, providerSlug: slug, ...game }: typeof GameRow.Type
): Game => ({ ...game, provider: { id, slug, name, launchUrl, demoUrl, protocol } })

const games = rowsOf(GameRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))
const fingerprints = rowsOf(Schema.Struct({ fingerprint: Schema.String }))
const providerSummaries = rowsOf(GameProvider)
const categorySummaries = rowsOf(GameCategory)

const notFound = refuse("NOT_FOUND", "There is no such game.")

/** The key of a provider's game in memory. */
const externalKey = (providerId: number, externalId: string): string => `${providerId}/${externalId}`

export class Games extends Context.Service<Games, {
  /** The games on offer (active ones of active providers), ordered by name. */
  readonly list: (query: GameQuery) => Effect.Effect<Page<Game>, Unavailable>
  /** A game on offer. */
  readonly get: (gameId: number) => Effect.Effect<Game, Refusal<"NOT_FOUND"> | Unavailable>
  /** Any game, on offer or not. */
  readonly find: (gameId: number) => Effect.Effect<Game | undefined, Unavailable>
  /** Any game by its provider's own id. */
  readonly findByExternalId: (providerId: number, externalId: string) => Effect.Effect<Game | undefined, Unavailable>
  /** As `findByExternalId`, at once; undefined when it is not in memory: then `findByExternalId`. */
  readonly findByExternalIdUnsafe: (providerId: number, externalId: string) => Game | undefined
  /** As `find`, at once; undefined when it is not in memory: then `find`. */
  readonly findUnsafe: (gameId: number) => Game | undefined
  /** Active providers with how many games they offer, ordered by name. */
  readonly providers: Effect.Effect<ReadonlyArray<typeof GameProvider.Type>, Unavailable>
  /** Categories on offer, ordered by name. */
  readonly categories: Effect.Effect<ReadonlyArray<typeof GameCategory.Type>, Unavailable>
  /** Reloads the cache; required after every committed change of games or providers. */
  readonly refresh: Effect.Effect<void>
}>()("pitboss/games/Games") {
  static readonly layer = Layer.effect(
    Games,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      // Kept: byId, byExternalId, generation, refreshing, seen. Games and providers. Several nodes: a fingerprint is read every second; changed rows
      // are read again: within 2 s.
      const byId = new RecentMap<number, Game>(remembered)
      const byExternalId = new RecentMap<string, Game>(remembered)
      /** Incremented by every refresh; a read begun under an earlier generation is not cached. */
      let generation = 0

      const columns = sql.literal(columnsOf(GameRow, "g", {
        rtp: "g.rtp::float8",
        active: "g.active AND p.active",
        providerId: "p.id",
        providerSlug: "p.slug",
        providerName: "p.name",
        launchUrl: "p.launch_url",
        demoUrl: "p.demo_url",
        protocol: "p.protocol"
      }))

      const remember = (game: Game): void => {
        byId.set(game.id, game)
        byExternalId.set(externalKey(game.provider.id, game.externalId), game)
      }

      const load = (statement: Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>) =>
        Effect.suspend(() => {
          const before = generation
          return orTryAgain(oneOf(games(statement))).pipe(Effect.map((row) => {
            if (row === undefined) return undefined
            const game = toGame(row)
            if (generation === before) remember(game)
            return game
          }))
        })

      const findUnsafe = (gameId: number): Game | undefined => byId.get(gameId)

      const find = Effect.fnUntraced(function*(gameId: number) {
        return findUnsafe(gameId) ??
          (yield* load(
            sql`SELECT ${columns} FROM games g JOIN providers p ON p.id = g.provider_id WHERE g.id = ${gameId}`
          ))
      })

      const findByExternalIdUnsafe = (providerId: number, externalId: string): Game | undefined =>
        byExternalId.get(externalKey(providerId, externalId))

      const findByExternalId = Effect.fnUntraced(function*(providerId: number, externalId: string) {
        const known = findByExternalIdUnsafe(providerId, externalId)
        if (known !== undefined || !isStorable(externalId)) return known
        return yield* load(
          sql`SELECT ${columns} FROM games g JOIN providers p ON p.id = g.provider_id
            WHERE g.provider_id = ${providerId} AND g.external_id = ${externalId}`
        )
      })

      const get = Effect.fnUntraced(function*(gameId: number) {
        const game = yield* find(gameId)
        return game?.active === true ? game : yield* Effect.fail(notFound)
      })

      const offered = unscopedListOf<typeof GameRow.Type, GameFilters, "name">(sql, {
        shared: true,
        read: (where, end) =>
          games(
            sql`SELECT ${columns} FROM games g JOIN providers p ON p.id = g.provider_id
              WHERE g.active AND p.active AND ${where} ${end}`
          ),
        filters: {
          provider: (value) => sql`p.slug = ${value}`,
          category: (value) => sql`g.category = ${value}`,
          type: (value) => sql`g.type = ${value}`,
          search: (value) => sql`strpos(lower(g.name), lower(${value})) > 0`
        },
        orders: { name: byName }
      })

      const list = Effect.fn("Games.list")(function*(query: GameQuery) {
        const { items, total } = yield* offered.page(null, query, "name", (where) =>
          Effect.map(
            counts(
              sql`SELECT count(*) AS total FROM games g JOIN providers p ON p.id = g.provider_id
                WHERE g.active AND p.active AND ${where}`
            ),
            ([row]) => row?.total ?? 0
          ))
        return { items: items.map(toGame), total }
      }, orTryAgain)

      const providers = orTryAgain(providerSummaries(
        sql`SELECT p.id, p.slug, p.name, count(g.id)::float8 AS games_count
          FROM providers p LEFT JOIN games g ON g.provider_id = p.id AND g.active
          WHERE p.active GROUP BY p.id ORDER BY p.name, p.id`
      )).pipe(Effect.withSpan("Games.providers"))

      const categories = orTryAgain(categorySummaries(
        sql`SELECT g.category, count(*) AS games_count
          FROM games g JOIN providers p ON p.id = g.provider_id
          WHERE g.active AND p.active GROUP BY g.category ORDER BY g.category`
      )).pipe(Effect.withSpan("Games.categories"))

      // One at a time: an older reading must not overwrite a newer one.
      const refreshing = yield* Semaphore.make(1)
      const refreshHere = Effect.gen(function*() {
        const ids = byId.values().map((game) => game.id)
        generation++
        const found = yield* games(
          sql`SELECT ${columns} FROM games g JOIN providers p ON p.id = g.provider_id
            WHERE g.id = ANY(string_to_array(${ids.join(",")}, ',')::bigint[])`
        )
        byId.clear()
        byExternalId.clear()
        for (const row of found) remember(toGame(row))
      }).pipe(
        Effect.catchTag("SqlError", () =>
          Effect.sync(() => {
            generation++
            byId.clear()
            byExternalId.clear()
          })),
        refreshing.withPermits(1),
        Effect.withSpan("Games.refresh")
      )

      // a row's xmin is the transaction that wrote it, so that the sum changes with every insert and update, in any commit order and by any
      // process
      const fingerprint = oneOf(fingerprints(
        sql`SELECT concat_ws(':', g.rows, g.sum, p.rows, p.sum) AS fingerprint
          FROM (SELECT count(*) AS rows, sum(xmin::text::bigint) AS sum FROM games) g,
            (SELECT count(*) AS rows, sum(xmin::text::bigint) AS sum FROM providers) p`
      ))
      // nothing is remembered yet: only a later change needs a refresh
      let seen = yield* fingerprint.pipe(
        Effect.map((now) => now?.fingerprint),
        Effect.orElseSucceed(() => undefined)
      )
      yield* fingerprint.pipe(
        Effect.flatMap((now) => {
          if (now?.fingerprint === seen) return Effect.void
          seen = now?.fingerprint
          return refreshHere
        }),
        // while the database is unavailable nothing can be bet either; the next reading follows in a second
        Effect.ignoreCause,
        Effect.andThen(Effect.sleep("1 second")),
        Effect.forever,
        Effect.forkScoped
      )

      const refresh = (yield* Notices).define("games", () => refreshHere)("")

      return Games.of({
        list,
        get,
        find,
        findUnsafe,
        findByExternalId,
        findByExternalIdUnsafe,
        providers,
        categories,
        refresh
      })
    })
  )
}
