/** Staff actions on a case: transitions, notes, reports to authorities, evidence of the source of funds. */
import { type CaseStatus, caseTransitions } from "../../domain/case/Case.ts"
import type { Data } from "../app/api.ts"
import { rowAction } from "../parts/ActionButton.tsx"
import { formOf } from "../parts/Fields.tsx"
import type { RowAction, RowActions } from "../parts/RowMenu.tsx"

export type CaseDetails = Data<"case.show">

const note = formOf("case.update", { status: false, decision: false, amount: false, assign: false })

const move = (shown: CaseDetails, status: CaseStatus, currency: string): RowAction => {
  const params = { case: shown.id }
  const fixed = { status }
  const isAgain = shown.status === "decided"
  if (status === "decided") {
    return rowAction({
      action: "case.update",
      label: "Decide",
      params,
      fields: formOf("case.update", {
        status: false,
        assign: false,
        decision: { required: true },
        amount: { currency, description: "With the decision raise: the player's new cap on net deposits." }
      }),
      fixed,
      explanation: "A report needs its reference at the authority before the case can be closed.",
      done: "Case decided"
    })
  }
  return status === "closed"
    ? rowAction({
      action: "case.update",
      label: "Close case",
      params,
      fields: note,
      fixed,
      explanation: "For good, with its alerts. Withdrawals that they and the case hold may go on.",
      danger: true,
      done: "Case closed"
    })
    : rowAction({
      action: "case.update",
      label: isAgain ? "Take up again" : "Start work",
      params,
      fields: note,
      fixed: { status: "in_progress" },
      explanation: isAgain
        ? "What was decided does not count any more."
        : "Says that somebody works on it.",
      done: "Case in progress"
    })
}

/** Asks, and what comes of it: one question is open at a time. */
const fundsOf = (shown: CaseDetails): ReadonlyArray<RowAction> => {
  const params = { case: shown.id }
  const isAsked = shown.obligations.some(({ kind, state }) => kind === "source_of_funds" && state === "open")
  const settle = (verb: "accept" | "reject", label: string, explanation: string): RowAction =>
    rowAction({
      action: "case.funds",
      label,
      params,
      fixed: { [verb]: true },
      explanation,
      danger: verb === "reject",
      done: `Evidence ${verb}ed`
    })
  if (!isAsked) {
    return [rowAction({
      action: "case.funds",
      label: "Ask for source of funds",
      params,
      fields: formOf("case.funds", {
        text: { required: true },
        due: { placeholder: "P14D" },
        evidence: false,
        accept: false,
        reject: false
      }),
      explanation: "The player reads these words. Deposits wait from the due time on until the evidence is accepted.",
      done: "Player asked"
    })]
  }
  return [
    rowAction({
      action: "case.funds",
      label: "Add evidence",
      params,
      fields: [
        { name: "kind", label: "Kind", kind: "text", required: true, placeholder: "payslip" },
        { name: "reference", label: "Reference", kind: "text", required: true, description: "Where the file is kept." },
        { name: "sha256", label: "SHA-256", kind: "text", required: true }
      ],
      toPayload: ({ kind, reference, sha256 }) => ({
        evidence: [{ kind: String(kind), reference: String(reference), sha256: String(sha256) }]
      }),
      done: "Evidence added"
    }),
    settle("accept", "Accept evidence", "Deposits go on."),
    settle("reject", "Reject evidence", "Deposits stay stopped from the due time on.")
  ]
}

const assignToMe = ({ assigned_to: to, id }: CaseDetails, own: number | null | undefined): ReadonlyArray<RowAction> =>
  own === null || own === undefined || to === own ? [] : [rowAction({
    action: "case.update",
    label: "Assign to me",
    params: { case: id },
    fixed: { assign: "me" },
    explanation: `Case ${id} is yours then.`,
    done: `Case ${id} is yours`
  })]

/** Everything that can be done with a case now; nothing with one that is closed. */
export const actionsOf = (own: number | null | undefined, currency: string): RowActions<CaseDetails> => ({
  nameOf: ({ id }) => `case ${id}`,
  of: (shown) =>
    shown.status === "closed" ? [] : [
      ...caseTransitions(shown.status).map((status) => move(shown, status, currency)),
      ...assignToMe(shown, own),
      rowAction({
        action: "case.update",
        label: "Add note",
        params: { case: shown.id },
        fields: formOf("case.update", {
          status: false,
          decision: false,
          amount: false,
          assign: false,
          note: { required: true }
        }),
        done: "Note added"
      }),
      ...fundsOf(shown),
      rowAction({
        action: "case.sar",
        label: "Note report",
        params: { case: shown.id },
        fields: formOf("case.sar"),
        explanation:
          "A report to an authority; a known reference is updated. Where its consent is requested, all withdrawals of the player are held. " +
          "Nobody but compliance and admins learns of it.",
        size: "lg",
        done: "Report noted"
      })
    ]
})
