/** Operator API endpoints for a player's position (stakes, wins, deposits, withdrawals) and reality checks. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { pathId } from "../common/Fields.ts"
import { single } from "../common/Pagination.ts"
import { Position, RealityCheck, RealityCheckRequest } from "./PositionResource.ts"

export const PositionGroup = HttpApiGroup.make("position")
  .add(
    HttpApiEndpoint.get("get", "/players/:player/position", {
      params: { player: pathId },
      success: single(Position)
    })
      .annotate(RequiredScope, "wallet:read")
      .annotateMerge(about(
        "What a player has staked, won, paid in and taken out",
        "In the running session, since midnight UTC and in the last 30 days, real and bonus money; deposits and withdrawals ever."
      )),
    HttpApiEndpoint.get("realityCheck", "/players/:player/reality-check", {
      params: { player: pathId },
      success: single(RealityCheck)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(
        about(
          "A player's reality check",
          "The interval that counts, and when the next one falls due in the running session."
        )
      ),
    HttpApiEndpoint.put("setRealityCheck", "/players/:player/reality-check", {
      params: { player: pathId },
      payload: RealityCheckRequest,
      success: single(RealityCheck)
    })
      .annotate(RequiredScope, "limits:write")
      .annotateMerge(about(
        "Set a player's interval between reality checks",
        "It counts at once, from the last acknowledgement in the running session on. A reality check that is open stays so."
      ))
  )
  .annotate(RequiredFeature, "responsible_gaming")
  .annotateMerge(OpenApi.annotations({
    title: "Position",
    description: "Time and money that a player has spent."
  }))
