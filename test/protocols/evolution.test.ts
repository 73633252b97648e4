import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import { evolutionProtocol } from "../../src/protocols/evolution/Evolution.ts"
import {
  asAction,
  asAnswer,
  asCall,
  asStranger,
  balanceOf,
  bound,
  euros,
  launchOf,
  noon,
  refusedWith,
  settled,
  valuesOf,
  vendorAnswering,
  vendorCall
} from "./support.ts"

// Goal: the codec of Evolution's One Wallet follows its description, row by row. Method: pure functions; calls go in, and outcomes of
// the wallet are made up.

const settings = {
  auth_token: "made-up-auth-token",
  casino_key: "casino0000000001",
  api_token: "made-up-api-token",
  games_url: "https://games.example.com"
}

const { outbound, receive } = bound(evolutionProtocol, settings)

const about = { sid: "sid-1", userId: "1018", uuid: "call-1" }
const game = { id: "round-1", type: "blackjack", details: { table: { id: "table-1", vid: "vid-1" } } }
const money = (amount: unknown = 10.5, transaction: object = {}) => ({
  ...about,
  currency: "EUR",
  game,
  transaction: { id: "t-1", refId: "bet-1", amount, ...transaction }
})

const query = "authToken=made-up-auth-token"
const send = (method: string, body: unknown) =>
  receive(vendorCall(`/${method}`, typeof body === "string" ? body : JSON.stringify(body), { query }))

const answerOf = (
  method: string,
  outcome: Parameters<ReturnType<typeof asCall>["render"]>[0],
  body: unknown = money()
) => asCall(send(method, body)).render(outcome)

const statusOf = (method: string, outcome: Parameters<ReturnType<typeof asCall>["render"]>[0]) =>
  valuesOf(answerOf(method, outcome, method === "promo_payout" ? promo() : money())).status

const promo = (promoTransaction: object = {}) => ({
  ...about,
  currency: "EUR",
  game,
  promoTransaction: { type: "JACKPOT", id: "p-1", amount: 3, voucherId: "v-1", remainingRounds: 0, ...promoTransaction }
})

describe("the Evolution transport", () => {
  it("a wrong or missing authToken is answered HTTP 401", () => {
    for (const wrong of ["", "authToken=", "authToken=made-up-auth-tokem", "authtoken=made-up-auth-token"]) {
      const answer = asStranger(receive(vendorCall("/balance", JSON.stringify(money()), { query: wrong })))
      assert.strictEqual(answer.status, 401)
      assert.deepStrictEqual(valuesOf(answer), { status: "INVALID_TOKEN_ID" })
    }
  })

  it("an authToken is read from the encoded query", () => {
    const other = bound(evolutionProtocol, { ...settings, auth_token: "a+b/c=" })
    const call = vendorCall("/check", JSON.stringify(about), { query: `x=1&authToken=${encodeURIComponent("a+b/c=")}` })
    assert.strictEqual(other.receive(call)._tag, "Call")
  })

  it("an unreadable body is answered HTTP 400 with INVALID_PARAMETER", () => {
    for (const body of ["", "{", "[]", "null", "\"text\"", "{\"sid\":", Buffer.from([0xff, 0xfe])]) {
      const { answer, reason } = asAnswer(receive(vendorCall("/debit", body, { query })))
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(reason, "form")
      assert.deepStrictEqual(valuesOf(answer), { status: "INVALID_PARAMETER" })
    }
  })

  it("an unknown call, and a method other than POST, are not found", () => {
    for (const path of ["/sid", "/Debit", "/debit/", "/", "", "debit", "/constructor"]) {
      assert.strictEqual(receive(vendorCall(path, JSON.stringify(money()), { query }))._tag, "NotFound")
    }
    assert.strictEqual(receive(vendorCall("/debit", "", { query, method: "GET" }))._tag, "NotFound")
  })

  it("unknown fields are ignored", () => {
    assert.strictEqual(send("debit", { ...money(), more: { deep: [1, 2] } })._tag, "Call")
  })
})

