/**
 * Operator scope of a statement: it may read and write rows only of the operators that the staff member is bound to.
 *
 * A list of the staff API takes its scope from `Operators.scope(actor, query.operator)` and adds `within(sql, scope)` to its conditions; operators
 * named by the request are checked before (`OperatorBoundsLive.ts`).
 */
import type { SqlClient, Statement } from "effect/sql"

/** Operator ids; null: all operators; empty: none. */
export type Scope = ReadonlyArray<number> | null

/** Whether rows of an operator are in scope; rows without an operator are only in the scope of all. */
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

/** The condition of {@link within} for figures of several operators, among which sandboxes do not count; one operator counts whatever it is. */
export const withinReport = (
  sql: SqlClient.SqlClient,
  scope: Scope,
  column = "operator_id"
): ReadonlyArray<Statement.Fragment> =>
  scope?.length === 1
    ? within(sql, scope, column)
    : [...within(sql, scope, column), sql`${sql(column)} NOT IN (SELECT id FROM operators WHERE is_sandbox)`]
