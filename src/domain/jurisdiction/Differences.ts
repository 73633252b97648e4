/**
 * Differences between two versions of a jurisdiction profile: stricter rules apply at once, looser ones after a wait. A difference that is neither (a
 * name, a source, the set of channels) is neutral.
 */
import { Predicate, Schema } from "effect"
import { orderOf } from "./Duration.ts"
import { Profile, unavailablePolicies } from "./Profile.ts"
import { registerEvents } from "../register/Register.ts"

export const effects = ["stricter", "looser", "neutral"] as const

type Effect = (typeof effects)[number]

export interface Difference {
  /** Of the document: `limits.raise.wait`. */
  readonly path: string
  /** Null: left out. */
  readonly before: unknown
  readonly after: unknown
  readonly effect: Effect
}

type Compare = (before: unknown, after: unknown) => Effect

const byOrder = (before: number, after: number): Effect =>
  after === before ? "neutral" : after > before ? "stricter" : "looser"

/** A larger number protects more; none protects least. */
const higher: Compare = (before, after) => byOrder(Number(before ?? 0), Number(after ?? 0))

const numberOr = (value: unknown): number => typeof value === "number" ? value : Infinity

/** A smaller number protects more; none protects least. */
const lower: Compare = (before, after) => byOrder(-numberOr(before), -numberOr(after))

const lengthOr = (value: unknown, none: number): number => typeof value === "string" ? orderOf(value) : none

/** A longer time protects more; none protects least. */
const longer: Compare = (before, after) => byOrder(lengthOr(before, 0), lengthOr(after, 0))

/** A longer time protects more; none is the longest. */
const longerOrNone: Compare = (before, after) => byOrder(lengthOr(before, Infinity), lengthOr(after, Infinity))

/** A shorter time protects more; none protects least. */
const shorter: Compare = (before, after) => byOrder(-lengthOr(before, Infinity), -lengthOr(after, Infinity))

const whenTrue: Compare = (before, after) => byOrder(Number(before === true), Number(after === true))

/** Words from the one that protects least to the one that protects most. */
const ranked = (words: ReadonlyArray<string>): Compare => (before, after) =>
  byOrder(words.indexOf(String(before)), words.indexOf(String(after)))

/** More of them protect more. */
const present: Compare = (before, after) => byOrder(Number(before !== null), Number(after !== null))

const neutral: Compare = () => "neutral"

/** Of several effects at one path: looser when one is. */
const worst = (found: ReadonlyArray<Effect>): Effect =>
  found.includes("looser") ? "looser" : found.includes("stricter") ? "stricter" : "neutral"

const { deposits, limits, registers, stakes, vulnerability } = Profile.fields

const asRequired = Schema.decodeUnknownSync(Schema.toType(limits.to.fields.required))
const asStakes = Schema.decodeUnknownSync(Schema.toType(stakes))
const asRegisters = Schema.decodeUnknownSync(Schema.toType(registers))
type RegisterUse = ReturnType<typeof asRegisters>[number]
const asNetCap = Schema.decodeUnknownSync(Schema.toType(deposits.to.fields.net_cap))
const asVulnerability = Schema.decodeUnknownSync(Schema.toType(vulnerability))

/** Each group of the one is kept by a group of the other that is no larger. */
const requires = (these: ReadonlyArray<ReadonlyArray<string>>, those: ReadonlyArray<ReadonlyArray<string>>): boolean =>
  those.every((group) => these.some((other) => other.every((field) => group.includes(field))))

const required: Compare = (before, after) => {
  const [these, those] = [asRequired(before), asRequired(after)]
  return !requires(those, these) ? "looser" : requires(these, those) ? "neutral" : "stricter"
}

interface ByAge {
  readonly amount: number
  readonly under_age: number | null
  readonly amount_under: number | null
}

/** The amount that counts at an age, in years. */
export const amountAt = ({ amount, amount_under, under_age }: ByAge, age: number): number =>
  under_age !== null && amount_under !== null && age < under_age ? Math.min(amount, amount_under) : amount

/** Ages at which an amount changes, and the youngest. */
const agesOf = (caps: ReadonlyArray<ByAge>): ReadonlyArray<number> => [
  18,
  ...caps.flatMap(({ under_age }) => under_age === null ? [] : [under_age])
]

/** The lowest amount of caps that count together at an age; infinite without any. */
const lowestAt = (caps: ReadonlyArray<ByAge>, age: number): number => Math.min(...caps.map((cap) => amountAt(cap, age)))

const cappedTogether = (before: ReadonlyArray<ByAge>, after: ReadonlyArray<ByAge>): Effect =>
  worst(agesOf([...before, ...after]).map((age) => lower(lowestAt(before, age), lowestAt(after, age))))

