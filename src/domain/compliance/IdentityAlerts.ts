/** Identity rules: each evaluates the known facts of one player and returns a finding (`docs/alerts.md`). */
import { type Finding, type RuleSettings, shiftSeverity } from "./AlertRules.ts"

/** Identifying facts. Players who share one may be the same person. */
export const factKinds = [
  "personal_id",
  "document_number",
  "name_and_birth_date",
  "similar_name_and_birth_date",
  "email",
  "phone",
  "address",
  "ip"
] as const

export type FactKind = (typeof factKinds)[number]

/** Another player of the operator and the facts shared with them. */
export interface SharedFacts {
  readonly playerId: number
  readonly kinds: ReadonlyArray<FactKind>
}

/** Maximum players on one address; more indicate a shared network, not a person. */
export const maxSharedAddress = 50

/** Maximum ids listed in an alert. */
const maxListed = 20

/** Facts unique to one person. */
const documents: ReadonlySet<FactKind> = new Set(["personal_id", "document_number"])
/** Facts that several persons may share: a household its address, namesakes born on one day their names. */
const weakFacts: ReadonlySet<FactKind> = new Set(["similar_name_and_birth_date", "address", "ip"])

/**
 * Finding for a player who shares identifying facts with others. A document weighs more than a name or a phone, a similar name or an address less; an
 * IP address alone counts from `count` players on, up to {@link maxSharedAddress}.
 */
export const multiAccount = (
  { multi_account: terms }: RuleSettings,
  others: ReadonlyArray<SharedFacts>
): Finding | undefined => {
  if (!terms.enabled) return undefined
  const onAddress = others.filter(({ kinds }) => kinds.includes("ip")).length
  const addressCounts = onAddress + 1 >= terms.count && onAddress < maxSharedAddress
  const found = others
    .map(({ kinds, playerId }) => ({
      playerId,
      kinds: kinds.filter((kind) =>
        kind === "ip"
          ? addressCounts || kinds.length > 1
          : kind !== "similar_name_and_birth_date" || !kinds.includes("name_and_birth_date")
      )
    }))
    .filter(({ kinds }) => kinds.length > 0)
    .sort((a, b) => a.playerId - b.playerId)
  const kinds = new Set(found.flatMap((other) => other.kinds))
  if (kinds.size === 0) return undefined
  const steps = [...kinds].some((kind) => documents.has(kind))
    ? 1
    : [...kinds].some((kind) => !weakFacts.has(kind))
    ? 0
    : kinds.has("address") || kinds.has("similar_name_and_birth_date")
    ? -1
    : -2
  const ids = found.slice(0, maxListed).map(({ playerId }) => playerId)
  return {
    rule: "multi_account",
    severity: shiftSeverity(terms.severity, steps),
    occurrence: `players ${ids.join("+")}`,
    paymentId: null,
    details: { players: ids, accounts: found.length + 1, shared: factKinds.filter((kind) => kinds.has(kind)) },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** Countries of a player, by source. ISO 3166-1 alpha-2. */
export interface Countries {
  readonly profile: string
  /** Possible countries of the phone number; empty when it indicates none. */
  readonly phone: ReadonlyArray<string>
}

/** Finding when the phone's country differs from the profile's. */
export const countryMismatch = (
  { country_mismatch: terms }: RuleSettings,
  { phone, profile }: Countries
): Finding | undefined => {
  if (!terms.enabled || phone.length === 0 || phone.includes(profile)) return undefined
  const countries = [...phone].sort().slice(0, maxListed)
  return {
    rule: "country_mismatch",
    severity: terms.severity,
    occurrence: `countries ${profile} and ${countries.join("+")}`,
    paymentId: null,
    details: { profile, phone: countries },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** Change of name, birth date or document. */
export interface IdentityChange {
  /** Epoch milliseconds. */
  readonly at: number
  readonly fields: ReadonlyArray<string>
}

const hourMs = 3_600_000

/** Finding for a change of identity after verification. `verifiedAt`: the first verification, null if none. */
export const identityChangeAfterVerification = (
  { identity_change: terms }: RuleSettings,
  change: IdentityChange,
  verifiedAt: number | null
): Finding | undefined =>
  !terms.enabled || change.fields.length === 0 || verifiedAt === null || verifiedAt > change.at ? undefined : {
    rule: "identity_change",
    severity: terms.severity,
    occurrence: occurrenceOf(change),
    paymentId: null,
    details: { fields: change.fields, after: "verification" },
    stopsWithdrawals: terms.stopWithdrawals
  }

/** Finding for a change of identity shortly before a withdrawal. `changes`: latest first. */
export const identityChangeBeforeWithdrawal = (
  { identity_change: terms }: RuleSettings,
  withdrawal: { readonly id: number; readonly at: number },
  changes: ReadonlyArray<IdentityChange>
): Finding | undefined => {
  if (!terms.enabled) return undefined
  const change = changes.find(({ at, fields }) =>
    fields.length > 0 && at <= withdrawal.at && at > withdrawal.at - terms.windowHours * hourMs
  )
  return change === undefined ? undefined : {
    rule: "identity_change",
    severity: shiftSeverity(terms.severity, 1),
    occurrence: occurrenceOf(change),
    paymentId: withdrawal.id,
    details: { fields: change.fields, before: "withdrawal" },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** Shared by both rules: a change after verification and before a withdrawal is one occurrence. */
const occurrenceOf = ({ at }: IdentityChange): string => `change at ${new Date(at).toISOString()}`
