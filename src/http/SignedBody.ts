import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { Refusal } from "../domain/Refusal.ts"
import { bodyTooLarge, maxBodyBytes, maxPlayerBodyBytes, playerBodyTooLarge, refuseBody } from "./Refusals.ts"
import { ReadRequest } from "./ReadRequest.ts"
import { originOf } from "./RequestOrigin.ts"
import { type AnonymousLimits, tooManyBodies, uncountedBytes } from "./AnonymousLimits.ts"

const noBody = Effect.succeed(new Uint8Array(0))

/** Raw body covered by a signature, empty for reads. The caller is not yet authenticated: a large body needs a reservation. */
export const signedBody = (
  request: HttpServerRequest.HttpServerRequest,
  anonymousLimits: AnonymousLimits["Service"]
): Effect.Effect<Uint8Array, Refusal<"INVALID_REQUEST" | "TRY_AGAIN">> => {
  if (request.method === "GET" || request.method === "HEAD") return noBody
  if (request instanceof ReadRequest) return Effect.succeed(request.body)
  const length = request.headers["content-length"]
  if (Number(length) > maxBodyBytes) return Effect.fail(bodyTooLarge)
  const body = Effect.matchEffect(request.arrayBuffer, {
    onSuccess: (bytes) => Effect.succeed(new Uint8Array(bytes)),
    onFailure: (error) => Effect.fail(refuseBody(error))
  })
  // unknown length: reserves the maximum
  const bytes = length === undefined ? maxBodyBytes : Number(length)
  if (bytes <= uncountedBytes) return body
  const release = anonymousLimits.reserve(
    originOf(request),
    bytes,
    () => NodeHttpServerRequest.toIncomingMessage(request).destroy()
  )
  return release === undefined ? Effect.fail(tooManyBodies) : Effect.ensuring(body, Effect.sync(release))
}

/** Reads the body of a player's request, with a smaller limit than for servers. */
export const playerBody = (request: HttpServerRequest.HttpServerRequest) =>
  Number(request.headers["content-length"]) > maxPlayerBodyBytes
    ? Effect.fail(playerBodyTooLarge)
    : request instanceof ReadRequest
    ? request.body.length > maxPlayerBodyBytes ? Effect.fail(playerBodyTooLarge) : Effect.void
    : request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxPlayerBodyBytes)),
      Effect.mapError((error) => refuseBody(error, playerBodyTooLarge))
    )
