/**
 * Credits and debits of a bonus in any state, and the undoing of its end when a message that caused it is rolled back or overtaken
 * (`docs/decisions/0026-undone-ends.md`). The rules of bets, wins and rollbacks name an amount and a bonus; only these functions know whether its
 * money is in the bonus wallet, held aside, converted to real money or forfeited.
 */
import { asActivated, asPending, type Interruption, type PlayerBonus, termsOf } from "../state/Bonus.ts"
import { type CasinoReferences, ids } from "../state/Change.ts"
import type { Draft } from "../state/Draft.ts"
import { activeExclusion, type Player } from "../state/Player.ts"
import { interrupted, isUntouched, mayReceiveBonuses } from "../state/WaitingBonuses.ts"

/** Signed amounts moved in each wallet, and the entries that say so. */
export interface Moved {
  readonly entryIds: ReadonlyArray<number>
  readonly real: number
  readonly bonus: number
}

const noMovement: Moved = { entryIds: [], real: 0, bonus: 0 }

/** `over`: expired or cancelled. */
export type BonusStatus = "running" | "waiting" | "converted" | "lost" | "over"

/** State of the bonus of an earlier stake; undefined when it has to be looked up. */
export const bonusStatusOf = (draft: Draft, bonusId: number): BonusStatus | undefined => {
  if (draft.activeBonus?.id === bonusId) return "running"
  if (draft.pendingBonuses.some(({ id }) => id === bonusId)) return "waiting"
  const bonus = draft.endedBonus(bonusId)
  if (bonus === undefined) return undefined
  const result = bonus?.result
  return result === "converted" || result === "lost" ? result : "over"
}

/** Changes what an interrupted bonus left, if that bonus waits. */
const changeWaiting = (draft: Draft, bonusId: number, change: (left: Interruption) => Interruption): void => {
  const index = draft.pendingBonuses.findIndex(({ id }) => id === bonusId)
  const bonus = draft.pendingBonuses[index]
  if (bonus === undefined || bonus.interrupted === null) return
  const changed = { ...bonus, interrupted: change(bonus.interrupted) }
  draft.pendingBonuses = draft.pendingBonuses.with(index, changed)
  draft.writeBonus(asPending(changed))
}

const changeEnded = (draft: Draft, bonusId: number, change: (bonus: PlayerBonus) => PlayerBonus): void => {
  const bonus = draft.endedBonus(bonusId)
  if (bonus !== undefined && bonus !== null) draft.writeBonus(change(bonus))
}

const interruptionOf = (draft: Draft, bonusId: number): Interruption | null | undefined =>
  draft.pendingBonuses.find(({ id }) => id === bonusId)?.interrupted

const heldBy = (draft: Draft, bonusId: number): number => interruptionOf(draft, bonusId)?.held ?? 0

const shortageOf = (draft: Draft, bonusId: number): number =>
  (draft.activeBonus?.id === bonusId ? draft.activeBonus : interruptionOf(draft, bonusId) ?? draft.endedBonus(bonusId))
    ?.short ?? 0

/** Amounts of a bonus, beside the bonus balance; `held` only of one that waits, `forfeited` and `late` only of one that has ended. */
type Amounts = Pick<PlayerBonus, "short" | "restored" | "forfeited" | "late"> & { readonly held: number }

/** Adds to the amounts of a bonus, wherever it is. */
const changeMoney = (
  draft: Draft,
  bonusId: number,
  { forfeited = 0, held = 0, late = 0, restored = 0, short = 0 }: Partial<Amounts>
): void => {
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, short: running.short + short, restored: running.restored + restored }
    return
  }
  changeWaiting(draft, bonusId, (left) => ({
    ...left,
    held: left.held + held,
    short: left.short + short,
    restored: left.restored + restored
  }))
  changeEnded(draft, bonusId, (bonus) => ({
    ...bonus,
    forfeited: bonus.forfeited + forfeited,
    late: bonus.late + late,
    short: bonus.short + short,
    restored: bonus.restored + restored
  }))
}

/** Part of an amount that a converted bonus may still bring to the real wallet. */
const withinCap = ({ converted, late, maxConversion }: PlayerBonus, amount: number): number =>
  maxConversion === 0 ? amount : Math.min(amount, Math.max(0, maxConversion - converted - late))

type CreditType = "casino_win" | "casino_rollback"

