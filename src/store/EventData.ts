/**
 * Personal data in webhook events: removed before an event is stored, restored from the player or the payment when it is sent. The removed fields
 * never change after the event, so that every attempt sends the same body.
 */

interface Data {
  readonly [field: string]: unknown
}

const isRecord = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value)

/** Removed fields by part of the event. */
const personal: ReadonlyArray<readonly [part: string, fields: ReadonlyArray<string>]> = [
  ["player", ["personal_id", "document_number"]],
  ["payment", ["info"]]
]

/** Replaces those personal fields that are present and have another value. */
const withFields = (data: Data, valueOf: (part: string, field: string) => unknown): Data => {
  let changed = data
  for (const [part, fields] of personal) {
    const inner = data[part]
    if (!isRecord(inner)) continue
    const replaced = fields.flatMap((field) => {
      const value = field in inner ? valueOf(part, field) : undefined
      return value === inner[field] ? [] : [[field, value] as const]
    })
    if (replaced.length > 0) changed = { ...changed, [part]: { ...inner, ...Object.fromEntries(replaced) } }
  }
  return changed
}

/** Event data as stored. */
export const withoutPersonal = (data: Data): Data => withFields(data, () => null)

/** Event data as sent. */
export const withPersonal = (
  data: Data,
  found: { readonly player: Data; readonly payment: Data }
): Data => withFields(data, (part, field) => (part === "player" ? found.player : found.payment)[field] ?? null)
