/**
 * Identifies the processes of the service in the database: each start gives its connections a new name in `application_name`. A process that serves
 * has at least one connection of {@link servingPool}.
 */

/** Pool of which every process keeps a connection open. */
export const servingPool = "pitboss-serving"

/** Application name of a process' connections of a pool. */
export const applicationOf = (pool: string, process: string): string => `${pool}/${process}`

/** SQL: the pool of an application name. */
export const poolSql = "split_part(application_name, '/', 1)"

/** SQL: the process of this connection. */
export const processSql = "split_part(current_setting('application_name'), '/', 2)"

/** SQL: whether the process named by an expression has no connection left. */
export const hasEndedSql = (process: string): string =>
  `NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${servingPool}/' || ${process})`
