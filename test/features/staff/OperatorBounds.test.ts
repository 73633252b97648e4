import { assert, describe, it } from "@effect/vitest"
import { actions, actionsOf, concernOf } from "../../../src/office/Authorisation.ts"
import { isWithin } from "../../../src/store/OperatorScope.ts"
import { targetOf } from "../../../src/office/OperatorTargets.ts"

// Goal: unknown actions are refused to bound staff, and a scope never widens. Method: the tables and the pure functions, at their edges.

describe("staff bound to operators", () => {
  it("are refused every action that is missing from the table of actions", () => {
    for (const action of ["", "player", "player.destroy", "constructor", "toString"]) {
      assert.strictEqual(concernOf(action), "installation", action)
    }
  })

  it("can never change staff accounts, secrets or data that operators share", () => {
    const changes = actions.filter((action) =>
      // a link for another account is refused by its service: test/e2e/operatorBounds.test.ts; colleagues are names alone
      /^(staff\.(?!ticket|colleagues)|secret\.)|^(provider|game)\.(create|update|rotate|sync)$|^(rate\.set|node\.drain|operator\.create)$/
        .test(action)
    )
    assert.isAbove(changes.length, 12)
    assert.deepStrictEqual(changes.filter((action) => concernOf(action) !== "installation"), [])
    const offered: ReadonlyArray<string> = actionsOf({ role: "admin", operators: [1] })
    assert.deepStrictEqual(changes.filter((action) => offered.includes(action)), [])
    assert.includeMembers([...offered], ["key.create", "player.show", "game.list"])
  })

  it("see data that belongs to no operator only with access to all operators", () => {
    assert.deepStrictEqual([isWithin(null, null), isWithin([], 1), isWithin([1], null), isWithin([1, 2], 2)], [
      true,
      false,
      false,
      true
    ])
  })

  it("have `bonus` in a path read as a catalogue bonus or as a player's bonus, depending on the action", () => {
    assert.strictEqual(targetOf("bonus.update", "bonus"), "bonus")
    assert.strictEqual(targetOf("bonus.cancel", "bonus"), "player_bonus")
    assert.strictEqual(targetOf("player.list", "toString"), undefined)
  })
})
