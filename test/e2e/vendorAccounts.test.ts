import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Message, Session } from "../../scripts/simulators/Dialect.ts"
import { SessionTokens } from "../../src/features/games/SessionTokens.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { accountStates, protocolRows } from "../kit/ProtocolRows.ts"
import { play, vendorCases } from "../kit/Vendors.ts"
import { messagesOf, openTable, realOf } from "../kit/VendorTables.ts"

// Goal: an account's status, an exclusion, a limit, an end of all sessions or that of the session's twelve hours refuses bets with the protocol's code, and no settlement.
// Method: two bets of every vendor over HTTP, then the operator changes the player, then a third bet, a win of the first bet, a rollback of
// the second and a prize; the answers, and the player's money.

/** Twelve hours pass for the sessions of a player. */
const expire = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const actors = yield* PlayerActors
  yield* sql`UPDATE game_sessions SET expires_at = now() - interval '1 second' WHERE player_id = ${playerId}`
  actors.renew(playerId, () => true)
  return { status: 200, text: "" }
})

/** The session under the token that it would have, had it been opened twelve hours before. */
const expired = Effect.fnUntraced(function*(session: Session) {
  const tokens = yield* SessionTokens
  const opened = tokens.verify(session.token)
  return opened === undefined ? session : { ...session, token: tokens.issue({ ...opened, expiresAt: Date.now() - 1 }) }
})

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })(
  "account and session states at vendors",
  (it) => {
    for (const found of vendorCases) {
      const refusals = protocolRows[found.name]?.refusals
      for (const state of [...accountStates, "expired"] as const) {
        it.effect(`${found.name}, ${state}: a new bet gets the documented answer, and earlier bets are still settled`, () =>
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
              : state === "ended"
              ? yield* operator.send(`${path}/session-tokens`, { method: "DELETE" })
              : yield* expire(playerId)
            assert.isBelow(changed.status, 300, changed.text)

            const refused = yield* state === "expired"
              ? play(vendor, yield* expired(session), late, "late")
              : send(late)
            assert.strictEqual(refused.code, refusals?.[state === "expired" ? "ended" : state], refused.text)
            yield* rightly(win("w1", won))
            yield* rightly(rollback("x2", taken))
            if (dialect.close) yield* rightly({ kind: "close", roundId: won.roundId, gameId: won.gameId })
            const isTaken = dialect.expect("bet", "new").codes.includes(refused.code)
            assert.strictEqual(yield* realOf(playerId), isTaken ? 10_500 : 11_500)
          }))
      }
    }
  }
)
