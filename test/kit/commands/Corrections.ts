/** Cases of `correction`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { openCasino } from "../Casino.ts"
import { type CommandCase, done, nobody, refusal, type SceneShape } from "./Scene.ts"

/** A correction that waits for a second person, asked for by the account of the role `payments`. */
const pending = Effect.fnUntraced(function*({ tokens }: SceneShape) {
  const casino = yield* openCasino({ withdrawal_second_approval_above: 99 })
  const { id: player } = yield* casino.register()
  const correction = yield* done(`player correct ${player} --amount 100 --reason lost`, undefined, tokens["payments"])
  return { casino, player: Number(player), correction }
})

export const correctionCases: ReadonlyArray<CommandCase> = [
  {
    line: "correction list",
    misused: ["correction list --status lost", "correction list --player ada"],
    refused: [
      ["correction list --operator nobody", "NOT_FOUND"],
      ["correction list --per-page 101", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { casino, correction, player } = yield* pending(scene)
      assert.deepInclude(correction, {
        operator_id: casino.id,
        player_id: player,
        wallet: "real",
        amount: 100,
        status: "pending",
        reason: "lost",
        transaction_id: null
      })
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
      assert.deepStrictEqual(yield* done(`correction list --player ${player}`), [correction])
      assert.deepStrictEqual(yield* done(`correction list --operator ${casino.slug} --status posted`), [])
    }
  },
  {
    line: "correction approve $correction",
    misused: ["correction approve first", "correction approve $correction --amount 5"],
    refused: [[`correction approve ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const { casino, correction, player } = yield* pending(scene)
      const own = yield* refusal(`correction approve ${correction.id}`, undefined, {
        token: scene.tokens["payments"]
      })
      assert.strictEqual(own.code, "PAYMENT_REQUEST_INVALID")
      const posted = yield* done(`correction approve ${correction.id}`, undefined, scene.tokens["admin"])
      assert.deepInclude(posted, { id: correction.id, status: "posted", requested_by: correction.requested_by })
      assert.deepStrictEqual(yield* casino.balances(player), [100, 0])
      const [entry] = yield* done(`player transactions ${player}`)
      assert.deepInclude(entry, { id: posted.transaction_id, type: "correction_up", amount: 100 })
      const again = yield* refusal(`correction approve ${correction.id}`, undefined, { token: scene.tokens["admin"] })
      assert.strictEqual(again.code, "PAYMENT_REQUEST_INVALID")
      assert.deepStrictEqual(yield* casino.balances(player), [100, 0])
    },
    changes: (scene) =>
      Effect.map(pending(scene), ({ correction }) => ({
        line: `correction approve ${correction.id}`,
        differs: ["balance", "transaction_id", "requested_by"]
      }))
  },
  {
    line: "correction reject $correction",
    misused: ["correction reject first"],
    refused: [
      [`correction reject ${nobody}`, "NOT_FOUND"],
      ["correction reject $correction --reason $long$long", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const { casino, correction, player } = yield* pending(scene)
      const rejected = yield* done(`correction reject ${correction.id} --reason "not lost"`)
      assert.deepInclude(rejected, { id: correction.id, status: "rejected", reject_reason: "not lost" })
      const late = yield* refusal(`correction approve ${correction.id}`, undefined, { token: scene.tokens["admin"] })
      assert.strictEqual(late.code, "PAYMENT_REQUEST_INVALID")
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
    },
    changes: (scene) =>
      Effect.map(pending(scene), ({ correction }) => ({
        line: `correction reject ${correction.id} --reason twice`,
        differs: ["status"]
      }))
  }
]
