/** Operator API endpoints for player obligations, such as a limit review, and their acknowledgements. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { pathId } from "../common/Fields.ts"
import { created, list, page, pageQuery } from "../common/Pagination.ts"
import { Acknowledgement, AcknowledgementRequest, Obligation, obligationQuery } from "./ObligationResource.ts"

export const ObligationsGroup = HttpApiGroup.make("obligations")
  .add(
    HttpApiEndpoint.get("list", "/players/:player/obligations", {
      params: { player: pathId },
      query: obligationQuery,
      success: list(Obligation)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "What a player must do, newest first",
        "`required_limits`: the jurisdiction wants limits set. `limit_prompt`: the player is asked for limits before the first deposit, and sets one " +
          "or declines. `terms`: the operator's terms in the version of `details.text_version` are not accepted. `limit_review`, `funds_notice`: the jurisdiction wants " +
          "the player to review the limits, and to take notice of how funds are protected, every so often; they stop nothing. `reality_check`: the interval of the running session has passed; it stops play from `details.gates_from` on. While one is open, what its `gates` name is refused with PLAYER_RESTRICTED, `details.reason` `obligation`. 100 at most."
      )),
    HttpApiEndpoint.post("acknowledge", "/players/:player/acknowledgements", {
      params: { player: pathId },
      payload: AcknowledgementRequest,
      success: created(Acknowledgement),
      error: refusals("RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredScope, "limits:write")
      .annotateMerge(about(
        "Take down a player's answer",
        "`limit_raise` with its `field`: a raise that has to be confirmed is in force with `accept`, and dropped with `decline`. `limit_prompt`: the " +
          "player declines to set limits. `terms` with `accept` and the `text_version` that counts. `limit_review` with `accept` (they stay) " +
          "or `decline`, `funds_notice` with `accept`. `reality_check`: play goes on with `continue`; `stop` ends the player's open game sessions. Kept for good."
      )),
    HttpApiEndpoint.get("acknowledgements", "/players/:player/acknowledgements", {
      params: { player: pathId },
      query: pageQuery,
      success: page(Acknowledgement)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about("A player's answers, newest first", "Of the player, and of others on the player's behalf."))
  )
  .annotate(RequiredFeature, "responsible_gaming")
  .annotateMerge(OpenApi.annotations({
    title: "Obligations",
    description: "What a jurisdiction asks of a player, and what the player answers."
  }))
