/**
 * A player's bonuses that wait for the running one to end, among them bonuses that ran before and were interrupted
 * (`docs/decisions/0026-undone-ends.md`).
 */
import { isBalance } from "../Money.ts"
import { isRegisterExcluded } from "../register/Register.ts"
import { activeExclusion, type Player } from "./Player.ts"
import { type ActiveBonus, asPending, type PendingBonus, type PlayerBonus, termsOf } from "./Bonus.ts"

/** True when the player may receive bonus money at `now`: active account, not excluded and not restricted from bonuses. */
export const mayReceiveBonuses = (player: Player, now: number): boolean =>
  player.status === "active" && !player.restrictions.excludedFromBonuses && activeExclusion(player, now) === null &&
  !isRegisterExcluded(player.registers)

/** True when time has ended the running bonus or one that waits by `now`, or none runs and a pending one can be activated. */
export const hasBonusDue = (player: Player, now: number): boolean => {
  const { activeBonus, pendingBonuses } = player
  if (pendingBonuses.some((bonus) => endedWaiting(bonus, now) !== undefined)) return true
  return activeBonus === null
    ? pendingBonuses.length > 0 && mayReceiveBonuses(player, now)
    : now >= Math.min(activeBonus.expiresAt, activeBonus.openUntil ?? Infinity)
}

/** Whether nothing of the running bonus was played: nothing counts towards it, none is at stake, and the wallet holds what was granted. */
export const isUntouched = (running: ActiveBonus, balance: number): boolean =>
  running.wagered === 0 && running.openRounds <= 0 && running.openUntil === null && balance === running.amount

/** Whether an earlier bonus that was interrupted runs in place of the running one, of which nothing is played any more. */
export const takesPlaceOf = ({ id, interrupted }: PendingBonus, running: ActiveBonus, balance: number): boolean =>
  interrupted !== null && id < running.id && isUntouched(running, balance) && isBalance(interrupted.held)

/** A bonus that waits from now on, with the money that is held of it. */
export const interrupted = (
  bonus: ActiveBonus,
  held: number,
  remainingMs: number
): PendingBonus => {
  const { openRounds, openUntil, restored, short, startedAt, wagered } = bonus
  return {
    ...termsOf(bonus),
    interrupted: { wagered, openRounds, openUntil, restored, short, startedAt, held, remainingMs }
  }
}

/** The end of an interrupted bonus that would have ended by now had it run; what is held is still to be paid. Undefined for others. */
export const endedWaiting = (bonus: PendingBonus, now: number): PlayerBonus | undefined => {
  if (bonus.interrupted === null) return undefined
  const { held, openRounds, openUntil, remainingMs, wagered } = bonus.interrupted
  const isMet = wagered >= bonus.wagerRequirement
  const isOpen = openRounds > 0 || (openUntil !== null && now < openUntil)
  if (!isMet && (held !== 0 || isOpen)) return undefined
  return {
    ...asPending(bonus),
    state: "finished",
    result: isMet ? "converted" : "lost",
    held: null,
    remainingMs: null,
    expiresAt: now + remainingMs,
    finishedAt: now
  }
}
