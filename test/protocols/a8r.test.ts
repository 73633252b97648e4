import { assert, describe, it } from "@effect/vitest"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import { a8r, a8rProtocol } from "../../src/protocols/a8r/A8r.ts"
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
  noon,
  passing,
  refusedWith,
  settled,
  valuesOf,
  vendorCall
} from "./support.ts"

// Goal: every call, field, code and rule of A8R. Method: pure functions with made-up outcomes of the wallet, which
// is tested elsewhere.

const settings = { auth_token: "test-auth-token-xyz", casino_id: "casino", games_url: "https://vendor.example" }
const { receive } = bound(a8rProtocol, settings)
const signer = requestSigner(settings.auth_token)

const send = (method: string, values: unknown, signature?: string) => {
  const body = typeof values === "string" ? values : JSON.stringify(values)
  return receive(
    vendorCall(`/v2/a8r_casino.${method}`, body, { headers: { "x-request-sign": signature ?? signer.sign(body) } })
  )
}

const player = { ref: "1018", token: null, transactionId: null }

const betWin = {
  player_id: "1018",
  currency: "EUR",
  round_id: "r-1",
  game_id: "acme:gold",
  provider: "acme",
  finished: true,
  transactions: [
    { id: "b-1", type: "bet", amount: "10.50" },
    { id: "w-1", type: "win", amount: "3.25", bet_id: "b-1" }
  ]
}
const rollback = {
  ...betWin,
  transactions: [{ id: "rb-1", original_id: "w-1" }, { id: "rb-2", original_id: "b-1" }]
}

const calls: { readonly [method: string]: { readonly [name: string]: unknown } } = {
  "Player/Balance": { player_id: "1018", currency: "EUR" },
  "Round/BetWin": betWin,
  "Round/Rollback": rollback,
  "Round/Finish": { player_id: "1018", currency: "EUR", round_id: "r-1" },
  "Freespins/Finish": { issue_id: "i-1", amount: "12.5" }
}

/** The api_code of an answer, after its status and form were checked. */
const apiCodeOf = (received: ReturnType<typeof send>, outcome?: WalletOutcome): string => {
  const answer = answerTo(received, outcome)
  const values: {
    readonly code: unknown
    readonly msg: unknown
    readonly meta: { readonly api_code: string; readonly api_message: unknown }
  } = JSON.parse(answer.body)
  assert.strictEqual(answer.status, values.meta.api_code === "500" ? 500 : 400)
  assert.isString(values.code)
  assert.strictEqual(values.msg, values.meta.api_message)
  return values.meta.api_code
}

describe("the A8R signature", () => {
  const examples = [
    [
      "Player/Balance",
      "{\"player_id\":\"1018\",\"currency\":\"EUR\"}",
      "229f2e02c7a6b0522c12be494305aaeabfcd05de9d89cfab128ab0f9620ecf77"
    ],
    [
      "Round/BetWin",
      "{\"player_id\":\"1018\",\"currency\":\"EUR\",\"game_id\":\"acme:gold\",\"provider\":\"acme\",\"round_id\":\"r-1\"," +
      "\"finished\":true,\"transactions\":[{\"id\":\"b-1\",\"type\":\"bet\",\"amount\":\"10.50\"}," +
      "{\"id\":\"w-1\",\"type\":\"win\",\"amount\":\"3.25\",\"bet_id\":\"b-1\"}]}",
      "73b67d4dbc8466ab90906e5a9329b4885e723520e7018f182fe7940afed7cca7"
    ]
  ] as const
  for (const [method, body, signature] of examples) {
    it(`is accepted for the example ${method}`, () => {
      assert.strictEqual(send(method, body, signature)._tag, "Call")
    })
  }

  it("that is wrong, too short or missing is answered 403 without a wallet call", () => {
    for (const signature of ["0".repeat(64), "", "229f"]) {
      const received = send("Player/Balance", calls["Player/Balance"], signature)
      assert.strictEqual(apiCodeOf(received), "403")
      assert.strictEqual(valuesOf(asStranger(received))["code"], "permission_denied")
    }
  })

  it("covers the raw bytes, so that an additional space makes it invalid", () => {
    const signature = signer.sign("{\"player_id\":\"1018\",\"currency\":\"EUR\"}")
    assert.strictEqual(
      apiCodeOf(send("Player/Balance", "{\"player_id\": \"1018\",\"currency\":\"EUR\"}", signature)),
      "403"
    )
  })
})

