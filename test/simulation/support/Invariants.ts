/**
 * Invariants of every run: `docs/architecture.md`, "Invariants", and the rules of limits and exclusions, each checked from the
 * final state of the run and independent of the service's code.
 */
import { checkAnswers } from "./AnswerInvariants.ts"
import { type Violation, readBooks, type Remains } from "./Books.ts"
import { checkLedger } from "./LedgerInvariants.ts"
import { checkLimits } from "./LimitInvariants.ts"

/** Every violation. */
export const check = (remains: Remains): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const report = (law: string, text: string): void => {
    violations.push({ law, text })
  }
  if (!remains.hasEnded) report("everything ends", "the world never came to rest")
  for (const defect of [...remains.network.defects, ...remains.cluster.failures]) report("nothing dies", defect)
  for (const owners of remains.cluster.doubleOwners().slice(0, 5)) report("a player has one owner", owners)
  const books = readBooks(remains)
  checkLedger(remains, books, report)
  checkLimits(remains, books, report)
  checkAnswers(remains, books, report)
  return violations
}
