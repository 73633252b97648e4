/** International standards: countries (ISO 3166-1), currencies (ISO 4217), phone numbers (E.164). */
import currencies from "currency-codes"
import countries from "i18n-iso-countries/index.js"
import { parsePhoneNumberFromString } from "libphonenumber-js"

/** Kosovo's XK is in wide use, but user-assigned and not in ISO 3166-1. */
const countryCodes: ReadonlySet<string> = new Set(
  Object.keys(countries.getAlpha2Codes()).filter((code) => code !== "XK")
)

/** True for an ISO 3166-1 alpha-2 country code, in capitals. */
export const isCountry = (code: string): boolean => countryCodes.has(code)

/** ISO 4217 codes that are not money: metals, bond units, accounting units, test codes, fund codes. */
const notMoney = "XAG XAU XPD XPT XBA XBB XBC XBD XDR XSU XUA XTS XXX BOV CHE CHW CLF COU MXV USN UYI UYW".split(" ")

/** Changes of ISO 4217 since the library's edition of June 2024. */
const withdrawn = ["ANG", "BGN", "CUC"]
const added = ["XCG"]

const currencyCodes: ReadonlySet<string> = new Set(
  [...currencies.codes(), ...added].filter((code) => !notMoney.includes(code) && !withdrawn.includes(code))
)

/** True for an ISO 4217 currency in use as money, in capitals. */
export const isCurrency = (code: string): boolean => currencyCodes.has(code)

const digitsByCode: ReadonlyMap<string, number> = new Map(
  currencies.codes().map((code) => [code, currencies.code(code)?.digits ?? 2])
)

/** Decimal digits of a currency: 2 for the euro, 0 for the yen, 3 for the Kuwaiti dinar. */
export const minorDigits = (code: string): number => digitsByCode.get(code) ?? 2

/** Possible countries of a phone number in international format; empty for an invalid number. */
export const countriesOfPhone = (phone: string): ReadonlyArray<string> =>
  parsePhoneNumberFromString(phone)?.getPossibleCountries() ?? []

/**
 * E.164 form of a phone number in international format; undefined when invalid. Checks the country code and the length only, not whether the range is
 * assigned: numbering plans change faster than libraries.
 */
export const toE164 = (text: string): string | undefined => {
  const trimmed = text.trim()
  if (!trimmed.startsWith("+")) return undefined
  const number = parsePhoneNumberFromString(trimmed)
  return number !== undefined && number.isPossible() && number.ext === undefined ? number.number : undefined
}
