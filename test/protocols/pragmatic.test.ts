import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import { pragmatic, pragmaticProtocol } from "../../src/protocols/pragmatic/Pragmatic.ts"
import { pragmaticHash } from "../../src/protocols/pragmatic/PragmaticHash.ts"
import type { WalletOutcome } from "../../src/protocols/Protocol.ts"
import {
  answerTo,
  asCall,
  asStranger,
  balanceOf,
  euros,
  fieldRefused,
  gameUnknown,
  identified,
  passing,
  refusedWith,
  settled,
  vendorCall
} from "./support.ts"

// Goal: every call, field, error and rule of Pragmatic Play's seamless wallet. Method: pure functions; the wallet's outcomes are
// made up; the wallet itself is tested elsewhere.

const settings = {
  secret_key: "made-up-secret",
  secure_login: "casino",
  provider_id: "PragmaticPlay",
  games_url: "https://vendor.example/",
  feed_login: "feed",
  feed_password: "feed-password"
}
const bound = pragmatic.bind(settings)
const paying = pragmatic.bind({ ...settings, free_rounds_win: "pay" })

type Fields = { readonly [name: string]: string }

const formOf = (fields: Fields, hash?: string): string => {
  const entries = Object.entries(fields)
  const signed = new URLSearchParams({ ...fields, hash: hash ?? pragmaticHash(settings.secret_key, entries) })
  return signed.toString()
}

const receive = (method: string, fields: Fields, by = bound) =>
  by.receive(vendorCall(`/${method}.html`, formOf({ providerId: "PragmaticPlay", ...fields })))

const json = (answer: { readonly body: string }): unknown => JSON.parse(answer.body)

const errorOf = (received: ReturnType<typeof receive>, outcome?: WalletOutcome): unknown => {
  const answer = answerTo(received, outcome)
  assert.strictEqual(answer.status, 200)
  const { error }: { readonly error: unknown } = JSON.parse(answer.body)
  return error
}

const bet = {
  userId: "1018",
  gameId: "vs20olympgate",
  roundId: "5103188801",
  amount: "10.50",
  reference: "585c1306f89c56f5ecfc2f5d",
  timestamp: "1700000000000",
  roundDetails: "spin,bonusBuy"
}
const player = { ref: "1018", token: null, transactionId: null }

const calls: { readonly [method: string]: Fields } = {
  authenticate: { token: "t-1" },
  balance: { userId: "1018" },
  bet,
  result: bet,
  bonusWin: { userId: "1018", amount: "5.00", reference: "bw-1", timestamp: "1700000000000", bonusCode: "grant-1" },
  jackpotWin: {
    userId: "1018",
    gameId: "vs20olympgate",
    roundId: "5103188801",
    jackpotId: "j-1",
    amount: "1000.00",
    reference: "jw-1",
    timestamp: "1700000000000"
  },
  promoWin: {
    userId: "1018",
    campaignId: "c-1",
    campaignType: "T",
    amount: "3.00",
    currency: "EUR",
    reference: "pw-1",
    timestamp: "1700000000000"
  },
  endRound: { userId: "1018", gameId: "vs20olympgate", roundId: "5103188801" },
  refund: { userId: "1018", reference: "585c1306f89c56f5ecfc2f5d" },
  GetBalancePerGame: { userId: "1018", gameIdList: "vs20olympgate,vs5super7" },
  adjustment: {
    userId: "1018",
    gameId: "401",
    roundId: "5103188801",
    amount: "-4.00",
    reference: "ad-1",
    validBetAmount: "10.00",
    timestamp: "1700000000000"
  },
  "session/expired": { sessionId: "s-1", playerId: "1018" },
  roundDetails: {
    userId: "1018",
    roundId: "5103188801",
    smResult: "x",
    gameCategory: "slots",
    betMultiplier: "1"
  }
}

