/** Comparison of a registration, and of a changed profile, with excluded persons (SPEC section 3.5). */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { comparableNumber, Identity, isSamePerson } from "../../../domain/player/Identity.ts"
import { refuse } from "../../../domain/Refusal.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { numberDigests } from "../../../store/SealedFields.ts"

const identities = rowsOf(Schema.Struct({ hasNumber: Schema.Boolean, ...Identity.fields }))

export const selfExcluded = refuse("SELF_EXCLUDED_IDENTITY", "The identity matches a player who is excluded from play.")

/** Whether a player with an exclusion in force at `now` has, or once had, the same identity; another one than `playerId`, the player whose identity it is. */
export const makeIsExcluded = Effect.map(
  Effect.all([SqlClient.SqlClient, PersonalData]),
  ([sql, personal]) =>
    Effect.fnUntraced(function*(operatorId: number, identity: Identity, now: number, playerId: number | null = null) {
      const digests = numberDigests(personal, identity)
      const comparable = (column: string) => sql.literal(`upper(regexp_replace(${column}, '[^[:alnum:]]', '', 'g'))`)
      // Numbers are compared by their digests. Those in clear are of rows that are still to be sealed.
      const candidates = yield* identities(
        sql`SELECT first_name AS "firstName", middle_name AS "middleName", last_name AS "lastName",
          to_char(birth_date, 'YYYY-MM-DD') AS "birthDate",
          personal_id AS "personalId", document_number AS "documentNumber",
          coalesce(personal_id_digest = ${digests.personalId}, false)
            OR coalesce(document_number_digest = ${digests.documentNumber}, false) AS "hasNumber"
        FROM players
        WHERE operator_id = ${operatorId} AND exclusion_type IS NOT NULL AND id IS DISTINCT FROM ${playerId}::float8::bigint
          AND (exclusion_over_at IS NULL OR exclusion_over_at > ${toDate(now)})
          AND (birth_date = ${identity.birthDate}
            OR personal_id_digest = ${digests.personalId} OR document_number_digest = ${digests.documentNumber}
            OR ${comparable("personal_id")} = ${comparableNumber(identity.personalId)}
            OR ${comparable("document_number")} = ${comparableNumber(identity.documentNumber)})
        UNION ALL
        SELECT f.first_name, p.middle_name, f.last_name, to_char(f.birth_date, 'YYYY-MM-DD'), NULL, NULL, false
        FROM former_identities f JOIN players p ON p.id = f.player_id
        WHERE f.operator_id = ${operatorId} AND f.birth_date = ${identity.birthDate} AND p.exclusion_type IS NOT NULL
          AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > ${toDate(now)})
          AND p.id IS DISTINCT FROM ${playerId}::float8::bigint`
      )
      return candidates.some((candidate) => candidate.hasNumber || isSamePerson(identity, candidate))
    })
)
