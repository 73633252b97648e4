/** Operator API endpoints for free rounds. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { integer, pathId } from "../common/Fields.ts"
import { created, page, pageQuery, single } from "../common/Pagination.ts"
import { FreeRounds, freeRoundsTerms } from "./FreeRoundsResource.ts"

const FreeRoundsIssue = Schema.Struct({ game_id: integer(1, Number.MAX_SAFE_INTEGER), ...freeRoundsTerms }).annotate({
  identifier: "FreeRoundsIssue",
  examples: [{ game_id: 311, rounds: 20, stake: 20, valid_days: 7 }]
})

export const FreeRoundsGroup = HttpApiGroup.make("free_rounds")
  .add(
    HttpApiEndpoint.get("list", "/players/:player/free-rounds", {
      params: { player: pathId },
      query: pageQuery,
      success: page(FreeRounds)
    })
      .annotate(RequiredScope, "bonuses:read")
      .annotateMerge(about("A player's free rounds, newest first", "Of all vendors, with what became of them.")),
    HttpApiEndpoint.post("issue", "/players/:player/free-rounds", {
      params: { player: pathId },
      payload: FreeRoundsIssue,
      success: created(FreeRounds),
      error: refusals("PLAYER_RESTRICTED", "BONUS_INVALID")
    })
      .annotate(RequiredScope, "bonuses:write")
      .annotateMerge(about(
        "Give free rounds",
        "At the game's vendor, where its protocol has them: BONUS_INVALID says why it has none, or refuses (`details.vendor`). TRY_AGAIN when " +
          "it does not answer: send the same request again with the same `Idempotency-Key`, and the vendor hears of the same free rounds. Without " +
          "a key they may have been granted, and `details.retry` is `never`."
      )),
    HttpApiEndpoint.delete("cancel", "/players/:player/free-rounds/:free_rounds", {
      params: { player: pathId, free_rounds: pathId },
      success: single(FreeRounds),
      error: refusals("BONUS_INVALID")
    })
      .annotate(RequiredScope, "bonuses:write")
      .annotateMerge(about("Take free rounds back", "Those that were not played. What was won stays the player's."))
  )
  .annotate(RequiredFeature, "bonuses")
  .annotateMerge(OpenApi.annotations({ title: "Free rounds", description: "Free rounds at the vendors of games." }))
