/**
 * Admission of a player by the national registers of excluded players: refused while a register excludes the player and, where the jurisdiction
 * requires an answer, also while there is none.
 */
import { after } from "../jurisdiction/Duration.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { type Refusal, refuse } from "../Refusal.ts"
import type { Player } from "../state/Player.ts"
import {
  isRegisterExcluded,
  type RegisterEvent,
  type RegisterKind,
  standingsOf,
  standingWith
} from "../register/Register.ts"

/** The registers that were asked for this command, each with whether it gave a proper answer. */
export type AskedRegisters = ReadonlyMap<RegisterKind, boolean>

export const nobodyAsked: AskedRegisters = new Map()

/** Refusal of what needs an answer of registers first: the caller asks them, and decides again. Unasked, the question is answered as unavailable. */
interface RegisterQuestion extends Refusal<"TRY_AGAIN"> {
  readonly asks: ReadonlyArray<RegisterKind>
}

/** The registers that a refusal wants asked; undefined for any other refusal. */
export const questionIn = (error: unknown): ReadonlyArray<RegisterKind> | undefined =>
  typeof error === "object" && error !== null && "asks" in error && Array.isArray(error.asks) ? error.asks : undefined

export const registerUnavailable = refuse(
  "TRY_AGAIN",
  "A register of excluded players does not answer, and without its answer the player is not admitted. Send the same request again in a moment.",
  { reason: "register_unavailable", retry: "same_request" }
)

const asking = (asks: ReadonlyArray<RegisterKind>): RegisterQuestion => ({ ...registerUnavailable, asks })

const excluded = refuse("PLAYER_RESTRICTED", "A national register excludes the player.", {
  reason: "register_excluded"
})

export type RegisterRefusal = Refusal<"PLAYER_RESTRICTED"> | Refusal<"TRY_AGAIN">

/** Refusal of whatever an exclusion by a register stops; undefined when none excludes the player. */
export const refuseExcluded = ({ registers }: Pick<Player, "registers">): Refusal<"PLAYER_RESTRICTED"> | undefined =>
  isRegisterExcluded(registers) ? excluded : undefined

/** A moment at which registers are asked, with those that were. */
export interface RegisterMoment {
  readonly event: RegisterEvent
  readonly asked: AskedRegisters
}

/**
 * Registers that exclude the player and that the rules do not have asked at a sign-in, such as one of a jurisdiction left. They are asked there all the
 * same: only their own answer ends the exclusion.
 */
const unnamedExcluding = ({ registers, rules }: Pick<Player, "registers" | "rules">): ReadonlyArray<RegisterKind> =>
  standingsOf(registers).filter(({ kind, verdict }) =>
    verdict === "excluded" && !rules.registers.some((one) => one.kind === kind && one.on.login !== undefined)
  ).map(({ kind }) => kind)

/**
 * Refusal by registers at a moment. A stored good answer younger than the event's `max_age` counts instead of a question; one that excludes does not:
 * the next proper answer is what ends it. Without an answer the event's policy decides: `last_good` needs an earlier good one that is not too old.
 */
export const refuseByRegisters = (
  player: Pick<Player, "registers" | "rules">,
  { asked, event }: RegisterMoment,
  now: number
): RegisterRefusal | undefined => {
  const asks: Array<RegisterKind> = []
  let isUnanswered = false
  for (const { kind, last_good_max_age: lastGoodAge, on } of player.rules.registers) {
    const use = on[event]
    if (use === undefined || asked.get(kind) === true) continue
    const last = standingWith(player.registers, kind)
    const good = last?.verdict === "excluded" ? undefined : last
    if (asked.has(kind)) {
      const mayGoOn = use.unavailable === "allow" || use.unavailable === "last_good" && good !== undefined &&
          (lastGoodAge === null || now < after(lastGoodAge, good.at))
      if (!mayGoOn) isUnanswered = true
    } else if (good === undefined || now >= after(use.max_age, good.at)) asks.push(kind)
  }
  if (event === "login") asks.push(...unnamedExcluding(player).filter((kind) => !asked.has(kind)))
  if (asks.length > 0) return asking(asks)
  return refuseExcluded(player) ?? (isUnanswered ? registerUnavailable : undefined)
}

/** Whether the rules have a register asked at a moment. */
export const asksAt = ({ registers }: Pick<Rules, "registers">, event: RegisterEvent): boolean =>
  registers.some(({ on }) => on[event] !== undefined)
