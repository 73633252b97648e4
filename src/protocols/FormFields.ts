/** Reading the fields of a form: each in its form, or named as bad. */
import { type Decimal, parseDecimal } from "./Decimal.ts"
import type { FormEntries } from "./FormBody.ts"
import { isLine } from "./JsonBody.ts"

const digits = /^\d{1,19}$/

const zero: Decimal = { coefficient: 0, scale: 0 }

/** A reader notes the first field that is missing, malformed or sent twice; what it gives then is of no use. */
export class FormFields {
  readonly values: ReadonlyMap<string, string>
  #bad: string | undefined

  constructor(entries: FormEntries) {
    const values = new Map<string, string>()
    for (const [name, value] of entries) {
      if (values.has(name)) this.refuse(name)
      values.set(name, value)
    }
    this.values = values
  }

  /** The first bad field; undefined while all are good. */
  get bad(): string | undefined {
    return this.#bad
  }

  /** Notes a field whose value cannot be. */
  refuse(name: string): void {
    this.#bad ??= name
  }

  /** A field that has to be sent, and may be empty. */
  sent(name: string): void {
    if (!this.values.has(name)) this.refuse(name)
  }

  /** A text of 1 to `maxLength` characters. */
  text(name: string, maxLength = 255): string {
    const value = this.optional(name, maxLength)
    if (value === null) this.refuse(name)
    return value ?? ""
  }

  /** A text that may be missing or empty: null. */
  optional(name: string, maxLength = 255): string | null {
    const value = this.values.get(name)
    if (value === undefined || value === "") return null
    if (!isLine(value, maxLength)) this.refuse(name)
    return value
  }

  /** A whole number, such as the id of a round or an instant: its digits. */
  digits(name: string): string {
    const value = this.values.get(name) ?? ""
    if (!digits.test(value)) this.refuse(name)
    return value
  }

  /** An amount with a sign. */
  signedAmount(name: string): Decimal {
    const amount = parseDecimal(this.values.get(name) ?? "")
    if (amount === undefined) this.refuse(name)
    return amount ?? zero
  }

  /** An amount of zero or more. */
  amount(name: string): Decimal {
    const amount = this.signedAmount(name)
    if (amount.coefficient < 0) this.refuse(name)
    return amount
  }

  /** An amount that may be missing or empty: null. */
  optionalAmount(name: string): Decimal | null {
    const value = this.values.get(name)
    return value === undefined || value === "" ? null : this.amount(name)
  }

  /** Yes or no as PHP writes it; no where it is missing. */
  flag(name: string): boolean {
    const value = this.values.get(name)
    return value === "1" || value === "true"
  }
}