describe("Pragmatic Play settings", () => {
  it("accept the documented ones, and name every invalid, missing or unknown one", () => {
    const { secret_key: _, ...without } = settings
    assert.isTrue(Result.isSuccess(pragmaticProtocol.bind({ ...settings, free_rounds_win: "pay" })))
    const wrong = pragmaticProtocol.bind({ ...without, free_rounds_win: "twice", other: 1 })
    assert(Result.isFailure(wrong))
    for (const name of ["secret_key", "free_rounds_win", "other"]) assert.include(String(wrong.failure), name)
  })

  it("include the secret key and the feed's password among the encrypted secrets", () => {
    assert.deepStrictEqual(pragmatic.secrets, ["secret_key", "feed_password"])
  })
})

describe("the Pragmatic Play hash", () => {
  it("is correct for the example authenticate call", () => {
    const entries = [["token", "5v93mto7jr"], ["providerId", "pragmaticplay"], ["hash", "ignored"]] as const
    assert.strictEqual(pragmaticHash("made-up-secret", entries), "52b38582f6d485dd5320e09d9a84d54c")
  })

  it("is correct for the example bet, which has an empty field (left out), a comma and an unknown field (kept)", () => {
    const entries = Object.entries({
      ...bet,
      userId: "1018",
      providerId: "PragmaticPlay",
      token: "t-1",
      platform: "",
      newField: "x y"
    })
    assert.strictEqual(pragmaticHash("made-up-secret", entries), "208850caf003b072dcb6841ca1be90be")
  })

  it("is computed over the decoded values, however they were encoded", () => {
    const hash = pragmaticHash(settings.secret_key, [["providerId", "PragmaticPlay"], ["userId", "1018"], [
      "x",
      "a b,c"
    ]])
    const body = `providerId=PragmaticPlay&userId=%31018&x=a%20b%2Cc&empty=&hash=${hash}`
    assert.strictEqual(bound.receive(vendorCall("/balance.html", body))._tag, "Call")
  })

  for (const hash of ["0".repeat(32), "", "52b38582f6d485dd5320e09d9a84d54"]) {
    it(`that is wrong is answered error 5: ${hash === "" ? "(none)" : hash}`, () => {
      const received = bound.receive(vendorCall("/balance.html", formOf({ providerId: "x", userId: "1018" }, hash)))
      asStranger(received)
      assert.strictEqual(errorOf(received), 5)
    })
  }
})

describe("Pragmatic Play calls", () => {
  it("are not found under another path or method", () => {
    for (const path of ["", "/", "/bet", "/bets.html", "/authenticate.html/x"]) {
      assert.strictEqual(bound.receive(vendorCall(path, formOf({})))._tag, "NotFound")
    }
    assert.strictEqual(bound.receive(vendorCall("/bet.html", "", { method: "GET" }))._tag, "NotFound")
  })

  it("ignore the case of providerId, and are answered error 7 for another provider", () => {
    assert.strictEqual(receive("balance", { userId: "1018", providerId: "PRAGMATICPLAY" })._tag, "Call")
    assert.strictEqual(errorOf(receive("balance", { userId: "1018", providerId: "other" })), 7)
  })

  for (const [method, fields] of Object.entries(calls)) {
    for (const name of Object.keys(fields)) {
      it(`${method} without ${name} are answered error 7`, () => {
        const { [name]: _, ...rest } = fields
        const received = receive(method, rest)
        assert(received._tag === "Answered")
        assert.strictEqual(received.reason, "form")
        assert.strictEqual(errorOf(received), 7)
      })
    }
  }

  it("are answered error 7 for a repeated parameter", () => {
    const entries = [["providerId", "PragmaticPlay"], ["userId", "1018"], ["userId", "p-2"]] as const
    const form = new URLSearchParams(entries.map(([name, value]) => [name, value] as [string, string]))
    form.append("hash", pragmaticHash(settings.secret_key, entries))
    assert.strictEqual(errorOf(bound.receive(vendorCall("/balance.html", form.toString()))), 7)
  })

  for (const amount of ["-1.00", "1,00", "abc", "1e2", " 1", "+1", "12345678901234567890"]) {
    it(`are answered error 7 for the amount "${amount}"`, () => {
      assert.strictEqual(errorOf(receive("bet", { ...bet, amount })), 7)
    })
  }

  it("are answered error 7 for a text that is too long or a round that is not a number", () => {
    assert.strictEqual(errorOf(receive("bet", { ...bet, reference: "r".repeat(33) })), 7)
    assert.strictEqual(errorOf(receive("bet", { ...bet, userId: "p".repeat(101) })), 7)
    assert.strictEqual(errorOf(receive("bet", { ...bet, gameId: "g".repeat(33) })), 7)
    assert.strictEqual(errorOf(receive("bet", { ...bet, roundId: "r-1" })), 7)
    assert.strictEqual(errorOf(receive("bet", { ...bet, userId: "p\u00001" })), 7)
  })

  it("are answered error 7 for an amount that is not a whole number of minor units", () => {
    assert.strictEqual(errorOf(receive("bet", bet), fieldRefused("amount")), 7)
  })
})

