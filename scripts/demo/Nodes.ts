/** The nodes of one service, called in turn; what they answer is counted. */
import { Context, Effect } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { RunStats } from "../simulators/RunStats.ts"

export interface Nodes {
  readonly origins: readonly [string, ...Array<string>]
  /** How many calls each of them served. */
  readonly served: Map<string, number>
}

/** The answers to the calls of an effect, where it asks for them. */
export const Answers = Context.Reference<Array<HttpClientResponse.HttpClientResponse> | undefined>(
  "pitboss/demo/Answers",
  {
    defaultValue: () => undefined
  }
)

/** A client for addresses of the first node, which calls each node in turn. */
export const clientOver = (client: HttpClient.HttpClient, { origins, served }: Nodes, stats: RunStats) => {
  let turn = 0
  const [first] = origins
  return client.pipe(
    HttpClient.mapRequest((request) => {
      const origin = origins[turn++ % origins.length] ?? first
      return HttpClientRequest.setUrl(request, request.url.replace(first, origin))
    }),
    HttpClient.tap((response) =>
      Effect.map(Answers, (answers) => {
        answers?.push(response)
        const node = response.headers["x-served-by"]
        if (node !== undefined) served.set(node, (served.get(node) ?? 0) + 1)
        if (response.status === 500) stats.differ(`${response.request.method} ${response.request.url}: 500`)
      })
    )
  )
}