/** Credits money that goes to no wallet: of a bonus that is over, above the cap of a converted one, or what a bonus is short of. */
const creditForfeited = (
  draft: Draft,
  type: CreditType,
  amount: number,
  references: CasinoReferences
): ReadonlyArray<number> =>
  ids(
    draft.post("bonus", type, amount, references),
    draft.post("bonus", "bonus_correction_down", -amount, references)
  )

/**
 * Pays off what the bonus is short of with money that comes to it: credited, and at once taken. Returns the rest, which goes where the bonus is, and
 * the entries.
 */
const payShortage = (
  draft: Draft,
  type: CreditType,
  amount: number,
  bonusId: number,
  references: CasinoReferences
): { readonly rest: number; readonly entryIds: ReadonlyArray<number> } => {
  const paid = Math.min(shortageOf(draft, bonusId), amount)
  if (paid === 0) return { rest: amount, entryIds: [] }
  changeMoney(draft, bonusId, { short: -paid })
  return { rest: amount - paid, entryIds: creditForfeited(draft, type, paid, references) }
}

/** Credits money of a bonus, less what it is short of. The bonus must be known. */
export const creditBonus = (
  draft: Draft,
  type: CreditType,
  amount: number,
  bonusId: number | null,
  about: CasinoReferences
): Moved => {
  if (amount === 0 || bonusId === null || bonusStatusOf(draft, bonusId) === undefined) return noMovement
  const references = { ...about, playerBonusId: bonusId }
  const { entryIds, rest } = payShortage(draft, type, amount, bonusId, references)
  const moved = rest === 0 ? noMovement : creditRest(draft, type, rest, bonusId, references)
  return entryIds.length === 0 ? moved : { ...moved, entryIds: [...moved.entryIds, ...entryIds] }
}

const creditRest = (
  draft: Draft,
  type: CreditType,
  amount: number,
  bonusId: number,
  references: CasinoReferences
): Moved => {
  const bonus = draft.endedBonus(bonusId)
  switch (bonusStatusOf(draft, bonusId)) {
    case "running":
      return { entryIds: ids(draft.post("bonus", type, amount, references)), real: 0, bonus: amount }
    case "waiting": {
      const entryIds = ids(draft.post("bonus", type, amount, references))
      draft.post("bonus", "bonus_correction_down", -amount, { playerBonusId: bonusId })
      changeMoney(draft, bonusId, { held: amount })
      return { entryIds, real: 0, bonus: amount }
    }
    case "converted": {
      if (bonus === undefined || bonus === null) return noMovement
      const real = withinCap(bonus, amount)
      changeMoney(draft, bonusId, { late: real, forfeited: amount - real })
      const toReal = draft.post("real", type, real, references)
      return {
        entryIds: [...ids(toReal), ...creditForfeited(draft, type, amount - real, references)],
        real,
        bonus: 0
      }
    }
    case "lost": {
      if (bonus === undefined || bonus === null) return noMovement
      const fate = fateOf(draft, bonus)
      makeRoom(draft, fate)
      const credit = draft.post("bonus", type, amount, references)
      const forfeit = resume(draft, bonus, fate, amount)
      return { entryIds: ids(credit, forfeit), real: 0, bonus: forfeit === undefined ? amount : 0 }
    }
    case "over":
    case undefined:
      changeMoney(draft, bonusId, { forfeited: amount })
      return { entryIds: creditForfeited(draft, type, amount, references), real: 0, bonus: 0 }
  }
}

/** Where a debit of a bonus takes its money from; `lent` is what nothing covers. */
const sourcesOf = (draft: Draft, bonusId: number, total: number) => {
  if (bonusStatusOf(draft, bonusId) === "running") {
    return { forfeited: 0, held: 0, given: 0, lent: Math.max(0, total - draft.bonus) }
  }
  const bonus = draft.endedBonus(bonusId)
  // what the cap had forfeited would not have been won: the real wallet pays the rest, as far as it was given any
  const forfeited = Math.min(total, bonus?.forfeited ?? 0)
  const held = Math.min(total, heldBy(draft, bonusId))
  const isConverted = bonus?.result === "converted"
  const given = isConverted ? Math.min(total - forfeited, Math.max(0, bonus.converted + bonus.late)) : 0
  return { forfeited, held, given, lent: total - held - forfeited - given }
}

/** Whether a debit of real money and of money of a bonus would be covered: none of it lent or owed. The bonus must be known. */
export const coversDebit = (draft: Draft, real: number, bonus: number, bonusId: number | null): boolean => {
  const { given, lent } = bonusId === null ? { given: 0, lent: bonus } : sourcesOf(draft, bonusId, bonus)
  const fromReal = real + given
  return lent === 0 && (fromReal === 0 || fromReal <= draft.real)
}

