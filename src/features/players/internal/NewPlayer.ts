/** Inserts a new player: row, account, limits and event in one statement. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Limits } from "../../../domain/state/Limits.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { PlayerRow } from "../PlayerProfile.ts"
import { numberDigests, sealNumbers } from "../../../store/SealedFields.ts"

interface NewPlayer {
  readonly row: PlayerRow
  readonly passwordHash: string
  /** Initial limits, in the player's currency. */
  readonly limits: Limits
  /** Those of them that were chosen (`limitBit`). */
  readonly limitsSet: number
  readonly termsVersion: string | null
  /** `player.registered`. */
  readonly event: { readonly id: number; readonly data: string }
}

const encode = Schema.encodeEffect(PlayerRow)

export const makeInsertPlayer = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  return Effect.fnUntraced(function*({ event, limits, limitsSet, passwordHash, row, termsVersion }: NewPlayer) {
    const { document_number: documentNumber, is_verified: _isVerified, personal_id: personalId, ...columns } =
      yield* Effect.orDie(encode(row))
    const { created_at: createdAt, id, operator_id: operatorId, registration_promo_code: promoCode } = columns
    const numbers = { personalId, documentNumber }
    const digests = numberDigests(personal, numbers)
    const player = sql.insert({
      ...columns,
      registers: JSON.stringify(columns.registers),
      numbers_sealed: sealNumbers(personal, id, numbers),
      personal_id_digest: digests.personalId,
      document_number_digest: digests.documentNumber,
      password_hash: passwordHash,
      registration_promo_due: promoCode !== null,
      terms_version: termsVersion,
      limits: JSON.stringify(limits),
      limits_set: limitsSet
    })
    yield* sql`WITH player AS (INSERT INTO players ${player}), account AS (
        INSERT INTO accounts (player_id, operator_id, real_updated_at, bonus_updated_at)
        VALUES (${id}, ${operatorId}, ${createdAt}, ${createdAt})
      )
      INSERT INTO events (id, operator_id, player_id, type, data, created_at)
      VALUES (${event.id}, ${operatorId}, ${id}, 'player.registered', ${event.data}, ${createdAt})`
  })
})
