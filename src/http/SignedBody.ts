/** Reads request bodies before authentication: bodies covered by a signature, and small bodies of player and sign-in requests. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { Refusal } from "../domain/Refusal.ts"
import { bodyTooLarge, maxBodyBytes, maxSmallBodyBytes, smallBodyTooLarge } from "../contract/common/Envelope.ts"
import { refuseBody } from "./Refusals.ts"
import { ReadRequest } from "./ReadRequest.ts"
import { originOf } from "./RequestOrigin.ts"
import { type AnonymousLimits, tooManyBodies, uncountedBytes } from "./AnonymousLimits.ts"

const noBody = Effect.succeed(new Uint8Array(0))

type BodyRefusal = Refusal<"INVALID_REQUEST" | "TRY_AGAIN" | "RATE_LIMITED">

/**
 * Raw body covered by a signature, empty for reads. A large body needs a reservation, and a refusal counts against the caller's address.
 */
export const signedBody = (
  request: HttpServerRequest.HttpServerRequest,
  anonymousLimits: AnonymousLimits["Service"]
): Effect.Effect<Uint8Array, BodyRefusal> =>
  Effect.mapError(
    readSigned(request, anonymousLimits),
    (refusal): BodyRefusal => anonymousLimits.take(originOf(request)) ?? refusal
  )

const readSigned = (
  request: HttpServerRequest.HttpServerRequest,
  anonymousLimits: AnonymousLimits["Service"]
): Effect.Effect<Uint8Array, BodyRefusal> => {
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

/** Reads the body of a request of a player, or of somebody who signs in, with a smaller limit than for servers. */
export const smallBody = (request: HttpServerRequest.HttpServerRequest) =>
  Number(request.headers["content-length"]) > maxSmallBodyBytes
    ? Effect.fail(smallBodyTooLarge)
    : request instanceof ReadRequest
    ? request.body.length > maxSmallBodyBytes ? Effect.fail(smallBodyTooLarge) : Effect.void
    : request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxSmallBodyBytes)),
      Effect.mapError((error) => refuseBody(error, smallBodyTooLarge))
    )
