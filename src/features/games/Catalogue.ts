/** The games of the catalogue, as staff keep them. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { GameType } from "../../domain/bonus/Bonus.ts"
import type { Original } from "../../domain/original/Original.ts"
import { originals } from "../../domain/original/Originals.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Games } from "./Games.ts"
import { iso } from "../../platform/Time.ts"
import { offsetOf, oneOf, orTryAgain, type Page, type PageQuery, rowsOf } from "../../store/Rows.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { changed } from "../../platform/Changed.ts"
import { makeReferences, orTaken } from "../operators/References.ts"
import type { Actor } from "../staff/Staff.ts"

export interface GameUpdate {
  readonly external_id?: string
  readonly name?: string
  readonly type?: GameType
  readonly category?: string
  /** Percent. */
  readonly rtp?: number | null
  readonly thumbnail_url?: string | null
  /** The name of a built-in game; its stated return is the default of `rtp`. */
  readonly original?: string | null
  readonly active?: boolean
}

export type GameInput = GameUpdate & {
  /** Id or slug. */
  readonly provider: string
  readonly external_id: string
  readonly name: string
}

export interface CatalogueQuery extends PageQuery {
  readonly provider?: string | undefined
  readonly active?: boolean | undefined
}

const GameRow = Schema.Struct({
  id: Schema.Number,
  external_id: Schema.String,
  name: Schema.String,
  type: Schema.Literals(["rng", "live"]),
  category: Schema.String,
  rtp: Schema.NullOr(Schema.Number),
  thumbnail_url: Schema.NullOr(Schema.String),
  original: Schema.NullOr(Schema.String),
  active: Schema.Boolean,
  provider_id: Schema.Number,
  provider_slug: Schema.String,
  provider_name: Schema.String,
  created_at: Schema.Date,
  updated_at: Schema.Date
})

const toFields = (row: typeof GameRow.Type) => ({
  id: row.id,
  external_id: row.external_id,
  name: row.name,
  type: row.type,
  category: row.category,
  rtp: row.rtp,
  thumbnail_url: row.thumbnail_url,
  is_original: row.original !== null,
  original: row.original,
  active: row.active,
  provider: { id: row.provider_id, slug: row.provider_slug, name: row.provider_name },
  created_at: iso(row.created_at.getTime()),
  updated_at: iso(row.updated_at.getTime())
})

/** A game as it is shown to staff; `active` is the game's own switch, whatever its provider's. */
export type StaffGameFields = ReturnType<typeof toFields>

const gameRows = rowsOf(GameRow)
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

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
  ) => Effect.Effect<StaffGameFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a game for every listing and every bet from now on. */
  readonly update: (
    actor: Actor,
    gameId: number,
    input: GameUpdate
  ) => Effect.Effect<StaffGameFields, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** All games, on offer or not, ordered by name. */
  readonly list: (
    query: CatalogueQuery
  ) => Effect.Effect<Page<StaffGameFields>, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/backoffice/Catalogue") {
  static readonly layer = Layer.effect(
    Catalogue,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const games = yield* Games
      const references = yield* makeReferences
      const columns = sql.literal(`g.id, g.external_id, g.name, g.type, g.category, g.rtp::float8 AS rtp,
        g.thumbnail_url, g.original, g.active, p.id AS provider_id, p.slug AS provider_slug,
        p.name AS provider_name, g.created_at, g.updated_at`)

      const read = Effect.fnUntraced(
        function*(gameId: number): Effect.fn.Return<StaffGameFields, Refusal<"NOT_FOUND"> | SqlError.SqlError> {
          const row = yield* oneOf(gameRows(
            sql`SELECT ${columns} FROM games g JOIN providers p ON p.id = g.provider_id WHERE g.id = ${gameId} FOR NO KEY UPDATE OF g`
          ))
          return row === undefined ? yield* Effect.fail(notFound) : toFields(row)
        }
      )

      // What is new is in nobody's memory yet: nothing has to be read again.
      const create = Effect.fn("Catalogue.create")((actor: Actor, input: GameInput) =>
        auditLog.change(actor, ({ newId, now, record }) =>
          Effect.gen(function*() {
            const providerId = yield* references.providerId(input.provider)
            const type = input.type ?? "rng"
            const original = yield* originalOf(input.original)
            const rtp = input.rtp === undefined ? original?.returnPercent ?? null : input.rtp
            yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, rtp, thumbnail_url, original,
                active, created_at, updated_at)
              VALUES (${newId}, ${providerId}, ${input.external_id}, ${input.name}, ${type},
                ${input.category ?? categoryOf(type, original)}, ${rtp},
                ${input.thumbnail_url ?? null}, ${original?.name ?? null}, ${input.active ?? true}, ${iso(now)}, ${
              iso(now)
            })`
            const fields = yield* read(newId)
            yield* record({ action: "game.create", subject: `game:${newId}`, before: null, after: fields })
            return fields
          }).pipe(externalIdTaken))
      )

      const update = Effect.fn("Catalogue.update")(function*(actor: Actor, gameId: number, input: GameUpdate) {
        const fields = yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const before = yield* read(gameId)
            yield* originalOf(input.original)
            const different = changed<StaffGameFields, GameUpdate>(before, input)
            if (different === before) return before
            yield* sql`UPDATE games SET external_id = ${different.external_id}, name = ${different.name},
                type = ${different.type}, category = ${different.category}, rtp = ${different.rtp},
                thumbnail_url = ${different.thumbnail_url}, original = ${different.original},
                active = ${different.active}, updated_at = ${iso(now)}
              WHERE id = ${gameId}`
            const after = yield* read(gameId)
            yield* record({ action: "game.update", subject: `game:${gameId}`, before, after })
            return after
          }).pipe(externalIdTaken))
        yield* games.refresh
        return fields
      })

      const list = Effect.fn("Catalogue.list")(function*(query: CatalogueQuery) {
        const providerId = query.provider === undefined ? undefined : yield* references.providerId(query.provider)
        const conditions: ReadonlyArray<Statement.Fragment> = [
          ...(providerId === undefined ? [] : [sql`g.provider_id = ${providerId}`]),
          ...(query.active === undefined ? [] : [sql`g.active = ${query.active}`])
        ]
        const from = sql`FROM games g JOIN providers p ON p.id = g.provider_id
          WHERE ${conditions.length === 0 ? sql`true` : sql.and(conditions)}`
        const [found, counted] = yield* Effect.all([
          gameRows(
            sql`SELECT ${columns} ${from} ORDER BY g.name, g.id LIMIT ${query.perPage} OFFSET ${offsetOf(query)}`
          ),
          counts(sql`SELECT count(*) AS total ${from}`)
        ], { concurrency: 2 })
        return { items: found.map(toFields), total: counted[0]?.total ?? 0 }
      }, orTryAgain)

      return Catalogue.of({ create, update, list })
    })
  )
}
