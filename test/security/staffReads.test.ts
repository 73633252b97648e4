import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { made, staffCall } from "../kit/Backoffice.ts"
import { pass } from "../kit/Calendar.ts"
import { layerCasinos, openCasino } from "../kit/Casino.ts"

// Goal: who of the staff looked at whom is in the log, without what was searched for, and the log does not grow with every look. Method:
// a member of staff who reads, and the lines of the log.

layer(layerCasinos, { excludeTestServices: true })("reads of personal data by staff", (it) => {
  it.effect("leave a line in the audit log, one an hour for the same subject", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const [one, two] = [(yield* casino.register()).id, (yield* casino.register()).id]
      const { id, token } = yield* made("/staff", { name: "Nosy", role: "compliance" })
      const read = (path: string) =>
        Effect.map(
          staffCall("GET", `/backoffice/v1${path}`, undefined, { authorization: `Bearer ${token}` }),
          ({ status }) => status
        )
      const lines = Effect.map(
        sql<{ readonly action: string; readonly subject: string; readonly after: unknown; readonly of: number | null }>`
          SELECT action, subject, after, player_id::float8 AS of FROM audit_log WHERE actor = ${`staff:${id}`}`,
        (found) => found.map(({ action, of, subject }) => `${action} ${subject} ${of}`).toSorted()
      )
      for (let turn = 0; turn < 3; turn++) {
        assert.strictEqual(yield* read(`/players/${one}`), 200)
        // however the path is written
        assert.strictEqual(yield* read(`/players/${two}`), 200)
        assert.strictEqual(yield* read(`/%70layers/${String(two).replaceAll(/\d/g, "%3$&")}`), 200)
        assert.strictEqual(yield* read(`/players/${one}/notes`), 200)
        assert.strictEqual(yield* read("/players?search=Lovelace"), 200)
        assert.strictEqual(yield* read("/players?search=Lovelace&page=2"), 200)
        assert.strictEqual(yield* read(`/audit?player=${one}`), 200)
        // what shows nobody, and what was refused
        assert.strictEqual(yield* read("/games"), 200)
        assert.strictEqual(yield* read("/players/999999999"), 404)
        assert.strictEqual(yield* read("/staff"), 403)
      }
      const expected = [
        "audit.list audit null",
        "player.list players null",
        "player.list players null",
        `player.notes player:${one} ${one}`,
        `player.show player:${one} ${one}`,
        `player.show player:${two} ${two}`
      ].toSorted()
      assert.deepStrictEqual(yield* lines, expected)
      const written = yield* sql`SELECT * FROM audit_log WHERE actor = ${`staff:${id}`}`
      assert.notInclude(
        JSON.stringify(written, (_, value) => typeof value === "bigint" ? String(value) : value),
        "Lovelace"
      )
      yield* pass(3_600_000)
      assert.strictEqual(yield* read(`/players/${one}`), 200)
      assert.deepStrictEqual(yield* lines, [...expected, `player.show player:${one} ${one}`].toSorted())
    }))
})
