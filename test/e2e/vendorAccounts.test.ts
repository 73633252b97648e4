import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Message } from "../../scripts/simulators/Dialect.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { accountStates, protocolRows } from "../kit/ProtocolRows.ts"
import { play, vendorCases } from "../kit/Vendors.ts"
import { messagesOf, openTable, realOf } from "../kit/VendorTables.ts"

// Goal: an account's status, an exclusion, a limit or an end of all sessions refuses bets with the protocol's code, and no settlement.
// Method: two bets of every vendor over HTTP, then the operator changes the player, then a third bet, a win of the first bet, a rollback of
// the second and a prize; the answers, and the player's money.

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("accounts at vendors", (it) => {
  for (const found of vendorCases) {
    for (const state of accountStates) {
      it.effect(`${found.name}: ${state}`, () =>
        Effect.gen(function*() {
          const { operator, playerId, session, vendor } = yield* openTable(found)
          const { dialect } = found
          const { bet, rollback, win } = messagesOf(dialect, session.gameId)
          let calls = 0
          const send = (message: Message) => play(vendor, session, message, `call-${++calls}`)
          const rightly = Effect.fnUntraced(function*(message: Message) {
            const answer = yield* send(message)
            assert.include(dialect.expect(message.kind, "new").codes, answer.code, answer.text)
            assert.deepStrictEqual(answer.problems, [])
          })
          const [won, taken, late] = [bet("b1", "10"), bet("b2", "10"), bet("b3", "10")]
          yield* rightly(won)
          yield* rightly(taken)

          const path = `/api/v1/operator/players/${playerId}`
          const changed = state === "locked" || state === "closed"
            ? yield* operator.send(`${path}/status`, { method: "PUT", body: { status: state } })
            : state === "excluded"
            ? yield* operator.post(`${path}/self-exclusion`, { period: "24_hours" })
            : state === "limited"
            ? yield* operator.send(`${path}/limits`, { method: "PUT", body: { limits: { max_single_bet: 500 } } })
            : yield* operator.send(`${path}/session-tokens`, { method: "DELETE" })
          assert.isBelow(changed.status, 300, changed.text)

          const refused = yield* send(late)
          assert.strictEqual(refused.code, protocolRows[found.name]?.refusals[state], refused.text)
          yield* rightly(win("w1", won))
          yield* rightly(rollback("x2", taken))
          if (dialect.close) yield* rightly({ kind: "close", roundId: won.roundId, gameId: won.gameId })
          const isTaken = dialect.expect("bet", "new").codes.includes(refused.code)
          assert.strictEqual(yield* realOf(playerId), isTaken ? 10_500 : 11_500)
        }))
    }
  }
})
