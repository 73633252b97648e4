import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { asRole, layerOwnerClient, serviceRole } from "../../src/platform/Database.ts"
import { ensureRole } from "../../src/platform/Privileges.ts"

/** The migrated database that the others are copies of. */
export const templateName = "pitboss_template"

/** Shared memory in files of the data directory: a killed server leaves none in the machine's memory. */
export const memoryInFolder = { dynamic_shared_memory_type: "mmap" } as const

/** The same server, another database. */
export const withDatabase = (url: Redacted.Redacted, name: string): Redacted.Redacted => {
  const parsed = new URL(Redacted.value(url))
  parsed.pathname = `/${name}`
  return Redacted.make(parsed.toString())
}

/** The password of the service's role on the run's server. */
const servicePassword = "service"

/** Makes the service's role, which owns nothing. */
export const addServiceRole = (url: Redacted.Redacted) =>
  Effect.provide(ensureRole(serviceRole, servicePassword), layerOwnerClient(url))

/** The same database for the service's role. */
export const asService = (url: Redacted.Redacted): Redacted.Redacted => asRole(url, serviceRole, servicePassword)

/** Runs one statement on a connection that is closed right after. */
export const adminQuery = (url: Redacted.Redacted, statement: string) =>
  Effect.scoped(
    Effect.flatMap(PgClient.makeClient({ url, prepare: false }), (sql) => sql.unsafe(statement))
  ).pipe(Effect.provide(Reactivity.layer))