const netCap: Compare = (before, after) =>
  cappedTogether([asNetCap(before)].filter(Predicate.isNotNull), [asNetCap(after)].filter(Predicate.isNotNull))

const stakeCaps: Compare = (before, after) => {
  const [these, those] = [asStakes(before), asStakes(after)]
  const categories = new Set([...these, ...those].flatMap((stake) => stake.categories))
  const of = (caps: typeof these, category: string) => caps.filter((cap) => cap.categories.includes(category))
  return worst([...categories].map((category) => cappedTogether(of(these, category), of(those, category))))
}

const policies = ranked([...unavailablePolicies].reverse())

const registerUse: Compare = (before, after) => {
  const [these, those] = [asRegisters(before), asRegisters(after)]
  const kinds = new Set([...these, ...those].map(({ kind }) => kind))
  return worst([...kinds].flatMap((kind) => {
    const [old, next] = [these, those].map((uses) => uses.find((use) => use.kind === kind))
    return [
      ...old === undefined || next === undefined ? [] : [shorter(old.last_good_max_age, next.last_good_max_age)],
      ...registerEvents.map((event) => {
        const [was, is] = [old?.on[event], next?.on[event]]
        return was === undefined || is === undefined
          ? present(was ?? null, is ?? null)
          : worst([shorter(was.max_age, is.max_age), policies(was.unavailable, is.unavailable)])
      })
    ]
  }))
}

const vulnerable: Compare = (before, after) => {
  const [was, is] = [asVulnerability(before), asVulnerability(after)]
  return was === null || is === null ? present(was, is) : worst([
    lower(was.net_deposits, is.net_deposits),
    longer(was.window, is.window),
    shorter(was.repeat, is.repeat)
  ])
}

/** How the values at a path compare; a path that ends in `*` is each key below it. A path that has no line here has values below it. */
const comparisons: ReadonlyArray<readonly [path: string, compare: Compare]> = [
  ["code", neutral],
  ["name", neutral],
  ["currency", neutral],
  ["minimum_age", higher],
  ["breaks.periods.*", present],
  ["breaks.time_out.min", shorter],
  ["breaks.time_out.max", longerOrNone],
  ["breaks.self_exclusion.min", longer],
  ["breaks.self_exclusion.max", longerOrNone],
  ["breaks.ends", ranked(["by_itself", "on_request"])],
  ["breaks.return_wait", longer],
  ["breaks.scope", ranked(["operator", "ask", "licensee"])],
  ["limits.required", required],
  ["limits.required_before", ranked(["play", "deposit"])],
  ["limits.prompt", whenTrue],
  ["limits.caps.*", lower],
  ["limits.contact_above.*", lower],
  ["limits.raise.wait", longer],
  ["limits.raise.until_period_ends", whenTrue],
  ["limits.raise.confirm", whenTrue],
  ["limits.raise.confirm_within", shorter],
  ["deposits.net_cap", netCap],
  ["stakes", stakeCaps],
  ["bonuses.max_wagering_multiplier", lower],
  ["bonuses.max_amount", lower],
  ["bonuses.min_valid_days", higher],
  ["bonuses.minimum_age", higher],
  ["bonuses.first_only", whenTrue],
  ["reality_check.default", shorter],
  ["reality_check.min", neutral],
  ["reality_check.max", shorter],
  ["reality_check.grace", shorter],
  ["registers", registerUse],
  ["vulnerability", vulnerable],
  ["reviews.limits", shorter],
  ["reviews.no_limits", shorter],
  ["reviews.funds_notice", shorter],
  ["consents.channels", neutral],
  ["consents.products", neutral],
  ["consents.reset_on_exclusion", whenTrue],
  ["dormant.after", neutral],
  ["retention", neutral],
  ["sources", neutral]
]

type Document = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const keysBelow = (document: unknown): ReadonlyArray<string> => isObject(document) ? Object.keys(document) : []

const valueAt = (document: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((value, key) => isObject(value) && Object.hasOwn(value, key) ? value[key] : null, document) ??
    null

/** The paths of both documents that a line compares. */
const pathsOf = (path: string, before: unknown, after: unknown): ReadonlyArray<ReadonlyArray<string>> => {
  const keys = path.split(".")
  if (keys.at(-1) !== "*") return [keys]
  const above = keys.slice(0, -1)
  const names = new Set([before, after].flatMap((document) => keysBelow(valueAt(document, above))))
  return [...names].sort().map((name) => [...above, name])
}

const isSame = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) && Array.isArray(after)
    ? before.length === after.length && before.every((item, index) => isSame(item, after[index]))
    : isObject(before) && isObject(after)
    ? [...new Set([...Object.keys(before), ...Object.keys(after)])].every((key) => isSame(before[key], after[key]))
    : before === after

