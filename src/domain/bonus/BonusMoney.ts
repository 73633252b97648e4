/**
 * Money that comes to or leaves a bonus, whatever its state, and the undoing of its end (`docs/decisions/0026-undone-ends.md`). Bets, wins and
 * rollbacks name an amount and a bonus; only these functions know where the money of a bonus is.
 */
import {
  asActivated,
  asPending,
  dayMs,
  type Interruption,
  type PendingBonus,
  type PlayerBonus,
  termsOf
} from "./Bonus.ts"
import { type CasinoReferences, type Draft, mayReceiveBonuses } from "../Draft.ts"
import { activeExclusion, type Player } from "../player/Player.ts"

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

const posted = (...ids: ReadonlyArray<number | undefined>): ReadonlyArray<number> =>
  ids.filter((id) => id !== undefined)

/** Changes what an interrupted bonus left, if that bonus waits. */
const changeWaiting = (draft: Draft, bonusId: number, change: (left: Interruption) => Interruption): void => {
  const index = draft.pendingBonuses.findIndex(({ id }) => id === bonusId)
  const bonus = draft.pendingBonuses[index]
  if (bonus === undefined || bonus.interrupted === null) return
  const changed = { ...bonus, interrupted: change(bonus.interrupted) }
  draft.pendingBonuses = draft.pendingBonuses.with(index, changed)
  draft.writeBonus(asPending(changed))
}

const heldBy = (draft: Draft, bonusId: number): number =>
  draft.pendingBonuses.find(({ id }) => id === bonusId)?.interrupted?.held ?? 0

const changeEnded = (draft: Draft, bonusId: number, change: (bonus: PlayerBonus) => PlayerBonus): void => {
  const bonus = draft.endedBonus(bonusId)
  if (bonus !== undefined && bonus !== null) draft.writeBonus(change(bonus))
}

/** Part of an amount that a converted bonus may still bring to the real wallet. */
const withinCap = ({ converted, late, maxConversion }: PlayerBonus, amount: number): number =>
  maxConversion === 0 ? amount : Math.min(amount, Math.max(0, maxConversion - converted - late))

/** Credits money of a bonus that is over, or the part above the cap of a converted one: forfeited at once. */
const creditForfeited = (
  draft: Draft,
  type: "casino_win" | "casino_rollback",
  amount: number,
  references: CasinoReferences
): ReadonlyArray<number> =>
  posted(
    draft.post("bonus", type, amount, references),
    draft.post("bonus", "bonus_correction_down", -amount, references)
  )

