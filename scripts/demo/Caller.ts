/** Signed calls to the service, as an operator's server or a game provider makes them. */
import { Clock, Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { createHmac, randomUUID } from "node:crypto"

/** No complete answer: unknown outcome. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { message: Schema.String }) {}

export interface Reply {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly text: string
}

export interface Credentials {
  readonly key: string
  readonly secret: string
}

export interface Caller {
  readonly get: (uri: string) => Effect.Effect<Reply, NoAnswer>
  /** Interrupting it breaks the connection. */
  readonly post: (
    uri: string,
    body: string,
    headers?: { readonly [name: string]: string }
  ) => Effect.Effect<Reply, NoAnswer>
}

/** Longer than any provider waits. */
const patience = "10 seconds"

/**
 * Lower-case hex HMAC-SHA256 over method, URI, timestamp (Unix seconds) and body, and the nonce where there is one, joined by line
 * feeds.
 */
const sign = (secret: string, parts: ReadonlyArray<string>): string =>
  createHmac("sha256", secret).update(parts.join("\n")).digest("hex")

/** The nodes of one service, called in turn, and how many calls each of them served. */
export interface Nodes {
  readonly origins: readonly [string, ...Array<string>]
  readonly served: Map<string, number>
}

/** Makes a caller. An operator's requests are accepted once each, so they carry a nonce; a provider may repeat its own. */
export const makeCaller = Effect.fnUntraced(
  function*({ origins, served }: Nodes, who: "operator" | "provider", { key, secret }: Credentials) {
    const client = yield* HttpClient.HttpClient
    let turn = 0
    const keyHeader = who === "operator" ? "X-Api-Key" : "X-Provider-Key"

    const send = (method: "GET" | "POST", uri: string, body: string, more: { readonly [name: string]: string }) =>
      Effect.gen(function*() {
        const timestamp = String(Math.floor((yield* Clock.currentTimeMillis) / 1000))
        const nonce = who === "operator" ? [randomUUID()] : []
        const request = HttpClientRequest.make(method)(new URL(uri, origins[turn++ % origins.length]), {
          headers: {
            [keyHeader]: key,
            "X-Timestamp": timestamp,
            "X-Signature": sign(secret, [method, uri, timestamp, body, ...nonce]),
            ...(nonce[0] === undefined ? {} : { "X-Nonce": nonce[0] }),
            ...more
          }
        })
        const response = yield* client.execute(
          method === "GET" ? request : HttpClientRequest.bodyText(request, body, "application/json")
        )
        const text = yield* response.text
        const node = response.headers["x-served-by"]
        if (node !== undefined) served.set(node, (served.get(node) ?? 0) + 1)
        return { status: response.status, headers: { ...response.headers }, text } satisfies Reply
      }).pipe(
        Effect.timeout(patience),
        Effect.mapError((error) => new NoAnswer({ message: error.message }))
      )

    return {
      get: (uri) => send("GET", uri, "", {}),
      post: (uri, body, headers = {}) => send("POST", uri, body, headers)
    } satisfies Caller
  }
)
