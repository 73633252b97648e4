/**
 * Parser of what a player chooses in an original (one of the platform's own games), such as the side of a coin, from any JSON; collects all errors.
 */

/** Validation errors by field; nested fields with dots. */
export type FieldMessages = { readonly [field: string]: ReadonlyArray<string> }

/** Each method returns the value of a field, or records an error and returns undefined. */
export interface ParamsReader {
  readonly word: <const Word extends string>(name: string, words: ReadonlyArray<Word>) => Word | undefined
  readonly integer: (name: string, minimum: number, maximum: number) => number | undefined
  /** Number with at most two decimals; the value and its bounds are in hundredths. */
  readonly hundredths: (name: string, minimum: number, maximum: number) => number | undefined
  /** Non-empty list of distinct integers. */
  readonly distinctIntegers: (name: string, minimum: number, maximum: number) => ReadonlyArray<number> | undefined
  readonly note: (name: string, message: string) => void
  /** Recorded errors, including unknown fields; undefined when there are none. */
  readonly wrong: () => FieldMessages | undefined
}

const isIntegerBetween = (value: unknown, minimum: number, maximum: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= minimum && value <= maximum

/** `value` in hundredths, as an integer that converts back to exactly `value`. */
const toHundredths = (value: unknown): number | undefined => {
  if (typeof value !== "number") return undefined
  const hundredths = Math.round(value * 100)
  return hundredths / 100 === value ? hundredths : undefined
}

/** Opens params for parsing. Fields are reported as `params.<name>`. */
export const readParams = (params: unknown): ParamsReader => {
  const isObject = typeof params === "object" && params !== null && !Array.isArray(params)
  const unread = new Map<string, unknown>(isObject ? Object.entries(params) : [])
  const messages = new Map<string, ReadonlyArray<string>>(isObject ? [] : [["params", ["must be an object"]]])

  const note = (name: string, message: string): void => {
    const field = `params.${name}`
    // without an object, that one error suffices
    if (isObject) messages.set(field, [...messages.get(field) ?? [], message])
  }

  const read = <A>(name: string, parse: (value: unknown) => A | undefined, message: string): A | undefined => {
    const value = unread.get(name)
    unread.delete(name)
    if (value === undefined) {
      note(name, "is required")
      return undefined
    }
    const parsed = parse(value)
    if (parsed === undefined) note(name, message)
    return parsed
  }

  return {
    word: (name, words) =>
      read(name, (value) => words.find((word) => word === value), `must be one of: ${words.join(", ")}`),
    integer: (name, minimum, maximum) =>
      read(
        name,
        (value) => isIntegerBetween(value, minimum, maximum) ? value : undefined,
        `must be an integer between ${minimum} and ${maximum}`
      ),
    hundredths: (name, minimum, maximum) =>
      read(
        name,
        (value) => {
          const hundredths = toHundredths(value)
          return isIntegerBetween(hundredths, minimum, maximum) ? hundredths : undefined
        },
        `must be a number between ${minimum / 100} and ${maximum / 100} with at most two decimals`
      ),
    distinctIntegers: (name, minimum, maximum) =>
      read(
        name,
        (value) => {
          if (!Array.isArray(value) || value.length === 0 || value.length > maximum - minimum + 1) return undefined
          const numbers: ReadonlyArray<unknown> = value
          const good = numbers.filter((item) => isIntegerBetween(item, minimum, maximum))
          return new Set(good).size === numbers.length ? good : undefined
        },
        `must be a list of different integers between ${minimum} and ${maximum}`
      ),
    note,
    wrong: () => {
      const all = [
        ...messages,
        ...Array.from(unread.keys(), (name): [string, ReadonlyArray<string>] => [`params.${name}`, ["is not known"]])
      ]
      return all.length === 0 ? undefined : Object.fromEntries(all)
    }
  }
}
