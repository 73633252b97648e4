import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertPlayers, playerId } from "../../bench/targets/servers/PlayerEngine.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: a bench registers any number of players within the statement timeout, on a busy machine too. Method: a trigger refuses
// statements that insert many players.

layer(TestDatabase.layer, { excludeTestServices: true })("players inserted for a benchmark", (it) => {
  it.effect("are each inserted once, by SQL statements of a bounded size", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE FUNCTION test_bound() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF (SELECT count(*) FROM inserted) > 1000 THEN RAISE 'too many at once'; END IF;
          RETURN NULL;
        END $$`
      for (const table of ["players", "accounts"]) {
        yield* sql`CREATE TRIGGER test_bound AFTER INSERT ON ${sql(table)} REFERENCING NEW TABLE AS inserted
          FOR EACH STATEMENT EXECUTE FUNCTION test_bound()`
      }
      yield* insertPlayers(2001)
      const [made] = yield* sql`SELECT count(*)::int4 AS players, min(id)::float8 AS first, max(id)::float8 AS last
        FROM players JOIN accounts ON player_id = id`
      assert.deepStrictEqual(made, { players: 2001, first: playerId(0), last: playerId(2000) })
    }))
})
