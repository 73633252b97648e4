/** How answers in JSON are looked at: each deviation is a sentence. */
import type { Decimal } from "../../src/protocols/Decimal.ts"
import { type JsonObject, parseJson, readDecimal } from "../../src/protocols/JsonBody.ts"
import type { Dialect, Expectations, Situations, WireAnswer } from "./Dialect.ts"

/** A look at one answer, which notes what is wrong. */
export class AnswerReader {
  readonly problems: Array<string> = []
  readonly body: JsonObject | undefined
  readonly text: string

  constructor({ body, contentType }: WireAnswer) {
    this.text = body
    this.body = parseJson(Buffer.from(body))
    if (!/^application\/json\b/i.test(contentType)) this.problems.push(`content type ${contentType || "missing"}`)
    if (this.body === undefined) this.problems.push("the body is no JSON object")
  }

  /** A text field; notes when it is there and no text, or missing. */
  string(name: string, necessary = true): string | undefined {
    const value = this.body?.[name]
    if (typeof value === "string") return value
    if (necessary || value !== undefined) this.problems.push(`${name} is no text`)
    return undefined
  }

  /** A number field with at most so many decimals, read exactly. */
  number(name: string, decimals: number, necessary: boolean): Decimal | undefined {
    const value = this.body?.[name]
    if (value === undefined && !necessary) return undefined
    const decimal = readDecimal(value)
    if (decimal === undefined) this.problems.push(`${name} is no number`)
    else if (decimal.scale > decimals) this.problems.push(`${name} has more than ${decimals} decimals`)
    else if (decimal.coefficient < 0) this.problems.push(`${name} is negative`)
    return decimal
  }

  /** Notes when a field is not exactly this. */
  equals(name: string, value: string): void {
    if (this.body?.[name] !== value) this.problems.push(`${name} is not ${value}`)
  }
}

/** Major units as the text of a number, with at least so many decimals. */
export const decimalText = ({ coefficient, scale }: Decimal, decimals = 0): string => {
  const digits = String(Math.abs(coefficient)).padStart(scale + 1, "0")
  const whole = scale === 0 ? digits : digits.slice(0, -scale)
  const fraction = (scale === 0 ? "" : digits.slice(-scale)).padEnd(decimals, "0")
  return `${coefficient < 0 ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

/** The amount and one unit of the finest decimal. */
export const finerBy = (decimals: number) => ({ coefficient, scale }: Decimal, minorDigits: number) =>
  decimals <= minorDigits ? undefined : { coefficient: coefficient * 10 ** (decimals - scale) + 1, scale: decimals }

/** The exact sum of two amounts. */
export const addDecimals = (one: Decimal, other: Decimal): Decimal => {
  const scale = Math.max(one.scale, other.scale)
  const unitsOf = (amount: Decimal) => amount.coefficient * 10 ** (scale - amount.scale)
  return { coefficient: unitsOf(one) + unitsOf(other), scale }
}

/** What a message must be answered: as its own kind says, or as every kind. */
export const expecting = (own: Expectations, everywhere: Situations): Dialect["expect"] => (kind, situation) =>
  own[kind]?.[situation] ?? everywhere[situation] ?? { codes: [], moves: false }

/** A signature in digits that is another one. */
export const otherSign = (sign: string): string => sign.replace(/./g, (digit) => digit === "0" ? "1" : "0")
