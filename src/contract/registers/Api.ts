/** Operator API endpoint for a player's checks at exclusion registers. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { pathId } from "../common/Fields.ts"
import { page, pageQuery } from "../common/Pagination.ts"
import { RegisterCheck } from "./RegisterResource.ts"

export const RegistersGroup = HttpApiGroup.make("registers")
  .add(
    HttpApiEndpoint.get("checks", "/players/:player/register-checks", {
      params: { player: pathId },
      query: pageQuery,
      success: page(RegisterCheck)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "Questions to national registers about a player, newest first",
        "Each with the verdict and the ids of the question and of the answer, as proof that the register was asked."
      ))
  )
  .annotate(RequiredFeature, "responsible_gaming")
  .annotateMerge(OpenApi.annotations({
    title: "Registers",
    description: "National registers of excluded players, asked as the jurisdiction wants it."
  }))
