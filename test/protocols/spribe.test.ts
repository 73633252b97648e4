import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Crypto from "node:crypto"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import type { WalletOutcome } from "../../src/protocols/Protocol.ts"
import { spribeProtocol } from "../../src/protocols/spribe/Spribe.ts"
import {
  asAction,
  asAnswer,
  asCall,
  asStranger,
  balanceOf,
  bound,
  euros,
  gameUnknown,
  identified,
  launchOf,
  passing,
  refusedWith,
  settled,
  valuesOf,
  vendorAnswering,
  vendorCall
} from "./support.ts"

// Goal: the codec of Spribe's protocol follows its public description, rule by rule. Method: pure functions; calls go in, and outcomes of the
// wallet are made up.

const settings = {
  client_id: "casino",
  secret_key: "made-up",
  operator_key: "casino-operator",
  games_url: "https://games.example.com/games/launch",
  wallet_path: "/callbacks/spribe"
}

const { outbound, receive } = bound(spribeProtocol, settings)

const example =
  `{"user_id":"1018","currency":"EUR","amount":10500,"provider":"spribe_crypto","provider_tx_id":"p-1","game":"aviator",` +
  `"action":"bet","action_id":"a-1","session_token":"s-1","platform":"desktop"}`

const exampleSignature = "bd02910fe072e011cf1c9465e3de93d15b4c63ce3f10970821e363209767fa4a"

const exampleHeaders = {
  "x-spribe-client-id": "casino",
  "x-spribe-client-ts": "1700000000",
  "x-spribe-client-signature": exampleSignature
}

/** Signed anew, whatever the body is. */
const send = (method: string, body: unknown, query = "") => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  const signed = `1700000000/callbacks/spribe/${method}${query === "" ? "" : `?${query}`}${text}`
  const signature = Crypto.createHmac("sha256", "made-up").update(signed).digest("hex")
  const headers = { ...exampleHeaders, "x-spribe-client-signature": signature }
  return receive(vendorCall(`/${method}`, text, { headers, query }))
}

const auth = { user_token: "t-1", session_token: "s-1", platform: "desktop", currency: "EUR" }
const info = { user_id: "1018", session_token: "s-1", currency: "EUR" }
const withdraw = {
  user_id: "1018",
  currency: "EUR",
  amount: 10_500,
  provider: "spribe_crypto",
  provider_tx_id: "p-1",
  game: "aviator",
  action: "bet",
  action_id: "a-1",
  session_token: "s-1",
  platform: "desktop"
}
const deposit = { ...withdraw, action: "win", amount: 25_000, provider_tx_id: "p-2", withdraw_provider_tx_id: "p-1" }
const rollback = {
  user_id: "1018",
  amount: 10_500,
  provider: "spribe_crypto",
  provider_tx_id: "p-3",
  rollback_provider_tx_id: "p-1",
  game: "aviator",
  action: "rollback",
  action_id: "a-1",
  session_token: "s-1"
}
const bodies: { readonly [method: string]: object } = { auth, info, withdraw, deposit, rollback }
const moving = ["withdraw", "deposit", "rollback"]

const answerOf = (method: string, outcome: WalletOutcome) => {
  const answer = asCall(send(method, bodies[method])).render(outcome)
  assert.strictEqual(answer.status, 200)
  return valuesOf(answer)
}

const codeOf = (method: string, outcome: WalletOutcome) => answerOf(method, outcome)["code"]

const without = (method: string, field: string) => {
  const body: { [name: string]: unknown } = { ...bodies[method] }
  delete body[field]
  return body
}

const badForm = { code: 405, message: "Internal error with no retry" }