describe("Pragmatic Play authenticate", () => {
  it("identifies the player of the token without exchanging that token", () => {
    assert.deepStrictEqual(asCall(receive("authenticate", { token: "t-1", gameId: "vs20olympgate" })).call, {
      kind: "identify",
      method: "authenticate",
      player: { ref: null, token: "t-1", transactionId: null },
      exchange: false,
      gameId: "vs20olympgate"
    })
  })

  it("answers userId, currency, cash, bonus, token and country", () => {
    const answer = answerTo(
      receive("authenticate", { token: "t-1" }),
      identified(euros(900_000_000_000_001, 250))
    )
    assert.strictEqual(
      answer.body,
      "{\"userId\":\"1018\",\"currency\":\"EUR\",\"cash\":9000000000000.01,\"bonus\":2.50,\"token\":\"t-1\",\"country\":\"DE\"," +
        "\"error\":0,\"description\":\"Success\"}"
    )
  })
})

describe("Pragmatic Play balance", () => {
  it("queries the balance by userId, whatever the token", () => {
    assert.deepStrictEqual(asCall(receive("balance", { userId: "1018", token: "old" })).call, {
      kind: "balance",
      method: "balance",
      player,
      gameId: null,
      currency: null
    })
  })

  it("answers currency, cash and bonus, with both amounts 0 while the balance is negative", () => {
    const received = receive("balance", { userId: "1018" })
    assert.deepStrictEqual(json(answerTo(received, balanceOf(euros(10_050)))), {
      currency: "EUR",
      cash: 100.5,
      bonus: 0,
      error: 0,
      description: "Success"
    })
    // nothing can be staked, whatever the bonus holds
    assert.deepInclude(json(answerTo(received, balanceOf(euros(-300, 500)))), { cash: 0, bonus: 0 })
  })
})

