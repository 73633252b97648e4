/**
 * Accounts of the same person at the other operators of a licensee, found by keyed digests of identifying facts (`player_facts`). Searches one
 * operator at a time: no statement spans two (`docs/decisions/0045-operators-apart.md`).
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { NamedIdentity, identityFacts } from "../domain/player/Identity.ts"
import { byteStrings, texts } from "../platform/ArrayParameters.ts"
import { ServingClient } from "../platform/Database.ts"
import { PersonalData } from "../platform/PersonalData.ts"
import { columnsOf, oneOf, rowsOf } from "./Rows.ts"
import { openNumbers } from "./SealedFields.ts"

/** Former names that are looked for: those of a record that was changed this often are of nobody. */
const maxFormerNames = 100

/** Digest of a fact before it is keyed. */
export const bareFact = (kind: string, value: string): Uint8Array =>
  Crypto.createHash("sha256").update(`${kind}\n${value}`).digest().subarray(0, 16)

const PlayerRow = Schema.Struct({
  operatorId: Schema.Number,
  ...NamedIdentity.fields,
  numbersSealed: Schema.NullOr(Schema.Uint8Array)
})
const playerRows = rowsOf(PlayerRow)
const playerColumns = columnsOf(PlayerRow, "p", { birthDate: "to_char(p.birth_date, 'YYYY-MM-DD')" })
const nameRows = rowsOf(Schema.Struct({
  firstName: Schema.String,
  lastName: Schema.String,
  birthDate: Schema.String
}))
const operatorRows = rowsOf(Schema.Struct({ id: Schema.Number }))

/** The other operators of an operator's licensee, by id; none without a licensee. */
export const makeOthersOfLicensee = Effect.map(ServingClient, (sql) => (operatorId: number) =>
  Effect.map(
    operatorRows(
      sql`SELECT o.id FROM operators own JOIN operators o ON o.licensee_id = own.licensee_id AND o.id <> own.id
        WHERE own.id = ${operatorId} ORDER BY o.id`
    ),
    (rows) => rows.map(({ id }) => id)
  ))

export const makeSamePersons = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const personal = yield* PersonalData
  const othersOf = yield* makeOthersOfLicensee

  /** The person of a player, under every name that the player ever had; undefined where the licensee has no other operator. */
  const find = Effect.fnUntraced(function*(playerId: number) {
    const row = yield* oneOf(
      playerRows(sql`SELECT ${sql.literal(playerColumns)} FROM players p WHERE p.id = ${playerId}::float8::bigint`)
    )
    if (row === undefined) return undefined
    const operators = yield* othersOf(row.operatorId)
    if (operators.length === 0) return undefined
    const identity = { ...row, ...yield* openNumbers(personal, playerId, row.numbersSealed) }
    const former = yield* nameRows(
      sql`SELECT first_name AS "firstName", last_name AS "lastName", to_char(birth_date, 'YYYY-MM-DD') AS "birthDate"
        FROM former_identities WHERE player_id = ${playerId}::float8::bigint ORDER BY changed_at DESC LIMIT ${maxFormerNames}`
    )
    const facts = [identity, ...former.map((name) => ({ ...identity, ...name }))].flatMap(identityFacts)
    const known = new Map(
      facts.flatMap(([kind, value]) => value === null ? [] : [[`${kind}\n${value}`, { kind, value }]])
    )
    return {
      operators,
      /** Rows `u(kind, digest)` of a FROM clause. */
      facts: sql`unnest(${texts([...known.values()].map(({ kind }) => kind))}::text[],
        ${byteStrings([...known.values()].map(({ kind, value }) => personal.fact(bareFact(kind, value))))}::bytea[])
        AS u(kind, digest)`
    }
  })

  return find
})
