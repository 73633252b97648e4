/** Free rounds in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { refusals } from "../common/Errors.ts"
import { integer, pathId } from "../common/Fields.ts"
import { created, page, pageQuery, single } from "../common/Pagination.ts"
import { FreeRounds, freeRoundsTerms } from "./FreeRoundsResource.ts"

const anyId = integer(1, Number.MAX_SAFE_INTEGER)

export const StaffFreeRoundsGroup = HttpApiGroup.make("free_rounds").add(
  HttpApiEndpoint.post("issue", "/free-rounds", {
    payload: Schema.Struct({ player: anyId, game: anyId, ...freeRoundsTerms }),
    success: created(FreeRounds),
    error: refusals("PLAYER_RESTRICTED", "BONUS_INVALID", "LIMIT_EXCEEDED")
  }),
  HttpApiEndpoint.post("cancel", "/free-rounds/:free_rounds/cancel", {
    params: { free_rounds: pathId },
    success: single(FreeRounds),
    error: refusals("BONUS_INVALID")
  }),
  HttpApiEndpoint.get("list", "/free-rounds", {
    query: { ...pageQuery, player: pathId },
    success: page(FreeRounds)
  })
)
