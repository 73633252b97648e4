/** Whom a request comes from, read from either form that a request has on its way. */
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"
import type { Origin } from "./Strangers.ts"

export const originOf = ({ headers, remoteAddress }: HttpServerRequest.HttpServerRequest): Origin => ({
  peer: remoteAddress._tag === "Some" ? remoteAddress.value : undefined,
  forwardedFor: headers["x-forwarded-for"]
})

export const originOfMessage = ({ headers, socket }: IncomingMessage): Origin => {
  const forwardedFor = headers["x-forwarded-for"]
  return {
    peer: socket.remoteAddress,
    forwardedFor: typeof forwardedFor === "string" ? forwardedFor : forwardedFor?.join(",")
  }
}
