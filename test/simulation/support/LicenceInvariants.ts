/** Invariants of players under a profile with a register, recomputed from the commits and from what the plan had happen outside. */
import type { Report } from "../../kit/LedgerInvariants.ts"
import type { Change } from "../../../src/domain/state/Change.ts"
import type { RegisterCheck } from "../../../src/domain/state/RegisterCheck.ts"
import type { Books, Remains } from "./Books.ts"
import { highestStake, maxAgeOfDepositMs, maxAgeOfPlayMs, toldWithinMs } from "./Licence.ts"
import type { Plan } from "./Plan.ts"

/** Difference in ms between the clocks of services, and time in ms of a request between its answer by the register and its decision. */
const clocksApartMs = 2000
const decidedWithinMs = 60_000

type Answer = Pick<RegisterCheck, "verdict" | "answeredAt">

/** Last proper answer after a check: an older one counts only where it excludes. */
const answerAfter = (last: Answer | undefined, { answeredAt, verdict }: Answer): Answer | undefined =>
  verdict === "unavailable" || (verdict !== "excluded" && last !== undefined && last.answeredAt > answeredAt)
    ? last
    : { verdict, answeredAt }

/** Checks a player's change against the last answer before it. */
const checkChange = (plan: Plan, name: string, last: Answer | undefined, change: Change, report: Report): void => {
  const letIn = (what: string, at: number, maxAgeMs: number): void => {
    if (last === undefined || at - last.answeredAt > maxAgeMs + decidedWithinMs) {
      report(
        "nobody is let in without a register's answer",
        `${name}: ${what}, last answer ${last?.answeredAt ?? "never"}`
      )
    }
    if (last?.verdict === "excluded") report("who a register excludes is not let in", `${name}: ${what}`)
  }
  for (const { id, openedAt } of change.sessions) letIn(`launch ${id}`, openedAt, maxAgeOfPlayMs)
  for (const { isNew, payment: { amount, createdAt, id, type } } of change.payments) {
    if (isNew && type === "deposit") letIn(`deposit ${id} of ${amount}`, createdAt, maxAgeOfDepositMs)
  }
  for (const { amount, createdAt, kind, status, transactionId } of change.transactions) {
    if (kind !== "bet" || status !== "processed") continue
    if (last?.verdict === "excluded") report("who a register excludes is not let in", `${name}: bet ${transactionId}`)
    const highest = Math.max(
      ...[createdAt, createdAt - clocksApartMs].map((at) => highestStake(plan, at) ?? Number.POSITIVE_INFINITY)
    )
    if (amount > highest) {
      report(
        "no stake above the cap in force",
        `${name}: bet ${transactionId} of ${amount}, cap of ${highest} within ${toldWithinMs} ms`
      )
    }
  }
}

export const checkLicence = ({ plan }: Remains, { history }: Books, report: Report): void => {
  if (plan.licence === null) return
  for (const [playerId, commits] of history) {
    let last: Answer | undefined
    for (const change of commits.flatMap(({ changes }) => changes)) {
      for (const check of change.registerChecks) last = answerAfter(last, check)
      checkChange(plan, `player ${playerId}`, last, change, report)
    }
  }
}
