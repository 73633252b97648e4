/**
 * The operators whose rows a statement may read or write: those that a staff member is bound to.
 *
 * A list of the staff API takes its scope of `Operators.scope(actor, query.operator)` and adds `within(sql, scope)` to its
 * conditions; what the request names is checked before (`OperatorBoundsLive.ts`).
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/** Ids of operators; null: all. An empty one is of nobody. */
export type Scope = ReadonlyArray<number> | null

/** Whether rows of an operator are in a scope; what belongs to no operator is only in the scope of all. */
export const isWithin = (scope: Scope, operatorId: number | null): boolean =>
  scope === null || (operatorId !== null && scope.includes(operatorId))

/**
 * The condition that rows are of a scope, none for all of them, so that statements for unbound staff are as if there were no scopes. One operator
 * is an equality, which an index that begins with the operator serves in its order.
 */
export const within = (
  sql: SqlClient.SqlClient,
  scope: Scope,
  column = "operator_id"
): ReadonlyArray<Statement.Fragment> => {
  if (scope === null) return []
  const [only, ...others] = scope
  return only !== undefined && others.length === 0
    ? [sql`${sql(column)} = ${only}`]
    : [sql`${sql(column)} = ANY(string_to_array(${scope.join(",")}, ',')::bigint[])`]
}

/** The sum of what is counted for each operator of a scope, one after the other, or at once for all of them. */
export const sumWithin = <E, R>(
  scope: Scope,
  count: (operatorId: number | undefined) => Effect.Effect<number, E, R>
): Effect.Effect<number, E, R> =>
  scope === null
    ? count(undefined)
    : Effect.map(Effect.forEach(scope, count), (counted) => counted.reduce((sum, one) => sum + one, 0))
