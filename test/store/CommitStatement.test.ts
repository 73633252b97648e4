import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { JournalClient } from "../../src/platform/Database.ts"
import { PersonalData } from "../../src/platform/PersonalData.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { emptyStatements } from "../../src/store/internal/CommitStatement.ts"
import { layerPersonal } from "../kit/Personal.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

layer(TestDatabase.layer)("emptyStatements", (it) => {
  // Goal: no commit pays for planning a statement. Method: all statements are run on an empty database, where each of them is a commit.
  it.effect("prepare every SQL statement of a commit and write nothing", () =>
    Effect.gen(function*() {
      const { seal } = yield* Secrets
      const journal = yield* JournalClient
      const statements = emptyStatements({
        seal,
        personal: yield* PersonalData,
        salted: (line) => ({ ...line, salt: "" })
      })
      assert.strictEqual(new Set(statements.map(({ text }) => text)).size, 10)
      for (const { parameters, text } of statements) yield* journal.unsafe(text, parameters)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT count(*)::integer AS rows FROM chain_links`, [{ rows: 0 }])
    }).pipe(Effect.provide(layerPersonal)))
})
