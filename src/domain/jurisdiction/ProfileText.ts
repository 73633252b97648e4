/** Rules of a jurisdiction as text for staff, one row for each rule. Pure. */
import { Option, Schema } from "effect"
import { durationText } from "./Duration.ts"
import { registerEvents } from "../register/Register.ts"
import { Profile } from "./Profile.ts"

/** Formats an amount of the profile's currency. */
type MoneyText = (amount: number) => string

/** Text of a value; undefined where the profile has no such rule. */
type Text = (value: unknown, money: MoneyText) => string | undefined

const spaced = (code: string): string => code.replaceAll("_", " ")

const joined = (words: ReadonlyArray<string>, last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1) ?? ""}`

const asText = (text: (value: string) => string): Text => (value) => typeof value === "string" ? text(value) : undefined

const asNumber = (text: (value: number, money: MoneyText) => string): Text => (value, money) =>
  typeof value === "number" ? text(value, money) : undefined

const years = asNumber((value) => `${value} years`)

const length = asText(durationText)

const every = asText((value) => `every ${durationText(value)}`)

const sum = asNumber((value, money) => money(value))

/** A rule that is there or not. */
const when = (text: string): Text => (value) => value === true ? text : undefined

const oneOf = (words: Readonly<Record<string, string>>): Text => (value) =>
  typeof value === "string" ? words[value] : undefined

const words: Text = (value) =>
  Array.isArray(value) && value.length > 0 ? joined(value.map(String).map(spaced), "and") : undefined

/** Minutes of a session, or an amount. */
const limitValue = (field: string): Text =>
  field === "max_session_minutes" ? asNumber((value) => `${value} minutes`) : sum

/** A limit under the words of the pages: `max_daily_bet` is daily bet. */
const limitWords = (field: string): string => spaced(field.replace("max_", ""))

const { deposits, limits, registers, retention, stakes, vulnerability } = Profile.fields

/** Reads a value that is none of the simple ones. */
const readBy = <Value>(
  schema: Schema.Decoder<Value>,
  text: (value: Value, money: MoneyText) => string | undefined
): Text => {
  const decode = Schema.decodeUnknownOption(schema)
  return (value, money) => Option.getOrUndefined(Option.map(decode(value), (read) => text(read, money)))
}

const byAge = (
  { amount, amount_under: under, under_age: age }: {
    readonly amount: number
    readonly under_age: number | null
    readonly amount_under: number | null
  },
  money: MoneyText
): string => age === null || under === null ? money(amount) : `${money(amount)}, below ${age} years ${money(under)}`

const eventWords = {
  registration: "registration",
  login: "sign-in",
  play: "the start of a game",
  deposit: "a deposit",
  marketing: "advertising"
} as const satisfies Record<(typeof registerEvents)[number], string>

/** What happens without an answer; `age`: how old the last good one may be. */
const withoutAnswer = {
  refuse: () => "refused without an answer",
  last_good: (age: string | null) =>
    `without an answer the last good one counts${age === null ? "" : `, for ${durationText(age)}`}`,
  allow: () => "allowed without an answer"
} as const

const required = readBy(
  Schema.toType(limits.to.fields.required),
  (groups) =>
    groups.length === 0 ? undefined : joined(groups.map((group) => joined(group.map(limitWords), "or")), "and")
)

const netCap = readBy(
  Schema.toType(deposits.to.fields.net_cap),
  (cap, money) => cap === null ? undefined : byAge(cap, money)
)

const stakeCaps = readBy(Schema.toType(stakes), (caps, money) =>
  caps.length === 0
    ? undefined
    : caps.map((cap) => `${joined(cap.categories.map(spaced), "and")}: ${byAge(cap, money)}`).join("; "))

const registerUse = readBy(
  Schema.toType(registers),
  (uses) =>
    uses.length === 0 ?
      undefined :
      uses.map(({ kind, last_good_max_age: age, on }) =>
        `${kind.toUpperCase()}: ${
          registerEvents.flatMap((event) => {
            const use = on[event]
            if (use === undefined) return []
            const asked = durationText(use.max_age)
            return `at ${eventWords[event]} ${asked === durationText("PT0S") ? "each time" : `once in ${asked}`}, ${
              withoutAnswer[use.unavailable](age)
            }`
          }).join("; ")
        }`
      ).join(". ")
)

const vulnerable = readBy(Schema.toType(vulnerability), (check, money) =>
  check === null
    ? undefined
    : `deposits less withdrawals of ${money(check.net_deposits)} in ${durationText(check.window)}; again after ${
      durationText(check.repeat)
    }`)

const kept = readBy(Schema.toType(retention), (periods) =>
  periods === null
    ? undefined
    : Object.entries(periods).flatMap(([kind, period]) =>
      period === undefined ? [] : [`${spaced(kind)} ${durationText(period)}`]
    ).join(", "))

interface Line {
  /** Path in the document; one that ends in `*` is each key below it. */
  readonly path: string
  readonly label: string | ((key: string) => string)
  readonly text: Text | { readonly of: (key: string) => Text }
  /** Path of the rule without which this one says nothing. */
  readonly of?: string
}

const line = (
  path: string,
  label: Line["label"],
  text: Line["text"],
  more: Pick<Line, "of"> = {}
): Line => ({
  path,
  label,
  text,
  ...more
})

const sections: ReadonlyArray<readonly [heading: string, lines: ReadonlyArray<Line>]> = [
  ["Players", [
    line("code", "Code", asText((value) => value)),
    line("name", "Name", asText((value) => value)),
    line("currency", "Currency of the amounts", asText((value) => value)),
    line("minimum_age", "Least age", years)
  ]],
  ["Breaks and exclusions", [
    line(
      "breaks.periods.*",
      (period) => period === "indefinite" ? "Break without an end" : `Break of ${spaced(period)}`,
      oneOf({
        time_out: "on offer, as a time-out",
        self_exclusion: "on offer, as a self-exclusion",
        self_closure: "on offer, as the closure of the account"
      })
    ),
    line("breaks.time_out.min", "Shortest time-out until a date", length),
    line("breaks.time_out.max", "Longest time-out until a date", length),
    line("breaks.self_exclusion.min", "Shortest self-exclusion until a date", length),
    line("breaks.self_exclusion.max", "Longest self-exclusion until a date", length),
    line(
      "breaks.ends",
      "A self-exclusion ends",
      oneOf({ by_itself: "by itself", on_request: "once its time is over and the player asks to return" })
    ),
    line("breaks.return_wait", "From the request to return to play", length),
    line(
      "breaks.scope",
      "A self-exclusion counts",
      oneOf({
        operator: "at the operator",
        licensee: "at all operators of the licensee",
        ask: "at the operator or all of the licensee, as the player says"
      })
    )
  ]],
  ["Limits", [
    line("limits.required", "Limits that have to be set", required),
    line(
      "limits.required_before",
      "Required limits are set before",
      oneOf({ play: "the first game", deposit: "the first deposit" }),
      { of: "limits.required" }
    ),
    line("limits.prompt", "Limits are offered", when("before the first deposit, which waits for an answer")),
    line("limits.caps.*", (field) => `Cap of the limit ${limitWords(field)}`, { of: limitValue }),
    line(
      "limits.contact_above.*",
      (field) => `Contact with who sets the limit ${limitWords(field)} above`,
      { of: limitValue }
    ),
    line("limits.raise.wait", "A raise waits at least", length),
    line(
      "limits.raise.until_period_ends",
      "A raise waits for the end",
      when("of the running day, week or month of the limit")
    ),
    line("limits.raise.confirm", "A raise is in force", when("only once the player has confirmed it after its wait")),
    line("limits.raise.confirm_within", "Time to confirm a raise", length, { of: "limits.raise.confirm" })
  ]],
  ["Deposits and stakes", [
    line("deposits.net_cap", "Deposits less withdrawals of a month, at most", netCap),
    line("stakes", "Largest stake", stakeCaps)
  ]],
  ["Bonuses", [
    line("bonuses.max_wagering_multiplier", "Wagering at most", asNumber((value) => `${value} times the amount`)),
    line("bonuses.max_amount", "Largest bonus", sum),
    line("bonuses.min_valid_days", "A bonus runs at least", asNumber((value) => `${value} days`)),
    line("bonuses.minimum_age", "Least age for a bonus", years),
    line("bonuses.first_only", "Bonuses of a player", when("the first one only"))
  ]],
  ["Time of play", [
    line("reality_check.default", "Reminder of the time played", every),
    line("reality_check.min", "Shortest interval that a player may choose", length),
    line("reality_check.max", "Longest interval that a player may choose", length),
    line("reality_check.grace", "Play goes on without an answer for", length)
  ]],
  ["Registers and reviews", [
    line("registers", "Registers that are asked", registerUse),
    line("vulnerability", "Check of vulnerability", vulnerable),
    line("reviews.limits", "Review of limits", every),
    line("reviews.no_limits", "Review of players without limits", every),
    line("reviews.funds_notice", "Notice of how funds are protected", every)
  ]],
  ["Consents and data", [
    line("consents.channels", "Channels that a player consents to", words),
    line("consents.products", "Products that a player consents to", words),
    line("consents.reset_on_exclusion", "A self-exclusion withdraws", when("all consents")),
    line("dormant.after", "An account is dormant after", length),
    line("retention", "Data are kept", kept)
  ]]
]

const lines = sections.flatMap(([, of]) => of)

interface Named {
  readonly label: string
  readonly text: Text
}

/** The line of a path, and the key where it stands for several. */
const named = (path: string): Named | undefined => {
  const cut = path.lastIndexOf(".")
  const found = lines.find((one) => one.path === path || one.path === `${path.slice(0, cut)}.*`)
  if (found === undefined) return undefined
  const key = path.slice(cut + 1)
  return {
    label: typeof found.label === "string" ? found.label : found.label(key),
    text: typeof found.text === "function" ? found.text : found.text.of(key)
  }
}

type Sources = Profile["sources"]

const readSources = Schema.decodeUnknownOption(Schema.toType(Profile.fields.sources))

/** Sources that another document does not have so. */
const sourcesBut = (sources: Sources, others: Sources): string | undefined =>
  Object.entries(sources).flatMap(([path, { confidence, source }]) => {
    const other = others[path]
    return other?.confidence === confidence && other.source === source ? [] : [`${path} (${confidence}): ${source}`]
  }).join("; ") || undefined

/** A difference in words; a path that has no words stands for itself. */
export const differenceInWords = (
  { after, before, path }: { readonly path: string; readonly before: unknown; readonly after: unknown },
  money: MoneyText
): { readonly label: string; readonly before: string | undefined; readonly after: string | undefined } => {
  if (path === "sources") {
    const [these, those] = [before, after].map((value) => Option.getOrElse(readSources(value), (): Sources => ({})))
    return {
      label: "Sources",
      before: sourcesBut(these ?? {}, those ?? {}),
      after: sourcesBut(those ?? {}, these ?? {})
    }
  }
  const { label, text } = named(path) ??
    { label: path, text: (value: unknown) => value === null ? undefined : JSON.stringify(value) }
  return { label, before: text(before, money), after: text(after, money) }
}

type Source = Profile["sources"][string]

interface RuleInWords {
  readonly path: string
  readonly label: string
  readonly text: string
  /** Where the figure comes from: its own source, else that of the group that it is in. */
  readonly source: Source | undefined
}

const valueAt = (document: unknown, keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    document
  )

const sourceOf = (sources: Profile["sources"], path: string): Source | undefined => {
  for (let keys = path.split("."); keys.length > 0; keys = keys.slice(0, -1)) {
    const source = sources[keys.join(".")]
    if (source !== undefined) return source
  }
  return undefined
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(".")))

/** Whether "none" is what a source says of a rule that the document does not have: its own source, or that of a group of which it has nothing. */
const isSourced = (sources: Sources, path: string, textAt: (path: string) => string | undefined): boolean => {
  const group = parentOf(path)
  const hasOthers = lines.some((other) => parentOf(other.path) === group && textAt(other.path) !== undefined)
  return sources[path] !== undefined || (sources[group] !== undefined && !hasOthers)
}

/** Of a text about several figures, those that have a source of their own as well. */
const figuresBelow = (document: Profile, rule: RuleInWords, money: MoneyText): ReadonlyArray<RuleInWords> =>
  Object.entries(document.sources).filter(([path]) => path.startsWith(`${rule.path}.`)).map(([path, source]) => ({
    ...rule,
    path,
    label: `${rule.label}: ${spaced(path.slice(rule.path.length + 1))}`,
    text: length(valueAt(document, path.split(".")), money) ?? rule.text,
    source
  }))

/** The paths of a document that a line is about. */
const pathsOf = (document: Profile, { path }: Line): ReadonlyArray<string> => {
  if (!path.endsWith(".*")) return [path]
  const above = path.slice(0, -2)
  const group = valueAt(document, above.split("."))
  return typeof group === "object" && group !== null ? Object.keys(group).map((key) => `${above}.${key}`) : []
}

/** The document without its name, section by section; rules that it neither has nor has a source for are left out. */
export const profileInWords = (
  document: Profile,
  money: MoneyText
): ReadonlyArray<{ readonly heading: string; readonly rules: ReadonlyArray<RuleInWords> }> => {
  const textAt = (path: string) => named(path)?.text(valueAt(document, path.split(".")), money)
  return sections.flatMap(([heading, of]) => {
    const rules = of.filter(({ of: needed, path }) =>
      path !== "code" && path !== "name" && (needed === undefined || textAt(needed) !== undefined)
    ).flatMap((one) =>
      pathsOf(document, one).flatMap((path): ReadonlyArray<RuleInWords> => {
        const text = textAt(path) ?? (isSourced(document.sources, path, textAt) ? "none" : undefined)
        if (text === undefined) return []
        const rule: RuleInWords = {
          path,
          label: named(path)?.label ?? path,
          text,
          source: sourceOf(document.sources, path)
        }
        return [rule, ...figuresBelow(document, rule, money)]
      })
    )
    return rules.length === 0 ? [] : [{ heading, rules }]
  })
}

/** How sure a source is. */
export const confidenceWords: Readonly<Record<Source["confidence"], string>> = {
  A: "the authority's own text",
  B: "two independent texts",
  C: "one text",
  D: "a judgement to be confirmed"
}
