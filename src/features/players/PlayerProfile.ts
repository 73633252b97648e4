/** Player rows, and their conversion to the wire form (SPEC section 2.1). */
import { Effect, Schema, Struct } from "effect"
import { Player } from "../../contract/players/PlayerResource.ts"
import { exclusionFields } from "../../domain/limit/LimitUsage.ts"
import { exclusionEnd, exclusionOf } from "../../domain/state/Player.ts"
import { Instant } from "../../domain/Instant.ts"
import { exclusionSources, exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { RegisterStanding } from "../../domain/register/Register.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { columnsOf, picker, rowsOf } from "../../store/Rows.ts"
import { openNumbers } from "../../store/SealedFields.ts"
import { iso, isoOrNull } from "../../platform/Time.ts"

const optionalText = Schema.NullOr(Schema.String)
const optionalTime = Schema.NullOr(Instant)

/** Fields that show as their columns have them. */
const plain = Struct.omit(Player.fields, [
  "register",
  "restrictions",
  "self_exclusion",
  "marketing",
  "registration",
  "last_login_at",
  "dormant_since",
  "created_at",
  "updated_at"
])

const newestAnswer = (registers: PlayerRow["registers"]): PlayerProfile["register"] => {
  const newest = registers.reduce<PlayerRow["registers"][number] | undefined>(
    (found, one) => found === undefined || one.at >= found.at ? one : found,
    undefined
  )
  return newest === undefined ? null : { kind: newest.kind, verdict: newest.verdict, checked_at: iso(newest.at) }
}

const abilities = Player.fields.restrictions.fields

/** Columns of `players`: those that show, and what the other fields are made of. */
export const PlayerRow = Schema.Struct({
  ...plain,
  id: Schema.Number,
  operator_id: Schema.Number,
  ...abilities,
  exclusion_type: Schema.NullOr(Schema.Literals(exclusionTypes)),
  exclusion_since: optionalTime,
  exclusion_until: optionalTime,
  exclusion_return_from: optionalTime,
  exclusion_return_at: optionalTime,
  exclusion_source: Schema.NullOr(Schema.Literals(exclusionSources)),
  registers: Schema.Array(RegisterStanding),
  marketing_email: Schema.Boolean,
  marketing_sms: Schema.Boolean,
  marketing_newsletter: Schema.Boolean,
  registration_source: Schema.String,
  registration_ip: optionalText,
  registration_promo_code: optionalText,
  registration_affiliate_id: optionalText,
  registration_btag: optionalText,
  last_login_at: optionalTime,
  dormant_since: optionalTime,
  created_at: Instant,
  updated_at: Instant,
  /** The personal id and the document number. */
  numbers_sealed: Schema.NullOr(Schema.Uint8Array)
})

export type PlayerRow = typeof PlayerRow.Type

/** As it is stored: with the numbers sealed only. */
const StoredRow = Schema.Struct(Struct.omit(PlayerRow.fields, ["personal_id", "document_number"]))

/** Selects what {@link playerRows} reads from `players`. */
export const playerColumns = columnsOf(StoredRow, undefined, {
  birth_date: "to_char(birth_date, 'YYYY-MM-DD')",
  is_verified: "kyc_status = 'verified'",
  can_withdraw: `can_withdraw AND NOT withdrawal_holds @> '[{"isLifted": false}]'`
})

export type PlayerProfile = typeof Player.Type

const plainOf = picker(Struct.keys(plain))
const abilitiesOf = picker(Struct.keys(abilities))

/** The wire form of a player's row at `now` (epoch milliseconds): an exclusion that is over does not show. */
export const toProfile = (row: PlayerRow, now: number): PlayerProfile => {
  const exclusion = exclusionOf({
    type: row.exclusion_type,
    since: row.exclusion_since,
    until: row.exclusion_until,
    source: row.exclusion_source,
    returnFrom: row.exclusion_return_from,
    returnAt: row.exclusion_return_at
  })
  const end = exclusion === null ? null : exclusionEnd(exclusion)
  return {
    ...plainOf(row),
    register: newestAnswer(row.registers),
    restrictions: abilitiesOf(row),
    self_exclusion: exclusion === null || end !== null && now >= end ? null : exclusionFields(exclusion),
    marketing: { email: row.marketing_email, sms: row.marketing_sms, newsletter: row.marketing_newsletter },
    registration: {
      source: row.registration_source,
      ip: row.registration_ip,
      promo_code: row.registration_promo_code,
      affiliate_id: row.registration_affiliate_id,
      btag: row.registration_btag
    },
    last_login_at: isoOrNull(row.last_login_at),
    dormant_since: isoOrNull(row.dormant_since),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at)
  }
}

/** Reads {@link PlayerRow}s, with the numbers that are stored sealed. */
export const playerRows = (personal: PersonalData["Service"]) => {
  const rows = rowsOf(StoredRow)
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
    Effect.flatMap(
      rows(statement),
      (found) =>
        Effect.forEach(found, (row) =>
          Effect.map(
            openNumbers(personal, row.id, row.numbers_sealed),
            ({ documentNumber, personalId }): PlayerRow => ({
              ...row,
              personal_id: personalId,
              document_number: documentNumber
            })
          ))
    )
}
