/** Rules about who players are: each looks at one player as known, and says what is suspicious (`docs/compliance.md`). */
import { type Finding, type RuleSettings, shifted } from "./AlertRules.ts"

/** What players are known by. Two players with the same are perhaps one. */
export const factKinds = [
  "personal_id",
  "document_number",
  "name_and_birth_date",
  "email",
  "phone",
  "address",
  "ip"
] as const

export type FactKind = (typeof factKinds)[number]

/** Another player of the operator, and what the two share. */
export interface SharedFacts {
  readonly playerId: number
  readonly kinds: ReadonlyArray<FactKind>
}

/** More players than that behind one address are a network, not a person. */
export const maxSharedAddress = 50

/** Ids that an alert lists. */
const maxListed = 20

/** What numbers only one person. */
const documents: ReadonlySet<FactKind> = new Set(["personal_id", "document_number"])
/** What a household shares. */
const household: ReadonlySet<FactKind> = new Set(["address", "ip"])

/**
 * A player who shares with others what one person has. A document counts more than a name or a phone, an address less, and an
 * internet address alone counts from `count` players on, up to {@link maxSharedAddress}.
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
      kinds: kinds.filter((kind) => kind !== "ip" || addressCounts || kinds.length > 1)
    }))
    .filter(({ kinds }) => kinds.length > 0)
    .sort((a, b) => a.playerId - b.playerId)
  const kinds = new Set(found.flatMap((other) => other.kinds))
  if (kinds.size === 0) return undefined
  const steps = [...kinds].some((kind) => documents.has(kind))
    ? 1
    : [...kinds].some((kind) => !household.has(kind))
    ? 0
    : kinds.has("address")
    ? -1
    : -2
  const ids = found.slice(0, maxListed).map(({ playerId }) => playerId)
  return {
    rule: "multi_account",
    severity: shifted(terms.severity, steps),
    occurrence: `players ${ids.join("+")}`,
    paymentId: null,
    details: { players: ids, accounts: found.length + 1, shared: factKinds.filter((kind) => kinds.has(kind)) },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** Countries of one player, from wherever they are known. ISO 3166-1 alpha-2. */
export interface Countries {
  readonly profile: string
  /** Those in which the phone number may be; empty when it says nothing. */
  readonly phone: ReadonlyArray<string>
}

/** A player whose phone is of another country than the profile. */
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

/** A change of name, birth date or document. */
export interface IdentityChange {
  /** Epoch milliseconds. */
  readonly at: number
  readonly fields: ReadonlyArray<string>
}

const hourMs = 3_600_000

/** A change of identity after verification. `verifiedAt`: the first verification, null if there was none. */
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

/** A change of identity shortly before a withdrawal. `changes`: the latest first. */
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
    severity: shifted(terms.severity, 1),
    occurrence: occurrenceOf(change),
    paymentId: withdrawal.id,
    details: { fields: change.fields, before: "withdrawal" },
    stopsWithdrawals: terms.stopWithdrawals
  }
}

/** The same for both: a change after verification and before a withdrawal is one. */
const occurrenceOf = ({ at }: IdentityChange): string => `change at ${new Date(at).toISOString()}`