/** Credits money of a bonus. The bonus must be known. */
export const creditBonus = (
  draft: Draft,
  type: "casino_win" | "casino_rollback",
  amount: number,
  bonusId: number | null,
  about: CasinoReferences
): Moved => {
  if (amount === 0 || bonusId === null) return noMovement
  const references = { ...about, playerBonusId: bonusId }
  const bonus = draft.endedBonus(bonusId)
  switch (bonusStatusOf(draft, bonusId)) {
    case "running":
      return { entryIds: posted(draft.post("bonus", type, amount, references)), real: 0, bonus: amount }
    case "waiting": {
      const entryIds = posted(draft.post("bonus", type, amount, references))
      draft.post("bonus", "bonus_correction_down", -amount, { playerBonusId: bonusId })
      changeWaiting(draft, bonusId, (left) => ({ ...left, held: left.held + amount }))
      return { entryIds, real: 0, bonus: amount }
    }
    case "converted": {
      if (bonus === undefined || bonus === null) return noMovement
      const real = withinCap(bonus, amount)
      draft.writeBonus({ ...bonus, late: bonus.late + real, forfeited: bonus.forfeited + amount - real })
      const toReal = draft.post("real", type, real, references)
      return {
        entryIds: [...posted(toReal), ...creditForfeited(draft, type, amount - real, references)],
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
      return { entryIds: posted(credit, forfeit), real: 0, bonus: forfeit === undefined ? amount : 0 }
    }
    case "over":
    case undefined:
      changeEnded(draft, bonusId, (ended) => ({ ...ended, forfeited: ended.forfeited + amount }))
      return { entryIds: creditForfeited(draft, type, amount, references), real: 0, bonus: 0 }
  }
}

/**
 * Debits what a message had credited: `amount` that went to a wallet, and `forfeited` that went to none. Bonus money spent meanwhile does not become a
 * debt; once the bonus was converted the real wallet pays what exceeds the forfeited part. The bonus must be known.
 */
export const debitBonus = (
  draft: Draft,
  type: "casino_bet" | "casino_rollback",
  { amount, forfeited }: { readonly amount: number; readonly forfeited: number },
  bonusId: number | null,
  about: CasinoReferences
): Moved => {
  if (bonusId === null) return noMovement
  if (forfeited === 0) return debitMoved(draft, type, amount, bonusId, about)
  // of a converted bonus the message's own forfeited part first: only what is left of all that was forfeited spares the real wallet
  const isConverted = bonusStatusOf(draft, bonusId) === "converted"
  const before = isConverted ? debitForfeited(draft, type, forfeited, bonusId, about) : []
  const moved = debitMoved(draft, type, amount, bonusId, about)
  const after = isConverted ? [] : debitForfeited(draft, type, forfeited, bonusId, about)
  return { ...moved, entryIds: [...moved.entryIds, ...before, ...after] }
}

const debitMoved = (
  draft: Draft,
  type: "casino_bet" | "casino_rollback",
  amount: number,
  bonusId: number,
  about: CasinoReferences
): Moved => {
  const references = { ...about, playerBonusId: bonusId }
  switch (amount === 0 ? undefined : bonusStatusOf(draft, bonusId)) {
    case "running": {
      const left = Math.min(draft.bonus, amount)
      return { entryIds: posted(draft.post("bonus", type, -left, references)), real: 0, bonus: 0 - left }
    }
    case "waiting": {
      const left = Math.min(heldBy(draft, bonusId), amount)
      changeWaiting(draft, bonusId, (waits) => ({ ...waits, held: waits.held - left, restored: waits.restored + left }))
      draft.post("bonus", "bonus_correction_up", left, { playerBonusId: bonusId })
      return { entryIds: posted(draft.post("bonus", type, -left, references)), real: 0, bonus: 0 - left }
    }
    case "converted": {
      // what the cap had forfeited would not have been won: the real wallet pays the rest
      const undone = Math.min(draft.endedBonus(bonusId)?.forfeited ?? 0, amount)
      const rest = amount - undone
      changeEnded(draft, bonusId, (bonus) => ({
        ...bonus,
        forfeited: bonus.forfeited - undone,
        late: bonus.late - rest,
        restored: bonus.restored + undone
      }))
      return {
        entryIds: posted(
          draft.post("bonus", "bonus_correction_up", undone, references),
          draft.post("bonus", type, -undone, references),
          draft.post("real", type, -rest, references)
        ),
        real: 0 - rest,
        bonus: 0
      }
    }
    case "lost":
    case "over":
    case undefined:
      return noMovement
  }
}

/**
 * Debits money that was credited and forfeited at once: it is credited again first, so that reports count no such credit. Where an end was undone since,
 * the bonus had got it back, and it is taken from there.
 */
const debitForfeited = (
  draft: Draft,
  type: "casino_bet" | "casino_rollback",
  amount: number,
  bonusId: number,
  about: CasinoReferences
): ReadonlyArray<number> => {
  const references = { ...about, playerBonusId: bonusId }
  let undone = amount
  const status = bonusStatusOf(draft, bonusId)
  if (status === "running" && draft.activeBonus !== null) {
    undone = Math.min(draft.bonus, amount)
    draft.post("bonus", "bonus_correction_down", -undone, { playerBonusId: bonusId })
    draft.activeBonus = { ...draft.activeBonus, restored: draft.activeBonus.restored + undone }
  } else if (status === "waiting") {
    undone = Math.min(heldBy(draft, bonusId), amount)
    changeWaiting(draft, bonusId, (left) => ({
      ...left,
      held: left.held - undone,
      restored: left.restored + undone
    }))
  } else if (status === "lost") {
    return []
  } else {
    const bonus = draft.endedBonus(bonusId)
    const rest = bonus?.result === "converted" ? Math.max(0, amount - bonus.forfeited) : 0
    draft.post("real", "correction_down", -rest, { playerBonusId: bonusId })
    changeEnded(draft, bonusId, (ended) => ({
      ...ended,
      forfeited: Math.max(0, ended.forfeited - amount),
      late: ended.late - rest,
      restored: ended.restored + amount
    }))
  }
  return posted(
    draft.post("bonus", "bonus_correction_up", undone, references),
    draft.post("bonus", type, -undone, references)
  )
}

/** Changes the progress of a bonus that runs, waits, or ended in a way that may be undone. */
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
  const bonus = draft.endedBonus(bonusId)
  if (bonus?.result === "converted" || bonus?.result === "lost") draft.writeBonus({ ...bonus, ...change(bonus) })
}

