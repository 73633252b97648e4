import { assert, describe, it } from "@effect/vitest"
import { compact } from "../../src/domain/state/Player.ts"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { bet, makePlayer, noon, roulette, slot, win } from "../kit/Messages.ts"

const tableBet = bet("table", 10, { game: roulette, roundId: "spin" })

/** The player after these messages, without any look-up. */
const after = (...messages: ReadonlyArray<Parameters<typeof settle>[1]>) => {
  let player = makePlayer()
  for (const message of messages) {
    const decision = settle(player, message, { now: noon, firstId: player.entrySeq * 100 + 1, known: undefined })
    player = decision._tag === "Accept" ? decision.state : assert.fail(`not accepted: ${JSON.stringify(decision)}`)
  }
  return player
}

describe("a player's memory when compacted", () => {
  // Goal: a live table's win that comes minutes after its bet reads nothing from the store, while other memory is released. Method:
  // bets on a table and on a slot, the pause, the table's win.
  it("keeps open rounds of live tables, whose wins come minutes after their bets, and drops rounds of slots", () => {
    const paused = compact(after(bet("spin", 10, { game: slot, roundId: "slot" }), tableBet))
    assert.deepStrictEqual(paused.rounds.items.map(({ roundId }) => roundId), ["spin"])
    assert.deepStrictEqual(paused.transactions.items.map(({ transactionId }) => transactionId), ["table"])
    const paid = settle(
      paused,
      win("paid", "table", 25, { game: roulette, roundId: "spin" }),
      { now: noon + 300_000, firstId: 9000, known: undefined }
    )
    assert.strictEqual(paid._tag, "Accept")
    assert.strictEqual(compact(paused), paused)
  })

  it("drops closed rounds", () => {
    const paused = compact(after({ ...tableBet, closesRound: true }))
    assert.deepStrictEqual([paused.rounds.items, paused.transactions.items], [[], []])
  })
})
