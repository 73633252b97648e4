/** Staff API player list by cursor: newest or oldest first, or by prefix. Matches are not counted. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { isStorable, orTryAgain } from "../../store/Rows.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import { holds, holdsByIndex, isRare } from "./internal/PlayerSearch.ts"
import { makePlayerList } from "./PlayerList.ts"
import { makePlayersByWords } from "./PlayersByWords.ts"
import { playerColumns, playerRows, toProfile } from "./PlayerProfile.ts"
import type { PlayerFilters, StaffPlayer } from "./Players.ts"
import type { playerOrders } from "../../contract/players/StaffApi.ts"

export interface PlayerWalkQuery extends PlayerFilters, PartQuery {
  /** Newest unless it is said. */
  readonly sort?: (typeof playerOrders)[number] | undefined
  /** As {@link makePlayersByWords}: the order is then that of the text, and there is one page only. */
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
      const list = yield* makePlayerList
      const prefixes = yield* makePlayersByWords

      /** The players that a text begins, in the order of the text: one part. */
      const selectPrefixed = Effect.fnUntraced(function*(scope: Scope, query: PlayerWalkQuery, beginning: string) {
        const filters = list.where(scope, query)
        if ((query.cursor ?? "") !== "" || filters === undefined) return { items: [], next: null }
        const ids = numbers(yield* prefixes(scope, beginning, query.limit))
        const items = yield* players(
          sql`SELECT ${columns} FROM players WHERE id = ANY(${ids}::float8[]::bigint[]) AND ${filters}
            ORDER BY array_position(${ids}::float8[], players.id::float8)`
        )
        return { items, next: null }
      })

      const select = Effect.fnUntraced(function*(scope: Scope, query: PlayerWalkQuery) {
        const { limit, search, sort = "newest", startingWith } = query
        if (startingWith !== undefined) return yield* selectPrefixed(scope, query, startingWith)
        if (search === undefined) return yield* list.part(scope, query, sort)
        if (!isStorable(search)) return { items: [], next: null }
        const byIndex = yield* isRare(sql, scope, search, Number.MAX_SAFE_INTEGER, limit + 1)
        return yield* list.part(scope, query, sort, (ofList, end) =>
          players(
            byIndex
              ? sql`WITH found AS MATERIALIZED (SELECT id FROM players WHERE ${ofList} AND ${holdsByIndex(sql, search)})
                SELECT ${columns} FROM players WHERE players.id IN (SELECT found.id FROM found) ${end}`
              : sql`SELECT ${columns} FROM players WHERE ${ofList} AND ${holds(sql, search)} ${end}`
          ))
      }, orTryAgain)

      const walk: PlayerWalk["Service"]["walk"] = Effect.fn("PlayerWalk.walk")(function*(scope, query) {
        const part = yield* select(scope, query)
        const now = yield* Clock.currentTimeMillis
        return mapPart(part, (row) => ({ operator_id: row.operator_id, ...toProfile(row, now) }))
      })

      return PlayerWalk.of({ walk })
    })
  )
}
