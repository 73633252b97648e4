/** Checks request bodies of Pitboss's own APIs: JSON objects of bounded size. */
import type { ListBound } from "../contract/common/Annotations.ts"
import { type Refusal, refuse, refuseFields } from "../domain/Refusal.ts"
import { isOverfull, maxJsonDepth, maxJsonValues } from "../platform/JsonBounds.ts"

export const noObject = refuse("INVALID_REQUEST", "The body must be a JSON object.")
export const otherMediaType = refuse("INVALID_REQUEST", "The body must be sent as application/json.")

/** Decodes UTF-8 and removes a byte order mark. */
export const textOf = (body: Buffer): string =>
  body.toString("utf8", body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)

/** A body without a content type counts as JSON. */
export const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || contentType === "application/json" ||
  contentType.split(";", 1)[0]?.trim().toLowerCase() === "application/json"

const overfull = refuse("INVALID_REQUEST", "The body has too many values, or they are nested too deeply.", {
  max_values: maxJsonValues,
  max_depth: maxJsonDepth
})

/** Refuses a body with too many values, before it is parsed. `more`: values that its endpoint takes besides, in a long list. */
export const refuseOverfull = (body: Uint8Array, more = 0): Refusal<"INVALID_REQUEST"> | undefined =>
  isOverfull(body, maxJsonValues + more) ? overfull : undefined

/** Refuses a list that is too long, before its elements are decoded. */
export const refuseLongList = (
  body: object,
  { field, maximum, message }: ListBound
): Refusal<"VALIDATION_FAILED"> | undefined => {
  const list: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return Array.isArray(list) && list.length > maximum ? refuseFields({ [field]: [message] }) : undefined
}
