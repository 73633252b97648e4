/**
 * Export formats: `csv` for machines (RFC 4180: minor units, ISO 8601), and `spreadsheet` for people, which Excel opens directly: a byte order mark,
 * the separators and date format of the caller's language, amounts in major units, and texts that are not read as formulas.
 */
import type { FieldKind } from "../contract/common/FieldKind.ts"
import { minorDigits } from "../domain/Standards.ts"
import { numberTexts } from "../domain/TypedNumber.ts"

/** What a column holds. An amount is in the currency of its row. */
export interface ExportColumn {
  readonly name: string
  readonly kind: FieldKind["kind"]
}

export interface ExportForm {
  /** Begins the document. */
  readonly mark: string
  readonly header: (columns: ReadonlyArray<ExportColumn>) => string
  readonly line: (columns: ReadonlyArray<ExportColumn>, row: { readonly [name: string]: unknown }) => string
  /** A line with one text. */
  readonly note: (text: string) => string
}

/** What begins a formula in a spreadsheet. Full-width signs are taken for the others. Numbers are exempt, negative ones included. */
const sign = /^[=+\-@＝＋－＠]/
/** At the start of a text also behind blanks and quotes, which some spreadsheets leave out. */
const firstSign = /^[\t\r]|^[\s"]*[=+\-@＝＋－＠]/
/** What may separate cells in some locale, with or without a quote that opens the cell. */
const gaps = /[\s";|]+/g
const separator = /[;|\t\r\n]/

/** Phone numbers as the service keeps them (E.164): digits, which begin no formula. */
const phone = /^\+\d{6,15}$/

const textOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)

/** An apostrophe where a spreadsheet would begin a formula: at a text's start, and behind what separates cells. One pass, however long the text is. */
export const disarmed = (text: string): string => {
  const inner = text.replaceAll(
    gaps,
    (gap, at: number) => separator.test(gap) && sign.test(text.charAt(at + gap.length)) ? `${gap}'` : gap
  )
  return firstSign.test(inner) ? `'${inner}` : inner
}

/** A text as a cell: in quotes where it has what separates cells or lines. */
export const quoted = (text: string): string => /[",;\t\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text

/** A value as a CSV cell; where a text other than a phone number would begin a formula, it has an apostrophe. */
export const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  const text = textOf(value)
  return quoted(phone.test(text) ? text : disarmed(text))
}

export const machineForm: ExportForm = {
  mark: "",
  header: (columns) => `${columns.map(({ name }) => cell(name)).join(",")}\r\n`,
  line: (columns, row) => `${columns.map(({ name }) => cell(row[name])).join(",")}\r\n`,
  note: (text) => `${cell(text)}\r\n`
}

/** Texts that a spreadsheet would take for a number or a date: they are given as a formula that is the text, without an apostrophe. */
const numeric = /^[+-]?([\d.,:/\s-]+)(?:e[+-]?\d+)?$/i
const isMistaken = (text: string): boolean => /\d/.test(numeric.exec(text)?.[1] ?? "")

const spreadsheetText = (text: string): string => quoted(isMistaken(text) ? `="${text}"` : disarmed(text))

/** A moment in UTC as spreadsheets read it. */
const moment = (text: string): string => text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d).*$/, "$1 $2")

/** Form of a language: where a comma is the decimal sign, a semicolon separates. */
export const spreadsheetForm = (locale: string): ExportForm => {
  const separator = numberTexts(locale, 1)(15).includes(",") ? ";" : ","
  // by decimals: making a format takes longer than using it
  const texts = new Map<number, (units: number) => string>()
  const amountText = (units: number, currency: string): string => {
    const decimals = minorDigits(currency)
    const known = texts.get(decimals) ?? numberTexts(locale, decimals)
    texts.set(decimals, known)
    return known(units).replace("\u2212", "-")
  }
  const valueOf = ({ kind, name }: ExportColumn, row: { readonly [name: string]: unknown }): string => {
    const { [name]: value, currency } = row
    if (value === null || value === undefined) return ""
    if (typeof value === "number") {
      return kind === "amount" && typeof currency === "string"
        ? amountText(value, currency)
        : String(value)
    }
    if (typeof value === "boolean") return String(value)
    return typeof value === "string" && kind === "instant" ? moment(value) : spreadsheetText(textOf(value))
  }
  return {
    mark: "\ufeff",
    header: (columns) =>
      `${columns.map(({ kind, name }) => kind === "instant" ? `${name} (UTC)` : name).join(separator)}\r\n`,
    line: (columns, row) => `${columns.map((column) => valueOf(column, row)).join(separator)}\r\n`,
    note: (text) => `${spreadsheetText(text)}\r\n`
  }
}

/** Language that a browser asks for first; English when it names none. */
export const languageOf = (acceptLanguage: string | undefined): string =>
  /^\s*([a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?)\s*(?:[,;]|$)/i.exec(acceptLanguage ?? "")?.[1] ?? "en"
