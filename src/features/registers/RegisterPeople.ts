/** Reads the personal data that a register check sends, and computes the keyed digests that identify a person in stored checks. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { comparableNumber, comparableText } from "../../domain/player/Identity.ts"
import type { RegisterKind } from "../../domain/register/Register.ts"
import { numbers } from "../../platform/ArrayParameters.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { Secrets } from "../../platform/Secrets.ts"
import type { Person } from "../../registers/Register.ts"
import { rowsOf } from "../../store/Rows.ts"
import { openNumbers } from "../../store/SealedFields.ts"

const Row = Schema.Struct({
  id: Schema.Number,
  firstName: Schema.String,
  lastName: Schema.String,
  lastNamePrefix: Schema.NullOr(Schema.String),
  birthName: Schema.NullOr(Schema.String),
  birthPlace: Schema.NullOr(Schema.String),
  birthDate: Schema.String,
  email: Schema.String,
  phone: Schema.NullOr(Schema.String),
  postcode: Schema.NullOr(Schema.String),
  numbersSealed: Schema.NullOr(Schema.Uint8Array),
  codeSealed: Schema.NullOr(Schema.Uint8Array)
})

const rows = rowsOf(Row)

/** Purpose of a register's sealed code of a player. */
export const registerCodePurpose = (playerId: number, kind: RegisterKind): string => `register-code:${playerId}:${kind}`

/** Keyed digest of names and birth date. */
export const nameDigest = (personal: PersonalData["Service"], person: Person): Uint8Array =>
  personal.digest("register_person", namesOf(person))

const namesOf = ({ birthDate, firstName, lastName }: Person): string =>
  [firstName, lastName, birthDate].map((text) => comparableText(text ?? "")).join(" ")

/** Keyed digest of a person: of the number where there is one, else of names and birth date. Nothing can be read from it without the key. */
export const personDigest = (personal: PersonalData["Service"], person: Person): Uint8Array =>
  personal.digest("register_person", comparableNumber(person.personalId) ?? namesOf(person))

/** Whether two readings of a player are of one identity: an answer about the one counts for the other. */
export const isSamePersonAsked = (one: Person, other: Person): boolean =>
  one.firstName === other.firstName && one.lastName === other.lastName && one.birthDate === other.birthDate

export class RegisterPeople extends Context.Service<RegisterPeople, {
  /** Some players as a register of a kind is asked about them, by player; a player that there is not is left out. */
  readonly of: (
    playerIds: ReadonlyArray<number>,
    kind: RegisterKind
  ) => Effect.Effect<ReadonlyMap<number, Person>, SqlError.SqlError>
}>()("pitboss/registers/RegisterPeople") {
  static readonly layer = Layer.effect(
    RegisterPeople,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const personal = yield* PersonalData
      const secrets = yield* Secrets
      const of: RegisterPeople["Service"]["of"] = Effect.fnUntraced(function*(playerIds, kind) {
        const found = yield* rows(
          sql`SELECT p.id, p.first_name AS "firstName", p.last_name AS "lastName", p.last_name_prefix AS "lastNamePrefix",
              p.birth_name AS "birthName", p.birth_place AS "birthPlace", to_char(p.birth_date, 'YYYY-MM-DD') AS "birthDate",
              p.email, p.phone, p.zip_code AS postcode,
              p.numbers_sealed AS "numbersSealed", c.code_sealed AS "codeSealed"
            FROM players p LEFT JOIN register_codes c ON c.player_id = p.id AND c.kind = ${kind}
            WHERE p.id = ANY(${numbers(playerIds)}::float8[]::bigint[])`
        )
        const people = new Map<number, Person>()
        for (const row of found) {
          const { codeSealed, id, numbersSealed, ...shown } = row
          const { personalId } = yield* openNumbers(personal, id, numbersSealed)
          // a code that cannot be opened is asked for anew, with the number
          const registerCode = codeSealed === null
            ? null
            : yield* Effect.orElseSucceed(secrets.openText(registerCodePurpose(id, kind), codeSealed), () => null)
          people.set(id, { ...shown, personalId, registerCode })
        }
        return people
      })
      return RegisterPeople.of({ of })
    })
  )
}

/** A player as a register of a kind is asked about it; undefined for a player that there is not. */
export const personOf = ({ of }: RegisterPeople["Service"], playerId: number, kind: RegisterKind) =>
  Effect.map(of([playerId], kind), (people) => people.get(playerId))