/** Keeps the running bonus from being lost until then: a stake of it has no open round that would tell of its loss. */
export const holdUntil = (draft: Draft, at: number): void => {
  const bonus = draft.activeBonus
  if (bonus !== null) draft.activeBonus = { ...bonus, openUntil: Math.max(bonus.openUntil ?? 0, at) }
}

/** The inverse of {@link holdUntil}, if the bonus runs: no such stake can be won any more. */
export const releaseHold = (draft: Draft, bonusId: number | null): void => {
  const bonus = draft.activeBonus
  if (bonus !== null && bonus.id === bonusId) draft.activeBonus = { ...bonus, openUntil: null }
}

/** Adjusts the number of open rounds of a bonus. */
export const countOpenRound = (draft: Draft, bonusId: number, difference: 1 | -1): void =>
  changeProgress(draft, bonusId, ({ openRounds, wagered }) => ({ wagered, openRounds: openRounds + difference }))

/** Subtracts a bet's wagered amount from its bonus; undoes the conversion when the requirement is no longer met. */
export const takeBackWager = (draft: Draft, bonusId: number, amount: number): void => {
  if (amount === 0) return
  restoreWager(draft, bonusId, -amount)
  if (bonusStatusOf(draft, bonusId) !== "converted") return
  const bonus = draft.endedBonus(bonusId)
  if (bonus !== undefined && bonus !== null && bonus.wagered < bonus.wagerRequirement) undoConversion(draft, bonus)
}

/** Adds a reinstated bet's wagered amount to its bonus again. */
export const restoreWager = (draft: Draft, bonusId: number, amount: number): void => {
  if (amount === 0) return
  changeProgress(draft, bonusId, ({ openRounds, wagered }) => ({ openRounds, wagered: wagered + amount }))
}

/** Moves all that the real wallet received from a bonus back to the bonus, even if already spent, and all that the cap had forfeited. */
const undoConversion = (draft: Draft, bonus: PlayerBonus): void => {
  const fate = fateOf(draft, bonus)
  makeRoom(draft, fate)
  const references = { playerBonusId: bonus.id }
  draft.post("real", "bonus_conversion", -bonus.converted, references)
  draft.post("bonus", "bonus_conversion", bonus.converted, references)
  draft.post("real", bonus.late > 0 ? "correction_down" : "correction_up", -bonus.late, references)
  // a bonus balance is never negative: a win rolled back later may exceed what is left
  const more = Math.max(bonus.forfeited + bonus.late, -bonus.converted)
  draft.post("bonus", more > 0 ? "bonus_correction_up" : "bonus_correction_down", more, references)
  const undone = { ...bonus, converted: 0, forfeited: 0, late: 0, restored: bonus.restored + Math.max(more, 0) }
  resume(draft, undone, fate, bonus.converted + more)
}