describe("A8R calls", () => {
  it("are not found under another path or method", () => {
    for (
      const path of ["/v2/a8r_casino.Player/Bet", "/a8r_casino.Player/Balance", "", "/v2/casino_a8r.Player/Balance"]
    ) {
      assert.strictEqual(receive(vendorCall(path, "{}"))._tag, "NotFound")
    }
    assert.strictEqual(receive(vendorCall("/v2/a8r_casino.Player/Balance", "", { method: "GET" }))._tag, "NotFound")
  })

  it("that are not a JSON object are answered 400", () => {
    for (const body of ["", "[]", "{", "null"]) assert.strictEqual(apiCodeOf(send("Player/Balance", body)), "400")
  })

  for (const [method, values] of Object.entries(calls)) {
    const names = Object.keys(values).filter((name) => name !== "finished")
    for (const name of names) {
      for (const value of [undefined, "", 7, "x".repeat(256), null]) {
        it(`${method} with ${name} ${String(value).slice(0, 9)} are answered 400`, () => {
          assert.strictEqual(apiCodeOf(send(method, { ...values, [name]: value }), balanceOf(euros(1))), "400")
        })
      }
    }
  }

  it("may have texts of 255 characters and unknown fields", () => {
    const long = "x".repeat(255)
    const { call } = asCall(send("Round/BetWin", {
      ...betWin,
      round_id: long,
      session_id: "s",
      transactions: [{ id: long, type: "bet", amount: "1", more: {} }]
    }))
    assert(call.kind === "settle")
    assert.strictEqual(call.roundId, long)
    assert.deepInclude(call.actions[0], { transactionId: long })
  })

  it("with invalid content are answered with the balance, and cause no wallet call except the balance query", () => {
    const received = send("Round/BetWin", { ...betWin, transactions: [] })
    assert.deepStrictEqual(asCall(received).call, {
      kind: "balance",
      method: "Round/BetWin",
      player,
      gameId: null,
      currency: null
    })
    const answer = valuesOf(answerTo(received, balanceOf(euros(1234))))
    assert.deepInclude(answer["meta"], { api_code: "400", balance: "12.34" })
    assert.notProperty(valuesOf(answerTo(received, refusedWith("NOT_FOUND", {}, null)))["meta"], "balance")
  })

  for (const currency of ["eur", "E", "EU R", "ABCDEFGHIJKLMNOP"]) {
    it(`with the currency "${currency}" are answered 400`, () => {
      assert.strictEqual(apiCodeOf(send("Player/Balance", { player_id: "1018", currency }), balanceOf(euros(1))), "400")
    })
  }
})

describe("Player/Balance", () => {
  it("queries the player's balance in a currency, and answers it as a string", () => {
    const received = send("Player/Balance", calls["Player/Balance"])
    assert.deepStrictEqual(asCall(received).call, {
      kind: "balance",
      method: "Player/Balance",
      player,
      gameId: null,
      currency: "EUR"
    })
    assert.deepStrictEqual(answerTo(received, balanceOf(euros(10_050, 25))), {
      status: 200,
      body: "{\"balance\":\"100.75\"}"
    })
  })

  it("answers 0 for a negative balance", () => {
    const received = send("Player/Balance", calls["Player/Balance"])
    assert.strictEqual(valuesOf(answerTo(received, balanceOf(euros(-500))))["balance"], "0.00")
    assert.strictEqual(valuesOf(answerTo(received, balanceOf(euros(-500, 2000))))["balance"], "0.00")
  })
})

