/** Tells which endpoints may stream their response, part by part instead of whole in memory. */
import type { HttpApiEndpoint } from "effect/http-api"

/** Content types of an endpoint's answers that are streams; none for an endpoint that answers with documents alone. */
export const streamTypesOf = ({ success }: Pick<HttpApiEndpoint.Top, "success">): ReadonlyArray<string> =>
  [...success].flatMap((schema) =>
    "contentTypes" in schema && Array.isArray(schema.contentTypes) ? schema.contentTypes : []
  )

/** Whether an answer of an endpoint may be a stream: it is served by the node that was asked, since no answer travels between nodes in parts. */
export const mayStream = (endpoint: Pick<HttpApiEndpoint.Top, "success">): boolean => streamTypesOf(endpoint).length > 0
