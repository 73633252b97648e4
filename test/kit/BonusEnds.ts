/**
 * Ends of bonuses that messages undo, and what operators are told of them: a second telling of `docs/decisions/0026-undone-ends.md`, from rows and
 * events alone. Shared by the tests of rules and of simulator commits.
 */
import type { BonusResult, PlayerBonus } from "../../src/domain/state/Bonus.ts"
import type { Change, Event } from "../../src/domain/state/Change.ts"
import type { Transaction } from "../../src/domain/state/Rounds.ts"
import { type Report, sumOf } from "./LedgerInvariants.ts"

/** The stored row of a message. */
type Find = (providerId: number, transactionId: string) => Transaction | undefined

/** What a rollback adds to the wagered amount of a bonus. */
const wageredBy = ({ kind, providerId, status, targetId }: Transaction, bonusId: number, find: Find): number => {
  if (kind !== "rollback" || status !== "processed") return 0
  const target = find(providerId, targetId ?? "")
  const bet = target?.kind === "rollback" ? find(providerId, target.targetId ?? "") : target
  if (bet?.kind !== "bet" || bet.bonusId !== bonusId) return 0
  return bet === target ? -bet.wagered : bet.wagered
}

/** Whether the same end stands, with money that came or was taken back after it. */
const isSameEnd = (end: PlayerBonus, next: PlayerBonus): boolean =>
  next.result === end.result && next.finishedAt === end.finishedAt && next.converted === end.converted

interface Judgement {
  /** Whether the bonus is what the messages of the change made of it. */
  readonly isRight: boolean
  /** Whether the bonus ran or waited again, though the same change may have ended it once more. */
  readonly hasResumed: boolean
}

/** Follows the end of a bonus through the messages of a change, which left the bonus as `next`. One that had not ended has none to undo. */
export const judgeEnd = (
  end: PlayerBonus | undefined,
  next: PlayerBonus,
  { entries, transactions }: Change,
  find: Find
): Judgement => {
  if (end?.state !== "finished") return { isRight: true, hasResumed: false }
  let { result, wagered } = end
  let isUndone = false
  const become = (other: PlayerBonus["result"]): void => {
    result = other
    isUndone = true
  }
  for (const row of transactions) {
    const added = wageredBy(row, end.id, find)
    wagered += added
    const isMet = wagered >= end.wagerRequirement
    const own = entries.filter(({ id, playerBonusId, wallet }) =>
      row.entryIds.includes(id) && playerBonusId === end.id && wallet === "bonus"
    )
    // that the account's state cancels a bonus is in no row of the messages
    const isCancelled = next.result === "cancelled"
    const fate = row.createdAt >= (end.expiresAt ?? Infinity) ? "expired" : isCancelled ? "cancelled" : null
    // what pays off a shortage is credited and taken in one step, as is what is forfeited as it comes: only the latter undoes a loss
    const hasCome = own.some(({ amount }) => amount > 0) && (fate === null ? sumOf(own) > 0 : next.result === fate)
    if ((result === "converted" && !isMet) || (result === "lost" && hasCome)) become(fate)
    if (added > 0 && isMet && (result === "lost" || result === "expired")) become("converted")
  }
  const isMet = next.wagered >= next.wagerRequirement
  const isDue = next.result === "cancelled" || isMet === (next.result === "converted")
  // one that runs or waits again is judged after the last message
  const follows = result === null ? next.result !== "expired" && next.result !== "cancelled" : next.result === result
  return { isRight: isDue && (isUndone ? follows : isSameEnd(end, next)), hasResumed: result === null }
}

type Told = "granted" | BonusResult

/** What may be told of a bonus after what was told last. */
const mayBeToldAfter: { readonly [told in Told]: ReadonlyArray<string> } = {
  granted: ["converted", "lost", "expired", "cancelled"],
  // undone: it runs or waits again, or cannot run any more
  converted: ["granted", "expired", "cancelled"],
  // as before, or a reinstated bet has met the requirement after all
  lost: ["granted", "expired", "cancelled", "converted"],
  expired: ["converted"],
  cancelled: []
}

/** What events told of a bonus, in order: `granted`, or the result of an end. */
export const toldOf = (events: ReadonlyArray<Event>, bonusId: number): ReadonlyArray<string> =>
  events.flatMap(({ data, type }) => {
    const { id, result } = Object(data["bonus"])
    if (id !== bonusId) return []
    return type === "bonus.granted" ? ["granted"] : type === "bonus.completed" ? [String(result)] : []
  })

/** Checks what was told of a bonus after its grant: each word may follow the one before it, and the last one is what the bonus is. */
export const checkTold = ({ id, result }: PlayerBonus, events: ReadonlyArray<Event>, report: Report): void => {
  const told = toldOf(events, id)
  const later = told[0] === "granted" ? told.slice(1) : told
  const mayFollow = new Map(Object.entries(mayBeToldAfter))
  const isInTurn = later.every((word, index) => mayFollow.get(later[index - 1] ?? "granted")?.includes(word))
  if (!isInTurn || (later.at(-1) ?? "granted") !== (result ?? "granted")) {
    report("events are their effects", `bonus ${id} was told as ${told.join(", ")}, and is ${result ?? "granted"}`)
  }
}
