/** SQL about the rollbacks of a transaction. */

/** Condition for a processed rollback, by alias, of the transaction of the other alias. */
export const rollbackOf = (target: string, alias: string): string =>
  `${alias}.provider_id = ${target}.provider_id AND ${alias}.target_transaction_id = ${target}.transaction_id
      AND ${alias}.kind = 'rollback' AND ${alias}.status = 'processed'`

/** FROM and WHERE of the rollbacks `r` of the alias's transaction that are not rolled back themselves. */
export const rollbacksInEffect = (target: string): string =>
  `FROM provider_transactions r WHERE ${rollbackOf(target, "r")}
      AND NOT EXISTS (SELECT FROM provider_transactions s WHERE ${rollbackOf("r", "s")})`

/** Whether the alias's transaction is rolled back. Counted: EXISTS may be planned as a hash of all rollbacks. */
export const isRolledBack = (target: string): string => `(SELECT count(*) ${rollbacksInEffect(target)}) > 0`