describe("the Spribe signature", () => {
  const check = (headers: { readonly [name: string]: string }, body = example, path = "/withdraw", query = "") =>
    receive(vendorCall(path, body, { headers, query }))

  it("is HMAC-SHA256 of the time, the vendor's path and the raw body, as in the vendor's example", () => {
    assert.strictEqual(check(exampleHeaders)._tag, "Call")
  })

  it("is accepted in upper and lower case", () => {
    const upper = { ...exampleHeaders, "x-spribe-client-signature": exampleSignature.toUpperCase() }
    assert.strictEqual(check(upper)._tag, "Call")
  })

  it("includes the query after the path", () => {
    assert.strictEqual(send("withdraw", example, "a=1&b=%20")._tag, "Call")
    assert.strictEqual(check(exampleHeaders, example, "/withdraw", "a=1")._tag, "Stranger")
  })

  it("is refused with 413 (HTTP 200) when any of its parts differs", () => {
    const wrong = [
      check({ ...exampleHeaders, "x-spribe-client-signature": exampleSignature.replace("b", "c") }),
      check({ ...exampleHeaders, "x-spribe-client-signature": "" }),
      check({ ...exampleHeaders, "x-spribe-client-ts": "1700000001" }),
      check({ ...exampleHeaders, "x-spribe-client-id": "casin0" }),
      check({}),
      check(exampleHeaders, `${example} `),
      check(exampleHeaders, example, "/deposit")
    ]
    for (const received of wrong) {
      const answer = asStranger(received)
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(valuesOf(answer), { code: 413, message: "Invalid Client-Signature" })
    }
  })

  it("is refused with 413 when the signed time is not a number", () => {
    const ts = "1700000000/callbacks"
    const signature = Crypto.createHmac("sha256", "made-up").update(`${ts}/callbacks/spribe/withdraw${example}`)
    const headers = {
      ...exampleHeaders,
      "x-spribe-client-ts": ts,
      "x-spribe-client-signature": signature.digest("hex")
    }
    asStranger(check(headers))
  })

  it("is checked before the body", () => {
    asStranger(check(exampleHeaders, "{"))
  })
})