describe("a Pragmatic Play bet", () => {
  it("is decoded to a bet in the token's session, with an id prefixed by its kind", () => {
    assert.deepStrictEqual(asCall(receive("bet", { ...bet, token: "t-1", bonusCode: "b", platform: "WEB" })).call, {
      kind: "settle",
      method: "bet",
      player: { ...player, token: "t-1" },
      gameId: "vs20olympgate",
      roundId: "5103188801",
      currency: null,
      session: "token",
      actions: [{
        action: "bet",
        transactionId: "bet:585c1306f89c56f5ecfc2f5d",
        amount: { coefficient: 105, scale: 1 },
        closesRound: false
      }]
    })
  })

  it("without a token names no session", () => {
    const { call } = asCall(receive("bet", bet))
    assert.deepInclude(call, { session: "none", player })
  })

  it("of 0.00 is a free-round bet", () => {
    const { call } = asCall(receive("bet", { ...bet, amount: "0.00" }))
    assert(call.kind === "settle")
    assert.deepInclude(call.actions[0], { amount: { coefficient: 0, scale: 0 } })
  })

  it("may have empty roundDetails", () => {
    assert.strictEqual(receive("bet", { ...bet, roundDetails: "" })._tag, "Call")
  })

  it("is answered with transactionId, balances and the amount staked from bonus money", () => {
    const outcome = settled(euros(10_050), { realAmount: -1000, bonusAmount: -50 })
    const first = json(answerTo(receive("bet", bet), outcome))
    assert.deepStrictEqual(first, {
      transactionId: "bet:585c1306f89c56f5ecfc2f5d",
      currency: "EUR",
      cash: 100.5,
      bonus: 0,
      usedPromo: 0.5,
      error: 0,
      description: "Success"
    })
  })

  it("that is repeated is answered with the same transactionId and the current balance", () => {
    const again = settled(euros(100), { status: "replayed", bonusAmount: -50 })
    assert.deepInclude(json(answerTo(receive("bet", bet), again)), {
      transactionId: "bet:585c1306f89c56f5ecfc2f5d",
      cash: 1,
      usedPromo: 0.5,
      error: 0
    })
  })

  it("that is repeated after its refund is answered error 120 (no retry)", () => {
    const again = settled(euros(100), { status: "replayed", rolledBack: true })
    assert.deepInclude(json(answerTo(receive("bet", bet), again)), { error: 120 })
  })

  const refusals: ReadonlyArray<readonly [string, WalletOutcome, number]> = [
    ["too little money", refusedWith("INSUFFICIENT_FUNDS"), 1],
    ["an unknown player", refusedWith("NOT_FOUND", {}, null), 2],
    ["betting switched off for the player", refusedWith("PLAYER_RESTRICTED", { reason: "can_bet" }), 3],
    ["a stake above the bonus's maximum", refusedWith("BONUS_INVALID"), 3],
    ["a session that is over", refusedWith("INVALID_SESSION"), 4],
    ["a locked account", refusedWith("PLAYER_RESTRICTED", { reason: "locked" }), 6],
    ["an exclusion", refusedWith("PLAYER_RESTRICTED", { reason: "self_exclusion" }), 6],
    ["an invalid field", fieldRefused("amount"), 7],
    ["an unknown game", gameUnknown, 8],
    ["a limit", refusedWith("LIMIT_EXCEEDED", { limit: "max_daily_bet" }), 50],
    ["an earlier refund of it", refusedWith("BET_ROLLED_BACK", { tombstone: true }), 120],
    ["a reference that was used for something else", refusedWith("DUPLICATE_TRANSACTION"), 120]
  ]
  for (const [why, outcome, error] of refusals) {
    it(`refused for ${why} is answered ${error}`, () => {
      assert.strictEqual(errorOf(receive("bet", bet), outcome), error)
    })
  }
})

describe("a Pragmatic Play result", () => {
  it("is a win of the round, whatever the state of the session", () => {
    assert.deepStrictEqual(asCall(receive("result", { ...bet, token: "dead" })).call, {
      kind: "settle",
      method: "result",
      player,
      gameId: "vs20olympgate",
      roundId: "5103188801",
      currency: null,
      session: "none",
      actions: [{
        action: "win",
        transactionId: "win:585c1306f89c56f5ecfc2f5d",
        betTransactionId: null,
        amount: { coefficient: 105, scale: 1 },
        closesRound: false
      }]
    })
  })

  for (const [type, kind] of [["T", "tournament"], ["CJP", "jackpot"], ["CB", "cash_drop"]] as const) {
    it(`credits a prize of campaign type ${type} as a separate promo-win`, () => {
      const { call } = asCall(receive("result", {
        ...bet,
        promoWinAmount: "2.00",
        promoWinReference: "promo-1",
        promoCampaignID: "77",
        promoCampaignType: type
      }))
      assert(call.kind === "settle")
      assert.strictEqual(call.actions.length, 2)
      assert.deepStrictEqual(call.actions[1], {
        action: "promo_win",
        transactionId: "promo:promo-1",
        kind,
        campaignId: "77",
        amount: { coefficient: 2, scale: 0 }
      })
    })
  }

  it("with a prize of 0 is a win alone; with a prize without a reference it is answered error 7", () => {
    const { call } = asCall(receive("result", { ...bet, promoWinAmount: "0.00" }))
    assert(call.kind === "settle")
    assert.strictEqual(call.actions.length, 1)
    assert.strictEqual(errorOf(receive("result", { ...bet, promoWinAmount: "1.00" })), 7)
  })

  it("is answered with transactionId and balances", () => {
    assert.deepStrictEqual(json(answerTo(receive("result", bet), settled(euros(10_050), {}))), {
      transactionId: "win:585c1306f89c56f5ecfc2f5d",
      currency: "EUR",
      cash: 100.5,
      bonus: 0,
      error: 0,
      description: "Success"
    })
  })

  it("that arrives before its bet is answered error 100 (retry), and one for a refunded bet error 120 (no retry)", () => {
    assert.strictEqual(errorOf(receive("result", bet), refusedWith("BET_NOT_FOUND")), 100)
    assert.strictEqual(errorOf(receive("result", bet), refusedWith("BET_ROLLED_BACK", { tombstone: false })), 120)
  })
})