/** Where a bonus goes when its end is undone. */
type Fate = "expired" | "cancelled" | "runs" | "displaces" | "waits"

/** Whether the account's state would have cancelled a running bonus: a lock, a time-out and a restriction keep it. */
const isCancelling = (player: Player, now: number): boolean => {
  const exclusion = activeExclusion(player, now)
  return player.status === "closed" || (exclusion !== null && exclusion.type !== "time_out")
}

const fateOf = (draft: Draft, { expiresAt, id }: PlayerBonus): Fate => {
  if (expiresAt === null || draft.now >= expiresAt) return "expired"
  const running = draft.activeBonus
  const mayRun = mayReceiveBonuses(draft.player, draft.now)
  if (running === null) return mayRun ? "runs" : isCancelling(draft.player, draft.now) ? "cancelled" : "waits"
  const isUntouched = running.wagered === 0 && running.openRounds <= 0 && running.openUntil === null &&
    draft.bonus === running.amount
  return mayRun && running.id > id && isUntouched ? "displaces" : "waits"
}

/** Adds a bonus to those that wait, in the order of their grants. */
const enqueue = (draft: Draft, bonus: PendingBonus): void => {
  draft.pendingBonuses = [...draft.pendingBonuses, bonus].sort((a, b) => a.id - b.id)
  draft.writeBonus(asPending(bonus))
}

/** Makes the running bonus, of which nothing was played, wait again: with its credit and all of its time. */
const displace = (draft: Draft): void => {
  const bonus = draft.activeBonus
  if (bonus === null) return
  const { id, openRounds, openUntil, restored, startedAt, validDays, wagered } = bonus
  const held = draft.bonus
  draft.post("bonus", "bonus_correction_down", -held, { playerBonusId: id })
  draft.activeBonus = null
  const progress = { wagered, openRounds, openUntil, restored, startedAt }
  enqueue(draft, { ...termsOf(bonus), interrupted: { ...progress, held, remainingMs: validDays * dayMs } })
}

/** Before any money of the bonus comes: the wallet holds nothing else once it runs. */
const makeRoom = (draft: Draft, fate: Fate): void => {
  if (fate === "displaces") displace(draft)
  else if (fate === "runs") draft.forfeitLoose()
}

/** Gives a bonus its place again, with `own` of the bonus wallet. Returns the entry that forfeits it, if that is its fate. */
const resume = (draft: Draft, bonus: PlayerBonus, fate: Fate, own: number): number | undefined => {
  const { expiresAt, id, openRounds, openUntil, restored, startedAt, wagered } = bonus
  const references = { playerBonusId: id }
  if (fate === "expired" || fate === "cancelled" || startedAt === null || expiresAt === null) {
    const forfeit = draft.post("bonus", "bonus_correction_down", -own, references)
    const result = fate === "cancelled" ? fate : "expired"
    draft.finish({ ...bonus, result, forfeited: bonus.forfeited + own, finishedAt: draft.now })
    return forfeit
  }
  const progress = { wagered, openRounds, openUntil, restored, startedAt }
  if (fate === "waits") {
    const waiting: PendingBonus = {
      ...termsOf(bonus),
      interrupted: { ...progress, held: own, remainingMs: expiresAt - draft.now }
    }
    draft.post("bonus", "bonus_correction_down", -own, references)
    enqueue(draft, waiting)
    draft.emitBonus("bonus.granted", asPending(waiting))
    return undefined
  }
  draft.activeBonus = { ...termsOf(bonus), ...progress, expiresAt }
  draft.emitBonus("bonus.granted", asActivated(draft.activeBonus))
  return undefined
}