/**
 * Debits what a message had credited: `amount` that went to a wallet, and `forfeited` that went to none. All of it leaves the bonus, from where its money
 * is now; what that cannot pay, because it was spent meanwhile, is lent, and the bonus is short of it. It never becomes a debt of the player. The bonus
 * must be known.
 */
export const debitBonus = (
  draft: Draft,
  type: "casino_bet" | "casino_rollback",
  { amount, forfeited }: { readonly amount: number; readonly forfeited: number },
  bonusId: number | null,
  about: CasinoReferences
): Moved => {
  const total = amount + forfeited
  const status = bonusId === null ? undefined : bonusStatusOf(draft, bonusId)
  if (total === 0 || bonusId === null || status === undefined) return noMovement
  const own = { playerBonusId: bonusId }
  const references = { ...about, ...own }
  const { given, held, lent, ...sources } = sourcesOf(draft, bonusId, total)
  const fromReal = Math.min(given, amount)
  if (status === "running") {
    draft.post("bonus", "bonus_correction_up", lent, own)
    // credited again below, so that the message's entries sum to nothing
    draft.post("bonus", "bonus_correction_down", -forfeited, own)
    changeMoney(draft, bonusId, { restored: lent + forfeited, short: lent })
  } else {
    draft.post("real", "correction_down", fromReal - given, own)
    draft.post("bonus", "bonus_correction_up", amount - fromReal, own)
    changeMoney(draft, bonusId, {
      held: -held,
      forfeited: -sources.forfeited,
      late: -given,
      restored: total - fromReal,
      short: lent
    })
  }
  const entryIds = [
    ...ids(
      draft.post("real", type, -fromReal, references),
      draft.post("bonus", type, fromReal - amount, references)
    ),
    ...ids(
      draft.post("bonus", "bonus_correction_up", forfeited, references),
      draft.post("bonus", type, -forfeited, references)
    )
  ]
  return { entryIds, real: 0 - fromReal, bonus: fromReal - amount }
}

/** Changes the progress of a bonus; of one that expired or was cancelled, no round is counted any more. */
const changeProgress = (
  draft: Draft,
  bonusId: number,
  change: (progress: { readonly wagered: number; readonly openRounds: number }) => {
    readonly wagered: number
    readonly openRounds: number
  }
): void => {
  const running = draft.activeBonus
  if (running?.id === bonusId) {
    draft.activeBonus = { ...running, ...change(running) }
    return
  }
  changeWaiting(draft, bonusId, (left) => ({ ...left, ...change(left) }))
  changeEnded(draft, bonusId, (bonus) => {
    const { openRounds, wagered } = change(bonus)
    return { ...bonus, wagered, openRounds: bonusStatusOf(draft, bonusId) === "over" ? bonus.openRounds : openRounds }
  })
}

/** Keeps the running bonus from being lost until then: a stake of it has no open round that would tell of its loss. */
export const holdUntil = (draft: Draft, at: number): void => {
  const bonus = draft.activeBonus
  if (bonus !== null) draft.activeBonus = { ...bonus, openUntil: Math.max(bonus.openUntil ?? 0, at) }
}

/** The inverse of {@link holdUntil}, for a bonus that runs or waits: no such stake can be won any more. Returns whether it was held. */
export const releaseHold = (draft: Draft, bonusId: number | null): boolean => {
  if (bonusId === null) return false
  const bonus = draft.activeBonus
  if (bonus?.id === bonusId) {
    draft.activeBonus = { ...bonus, openUntil: null }
    return bonus.openUntil !== null
  }
  const waiting = draft.pendingBonuses.find(({ id }) => id === bonusId)?.interrupted ?? null
  if (waiting === null || waiting.openUntil === null) return false
  changeWaiting(draft, bonusId, (left) => ({ ...left, openUntil: null }))
  return true
}

/** Adjusts the number of open rounds of a bonus. */
export const countOpenRound = (draft: Draft, bonusId: number, difference: 1 | -1): void =>
  changeProgress(draft, bonusId, ({ openRounds, wagered }) => ({ wagered, openRounds: openRounds + difference }))

/** Subtracts a bet's wagered amount from its bonus; undoes the conversion when the requirement is no longer met. */
export const takeBackWager = (draft: Draft, bonusId: number, amount: number): void => {
  if (amount === 0) return
  addWager(draft, bonusId, -amount)
  const bonus = draft.endedBonus(bonusId)
  if (bonus?.result === "converted" && bonus.wagered < bonus.wagerRequirement) undoConversion(draft, bonus)
}

