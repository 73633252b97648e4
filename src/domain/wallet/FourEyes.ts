/**
 * The four-eyes rule: large amounts take two people, and one person with two tokens is one person
 * (`docs/decisions/0030-four-eyes.md`).
 */

/** A member of staff as the rule judges one. Instants are epoch milliseconds. */
export interface StaffFacts {
  /** As the audit log names who acts. */
  readonly label: string
  /** The bootstrap token has no account behind it: it is not a person. */
  readonly isBootstrap: boolean
  readonly tokenIssuedAt: number
  /** Who issued the token that was valid when the request was made; null: not known. */
  readonly tokenIssuedBy: string | null
  readonly createdBy: string | null
}

/** Why a member of staff does not count as one more person. */
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

/** Whether `one` may have had the token of `other` in hand. */
const holdsTokenOf = (one: StaffFacts, other: StaffFacts): Objection | undefined =>
  other.tokenIssuedBy === one.label
    ? "token_issued_by_approver"
    : other.createdBy === one.label
    ? "account_created_by_approver"
    : undefined

export interface Judged {
  /** Undefined: there is no account of the name. */
  readonly actor: StaffFacts | undefined
  /** Those who made or approved the request before; undefined for one without an account. */
  readonly others: ReadonlyArray<StaffFacts | undefined>
  readonly requestedAt: number
}

/** The objection to an approval, if any: the approver must be another person than all earlier requesters and approvers. */
export const objectionToApproval = ({ actor, others, requestedAt }: Judged): Objection | undefined => {
  if (actor === undefined) return "unknown_staff"
  // where there are no staff yet it may request: the approval is another person's
  if (actor.isBootstrap) return others.length === 0 ? undefined : "bootstrap_token"
  if (actor.tokenIssuedAt > requestedAt) return "token_issued_after_request"
  for (const other of others) {
    if (other === undefined) return "unknown_staff"
    const objection = holdsTokenOf(other, actor) ?? holdsTokenOf(actor, other)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** Why a payout is not for this actor, if so. A token may be newer than the request here: a shift later pays what was approved. */
export const objectionToPayout = ({ actor, others }: Omit<Judged, "requestedAt">): Objection | undefined => {
  if (actor === undefined) return "unknown_staff"
  if (actor.isBootstrap) return "bootstrap_token"
  for (const other of others) {
    if (other === undefined) continue
    if (other.label === actor.label) return "approver_pays"
    const objection = holdsTokenOf(other, actor)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** Whether an amount is above a threshold together with what counts beside it; null: there is no threshold. */
export const takesTwo = (amount: number, beside: number, threshold: number | null): boolean =>
  threshold !== null && amount + beside > threshold
