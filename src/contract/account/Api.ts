/** Operator API endpoint `GET /me`: the identity of the calling API key. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Identity } from "./AccountResource.ts"
import { about } from "../common/Annotations.ts"
import { single } from "../common/Pagination.ts"

export const AccountGroup = HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: single(Identity) })
      .annotateMerge(about(
        "The key that signs, its operator and the server's time",
        "The first call to make: it tells whether requests are signed as they should be, what the key may do, how many requests a " +
          "minute it has, and how far your clock is off. It takes no scope."
      ))
  )
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Who is calling." }))
