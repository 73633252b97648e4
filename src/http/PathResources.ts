/** Checks whether the player or game named in a path exists. */
import { Context, Effect, Layer } from "effect"
import { ServingClient } from "../platform/Database.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { orTryAgain } from "../store/Rows.ts"

/**
 * Checked only for malformed requests: one about another operator's player is answered as one about a missing player.
 */
export class PathResources extends Context.Service<PathResources, {
  readonly hasPlayer: (operatorId: number, playerId: number) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
  readonly hasGame: (gameId: number) => Effect.Effect<boolean, Refusal<"TRY_AGAIN">>
}>()("pitboss/http/PathResources") {
  static readonly layer = Layer.effect(
    PathResources,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const exists = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
        orTryAgain(Effect.map(statement, (rows) => rows.length > 0))
      return PathResources.of({
        hasPlayer: (operatorId, playerId) =>
          exists(sql`SELECT 1 FROM players WHERE id = ${playerId} AND operator_id = ${operatorId}`),
        hasGame: (gameId) =>
          exists(sql`
            SELECT 1 FROM games g JOIN providers p ON p.id = g.provider_id
            WHERE g.id = ${gameId} AND g.active AND p.active`)
      })
    })
  )
}
