/** Cases of `node` without a cluster: no nodes to list or drain. */
import { assert } from "@effect/vitest"
import { type CommandCase, done } from "./Scene.ts"

export const nodeCases: ReadonlyArray<CommandCase> = [
  {
    line: "node list",
    misused: ["node list all"],
    refused: [],
    *works() {
      assert.deepStrictEqual(yield* done("node list"), [])
    }
  }
]
