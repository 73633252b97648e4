/** Cases of `node` without a cluster: no nodes to list or drain. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type CommandCase, done } from "./Scene.ts"

export const nodeCases: ReadonlyArray<CommandCase> = [
  {
    line: "node list",
    misused: ["node list all"],
    refused: [],
    works: () => Effect.map(done("node list"), (nodes) => assert.deepStrictEqual(nodes, []))
  }
]
