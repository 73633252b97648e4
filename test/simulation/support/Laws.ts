/**
 * What must hold after every run: `docs/architecture.md`, "What always holds", and the rules of limits and exclusions, each looked
 * at from what is left of the run and by other means than those of the service.
 */
import { judgeAnswers } from "./AnswerLaws.ts"
import { type Complaint, readBooks, type Remains } from "./Books.ts"
import { judgeLedger } from "./LedgerLaws.ts"
import { judgeLimits } from "./LimitLaws.ts"

/** Everything that is wrong; nothing when all is well. */
export const judge = (remains: Remains): ReadonlyArray<Complaint> => {
  const complaints: Array<Complaint> = []
  const complain = (law: string, text: string): void => {
    complaints.push({ law, text })
  }
  if (!remains.hasEnded) complain("everything ends", "the world never came to rest")
  for (const defect of [...remains.network.defects, ...remains.cluster.failures]) complain("nothing dies", defect)
  const books = readBooks(remains)
  judgeLedger(remains, books, complain)
  judgeLimits(remains, books, complain)
  judgeAnswers(remains, books, complain)
  return complaints
}