/** What differs between two versions, in the order of the document. */
export const differencesOf = (before: Profile, after: Profile): ReadonlyArray<Difference> =>
  comparisons.flatMap(([path, compare]) =>
    pathsOf(path, before, after).flatMap((keys) => {
      const [was, is] = [valueAt(before, keys), valueAt(after, keys)]
      return isSame(was, is) ? [] : [{ path: keys.join("."), before: was, after: is, effect: compare(was, is) }]
    })
  )

/** A document with another value at a path. */
const withValueAt = (document: unknown, [key, ...below]: ReadonlyArray<string>, value: unknown): unknown => {
  if (key === undefined) return value
  const object = isObject(document) ? document : {}
  return { ...object, [key]: withValueAt(object[key], below, value) }
}

const strictest = <A>(compare: Compare, before: A, after: A): A => compare(before, after) === "looser" ? before : after

/** Of one register: it is asked at the events of both, as the stricter says. */
const registerOfBoth = (before: RegisterUse, after: RegisterUse): RegisterUse => {
  const on = { ...before.on, ...after.on }
  for (const event of registerEvents) {
    const [was, is] = [before.on[event], after.on[event]]
    if (was === undefined || is === undefined) continue
    on[event] = {
      max_age: strictest(shorter, was.max_age, is.max_age),
      unavailable: strictest(policies, was.unavailable, is.unavailable)
    }
  }
  return { ...after, on, last_good_max_age: strictest(shorter, before.last_good_max_age, after.last_good_max_age) }
}

const registersOfBoth = (before: unknown, after: unknown): unknown => {
  const [these, those] = [asRegisters(before), asRegisters(after)]
  return [
    ...these.map((was) => {
      const is = those.find(({ kind }) => kind === was.kind)
      return is === undefined ? was : registerOfBoth(was, is)
    }),
    ...those.filter(({ kind }) => these.every((was) => was.kind !== kind))
  ]
}

/** At each age the lower amount of both; between two ages at which they change, that of the younger, since a cap has one such age. */
const netCapOfBoth = (before: unknown, after: unknown): unknown => {
  const both = [asNetCap(before), asNetCap(after)].filter(Predicate.isNotNull)
  if (both.length < 2) return before
  const ages = agesOf(both)
  const eldest = Math.max(...ages)
  const amount = lowestAt(both, eldest)
  const amountUnder = Math.min(...ages.filter((age) => age < eldest).map((age) => lowestAt(both, age)))
  return amountUnder < amount
    ? { amount, under_age: eldest, amount_under: amountUnder }
    : { amount, under_age: null, amount_under: null }
}

const vulnerabilityOfBoth = (before: unknown, after: unknown): unknown => {
  const [was, is] = [asVulnerability(before), asVulnerability(after)]
  return was === null || is === null ? before : {
    net_deposits: strictest(lower, was.net_deposits, is.net_deposits),
    window: strictest(longer, was.window, is.window),
    repeat: strictest(shorter, was.repeat, is.repeat)
  }
}

/** Lists that protect by what is in them: both together protect as much as either, as far as they may have so many entries. */
const listOfBoth = (most: number) => (before: unknown, after: unknown): unknown => {
  if (!Array.isArray(before) || !Array.isArray(after)) return before
  const both = [...before, ...after.filter((item) => before.every((one) => !isSame(one, item)))]
  return both.length > most ? before : both
}

/** Of paths where one version may be looser in one part and stricter in another: what is stricter of both. Elsewhere the earlier value is. */
const ofBoth: ReadonlyMap<string, (before: unknown, after: unknown) => unknown> = new Map([
  ["limits.required", listOfBoth(10)],
  ["stakes", listOfBoth(20)],
  ["registers", registersOfBoth],
  ["deposits.net_cap", netCapOfBoth],
  ["vulnerability", vulnerabilityOfBoth]
])

/** The value at a path where something in the later one is looser. */
const strictestAt = ({ after, before, path }: Difference): unknown => ofBoth.get(path)?.(before, after) ?? before

const decode = Schema.decodeUnknownSync(Profile)

const withValues = (
  document: Profile,
  differences: ReadonlyArray<Difference>,
  valueOf: (difference: Difference) => unknown
): Profile =>
  decode(
    differences.reduce<unknown>(
      (changed, difference) => withValueAt(changed, difference.path.split("."), valueOf(difference)),
      document
    )
  )

/** A version made stricter by what another has stricter; all else stays. */
export const madeStricter = (before: Profile, other: Profile): Profile =>
  withValues(
    before,
    differencesOf(before, other).filter(({ effect }) => effect !== "neutral"),
    (difference) => difference.effect === "stricter" ? difference.after : strictestAt(difference)
  )

/** The later version where it is stricter, the earlier one where the later is looser: what counts until the looser part may. */
export const stricterOf = (before: Profile, after: Profile): Profile =>
  withValues(after, differencesOf(before, after).filter(({ effect }) => effect === "looser"), strictestAt)
