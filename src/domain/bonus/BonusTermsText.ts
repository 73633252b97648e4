/** Terms of a bonus as plain sentences for staff. Pure and without server code: the pages show them while the terms are being typed. */
import type { BonusResult, BonusState, bonusTypes } from "../state/Bonus.ts"

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

/** Which games count, by the terms' contributions. */
const contributionSentences = (
  contributions: BonusTerms["contributions"],
  nameOf: (game: string) => string
): ReadonlyArray<string> => {
  const byShare = new Map<number, Array<string>>()
  for (const [game, share] of Object.entries(contributions)) {
    byShare.set(share, [...(byShare.get(share) ?? []), game])
  }
  return [
    "Stakes count in full, those on live games with 10 percent.",
    ...[...byShare].toSorted(([a], [b]) => b - a).map(([share, named]) =>
      share === 0
        ? `Bonus money cannot be staked on ${games(named, nameOf)}, and stakes there do not count.`
        : `Stakes on ${games(named, nameOf)} count with ${share} percent.`
    )
  ]
}

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
  return [
    terms.type === "deposit_match"
      ? `The player gets ${money(amount)} of bonus money, however much was deposited.`
      : `The player gets ${money(amount)} of bonus money.`,
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
    ...contributionSentences(terms.contributions, nameOf),
    grantLimit
  ]
}

/** A bonus as it was granted: the figures of its own terms, and how far it is. Minor units; 0 in a cap means no cap. */
export interface GrantedTerms {
  readonly name: string
  readonly amount: number
  readonly state: BonusState
  readonly result: BonusResult | null
  readonly wagerRequirement: number
  readonly wagered: number
  readonly maxBet: number
  readonly maxConversion: number
  readonly validDays: number
  readonly contributions: BonusTerms["contributions"]
  readonly converted: number
  /** Epoch milliseconds. */
  readonly expiresAt: number | null
}

/** Stakes that a grant still needs, minor units. */
export const leftToWager = (
  { wagerRequirement, wagered }: Pick<GrantedTerms, "wagerRequirement" | "wagered">
): number => Math.max(0, wagerRequirement - Math.max(0, wagered))

const ends: { readonly [result in BonusResult]: (converted: string) => string } = {
  converted: (converted) => `It is wagered: ${converted} became real money.`,
  lost: () => "It has ended: its money was played.",
  expired: () => "It has ended: its time was over before it was wagered.",
  cancelled: () => "It has ended: it was cancelled."
}

/** What a player is told of a bonus, with the figures of this grant. `money` formats an amount, `date` an instant, `nameOf` a game. */
export const tellGrantedBonus = (
  grant: GrantedTerms,
  { date, money, nameOf = (game) => `game ${game}` }: {
    readonly money: (amount: number) => string
    readonly date: (at: number) => string
    readonly nameOf?: (game: string) => string
  }
): ReadonlyArray<string> => {
  const { amount, expiresAt, maxBet, maxConversion, name, result, state, validDays, wagered, wagerRequirement } = grant
  if (wagerRequirement === 0) return [`${name}: you got ${money(amount)} as real money; nothing has to be wagered.`]
  if (result !== null) return [`${name}: ${money(amount)} of bonus money.`, ends[result](money(grant.converted))]
  return [
    `${name}: ${money(amount)} of bonus money.`,
    `You have staked ${money(Math.max(0, wagered))} of ${money(wagerRequirement)}; ${
      money(leftToWager(grant))
    } are left to wager.`,
    state === "pending" || expiresAt === null
      ? `It waits until the bonus before it has ended, and then runs for ${days(validDays)}.`
      : `It runs until ${date(expiresAt)}; what is left of the bonus then is taken away.`,
    maxBet === 0 ? "Any stake is possible." : `A stake may be ${money(maxBet)} at most while it runs.`,
    maxConversion === 0
      ? "All that the bonus wallet holds at the end becomes real money."
      : `At the end ${money(maxConversion)} at most becomes real money; the rest is taken away.`,
    ...contributionSentences(grant.contributions, nameOf)
  ]
}

/** Formats minor units with `digits` decimals, like `12.50 EUR`. */
export const formatAmount = (amount: number, currency: string, digits: number): string => {
  const whole = Math.trunc(amount / 10 ** digits)
  const rest = String(amount % 10 ** digits).padStart(digits, "0")
  return `${whole}${digits === 0 ? "" : `.${rest}`} ${currency}`
}
