import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runNodes } from "../faults/support/NodeRun.ts"
import { seedOfRun } from "../kit/Chance.ts"

// Goal: through faults of nodes, their network or their database, acknowledged effects are stored once, and one order
// explains all answers of a player, whichever nodes gave them; players of a lost node are taken over by others. Method: three
// processes, clients that send every message to any of them, real faults; `npm run faults -- --nodes 3` runs longer.

const seed = seedOfRun()

describe("three nodes", () => {
  it.live(
    `lose nothing and book nothing twice when one is killed, leaves, freezes or is cut off, or their database dies (E2E_SEED=${seed})`,
    Effect.fnUntraced(function*() {
      const outcome = yield* runNodes({
        seed,
        nodes: 3,
        players: 60,
        clients: 12,
        restMs: 0,
        leaseSeconds: 4,
        faults: { kill: 1, leave: 1, pause: 1, unreachable: 1, parted: 1, database: 1 },
        keepsFolder: false,
        onProgress: () => {},
        onFault: () => {}
      })
      assert.deepStrictEqual(outcome.violations, [], outcome.folder)
      assert.lengthOf(outcome.faults, 6)
      assert.isAbove(outcome.effects, 0)
      assert.isAbove(outcome.ordered, 0)
      // the fault had an effect
      assert.isAbove(outcome.lost + outcome.triedAgain, 0)
    }),
    900_000
  )
})
