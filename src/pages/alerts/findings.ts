/** Alert findings as text. An alert's details are named values, which depend on its rule. */
import type { AlertRule } from "../../domain/compliance/AlertRules.ts"
import { moneyText, words } from "../parts/Values.tsx"

/** Condition of each rule. */
export const ruleDescriptions: Readonly<Record<AlertRule, string>> = {
  structuring: "Several deposits just below a threshold.",
  rapid_in_out: "A withdrawal of about what was deposited shortly before.",
  deposit_velocity: "Many deposits, or much money in several, in a short time.",
  large_deposit: "A deposit of the threshold or more.",
  large_withdrawal: "A request to withdraw the threshold or more.",
  low_play_withdrawal: "A withdrawal of deposits that were hardly played with.",
  multi_account: "Players who share what one person has.",
  country_mismatch: "A phone number of another country than the profile.",
  identity_change: "Name, birth date or document changed after verification, or shortly before a withdrawal.",
  large_credit: "A credit of a game provider above the threshold.",
  net_deposits: "Deposits less payouts above what the player's jurisdiction names."
}

/** Details of an alert by name. Missing values read as a dash. */
export interface Details {
  readonly text: (name: string) => string
  readonly number: (name: string) => number | undefined
  readonly list: (name: string) => ReadonlyArray<string>
  readonly is: (name: string) => boolean
}

export const detailsOf = (details: unknown): Details => {
  const fields = new Map<string, unknown>(
    typeof details === "object" && details !== null ? Object.entries(details) : []
  )
  const text = (value: unknown): string => typeof value === "string" || typeof value === "number" ? String(value) : "–"
  return {
    text: (name) => text(fields.get(name)),
    number: (name) => {
      const value = fields.get(name)
      return typeof value === "number" ? value : undefined
    },
    list: (name) => {
      const value = fields.get(name)
      return Array.isArray(value) ? value.map(text) : []
    },
    is: (name) => fields.get(name) === true
  }
}

/** Finding as a sentence. `currency`: the operator's. */
export const describeFinding = (rule: AlertRule, details: unknown, currency: string): string => {
  const { is, list, number, text } = detailsOf(details)
  // a game's credit and a jurisdiction's amount are in the player's currency, all else in the operator's
  const own = (rule === "large_credit" || rule === "net_deposits") && text("currency") !== "–"
    ? text("currency")
    : currency
  const money = (name: string): string => {
    const amount = number(name)
    return amount === undefined ? "–" : moneyText(amount, own)
  }
  const window = `${text("window_hours")} hours`
  const sentence = (): string => {
    switch (rule) {
      case "structuring":
        return `${text("deposits")} deposits within ${window}, each just below ${money("threshold")}: ${
          money("amount")
        } in all.`
      case "rapid_in_out":
        return `${money("withdrawn")} withdrawn ${
          text("minutes_since_deposit")
        } minutes after the last deposit; the last ${text("deposits")} deposits were ${money("deposited")}.`
      case "deposit_velocity":
        return `${text("deposits")} deposits within ${window}: ${money("amount")} in all. The rule takes ${
          text("count")
        } of them, or ${money("threshold")}.`
      case "large_deposit":
        return `A deposit of ${money("amount")}; the threshold is ${money("threshold")}.`
      case "large_withdrawal":
        return `A request to withdraw ${money("amount")}; the threshold is ${money("threshold")}.`
      case "low_play_withdrawal":
        return `Deposited ${money("deposited")}, staked ${money("staked")} since: less than the ${
          text("percent")
        } % that the rule asks for.`
      case "multi_account":
        return `${text("accounts")} accounts share ${list("shared").map(words).join(", ")}.`
      case "country_mismatch":
        return `The profile says ${text("profile")}; the phone number is of ${list("phone").join(" or ")}.`
      case "identity_change":
        return text("before") === "–"
          ? `Changed after the identity was verified: ${list("fields").map(words).join(", ")}.`
          : `Changed shortly before a withdrawal: ${list("fields").map(words).join(", ")}.`
      case "large_credit":
        return `A game provider credited ${money("amount")}; large credits of the day are ${
          money("credited_today")
        }, the threshold is ${money("above")}.`
      case "net_deposits":
        return `Deposits less payouts of ${text("window")} are ${money("amount")}; the jurisdiction names ${
          money("threshold")
        } (${text("profile")}).`
    }
  }
  return `${sentence()}${
    is("unconverted") ? " Compared as they are: there is no exchange rate for the player's currency." : ""
  }`
}
