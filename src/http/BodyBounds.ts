/**
 * Limits on a JSON body, checked on its bytes before parsing: decoding a name or an element costs a hundred times as much as sending it, on
 * the thread that decides bets.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { ReadRequest } from "./ReadRequest.ts"
import type { ListBound } from "../contract/Annotations.ts"

/** Smaller bodies are not scanned. */
const unscannedBytes = 2048

/** Maximum number of names, elements and scalar values. The largest legitimate body, a batch of a hundred actions, has some 1300. */
const maxValues = 4096

const maxDepth = 32

const overfull = refuse("INVALID_REQUEST", "The body has too many values, or they are nested too deeply.", {
  max_values: maxValues,
  max_depth: maxDepth
})

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openings = new Set([0x5b, 0x7b])
const closings = new Set([0x5d, 0x7d])

/** Refuses a body with too many values. Malformed JSON is not detected, or refused with the same code. */
export const refuseOverfull = (body: Uint8Array): Refusal<"INVALID_REQUEST"> | undefined => {
  if (body.length <= unscannedBytes) return undefined
  let depth = 0
  let values = 0
  let isInText = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (isInText) {
      if (byte === backslash) at++
      else if (byte === quote) isInText = false
    } else if (byte === quote) {
      isInText = true
    } else if (byte === comma || byte === colon) {
      if (++values > maxValues) return overfull
    } else if (openings.has(byte)) {
      if (++depth > maxDepth) return overfull
    } else if (closings.has(byte)) {
      depth--
    }
  }
  return undefined
}

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
