/** Finds exclusions in force that match the persons of an import, for many persons at once. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { exclusionScopes, exclusionSources, exclusionTypes } from "../../../domain/jurisdiction/ExclusionPeriods.ts"
import { type Identity, identityFacts, isSameByName, NamedIdentity } from "../../../domain/player/Identity.ts"
import { joinedExclusion } from "../../../domain/limit/Exclusions.ts"
import { type Exclusion, exclusionEnd, exclusionOf } from "../../../domain/state/Player.ts"
import { byteStrings, texts } from "../../../platform/ArrayParameters.ts"
import { PersonalData } from "../../../platform/PersonalData.ts"
import { toDate } from "../../../platform/Time.ts"
import { rowsOf } from "../../../store/Rows.ts"
import { makeOthersOfLicensee } from "../../../store/SamePersons.ts"
import { numberDigests } from "../../../store/SealedFields.ts"

const optionalTime = Schema.NullOr(Schema.Date)

const candidates = rowsOf(Schema.Struct({
  ...NamedIdentity.fields,
  personalIdDigest: Schema.NullOr(Schema.Uint8Array),
  documentDigest: Schema.NullOr(Schema.Uint8Array),
  type: Schema.Literals(exclusionTypes),
  since: Schema.Date,
  until: optionalTime,
  returnFrom: optionalTime,
  returnAt: optionalTime,
  returnWait: Schema.NullOr(Schema.String),
  source: Schema.NullOr(Schema.Literals(exclusionSources)),
  scope: Schema.NullOr(Schema.Literals(exclusionScopes))
}))

const excluded = (alias: string): string =>
  `${alias}.exclusion_type AS type, ${alias}.exclusion_since AS since, ${alias}.exclusion_until AS until,
    ${alias}.exclusion_return_from AS "returnFrom", ${alias}.exclusion_return_at AS "returnAt", ${alias}.exclusion_source AS source,
    ${alias}.exclusion_scope AS scope, ${alias}.exclusion_return_wait AS "returnWait"`

const isEqual = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one !== null && other !== null && Buffer.compare(one, other) === 0

/** A person who arrives, with the exclusion that the own line says. */
interface Arriving {
  readonly identity: Identity
  readonly exclusion: Exclusion | null
}

/** Exclusions in force of the other persons that match each. */
const exclusionsAmong = (persons: ReadonlyArray<Arriving>, now: number): ReadonlyArray<ReadonlyArray<Exclusion>> => {
  const isExcluded = ({ exclusion }: Arriving): boolean => {
    const end = exclusion === null ? now : exclusionEnd(exclusion)
    return end === null || end > now
  }
  const excluded = persons.filter(isExcluded)
  if (excluded.length === 0) return persons.map(() => [])
  const factsOf = ({ identity }: Arriving) =>
    identityFacts(identity).flatMap(([kind, value]) => value === null ? [] : [`${kind} ${value}`])
  const byFact = new Map<string, Array<Arriving>>()
  for (const person of excluded) {
    for (const fact of factsOf(person)) byFact.set(fact, [...byFact.get(fact) ?? [], person])
  }
  return persons.map((person) =>
    [...new Set(factsOf(person).flatMap((fact) => byFact.get(fact) ?? []))]
      .flatMap((other) => other === person || other.exclusion === null ? [] : [other.exclusion])
  )
}

/**
 * The exclusions in force that match each person, under every name that their players ever had, as one; null: none. Of the licensee's other operators count those
 * that hold at all of them, of the persons who arrive together all: none of them is here yet.
 */
export const makeMatchedExclusions = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  const othersOf = yield* makeOthersOfLicensee

  return Effect.fnUntraced(function*(operatorId: number, arriving: ReadonlyArray<Arriving>, now: number) {
    const persons = arriving.map(({ identity }) => identity)
    const among = exclusionsAmong(arriving, now)
    const digests = persons.map((person) => numberDigests(personal, person))
    const birthDates = texts([...new Set(persons.map(({ birthDate }) => birthDate))])
    const personalIds = byteStrings(digests.flatMap(({ personalId }) => personalId === null ? [] : [personalId]))
    const documents = byteStrings(
      digests.flatMap(({ documentNumber }) => documentNumber === null ? [] : [documentNumber])
    )
    const at = toDate(now)
    const others = yield* othersOf(operatorId)
    const found = yield* Effect.forEach([operatorId, ...others], (asked) => {
      const scope = asked === operatorId ? sql`true` : sql`p.exclusion_scope = 'licensee'`
      return candidates(
        sql`SELECT p.first_name AS "firstName", p.middle_name AS "middleName", p.last_name AS "lastName",
            to_char(p.birth_date, 'YYYY-MM-DD') AS "birthDate", p.personal_id_digest AS "personalIdDigest",
            p.document_number_digest AS "documentDigest", ${sql.literal(excluded("p"))}
          FROM players p
          WHERE p.operator_id = ${asked} AND p.exclusion_type IS NOT NULL AND ${scope}
            AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > ${at})
            AND (p.birth_date = ANY (${birthDates}::text[]::date[]) OR p.personal_id_digest = ANY (${personalIds}::bytea[])
              OR p.document_number_digest = ANY (${documents}::bytea[]))
          UNION ALL
          SELECT f.first_name, p.middle_name, f.last_name, to_char(f.birth_date, 'YYYY-MM-DD'), NULL, NULL,
            ${sql.literal(excluded("p"))}
          FROM former_identities f JOIN players p ON p.id = f.player_id
          WHERE f.operator_id = ${asked} AND f.birth_date = ANY (${birthDates}::text[]::date[]) AND p.exclusion_type IS NOT NULL
            AND ${scope} AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > ${at})`
      ).pipe(Effect.map((rows) => rows.map((row) => ({ ...row, isOther: asked !== operatorId }))))
    })
    const rows = found.flat()
    return persons.map((person, index) => {
      const own = digests[index]
      const here = rows
        .filter((row) =>
          isSameByName(person, row) || own !== undefined &&
            (isEqual(own.personalId, row.personalIdDigest) || isEqual(own.documentNumber, row.documentDigest))
        )
        .map((row): Exclusion | null =>
          exclusionOf({
            type: row.type,
            since: row.since.getTime(),
            until: row.until?.getTime() ?? null,
            source: row.isOther ? "licensee" : row.source,
            scope: row.scope,
            returnFrom: row.returnFrom?.getTime() ?? null,
            returnAt: row.returnAt?.getTime() ?? null,
            returnWait: row.returnWait
          })
        )
      return [...here, ...among[index] ?? []].reduce<Exclusion | null>(
        (one, other) => one === null || other === null ? one ?? other : joinedExclusion(one, other, now),
        null
      )
    })
  })
})
