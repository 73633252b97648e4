/**
 * Parsing and formatting of numbers with the separators of a language: `1,234.50` in English, `1.234,50` in German. A number that the language
 * does not write is refused, never read as another one. Values are whole units of the last decimal place: cents for an amount of euros.
 */

/** Why a text is no number: `malformed` in the language, more decimals than the number may have, or beyond the exact integers. */
type NumberProblem = "malformed" | "too_many_decimals" | "too_large"

type ReadNumber = { readonly units: number } | { readonly problem: NumberProblem }

/** Spaces and apostrophes by which languages group digits; people type the plain ones. */
const spaces = /[\u0020\u00a0\u2009\u202f]/g
const apostrophes = /['\u2019\u02bc]/g

/** Marks that keep a sign beside its digits where text runs from right to left. */
const marks = /[\u061c\u200e\u200f]/g

const unified = (text: string): string => text.replace(marks, "").replace(spaces, " ").replace(apostrophes, "'")

const formatOf = (locale: string, decimals: number, useGrouping: "always" | false): Intl.NumberFormat =>
  new Intl.NumberFormat(locale, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping,
    numberingSystem: "latn"
  })

/** Decimal and group separator of a language. */
const separatorsOf = (locale: string): { readonly decimal: string; readonly group: string } => {
  const parts = formatOf(locale, 1, "always").formatToParts(1_234_567.8)
  const valueOf = (type: string) => unified(parts.find((part) => part.type === type)?.value ?? "")
  return { decimal: valueOf("decimal"), group: valueOf("group") }
}

/** Texts of numbers in a language, as their fields begin with: without groups. Takes whole units of the last of `decimals` places. */
export const numberTexts = (locale: string, decimals: number): (units: number) => string => {
  const format = formatOf(locale, decimals, false)
  return (units) => format.format(units / 10 ** decimals).replace(marks, "")
}

/** Number that a text means in a language. Groups may be left out, or written as the language writes them; a sign may come first. */
export const readNumber = (text: string, locale: string, decimals: number): ReadNumber => {
  const { decimal, group } = separatorsOf(locale)
  const [, sign = "", digits = ""] = /^([+\u2212-]?)\s*(.*)$/s.exec(unified(text).trim()) ?? []
  const [integers = "", fraction, ...more] = digits.split(decimal)
  const plain = group === "" ? integers : integers.replaceAll(group, "")
  const isFraction = fraction === undefined || /^\d+$/.test(fraction)
  if (more.length > 0 || !/^\d+$/.test(plain) || !isFraction) return { problem: "malformed" }
  const value = BigInt(plain)
  // the language's own groups of that number, with whatever zeros were typed before it
  const grouped = unified(formatOf(locale, 0, "always").format(value))
  if (plain !== integers && integers !== grouped) return { problem: "malformed" }
  const places = (fraction ?? "").padEnd(decimals, "0")
  if (places.length > decimals) return { problem: "too_many_decimals" }
  const units = Number(`${sign === "" || sign === "+" ? "" : "-"}${plain}${places}`)
  return Number.isSafeInteger(units) ? { units: units === 0 ? 0 : units } : { problem: "too_large" }
}
