/** Deliveries of webhooks: whether one is genuine, and its event. */
import type { Event } from "./generated/Contract.ts"
import { bytesOf, hexOf, isEqual, macOf } from "./Signing.ts"
import { isObject } from "./Transport.ts"

/** Largest age of a delivery and largest lead of its clock, in seconds. */
const toleranceSeconds = 300

/** A delivery that is not genuine: answer 400 and do nothing. */
export class WebhookError extends Error {
  override readonly name = "WebhookError"
  readonly code: "HEADERS_MISSING" | "TOO_OLD" | "WRONG_SIGNATURE" | "UNREADABLE"

  constructor(code: WebhookError["code"], message: string) {
    super(message)
    this.code = code
  }
}

export interface Delivery {
  /** The body as it was received: not parsed and written again. */
  readonly body: string | Uint8Array
  /** The request's headers, as `Headers` or as Node.js gives them. */
  readonly headers:
    | { get(name: string): string | null }
    | { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  /** The endpoint's secret; both while a rotation keeps two. */
  readonly secret: string | ReadonlyArray<string>
}

const readerOf = (headers: Delivery["headers"]) => (name: string): string | undefined => {
  if (typeof headers["get"] === "function") return headers["get"](name) ?? undefined
  const value = Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  return typeof value === "string" ? value : Array.isArray(value) ? value.join(",") : undefined
}

/** The key of Standard Webhooks: what follows `whsec_`, from base64. Undefined for secrets of the older form. */
const standardKey = (secret: string): Uint8Array<ArrayBuffer> | undefined => {
  const text = secret.replace(/^whsec_/, "")
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Signed text, and what its signature may be, for one way of signing. */
interface Signed {
  readonly timestamp: string
  readonly prefix: string
  readonly given: ReadonlyArray<string>
  readonly keyOf: (secret: string) => Uint8Array<ArrayBuffer> | undefined
  readonly write: (mac: Uint8Array) => string
}

/** Both ways in which deliveries are signed, as far as the headers are there. */
const signedBy = (header: (name: string) => string | undefined): ReadonlyArray<Signed> => {
  const [id, standardTime, standard] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(header)
  const [ownTime, own, previous] = [
    "x-service-timestamp",
    "x-service-signature",
    "x-service-signature-previous"
  ].map(header)
  return [
    ...(id === undefined || standardTime === undefined || standard === undefined ? [] : [{
      timestamp: standardTime,
      prefix: `${id}.${standardTime}.`,
      given: standard.split(" "),
      keyOf: standardKey,
      write: (mac: Uint8Array) => `v1,${base64Of(mac)}`
    }]),
    ...(ownTime === undefined || own === undefined ? [] : [{
      timestamp: ownTime,
      prefix: `${ownTime}.`,
      given: [own, previous ?? ""].flatMap((text) => text.split(",")).map((text) => text.trim()),
      keyOf: bytesOf,
      write: hexOf
    }])
  ]
}

const isGenuine = async ({ given, keyOf, prefix, write }: Signed, body: Uint8Array, secrets: ReadonlyArray<string>) => {
  const head = bytesOf(prefix)
  const message = new Uint8Array(head.length + body.length)
  message.set(head)
  message.set(body, head.length)
  let found = false
  for (const secret of secrets) {
    const key = keyOf(secret)
    if (key === undefined || key.length === 0) continue
    const expected = bytesOf(write(await macOf(key)(message)))
    for (const each of given) found = isEqual(bytesOf(each), expected) || found
  }
  return found
}

/**
 * Verifies a delivery and gives its event; throws {@link WebhookError}. Deliveries may repeat and come out of order: store the ids of events, and order
 * those of a player by `player_sequence`.
 */
export const verifyWebhook = async ({ body, headers, secret }: Delivery): Promise<Event> => {
  const ways = signedBy(readerOf(headers))
  if (ways.length === 0) {
    throw new WebhookError(
      "HEADERS_MISSING",
      "neither the headers of Standard Webhooks nor X-Service-Signature are there"
    )
  }
  const bytes = typeof body === "string" ? bytesOf(body) : body
  const secrets = typeof secret === "string" ? [secret] : secret
  const current = ways.filter(({ timestamp }) =>
    /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
  )
  if (current.length === 0) {
    throw new WebhookError("TOO_OLD", `the timestamp is more than ${toleranceSeconds} seconds off`)
  }
  let found = false
  for (const way of current) found = (await isGenuine(way, bytes, secrets)) || found
  if (!found) throw new WebhookError("WRONG_SIGNATURE", "no signature matches the endpoint's secret")
  let event: unknown
  try {
    event = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new WebhookError("UNREADABLE", "the body is not JSON")
  }
  if (!isObject(event) || typeof event["id"] !== "string" || typeof event["type"] !== "string") {
    throw new WebhookError("UNREADABLE", "the body is no event")
  }
  return Object(event)
}
