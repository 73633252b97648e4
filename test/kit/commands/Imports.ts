/** Cases of `import-run`. What writes lines is apart: e2e/moving.test.ts. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { openCasino } from "../Casino.ts"
import { proposedImport } from "../ProposedImport.ts"
import { type CommandCase, done, nobody, refusal, type SceneShape } from "./Scene.ts"

const pending = Effect.fnUntraced(function*({ tokens }: SceneShape) {
  const casino = yield* openCasino()
  return { casino, run: yield* proposedImport(casino, tokens["payments"]) }
})

export const importCases: ReadonlyArray<CommandCase> = [
  {
    line: "import-run list",
    misused: ["import-run list --status lost"],
    refused: [
      ["import-run list --operator nobody", "NOT_FOUND"],
      ["import-run list --per-page 101", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { casino, run } = yield* pending(scene)
      assert.deepInclude(run, { operator_id: casino.id, status: "proposed", chunks: 1, posted_chunks: 0 })
      assert.deepStrictEqual(yield* done(`import-run list --operator ${casino.slug}`), [run])
      assert.deepStrictEqual(yield* done(`import-run list --operator ${casino.slug} --status posted`), [])
    }
  },
  {
    line: "import-run show $run",
    misused: ["import-run show first"],
    refused: [[`import-run show ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const { run } = yield* pending(scene)
      assert.deepStrictEqual(yield* done(`import-run show ${run.id}`), run)
    }
  },
  {
    line: "import-run approve $run",
    misused: ["import-run approve first", "import-run approve $run --amount 5"],
    refused: [[`import-run approve ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const { run } = yield* pending(scene)
      const own = yield* refusal(`import-run approve ${run.id}`, undefined, { token: scene.tokens["payments"] })
      assert.strictEqual(own.code, "INVALID_REQUEST")
      const approved = yield* done(`import-run approve ${run.id}`, undefined, scene.tokens["admin"])
      assert.deepInclude(approved, { id: run.id, status: "approved", totals: run.totals })
    },
    changes: (scene) =>
      Effect.map(pending(scene), ({ run }) => ({
        line: `import-run approve ${run.id}`,
        differs: ["status"]
      }))
  },
  {
    line: "import-run reject $run",
    misused: ["import-run reject first"],
    refused: [
      [`import-run reject ${nobody}`, "NOT_FOUND"],
      ["import-run reject $run --reason $long$long", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { run } = yield* pending(scene)
      assert.deepInclude(yield* done(`import-run reject ${run.id} --reason wrong`), { id: run.id, status: "rejected" })
      const late = yield* refusal(`import-run approve ${run.id}`, undefined, { token: scene.tokens["admin"] })
      assert.strictEqual(late.code, "INVALID_REQUEST")
    },
    changes: (scene) =>
      Effect.map(pending(scene), ({ run }) => ({ line: `import-run reject ${run.id}`, differs: ["status"] }))
  }
]
