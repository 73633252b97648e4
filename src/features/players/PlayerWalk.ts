/** Player list of the staff API by cursor: newest or oldest first, or by prefix. Nothing is counted. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { mapPart, numberCursors, type Part, type PartQuery } from "../../store/Cursors.ts"
import { isStorable, orTryAgain } from "../../store/Rows.ts"
import { type Scope, within } from "../../office/OperatorScope.ts"
import { holds, holdsByIndex, isRare } from "./internal/PlayerSearch.ts"
import { makePlayerPrefixes } from "./PlayerPrefixes.ts"
import { playerColumns, playerRows, toProfile } from "./PlayerProfile.ts"
import type { PlayerFilters, StaffPlayer } from "./Players.ts"
import type { playerOrders } from "../../contract/players/StaffApi.ts"

export interface PlayerWalkQuery extends PlayerFilters, PartQuery {
  /** Newest unless it is said. */
  readonly sort?: (typeof playerOrders)[number] | undefined
  /** As {@link makePlayerPrefixes}: the order is then that of the text, and there is one page only. */
  readonly startingWith?: string | undefined
}

export class PlayerWalk extends Context.Service<PlayerWalk, {
  /** Players of a scope. */
  readonly walk: (
    scope: Scope,
    query: PlayerWalkQuery
  ) => Effect.Effect<Part<StaffPlayer>, Refusal<"VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/players/PlayerWalk") {
  static readonly layer = Layer.effect(
    PlayerWalk,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const players = playerRows(yield* PersonalData)
      const columns = sql.literal(playerColumns)
      const prefixes = yield* makePlayerPrefixes

      /** SQL conditions of the filters, search excluded; null when no row can match. */
      const conditionsOf = (query: PlayerWalkQuery): ReadonlyArray<Statement.Fragment> | null => {
        const { createdFrom, createdTo, email, externalId, kycStatus, search, status, username } = query
        if (![email, username, externalId, search].every((text) => text === undefined || isStorable(text))) return null
        return [
          ...(status === undefined ? [] : [sql`status = ${status}`]),
          ...(kycStatus === undefined ? [] : [sql`kyc_status = ${kycStatus}`]),
          ...(email === undefined ? [] : [sql`email = ${email.trim().toLowerCase()}`]),
          ...(username === undefined ? [] : [sql`lower(username) = lower(${username}) AND username = ${username}`]),
          ...(externalId === undefined ? [] : [sql`external_id = ${externalId}`]),
          ...(createdFrom === undefined ? [] : [sql`created_at >= ${toDate(createdFrom)}`]),
          ...(createdTo === undefined ? [] : [sql`created_at <= ${toDate(createdTo)}`])
        ]
      }

      const select = Effect.fnUntraced(function*(scope: Scope, query: PlayerWalkQuery) {
        const { cursor, limit, search, sort, startingWith } = query
        const below = yield* numberCursors.read(cursor)
        const filters = conditionsOf(query)
        if (filters === null) return []
        if (startingWith !== undefined) {
          if (below !== undefined) return []
          const ids = yield* prefixes(scope, startingWith, limit)
          const list = numbers(ids)
          return yield* players(
            sql`SELECT ${columns} FROM players
              WHERE ${sql.and([sql`id = ANY(${list}::float8[]::bigint[])`, ...filters])}
              ORDER BY array_position(${list}::float8[], players.id::float8)`
          )
        }
        const order = sql.literal(sort === "oldest" ? "players.id" : "players.id DESC")
        const position = below === undefined ? [] : [
          sort === "oldest" ? sql`players.id > ${below}::float8::bigint` : sql`players.id < ${below}::float8::bigint`
        ]
        const where = [sql`true`, ...within(sql, scope, "players.operator_id"), ...filters, ...position]
        const end = sql`ORDER BY ${order} LIMIT ${limit + 1}`
        if (search === undefined) {
          return yield* players(sql`SELECT ${columns} FROM players WHERE ${sql.and(where)} ${end}`)
        }
        const byIndex = yield* isRare(sql, scope, search, Number.MAX_SAFE_INTEGER, limit + 1)
        return byIndex
          ? yield* players(
            sql`WITH found AS MATERIALIZED (SELECT id FROM players WHERE ${
              sql.and([...where, holdsByIndex(sql, search)])
            })
              SELECT ${columns} FROM players WHERE players.id IN (SELECT found.id FROM found) ${end}`
          )
          : yield* players(
            sql`SELECT ${columns} FROM players WHERE ${sql.and([...where, holds(sql, search)])} ${end}`
          )
      }, orTryAgain)

      const walk: PlayerWalk["Service"]["walk"] = Effect.fn("PlayerWalk.walk")(function*(scope, query) {
        const rows = yield* select(scope, query)
        const now = yield* Clock.currentTimeMillis
        return mapPart(
          numberCursors.part(rows, query.limit, ({ id }) => id),
          (row) => ({ operator_id: row.operator_id, ...toProfile(row, now) })
        )
      })

      return PlayerWalk.of({ walk })
    })
  )
}