describe("Round/BetWin", () => {
  it("settles all transactions in order, wins against their round, and closes a finished round last", () => {
    assert.deepStrictEqual(asCall(send("Round/BetWin", betWin)).call, {
      kind: "settle",
      method: "Round/BetWin",
      player,
      gameId: "acme:gold",
      roundId: "r-1",
      currency: "EUR",
      session: "none",
      actions: [
        { action: "bet", transactionId: "b-1", amount: { coefficient: 105, scale: 1 }, closesRound: false },
        {
          action: "win",
          transactionId: "w-1",
          betTransactionId: null,
          amount: { coefficient: 325, scale: 2 },
          closesRound: true
        },
        { action: "close_round" }
      ]
    })
  })

  it("answers the balance, the operator's round id and each transaction in order, with bonus amount and time", () => {
    const outcome = settled(
      euros(9_325),
      { transactionId: "b-1", bonusAmount: -50, settledAt: noon },
      { transactionId: "w-1", settledAt: noon + 1 }
    )
    assert.deepStrictEqual(valuesOf(answerTo(send("Round/BetWin", betWin), outcome)), {
      balance: "93.25",
      round_id_casino: "pb-r-1",
      transactions: [
        { id: "b-1", id_casino: "pb-b-1", bonus_amount: "0.50", processed_at: "2026-11-22T12:00:00.000Z" },
        { id: "w-1", id_casino: "pb-w-1", bonus_amount: "0.00", processed_at: "2026-11-22T12:00:00.001Z" }
      ]
    })
  })

  it("answers 200 when it is repeated or arrives after its rollback", () => {
    for (const status of ["replayed", "ignored"] as const) {
      const answer = answerTo(send("Round/BetWin", betWin), settled(euros(1), { status }, { status }))
      assert.strictEqual(answer.status, 200)
    }
  })

  const malformed: ReadonlyArray<readonly [string, unknown]> = [
    ["no transactions", []],
    ["101 transactions", Array.from({ length: 101 }, (_, id) => ({ id: String(id), type: "bet", amount: "1" }))],
    ["a transaction that is not an object", ["b-1"]],
    ["an id twice", [betWin.transactions[0], { ...betWin.transactions[1], id: "b-1" }]],
    ["another type", [{ id: "b-1", type: "tip", amount: "1" }]],
    ["a bet_id that is not a string", [{ id: "b-1", type: "bet", amount: "1", bet_id: 7 }]],
    ...["-1", "1.", ".5", "1e3", "1,0", "", "1234567890123456789", "0.1234567890123", "+1"].map((amount) =>
      [`the amount "${amount}"`, [{ id: "b-1", type: "bet", amount }]] as const
    ),
    ["a number for an amount", [{ id: "b-1", type: "bet", amount: 10.5 }]]
  ]
  for (const [what, transactions] of malformed) {
    it(`with ${what} is answered 400`, () => {
      assert.strictEqual(apiCodeOf(send("Round/BetWin", { ...betWin, transactions }), balanceOf(euros(1))), "400")
    })
  }

  it("answers 400 if finished is neither true nor false, and leaves the round open without it", () => {
    assert.strictEqual(apiCodeOf(send("Round/BetWin", { ...betWin, finished: "yes" }), balanceOf(euros(1))), "400")
    const { finished: _, ...open } = betWin
    const { call } = asCall(send("Round/BetWin", open))
    assert(call.kind === "settle")
    assert.deepStrictEqual(call.actions.map((action) => "closesRound" in action && action.closesRound), [false, false])
  })

  const refusals: ReadonlyArray<readonly [string, WalletOutcome, string, string]> = [
    ["too little money", refusedWith("INSUFFICIENT_FUNDS"), "100", "invalid_argument"],
    ["an unknown player", refusedWith("NOT_FOUND", {}, null), "101", "invalid_argument"],
    ["a player without a session", refusedWith("INVALID_SESSION"), "101", "invalid_argument"],
    ["a limit", refusedWith("LIMIT_EXCEEDED", { limit: "max_daily_bet" }), "105", "invalid_argument"],
    [
      "a stake above the jurisdiction's cap",
      refusedWith("LIMIT_EXCEEDED", { limit: "stake_cap" }),
      "106",
      "invalid_argument"
    ],
    ["a stake above the bonus's maximum", refusedWith("BONUS_INVALID"), "106", "invalid_argument"],
    ["an exclusion", refusedWith("PLAYER_RESTRICTED", { reason: "self_exclusion" }), "110", "invalid_argument"],
    ["another currency", fieldRefused("currency"), "154", "invalid_argument"],
    ["an amount below a cent", fieldRefused("amount"), "400", "invalid_argument"],
    ["an unknown game", gameUnknown, "405", "invalid_argument"],
    ["an id of another type or player", refusedWith("DUPLICATE_TRANSACTION"), "409", "already_exists"]
  ]
  for (const [why, outcome, code, word] of refusals) {
    it(`refused for ${why} is answered ${code} ${word}`, () => {
      const received = send("Round/BetWin", betWin)
      assert.strictEqual(apiCodeOf(received, outcome), code)
      assert.strictEqual(valuesOf(answerTo(received, outcome))["code"], word)
    })
  }

  it("refused for a known player is answered with the balance", () => {
    const { meta } = valuesOf(
      answerTo(send("Round/BetWin", betWin), refusedWith("INSUFFICIENT_FUNDS", {}, euros(-5, 100)))
    )
    assert.deepInclude(meta, { balance: "0.00" })
  })
})

