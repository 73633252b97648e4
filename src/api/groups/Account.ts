import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Identity } from "../Identity.ts"
import { single } from "../Pagination.ts"

export const AccountGroup = HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: single(Identity) })
      .annotate(OpenApi.Summary, "The key that signs, its operator and the server's time")
  )
  .annotate(OpenApi.Title, "Account")
