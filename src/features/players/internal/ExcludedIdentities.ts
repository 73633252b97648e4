/** Compares a registration, or a changed profile, with excluded persons (SPEC section 3.5). */
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { type Identity, isSameByName, NamedIdentity } from "../../../domain/player/Identity.ts"
import { refuse } from "../../../domain/Refusal.ts"
import { ServingClient } from "../../../platform/Database.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { makeOthersOfLicensee } from "../../../store/SamePersons.ts"
import { numberDigests } from "../../../store/SealedFields.ts"

const identities = rowsOf(Schema.Struct({ hasNumber: Schema.Boolean, ...NamedIdentity.fields }))

const excludedBy = (source: "operator" | "licensee") =>
  refuse("SELF_EXCLUDED_IDENTITY", "The identity matches a player who is excluded from play.", { source })

/** Other operators of a licensee that are asked at once. */
const concurrency = 4

/** The player whose identity is compared. */
interface Own {
  readonly playerId: number
  /** One who is excluded may have the identity of the own account at another operator: it opens nothing. */
  readonly isExcluded: boolean
}

/**
 * Refuses the identity of a player with an exclusion in force at `now`, whether the player has it or once had it; another one than the own player. Of
 * the licensee's other operators count the exclusions that hold at all of them.
 */
export const makeRefuseExcluded = Effect.gen(function*() {
  const sql = yield* ServingClient
  const personal = yield* PersonalData
  const othersOf = yield* makeOthersOfLicensee

  const isExcludedAt = Effect.fnUntraced(function*(
    operatorId: number,
    identity: Identity,
    now: number,
    { playerId, scope }: { readonly playerId: number | null; readonly scope: "licensee" | "any" }
  ) {
    const digests = numberDigests(personal, identity)
    const candidates = yield* identities(
      sql`SELECT first_name AS "firstName", middle_name AS "middleName", last_name AS "lastName",
          to_char(birth_date, 'YYYY-MM-DD') AS "birthDate",
          coalesce(personal_id_digest = ${digests.personalId}, false)
            OR coalesce(document_number_digest = ${digests.documentNumber}, false) AS "hasNumber"
        FROM players
        WHERE operator_id = ${operatorId} AND exclusion_type IS NOT NULL AND id IS DISTINCT FROM ${playerId}::float8::bigint
          AND (exclusion_over_at IS NULL OR exclusion_over_at > ${toDate(now)})
          AND (${scope} = 'any' OR exclusion_scope = ${scope})
          AND (birth_date = ${identity.birthDate}
            OR personal_id_digest = ${digests.personalId} OR document_number_digest = ${digests.documentNumber})
        UNION ALL
        SELECT f.first_name, p.middle_name, f.last_name, to_char(f.birth_date, 'YYYY-MM-DD'), false
        FROM former_identities f JOIN players p ON p.id = f.player_id
        WHERE f.operator_id = ${operatorId} AND f.birth_date = ${identity.birthDate} AND p.exclusion_type IS NOT NULL
          AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > ${toDate(now)})
          AND (${scope} = 'any' OR p.exclusion_scope = ${scope})
          AND p.id IS DISTINCT FROM ${playerId}::float8::bigint`
    )
    return candidates.some((candidate) => candidate.hasNumber || isSameByName(identity, candidate))
  })

  return Effect.fnUntraced(function*(
    operatorId: number,
    identity: Identity,
    now: number,
    own?: Own
  ): Effect.fn.Return<void, ReturnType<typeof excludedBy> | SqlError.SqlError> {
    if (yield* isExcludedAt(operatorId, identity, now, { playerId: own?.playerId ?? null, scope: "any" })) {
      return yield* Effect.fail(excludedBy("operator"))
    }
    if (own?.isExcluded === true) return
    const others = yield* Effect.forEach(
      yield* othersOf(operatorId),
      (other) => isExcludedAt(other, identity, now, { playerId: null, scope: "licensee" }),
      { concurrency }
    )
    if (others.includes(true)) return yield* Effect.fail(excludedBy("licensee"))
  })
})
