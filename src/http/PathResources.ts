import { Context, Effect, Layer } from "effect"
import { ServingClient } from "../platform/Database.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { orTryAgain } from "../store/Rows.ts"

/**
 * Whether what a path names is there for an operator. Asked only when the rest of a request is wrong: the right answer to
 * a bad request about a player of somebody else is that there is no such player.
 */
export class PathResources extends Context.Service<PathResources, {
  readonly hasPlayer: (operatorId: number, playerId: number) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
  readonly hasGame: (gameId: number) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
}>()("pitboss/http/PathResources") {
  static readonly layer = Layer.effect(
    PathResources,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const isThere = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
        orTryAgain(Effect.map(statement, (rows) => rows.length > 0))
      return PathResources.of({
        hasPlayer: (operatorId, playerId) =>
          isThere(sql`SELECT 1 FROM players WHERE id = ${BigInt(playerId)} AND operator_id = ${BigInt(operatorId)}`),
        hasGame: (gameId) =>
          isThere(sql`
            SELECT 1 FROM games g JOIN providers p ON p.id = g.provider_id
            WHERE g.id = ${BigInt(gameId)} AND g.active AND p.active`)
      })
    })
  )
}
