/** Body bytes of a request; empty when the body cannot be read, which the decoder then reports. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ReadRequest } from "./ReadRequest.ts"

export const bytesOrNone = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array> =>
  request instanceof ReadRequest ? Effect.succeed(request.body) : Effect.match(request.arrayBuffer, {
    onSuccess: (buffer) => new Uint8Array(buffer),
    onFailure: () => new Uint8Array(0)
  })
