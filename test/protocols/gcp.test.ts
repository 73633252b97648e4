import { assert, describe, it } from "@effect/vitest"
import { gcpProtocol } from "../../src/protocols/gcp/Gcp.ts"
import type { WalletOutcome } from "../../src/protocols/Protocol.ts"
import { requestSigner } from "../../src/protocols/RequestSign.ts"
import {
  answerTo,
  asCall,
  asStranger,
  balanceOf,
  bound,
  euros,
  fieldRefused,
  gameUnknown,
  passing,
  refusedWith,
  settled,
  valuesOf,
  vendorCall
} from "./support.ts"

// Goal: every call, field, code and rule of the universal API of game studios, version 1. Method: pure functions; the wallet's
// outcomes are made up; the wallet itself is tested elsewhere.

const settings = { auth_token: "test-auth-token-xyz", casino_id: "casino", games_url: "https://studio.example" }
const { receive } = bound(gcpProtocol, settings)
const signer = requestSigner(settings.auth_token)

const send = (path: string, values: unknown, signature?: string) => {
  const body = typeof values === "string" ? values : JSON.stringify(values)
  return receive(vendorCall(path, body, { headers: { "x-request-sign": signature ?? signer.sign(body) } }))
}

const player = { ref: "1018", token: null, transactionId: null }
const head = { user_id: "1018", currency: "EUR", game: "acme:gold", game_id: "r-1", session_id: "s-1" }
const play = {
  ...head,
  finished: true,
  actions: [
    { action: "bet", amount: 1050, action_id: "b-1", jackpot_contribution: 0.5 },
    { action: "win", amount: 325, action_id: "w-1", jackpot_win: 100 }
  ]
}
const rollback = {
  ...head,
  finished: true,
  actions: [{ action: "rollback", action_id: "rb-1", original_action_id: "b-1" }]
}
const freespins = { issue_id: "i-1", status: "played", total_amount: 1250 }

/** The code of an answer, after its status was checked. */
const codeOf = (received: ReturnType<typeof send>, outcome?: WalletOutcome): unknown => {
  const answer = answerTo(received, outcome)
  const { code, message } = valuesOf(answer)
  assert.strictEqual(answer.status, code === 403 || code === 500 ? code : 412)
  assert.isString(message)
  return code
}

describe("the GCP signature", () => {
  it("is accepted for the example /play call", () => {
    const body =
      "{\"user_id\":\"1018\",\"currency\":\"EUR\",\"game\":\"acme:gold\",\"game_id\":\"r-1\",\"session_id\":\"s-1\",\"finished\":true," +
      "\"actions\":[{\"action\":\"bet\",\"amount\":1050,\"action_id\":\"b-1\"},{\"action\":\"win\",\"amount\":325,\"action_id\":\"w-1\"}]}"
    assert.strictEqual(
      send("/play", body, "a368c2e6726f66c88f0b28d632df8c8af4219065aa8783e96bf587b4d3a9bcc8")._tag,
      "Call"
    )
  })

  it("that is wrong or missing is answered code 403 with HTTP 403", () => {
    for (const signature of ["0".repeat(64), ""]) {
      const received = send("/play", play, signature)
      asStranger(received)
      assert.strictEqual(codeOf(received), 403)
    }
  })
})

describe("GCP calls", () => {
  it("are not found under another path or method", () => {
    for (const path of ["", "/", "/bet", "/play/"]) assert.strictEqual(send(path, play)._tag, "NotFound")
    assert.strictEqual(receive(vendorCall("/play", "{}", { method: "PUT" }))._tag, "NotFound")
  })

  it("that are not a JSON object are answered 400", () => {
    assert.strictEqual(codeOf(send("/play", "nonsense")), 400)
  })

  for (const name of ["user_id", "currency", "game", "game_id"]) {
    it(`without ${name} are answered 400`, () => {
      for (const path of ["/play", "/rollback"]) {
        const values = path === "/play" ? play : rollback
        assert.strictEqual(codeOf(send(path, { ...values, [name]: undefined }), balanceOf(euros(1))), 400)
      }
    })
  }

  it("with invalid content are answered with the balance, and cause no wallet call except the balance query", () => {
    const received = send("/play", { ...play, finished: 1 })
    assert.deepInclude(asCall(received).call, { kind: "balance", player })
    assert.strictEqual(valuesOf(answerTo(received, balanceOf(euros(1234))))["balance"], 1234)
  })
})

