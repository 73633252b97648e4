/** International standards: countries (ISO 3166-1), currencies (ISO 4217), phone numbers (E.164). */
import currencies from "currency-codes"
import countries from "i18n-iso-countries"
import { parsePhoneNumberFromString } from "libphonenumber-js"

/** Kosovo's XK is in wide use but assigned by its users, not by ISO 3166-1. */
const countryCodes: ReadonlySet<string> = new Set(
  Object.keys(countries.getAlpha2Codes()).filter((code) => code !== "XK")
)

/** True for a country of ISO 3166-1 alpha-2, in capitals. */
export const isCountry = (code: string): boolean => countryCodes.has(code)

/** Codes of ISO 4217 that are no money: metals, bond units, accounting units, test codes, fund codes. */
const notMoney = "XAG XAU XPD XPT XBA XBB XBC XBD XDR XSU XUA XTS XXX BOV CHE CHW CLF COU MXV USN UYI UYW".split(" ")

/** Changes of ISO 4217 since the library's edition of June 2024. */
const withdrawn = ["ANG", "BGN", "CUC"]
const added = ["XCG"]

const currencyCodes: ReadonlySet<string> = new Set(
  [...currencies.codes(), ...added].filter((code) => !notMoney.includes(code) && !withdrawn.includes(code))
)

/** True for a currency of ISO 4217 that is in use as money, in capitals. */
export const isCurrency = (code: string): boolean => currencyCodes.has(code)

const digitsByCode: ReadonlyMap<string, number> = new Map(
  currencies.codes().map((code) => [code, currencies.code(code)?.digits ?? 2])
)

/** Decimal digits of a currency: 2 of the euro, none of the yen, 3 of the Kuwaiti dinar. */
export const minorDigits = (code: string): number => digitsByCode.get(code) ?? 2

/** The countries that a number in international format may be of; none when it is no number. */
export const countriesOfPhone = (phone: string): ReadonlyArray<string> =>
  parsePhoneNumberFromString(phone)?.getPossibleCountries() ?? []

/**
 * The E.164 form of a phone number in international format, undefined when it is none. Checked are the country code and the
 * length, not whether the range is given out already: numbering plans change faster than libraries.
 */
export const toE164 = (text: string): string | undefined => {
  const trimmed = text.trim()
  if (!trimmed.startsWith("+")) return undefined
  const number = parsePhoneNumberFromString(trimmed)
  return number !== undefined && number.isPossible() && number.ext === undefined ? number.number : undefined
}
