/** Operator API endpoints for data subject requests. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { pathId } from "../common/Fields.ts"
import { created, single } from "../common/Pagination.ts"
import { DataRequest, DataRequestBody } from "./DataRequestResource.ts"

const request = { player: pathId, request: pathId.annotate({ description: "The id of the data request." }) }

export const PrivacyGroup = HttpApiGroup.make("privacy")
  .add(
    HttpApiEndpoint.post("request", "/players/:player/data-requests", {
      params: { player: pathId },
      payload: DataRequestBody,
      success: created(DataRequest),
      error: refusals("INVALID_REQUEST")
    })
      .annotate(RequiredScope, "players:write")
      .annotateMerge(about(
        "Carry a person's request about their data",
        "`access`: the document is there from now on, and the request is completed when it was read. `erasure`: what has not to be kept is erased at " +
          "once, for good, and the rest when its time is over. Refused with `details.blocking` while the account is open (`account_open`), holds money " +
          "(`balance`), has an open round, payment or case, or an exclusion that runs."
      )),
    HttpApiEndpoint.get("find", "/players/:player/data-requests/:request", {
      params: request,
      success: single(DataRequest)
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(
        about("A request about a person's data", "With what an erasure did, and what is kept until when.")
      ),
    HttpApiEndpoint.get("document", "/players/:player/data-requests/:request/document", {
      params: request,
      success: HttpApiSchema.StreamUint8Array({ contentType: "application/json" }),
      error: refusals("INVALID_REQUEST")
    })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "Everything that is known of the person",
        "Of a request for `access`: profile and former identities, wallets, ledger, payments, bonuses, limits, exclusions, sessions, acknowledgements, " +
          "consents, checks, notes and sums, as one JSON document. Without secrets, other people, names of staff, and what must not be told."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Privacy",
    description: "What a person may ask about their data."
  }))