describe("a Pragmatic Play bonusWin", () => {
  it("ends the grant, and pays only if the settings say so", () => {
    const { call } = asCall(receive("bonusWin", calls["bonusWin"] ?? {}))
    assert.deepInclude(call, {
      actions: [],
      session: "none",
      grant: { reference: "grant-1", mustExist: false, finishes: true, won: { coefficient: 5, scale: 0 } }
    })
    const { call: paid } = asCall(receive("bonusWin", calls["bonusWin"] ?? {}, paying))
    assert.deepInclude(paid, {
      actions: [{
        action: "promo_win",
        transactionId: "bonus:bw-1",
        kind: "free_rounds",
        campaignId: "grant-1",
        amount: { coefficient: 5, scale: 0 }
      }]
    })
  })

  it("is answered with transactionId and balances, like a result", () => {
    assert.deepInclude(json(answerTo(receive("bonusWin", calls["bonusWin"] ?? {}), settled(euros(10_050)))), {
      transactionId: "bonus:bw-1",
      currency: "EUR",
      cash: 100.5,
      error: 0
    })
  })
})

describe("Pragmatic Play jackpotWin and promoWin", () => {
  it("a jackpot is paid outside the round", () => {
    const { call } = asCall(receive("jackpotWin", { ...calls["jackpotWin"], token: "dead" }))
    assert.deepInclude(call, {
      player,
      session: "none",
      roundId: null,
      actions: [{
        action: "promo_win",
        transactionId: "jackpot:jw-1",
        kind: "jackpot",
        campaignId: "j-1",
        amount: { coefficient: 1000, scale: 0 }
      }]
    })
  })

  it("a prize is paid in its currency, with the same transaction id as a prize in a result", () => {
    const { call } = asCall(receive("promoWin", calls["promoWin"] ?? {}))
    assert.deepInclude(call, {
      currency: "EUR",
      actions: [{
        action: "promo_win",
        transactionId: "promo:pw-1",
        kind: "tournament",
        campaignId: "c-1",
        amount: { coefficient: 3, scale: 0 }
      }]
    })
  })
})

describe("Pragmatic Play endRound", () => {
  it("closes the round, and pays no win that it names", () => {
    const { call } = asCall(receive("endRound", { ...calls["endRound"], win: "10.00" }))
    assert.deepInclude(call, { roundId: "5103188801", actions: [{ action: "close_round" }], session: "none" })
  })

  it("answers cash and bonus", () => {
    const answer = answerTo(receive("endRound", calls["endRound"] ?? {}), settled(euros(10_050), {}))
    assert.deepStrictEqual(json(answer), { cash: 100.5, bonus: 0, error: 0, description: "Success" })
  })
})

