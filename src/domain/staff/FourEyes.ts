/** Four-eyes rule: large amounts take two people, and one person with two tokens is one person (`docs/decisions/0021-staff.md`). */
import { onePerson, type StaffTrust } from "./StaffTrust.ts"

/** Staff account as judged by the rule. Instants are epoch milliseconds. */
export interface StaffFacts {
  /** Audit log label of the actor. */
  readonly label: string
  /** The bootstrap token has no account and is not a person. */
  readonly isBootstrap: boolean
  /** When the present token, or another way in of the account, was last handed over. */
  readonly tokenIssuedAt: number
}

/** Objections to a staff account as another person. */
export const objections = [
  "unknown_staff",
  "bootstrap_token",
  "token_issued_after_request",
  "token_issued_by_approver",
  "account_created_by_approver",
  "acts_through_others",
  "common_maker",
  "corrected_balance",
  "approver_pays"
] as const

export type Objection = (typeof objections)[number]

const messages: { readonly [objection in Objection]: string } = {
  unknown_staff: "Two members of staff have to approve this. There is no such account.",
  bootstrap_token: "Two members of staff have to approve this. The bootstrap token is not a member of staff.",
  token_issued_after_request: "A token that was issued after the request was made does not approve it.",
  token_issued_by_approver:
    "One of the two issued a token, a link or a password of the other, so they count as one person.",
  account_created_by_approver: "One of the two created the account of the other, so they count as one person.",
  acts_through_others: "One of the two can act as the other through further accounts, so they count as one person.",
  common_maker:
    "A third account can act as both of them, and not both have shown a second factor since, so they may be one person.",
  corrected_balance: "Another person has to approve this: you corrected the player's balance upwards that day.",
  approver_pays: "Another person has to pay this out: you approved it."
}

export const objectionMessage = (objection: Objection): string => messages[objection]

/** Objection to two accounts as two people. */
const objectionToPair = (trust: StaffTrust, one: StaffFacts, other: StaffFacts): Objection | undefined => {
  const found = onePerson(trust, one.label, other.label)
  if (found?._tag === "CommonMaker") return "common_maker"
  if (found?._tag !== "Path") return undefined
  const [{ kind }, ...through] = found.path
  if (through.length > 0) return "acts_through_others"
  return kind === "made" ? "account_created_by_approver" : "token_issued_by_approver"
}

export interface ApprovalCase {
  /** Undefined when the account does not exist. */
  readonly actor: StaffFacts | undefined
  /** Earlier requesters and approvers; undefined for one without an account. */
  readonly others: ReadonlyArray<StaffFacts | undefined>
  /** Who corrected the balance upwards; undefined as in `others`. */
  readonly correctors: ReadonlyArray<StaffFacts | undefined>
  readonly requestedAt: number
  readonly trust: StaffTrust
}

/** Whether the actor is one person with somebody who corrected the balance upwards. */
const isCorrector = (actor: StaffFacts, { correctors, trust }: Pick<ApprovalCase, "correctors" | "trust">): boolean =>
  correctors.some((corrector) =>
    corrector !== undefined && onePerson(trust, actor.label, corrector.label) !== undefined
  )

/** The objection to an approval, if any: the approver must be another person than all earlier requesters and approvers. */
export const objectionToApproval = (approval: ApprovalCase): Objection | undefined => {
  const { actor, others, requestedAt, trust } = approval
  if (actor === undefined) return "unknown_staff"
  if (isCorrector(actor, approval)) return "corrected_balance"
  // it may request while there are no staff: the approval is another person's
  if (actor.isBootstrap) return others.length === 0 ? undefined : "bootstrap_token"
  if (actor.tokenIssuedAt > requestedAt) return "token_issued_after_request"
  for (const other of others) {
    if (other === undefined) return "unknown_staff"
    const objection = objectionToPair(trust, actor, other)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** Objection to a payout by this actor, if any. The token may be newer than the request: a later shift pays approved withdrawals. */
export const objectionToPayout = (payout: Omit<ApprovalCase, "requestedAt">): Objection | undefined => {
  const { actor, others, trust } = payout
  if (actor === undefined) return "unknown_staff"
  if (isCorrector(actor, payout)) return "corrected_balance"
  if (actor.isBootstrap) return "bootstrap_token"
  for (const other of others) {
    if (other === undefined) continue
    if (other.label === actor.label) return "approver_pays"
    const objection = objectionToPair(trust, actor, other)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** True when an amount and the sum counted with it exceed the threshold; null: no threshold. */
export const needsTwo = (amount: number, beside: number, threshold: number | null): boolean =>
  threshold !== null && amount + beside > threshold
