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

describe("signature", () => {
  const check = (headers: { readonly [name: string]: string }, body = example, path = "/withdraw", query = "") =>
    receive(vendorCall(path, body, { headers, query }))

  it("is HMAC-SHA256 of the time, the path as they call it and the raw body: the example", () => {
    assert.strictEqual(check(exampleHeaders)._tag, "Call")
  })

  it("is read in any case", () => {
    const upper = { ...exampleHeaders, "x-spribe-client-signature": exampleSignature.toUpperCase() }
    assert.strictEqual(check(upper)._tag, "Call")
  })

  it("has the query behind the path", () => {
    assert.strictEqual(send("withdraw", example, "a=1&b=%20")._tag, "Call")
    assert.strictEqual(check(exampleHeaders, example, "/withdraw", "a=1")._tag, "Stranger")
  })

  it("413 where anything of it is another, HTTP 200", () => {
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

  it("413 where the time is no number, though it is signed", () => {
    const ts = "1700000000/callbacks"
    const signature = Crypto.createHmac("sha256", "made-up").update(`${ts}/callbacks/spribe/withdraw${example}`)
    const headers = {
      ...exampleHeaders,
      "x-spribe-client-ts": ts,
      "x-spribe-client-signature": signature.digest("hex")
    }
    asStranger(check(headers))
  })

  it("comes before the form", () => {
    asStranger(check(exampleHeaders, "{"))
  })
})

describe("calls", () => {
  it("which they do not have, and another method than POST, are nothing", () => {
    for (const path of ["/", "", "/Withdraw", "/withdraw/", "withdraw", "/player", "/constructor"]) {
      assert.strictEqual(receive(vendorCall(path, example, { headers: exampleHeaders }))._tag, "NotFound", path)
    }
    const get = vendorCall("/withdraw", example, { headers: exampleHeaders, method: "GET" })
    assert.strictEqual(receive(get)._tag, "NotFound")
  })

  it("405 to a body that cannot be read", () => {
    for (const body of ["", "{", "[]", "null", "\"text\""]) {
      const { answer, reason } = asAnswer(send("withdraw", body))
      assert.strictEqual(reason, "form")
      assert.deepStrictEqual(valuesOf(answer), badForm)
    }
  })

  it("405 where a field is missing that says whose money moves, how much, where, or which transaction it is", () => {
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

  it("are taken without what moves no money", () => {
    for (const field of ["provider", "action", "action_id", "session_token", "platform"]) {
      for (const method of moving) assert.strictEqual(send(method, without(method, field))._tag, "Call", field)
    }
    const bare = { user_id: "1018", rollback_provider_tx_id: "p-1" }
    assert.strictEqual(asAction(send("rollback", bare)).call.gameId, null)
  })

  it("auth asks whose the launch's token is, and keeps it", () => {
    assert.deepStrictEqual(asCall(send("auth", auth)).call, {
      kind: "identify",
      method: "auth",
      player: { ref: null, token: "t-1", transactionId: null },
      exchange: false,
      gameId: null
    })
  })

  it("info asks for the balance of a player in a currency", () => {
    assert.deepStrictEqual(asCall(send("info", info)).call, {
      kind: "balance",
      method: "info",
      player: { ref: "1018", token: null, transactionId: null },
      gameId: null,
      currency: "EUR"
    })
  })

  it("withdraw is a bet in a round of its own, under no session of ours", () => {
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

  it("a deposit of a free bet or of a prize has no withdrawal before it, whatever it names", () => {
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

  it("rollback takes back what it names, a withdrawal or a deposit; its own id does not matter", () => {
    for (const provider_tx_id of ["p-3", "p-4", "p-1"]) {
      assert.deepStrictEqual(asAction(send("rollback", { ...rollback, provider_tx_id })).action, {
        action: "rollback",
        transactionId: "rollback:p-1",
        targetTransactionId: "tx:p-1",
        closesRound: "when_settled"
      })
    }
  })

  it("ids may be numbers", () => {
    const { action, call } = asAction(
      send("deposit", { ...deposit, user_id: 1018, provider_tx_id: 2, withdraw_provider_tx_id: 1 })
    )
    assert.strictEqual(call.player.ref, "1018")
    assert.deepInclude(action, { transactionId: "tx:2", betTransactionId: "tx:1" })
  })

  it("amounts are whole thousandths, and not below zero", () => {
    const amountOf = (amount: unknown) => {
      const { action } = asAction(send("withdraw", { ...withdraw, amount }))
      return "amount" in action ? action.amount : undefined
    }
    assert.deepStrictEqual(amountOf(0), { coefficient: 0, scale: 0 })
    assert.deepStrictEqual(amountOf(5_320), { coefficient: 532, scale: 2 })
    // finer than a cent: the wallet refuses it
    assert.deepStrictEqual(amountOf(5_321), { coefficient: 5_321, scale: 3 })
    for (const amount of [-1, 1.5, "10500", null, 1e30, true]) {
      assert.strictEqual(asAnswer(send("withdraw", { ...withdraw, amount })).reason, "form", String(amount))
    }
  })
})

describe("answers", () => {
  const player = { user_id: "1018", username: "1018", balance: 10_500, currency: "EUR" }

  it("200 to auth and info: the player and the balance in thousandths", () => {
    assert.deepStrictEqual(answerOf("auth", identified(euros(1_000, 50))), { code: 200, message: "ok", data: player })
    assert.deepStrictEqual(answerOf("info", balanceOf(euros(1_050))), { code: 200, message: "ok", data: player })
  })

  it("thousandths are exact in every currency, and never more than there is", () => {
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

  it("200 to a transaction: our id and theirs, the balances before and after it", () => {
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

  it("409 to what is known, with the same id of ours and the balance of now", () => {
    for (const method of moving) {
      const again = settled(euros(1_050), { status: "replayed", transactionId: "tx:p-1", realAmount: -1_000 })
      const { code, data, message } = answerOf(method, again)
      assert.deepStrictEqual([code, message], [409, "Duplicate transaction"])
      assert.deepInclude(data, { operator_tx_id: "pb-tx:p-1", old_balance: 10_500, new_balance: 10_500 })
    }
  })

  it("405 to a withdrawal that was taken back: nobody may take it for done", () => {
    const takenBack = settled(euros(1_050), { status: "replayed", first: "processed", rolledBack: true })
    assert.deepStrictEqual(answerOf("withdraw", takenBack), badForm)
    assert.strictEqual(codeOf("withdraw", settled(euros(1_050), { status: "ignored" })), 405)
    assert.strictEqual(codeOf("withdraw", refusedWith("BET_ROLLED_BACK")), 405)
  })

  it("405 to an id that was another transaction, as 409 would say that it is done", () => {
    for (const method of moving) assert.strictEqual(codeOf(method, refusedWith("DUPLICATE_TRANSACTION")), 405)
  })

  it("408 to a rollback of what never came, and to its repeat", () => {
    const notFound = { code: 408, message: "Transaction does not found" }
    assert.deepStrictEqual(answerOf("rollback", settled(euros(1_050), { status: "ignored" })), notFound)
    const again = settled(euros(1_050), { status: "replayed", first: "ignored" })
    assert.deepStrictEqual(answerOf("rollback", again), notFound)
  })

  it("408 to a deposit whose withdrawal is not known, or was taken back", () => {
    for (const code of ["BET_NOT_FOUND", "BET_ROLLED_BACK", "NOT_FOUND"] as const) {
      assert.strictEqual(codeOf("deposit", refusedWith(code)), 408)
    }
    assert.strictEqual(codeOf("rollback", refusedWith("NOT_FOUND")), 408)
  })

  it("405 to a rollback of a withdrawal that was paid", () => {
    for (const code of ["BET_ALREADY_SETTLED", "ROLLBACK_NOT_ALLOWED"] as const) {
      assert.strictEqual(codeOf("rollback", refusedWith(code)), 405)
    }
  })

  it("401 and 403 to a token that is none and to one that is over", () => {
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

  it("402 to a stake that is not there", () => {
    assert.deepStrictEqual(answerOf("withdraw", refusedWith("INSUFFICIENT_FUNDS")), {
      code: 402,
      message: "Insufficient fund"
    })
  })

  it("405 to a stake that is not allowed, and to what is no amount or another currency", () => {
    const codes: ReadonlyArray<RefusalCode> = ["LIMIT_EXCEEDED", "BONUS_INVALID", "PLAYER_RESTRICTED", "ROUND_CLOSED"]
    for (const code of codes) assert.strictEqual(codeOf("withdraw", refusedWith(code)), 405, code)
    assert.strictEqual(codeOf("withdraw", gameUnknown), 405)
    for (const method of Object.keys(bodies)) assert.strictEqual(codeOf(method, refusedWith("VALIDATION_FAILED")), 405)
  })

  it("500, which is sent again: a win and a rollback, whatever became of session and player", () => {
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

  it("500, which is sent again: what cannot be answered now, and a defect", () => {
    for (const method of Object.keys(bodies)) {
      for (const code of passing) {
        assert.deepStrictEqual(answerOf(method, refusedWith(code, {}, null)), { code: 500, message: "Internal error" })
      }
    }
    assert.strictEqual(codeOf("withdraw", settled(euros(0))), 500)
  })
})

describe("settings", () => {
  it("are asked for one by one, and name no others", () => {
    assert.strictEqual(spribeProtocol.bind(settings)._tag, "Success")
    for (const name of Object.keys(settings)) {
      assert.strictEqual(spribeProtocol.bind({ ...settings, [name]: "" })._tag, "Failure", name)
    }
    assert.strictEqual(spribeProtocol.bind({ ...settings, more: "x" })._tag, "Failure")
  })

  it("the path that is signed is a path", () => {
    for (
      const wallet_path of ["callbacks", "/", "/callbacks/", "/callbacks?x", "https://casino.example/callbacks", "/a b"]
    ) {
      assert.strictEqual(spribeProtocol.bind({ ...settings, wallet_path })._tag, "Failure", wallet_path)
    }
  })

  it("seal the key", () => {
    assert.deepStrictEqual(spribeProtocol.secrets, ["secret_key"])
  })
})

describe("launch", () => {
  const order = launchOf("t+1", { gameId: "hi-lo", lobbyUrl: "https://casino.example.com/lobby?a=1" })
  const { asked, tools } = vendorAnswering({})

  it.effect("is an address with the player, the token, language, currency and operator, and where to return to", () =>
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

  it.effect("is refused without money", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(outbound.launch({ ...order, mode: "demo" }, tools))
      assert.deepInclude(failure, { kind: "refused" })
    }))
})
