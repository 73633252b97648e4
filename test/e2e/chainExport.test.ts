import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { hashOf } from "../../src/chain/Lines.ts"
import { Seals } from "../../src/chain/Seals.ts"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { dataOf, openCasino } from "../kit/Casino.ts"

// Goal: staff export a ledger, and the file can be verified with one published hash. Method: the commands, over the running service and
// without it.
layer(layerCasinos, { excludeTestServices: true })("the commands ledger export and check-export", (it) => {
  it.effect("export the hash chain, and verify the exported file by one published hash", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      dataOf(yield* seat.bet(100))
      yield* (yield* Seals).run
      const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-export-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => Fs.rmSync(folder, { recursive: true })))
      const file = Path.join(folder, "ledger.ndjson")
      for (const operator of [[], ["--operator", casino.slug]]) {
        const { exitCode, stdout } = yield* runHere(["ledger", "export", ...operator])
        assert.strictEqual(exitCode, 0)
        Fs.writeFileSync(file, stdout)
        const lines = stdout.trimEnd().split("\n")
        assert.isAtLeast(lines.filter((line) => line.startsWith("[\"entry\"")).length, 2)
        const hash = hashOf(lines.findLast((line) => line.startsWith("[\"seal\"")) ?? "")
        const checked = yield* runHere(["ledger", "check-export", file, "--hash", hash])
        assert.deepStrictEqual([checked.exitCode, JSON.parse(checked.stdout).violations], [0, []])
        const wrong = yield* runHere(["ledger", "check-export", file, "--hash", hashOf("another")])
        assert.strictEqual(wrong.exitCode, 1)
        assert.lengthOf(JSON.parse(wrong.stdout).violations, 1)
      }
      assert.strictEqual((yield* runHere(["ledger", "check-export", file, "--hash", "short"])).exitCode, 2)
      const absent = yield* runHere(["ledger", "check-export", `${file}.gone`, "--hash", hashOf("")])
      assert.deepStrictEqual([absent.exitCode, absent.stdout], [1, ""])
      const unknown = yield* runHere(["ledger", "export", "--operator", "nobody"])
      assert.deepStrictEqual([unknown.exitCode, unknown.stdout], [1, ""])
      assert.include(unknown.stderr, "NOT_FOUND")
    }))
})
