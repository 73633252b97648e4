/** Cases of `free-rounds`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { dataOf } from "../Casino.ts"
import { type CommandCase, done, nobody, type SceneShape } from "./Scene.ts"

const issue = "free-rounds issue --player $player --game $book --rounds 10 --stake 20 --valid-days 7"

const issued = (scene: SceneShape) => done(issue, scene, scene.tokens["payments"])

export const freeRoundsCases: ReadonlyArray<CommandCase> = [
  {
    line: issue,
    misused: ["free-rounds issue --player ada --game $book --rounds 10 --stake 20 --valid-days 7"],
    refused: [
      [`free-rounds issue --player ${nobody} --game $book --rounds 10 --stake 20 --valid-days 7`, "NOT_FOUND"],
      [`free-rounds issue --player $player --game ${nobody} --rounds 10 --stake 20 --valid-days 7`, "NOT_FOUND"],
      ["free-rounds issue --player $player --game $slots --rounds 10 --stake 20 --valid-days 7", "BONUS_INVALID"],
      ["free-rounds issue --player $player --game $book --rounds 0 --stake 20 --valid-days 7", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const freeRounds = yield* issued(scene)
      assert.deepInclude(freeRounds, { status: "issued", rounds: 10, stake: 20, currency: "EUR" })
      const { body } = scene.vendor.asked.at(-1) ?? {}
      assert.deepInclude(body, { reference: freeRounds.reference, rounds: 10, gameId: "book" })
      const shown = yield* scene.house.get(`/players/${scene.names["player"]}/free-rounds`)
      assert.deepStrictEqual(dataOf(shown)[0], freeRounds)
    },
    changes: () => Effect.succeed({ line: issue, differs: [] })
  },
  {
    line: "free-rounds cancel $free_rounds",
    misused: ["free-rounds cancel all"],
    refused: [[`free-rounds cancel ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const { id } = yield* issued(scene)
      assert.deepInclude(yield* done(`free-rounds cancel ${id}`), { id, status: "cancelled" })
      assert.strictEqual(scene.vendor.asked.at(-1)?.path, "/free-rounds/cancel")
    },
    changes: (scene) =>
      Effect.map(issued(scene), ({ id }) => ({ line: `free-rounds cancel ${id}`, differs: ["status"] }))
  },
  {
    line: "free-rounds list --player $player",
    misused: ["free-rounds list --player ada"],
    refused: [[`free-rounds list --player ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const freeRounds = yield* issued(scene)
      const [newest] = yield* done("free-rounds list --player $player", scene)
      assert.deepStrictEqual(newest, freeRounds)
    }
  }
]