describe("Spribe calls", () => {
  it("with an unknown path, or a method other than POST, are not found", () => {
    for (const path of ["/", "", "/Withdraw", "/withdraw/", "withdraw", "/player", "/constructor"]) {
      assert.strictEqual(receive(vendorCall(path, example, { headers: exampleHeaders }))._tag, "NotFound", path)
    }
    const get = vendorCall("/withdraw", example, { headers: exampleHeaders, method: "GET" })
    assert.strictEqual(receive(get)._tag, "NotFound")
  })

  it("with a body that is not a JSON object are answered 405", () => {
    for (const body of ["", "{", "[]", "null", "\"text\""]) {
      const { answer, reason } = asAnswer(send("withdraw", body))
      assert.strictEqual(reason, "form")
      assert.deepStrictEqual(valuesOf(answer), badForm)
    }
  })

  it("without a required field (player, amount, currency, game or transaction) are answered 405", () => {
    const needed: { readonly [method: string]: ReadonlyArray<string> } = {
      auth: ["user_token"],
      info: ["user_id"],
      withdraw: ["user_id", "currency", "amount", "provider_tx_id", "game"],
      deposit: ["user_id", "currency", "amount", "provider_tx_id", "game", "withdraw_provider_tx_id"],
      rollback: ["user_id", "rollback_provider_tx_id"]
    }
    for (const [method, fields] of Object.entries(needed)) {
      for (const field of fields) {
        assert.deepStrictEqual(valuesOf(asAnswer(send(method, without(method, field))).answer), badForm, field)
      }
    }
  })

  it("are accepted without fields that are not required", () => {
    for (const field of ["provider", "action", "action_id", "session_token", "platform"]) {
      for (const method of moving) assert.strictEqual(send(method, without(method, field))._tag, "Call", field)
    }
    const bare = { user_id: "1018", rollback_provider_tx_id: "p-1" }
    assert.strictEqual(asAction(send("rollback", bare)).call.gameId, null)
  })

  it("auth identifies the player of the launch token, and does not exchange that token", () => {
    assert.deepStrictEqual(asCall(send("auth", auth)).call, {
      kind: "identify",
      method: "auth",
      player: { ref: null, token: "t-1", transactionId: null },
      exchange: false,
      gameId: null
    })
  })

  it("info queries a player's balance in a currency", () => {
    assert.deepStrictEqual(asCall(send("info", info)).call, {
      kind: "balance",
      method: "info",
      player: { ref: "1018", token: null, transactionId: null },
      gameId: null,
      currency: "EUR"
    })
  })

  it("withdraw is a bet in a round of its own, without a session", () => {
    const { action, call } = asAction(send("withdraw", withdraw))
    assert.deepInclude(call, {
      player: { ref: "1018", token: null, transactionId: null },
      gameId: "aviator",
      roundId: "p-1",
      currency: "EUR",
      session: "none"
    })
    assert.deepStrictEqual(action, {
      action: "bet",
      transactionId: "tx:p-1",
      amount: { coefficient: 105, scale: 1 },
      closesRound: false
    })
  })

  it("deposit is a win of the withdrawal that it names", () => {
    const { action, call } = asAction(send("deposit", deposit))
    assert.deepInclude(call, { roundId: "p-1", session: "none" })
    assert.deepStrictEqual(action, {
      action: "win",
      transactionId: "tx:p-2",
      betTransactionId: "tx:p-1",
      amount: { coefficient: 25, scale: 0 },
      closesRound: "when_settled"
    })
  })

  it("a deposit of a free bet or a prize is a promo-win, whatever withdrawal it names", () => {
    const rows = [
      ["freebet", "free_rounds"],
      ["rainfreebet", "free_rounds"],
      ["promofreebet", "free_rounds"],
      ["challengefreebet", "free_rounds"],
      ["challengeprizemoney", "tournament"]
    ] as const
    for (const [name, kind] of rows) {
      for (
        const body of [{ ...deposit, action: name }, { ...without("deposit", "withdraw_provider_tx_id"), action: name }]
      ) {
        const { action, call } = asAction(send("deposit", body))
        assert.strictEqual(call.roundId, null)
        assert.deepStrictEqual(action, {
          action: "promo_win",
          transactionId: "tx:p-2",
          kind,
          campaignId: name,
          amount: { coefficient: 25, scale: 0 }
        })
      }
    }
  })

  it("rollback rolls back the withdrawal or deposit that it names, whatever its own id", () => {
    for (const provider_tx_id of ["p-3", "p-4", "p-1"]) {
      assert.deepStrictEqual(asAction(send("rollback", { ...rollback, provider_tx_id })).action, {
        action: "rollback",
        transactionId: "rollback:p-1",
        targetTransactionId: "tx:p-1",
        closesRound: "when_settled"
      })
    }
  })

  it("may have numbers as ids", () => {
    const { action, call } = asAction(
      send("deposit", { ...deposit, user_id: 1018, provider_tx_id: 2, withdraw_provider_tx_id: 1 })
    )
    assert.strictEqual(call.player.ref, "1018")
    assert.deepInclude(action, { transactionId: "tx:2", betTransactionId: "tx:1" })
  })

  it("must have amounts in whole thousandths, not negative", () => {
    const amountOf = (amount: unknown) => {
      const { action } = asAction(send("withdraw", { ...withdraw, amount }))
      return "amount" in action ? action.amount : undefined
    }
    assert.deepStrictEqual(amountOf(0), { coefficient: 0, scale: 0 })
    assert.deepStrictEqual(amountOf(5_320), { coefficient: 532, scale: 2 })
    // finer than a cent: the wallet refuses it
    assert.deepStrictEqual(amountOf(5_321), { coefficient: 5_321, scale: 3 })
    assert.deepStrictEqual(amountOf(9_999_999_999_999_990), { coefficient: 999_999_999_999_999, scale: 2 })
    for (const amount of [-1, 1.5, "10500", null, 1e30, true]) {
      assert.strictEqual(asAnswer(send("withdraw", { ...withdraw, amount })).reason, "form", String(amount))
    }
  })
})

