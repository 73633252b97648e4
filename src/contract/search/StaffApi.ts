/** Search of the staff API: records by id or by prefix of a name. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
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

export const SearchGroup = HttpApiGroup.make("search").add(
  HttpApiEndpoint.get("find", "/search", { query: { q: text(128) }, success: list(Found) })
)
