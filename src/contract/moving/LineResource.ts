/** Wire schemas of import and export lines: a player, or an open withdrawal (docs/moving.md). */
import { Schema, Struct } from "effect"
import { limitFields } from "../../domain/LimitFields.ts"
import {
  exclusionEndings,
  exclusionScopes,
  exclusionSources,
  exclusionTypes
} from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { Duration } from "../../domain/jurisdiction/Duration.ts"
import { maxBalance } from "../../domain/Money.ts"
import { maxPendingBonuses } from "../../domain/bonus/BonusGrants.ts"
import { consentSources } from "../../domain/state/ConsentStatement.ts"
import { movedSums } from "../../domain/limit/LimitUsage.ts"
import { bonusTypes } from "../../domain/state/Bonus.ts"
import { kycStatuses, playerStatuses, Restrictions } from "../../domain/state/Player.ts"
import { wire } from "../../domain/WireNames.ts"
import { amountFrom, instant, integer, oneOf, text } from "../common/Fields.ts"

const optional = Schema.optionalKey

const orNull = <Form extends Schema.Constraint>(form: Form) => optional(Schema.NullOr(form))

const balance = (minimum: number) =>
  Schema.Number.check(
    Schema.isInt({ message: "must be an integer in minor units" }),
    Schema.isBetween({ minimum, maximum: maxBalance }, { message: `must be between ${minimum} and ${maxBalance}` })
  )

const ImportedBonus = Schema.Struct({
  name: text(255),
  type: oneOf(bonusTypes),
  amount: amountFrom(1),
  balance: balance(0),
  wager_requirement: amountFrom(1),
  wagered_amount: amountFrom(0),
  max_bet: orNull(amountFrom(0)),
  max_conversion: orNull(amountFrom(0)),
  started_at: instant,
  expires_at: instant
})

/** A bonus that waits for its turn; `interrupted`: with what it has left. */
const ImportedPendingBonus = Schema.Struct({
  name: text(255),
  type: oneOf(bonusTypes),
  amount: amountFrom(1),
  wager_requirement: amountFrom(1),
  max_bet: orNull(amountFrom(0)),
  max_conversion: orNull(amountFrom(0)),
  valid_days: integer(1, 3650),
  granted_at: instant,
  interrupted: optional(Schema.Struct({
    balance: balance(0),
    wagered_amount: amountFrom(0),
    started_at: instant,
    remaining_ms: integer(1, 3650 * 86_400_000)
  }))
})

/** What was last said of a channel and a product of marketing; `*` for all of them. */
const ImportedConsent = Schema.Struct({
  channel: text(40),
  product: text(40),
  granted: Schema.Boolean,
  at: instant,
  source: oneOf(consentSources),
  text_version: orNull(text(64))
})

/** Consents of a line. */
const maxConsents = 400

/** Names and values of a line that has every consent and every bonus that may wait. */
export const maxLineValues = 12 * maxConsents + 1200

const ImportedExclusion = Schema.Struct({
  type: oneOf(exclusionTypes),
  since: instant,
  until: Schema.NullOr(instant),
  source: optional(oneOf(exclusionSources)),
  scope: optional(oneOf(exclusionScopes)),
  ends: optional(oneOf(exclusionEndings)),
  return_from: orNull(instant),
  return_at: orNull(instant),
  return_wait: orNull(Duration)
})

const ImportedRaise = Schema.Struct({
  field: oneOf(limitFields),
  requested_value: Schema.NullOr(amountFrom(0)),
  effective_at: instant,
  confirm_until: orNull(instant)
})

