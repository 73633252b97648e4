/**
 * Bodies in JSON, with numbers read as they were written and not as floating point. What a reader does not find in the form it asks
 * for is undefined to it: the caller says what that means in its protocol.
 */
import { isUtf8 } from "node:buffer"
import { type Decimal, parseDecimal } from "./Decimal.ts"

/** A number that a double might not hold exactly, as it was written. */
class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type JsonValue = null | boolean | string | number | JsonNumber | ReadonlyArray<JsonValue> | JsonObject

export interface JsonObject {
  readonly [name: string]: JsonValue | undefined
}

/**
 * Numbers that a double may change: more than 15 digits, or an exponent. A shorter one has one nearest double, whose shortest text it is. Texts
 * that look like such a number only cost the slower way.
 */
const inexact = /[:[,\s]-?(?:[\d.]{16}|[\d.]+[eE])/

const keepText = (_name: string, value: JsonValue, context?: { readonly source?: string }): JsonValue =>
  typeof value === "number" && context?.source !== undefined ? new JsonNumber(context.source) : value

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)

/** The object that a body is; undefined when it is none, or cannot be read. */
export const parseJson = (body: Buffer): JsonObject | undefined => {
  if (!isUtf8(body)) return undefined
  const text = body.toString("utf8")
  try {
    const value: JsonValue = inexact.test(text) ? JSON.parse(text, keepText) : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

// oxlint-disable-next-line no-control-regex -- the control characters are what is looked for
const controls = /[\u0000-\u001f\u007f]/

/** Whether a text may be kept: one line that the database can hold. */
export const isLine = (text: string, maxLength: number): boolean =>
  text.length <= maxLength && text.isWellFormed() && !controls.test(text)

/** One line of text, 1 to `maxLength` characters. */
export const readText = (value: JsonValue | undefined, maxLength = 128): string | undefined =>
  typeof value === "string" && value !== "" && isLine(value, maxLength) ? value : undefined

export const readObject = (value: JsonValue | undefined): JsonObject | undefined => isObject(value) ? value : undefined

export const readList = (value: JsonValue | undefined): ReadonlyArray<JsonValue> | undefined =>
  Array.isArray(value) ? value : undefined

export const readBoolean = (value: JsonValue | undefined): boolean | undefined =>
  typeof value === "boolean" ? value : undefined

const scientific = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?[eE]([+-]?\d{1,3})$/

/** The same number without its exponent; undefined beyond what any amount is. */
const plainText = (text: string): string | undefined => {
  const match = scientific.exec(text)
  if (match === null) return text
  const [, sign = "", whole = "", fraction = "", exponent = ""] = match
  const point = whole.length + Number(exponent)
  if (Math.abs(point) > 30) return undefined
  const digits = (whole + fraction).padEnd(point, "0").padStart(
    whole.length + fraction.length - Math.min(point, 0),
    "0"
  )
  const places = Math.max(point, 0)
  return `${sign}${digits.slice(0, places) || "0"}${digits.length > places ? `.${digits.slice(places)}` : ""}`
}

/** A number; undefined for a text that looks like one, and for what is beyond exact numbers. */
export const readDecimal = (value: JsonValue | undefined): Decimal | undefined => {
  if (typeof value === "number" && Number.isInteger(value)) return { coefficient: value, scale: 0 }
  const text = typeof value === "number" ? String(value) : value instanceof JsonNumber ? value.text : undefined
  const plain = text === undefined ? undefined : plainText(text)
  return plain === undefined ? undefined : parseDecimal(plain)
}

/** A whole number that is held exactly. */
export const readInteger = (value: JsonValue | undefined): number | undefined => {
  const decimal = readDecimal(value)
  return decimal?.scale === 0 ? decimal.coefficient : undefined
}
