/** Form bodies (`application/x-www-form-urlencoded`), fields in the order sent. */
import { isUtf8 } from "node:buffer"

export type FormEntries = ReadonlyArray<readonly [name: string, value: string]>

/** Maximum fields of a form; wallet messages have far fewer. */
const maxFields = 2_000

/** Decodes the fields of a form; undefined when malformed. */
export const readForm = (body: Buffer): FormEntries | undefined => {
  if (!isUtf8(body)) return undefined
  const entries = [...new URLSearchParams(body.toString("utf8"))]
  return entries.length > maxFields ? undefined : entries
}