/**
 * Adds a reinstated bet's wagered amount to its bonus again. One that was lost or expired meanwhile is converted when that meets the requirement: every bet
 * that counts was placed while it ran.
 */
export const restoreWager = (draft: Draft, bonusId: number, amount: number): void => {
  if (amount === 0) return
  addWager(draft, bonusId, amount)
  const bonus = draft.endedBonus(bonusId)
  const isOver = bonus?.result === "lost" || bonus?.result === "expired"
  if (isOver && bonus.wagered >= bonus.wagerRequirement) draft.convert(bonus, bonus.forfeited)
}

const addWager = (draft: Draft, bonusId: number, amount: number): void =>
  changeProgress(draft, bonusId, ({ openRounds, wagered }) => ({ openRounds, wagered: wagered + amount }))

/** Moves all that the real wallet received from a bonus back to the bonus, even if already spent, and all that the cap had forfeited. */
const undoConversion = (draft: Draft, bonus: PlayerBonus): void => {
  const fate = fateOf(draft, bonus)
  makeRoom(draft, fate)
  const references = { playerBonusId: bonus.id }
  draft.post("real", "bonus_conversion", -bonus.converted, references)
  draft.post("bonus", "bonus_conversion", bonus.converted, references)
  draft.post("real", bonus.late > 0 ? "correction_down" : "correction_up", -bonus.late, references)
  // where the real wallet once gave back more than it had been given, the bonus is short of that
  const due = bonus.forfeited + bonus.late
  const more = Math.max(due, -bonus.converted)
  draft.post("bonus", more > 0 ? "bonus_correction_up" : "bonus_correction_down", more, references)
  const undone = {
    ...bonus,
    converted: 0,
    forfeited: 0,
    late: 0,
    short: bonus.short + more - due,
    restored: bonus.restored + Math.max(more, 0)
  }
  resume(draft, undone, fate, bonus.converted + more)
}

/** Where a bonus goes when its end is undone. */
type Fate = "expired" | "cancelled" | "runs" | "displaces" | "waits"

/** Whether the account's state would have cancelled a running bonus: a lock, a closed account (it may be opened again), a time-out and a restriction keep it. */
const isCancelling = (player: Player, now: number): boolean => {
  const exclusion = activeExclusion(player, now)
  return exclusion !== null && exclusion.type !== "time_out"
}

const fateOf = (draft: Draft, { expiresAt, id }: PlayerBonus): Fate => {
  if (expiresAt === null || draft.now >= expiresAt) return "expired"
  const running = draft.activeBonus
  const mayRun = mayReceiveBonuses(draft.player, draft.now)
  if (running === null) return mayRun ? "runs" : isCancelling(draft.player, draft.now) ? "cancelled" : "waits"
  return mayRun && running.id > id && isUntouched(running, draft.bonus) ? "displaces" : "waits"
}

/** Before any money of the bonus comes: the wallet holds nothing else once it runs. */
const makeRoom = (draft: Draft, fate: Fate): void => {
  if (fate === "displaces") draft.displace()
  else if (fate === "runs") draft.forfeitLoose()
}

/** Gives a bonus its place again, with `own` of the bonus wallet. Returns the entry that forfeits it, if that is its fate. */
const resume = (draft: Draft, bonus: PlayerBonus, fate: Fate, own: number): number | undefined => {
  const { expiresAt, id, openRounds, openUntil, restored, short, startedAt, wagered } = bonus
  const references = { playerBonusId: id }
  if (fate === "expired" || fate === "cancelled" || startedAt === null || expiresAt === null) {
    const forfeit = draft.post("bonus", "bonus_correction_down", -own, references)
    const result = fate === "cancelled" ? fate : "expired"
    draft.finish({ ...bonus, result, forfeited: bonus.forfeited + own, finishedAt: draft.now })
    return forfeit
  }
  const running = { ...termsOf(bonus), wagered, openRounds, openUntil, restored, short, startedAt, expiresAt }
  if (fate === "waits") {
    const waiting = interrupted(running, own, expiresAt - draft.now)
    draft.post("bonus", "bonus_correction_down", -own, references)
    draft.enqueue(waiting)
    draft.emitBonus("bonus.granted", asPending(waiting))
    return undefined
  }
  draft.activeBonus = running
  draft.emitBonus("bonus.granted", asActivated(running))
  return undefined
}
