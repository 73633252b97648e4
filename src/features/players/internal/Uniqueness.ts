/**
 * Unique player fields per operator (username, e-mail, phone, external id): checked before a write, and identified when a write violates their
 * index.
 */
import { Effect, Schema } from "effect"
import type { SqlError, Statement } from "effect/sql"
import type { FieldMessages, UniqueFields } from "../../../contract/players/RegistrationResource.ts"
import { ServingClient } from "../../../platform/Database.ts"
import { rowsOf } from "../../../store/Rows.ts"

const takenFields = rowsOf(Schema.Struct({ field: Schema.Literals(["username", "email", "phone", "external_id"]) }))

const fieldByIndex: { readonly [index: string]: keyof UniqueFields } = {
  players_username: "username",
  players_email: "email",
  players_phone: "phone",
  players_external_id: "external_id"
}

/** Validation message of a taken field. */
export const taken: ReadonlyArray<string> = ["is already taken"]

/** Field of the unique index that a statement violated. */
export const clashOf = (error: SqlError.SqlError): keyof UniqueFields | undefined =>
  error.reason._tag === "UniqueViolation" ? fieldByIndex[error.reason.constraint] : undefined

/** Names that erased players have, whoever they were: nobody can stand in the way of an erasure. */
const isOfErased = (name: string | undefined): boolean => /^erased-\d+(@erased\.invalid)?$/i.test(name ?? "")

/** Asks which of the fields a player of the operator has, other than the one with the id `except`. */
export const makeFindTaken = Effect.gen(function*() {
  const sql = yield* ServingClient
  return (operatorId: number, unique: Partial<UniqueFields>, except?: number) => {
    const others = except === undefined
      ? sql`operator_id = ${operatorId}`
      : sql`operator_id = ${operatorId} AND id <> ${except}`
    const conditions: ReadonlyArray<Statement.Fragment> = [
      ...(unique.username === undefined ? [] : [
        sql`SELECT 'username' AS field FROM players WHERE ${others} AND lower(username) = lower(${unique.username})`
      ]),
      ...(unique.email === undefined ? [] : [
        sql`SELECT 'email' AS field FROM players WHERE ${others} AND email = ${unique.email}`
      ]),
      ...(unique.phone === undefined ? [] : [
        sql`SELECT 'phone' AS field FROM players WHERE ${others} AND phone = ${unique.phone}`
      ]),
      ...(unique.external_id === undefined ? [] : [
        sql`SELECT 'external_id' AS field FROM players WHERE ${others} AND external_id = ${unique.external_id}`
      ])
    ]
    const reserved: FieldMessages = {
      ...(isOfErased(unique.username) ? { username: taken } : {}),
      ...(isOfErased(unique.email) ? { email: taken } : {})
    }
    return conditions.length === 0
      ? Effect.succeed(reserved)
      : Effect.map(
        takenFields(sql`${sql.join(" UNION ALL ", false)(conditions)}`),
        (found): FieldMessages => ({ ...reserved, ...Object.fromEntries(found.map(({ field }) => [field, taken])) })
      )
  }
})
