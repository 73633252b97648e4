/** Reads the peer address, forwarding header and bearer token of a request, Effect's or Node.js's. */
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"
import type { Origin } from "./AnonymousLimits.ts"

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

/** Token of `Authorization: Bearer …`; undefined when absent. */
export const bearer = (header: string | undefined): string | undefined =>
  /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header ?? "")?.[1]
