/** Player profiles: rows and their wire form (SPEC section 2.1). */
import { Effect, Schema } from "effect"
import { Instant } from "../../domain/Instant.ts"
import { exclusionTypes, kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { genders } from "../../contract/players/PlayerResource.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { columnsOf, rowsOf } from "../../store/Rows.ts"
import { openNumbers } from "../../store/SealedFields.ts"
import { iso, isoOrNull } from "../../platform/Time.ts"

const optionalText = Schema.NullOr(Schema.String)
const optionalTime = Schema.NullOr(Instant)

/** The columns of `players` as {@link playerColumns} names them. */
export const PlayerRow = Schema.Struct({
  id: Schema.Number,
  operatorId: Schema.Number,
  externalId: optionalText,
  username: Schema.String,
  email: Schema.String,
  firstName: Schema.String,
  lastName: Schema.String,
  middleName: optionalText,
  gender: Schema.NullOr(Schema.Literals(genders)),
  birthDate: Schema.String,
  country: Schema.String,
  city: optionalText,
  address: optionalText,
  zipCode: optionalText,
  phone: optionalText,
  personalId: optionalText,
  documentNumber: optionalText,
  /** The two numbers above, where they are not in clear. */
  numbersSealed: Schema.NullOr(Schema.Uint8Array),
  language: Schema.String,
  currency: Schema.String,
  status: Schema.Literals(playerStatuses),
  category: Schema.String,
  kycStatus: Schema.Literals(kycStatuses),
  riskLevel: Schema.String,
  isTest: Schema.Boolean,
  canLogin: Schema.Boolean,
  canDeposit: Schema.Boolean,
  canWithdraw: Schema.Boolean,
  canBet: Schema.Boolean,
  excludedFromBonuses: Schema.Boolean,
  exclusionType: Schema.NullOr(Schema.Literals(exclusionTypes)),
  exclusionSince: optionalTime,
  exclusionUntil: optionalTime,
  marketingEmail: Schema.Boolean,
  marketingSms: Schema.Boolean,
  marketingNewsletter: Schema.Boolean,
  registrationSource: Schema.String,
  registrationIp: optionalText,
  registrationPromoCode: optionalText,
  registrationAffiliateId: optionalText,
  registrationBtag: optionalText,
  lastLoginAt: optionalTime,
  createdAt: Instant,
  updatedAt: Instant
})

export type PlayerRow = typeof PlayerRow.Type

/** Selects a {@link PlayerRow} from `players`. */
export const playerColumns = columnsOf(PlayerRow, undefined, {
  birthDate: "to_char(birth_date, 'YYYY-MM-DD')",
  canWithdraw: `can_withdraw AND NOT withdrawal_holds @> '[{"isLifted": false}]'`
})

/** The wire form of a player's row at `now` (epoch milliseconds): an exclusion that is over does not show. */
export const toProfile = (row: PlayerRow, now: number) => ({
  id: row.id,
  external_id: row.externalId,
  username: row.username,
  email: row.email,
  first_name: row.firstName,
  last_name: row.lastName,
  middle_name: row.middleName,
  gender: row.gender,
  birth_date: row.birthDate,
  country: row.country,
  city: row.city,
  address: row.address,
  zip_code: row.zipCode,
  phone: row.phone,
  personal_id: row.personalId,
  document_number: row.documentNumber,
  language: row.language,
  currency: row.currency,
  status: row.status,
  category: row.category,
  kyc_status: row.kycStatus,
  is_verified: row.kycStatus === "verified",
  risk_level: row.riskLevel,
  is_test: row.isTest,
  restrictions: {
    can_login: row.canLogin,
    can_deposit: row.canDeposit,
    can_withdraw: row.canWithdraw,
    can_bet: row.canBet,
    excluded_from_bonuses: row.excludedFromBonuses
  },
  self_exclusion: row.exclusionType !== null && row.exclusionSince !== null &&
      (row.exclusionUntil === null || now < row.exclusionUntil)
    ? {
      type: row.exclusionType,
      since: iso(row.exclusionSince),
      until: isoOrNull(row.exclusionUntil)
    }
    : null,
  marketing: { email: row.marketingEmail, sms: row.marketingSms, newsletter: row.marketingNewsletter },
  registration: {
    source: row.registrationSource,
    ip: row.registrationIp,
    promo_code: row.registrationPromoCode,
    affiliate_id: row.registrationAffiliateId,
    btag: row.registrationBtag
  },
  last_login_at: isoOrNull(row.lastLoginAt),
  created_at: iso(row.createdAt),
  updated_at: iso(row.updatedAt)
})

export type PlayerProfile = ReturnType<typeof toProfile>

/** Reads {@link PlayerRow}s, with the numbers that are stored sealed. */
export const playerRows = (personal: PersonalData["Service"]) => {
  const rows = rowsOf(PlayerRow)
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
    Effect.flatMap(
      rows(statement),
      (found) => Effect.forEach(found, (row) => openNumbers(personal, row.id, row.numbersSealed, row))
    )
}