describe("Round/Rollback", () => {
  it("rolls back exactly the named transactions, in order", () => {
    const { call } = asCall(send("Round/Rollback", rollback))
    assert.deepInclude(call, {
      roundId: "r-1",
      actions: [
        { action: "rollback", transactionId: "rb-1", targetTransactionId: "w-1", closesRound: false },
        { action: "rollback", transactionId: "rb-2", targetTransactionId: "b-1", closesRound: true },
        { action: "close_round" }
      ]
    })
  })

  it("has the same answer as Round/BetWin, even for an unknown original transaction", () => {
    const outcome = settled(euros(100), { status: "ignored" }, { status: "processed" })
    assert.deepInclude(valuesOf(answerTo(send("Round/Rollback", rollback), outcome)), {
      balance: "1.00",
      round_id_casino: "pb-r-1"
    })
  })

  it("that repeats or lacks an original_id is answered 400", () => {
    for (
      const transactions of [
        [{ id: "rb-1", original_id: "b-1" }, { id: "rb-2", original_id: "b-1" }],
        [{ id: "rb-1" }]
      ]
    ) {
      assert.strictEqual(apiCodeOf(send("Round/Rollback", { ...rollback, transactions }), balanceOf(euros(1))), "400")
    }
  })
})

describe("Round/Finish", () => {
  it("closes the round, which the call names without its game, and answers the balance", () => {
    const received = send("Round/Finish", calls["Round/Finish"])
    assert.deepStrictEqual(asCall(received).call, {
      kind: "settle",
      method: "Round/Finish",
      player,
      gameId: null,
      roundId: "r-1",
      currency: "EUR",
      session: "none",
      actions: [{ action: "close_round" }]
    })
    assert.deepStrictEqual(valuesOf(answerTo(received, settled(euros(10_050)))), { balance: "100.50" })
  })
})

describe("Freespins/Finish", () => {
  it("pays the total of a free-spins issue, with one transaction id per issue", () => {
    const received = send("Freespins/Finish", calls["Freespins/Finish"])
    assert.deepStrictEqual(asCall(received).call, {
      kind: "settle",
      method: "Freespins/Finish",
      player: { ref: null, token: null, transactionId: null },
      gameId: null,
      roundId: null,
      currency: null,
      session: "none",
      actions: [{
        action: "promo_win",
        transactionId: "freespins:i-1",
        kind: "free_rounds",
        campaignId: "i-1",
        amount: { coefficient: 125, scale: 1 }
      }],
      grant: { reference: "i-1", mustExist: true, finishes: true }
    })
    assert.deepStrictEqual(valuesOf(answerTo(received, settled(euros(1250), {}))), { balance: "12.50" })
  })

  it("of an unknown issue is answered 400", () => {
    for (const code of ["NOT_FOUND", "INVALID_SESSION"] as const) {
      assert.strictEqual(
        apiCodeOf(send("Freespins/Finish", calls["Freespins/Finish"]), refusedWith(code, {}, null)),
        "400"
      )
    }
  })
})

describe("an A8R call that cannot be answered now", () => {
  for (const [method, values] of Object.entries(calls)) {
    it(`${method} is answered 500 internal`, () => {
      for (const code of passing) {
        const received = send(method, values)
        assert.strictEqual(apiCodeOf(received, refusedWith(code, {}, null)), "500")
        assert.strictEqual(valuesOf(answerTo(received, refusedWith(code)))["code"], "internal")
      }
    })
  }

  it("is answered 500, as is a refusal without a documented A8R code", () => {
    const unnamed: RefusalCode = "KYC_REQUIRED"
    assert.strictEqual(apiCodeOf(send("Round/BetWin", betWin), refusedWith(unnamed)), "500")
  })
})

describe("A8R settings", () => {
  it("include auth_token among the encrypted secrets", () => {
    assert.deepStrictEqual(a8r.secrets, ["auth_token"])
  })
})
