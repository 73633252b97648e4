/**
 * Personal data in webhook events: left out where an event is stored, put back from the player or the payment when it is sent. What is
 * left out never changes after the event, so that every attempt sends the same.
 */

interface Data {
  readonly [field: string]: unknown
}

const isRecord = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value)

/** Fields that are left out, by the part of the event that has them. */
const personal: ReadonlyArray<readonly [part: string, fields: ReadonlyArray<string>]> = [
  ["player", ["personal_id", "document_number"]],
  ["payment", ["info"]]
]

/** Sets those of the personal fields that the data has. */
const withFields = (data: Data, valueOf: (part: string, field: string, value: unknown) => unknown): Data => {
  let changed = data
  for (const [part, fields] of personal) {
    const inner = data[part]
    if (!isRecord(inner)) continue
    const present = fields.filter((field) => field in inner)
    if (present.length === 0) continue
    changed = {
      ...changed,
      [part]: { ...inner, ...Object.fromEntries(present.map((field) => [field, valueOf(part, field, inner[field])])) }
    }
  }
  return changed
}

/** The data of an event as it is stored. */
export const withoutPersonal = (data: Data): Data => withFields(data, () => null)

/** The data of an event as it is sent. What the event has in clear, from before, stays. */
export const withPersonal = (
  data: Data,
  found: { readonly player: Data; readonly payment: Data }
): Data =>
  withFields(data, (part, field, value) => value ?? (part === "player" ? found.player : found.payment)[field] ?? null)
