/** Operator API endpoints for jurisdiction profiles. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { text } from "../common/Fields.ts"
import { list, single } from "../common/Pagination.ts"
import { ProfileDocument, ProfileSummary } from "./ProfileResource.ts"

export const ProfilesGroup = HttpApiGroup.make("profiles")
  .add(
    HttpApiEndpoint.get("list", "/profiles", { success: list(ProfileSummary) })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "Jurisdictions of the operator",
        "The profiles that players can be registered under, each in the version that counts now."
      )),
    HttpApiEndpoint.get("get", "/profiles/:code", {
      params: { code: text(64, { description: "Code of a profile, like `se`." }) },
      success: single(ProfileDocument)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "Rules of a jurisdiction",
        "The whole document that counts now: breaks, limits, caps, bonuses, registers and what else the jurisdiction asks for. Amounts are minor " +
          "units of its currency, durations are ISO 8601."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Jurisdictions",
    description: "Rules of the jurisdictions that the operator's players are under."
  }))
