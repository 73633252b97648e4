/** Processes of the service as the database knows them: by a name in the application name of their connections, new at every start. */

/** Application name of a process' connections of a pool. */
export const applicationOf = (pool: string, process: string): string => `${pool}/${process}`

/** SQL: the pool of an application name. */
export const poolSql = "split_part(application_name, '/', 1)"

/** SQL: the process of this connection. */
export const processSql = "split_part(current_setting('application_name'), '/', 2)"
