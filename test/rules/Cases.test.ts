import { assert, describe, it } from "@effect/vitest"
import {
  caseDecisions,
  type CaseMove,
  caseStatuses,
  caseTransitions,
  moved,
  refuseMove,
  refuseReport,
  reportedAs
} from "../../src/domain/case/Case.ts"

// Goal: 9.1, 9.3: a case moves one way and back only from decided, and not past a report that is missing or a question that is open. Method: every
// move of every case, against a table of its own.

const nothingReported = { hasReport: false, hasOpenQuestion: false }
const before = { type: "affordability", status: "decided", decision: "report", amount: null } as const
const refused = (move: CaseMove, reported = nothingReported, from: Parameters<typeof refuseMove>[0] = before) =>
  refuseMove(from, move, reported)?.details

describe("case transitions", () => {
  it("9.1: only open to in progress, in progress to decided, decided to closed, and decided back to in progress are allowed", () => {
    const taken = caseStatuses.flatMap((from) =>
      caseStatuses.filter((to) => {
        const decision = to === "decided" && from !== "decided" ? { decision: "monitor" as const } : {}
        return from !== to &&
          refuseMove(
              { type: "aml", status: from, decision: null, amount: null },
              { status: to, ...decision },
              nothingReported
            ) ===
            undefined
      }).map((to) => `${from} ${to}`)
    )
    assert.deepStrictEqual(taken, ["open in_progress", "in_progress decided", "decided in_progress", "decided closed"])
    assert.deepStrictEqual(caseTransitions("closed"), [])
  })

  it("9.1: a decision is required when a case is decided, and removed when it is reopened", () => {
    const inProgress = { ...before, status: "in_progress", decision: null } as const
    assert.deepStrictEqual(refused({ status: "decided" }, nothingReported, inProgress), {
      decision: ["must be given where a case is decided"]
    })
    for (const decision of caseDecisions) {
      const fields = refused({ status: "decided", decision }, nothingReported, inProgress)
      assert.deepStrictEqual(fields === undefined, decision !== "raise", decision)
    }
    const raise = { status: "decided", decision: "raise", amount: 5000 } as const
    assert.isUndefined(refused(raise, nothingReported, inProgress))
    assert.isDefined(refused(raise, nothingReported, { ...inProgress, type: "aml" }))
    const raised = moved(inProgress, raise)
    assert.deepInclude(raised, { status: "decided", decision: "raise", amount: 5000 })
    assert.deepInclude(moved(raised, { status: "in_progress" }), { decision: null, amount: null })
    assert.deepInclude(moved(raised, { status: "closed" }), { decision: "raise", amount: 5000 })
  })

  it("9.3: a case with the decision report can be closed only with a stored report and no open question", () => {
    const close = { status: "closed" } as const
    assert.isDefined(refused(close))
    assert.isDefined(refused(close, { hasReport: true, hasOpenQuestion: true }))
    assert.isUndefined(refused(close, { hasReport: true, hasOpenQuestion: false }))
  })

  it("9.3: an authority's consent is recorded only after it was requested, and consent deemed given (no reply in time) only with a past time", () => {
    const now = Date.parse("2026-11-20T12:00:00Z")
    const fresh = { authority: "FIU", submitted_at: "2026-11-20T10:00:00Z" }
    assert.isDefined(refuseReport(undefined, { ...fresh, consent: "granted" }, now))
    const asked = reportedAs(undefined, { ...fresh, consent_requested: true })
    assert.deepInclude(asked, { consent: "requested", submitted_at: "2026-11-20T10:00:00.000Z" })
    assert.isDefined(refuseReport(asked, { consent: "deemed" }, now))
    assert.isDefined(refuseReport(asked, { consent: "deemed", deemed_at: "2026-11-20T12:00:01Z" }, now))
    // what was requested is not taken back
    assert.deepInclude(reportedAs(asked, { consent_requested: false }), { consent: "requested" })
    const deemed = { consent: "deemed", deemed_at: "2026-11-20T11:00:00Z" } as const
    assert.isUndefined(refuseReport(asked, deemed, now))
    assert.deepInclude(reportedAs(asked, deemed), { consent: "deemed", deemed_at: "2026-11-20T11:00:00.000Z" })
    assert.deepInclude(reportedAs(asked, { authority: "Other" }), { consent: "requested", deemed_at: null })
  })
})
