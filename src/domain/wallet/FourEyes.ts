/** Four-eyes rule: large amounts take two people, and one person with two tokens is one person (`docs/decisions/0030-four-eyes.md`). */

/** Staff account as judged by the rule. Instants are epoch milliseconds. */
export interface StaffFacts {
  /** Audit log label of the actor. */
  readonly label: string
  /** The bootstrap token has no account and is not a person. */
  readonly isBootstrap: boolean
  readonly tokenIssuedAt: number
  /** Issuer of the token that was valid at the time of the request; null when unknown. */
  readonly tokenIssuedBy: string | null
  readonly createdBy: string | null
}

/** Objections to a staff account as another person. */
export const objections = [
  "unknown_staff",
  "bootstrap_token",
  "token_issued_after_request",
  "token_issued_by_approver",
  "account_created_by_approver",
  "corrected_balance",
  "approver_pays"
] as const

export type Objection = (typeof objections)[number]

const messages: { readonly [objection in Objection]: string } = {
  unknown_staff: "Two members of staff have to approve this. There is no such account.",
  bootstrap_token: "Two members of staff have to approve this. The bootstrap token is not one.",
  token_issued_after_request: "A token that was issued after the request was made does not approve it.",
  token_issued_by_approver: "One of the two issued the token of the other: that is one person.",
  account_created_by_approver: "One of the two created the account of the other: that is one person.",
  corrected_balance: "Another person has to approve: you corrected the player's balance upwards that day.",
  approver_pays: "Another person has to pay out: you approved this."
}

export const objectionMessage = (objection: Objection): string => messages[objection]

/** Objection when `one` may have had access to the token of `other`. */
const mayHoldTokenOf = (one: StaffFacts, other: StaffFacts): Objection | undefined =>
  other.tokenIssuedBy === one.label
    ? "token_issued_by_approver"
    : other.createdBy === one.label
    ? "account_created_by_approver"
    : undefined

export interface ApprovalCase {
  /** Undefined when the account does not exist. */
  readonly actor: StaffFacts | undefined
  /** Earlier requesters and approvers; undefined for one without an account. */
  readonly others: ReadonlyArray<StaffFacts | undefined>
  readonly requestedAt: number
}

/** The objection to an approval, if any: the approver must be another person than all earlier requesters and approvers. */
export const objectionToApproval = ({ actor, others, requestedAt }: ApprovalCase): Objection | undefined => {
  if (actor === undefined) return "unknown_staff"
  // it may request while there are no staff: the approval is another person's
  if (actor.isBootstrap) return others.length === 0 ? undefined : "bootstrap_token"
  if (actor.tokenIssuedAt > requestedAt) return "token_issued_after_request"
  for (const other of others) {
    if (other === undefined) return "unknown_staff"
    const objection = mayHoldTokenOf(other, actor) ?? mayHoldTokenOf(actor, other)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** Objection to a payout by this actor, if any. The token may be newer than the request: a later shift pays approved withdrawals. */
export const objectionToPayout = ({ actor, others }: Omit<ApprovalCase, "requestedAt">): Objection | undefined => {
  if (actor === undefined) return "unknown_staff"
  if (actor.isBootstrap) return "bootstrap_token"
  for (const other of others) {
    if (other === undefined) continue
    if (other.label === actor.label) return "approver_pays"
    const objection = mayHoldTokenOf(other, actor)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** True when an amount and the sum counted with it exceed the threshold; null: no threshold. */
export const needsTwo = (amount: number, beside: number, threshold: number | null): boolean =>
  threshold !== null && amount + beside > threshold
