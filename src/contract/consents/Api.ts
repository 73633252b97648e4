/** Operator API endpoints for marketing consents, and for audiences: which of the given players may be contacted now. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, BoundedList, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { integer, pathId, text } from "../common/Fields.ts"
import { list, single } from "../common/Pagination.ts"
import { id } from "../common/Resource.ts"
import { audienceReasons, Consent, ConsentsRequest, maxAudience } from "./ConsentResource.ts"

export const Audience = Schema.Struct({
  allowed: Schema.Array(id).annotate({ description: "Those who may be addressed now, in the order sent." }),
  refused: Schema.Array(Schema.Struct({ player_id: id, reason: Schema.Literals(audienceReasons) }))
}).annotate({
  identifier: "Audience",
  examples: [{ allowed: [48213], refused: [{ player_id: 48214, reason: "no_consent" }] }]
})

const audienceSize = `must have 1 to ${maxAudience} items`

const AudienceRequest = Schema.Struct({
  channel: text(40, { examples: ["email"] }),
  product: text(40, { examples: ["casino"] }),
  player_ids: Schema.Array(integer(1, Number.MAX_SAFE_INTEGER)).check(
    Schema.isBetweenLength(1, maxAudience, { message: audienceSize })
  )
}).annotate({
  identifier: "AudienceRequest",
  examples: [{ channel: "email", product: "casino", player_ids: [48213, 48214] }]
})

export const ConsentsGroup = HttpApiGroup.make("consents")
  .add(
    HttpApiEndpoint.get("list", "/players/:player/consents", { params: { player: pathId }, success: list(Consent) })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "A player's consents to marketing",
        "Each channel and product of the player's jurisdiction. Nothing is granted until it is said. A profile's `marketing.email` is the consent to e-mail for all products."
      )),
    HttpApiEndpoint.put("change", "/players/:player/consents", {
      params: { player: pathId },
      payload: ConsentsRequest,
      success: list(Consent)
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Grant or withdraw consents",
        "Only the consents sent change, all or none of them; without a `product` a channel's consents to all products. Each change is kept as an acknowledgement `consent`."
      )),
    HttpApiEndpoint.post("audience", "/marketing/audience", { payload: AudienceRequest, success: single(Audience) })
      .annotate(RequiredScope, "players:read")
      .annotate(BoundedList, { field: "player_ids", maximum: maxAudience, message: audienceSize })
      .annotateMerge(about(
        "Who of some players may be addressed",
        "1 to 10,000 players. Refused: `no_consent` to the channel and product; `excluded` for now; `register_excluded` by a national register, which is asked its " +
          "question for marketing where the jurisdiction has one; `register_unavailable` when it does not answer; `restricted` accounts; `not_found`. Changes nothing."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Consents",
    description: "What players have consented to be told, and who may be told something now."
  }))
