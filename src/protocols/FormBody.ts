/** Form bodies (`application/x-www-form-urlencoded`), fields in the order sent. */
import { isUtf8 } from "node:buffer"
import { unescape as decodePercents } from "node:querystring"

export type FormEntries = ReadonlyArray<readonly [name: string, value: string]>

/** The largest genuine message of a protocol. */
export interface FormBounds {
  readonly bytes: number
  readonly fields: number
}

const ampersand = 0x26

/** Whether a form has at most so many fields: looks for their separators only, and stops at the first one too many. */
const hasFields = (body: Buffer, maximum: number): boolean => {
  let fields = 1
  for (let at = body.indexOf(ampersand); at >= 0; at = body.indexOf(ampersand, at + 1)) {
    if (++fields > maximum) return false
  }
  return true
}

const decode = (text: string): string => decodePercents(text.replaceAll("+", " "))

/**
 * Decodes the fields of a form; undefined when malformed or beyond the bounds. The signature of a form is over its decoded fields, so a stranger's is
 * decoded too: nothing of it before its bytes and its fields are counted.
 */
export const readForm = (body: Buffer, { bytes, fields }: FormBounds): FormEntries | undefined => {
  if (body.length > bytes || !hasFields(body, fields) || !isUtf8(body)) return undefined
  const entries: Array<readonly [name: string, value: string]> = []
  for (const pair of body.toString("utf8").split("&")) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    entries.push(
      equals < 0 ? [decode(pair), ""] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
    )
  }
  return entries
}
