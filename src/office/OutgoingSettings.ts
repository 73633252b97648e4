/**
 * Validates staff-entered settings of outgoing connections: addresses, and secrets, which are sent only to the address for which they were entered.
 */
import { targetProblem } from "../platform/Targets.ts"

/** Settings by name, as they were given. */
export type SettingsObject = { readonly [name: string]: unknown }

/** Validation errors by the request's field names. */
type Issues = { readonly [field: string]: ReadonlyArray<string> }

/** Longest address among settings. */
const maxAddressLength = 2000

/** Settings that are addresses, by name. */
const isAddress = (name: string): boolean => /url$/i.test(name)

/** Scheme, host and port of an address; the text itself where it is none. */
const originOf = (address: unknown): unknown =>
  typeof address === "string" && URL.canParse(address) ? new URL(address).origin : address

/** Null removes a setting. */
export const withoutNulls = (settings: SettingsObject): SettingsObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))

/** Whether the texts of a setting can be stored; a value of any other form is left to its protocol. */
const isStorable = (value: unknown): boolean =>
  (Array.isArray(value) ? value : [value]).every((one) =>
    typeof one !== "string" || one.isWellFormed() && !one.includes("\u0000")
  )

/** Errors of addresses in settings, and of what cannot be stored. `allowInsecure` allows `http:` and the own network. */
export const addressIssues = (settings: SettingsObject, allowInsecure: boolean): Issues =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => {
      if (!isStorable(value)) return [[`settings.${name}`, ["must contain no NUL and no unpaired surrogate"]]]
      if (!isAddress(name) || typeof value !== "string") return []
      const problem = value.length > maxAddressLength
        ? `must be at most ${maxAddressLength} characters`
        : targetProblem(value, allowInsecure)
      return problem === undefined ? [] : [[`settings.${name}`, [problem]]]
    })
  )

/** Names of those settings that are secrets, in order. */
export const secretsAmong = (secrets: ReadonlyArray<string>, settings: SettingsObject): ReadonlyArray<string> =>
  Object.keys(settings).filter((name) => secrets.includes(name)).toSorted()

/**
 * Errors of a change that gives an address of another origin without all secrets: stored ones go, or prove something, only where they were given for.
 */
export const movedIssues = (secrets: ReadonlyArray<string>, known: SettingsObject, given: SettingsObject): Issues => {
  const isMoved = Object.entries(given).some(([name, value]) =>
    isAddress(name) && originOf(value) !== originOf(known[name])
  )
  const kept = isMoved ? secretsAmong(secrets, known).filter((name) => (given[name] ?? null) === null) : []
  return Object.fromEntries(kept.map((name) => [`settings.${name}`, ["must be given again when the address changes"]]))
}

/** The settings that may be shown, and the secret ones. */
export const dividedSettings = (secrets: ReadonlyArray<string>, settings: SettingsObject) => {
  const isSecret = ([name]: readonly [string, unknown]) => secrets.includes(name)
  return {
    shown: Object.fromEntries(Object.entries(settings).filter((entry) => !isSecret(entry))),
    secret: Object.fromEntries(Object.entries(settings).filter(isSecret))
  }
}
