/**
 * Receives webhooks (SPEC section 6): verifies the signature of a delivery and decodes its event.
 *
 *     const event = yield* Webhooks.read({ secrets: [secret], headers: request.headers, body: rawBody })
 *     if (yield* alreadySeen(event.id)) return
 *
 * Deliveries may repeat and arrive out of order: store the ids of events, and order by `created_at`.
 */
import { Clock, Data, Effect, type Redacted, Schema } from "effect"
import { Mac } from "effect/crypto"
import { Hex } from "effect/encoding"
import { hmacKey, joined } from "./internal/Signing.ts"

/** Maximum age of a delivery, and maximum clock difference into the future. */
const maxAgeSeconds = 300

/** An event. Types and fields may be added: ignore unknown ones. */
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

/** A delivery that is not genuine. Answer 400 and do nothing. */
export class Rejected extends Data.TaggedError("Rejected")<{
  readonly reason: "headers missing" | "too old" | "wrong signature" | "unreadable"
  readonly message: string
}> {}

const reject = (reason: Rejected["reason"], message: string) => Effect.fail(new Rejected({ reason, message }))

const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(Event))

export interface Delivery {
  /** The endpoint's secret; two during a rotation. Each is tried. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** The headers, names in any case, as `Headers` or as a plain object. */
  readonly headers: Headers | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  /** The body exactly as received: not parsed and serialised again. */
  readonly body: Uint8Array | string
}

const headerOf = (headers: Delivery["headers"], name: string): string | undefined => {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  return typeof value === "string" ? value : value?.join(",")
}

/**
 * Verifies a delivery and decodes its event. After a rotation the previous secret signs in `X-Service-Signature-Previous` for a while: a match of
 * either header suffices. Signatures are compared in constant time.
 */
export const read = Effect.fnUntraced(function*({ body, headers, secrets }: Delivery) {
  const mac = yield* Mac.Mac
  const timestamp = headerOf(headers, "x-service-timestamp")
  const current = headerOf(headers, "x-service-signature")
  if (timestamp === undefined || current === undefined) {
    return yield* reject("headers missing", "X-Service-Timestamp and X-Service-Signature are required")
  }
  const age = Math.abs((yield* Clock.currentTimeMillis) / 1000 - Number(timestamp))
  if (!/^\d{1,12}$/.test(timestamp) || age > maxAgeSeconds) {
    return yield* reject("too old", `the timestamp is more than ${maxAgeSeconds} seconds off`)
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const signed = joined(`${timestamp}.`, bytes)
  const previous = headerOf(headers, "x-service-signature-previous")
  const given = previous === undefined ? [current] : [current, previous]
  const tags = given.map((text) => Hex.decode(text.trim())).filter((tag) => tag._tag === "Success")
  let isGenuine = false
  for (const secret of secrets) {
    const key = yield* hmacKey(secret)
    for (const tag of tags) isGenuine = (yield* mac.verify(key, tag.success, signed)) || isGenuine
  }
  if (!isGenuine) return yield* reject("wrong signature", "no signature matches the endpoint's secret")
  return yield* decodeEvent(new TextDecoder().decode(bytes)).pipe(
    Effect.catch(({ message }) => reject("unreadable", message))
  )
})
