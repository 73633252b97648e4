/** Staff API endpoints for free rounds. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { refusals } from "../common/Errors.ts"
import { integer, pathId } from "../common/Fields.ts"
import { created, part, partQuery, single } from "../common/Pagination.ts"
import { FreeRounds, freeRoundsTerms } from "./FreeRoundsResource.ts"

const anyId = integer(1, Number.MAX_SAFE_INTEGER)

export const StaffFreeRoundsGroup = HttpApiGroup.make("free_rounds").annotate(
  OpenApi.Description,
  "Free rounds at the vendors of games"
).add(
  HttpApiEndpoint.post("issue", "/free-rounds", {
    payload: Schema.Struct({
      player: anyId.annotate({ description: "Id of the player." }),
      game: anyId.annotate({ description: "Id of the game." }),
      ...freeRoundsTerms
    }),
    success: created(FreeRounds),
    error: refusals("PLAYER_RESTRICTED", "BONUS_INVALID", "LIMIT_EXCEEDED")
  }).annotateMerge(action("Give a player free rounds", { roles: ["payments"], concern: "operator", is: "money" })),
  HttpApiEndpoint.post("cancel", "/free-rounds/:free_rounds/cancel", {
    params: { free_rounds: pathId },
    success: single(FreeRounds),
    error: refusals("BONUS_INVALID")
  }).annotateMerge(action("Take back what was not played", { roles: ["support", "payments"], concern: "operator" })),
  HttpApiEndpoint.get("list", "/free-rounds", {
    query: { ...partQuery, player: pathId.annotate({ description: "Id of the player." }) },
    success: part(FreeRounds)
  }).annotateMerge(action("A player's free rounds, newest first", { roles: anyRole, concern: "operator" }))
)