describe("Evolution requests", () => {
  const without = (field: string) => {
    const body: { [name: string]: unknown } = { ...money() }
    delete body[field]
    return body
  }

  /** Answer to a malformed call; for a known player it has the balance, the only use of the wallet. */
  const malformed = (method: string, body: unknown) => {
    const received = send(method, body)
    if (received._tag !== "Call") return valuesOf(asAnswer(received).answer)
    assert.deepInclude(received.call, { kind: "balance", player: { ref: "1018", token: null, transactionId: null } })
    const { body: text, status } = received.render(balanceOf(euros(9000)))
    assert.strictEqual(status, 200)
    assert.include(text, `"balance":90.00,"bonus":0.00`)
    return valuesOf(received.render(refusedWith("NOT_FOUND", {}, null)))
  }

  it("userId is required in every call, and sid in calls that need a session", () => {
    for (const method of ["check", "balance", "debit", "credit", "cancel"]) {
      assert.strictEqual(malformed(method, without("userId")).status, "INVALID_PARAMETER", method)
    }
    for (const method of ["check", "balance", "debit"]) {
      assert.strictEqual(malformed(method, without("sid")).status, "INVALID_PARAMETER", method)
    }
    for (const method of ["credit", "cancel"]) {
      assert.deepInclude(asAction(send(method, without("sid"))).call.player, { ref: "1018", token: null })
    }
  })

  it("uuid is echoed if it is a string, and is never required", () => {
    for (const method of ["check", "balance", "debit", "credit", "cancel"]) {
      for (const uuid of [undefined, "", null, 7]) {
        const answer = answerOf(method, refusedWith("TRY_AGAIN", {}, null), { ...money(), uuid })
        assert.deepStrictEqual(valuesOf(answer), { status: "TEMPORARY_ERROR", retransmission: true }, method)
      }
    }
    assert.notProperty(malformed("debit", { ...without("uuid"), currency: "EURO" }), "uuid")
    assert.strictEqual(malformed("debit", { ...money(), currency: "EURO" }).uuid, "call-1")
  })

  it("a malformed call of a known player is answered with the balance", () => {
    for (const method of ["balance", "debit", "credit", "cancel", "promo_payout"]) {
      assert.strictEqual(send(method, { ...money(), currency: 978 })._tag, "Call")
    }
    assert.strictEqual(send("check", { ...about, sid: 7 })._tag, "Answered")
    assert.strictEqual(send("debit", { ...money(), userId: 7 })._tag, "Answered")
  })

  it("debit, credit and cancel require a transaction and a three-letter currency, and debit also a game", () => {
    for (const method of ["debit", "credit", "cancel"]) {
      for (const field of method === "debit" ? ["game", "transaction", "currency"] : ["transaction", "currency"]) {
        assert.deepStrictEqual(
          malformed(method, without(field)),
          { status: "INVALID_PARAMETER", uuid: "call-1" },
          `${method}, ${field}`
        )
      }
      for (
        const body of [
          { ...money(), currency: "EURO" },
          ...method === "debit" ? [{ ...money(), game: { id: "round-1" } }] : [],
          money(1, { refId: 7 })
        ]
      ) {
        assert.strictEqual(malformed(method, body).status, "INVALID_PARAMETER")
      }
    }
  })

  it("a check exchanges the sid", () => {
    const { call } = asCall(send("check", { ...about, channel: { type: "M" } }))
    assert.deepStrictEqual(call, {
      kind: "identify",
      method: "check",
      player: { ref: "1018", token: "sid-1", transactionId: null },
      exchange: true,
      gameId: null
    })
  })

  it("a balance can be queried for a table or without one", () => {
    const { call } = asCall(send("balance", { ...about, currency: "EUR", game }))
    assert.deepInclude(call, { kind: "balance", gameId: "table-1", currency: "EUR" })
    const inLobby = { ...game, id: null }
    assert.deepInclude(asCall(send("balance", { ...about, currency: "EUR", game: inLobby })).call, {
      gameId: "table-1"
    })
    assert.deepInclude(asCall(send("balance", { ...about, currency: "EUR", game: null })).call, { gameId: null })
  })

  it("debit is a bet in the session of its sid; credit is a win and cancel a rollback, both without a session", () => {
    const debit = asAction(send("debit", money()))
    assert.deepInclude(debit.call, { session: "token", gameId: "table-1", roundId: "round-1", currency: "EUR" })
    assert.deepInclude(debit.action, {
      action: "bet",
      amount: { coefficient: 105, scale: 1 },
      closesRound: "when_settled"
    })
    const credit = asAction(send("credit", money()))
    assert.strictEqual(credit.call.session, "none")
    assert.deepInclude(credit.action, {
      action: "win",
      betTransactionId: "debit:1018:round-1:bet-1",
      closesRound: "when_settled"
    })
    const cancel = asAction(send("cancel", money()))
    assert.strictEqual(cancel.call.session, "none")
    assert.deepInclude(cancel.action, {
      action: "rollback",
      targetTransactionId: "debit:1018:round-1:bet-1",
      closesRound: "when_settled"
    })
  })

  it("a credit and a cancel of the same refId share one transaction id, whatever their own ids", () => {
    const ids = [
      asAction(send("credit", money(1, { id: "t-2" }))),
      asAction(send("credit", money(1, { id: "t-3" }))),
      asAction(send("cancel", money(1, { id: "t-1" })))
    ].map(({ action }) => action.action === "close_round" ? "" : action.transactionId)
    assert.deepStrictEqual(new Set(ids), new Set(["settle:1018:round-1:bet-1"]))
  })

  it("a credit or cancel needs only the refId of its debit, and takes the round from it", () => {
    const bare = { ...about, currency: "EUR", transaction: { refId: "bet-1", amount: 1 } }
    for (
      const [method, body] of [["credit", bare], ["cancel", { ...bare, transaction: { refId: "bet-1" } }]] as const
    ) {
      const { call } = asAction(send(method, body))
      assert.deepInclude(call, { gameId: null, roundId: "" })
      assert.deepInclude(call.inRound?.("round-7"), { method, gameId: null, roundId: "round-7" })
    }
  })

  it("a credit or cancel is settled in the round of its debit, whatever round it names", () => {
    assert.deepInclude(asAction(send("credit", money())).action, { ofBet: true })
    const moved = asAction(send("credit", money())).call.inRound?.("round-2")
    assert.deepInclude(moved?.actions[0], {
      transactionId: "settle:1018:round-2:bet-1",
      betTransactionId: "debit:1018:round-2:bet-1"
    })
    const back = asAction(send("cancel", money())).call.inRound?.("round-2")
    assert.deepInclude(back?.actions[0], {
      transactionId: "settle:1018:round-2:bet-1",
      targetTransactionId: "debit:1018:round-2:bet-1"
    })
    assert.isUndefined(asAction(send("debit", money())).call.inRound)
  })

  it("transaction ids differ between players and between rounds", () => {
    const idOf = (userId: string, roundId: string, refId: string) => {
      const { action } = asAction(send("debit", { ...money(1, { refId }), userId, game: { ...game, id: roundId } }))
      return action.action === "bet" ? action.transactionId : ""
    }
    const ids = [
      idOf("1", "r", "b"),
      idOf("2", "r", "b"),
      idOf("1", "s", "b"),
      idOf("1", "r:b", "b"),
      idOf("1", "r", "b:b"),
      idOf("1", "r%3Ab", "b")
    ]
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("promo payouts are promo-wins, whose kind follows from the payout's type", () => {
    const kinds = {
      JACKPOT: "jackpot",
      FREE_ROUND_PLAYABLE_SPENT: "free_rounds",
      REAL_TIME_MONETARY_REWARD: "cash_drop",
      REWARD_GAME_PLAYABLE_SPENT: "cash_drop",
      REWARD_GAME_WIN_CAP_REACHED: "cash_drop",
      REWARD_GAME_MIN_BET_LIMIT_REACHED: "cash_drop",
      FROM_GAME: "cash_drop"
    } as const
    for (const [type, kind] of Object.entries(kinds)) {
      const { action, call } = asAction(send("promo_payout", promo({ type })))
      assert.strictEqual(call.session, "none")
      assert.deepStrictEqual(action, {
        action: "promo_win",
        transactionId: "promo:1018:p-1",
        kind,
        campaignId: "v-1",
        amount: { coefficient: 3, scale: 0 }
      })
    }
    const { action } = asAction(send("promo_payout", { ...promo({ voucherId: null }), game: null }))
    assert.deepInclude(action, { campaignId: "JACKPOT" })
    for (const type of [undefined, "", null]) {
      const untyped = asAction(send("promo_payout", promo({ type, voucherId: null })))
      assert.deepInclude(untyped.action, { kind: "cash_drop", campaignId: "promo" })
    }
  })
})

describe("Evolution amounts", () => {
  const amountOf = (text: string) => {
    const received = send("debit", JSON.stringify(money("AMOUNT")).replace("\"AMOUNT\"", text))
    const { call, render } = asCall(received)
    if (call.kind === "balance") return valuesOf(render(balanceOf(euros(0)))).status
    const { action } = asAction(received)
    return action.action === "bet" ? action.amount : undefined
  }

  it("are decoded exactly, including six decimals and exponents", () => {
    assert.deepStrictEqual(amountOf("10.000000"), { coefficient: 10, scale: 0 })
    assert.deepStrictEqual(amountOf("63727092.34"), { coefficient: 6_372_709_234, scale: 2 })
    assert.deepStrictEqual(amountOf("6.372709234E7"), { coefficient: 6_372_709_234, scale: 2 })
    assert.deepStrictEqual(amountOf("0.000001"), { coefficient: 1, scale: 6 })
    assert.deepStrictEqual(amountOf("1E-6"), { coefficient: 1, scale: 6 })
    assert.deepStrictEqual(amountOf("10.50000000000000000"), { coefficient: 105, scale: 1 })
    assert.deepStrictEqual(amountOf("0"), { coefficient: 0, scale: 0 })
  })

  it("are answered INVALID_PARAMETER unless they are numbers that can be represented exactly", () => {
    for (
      const text of [
        "\"10.50\"",
        "-1",
        "-0.01",
        "null",
        "true",
        "[1]",
        "{}",
        "10.500000000000000001",
        "1e400",
        "99999999999999999"
      ]
    ) {
      assert.strictEqual(amountOf(text), "INVALID_PARAMETER", text)
    }
  })

  it("are answered in major units, and as 0 for a negative balance", () => {
    const bodyOf = (real: number, bonus: number, currency = "EUR") =>
      answerOf("balance", { _tag: "Balance", playerRef: "1018", funds: { currency, real, bonus } }).body
    assert.strictEqual(bodyOf(6_372_709_234, 0), `{"status":"OK","balance":63727092.34,"bonus":0.00,"uuid":"call-1"}`)
    assert.strictEqual(bodyOf(5, 0), `{"status":"OK","balance":0.05,"bonus":0.00,"uuid":"call-1"}`)
    assert.strictEqual(bodyOf(100, 250), `{"status":"OK","balance":3.50,"bonus":0.00,"uuid":"call-1"}`)
    assert.strictEqual(bodyOf(-500, 0), `{"status":"OK","balance":0.00,"bonus":0.00,"uuid":"call-1"}`)
    assert.strictEqual(bodyOf(120, 0, "JPY"), `{"status":"OK","balance":120,"bonus":0,"uuid":"call-1"}`)
    assert.strictEqual(bodyOf(1050, 0, "KWD"), `{"status":"OK","balance":1.050,"bonus":0.000,"uuid":"call-1"}`)
  })
})

describe("statuses answered to Evolution", () => {
  const processed = settled(euros(1050), {})
  const replayed = settled(euros(1050), { status: "replayed", first: "processed" })
  const ok = { status: "OK", balance: 10.5, bonus: 0, uuid: "call-1" }

  it("OK: a check, with the new sid and no balance", () => {
    const answer = answerOf("check", {
      _tag: "Identified",
      funds: euros(1050),
      player: {
        playerRef: "1018",
        token: "sid-2",
        country: "DE",
        language: "de",
        birthDate: null,
        registeredAt: noon,
        tags: []
      }
    })
    assert.deepStrictEqual(valuesOf(answer), { status: "OK", sid: "sid-2", uuid: "call-1" })
  })

  it("OK: the first debit, credit, cancel and promo payout", () => {
    for (const method of ["debit", "credit", "cancel"]) {
      assert.deepStrictEqual(valuesOf(answerOf(method, processed)), ok)
    }
    assert.deepStrictEqual(valuesOf(answerOf("promo_payout", processed, promo())), ok)
  })

  it("BET_ALREADY_EXIST: the same debit again", () => {
    assert.deepStrictEqual(valuesOf(answerOf("debit", replayed)), { ...ok, status: "BET_ALREADY_EXIST" })
  })

  it("BET_ALREADY_SETTLED: a repeated credit or cancel, a cancel after a credit, and a credit after a cancel", () => {
    for (const method of ["credit", "cancel"]) {
      assert.deepStrictEqual(valuesOf(answerOf(method, replayed)), { ...ok, status: "BET_ALREADY_SETTLED" })
      const other = refusedWith("DUPLICATE_TRANSACTION", { earlier: { kind: "win", status: "processed" } })
      assert.deepStrictEqual(valuesOf(answerOf(method, other)), { ...ok, status: "BET_ALREADY_SETTLED" })
    }
  })

  it("OK: the same promo payout again", () => {
    assert.strictEqual(statusOf("promo_payout", replayed), "OK")
  })

  it("BET_DOES_NOT_EXIST: a credit or cancel of an unknown debit, and a repeated cancel of an unknown debit", () => {
    assert.deepStrictEqual(valuesOf(answerOf("credit", refusedWith("BET_NOT_FOUND"))), {
      ...ok,
      status: "BET_DOES_NOT_EXIST"
    })
    assert.strictEqual(statusOf("cancel", settled(euros(1050), { status: "ignored" })), "BET_DOES_NOT_EXIST")
    assert.strictEqual(
      statusOf("cancel", settled(euros(1050), { status: "replayed", first: "ignored" })),
      "BET_DOES_NOT_EXIST"
    )
    const afterTombstone = refusedWith("DUPLICATE_TRANSACTION", { earlier: { kind: "rollback", status: "ignored" } })
    assert.strictEqual(statusOf("credit", afterTombstone), "BET_DOES_NOT_EXIST")
  })

  it("FINAL_ERROR_ACTION_FAILED: a debit that follows its cancel, whether repeated or new, or that reuses a refId with other content", () => {
    assert.deepStrictEqual(valuesOf(answerOf("debit", refusedWith("BET_ROLLED_BACK"))), {
      ...ok,
      status: "FINAL_ERROR_ACTION_FAILED"
    })
    assert.strictEqual(statusOf("debit", refusedWith("DUPLICATE_TRANSACTION")), "FINAL_ERROR_ACTION_FAILED")
    assert.strictEqual(
      statusOf("debit", settled(euros(1050), { status: "replayed", first: "processed", rolledBack: true })),
      "FINAL_ERROR_ACTION_FAILED"
    )
  })

  it("other refusals of a debit have their own statuses, with the balance", () => {
    const rows: ReadonlyArray<readonly [RefusalCode, object, string]> = [
      ["INSUFFICIENT_FUNDS", {}, "INSUFFICIENT_FUNDS"],
      ["BONUS_INVALID", {}, "BONUS_LIMIT_EXCEEDED"],
      ["PLAYER_RESTRICTED", { reason: "locked" }, "ACCOUNT_LOCKED"],
      ["INVALID_SESSION", { session: "over" }, "INVALID_SID"],
      ["VALIDATION_FAILED", { amount: ["…"] }, "INVALID_PARAMETER"],
      ["NOT_FOUND", {}, "INVALID_PARAMETER"],
      ["LIMIT_EXCEEDED", { limit: "stake_cap" }, "CASINO_LIMIT_EXCEEDED_STAKE"],
      ["LIMIT_EXCEEDED", { limit: "max_single_bet" }, "CASINO_LIMIT_EXCEEDED_STAKE"],
      ["LIMIT_EXCEEDED", { limit: "casino_max_single_bet" }, "CASINO_LIMIT_EXCEEDED_STAKE"],
      ["LIMIT_EXCEEDED", { limit: "max_daily_bet" }, "CASINO_LIMIT_EXCEEDED_TURNOVER"],
      ["LIMIT_EXCEEDED", { limit: "casino_max_daily_bet" }, "CASINO_LIMIT_EXCEEDED_TURNOVER"],
      ["LIMIT_EXCEEDED", { limit: "max_weekly_bet" }, "CASINO_LIMIT_EXCEEDED_TURNOVER"],
      ["LIMIT_EXCEEDED", { limit: "max_monthly_bet" }, "CASINO_LIMIT_EXCEEDED_TURNOVER"],
      ["LIMIT_EXCEEDED", { limit: "max_daily_loss" }, "CASINO_LIMIT_EXCEEDED_LOSS"],
      ["LIMIT_EXCEEDED", { limit: "max_weekly_loss" }, "CASINO_LIMIT_EXCEEDED_LOSS"],
      ["LIMIT_EXCEEDED", { limit: "max_monthly_loss" }, "CASINO_LIMIT_EXCEEDED_LOSS"],
      ["LIMIT_EXCEEDED", { limit: "max_session_minutes" }, "CASINO_LIMIT_EXCEEDED_SESSION_TIME"]
    ]
    for (const [code, details, status] of rows) {
      const answer = answerOf("debit", refusedWith(code, { ...details }))
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(valuesOf(answer), { ...ok, status })
    }
  })

  it("TEMPORARY_ERROR with retransmission: a call that cannot be answered now, and a defect", () => {
    for (const method of ["check", "balance", "debit", "credit", "cancel", "promo_payout"]) {
      for (const code of ["TRY_AGAIN", "SERVER_ERROR", "RATE_LIMITED"] as const) {
        const body = method === "promo_payout" ? promo() : money()
        const answer = answerOf(method, refusedWith(code, {}, null), body)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(valuesOf(answer), { status: "TEMPORARY_ERROR", uuid: "call-1", retransmission: true })
      }
    }
  })
})

describe("Evolution settings", () => {
  it("are refused when one is missing, invalid or unknown", () => {
    assert.strictEqual(evolutionProtocol.bind(settings)._tag, "Success")
    for (const wrong of [{ auth_token: "" }, { games_url: 7 }, { more: "x" }]) {
      assert.strictEqual(evolutionProtocol.bind({ ...settings, ...wrong })._tag, "Failure", JSON.stringify(wrong))
    }
  })

  it("include both tokens among the encrypted secrets", () => {
    assert.deepStrictEqual(evolutionProtocol.secrets, ["auth_token", "api_token"])
  })
})

describe("an Evolution launch", () => {
  const order = launchOf("sid-1", { gameId: "table-1", depositUrl: "https://casino.example.com/cashier" })

  it.effect("posts the player, the sid and the table, authenticated with both keys", () =>
    Effect.gen(function*() {
      const { asked, tools } = vendorAnswering({ entry: "/entry?params=abc", entryEmbedded: "/entry?embedded" })
      const address = yield* outbound.launch(order, tools)
      assert.strictEqual(address, "https://games.example.com/entry?params=abc")
      const [request] = asked
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.url, "https://games.example.com/ua/v1/casino0000000001/made-up-api-token")
      assert.deepStrictEqual(JSON.parse(request?.body ?? ""), {
        uuid: "00000000-0000-4000-8000-000000000001",
        player: {
          id: "1018",
          update: true,
          firstName: "ada",
          lastName: "ada",
          nickname: "ada",
          country: "DE",
          language: "de",
          currency: "EUR",
          session: { id: "sid-1", ip: "203.0.113.7" }
        },
        config: {
          game: { table: { id: "table-1" } },
          channel: { wrapped: false, mobile: true },
          urls: { cashier: "https://casino.example.com/cashier", lobby: "https://casino.example.com/lobby" }
        }
      })
    }))

  it.effect("keeps a launch URL that has its own host", () =>
    Effect.gen(function*() {
      const { tools } = vendorAnswering({ entry: "https://other.example.com/entry" })
      assert.strictEqual(yield* outbound.launch(order, tools), "https://other.example.com/entry")
    }))

  it.effect("is refused with the vendor's code and message, and unavailable when the answer cannot be decoded", () =>
    Effect.gen(function*() {
      const failureOf = (body: unknown, status?: number) =>
        Effect.flip(outbound.launch(order, vendorAnswering(body, status).tools))
      assert.deepInclude(yield* failureOf({ errors: [{ code: "G.9", message: "Unknown table" }] }, 400), {
        kind: "refused",
        word: "G.9 Unknown table"
      })
      assert.deepInclude(yield* failureOf("<html>", 502), { kind: "unavailable" })
      assert.deepInclude(yield* failureOf("<html>"), { kind: "unavailable" })
      assert.deepInclude(yield* failureOf({}), { kind: "unavailable" })
      assert.deepInclude(yield* failureOf({ entry: "javascript:alert(1)" }), { kind: "unavailable" })
      const demo = yield* Effect.flip(outbound.launch({ ...order, mode: "demo" }, vendorAnswering({}).tools))
      assert.deepInclude(demo, { kind: "refused" })
    }))
})