describe("answers to Spribe", () => {
  const player = { user_id: "1018", username: "1018", balance: 10_500, currency: "EUR" }

  it("have code 200 for auth and info, with the player and the balance in thousandths", () => {
    assert.deepStrictEqual(answerOf("auth", identified(euros(1_000, 50))), { code: 200, message: "ok", data: player })
    assert.deepStrictEqual(answerOf("info", balanceOf(euros(1_050))), { code: 200, message: "ok", data: player })
  })

  it("contain balances in thousandths, rounded down in every currency", () => {
    const shown = (currency: string, real: number) => {
      const { body } = asCall(send("info", info)).render(balanceOf({ currency, real, bonus: 0 }))
      return /"balance":(\d+)/.exec(body)?.[1]
    }
    assert.strictEqual(shown("JPY", 120), "120000")
    assert.strictEqual(shown("KWD", 1_234), "1234")
    assert.strictEqual(shown("CLF", 12_349), "1234")
    assert.strictEqual(shown("EUR", 999_999_999_999_999), "9999999999999990")
    assert.strictEqual(shown("EUR", -5), "0")
  })

  const data = { user_id: "1018", provider: "spribe_crypto", currency: "EUR" }

  it("have code 200 for a transaction, with both ids and the balances before and after it", () => {
    const funds = euros(1_000, 50)
    const bet = settled(funds, { transactionId: "tx:p-1", realAmount: -1_000, bonusAmount: -50 })
    assert.deepStrictEqual(answerOf("withdraw", bet), {
      code: 200,
      message: "ok",
      data: { ...data, operator_tx_id: "pb-tx:p-1", provider_tx_id: "p-1", old_balance: 21_000, new_balance: 10_500 }
    })
    const win = settled(funds, { transactionId: "tx:p-2", realAmount: 500 })
    assert.deepStrictEqual(answerOf("deposit", win), {
      code: 200,
      message: "ok",
      data: { ...data, operator_tx_id: "pb-tx:p-2", provider_tx_id: "p-2", old_balance: 5_500, new_balance: 10_500 }
    })
    const taken = settled(funds, { transactionId: "rollback:p-1", realAmount: 1_050 })
    assert.deepStrictEqual(answerOf("rollback", taken), {
      code: 200,
      message: "ok",
      data: { ...data, operator_tx_id: "pb-rollback:p-1", provider_tx_id: "p-3", old_balance: 0, new_balance: 10_500 }
    })
  })

  it("have code 409 for a repeated transaction, with the operator's transaction id from the first answer and the current balance", () => {
    for (const method of moving) {
      const again = settled(euros(1_050), { status: "replayed", transactionId: "tx:p-1", realAmount: -1_000 })
      const { code, data, message } = answerOf(method, again)
      assert.deepStrictEqual([code, message], [409, "Duplicate transaction"])
      assert.deepInclude(data, { operator_tx_id: "pb-tx:p-1", old_balance: 10_500, new_balance: 10_500 })
    }
  })

  it("have code 405 for a repeated withdrawal that was rolled back, since 409 would report it as done", () => {
    const takenBack = settled(euros(1_050), { status: "replayed", first: "processed", rolledBack: true })
    assert.deepStrictEqual(answerOf("withdraw", takenBack), badForm)
    assert.strictEqual(codeOf("withdraw", settled(euros(1_050), { status: "ignored" })), 405)
    assert.strictEqual(codeOf("withdraw", refusedWith("BET_ROLLED_BACK")), 405)
  })

  it("have code 405 for a used id with different content, since 409 would report it as done", () => {
    for (const method of moving) assert.strictEqual(codeOf(method, refusedWith("DUPLICATE_TRANSACTION")), 405)
  })

  it("have code 408 for a rollback of an unknown transaction, and for its repeat", () => {
    const notFound = { code: 408, message: "Transaction does not found" }
    assert.deepStrictEqual(answerOf("rollback", settled(euros(1_050), { status: "ignored" })), notFound)
    const again = settled(euros(1_050), { status: "replayed", first: "ignored" })
    assert.deepStrictEqual(answerOf("rollback", again), notFound)
  })

  it("have code 408 for a deposit whose withdrawal is unknown or was rolled back", () => {
    for (const code of ["BET_NOT_FOUND", "BET_ROLLED_BACK", "NOT_FOUND"] as const) {
      assert.strictEqual(codeOf("deposit", refusedWith(code)), 408)
    }
    assert.strictEqual(codeOf("rollback", refusedWith("NOT_FOUND")), 408)
  })

  it("have code 405 for a rollback of a withdrawal that was paid out", () => {
    for (const code of ["BET_ALREADY_SETTLED", "ROLLBACK_NOT_ALLOWED"] as const) {
      assert.strictEqual(codeOf("rollback", refusedWith(code)), 405)
    }
  })

  it("have code 401 for an unknown token and 403 for an expired token", () => {
    assert.deepStrictEqual(answerOf("auth", refusedWith("INVALID_SESSION")), {
      code: 401,
      message: "User token is invalid"
    })
    assert.deepStrictEqual(answerOf("auth", refusedWith("INVALID_SESSION", { session: "over" })), {
      code: 403,
      message: "User token is expired"
    })
    for (const method of ["auth", "info", "withdraw"]) {
      assert.strictEqual(codeOf(method, refusedWith("NOT_FOUND", {}, null)), 401)
    }
  })

  it("have code 402 for a stake above the balance", () => {
    assert.deepStrictEqual(answerOf("withdraw", refusedWith("INSUFFICIENT_FUNDS")), {
      code: 402,
      message: "Insufficient fund"
    })
  })

  it("have code 405 for a stake that is not allowed, an invalid amount or another currency", () => {
    const codes: ReadonlyArray<RefusalCode> = ["LIMIT_EXCEEDED", "BONUS_INVALID", "PLAYER_RESTRICTED", "ROUND_CLOSED"]
    for (const code of codes) assert.strictEqual(codeOf("withdraw", refusedWith(code)), 405, code)
    assert.strictEqual(codeOf("withdraw", gameUnknown), 405)
    for (const method of Object.keys(bodies)) assert.strictEqual(codeOf(method, refusedWith("VALIDATION_FAILED")), 405)
  })

  it("have code 500 for a win or rollback refused for session, player or limit, so that Spribe retries it", () => {
    const codes: ReadonlyArray<RefusalCode> = [
      "INVALID_SESSION",
      "PLAYER_RESTRICTED",
      "LIMIT_EXCEEDED",
      "BONUS_INVALID"
    ]
    for (const code of codes) {
      for (const method of ["deposit", "rollback"]) assert.strictEqual(codeOf(method, refusedWith(code)), 500, code)
    }
  })

  it("have code 500 for a call that cannot be answered now, and for a defect, so that Spribe retries it", () => {
    for (const method of Object.keys(bodies)) {
      for (const code of passing) {
        assert.deepStrictEqual(answerOf(method, refusedWith(code, {}, null)), { code: 500, message: "Internal error" })
      }
    }
    assert.strictEqual(codeOf("withdraw", settled(euros(0))), 500)
  })
})

