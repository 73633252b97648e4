/**
 * Retention of a player's data by class: its period, the start of the period, and what blocks an erasure. Pure: the facts are those of one
 * player, instants in epoch milliseconds.
 */
import { after, before } from "../jurisdiction/Duration.ts"
import { type Profile, type RetentionClass, retentionClasses } from "../jurisdiction/Profile.ts"

/** Why an erasure is refused, in the order of the answer. */
const erasureBlocks = [
  "account_open",
  "balance",
  "open_round",
  "open_payment",
  "open_case",
  "exclusion"
] as const

export type ErasureBlock = (typeof erasureBlocks)[number]

/** What decides about the data of a player. */
export interface RetentionFacts {
  /** When the account was closed; null while it is not. */
  readonly closedAt: number | null
  readonly lastTransactionAt: number | null
  /** End of the last exclusion; null when there never was one, infinity while it runs or its end is not known. */
  readonly exclusionEnd: number | null
  /** End of the last alert or case; null when nothing is left of any, infinity while one is open. */
  readonly amlEnd: number | null
  /** Of alerts and cases that ended, the first; null when nothing is left of any. */
  readonly firstAmlEnd: number | null
  /** Newest and oldest rows whose period begins with themselves; null when nothing is left of them. */
  readonly lastSignInAt: number | null
  readonly firstSignInAt: number | null
  readonly lastCheckAt: number | null
  readonly firstCheckAt: number | null
  readonly lastAnswerAt: number | null
  readonly firstAnswerAt: number | null
  /** Minor units of both wallets together, without sign. */
  readonly balance: number
  readonly openRounds: number
  readonly openPayments: number
  /** Cases without those about the player's own data. */
  readonly openCases: number
}

/** What stops an erasure now; nothing when it may be done. */
export const erasureBlocking = (facts: RetentionFacts, now: number): ReadonlyArray<ErasureBlock> => {
  const blocks: Readonly<Record<ErasureBlock, boolean>> = {
    account_open: facts.closedAt === null,
    balance: facts.balance !== 0,
    open_round: facts.openRounds > 0,
    open_payment: facts.openPayments > 0,
    open_case: facts.openCases > 0,
    exclusion: facts.exclusionEnd !== null && facts.exclusionEnd > now
  }
  return erasureBlocks.filter((block) => blocks[block])
}

/** Classes whose rows each have a period of their own; they are erased row by row, also while the account is used. */
const rowClasses: ReadonlySet<RetentionClass> = new Set(["aml", "checks", "consents", "security"])

const isByRow = (name: RetentionClass): boolean => rowClasses.has(name)

/** When the relationship ended: the closing of the account, the last transaction or the end of the last exclusion, whichever is last. Infinity while it lasts. */
const relationshipEnd = ({ closedAt, exclusionEnd, lastTransactionAt }: RetentionFacts): number =>
  closedAt === null ? Infinity : Math.max(closedAt, lastTransactionAt ?? 0, exclusionEnd ?? 0)

/** From when the period of a class counts; infinity while it has not begun, null when there is nothing of it. By row: that of the newest one. */
export const periodBegins = (name: RetentionClass, facts: RetentionFacts): number | null => {
  const end = relationshipEnd(facts)
  switch (name) {
    case "aml":
      return facts.amlEnd
    case "checks":
      return facts.lastCheckAt
    case "consents":
      return facts.lastAnswerAt
    case "security":
      return facts.lastSignInAt
    case "exclusion":
      // who plays again is recognised by the same digests
      return end === Infinity ? Infinity : facts.exclusionEnd ?? end
    default:
      return end
  }
}

/** Classes that are erased as a whole, once. */
export const wholeClasses: ReadonlyArray<RetentionClass> = retentionClasses.filter((name) => !isByRow(name))

/** The oldest row of a class by row; null when nothing is left. */
const oldestOf = (name: RetentionClass, facts: RetentionFacts): number | null =>
  name === "aml"
    ? facts.firstAmlEnd
    : name === "checks"
    ? facts.firstCheckAt
    : name === "consents"
    ? facts.firstAnswerAt
    : facts.firstSignInAt

/** What becomes of a class of a player's data now. */
export interface ClassPlan {
  readonly class: RetentionClass
  /** The profile's period; null when the profile has none: then it is kept until somebody asks. */
  readonly period: string | null
  /** When all of it may be erased; infinity while that is not known, null when nothing is left of it. */
  readonly until: number | null
  /** All of it, by row what is dated up to and including this instant, may be erased; null: nothing, or nothing is left. */
  readonly erasable: number | null
}

/** The plan of every class at `now`. */
export const retentionPlan = (
  retention: Profile["retention"],
  facts: RetentionFacts,
  now: number
): ReadonlyArray<ClassPlan> =>
  retentionClasses.map((name) => {
    const period = retention?.[name] ?? null
    const begins = periodBegins(name, facts)
    const until = begins === null || begins === Infinity || period === null ? begins : after(period, begins)
    const oldest = oldestOf(name, facts)
    const cut = isByRow(name) && period !== null ? before(period, now) : now
    const isDue = isByRow(name) ? oldest !== null && oldest <= cut : until !== null && until <= now
    const erasable = isDue ? cut : null
    return { class: name, period, until, erasable }
  })
