/** Reading the parameters of a call of Pragmatic Play: each in its form, or named as bad. */
import { type Decimal, parseDecimal } from "../Decimal.ts"
import type { FormEntries } from "../FormBody.ts"
import { isLine } from "../JsonBody.ts"

const digits = /^\d{1,19}$/

const zero: Decimal = { coefficient: 0, scale: 0 }

/** A reader notes the first parameter that is missing or malformed; what it gives then is of no use. */
export class PragmaticForm {
  readonly #values = new Map<string, string>()
  #bad: string | undefined

  constructor(entries: FormEntries) {
    for (const [name, value] of entries) {
      if (this.#values.has(name)) this.#bad ??= name
      this.#values.set(name, value)
    }
  }

  /** The first bad parameter; undefined while all are good. */
  get bad(): string | undefined {
    return this.#bad
  }

  /** Notes a parameter whose value cannot be. */
  refuse(name: string): void {
    this.#bad ??= name
  }

  /** The hash as it was sent; empty when it was not. */
  get hash(): string {
    return this.#values.get("hash") ?? ""
  }

  /** A parameter that has to be sent, and may be empty. */
  sent(name: string): void {
    if (!this.#values.has(name)) this.#bad ??= name
  }

  /** A text of 1 to `maxLength` characters. */
  text(name: string, maxLength: number): string {
    const value = this.optional(name, maxLength)
    if (value === null) this.#bad ??= name
    return value ?? ""
  }

  /** A text that may be missing or empty: null. */
  optional(name: string, maxLength: number): string | null {
    const value = this.#values.get(name)
    if (value === undefined || value === "") return null
    if (!isLine(value, maxLength)) this.#bad ??= name
    return value
  }

  /** A whole number, such as the id of a round or an instant: its digits. */
  digits(name: string): string {
    const value = this.#values.get(name) ?? ""
    if (!digits.test(value)) this.#bad ??= name
    return value
  }

  /** An amount with a sign. */
  signedAmount(name: string): Decimal {
    const amount = parseDecimal(this.#values.get(name) ?? "")
    if (amount === undefined) this.#bad ??= name
    return amount ?? zero
  }

  /** An amount of zero or more. */
  amount(name: string): Decimal {
    const amount = this.signedAmount(name)
    if (amount.coefficient < 0) this.#bad ??= name
    return amount
  }

  /** An amount that may be missing or empty: null. */
  optionalAmount(name: string): Decimal | null {
    const value = this.#values.get(name)
    return value === undefined || value === "" ? null : this.amount(name)
  }
}
