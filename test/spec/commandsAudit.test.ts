import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Fields } from "../kit/Casino.ts"
import { pass } from "../kit/Calendar.ts"
import { cases } from "../kit/commands/Cases.ts"
import { commandOf, done, layerScene, Scene } from "../kit/commands/Scene.ts"

// Goal: each changing command adds one line to the log: actor, time, action, before and after, with only the changed fields
// differing and without a secret. Method: each of them once as a staff account, between two reads of the table; the line of a
// player with a withdrawal hold is tested in WithdrawalHolds.test.ts. That refused
// commands add none is tested in commandsRefused.test.ts.

/** Fields that differ between two states; timestamps count only when nothing else differs. */
const differing = (before: Fields, after: Fields): ReadonlyArray<string> => {
  const different = Object.keys({ ...before, ...after }).filter((name) =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name])
  )
  const telling = different.filter((name) => !["updated_at", "created_at", "id"].includes(name))
  return telling.length === 0 ? different : telling
}

/** Values shown once. */
const secretsOf = (printed: Fields): ReadonlyArray<string> =>
  [printed["secret"], printed["token"]].filter((secret) => typeof secret === "string")

layer(layerScene, { excludeTestServices: true })("commands in the audit log", (it) => {
  for (const { changes, line } of cases) {
    if (changes === undefined) continue
    it.effect(`CONTRACT 3 ${commandOf(line)} leaves one line in the audit log`, () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const scene = yield* Scene
        const { differs, line: change } = yield* changes(scene)
        yield* pass(1000)
        const known = yield* sql<{ readonly id: bigint }>`SELECT id FROM audit_log`
        const printed = yield* done(change, scene, scene.tokens["admin"])
        const written: ReadonlyArray<Fields> =
          yield* sql`SELECT at, actor, action, subject, before, after, reason FROM audit_log
          WHERE action NOT IN ('player.hold', 'obligation.impose', 'register.check', 'erasure') AND NOT ${
            sql.in("id", known.map(({ id }) => id))
          }`
        assert.strictEqual(written.length, 1, change)
        const [{ actor, after, at, before, action } = {}] = written
        assert.strictEqual(action, commandOf(line).replace(" ", ".").replace("-", "_"))
        assert.strictEqual(actor, `staff:${scene.names.admin}`)
        assert.instanceOf(at, Date)
        if (differs.length === 0) {
          assert.isNull(before)
          assert.isAbove(Object.keys(Object(after)).length, 0)
        } else assert.sameMembers([...differing(Object(before), Object(after))], [...differs])
        const told = JSON.stringify(written)
        for (const secret of secretsOf(printed)) assert.notInclude(told, secret)
        assert.notMatch(told, /hash|sealed/)

        // a repetition without a change adds no line, but that of a read where it shows a record of a player
        if (!/^\w+(-\w+)? update/.test(change)) return
        const count = sql<{ readonly total: number }>`SELECT count(*)::int AS total FROM audit_log
          WHERE action NOT IN ('alert.show', 'case.show')`
        const totals = yield* count
        assert.deepStrictEqual(yield* done(change, scene), printed)
        assert.deepStrictEqual(yield* count, totals)
      })))
  }
})
