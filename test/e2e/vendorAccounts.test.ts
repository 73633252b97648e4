import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { parseDecimal } from "../../src/protocols/Decimal.ts"
import type { BetMessage, Message, RollbackMessage, WinMessage } from "../../vendor/Dialect.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addTenant, deposit, freshName, register } from "../kit/E2eWorld.ts"
import { addVendor, openSeat, play, vendorCases } from "../kit/Vendors.ts"

// Goal: an account's status, an exclusion, a limit or an end of all sessions refuses bets with the protocol's code, and no settlement.
// Method: two bets of every vendor over HTTP, then the operator changes the player, then a third bet, a win of the first bet, a rollback of
// the second and a prize; the answers, and the player's money.

const states = ["locked", "closed", "excluded", "limited", "ended"] as const

type State = typeof states[number]

/** Expected answers to a bet, by each vendor's description. */
const words: { readonly [vendor: string]: { readonly [state in State]: string } } = {
  hub88: {
    locked: "RS_ERROR_USER_DISABLED",
    closed: "RS_ERROR_USER_DISABLED",
    excluded: "RS_ERROR_USER_DISABLED",
    limited: "RS_ERROR_LIMIT_REACHED",
    ended: "RS_ERROR_TOKEN_EXPIRED"
  },
  caleta: {
    locked: "RS_ERROR_USER_DISABLED",
    closed: "RS_ERROR_USER_DISABLED",
    excluded: "RS_ERROR_USER_DISABLED",
    limited: "RS_ERROR_BET_LIMIT_EXCEEDED",
    ended: "RS_ERROR_TOKEN_EXPIRED"
  },
  pragmatic: { locked: "6", closed: "6", excluded: "6", limited: "50", ended: "4" },
  slotegrator: {
    locked: "INTERNAL_ERROR",
    closed: "INTERNAL_ERROR",
    excluded: "INTERNAL_ERROR",
    limited: "INTERNAL_ERROR",
    ended: "INTERNAL_ERROR"
  },
  a8r: { locked: "110", closed: "110", excluded: "110", limited: "105", ended: "OK" },
  gcp: { locked: "110", closed: "110", excluded: "110", limited: "105", ended: "OK" },
  evolution: {
    locked: "ACCOUNT_LOCKED",
    closed: "ACCOUNT_LOCKED",
    excluded: "ACCOUNT_LOCKED",
    limited: "CASINO_LIMIT_EXCEEDED_STAKE",
    ended: "INVALID_SID"
  },
  spribe: { locked: "405", closed: "405", excluded: "405", limited: "405", ended: "200" }
}

const euros = (text: string) => parseDecimal(text) ?? { coefficient: Number.NaN, scale: 0 }

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("accounts at vendors", (it) => {
  for (const found of vendorCases) {
    for (const state of states) {
      it.effect(`${found.name}: ${state}`, () =>
        Effect.gen(function*() {
          const port = yield* portOf
          const agent = yield* makeAgent()
          const actors = yield* PlayerActors
          const name = (yield* freshName).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")
          const { call: operator } = yield* addTenant(agent, port, `o${name}`)
          const vendor = yield* addVendor(agent, port, `v${name}`, found)
          const playerId = yield* register(operator, `p${name}`)
          yield* deposit(operator, playerId, 10_000, name)
          const session = yield* openSeat(vendor, playerId)
          const { dialect } = found
          let calls = 0
          const send = (message: Message) => play(vendor, session, message, `call-${++calls}`)
          const rightly = Effect.fnUntraced(function*(message: Message) {
            const answer = yield* send(message)
            assert.include(dialect.expect(message.kind, "first").codes, answer.code, answer.text)
            assert.deepStrictEqual(answer.problems, [])
          })
          const bet = (id: string): BetMessage => ({
            kind: "bet",
            id: `${name}-${id}`,
            roundId: `${name}-r${id}`,
            gameId: session.gameId,
            amount: euros("10"),
            grant: null
          })
          const [won, taken, late] = [bet("1"), bet("2"), bet("3")]
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
          assert.strictEqual(refused.code, words[found.name]?.[state], refused.text)
          const win: WinMessage = {
            ...won,
            kind: "win",
            id: `${name}-w`,
            bet: dialect.winsName === "bet" ? won : null,
            amount: euros("25"),
            closes: true
          }
          const rollback: RollbackMessage = {
            kind: "rollback",
            id: `${name}-x`,
            roundId: taken.roundId,
            gameId: taken.gameId,
            bet: taken
          }
          yield* rightly(win)
          yield* rightly(rollback)
          if (dialect.close) yield* rightly({ kind: "close", roundId: won.roundId, gameId: won.gameId })
          const isTaken = dialect.expect("bet", "first").codes.includes(refused.code)
          assert.strictEqual((yield* actors.read(null, playerId)).real, isTaken ? 10_500 : 11_500)
        }))
    }
  }
})
