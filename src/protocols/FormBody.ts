/** Bodies of forms (`application/x-www-form-urlencoded`), in the order they were sent. */
import { isUtf8 } from "node:buffer"

export type FormEntries = ReadonlyArray<readonly [name: string, value: string]>

/** Fields that a form may have; more is no message of a wallet. */
const maxFields = 2_000

/** The fields of a form, decoded; undefined when it cannot be read. */
export const readForm = (body: Buffer): FormEntries | undefined => {
  if (!isUtf8(body)) return undefined
  const entries = [...new URLSearchParams(body.toString("utf8"))]
  return entries.length > maxFields ? undefined : entries
}
