/**
 * Reads JSON bodies with numbers kept as text instead of floating point. Readers return undefined for a missing or malformed value, which the caller
 * turns into its protocol's error.
 */
import { isUtf8 } from "node:buffer"
import { isOverfull } from "../platform/JsonBounds.ts"
import { type Decimal, fromUnits, parseDecimal } from "./Decimal.ts"

/** Number that a double might not represent exactly, as text. */
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
 * Numbers that a double may change: more than 15 digits, or an exponent. A shorter one is the shortest text of its nearest double. Strings that
 * resemble such a number only cost the slower path.
 */
const inexact = /[:[,\s]-?(?:[\d.]{16}|[\d.]+[eE])/

const keepText = (_name: string, value: JsonValue, context?: { readonly source?: string }): JsonValue =>
  typeof value === "number" && context?.source !== undefined ? new JsonNumber(context.source) : value

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)

/** Parses a body that is an object; undefined for anything else, and for one with more values than any message has. */
export const parseJson = (body: Buffer, maxValues?: number): JsonObject | undefined => {
  if (isOverfull(body, maxValues) || !isUtf8(body)) return undefined
  const text = body.toString("utf8")
  try {
    const value: JsonValue = inexact.test(text) ? JSON.parse(text, keepText) : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

// oxlint-disable-next-line no-control-regex -- matches control characters
const controls = /[\u0000-\u001f\u007f]/

/** True for a text that may be stored: a single line that the database can hold. */
export const isLine = (text: string, maxLength: number): boolean =>
  text.length <= maxLength && text.isWellFormed() && !controls.test(text)

/** Single line of text, 1 to `maxLength` characters. */
export const readText = (value: JsonValue | undefined, maxLength = 128): string | undefined =>
  typeof value === "string" && value !== "" && isLine(value, maxLength) ? value : undefined

export const readObject = (value: JsonValue | undefined): JsonObject | undefined => isObject(value) ? value : undefined

export const readList = (value: JsonValue | undefined): ReadonlyArray<JsonValue> | undefined =>
  Array.isArray(value) ? value : undefined

export const readBoolean = (value: JsonValue | undefined): boolean | undefined =>
  typeof value === "boolean" ? value : undefined

const scientific = /^(-?)(\d{1,30})(?:\.(\d{1,30}))?[eE]([+-]?\d{1,3})$/

/** Expands the exponent of a number; undefined beyond the range of amounts. */
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

/** Text of a number without an exponent; undefined for any other value. */
const plainNumber = (value: JsonValue | undefined): string | undefined => {
  const text = typeof value === "number" ? String(value) : value instanceof JsonNumber ? value.text : undefined
  return text === undefined ? undefined : plainText(text)
}

/** Number; undefined for a numeric string and outside the exact range. */
export const readDecimal = (value: JsonValue | undefined): Decimal | undefined => {
  if (typeof value === "number" && Number.isInteger(value)) return { coefficient: value, scale: 0 }
  const plain = plainNumber(value)
  return plain === undefined ? undefined : parseDecimal(plain)
}

/** Amount of an integer, zero or more, in units of 10^-`scale`: the amount is within the exact range, not the number of units. */
export const readUnits = (value: JsonValue | undefined, scale: number): Decimal | undefined => {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? fromUnits(value, scale) : undefined
  const [, whole] = /^(\d+)(?:\.0+)?$/.exec(plainNumber(value) ?? "") ?? []
  if (whole === undefined) return undefined
  const digits = whole.padStart(scale + 1, "0")
  return parseDecimal(`${digits.slice(0, -scale)}.${digits.slice(-scale)}`)
}

/** Exactly representable integer. */
export const readInteger = (value: JsonValue | undefined): number | undefined => {
  const decimal = readDecimal(value)
  return decimal?.scale === 0 ? decimal.coefficient : undefined
}
