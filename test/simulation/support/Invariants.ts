/**
 * Invariants of every run: `docs/architecture.md`, "Invariants", and the rules of limits and exclusions, each checked from the
 * final state of the run and independent of the service's code.
 */
import { checkAnswers } from "./AnswerInvariants.ts"
import type { Report } from "../../kit/LedgerInvariants.ts"
import { type Violation, readBooks, type Remains } from "./Books.ts"
import { checkLedger } from "./LedgerInvariants.ts"
import { checkLicence } from "./LicenceInvariants.ts"
import { checkLimits } from "./LimitInvariants.ts"

/** Maximum difference in ms between the time that a change is dated with and that of its commit. */
const maxWaitedMs = 60_000

/** What nodes write is dated with the world's time, whatever their clocks say. */
const checkTimes = ({ database, plan }: Remains, report: Report): void => {
  if (plan.topology !== "nodes") return
  for (const { at, by, changes } of database.history) {
    for (const { createdAt, transactionId } of changes.flatMap(({ transactions }) => transactions)) {
      if (Math.abs(createdAt - at) <= maxWaitedMs) continue
      report("what is written is dated right", `${transactionId} by ${by}: ${createdAt - at} ms off`)
    }
  }
}

/** Every violation. */
export const check = (remains: Remains): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const report = (law: string, text: string): void => {
    violations.push({ law, text })
  }
  if (!remains.hasEnded) report("everything ends", "the world never came to rest")
  for (const defect of [...remains.network.defects, ...remains.cluster.failures]) report("nothing dies", defect)
  for (const owners of remains.cluster.doubleOwners().slice(0, 5)) report("a player has one owner", owners)
  checkTimes(remains, report)
  const books = readBooks(remains)
  checkLedger(remains, books, report)
  checkLimits(remains, books, report)
  checkLicence(remains, books, report)
  checkAnswers(remains, books, report)
  return violations
}
