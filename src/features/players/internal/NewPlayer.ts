/** Writes a new player: profile, account, limits and event in one statement. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Limits } from "../../../domain/state/Limits.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { toDate } from "../../../platform/Time.ts"
import type { PlayerRow } from "../PlayerProfile.ts"
import { numberDigests, sealNumbers } from "../../../store/SealedFields.ts"

interface NewPlayer {
  readonly row: PlayerRow
  readonly passwordHash: string
  /** Initial limits, in the player's currency. */
  readonly limits: Limits
  readonly termsVersion: string | null
  /** `player.registered`. */
  readonly event: { readonly id: number; readonly data: string }
}

export const makeInsertPlayer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  return ({ event, limits, passwordHash, row, termsVersion }: NewPlayer) => {
    const createdAt = toDate(row.createdAt)
    const digests = numberDigests(personal, row)
    return sql`WITH player AS (
            INSERT INTO players (id, operator_id, external_id, username, email, password_hash, first_name, last_name,
              middle_name, gender, birth_date, country, city, address, zip_code, phone, numbers_sealed,
              personal_id_digest, document_number_digest, language, currency, is_test, marketing_email, marketing_sms, marketing_newsletter, registration_source,
              registration_ip, registration_promo_code, registration_promo_due, registration_affiliate_id, registration_btag, terms_version,
              terms_accepted_at, limits, created_at, updated_at)
            VALUES (${row.id}, ${row.operatorId}, ${row.externalId}, ${row.username}, ${row.email}, ${passwordHash},
              ${row.firstName}, ${row.lastName}, ${row.middleName}, ${row.gender}, ${row.birthDate}, ${row.country},
              ${row.city}, ${row.address}, ${row.zipCode}, ${row.phone},
              ${
      sealNumbers(personal, row.id, row)
    }, ${digests.personalId}, ${digests.documentNumber}, ${row.language}, ${row.currency}, ${row.isTest}, ${row.marketingEmail}, ${row.marketingSms},
              ${row.marketingNewsletter}, ${row.registrationSource}, ${row.registrationIp},
              ${row.registrationPromoCode}, ${
      row.registrationPromoCode !== null
    }, ${row.registrationAffiliateId}, ${row.registrationBtag}, ${termsVersion},
              ${createdAt}, ${JSON.stringify(limits)}, ${createdAt}, ${createdAt})
          ), account AS (
            INSERT INTO accounts (player_id, operator_id, real_updated_at, bonus_updated_at)
            VALUES (${row.id}, ${row.operatorId}, ${createdAt}, ${createdAt})
          )
          INSERT INTO events (id, operator_id, player_id, type, data, created_at)
          VALUES (${event.id}, ${row.operatorId}, ${row.id}, 'player.registered', ${event.data}, ${createdAt})`
  }
})
