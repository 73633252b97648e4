import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { bodyTooLarge, maxBodyBytes, refuseBody } from "./Refusals.ts"

const empty = new Uint8Array(0)

/** The body that a signature covers: its raw bytes, and nothing for a request that asks to read. */
export const signedBody = (request: HttpServerRequest.HttpServerRequest) => {
  if (request.method === "GET" || request.method === "HEAD") return Effect.succeed(empty)
  // Known to be too long before a byte of it is read.
  if (Number(request.headers["content-length"]) > maxBodyBytes) return Effect.fail(bodyTooLarge)
  return Effect.matchEffect(request.arrayBuffer, {
    onSuccess: (bytes) => Effect.succeed(new Uint8Array(bytes)),
    onFailure: (error) => Effect.fail(refuseBody(error))
  })
}