describe("Spribe settings", () => {
  it("are all required, and no others are allowed", () => {
    assert.strictEqual(spribeProtocol.bind(settings)._tag, "Success")
    for (const name of Object.keys(settings)) {
      assert.strictEqual(spribeProtocol.bind({ ...settings, [name]: "" })._tag, "Failure", name)
    }
    assert.strictEqual(spribeProtocol.bind({ ...settings, more: "x" })._tag, "Failure")
  })

  it("include a signed path that begins with a slash and has no query", () => {
    for (
      const wallet_path of ["callbacks", "/", "/callbacks/", "/callbacks?x", "https://casino.example/callbacks", "/a b"]
    ) {
      assert.strictEqual(spribeProtocol.bind({ ...settings, wallet_path })._tag, "Failure", wallet_path)
    }
  })

  it("include the key among the encrypted secrets", () => {
    assert.deepStrictEqual(spribeProtocol.secrets, ["secret_key"])
  })
})

describe("a Spribe launch", () => {
  const order = launchOf("t+1", { gameId: "hi-lo", lobbyUrl: "https://casino.example.com/lobby?a=1" })
  const { asked, tools } = vendorAnswering({})

  it.effect("is a URL with player, token, language, currency, operator and return URL", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* outbound.launch(order, tools),
        "https://games.example.com/games/launch/hi-lo?user=1018&token=t%2B1&lang=de&currency=EUR&operator=casino-operator" +
          "&return_url=https%3A%2F%2Fcasino.example.com%2Flobby%3Fa%3D1"
      )
      assert.strictEqual(
        yield* outbound.launch({ ...order, lobbyUrl: null, gameId: "a/b?c" }, tools),
        "https://games.example.com/games/launch/a%2Fb%3Fc?user=1018&token=t%2B1&lang=de&currency=EUR&operator=casino-operator"
      )
      assert.strictEqual(asked.length, 0)
    }))

  it.effect("is refused in demo mode", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(outbound.launch({ ...order, mode: "demo" }, tools))
      assert.deepInclude(failure, { kind: "refused" })
    }))
})
