/** Terms of a bonus as plain sentences for staff. Pure and without server code: the pages show them while the terms are being typed. */
import type { bonusTypes } from "../state/Bonus.ts"

/** Amounts are minor units; 0 in a cap means no cap. */
export interface BonusTerms {
  readonly type: (typeof bonusTypes)[number]
  readonly default_amount: number
  readonly wagering_multiplier: number
  readonly valid_days: number
  readonly max_bet: number
  readonly max_conversion_multiplier: number
  readonly max_grants_per_player: number
  /** Contribution of a stake in percent, by game id. */
  readonly contributions: { readonly [game: string]: number }
}

const times = (count: number): string => count === 1 ? "once" : count === 2 ? "twice" : `${count} times`

const days = (count: number): string => count === 1 ? "1 day" : `${count} days`

/** Maximum games named in one sentence; the others are counted. */
const namedGames = 5

const games = (ids: ReadonlyArray<string>, nameOf: (id: string) => string): string => {
  const rest = ids.length - namedGames
  return ids.slice(0, namedGames).map(nameOf).join(", ") + (rest > 0 ? ` and ${rest} more` : "")
}

/** One sentence for each term, in the order of the bonus's life. `money` formats an amount with its currency, `nameOf` a game. */
export const describeBonusTerms = (
  terms: BonusTerms,
  money: (amount: number) => string,
  nameOf: (game: string) => string = (game) => `game ${game}`
): ReadonlyArray<string> => {
  const { default_amount: amount, max_grants_per_player: grants, wagering_multiplier: multiplier } = terms
  const grantLimit = grants === 0
    ? "A player can be granted it any number of times."
    : `A player can be granted it ${times(grants)}.`
  if (multiplier === 0) {
    return [`The player gets ${money(amount)} as real money at once; nothing has to be wagered.`, grantLimit]
  }
  const byShare = new Map<number, Array<string>>()
  for (const [game, share] of Object.entries(terms.contributions)) {
    byShare.set(share, [...(byShare.get(share) ?? []), game])
  }
  return [
    `The player gets ${money(amount)} of bonus money.`,
    `It has to be wagered ${times(multiplier)}: stakes of ${
      money(amount * multiplier)
    } in all, of real and bonus money alike.`,
    `It runs for ${days(terms.valid_days)} from its activation; what is left of the bonus then is taken away.`,
    terms.max_bet === 0
      ? "While it runs, any stake is possible."
      : `While it runs, a stake may be ${money(terms.max_bet)} at most.`,
    terms.max_conversion_multiplier === 0
      ? "All that the bonus wallet holds at the end becomes real money."
      : `Of what the bonus wallet holds at the end, ${
        money(amount * terms.max_conversion_multiplier)
      } at most becomes real money; the rest is taken away.`,
    "Stakes count in full, those on live games with 10 percent.",
    ...[...byShare].toSorted(([a], [b]) => b - a).map(([share, named]) =>
      share === 0
        ? `Bonus money cannot be staked on ${games(named, nameOf)}, and stakes there do not count.`
        : `Stakes on ${games(named, nameOf)} count with ${share} percent.`
    ),
    grantLimit
  ]
}

/** Formats minor units with `digits` decimals, like `12.50 EUR`. */
export const formatAmount = (amount: number, currency: string, digits: number): string => {
  const whole = Math.trunc(amount / 10 ** digits)
  const rest = String(amount % 10 ** digits).padStart(digits, "0")
  return `${whole}${digits === 0 ? "" : `.${rest}`} ${currency}`
}
