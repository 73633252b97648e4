/**
 * What a player may do now, and why not the rest, in words: `May bet: no, time-out until 4 Dec 2026`. Pure and without server code, for the pages.
 */
import type { ExclusionFields } from "../limit/LimitUsage.ts"
import type { AbilityName } from "./Standing.ts"

/** An ability as the staff API tells it. */
export interface ToldAbility {
  readonly is_allowed: boolean
  readonly code: string | null
  readonly cause: string | null
  readonly message: string | null
  /** ISO 8601. */
  readonly until: string | null
}

/** Abilities in the order in which they are told. */
export const abilityWords: ReadonlyArray<readonly [ability: AbilityName, words: string]> = [
  ["sign_in", "May sign in"],
  ["deposit", "May deposit"],
  ["bet", "May bet"],
  ["withdraw", "May withdraw"],
  ["receive_bonuses", "May get bonuses"]
]

const causes: Readonly<Record<string, string>> = {
  locked: "account locked",
  closed: "account closed",
  time_out: "time-out",
  self_exclusion: "self-exclusion",
  self_closure: "closed at the player's request",
  can_login: "restricted by staff",
  can_deposit: "restricted by staff",
  can_bet: "restricted by staff",
  can_withdraw: "restricted by staff",
  excluded_from_bonuses: "restricted by staff",
  compliance_hold: "held by an alert",
  register_excluded: "excluded by a national register",
  register_unavailable: "a national register does not answer",
  obligation: "something is owed first",
  max_pending: "too many wait, but one without wagering is paid at once"
}

const codes: Readonly<Record<string, string>> = {
  KYC_REQUIRED: "not verified",
  PAYMENT_REQUEST_INVALID: "daily cap of the operator reached"
}

/** Causes that end only with the exclusion: without an end they last for ever. */
const exclusions: ReadonlySet<string> = new Set(["time_out", "self_exclusion", "self_closure"])

/** Name of a limit: `max_daily_bet` is `daily bet limit`. */
const limitWords = (field: string): string => `${field.replace("max_", "").replaceAll("_", " ")} limit`

/** Why an ability is refused, with the end of the cause; undefined where it is allowed. `date` formats an instant. */
const causeInWords = (ability: ToldAbility, date: (at: string) => string): string | undefined => {
  if (ability.is_allowed) return undefined
  const { cause, code, message, until } = ability
  const why = code === "LIMIT_EXCEEDED" && cause !== null
    ? `${limitWords(cause)} reached`
    : causes[cause ?? ""] ?? codes[code ?? ""] ?? message ?? "refused"
  return until !== null ? `${why} until ${date(until)}` : exclusions.has(cause ?? "") ? `${why} without end` : why
}

/** Answer of an ability in words: `yes`, or `no, time-out until 4 Dec 2026`. */
export const abilityInWords = (ability: ToldAbility, date: (at: string) => string): string => {
  const cause = causeInWords(ability, date)
  return cause === undefined ? "yes" : `no, ${cause}`
}

const lengthInWords = (
  { ends, return_at: returnAt, until }: Pick<ExclusionFields, "ends" | "return_at" | "until">,
  date: (at: string) => string
): string =>
  returnAt !== null
    ? `until ${date(returnAt)}, as the player asked to return`
    : ends === "by_itself"
    ? until === null ? "without end" : `until ${date(until)}`
    : until === null
    ? "without end, until the player asks to return"
    : `until ${date(until)}, and then until the player asks to return`

/** What closes an account to its player, in sentences: its status, an exclusion, a hold of withdrawals. Limits and single restrictions do not. */
export const closuresInWords = (
  { bet, withdraw }: { readonly bet: ToldAbility; readonly withdraw: ToldAbility },
  status: string,
  exclusion: Pick<ExclusionFields, "ends" | "return_at" | "type" | "until"> | null,
  date: (at: string) => string
): ReadonlyArray<string> => [
  ...(status === "active" ? [] : [`The account is ${status}: the player neither signs in, plays nor withdraws.`]),
  ...(exclusion === null ? [] : [
    `Excluded from play (${causes[exclusion.type] ?? exclusion.type}) ${
      lengthInWords(exclusion, date)
    }. It cannot be shortened${withdraw.is_allowed ? "; the balance can be withdrawn" : ""}.`
  ]),
  ...(withdraw.cause === "compliance_hold"
    ? ["Withdrawals are held by an alert, until it is closed or its hold released."]
    : []),
  ...(status === "active" && exclusion === null && bet.cause === "can_bet" ? ["Staff have switched betting off."] : [])
]
