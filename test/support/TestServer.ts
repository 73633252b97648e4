import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"

/** The migrated database that the others are copies of. */
export const templateName = "pitboss_template"

/** The same server, another database. */
export const withDatabase = (url: Redacted.Redacted, name: string): Redacted.Redacted => {
  const parsed = new URL(Redacted.value(url))
  parsed.pathname = `/${name}`
  return Redacted.make(parsed.toString())
}

/** Runs one statement on a connection that is closed right after. */
export const adminQuery = (url: Redacted.Redacted, statement: string) =>
  Effect.scoped(
    Effect.flatMap(PgClient.makeClient({ url, prepare: false }), (sql) => sql.unsafe(statement))
  ).pipe(Effect.provide(Reactivity.layer))
