/** SQL fragments that find a transaction's rollbacks in effect, leaving out rollbacks that were themselves rolled back. */

/** Condition: the row of `alias` is a processed rollback of the transaction of `target`. */
export const rollbackOf = (target: string, alias: string): string =>
  `${alias}.provider_id = ${target}.provider_id AND ${alias}.target_transaction_id = ${target}.transaction_id
      AND ${alias}.kind = 'rollback' AND ${alias}.status = 'processed'`

/** FROM and WHERE: the rollbacks `r` of the transaction of `target` that are not rolled back themselves. */
export const rollbacksInEffect = (target: string): string =>
  `FROM provider_transactions r WHERE ${rollbackOf(target, "r")}
      AND NOT EXISTS (SELECT FROM provider_transactions s WHERE ${rollbackOf("r", "s")})`

/** Whether the transaction of `target` is rolled back. Counted: EXISTS may be planned as a hash of all rollbacks. */
export const isRolledBack = (target: string): string => `(SELECT count(*) ${rollbacksInEffect(target)}) > 0`
