/** Inputs for numbers and amounts of money, typed in the user's language; the amount as parsed is shown below. */
import { Text, TextInput } from "@mantine/core"
import { useState } from "react"
import { numberTexts, readNumber } from "../../domain/TypedNumber.ts"
import { locale } from "../app/locale.ts"
import { digitsOf, moneyText } from "./Values.tsx"

/** What a number counts: whole units of its last decimal, minor units of a currency where it is money. */
export interface NumberForm {
  readonly decimals: number
  readonly currency?: string | undefined
  /** Shown beside the number where it is no money. */
  readonly unit?: string
}

export const moneyForm = (currency: string): NumberForm => ({ decimals: digitsOf(currency), currency })

/** Text of a value in whole units, as its input begins with: without decimals where they are zero, so that it fits a currency chosen later. */
export const typedNumber = (units: number, { decimals }: NumberForm): string => {
  const isWhole = units % 10 ** decimals === 0
  return isWhole ? numberTexts(locale, 0)(units / 10 ** decimals) : numberTexts(locale, decimals)(units)
}

/** Value of a text in whole units; undefined when it is empty or no number. */
export const unitsIn = (text: string, { decimals }: NumberForm): number | undefined => {
  const read = readNumber(text, locale, decimals)
  return "units" in read ? read.units : undefined
}

/** What is wrong with a text; undefined for a number, and for no text. */
export const numberProblem = (text: string, { currency, decimals }: NumberForm): string | undefined => {
  if (text.trim() === "") return undefined
  const read = readNumber(text, locale, decimals)
  if ("units" in read) return undefined
  const example = new Intl.NumberFormat(locale, { minimumFractionDigits: decimals }).format(1234.5)
  switch (read.problem) {
    case "malformed":
      return `Write it like ${decimals === 0 ? new Intl.NumberFormat(locale).format(1234) : example}`
    case "too_many_decimals":
      return `${currency ?? "It"} has ${decimals === 0 ? "no" : `at most ${decimals}`} decimals`
    case "too_large":
      return "Too large"
  }
}

type InputProps = Omit<React.ComponentProps<typeof TextInput>, "form" | "onChange" | "value"> & {
  readonly form: NumberForm
}

/**
 * Controlled input of a number's text. What it was read as, or why it was not, stands in a line of its own from the first key on: a line that appeared
 * when the input is left would move the button that is being pressed.
 */
export function NumberField(
  { error, form, onChange, value, ...more }: InputProps & {
    readonly value: string
    readonly onChange: (text: string) => void
  }
) {
  const { currency, unit = currency } = form
  const units = unitsIn(value, form)
  const problem = numberProblem(value, form)
  return (
    <div>
      <TextInput
        inputMode={form.decimals === 0 ? "numeric" : "decimal"}
        autoComplete="off"
        {...(unit === undefined ? {} : {
          rightSection: <Text size="xs" component="span" aria-hidden>{unit}</Text>,
          rightSectionWidth: 44
        })}
        {...more}
        value={value}
        error={error ?? problem !== undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {(currency !== undefined || problem !== undefined) && (
        <Text
          size="xs"
          c={problem === undefined ? "dimmed" : "var(--mantine-color-error)"}
          aria-live="polite"
          mih="1.2em"
        >
          {problem ?? (currency === undefined || units === undefined ? "" : moneyText(units, currency))}
        </Text>
      )}
    </div>
  )
}

/** Input of a number. A text that is none gives NaN, which the service refuses: never the number before. */
export function UnitsInput(
  { onChange, units, ...more }: InputProps & { readonly units: number; readonly onChange: (units: number) => void }
) {
  const [text, setText] = useState(() => typedNumber(units, more.form))
  return (
    <NumberField
      {...more}
      value={text}
      onChange={(typed) => {
        setText(typed)
        onChange(unitsIn(typed, more.form) ?? Number.NaN)
      }}
    />
  )
}