/** What a line of a player has beside the fields of a registration. */
export const PlayerLine = Schema.Struct({
  created_at: instant,
  last_login_at: optional(instant),
  status: optional(oneOf(playerStatuses)),
  category: optional(text(64)),
  risk_level: optional(text(64)),
  kyc_status: optional(oneOf(kycStatuses)),
  document_expires_at: optional(instant),
  restrictions: optional(wire(Restrictions.mapFields(Struct.map(optional)))),
  balance: balance(-maxBalance),
  bonus: optional(ImportedBonus),
  pending_bonuses: optional(Schema.Array(ImportedPendingBonus).check(Schema.isMaxLength(maxPendingBonuses))),
  consents: optional(Schema.Array(ImportedConsent).check(Schema.isMaxLength(maxConsents))),
  net_deposit_cap: optional(amountFrom(0)),
  limits_chosen: optional(Schema.Array(oneOf(limitFields)).check(Schema.isMaxLength(limitFields.length))),
  reality_check: optional(Duration),
  moved: optional(Schema.Struct({ from: text(64), until: instant })),
  pending_changes: optional(Schema.Array(ImportedRaise).check(Schema.isMaxLength(limitFields.length))),
  self_exclusion: optional(ImportedExclusion),
  used: optional(Schema.Struct({
    as_of: optional(instant),
    ...Struct.Record(Struct.keys(movedSums), optional(balance(0)))
  })),
  lifetime: optional(Schema.Struct({ deposits: optional(amountFrom(0)), withdrawals: optional(amountFrom(0)) })),
  unverified_withdrawn: optional(amountFrom(0)),
  password_hash: optional(text(1000))
})

export type PlayerLine = typeof PlayerLine.Type

export const openWithdrawal = "open_withdrawal"

export const WithdrawalLine = Schema.Struct({
  kind: Schema.Literal(openWithdrawal),
  external_id: text(255),
  amount: amountFrom(1),
  payment_method: text(64),
  external_reference: text(255),
  created_at: instant
})

/** Totals of lines. Amounts by currency, minor units; bonuses and open withdrawals apart from the balances. */
export const ImportTotals = Schema.Struct({
  players: integer(0, Number.MAX_SAFE_INTEGER),
  balances: Schema.Record(Schema.String, Schema.Number),
  negative_balances: optional(
    Schema.Record(Schema.String, Schema.Number).annotate({
      description: "Those of `balances` that are below zero: without them, what is credited."
    })
  ),
  bonus_balances: Schema.Record(Schema.String, Schema.Number),
  pending_bonuses: optional(
    Schema.Record(Schema.String, Schema.Number).annotate({
      description: "What bonuses that wait credit once it is their turn; absent: none does."
    })
  ),
  open_withdrawals: Schema.Record(Schema.String, Schema.Number),
  exclusions: integer(0, Number.MAX_SAFE_INTEGER),
  rejected: integer(0, Number.MAX_SAFE_INTEGER)
})

export type ImportTotals = typeof ImportTotals.Type

export const noTotals: ImportTotals = {
  players: 0,
  balances: {},
  bonus_balances: {},
  open_withdrawals: {},
  exclusions: 0,
  rejected: 0
}

type Sums = { readonly [currency: string]: number }

const addSums = (one: Sums, other: Sums): Sums => {
  const sums: { [currency: string]: number } = { ...one }
  for (const [currency, amount] of Object.entries(other)) sums[currency] = (sums[currency] ?? 0) + amount
  return Object.fromEntries(Object.entries(sums).toSorted(([a], [b]) => a < b ? -1 : 1))
}

/** Sums that are absent where there are none. */
const addSome = <Field extends "negative_balances" | "pending_bonuses">(
  field: Field,
  one: ImportTotals,
  other: ImportTotals
): Pick<ImportTotals, Field> | {} => {
  const sums = addSums(one[field] ?? {}, other[field] ?? {})
  return Object.keys(sums).length === 0 ? {} : { [field]: sums }
}

export const addTotals = (one: ImportTotals, other: ImportTotals): ImportTotals => ({
  players: one.players + other.players,
  balances: addSums(one.balances, other.balances),
  ...addSome("negative_balances", one, other),
  bonus_balances: addSums(one.bonus_balances, other.bonus_balances),
  ...addSome("pending_bonuses", one, other),
  open_withdrawals: addSums(one.open_withdrawals, other.open_withdrawals),
  exclusions: one.exclusions + other.exclusions,
  rejected: one.rejected + other.rejected
})