describe("a Pragmatic Play refund", () => {
  const received = () => receive("refund", { ...calls["refund"], gameId: "unknown", roundId: "x", amount: "1" })

  it("rolls back the bet with the same reference, under a transaction id of its own", () => {
    assert.deepInclude(asCall(received()).call, {
      actions: [{
        action: "rollback",
        transactionId: "refund:585c1306f89c56f5ecfc2f5d",
        targetTransactionId: "bet:585c1306f89c56f5ecfc2f5d",
        closesRound: false
      }]
    })
  })

  it("is answered with transactionId and no balances, even for an unknown bet", () => {
    for (const status of ["processed", "ignored", "replayed"] as const) {
      assert.deepStrictEqual(json(answerTo(received(), settled(euros(10_050), { status }))), {
        transactionId: "refund:585c1306f89c56f5ecfc2f5d",
        error: 0,
        description: "Success"
      })
    }
  })

  it("of a bet with a win is answered error 120 (no retry)", () => {
    assert.strictEqual(errorOf(received(), refusedWith("BET_ALREADY_SETTLED")), 120)
  })
})

describe("Pragmatic Play GetBalancePerGame", () => {
  it("queries all games at once and answers them in order", () => {
    const received = receive("GetBalancePerGame", calls["GetBalancePerGame"] ?? {})
    assert.deepInclude(asCall(received).call, { kind: "balances", gameIds: ["vs20olympgate", "vs5super7"] })
    const outcome: WalletOutcome = {
      _tag: "Balances",
      playerRef: "1018",
      funds: [{ currency: "EUR", real: 100, bonus: 20 }, { currency: "EUR", real: 100, bonus: 0 }]
    }
    assert.deepStrictEqual(json(answerTo(received, outcome)), {
      gamesBalances: [
        { gameID: "vs20olympgate", cash: 1, bonus: 0.2 },
        { gameID: "vs5super7", cash: 1, bonus: 0 }
      ],
      error: 0,
      description: "Success"
    })
  })

  it("answers 7 for more than 500 games", () => {
    assert.strictEqual(
      errorOf(
        receive("GetBalancePerGame", { userId: "1018", gameIdList: Array.from({ length: 501 }, () => "g").join() })
      ),
      7
    )
  })
})

describe("a Pragmatic Play adjustment", () => {
  it("corrects the balance by a signed amount, and only queries the balance for 0", () => {
    const { call } = asCall(receive("adjustment", calls["adjustment"] ?? {}))
    assert.deepInclude(call, {
      gameId: "401",
      roundId: "5103188801",
      actions: [{ action: "adjust", transactionId: "adjustment:ad-1", amount: { coefficient: -4, scale: 0 } }]
    })
    const { call: nothing } = asCall(receive("adjustment", { ...calls["adjustment"], amount: "0.00" }))
    assert.deepInclude(nothing, { actions: [] })
  })

  it("that debits more than the balance is answered error 1", () => {
    assert.strictEqual(errorOf(receive("adjustment", calls["adjustment"] ?? {}), refusedWith("INSUFFICIENT_FUNDS")), 1)
  })
})

describe("Pragmatic Play notices", () => {
  for (const method of ["session/expired", "roundDetails"]) {
    it(`${method} is acknowledged and moves no money`, () => {
      const received = receive(method, calls[method] ?? {})
      assert(received._tag === "Answered")
      assert.strictEqual(received.reason, "notice")
      assert.deepStrictEqual(json(received.answer), { error: 0, description: "Success" })
    })
  }
})

describe("a Pragmatic Play call that cannot be answered now", () => {
  const wallets = Object.entries(calls).filter(([method]) => !["session/expired", "roundDetails"].includes(method))
  for (const [method, fields] of wallets) {
    it(`${method} is answered error 100 (retry)`, () => {
      for (const code of passing) assert.strictEqual(errorOf(receive(method, fields), refusedWith(code, {}, null)), 100)
    })
  }

  it("result is answered error 100 (retry) even for refusal codes that never change", () => {
    const final: ReadonlyArray<RefusalCode> = ["ROUND_CLOSED", "KYC_REQUIRED", "INSUFFICIENT_SCOPE"]
    for (const code of final) assert.strictEqual(errorOf(receive("result", bet), refusedWith(code)), 100)
  })
})
