/** Staff management of the game catalogue. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { GameType } from "../../domain/state/Bonus.ts"
import type { Original } from "../../domain/original/Original.ts"
import { originals } from "../../domain/original/Originals.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { iso } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import type { Part, PartQuery } from "../../store/Cursors.ts"
import { unscopedListOf } from "../../store/Lists.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import { byName } from "./Game.ts"
import { Games } from "./Games.ts"
import { type GameInput, type GameUpdate, StaffGame } from "../../contract/games/StaffApi.ts"

type Game = typeof StaffGame.Type

interface CatalogueFilters {
  readonly providerId?: number | undefined
  readonly active?: boolean | undefined
  readonly type?: GameType | undefined
  /** A part of the name, in any case. */
  readonly name?: string | undefined
  /** Ids between commas. */
  readonly ids?: string | undefined
}

interface CatalogueQuery extends Omit<CatalogueFilters, "providerId">, PartQuery {
  /** Id or slug. */
  readonly provider?: string | undefined
}

const notFound = refuse("NOT_FOUND", "There is no such game.")

const noSuchOriginal = refuseFields({ original: [`must be one of: ${[...originals.keys()].join(", ")}`] })

/** The built-in game of a name; undefined where none is named. */
const originalOf = (
  name: string | null | undefined
): Effect.Effect<Original | undefined, Refusal<"VALIDATION_FAILED">> => {
  if (name === undefined || name === null) return Effect.succeed(undefined)
  const original = originals.get(name)
  return original === undefined ? Effect.fail(noSuchOriginal) : Effect.succeed(original)
}

const categoryOf = (type: GameType, original: Original | undefined): string =>
  original !== undefined ? "instant" : type === "live" ? "live" : "slots"

const externalIdTaken = orTaken({ games_provider_id_external_id_key: "external_id" })

type Unavailable = Refusal<"TRY_AGAIN">

export class Catalogue extends Context.Service<Catalogue, {
  readonly create: (
    actor: Actor,
    input: GameInput
  ) => Effect.Effect<Game, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a game for every listing and every bet from now on. */
  readonly update: (
    actor: Actor,
    gameId: number,
    input: GameUpdate
  ) => Effect.Effect<Game, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** All games, on offer or not, ordered by name. */
  readonly list: (
    query: CatalogueQuery
  ) => Effect.Effect<Part<Game>, Refusal<"VALIDATION_FAILED"> | Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/games/Catalogue") {
  static readonly layer = Layer.effect(
    Catalogue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const cached = yield* Games
      const references = yield* makeReferences
      const games = yield* recordsOf("games", StaffGame, {
        from: "games g JOIN providers p ON p.id = g.provider_id",
        reads: {
          id: "g.id",
          name: "g.name",
          rtp: "g.rtp::float8",
          active: "g.active",
          created_at: "g.created_at",
          updated_at: "g.updated_at"
        },
        computed: {
          is_original: "g.original IS NOT NULL",
          provider: "json_build_object('id', p.id, 'slug', p.slug, 'name', p.name)"
        }
      })

      const locked = Effect.fnUntraced(function*(gameId: number) {
        const game = yield* games.find(sql`g.id = ${gameId} FOR NO KEY UPDATE OF g`)
        return game === undefined ? yield* Effect.fail(notFound) : game
      })

      // A new game is in no process's memory yet: nothing has to be read again.
      const create = Effect.fn("Catalogue.create")((actor: Actor, { provider, ...input }: GameInput) =>
        auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const providerId = yield* references.providerId(provider)
            const original = yield* originalOf(input.original)
            const { type = "rng" } = input
            const row = {
              type,
              category: categoryOf(type, original),
              rtp: original?.returnPercent ?? null,
              thumbnail_url: null,
              active: true,
              ...input,
              original: original?.name ?? null,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* sql`INSERT INTO games ${sql.insert({ id: newId, provider_id: providerId, ...row })}`
            return yield* recordChange("game.create", null, yield* locked(newId))
          }).pipe(externalIdTaken))
      )

      const update = Effect.fn("Catalogue.update")(function*(actor: Actor, gameId: number, input: GameUpdate) {
        const game = yield* auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* locked(gameId)
            yield* originalOf(input.original)
            if (applyUpdate<Game, GameUpdate>(before, input) === before) return before
            yield* games.update(before, { ...before, ...input, updated_at: iso(now) })
            return yield* recordChange("game.update", before, yield* locked(gameId))
          }).pipe(externalIdTaken))
        yield* cached.refresh
        return game
      })

      const listed = unscopedListOf<Game, CatalogueFilters, "name">(sql, {
        shared: true,
        read: (where, end) => games.all(sql`${where} ${end}`),
        filters: {
          providerId: (value) => sql`g.provider_id = ${value}`,
          active: (value) => sql`g.active = ${value}`,
          type: (value) => sql`g.type = ${value}`,
          // the catalogue is read whole: it has tens of thousands of rows at the most, and no bet waits for it
          name: (value) => sql`position(lower(${value}) IN lower(g.name)) > 0`,
          ids: (value) => sql`g.id = ANY(string_to_array(${value}, ',')::bigint[])`
        },
        orders: {
          name: byName
        }
      })

      const list = Effect.fn("Catalogue.list")(function*(query: CatalogueQuery) {
        const { provider } = query
        const providerId = provider === undefined ? undefined : yield* references.providerId(provider)
        return yield* listed.part(null, { ...query, providerId }, "name")
      }, orTryAgain)

      return Catalogue.of({ create, update, list })
    })
  )
}