describe("/play", () => {
  it("settles all actions in order, with amounts in minor units and wins against their round", () => {
    assert.deepStrictEqual(asCall(send("/play", play)).call, {
      kind: "settle",
      method: "play",
      player,
      gameId: "acme:gold",
      roundId: "r-1",
      currency: "EUR",
      session: "none",
      actions: [
        { action: "bet", transactionId: "b-1", amount: { minor: 1050 }, closesRound: false },
        { action: "win", transactionId: "w-1", betTransactionId: null, amount: { minor: 325 }, closesRound: true },
        { action: "close_round" }
      ]
    })
  })

  it("answers the balance, game_id and each transaction in order", () => {
    const outcome = settled(euros(9_325, 40), { bonusAmount: -50 }, {})
    assert.deepStrictEqual(valuesOf(answerTo(send("/play", play), outcome)), {
      balance: 9_365,
      game_id: "r-1",
      transactions: [
        { action_id: "b-1", tx_id: "pb-b-1", processed_at: "2026-11-22T12:00:00.000Z", bonus_amount: 50 },
        { action_id: "w-1", tx_id: "pb-w-1", processed_at: "2026-11-22T12:00:00.000Z", bonus_amount: 0 }
      ]
    })
  })

  it("queries the balance when it has no actions", () => {
    for (const actions of [undefined, []]) {
      const received = send("/play", { user_id: "1018", currency: "EUR", game: "acme:gold", actions })
      assert.deepStrictEqual(asCall(received).call, {
        kind: "balance",
        method: "play",
        player,
        gameId: "acme:gold",
        currency: "EUR"
      })
      assert.deepStrictEqual(valuesOf(answerTo(received, balanceOf(euros(-300, 100)))), { balance: 0 })
    }
  })

  it("closes the round when it is finished and has no actions", () => {
    const { call } = asCall(send("/play", { ...play, actions: [] }))
    assert.deepInclude(call, { roundId: "r-1", actions: [{ action: "close_round" }] })
  })

  it("accepts a decimal amount instead of minor units, or both if they agree, and answers the balance in both forms", () => {
    for (
      const action of [
        { action: "bet", action_id: "b-1", amount_currency: 10.5 },
        { action: "bet", action_id: "b-1", amount_currency: "10.50", amount: 1050 }
      ]
    ) {
      const received = send("/play", { ...play, actions: [action] })
      const { call } = asCall(received)
      assert(call.kind === "settle")
      assert.deepInclude(call.actions[0], { amount: { minor: 1050 } })
      assert.deepInclude(valuesOf(answerTo(received, settled(euros(895), {}))), {
        balance: 895,
        balance_currency: "8.95"
      })
    }
    const contradicting = { action: "bet", action_id: "b-1", amount_currency: 10.5, amount: 1051 }
    assert.strictEqual(codeOf(send("/play", { ...play, actions: [contradicting] }), balanceOf(euros(1))), 400)
  })

  for (const amount of [-1, 10.5, "1050", null, 1e30]) {
    it(`answers 400 to the amount ${String(amount)}`, () => {
      const received = send("/play", { ...play, actions: [{ action: "bet", action_id: "b-1", amount }] })
      assert.strictEqual(codeOf(received, balanceOf(euros(1))), 400)
    })
  }

  it("answers 400 to an unknown action, a missing id or a repeated id", () => {
    const [bet] = play.actions
    for (const actions of [[{ ...bet, action: "tip" }], [{ ...bet, action_id: "" }], [bet, bet], "bet"]) {
      assert.strictEqual(codeOf(send("/play", { ...play, actions }), balanceOf(euros(1))), 400)
    }
  })

  const refusals: ReadonlyArray<readonly [string, WalletOutcome, number]> = [
    ["too little money", refusedWith("INSUFFICIENT_FUNDS"), 100],
    ["an unknown player", refusedWith("NOT_FOUND", {}, null), 101],
    ["a limit", refusedWith("LIMIT_EXCEEDED"), 105],
    ["a stake above the jurisdiction's cap", refusedWith("LIMIT_EXCEEDED", { limit: "stake_cap" }), 106],
    ["a stake above the bonus's maximum", refusedWith("BONUS_INVALID"), 106],
    ["a locked account", refusedWith("PLAYER_RESTRICTED", { reason: "locked" }), 110],
    ["another currency", fieldRefused("currency"), 154],
    ["an earlier rollback of it", refusedWith("BET_ROLLED_BACK", { tombstone: true }), 400],
    ["an id that was used for something else", refusedWith("DUPLICATE_TRANSACTION"), 400],
    ["an unknown game", gameUnknown, 405]
  ]
  for (const [why, outcome, code] of refusals) {
    it(`refused for ${why} answers ${code}, with the balance of a known player`, () => {
      const received = send("/play", play)
      assert.strictEqual(codeOf(received, outcome), code)
      const { balance } = valuesOf(answerTo(received, outcome))
      assert.strictEqual(balance, outcome._tag === "Refused" && outcome.funds !== null ? 1050 : undefined)
    })
  }
})

