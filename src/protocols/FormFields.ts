/** Validating reader for the fields of a form body. */
import { type Decimal, parseDecimal } from "./Decimal.ts"
import type { FormEntries } from "./FormBody.ts"
import { isLine } from "./JsonBody.ts"

const digits = /^\d{1,19}$/

const zero: Decimal = { coefficient: 0, scale: 0 }

/** Reader that records the first missing, malformed or repeated field; values read after that are not to be used. */
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

  /** Name of the first invalid field; undefined while all are valid. */
  get bad(): string | undefined {
    return this.#bad
  }

  /** Records a field as invalid. */
  refuse(name: string): void {
    this.#bad ??= name
  }

  /** Required field that may be empty. */
  sent(name: string): void {
    if (!this.values.has(name)) this.refuse(name)
  }

  /** Text of 1 to `maxLength` characters. */
  text(name: string, maxLength = 255): string {
    const value = this.optional(name, maxLength)
    if (value === null) this.refuse(name)
    return value ?? ""
  }

  /** Optional text; null when missing or empty. */
  optional(name: string, maxLength = 255): string | null {
    const value = this.values.get(name)
    if (value === undefined || value === "") return null
    if (!isLine(value, maxLength)) this.refuse(name)
    return value
  }

  /** Non-negative integer as its digits, such as the id of a round or an instant. */
  digits(name: string): string {
    const value = this.values.get(name) ?? ""
    if (!digits.test(value)) this.refuse(name)
    return value
  }

  /** Signed amount. */
  signedAmount(name: string): Decimal {
    const amount = parseDecimal(this.values.get(name) ?? "")
    if (amount === undefined) this.refuse(name)
    return amount ?? zero
  }

  /** Amount of zero or more. */
  amount(name: string): Decimal {
    const amount = this.signedAmount(name)
    if (amount.coefficient < 0) this.refuse(name)
    return amount
  }

  /** Optional amount; null when missing or empty. */
  optionalAmount(name: string): Decimal | null {
    const value = this.values.get(name)
    return value === undefined || value === "" ? null : this.amount(name)
  }

  /** Boolean as PHP writes it; false when missing. */
  flag(name: string): boolean {
    const value = this.values.get(name)
    return value === "1" || value === "true"
  }
}
