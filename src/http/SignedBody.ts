import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { bodyTooLarge, maxBodyBytes, maxPlayerBodyBytes, playerBodyTooLarge, refuseBody } from "./Refusals.ts"

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

/** Reads the body of a player's request, which holds a stake and a few params: a browser is given less room than a server. */
export const playerBody = (request: HttpServerRequest.HttpServerRequest) =>
  Number(request.headers["content-length"]) > maxPlayerBodyBytes
    ? Effect.fail(playerBodyTooLarge)
    : request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxPlayerBodyBytes)),
      Effect.mapError((error) => refuseBody(error, playerBodyTooLarge))
    )
