/** Staff cases about players: types, statuses, transitions and decisions. */
import { refuseFields, type Refusal } from "../Refusal.ts"

export const caseTypes = [
  "aml",
  "screening",
  "vulnerability",
  "affordability",
  "contact",
  "harm",
  "data_subject"
] as const

export type CaseType = (typeof caseTypes)[number]

export const caseStatuses = ["open", "in_progress", "decided", "closed"] as const

export type CaseStatus = (typeof caseStatuses)[number]

export const caseDecisions = ["no_action", "monitor", "restrict", "exit", "report", "raise"] as const

type CaseDecision = (typeof caseDecisions)[number]

/** The only ways from each status: a closed case stays closed. */
const moves: { readonly [from in CaseStatus]: ReadonlyArray<CaseStatus> } = {
  open: ["in_progress"],
  in_progress: ["decided"],
  decided: ["in_progress", "closed"],
  closed: []
}

/** Possible next statuses of a case. */
export const caseTransitions = (from: CaseStatus): ReadonlyArray<CaseStatus> => moves[from]

/** Whether operators and players may learn of a case: one about money laundering would warn its subject. */
export const isTold = (type: CaseType): boolean => type !== "aml"

/** What decides a case; an amount is the cap on net deposits that the player has from then on, minor units. */
interface Deciding {
  readonly decision: CaseDecision | null
  readonly amount: number | null
}

/** A case as far as its moves depend on it. */
export interface CaseState extends Deciding {
  readonly type: CaseType
  readonly status: CaseStatus
}

export interface CaseMove {
  readonly status?: CaseStatus
  readonly decision?: CaseDecision
  readonly amount?: number
}

/** What has been reported about a case. */
export interface Reported {
  readonly hasReport: boolean
  /** Whether an authority was asked for its consent and has neither given nor refused it. */
  readonly hasOpenQuestion: boolean
}

/** Why a case cannot move so; undefined where it can. */
export const refuseMove = (
  before: CaseState,
  { amount, decision, status = before.status }: CaseMove,
  { hasOpenQuestion, hasReport }: Reported
): Refusal<"VALIDATION_FAILED"> | undefined => {
  const ways = moves[before.status]
  const isMoved = status !== before.status
  const problem = (): readonly [field: string, message: string] | undefined => {
    if (before.status === "closed") return ["status", "cannot be changed any more: it is closed"]
    if (isMoved && !ways.includes(status)) {
      return ["status", `must be one of ${ways.join(", ")}: the status is ${before.status}`]
    }
    const isDeciding = isMoved && status === "decided"
    if (isDeciding && decision === undefined) return ["decision", "must be given where a case is decided"]
    if (!isDeciding && decision !== undefined) return ["decision", "may be given only where a case is decided"]
    if (decision === "raise" && before.type !== "affordability") {
      return ["decision", "raise is a decision of affordability cases only"]
    }
    if (decision === "raise" && amount === undefined) return ["amount", "must be given with the decision raise"]
    if (decision !== "raise" && amount !== undefined) return ["amount", "may be given only with the decision raise"]
    if (isMoved && status === "closed" && before.decision === "report" && !hasReport) {
      return ["status", "cannot be closed before its report is filed"]
    }
    return isMoved && status === "closed" && hasOpenQuestion
      ? ["status", "cannot be closed while an authority is asked for its consent"]
      : undefined
  }
  const found = problem()
  return found === undefined ? undefined : refuseFields({ [found[0]]: [found[1]] })
}

/** A case after a move that is not refused: what decided it is forgotten when it is taken up again. */
export const moved = (before: CaseState, { amount, decision, status = before.status }: CaseMove): CaseState => ({
  type: before.type,
  status,
  decision: decision ?? (status === "in_progress" ? null : before.decision),
  amount: amount ?? (status === "in_progress" ? null : before.amount)
})

/** What an authority says to payouts after a report: nobody asked, or what came of the question. */
export const consents = ["none", "requested", "granted", "refused", "deemed"] as const

type Consent = (typeof consents)[number]

interface Report {
  readonly consent: Consent
  readonly deemed_at: string | null
}

interface ReportChange {
  readonly authority?: string
  readonly submitted_at?: string
  readonly consent_requested?: boolean
  readonly consent?: Exclude<Consent, "none" | "requested">
  readonly deemed_at?: string
}

/** Why a report cannot be noted so; `known` is the one of the same reference. */
export const refuseReport = (
  known: Report | undefined,
  { authority, consent, consent_requested: isAsked, deemed_at: deemedAt, submitted_at: submittedAt }: ReportChange,
  now: number
): Refusal<"VALIDATION_FAILED"> | undefined => {
  const needed = "must be given with a new reference"
  const asks = isAsked === true || known !== undefined && known.consent !== "none"
  const fields = {
    ...(known === undefined && authority === undefined ? { authority: [needed] } : {}),
    ...(known === undefined && submittedAt === undefined ? { submitted_at: [needed] } : {}),
    ...(consent !== undefined && !asks ? { consent: ["may be given only after consent was requested"] } : {}),
    ...((consent === "deemed") === (deemedAt !== undefined)
      ? {}
      : { deemed_at: ["must be given with the consent deemed, and only then"] }),
    ...(deemedAt !== undefined && Date.parse(deemedAt) > now ? { deemed_at: ["must not be in the future"] } : {})
  }
  return Object.keys(fields).length === 0 ? undefined : refuseFields(fields)
}

/** A report after a change that is not refused. */
export const reportedAs = (
  known: Report | undefined,
  { authority, consent, consent_requested: isAsked, deemed_at: deemedAt, submitted_at: submittedAt }: ReportChange
) => ({
  ...(authority === undefined ? {} : { authority }),
  ...(submittedAt === undefined ? {} : { submitted_at: new Date(submittedAt).toISOString() }),
  consent: consent ?? (isAsked === true && (known === undefined || known.consent === "none")
    ? "requested" as const
    : known?.consent ?? "none" as const),
  deemed_at: deemedAt === undefined
    ? consent === undefined ? known?.deemed_at ?? null : null
    : new Date(deemedAt).toISOString()
})
