/** Staff API endpoint for the search: records by id or name prefix. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { tellsOfPlayers } from "../common/Annotations.ts"
import { text } from "../common/Fields.ts"
import { list } from "../common/Pagination.ts"

export const foundKinds = ["player", "payment", "round", "transaction", "operator", "game"] as const

export const Found = Schema.Struct({
  kind: Schema.Literals(foundKinds),
  id: Schema.String.annotate({ description: "Ours, or the provider's of a round or a message." }),
  label: Schema.String.annotate({ [tellsOfPlayers]: true }),
  detail: Schema.String,
  href: Schema.String.annotate({ description: "The address of its page, from the root of the back office." })
})

export const SearchGroup = HttpApiGroup.make("search").annotate(
  OpenApi.Description,
  "Everything that has an id or a name"
).add(
  HttpApiEndpoint.get("find", "/search", {
    query: {
      q: text(128, {
        description: "An id, a reference, or the beginning of a name.",
        flag: { name: "text", kind: "argument" }
      })
    },
    success: list(Found)
  }).annotateMerge(
    action("Players, payments, rounds, messages, operators and games by an id or the beginning of a name", {
      // results of each kind need the role that may list that kind
      roles: anyRole,
      concern: "operator"
    })
  )
)
