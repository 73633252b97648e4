import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { serviceRole } from "../../src/platform/Database.ts"
import { declaredTables, ensureRole, excessiveRights, grantRights } from "../../src/platform/Privileges.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"
import { adminQuery, asService } from "../kit/TestServer.ts"

// Goal: the service's database role can neither rewrite history nor remove its guards. Method: an intruder's
// statements, as the service's role and, to prove that each is a real attack, as the owner.

const attacks: ReadonlyArray<readonly [name: string, statement: string]> = [
  ["changes a ledger entry", "UPDATE ledger_entries SET amount = amount + 1"],
  ["removes ledger entries", "DELETE FROM ledger_entries"],
  ["empties the ledger", "TRUNCATE ledger_entries"],
  ["changes what a provider sent", "UPDATE provider_transactions SET amount = 0"],
  ["removes a tombstone", "DELETE FROM provider_transactions WHERE kind = 'tombstone'"],
  ["switches the guard of the audit log off", "ALTER TABLE audit_log DISABLE TRIGGER ALL"],
  ["switches all triggers off for a session", "SET session_replication_role = replica"],
  ["rewrites the audit log", "SET session_replication_role = replica; UPDATE audit_log SET actor = 'somebody else'"],
  ["changes the amount of a payment", "UPDATE payment_requests SET amount = 1"],
  ["moves a player to another operator", "UPDATE players SET operator_id = operator_id + 1"],
  ["forgets a migration", "DELETE FROM schema_migrations"],
  ["adds a table", "CREATE TABLE hidden (n integer)"],
  [
    "replaces the fence",
    "CREATE OR REPLACE FUNCTION pitboss_fence(updated bigint, expected bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'"
  ],
  ["reads the server's files", "SELECT pg_read_file('postgresql.conf')"],
  ["runs a program", "COPY ledger_entries FROM PROGRAM 'true'"]
]

layer(TestDatabase.layer, { excludeTestServices: true })("the service's database role", (it) => {
  it.effect.each(attacks)("is refused when it %s", ([, statement]) =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const statements = statement.split("; ")
      const asRole = (role: typeof url) =>
        adminQuery(
          role,
          `DO $do$ BEGIN ${
            statements.map((each) => `EXECUTE $s$${each}$s$;`).join(" ")
          } RAISE EXCEPTION 'done'; END $do$`
        )
      const refused = yield* Effect.flip(asRole(asService(url)))
      assert.match(String(refused.reason.cause), /permission denied|must be owner/)
      const done = yield* Effect.flip(asRole(url))
      assert.match(String(done.reason.cause), /done/)
    }))

  it.effect("loses settings it made for itself (ALTER ROLE … SET) when the service starts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* ensureRole("pitboss_settings_test", "one")
      yield* sql`ALTER ROLE pitboss_settings_test SET search_path = 'nowhere'`
      yield* ensureRole("pitboss_settings_test", "two")
      const settings = yield* sql`SELECT rolconfig FROM pg_roles WHERE rolname = 'pitboss_settings_test'`
      yield* sql`DROP ROLE pitboss_settings_test`
      assert.deepStrictEqual(settings, [{ rolconfig: null }])
    }))

  it.effect("has declared privileges for every table of the schema", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* sql<{ readonly name: string }>`SELECT relname::text AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'schema_migrations'`
      assert.deepStrictEqual(tables.map(({ name }) => name).sort(), [...declaredTables].sort())
    }))

  it.effect("has no privilege beyond the declared ones; excessive privileges are listed and revoked at the start", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const sql = yield* SqlClient.SqlClient
      const attack = (statement: string) => adminQuery(asService(url), statement)
      // rights by hand, which the next start takes back; a copy of a database has all that PUBLIC has
      yield* sql`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO pitboss_service`
      yield* attack("CREATE TEMPORARY TABLE ledger_entries (n integer)")
      assert.sameMembers(
        (yield* Effect.provide(excessiveRights, TestDatabase.layerService)).map((right) =>
          right.replace(/^(sets) .*/, "$1")
        ),
        ["makes temporary tables", "sets"]
      )
      yield* grantRights(serviceRole)
      assert.deepStrictEqual(yield* Effect.provide(excessiveRights, TestDatabase.layerService), [])
      for (const statement of ["CREATE TEMPORARY TABLE ledger_entries (n integer)", "SELECT setval('ids', 1)"]) {
        assert.match(String((yield* Effect.flip(attack(statement))).reason.cause), /permission denied/)
      }
      assert.include(yield* excessiveRights, "superuser")
    }))
})
