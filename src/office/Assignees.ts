/** Resolves the assignee of an alert or case to an active staff account with a suitable role and access to the operator. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { refuseFields } from "../domain/Refusal.ts"
import { isWithin } from "../store/OperatorScope.ts"
import { oneOf, rowsOf } from "../store/Rows.ts"
import type { Actor } from "./Actor.ts"
import { type Action, rolesFor } from "./Authorisation.ts"

const accountRows = rowsOf(Schema.Struct({
  active: Schema.Boolean,
  role: Schema.String,
  operators: Schema.NullOr(Schema.Array(Schema.Number))
}))

const noSelf = refuseFields({ staff: ["must be the id of an account: this token belongs to no account"] })

/**
 * The account that `me`, `none` or an id names, for work on a record of an operator. It must be active, not be bound to other operators, and have a role
 * that takes `action`.
 */
export const makeAssignees = (action: Action, what: string) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const noAccount = refuseFields({ staff: [`must be an active account that may work on this ${what}`] })
    return Effect.fnUntraced(function*(actor: Actor, to: string, operatorId: number) {
      if (to === "none") return null
      if (to === "me" && actor.id === null) return yield* Effect.fail(noSelf)
      const id = to === "me" ? actor.id : Number(to)
      const account = yield* oneOf(accountRows(
        sql`SELECT active, role, operator_ids AS operators FROM staff WHERE id = ${id}::float8::bigint`
      ))
      const may = account?.active === true && rolesFor(action).some((role) => role === account.role) &&
        isWithin(account.operators, operatorId)
      return may ? id : yield* Effect.fail(noAccount)
    })
  })
