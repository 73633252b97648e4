/**
 * Marketing consents of a player, for each channel and product that the jurisdiction distinguishes. Without a recorded statement, no consent counts
 * as granted.
 */
import type { Profile } from "../jurisdiction/Profile.ts"
import type { ConsentStatement } from "../state/ConsentStatement.ts"

/** All channels, or all products. */
export const everything = "*"

type Rules = Pick<Profile["consents"], "channels" | "products">

/** Channels that a registration and a profile name, for all products. */
const flagged = ["email", "sms", "newsletter"] as const

export type MarketingFlags = { readonly [channel in typeof flagged[number]]: boolean }

/** Statements of a player who has said nothing but at the registration, which was at an instant, epoch milliseconds. */
export const registeredConsents = (flags: MarketingFlags, at: number): ReadonlyArray<ConsentStatement> =>
  flagged.filter((channel) => flags[channel]).map((channel) => ({
    channel,
    product: everything,
    granted: true,
    at,
    source: "registration",
    text_version: null
  }))

/** What was last said of a consent; undefined when nothing was. */
export const saidOf = (
  statements: ReadonlyArray<ConsentStatement>,
  channel: string,
  product: string
): ConsentStatement | undefined => {
  const of = (one: string, other: string) =>
    statements.find((statement) => statement.channel === one && statement.product === other)
  return of(channel, product) ?? of(channel, everything) ?? of(everything, everything)
}

/** The statements after one more, which replaces those that it covers. */
export const withStatement = (
  statements: ReadonlyArray<ConsentStatement>,
  said: ConsentStatement
): ReadonlyArray<ConsentStatement> => [
  ...statements.filter(({ channel, product }) =>
    !((said.channel === everything || channel === said.channel) &&
      (said.product === everything || product === said.product))
  ),
  said
]

/** The withdrawal of all consents with a self-exclusion. */
export const allWithdrawn = (at: number): ConsentStatement => ({
  channel: everything,
  product: everything,
  granted: false,
  at,
  source: "exclusion",
  text_version: null
})

/** Whether a statement would change any consent that it covers, or the text that was consented to. */
export const changes = (
  statements: ReadonlyArray<ConsentStatement>,
  said: ConsentStatement,
  { products }: Rules
): boolean =>
  (said.product === everything ? products : [said.product]).some((product) => {
    const before = saidOf(statements, said.channel, product)
    return (before?.granted ?? false) !== said.granted || before === undefined ||
      said.text_version !== null && said.text_version !== before.text_version
  })

/** Whether each channel is consented to for all products. */
export const flagsOf = (statements: ReadonlyArray<ConsentStatement>, { products }: Rules): MarketingFlags => {
  const isGranted = (channel: string) =>
    products.every((product) => saidOf(statements, channel, product)?.granted === true)
  return { email: isGranted("email"), sms: isGranted("sms"), newsletter: isGranted("newsletter") }
}
