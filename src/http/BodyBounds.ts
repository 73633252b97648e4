/** Refusals of bodies beyond the limits, before they are decoded. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { isOverfull, maxJsonDepth, maxJsonValues } from "../platform/JsonBounds.ts"
import { ReadRequest } from "./ReadRequest.ts"
import type { ListBound } from "../contract/common/Annotations.ts"

const overfull = refuse("INVALID_REQUEST", "The body has too many values, or they are nested too deeply.", {
  max_values: maxJsonValues,
  max_depth: maxJsonDepth
})

/** Refuses a body with too many values, before it is parsed. */
export const refuseOverfull = (body: Uint8Array): Refusal<"INVALID_REQUEST"> | undefined =>
  isOverfull(body) ? overfull : undefined

/** Refuses a list that is too long, before its elements are decoded. */
export const refuseLongList = (
  body: object,
  { field, maximum, message }: ListBound
): Refusal<"VALIDATION_FAILED"> | undefined => {
  const list: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return Array.isArray(list) && list.length > maximum ? refuseFields({ [field]: [message] }) : undefined
}

/** Bytes of a request's body; empty when it cannot be read, which the decoder reports. */
export const bytesOrNone = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array> =>
  request instanceof ReadRequest ? Effect.succeed(request.body) : Effect.match(request.arrayBuffer, {
    onSuccess: (buffer) => new Uint8Array(buffer),
    onFailure: () => new Uint8Array(0)
  })
