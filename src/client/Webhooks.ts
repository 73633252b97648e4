/**
 * Webhooks as their receiver meets them (SPEC section 6): whether a delivery is genuine, and what it says.
 *
 *     const event = yield* Webhooks.read({ secrets: [secret], headers: request.headers, body: rawBody })
 *     if (yield* alreadySeen(event.id)) return
 *
 * Deliveries may repeat and arrive out of order: keep the ids of events, and order by `created_at`.
 */
import { Clock, Data, Effect, type Redacted, Schema } from "effect"
import { Mac } from "effect/crypto"
import { Hex } from "effect/encoding"
import { hmacKey, joined } from "./internal/Signing.ts"

/** How old a delivery may be, and how far a clock may be ahead, in seconds. */
const maxAgeSeconds = 300

/** What happened. Types and fields may be added to: leave alone what you do not know. */
export const Event = Schema.Struct({
  /** The same in every delivery of the event. */
  id: Schema.String,
  /** For example `deposit.paid`. */
  type: Schema.String,
  api_version: Schema.String,
  created_at: Schema.String,
  data: Schema.Record(Schema.String, Schema.Unknown)
})
export type Event = typeof Event.Type

/** Why a delivery is not to be believed. Answer 400 and do nothing. */
export class Rejected extends Data.TaggedError("Rejected")<{
  readonly reason: "headers missing" | "too old" | "wrong signature" | "unreadable"
  readonly message: string
}> {}

const reject = (reason: Rejected["reason"], message: string) => Effect.fail(new Rejected({ reason, message }))

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(Event))

export interface Delivery {
  /** The endpoint's secret. Two while it is being rotated on your side; each is tried. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** The headers, names in any case, as `Headers` or as a plain object. */
  readonly headers: Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  /** The body exactly as it was received: not parsed and written again. */
  readonly body: Uint8Array | string
}

const headerOf = (headers: Delivery["headers"], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  return typeof value === "string" ? value : value?.join(",")
}

/**
 * Checks a delivery and reads its event. During the overlap after a rotation the secret before it signs in a header of its own,
 * `X-Service-Signature-Previous`: a match of either header is enough. Signatures are compared in constant time.
 */
export const read = Effect.fnUntraced(function*({ body, headers, secrets }: Delivery) {
  const mac = yield* Mac.Mac
  const timestamp = headerOf(headers, "x-service-timestamp")
  const current = headerOf(headers, "x-service-signature")
  if (timestamp === undefined || current === undefined) {
    return yield* reject("headers missing", "X-Service-Timestamp and X-Service-Signature must be there")
  }
  const age = Math.abs((yield* Clock.currentTimeMillis) / 1000 - Number(timestamp))
  if (!/^\d{1,12}$/.test(timestamp) || age > maxAgeSeconds) {
    return yield* reject("too old", `the timestamp is more than ${maxAgeSeconds} seconds away`)
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const signed = joined(`${timestamp}.`, bytes)
  const previous = headerOf(headers, "x-service-signature-previous")
  // versions before this one put both into the first header, with a comma between them
  const given = [...current.split(",", 2), ...(previous === undefined ? [] : [previous])]
  const tags = given.map((text) => Hex.decode(text.trim())).filter((tag) => tag._tag === "Success")
  let isGenuine = false
  for (const secret of secrets) {
    const key = yield* hmacKey(secret)
    for (const tag of tags) isGenuine = (yield* mac.verify(key, tag.success, signed)) || isGenuine
  }
  if (!isGenuine) return yield* reject("wrong signature", "no signature is one of the endpoint's secret")
  return yield* decodeEvent(new TextDecoder().decode(bytes)).pipe(
    Effect.catch(({ message }) => reject("unreadable", message))
  )
})