describe("/rollback", () => {
  it("rolls back the named transactions, and answers success for an unknown one", () => {
    const received = send("/rollback", rollback)
    assert.deepInclude(asCall(received).call, {
      actions: [
        { action: "rollback", transactionId: "rb-1", targetTransactionId: "b-1", closesRound: true },
        { action: "close_round" }
      ]
    })
    assert.deepInclude(valuesOf(answerTo(received, settled(euros(1), { status: "ignored" }))), {
      balance: 1,
      game_id: "r-1"
    })
  })

  it("answers 400 to no actions, a repeated target or an unknown action", () => {
    const [action] = rollback.actions
    for (const actions of [[], [action, { ...action, action_id: "rb-2" }], [{ ...action, action: "bet" }]]) {
      assert.strictEqual(codeOf(send("/rollback", { ...rollback, actions }), balanceOf(euros(1))), 400)
    }
  })
})

describe("/freespins", () => {
  it("pays the total of a free-spins issue, with one transaction id per issue", () => {
    const received = send("/freespins", freespins)
    assert.deepInclude(asCall(received).call, {
      player: { ref: null, token: null, transactionId: null },
      actions: [{
        action: "promo_win",
        transactionId: "freespins:i-1",
        kind: "free_rounds",
        campaignId: "i-1",
        amount: { minor: 1250 }
      }],
      grant: { reference: "i-1", mustExist: true, finishes: true }
    })
    assert.deepStrictEqual(valuesOf(answerTo(received, settled(euros(1250), {}))), { balance: 1250 })
  })

  it("answers 400 for an unknown issue or an invalid or missing amount", () => {
    assert.strictEqual(codeOf(send("/freespins", freespins), refusedWith("NOT_FOUND", {}, null)), 400)
    assert.strictEqual(codeOf(send("/freespins", { issue_id: "i-1" })), 400)
    assert.strictEqual(codeOf(send("/freespins", { ...freespins, total_amount: -1 })), 400)
  })
})

describe("a GCP call that cannot be answered now", () => {
  for (const [path, values] of [["/play", play], ["/rollback", rollback], ["/freespins", freespins]] as const) {
    it(`${path} is answered code 500 with HTTP 500`, () => {
      for (const code of passing) assert.strictEqual(codeOf(send(path, values), refusedWith(code, {}, null)), 500)
    })
  }
})
