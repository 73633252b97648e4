import { assert, describe, it } from "@effect/vitest"
import * as Crypto from "node:crypto"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import type { WalletOutcome } from "../../src/protocols/Protocol.ts"
import { slotegratorProtocol } from "../../src/protocols/slotegrator/Slotegrator.ts"
import { bytesToSign, slotegratorSign } from "../../src/protocols/slotegrator/SlotegratorSign.ts"
import {
  answerTo,
  asAnswer,
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

// Goal: every action, field, error and rule of Slotegrator GIS. Method: pure functions with made-up outcomes of the wallet;
// the wallet itself is tested elsewhere.

const settings = { merchant_id: "merchant-1", merchant_key: "merchant-key", games_url: "https://vendor.example/api/v1" }
const { receive } = bound(slotegratorProtocol, settings)
const key = Crypto.createSecretKey("merchant-key", "utf8")

type Entries = ReadonlyArray<readonly [name: string, value: string]>

const nonce = "e115cf0f66a645aca08225c9c1b20b80"
const headersAt = (timestamp: number) => ({
  "X-Merchant-Id": "merchant-1",
  "X-Timestamp": String(timestamp),
  "X-Nonce": nonce
})

const sendEntries = (entries: Entries, change: { readonly [header: string]: string } = {}, path = "") => {
  const headers = headersAt(noon / 1000)
  return receive(
    vendorCall(path, new URLSearchParams(Object.fromEntries(entries)).toString(), {
      headers: {
        "x-merchant-id": headers["X-Merchant-Id"],
        "x-timestamp": headers["X-Timestamp"],
        "x-nonce": nonce,
        "x-sign": slotegratorSign(key, entries, headers),
        ...change
      }
    })
  )
}

type Fields = { readonly [name: string]: string | undefined }

const entriesOf = (fields: Fields): Entries =>
  Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])

const send = (fields: Fields, change?: { readonly [header: string]: string }) => sendEntries(entriesOf(fields), change)

const player = { ref: "1018", token: null, transactionId: null }
const money = { amount: "10.50", currency: "EUR", game_uuid: "abcd12345", player_id: "1018", session_id: "s-1" }
const bet = { action: "bet", ...money, transaction_id: "tx-1", type: "bet", round_id: "r-1" }
const win = { action: "win", ...money, transaction_id: "tx-2", type: "win", round_id: "r-1", finished: "1" }
const refund = { action: "refund", ...money, transaction_id: "tx-3", bet_transaction_id: "tx-1", round_id: "r-1" }
const listed = (place: number, action: string, id: string): Entries => [
  [`rollback_transactions[${place}][action]`, action],
  [`rollback_transactions[${place}][amount]`, "1.00"],
  [`rollback_transactions[${place}][transaction_id]`, id],
  [`rollback_transactions[${place}][type]`, action]
]
const rollback = {
  action: "rollback",
  currency: "EUR",
  game_uuid: "abcd12345",
  player_id: "1018",
  transaction_id: "rb-1",
  session_id: "s-1",
  type: "rollback",
  provider_round_id: "p-1",
  round_id: "r-1",
  ...Object.fromEntries(listed(0, "bet", "tx-1")),
  ...Object.fromEntries(listed(1, "win", "tx-2"))
}
const calls: { readonly [action: string]: Fields } = {
  balance: { action: "balance", player_id: "1018", currency: "EUR" },
  bet,
  win,
  refund,
  rollback
}

const errorOf = (received: ReturnType<typeof send>, outcome?: WalletOutcome): unknown => {
  const answer = answerTo(received, outcome)
  assert.strictEqual(answer.status, 200)
  const { error_code: code, error_description: description } = valuesOf(answer)
  assert.isString(description)
  return code
}

const actionsOf = (received: ReturnType<typeof send>) => {
  const { call } = asCall(received)
  assert(call.kind === "settle")
  return call.actions
}

describe("the Slotegrator signature", () => {
  const headers = headersAt(1_700_000_000)
  const example = (fields: Fields, sign: string) => {
    assert.strictEqual(slotegratorSign(key, entriesOf(fields), headers), sign)
  }

  it("is correct for the example bet, whatever the order of its parameters", () => {
    const { round_id: _, ...sent } = bet
    example(sent, "3ba3e91519f135c8f3eab3dbd480a7accd1ea6a7")
    example(Object.fromEntries(Object.entries(sent).reverse()), "3ba3e91519f135c8f3eab3dbd480a7accd1ea6a7")
  })

  it("is correct for an example with a space, a tilde and a colon", () => {
    const { round_id: _, ...sent } = bet
    example(
      { ...sent, amount: "1", game_uuid: "g~1", player_id: "john doe", transaction_id: "a:b" },
      "81ffef9cf217ed382a09bc4c27416c5d3f349d51"
    )
  })

  it("is correct for an example rollback of eleven transactions, where index 10 stays after index 9", () => {
    const { round_id: _, ...head } = rollback
    const fields = {
      ...head,
      game_uuid: "g1",
      provider_round_id: "r-1",
      ...Object.fromEntries(Array.from({ length: 11 }, (_, place) => listed(place, "bet", `t-${place}`)).flat())
    }
    example(fields, "ff20c8ca5df332f379eeca3dbd89841b10bb0271")
    assert.match(bytesToSign(entriesOf(fields), headers).toString(), /%5B9%5D.*%5B10%5D/)
  })

  it("encodes punctuation as PHP does", () => {
    const text = bytesToSign([["a", "-_.!*'()~ é"]], headers).toString()
    assert.match(text, /&a=-_\.%21%2A%27%28%29%7E\+%C3%A9$/)
  })

  it("is accepted for a signed example call", () => {
    assert.strictEqual(send(bet)._tag, "Call")
  })

  const wrong: ReadonlyArray<readonly [string, { readonly [header: string]: string }]> = [
    ["a wrong sign", { "x-sign": "0".repeat(40) }],
    ["no sign", { "x-sign": "" }],
    ["another merchant", { "x-merchant-id": "merchant-2" }],
    ["another nonce", { "x-nonce": "other" }],
    ["another timestamp", { "x-timestamp": String(noon / 1000 + 1) }]
  ]
  for (const [what, change] of wrong) {
    it(`with ${what} is answered INTERNAL_ERROR without a wallet call`, () => {
      const received = send(bet, change)
      asStranger(received)
      assert.strictEqual(errorOf(received), "INTERNAL_ERROR")
    })
  }

  for (const [seconds, isGood] of [[-31, false], [-30, true], [30, true], [31, false]] as const) {
    it(`with a timestamp ${seconds} s off is ${isGood ? "accepted" : "refused"}`, () => {
      const at = headersAt(noon / 1000 + seconds)
      const received = send(bet, {
        "x-timestamp": at["X-Timestamp"],
        "x-sign": slotegratorSign(key, entriesOf(bet), at)
      })
      assert.strictEqual(received._tag, isGood ? "Call" : "Stranger")
    })
  }
})

describe("Slotegrator calls", () => {
  it("are POST requests to the provider's base address", () => {
    assert.strictEqual(sendEntries(entriesOf(bet), {}, "/")._tag, "Call")
    assert.strictEqual(sendEntries(entriesOf(bet), {}, "/bet")._tag, "NotFound")
    assert.strictEqual(receive(vendorCall("", "", { method: "GET" }))._tag, "NotFound")
  })

  it("with an unknown or missing action are answered INTERNAL_ERROR", () => {
    for (const action of ["deposit", undefined]) {
      assert.strictEqual(errorOf(send({ ...bet, action })), "INTERNAL_ERROR")
    }
  })

  const needed: { readonly [action: string]: ReadonlyArray<string> } = {
    balance: ["player_id", "currency"],
    bet: ["player_id", "currency", "amount", "game_uuid", "transaction_id"],
    win: ["player_id", "currency", "amount", "game_uuid", "transaction_id"],
    refund: ["player_id", "currency", "amount", "game_uuid", "transaction_id", "bet_transaction_id"],
    rollback: ["player_id", "currency", "game_uuid", "transaction_id"]
  }
  for (const [action, names] of Object.entries(needed)) {
    for (const name of names) {
      it(`${action} without ${name} are answered INTERNAL_ERROR`, () => {
        const received = send({ ...calls[action], [name]: undefined })
        assert.strictEqual(asAnswer(received).reason, "form")
        assert.strictEqual(errorOf(received), "INTERNAL_ERROR")
      })
    }
  }

  for (const amount of ["-1", "1e2", "1,00", "abc", "12345678901234567890"]) {
    it(`with the amount "${amount}" are answered INTERNAL_ERROR`, () => {
      assert.strictEqual(errorOf(send({ ...bet, amount })), "INTERNAL_ERROR")
    })
  }
})

describe("a Slotegrator balance call", () => {
  it("queries the player's balance in a currency, and answers it as a number", () => {
    const received = send({ ...calls["balance"], session_id: "over" })
    assert.deepStrictEqual(asCall(received).call, {
      kind: "balance",
      method: "balance",
      player,
      gameId: null,
      currency: "EUR"
    })
    assert.strictEqual(answerTo(received, balanceOf(euros(5_712))).body, "{\"balance\":57.12}")
    assert.strictEqual(answerTo(received, balanceOf(euros(-100, 50))).body, "{\"balance\":0.00}")
  })
})

describe("a Slotegrator bet", () => {
  it("is decoded to a bet in the session that it names, or without a session", () => {
    assert.deepStrictEqual(asCall(send(bet)).call, {
      kind: "settle",
      method: "bet",
      player: { ...player, token: "s-1" },
      gameId: "abcd12345",
      roundId: "r-1",
      currency: "EUR",
      session: "token",
      actions: [{
        action: "bet",
        transactionId: "tx-1",
        amount: { coefficient: 105, scale: 1 },
        isFree: false,
        closesRound: false
      }]
    })
    assert.deepInclude(asCall(send({ ...bet, session_id: undefined })).call, { session: "none", player })
  })

  it("of type tip is a normal bet, and of type freespin debits no money and belongs to its grant", () => {
    assert.deepInclude(actionsOf(send({ ...bet, type: "tip" }))[0], { amount: { coefficient: 105, scale: 1 } })
    const { call } = asCall(send({ ...bet, type: "freespin", freespin_id: "f-1", quantity: "3" }))
    assert.deepInclude(call, { grant: { reference: "f-1", mustExist: false, finishes: false, won: null } })
    assert.deepInclude(actionsOf(send({ ...bet, type: "freespin" }))[0], { isFree: true })
  })

  it("closes its round when finished is 1", () => {
    assert.deepInclude(actionsOf(send({ ...bet, finished: "1" }))[0], { closesRound: true })
    assert.deepInclude(actionsOf(send({ ...bet, finished: "0" }))[0], { closesRound: false })
  })

  it("without a round id shares a round with the wins of its session, whose id does not contain the session token", () => {
    const roundOf = (fields: Fields) => {
      const { call } = asCall(send({ ...fields, round_id: undefined }))
      assert(call.kind === "settle")
      return call.roundId ?? ""
    }
    assert.strictEqual(roundOf(bet), roundOf(win))
    assert.notStrictEqual(roundOf(bet), roundOf({ ...bet, session_id: "s-2" }))
    assert.notInclude(roundOf(bet), "s-1")
    assert.strictEqual(roundOf({ ...bet, session_id: undefined }), "player:1018")
  })

  it("is answered with the balance and the operator's transaction id, which is the same when the bet is repeated", () => {
    const first = answerTo(send(bet), settled(euros(2_718), {}))
    assert.strictEqual(first.body, "{\"balance\":27.18,\"transaction_id\":\"pb-tx-1\"}")
    const again = answerTo(
      send({ ...bet, casino_request_retry_count: "2" }),
      settled(euros(100), { status: "replayed" })
    )
    assert.deepStrictEqual(valuesOf(again), { balance: 1, transaction_id: "pb-tx-1" })
  })

  it("above the balance is answered INSUFFICIENT_FUNDS", () => {
    assert.strictEqual(errorOf(send(bet), refusedWith("INSUFFICIENT_FUNDS")), "INSUFFICIENT_FUNDS")
  })

  const others: ReadonlyArray<readonly [string, WalletOutcome]> = [
    ["a limit", refusedWith("LIMIT_EXCEEDED")],
    ["an exclusion", refusedWith("PLAYER_RESTRICTED")],
    ["a session that is over", refusedWith("INVALID_SESSION")],
    ["an unknown player", refusedWith("NOT_FOUND", {}, null)],
    ["an unknown game", gameUnknown],
    ["an earlier refund of it", refusedWith("BET_ROLLED_BACK", { tombstone: true })],
    ["another currency", fieldRefused("currency")],
    ["an amount below a cent", fieldRefused("amount")],
    ["an id that was used for something else", refusedWith("DUPLICATE_TRANSACTION", { earlier: { kind: "win" } })]
  ]
  for (const [why, outcome] of others) {
    it(`refused for ${why} is answered INTERNAL_ERROR`, () => {
      assert.strictEqual(errorOf(send(bet), outcome), "INTERNAL_ERROR")
    })
  }
})

describe("a Slotegrator win", () => {
  for (const type of ["win", "jackpot", "freespin", "bonus"]) {
    it(`of type ${type} with a round id is paid in that round, whatever the state of the session`, () => {
      const { call } = asCall(send({ ...win, type }))
      assert.deepInclude(call, {
        player,
        session: "none",
        roundId: "r-1",
        actions: [{
          action: "win",
          transactionId: "tx-2",
          betTransactionId: null,
          amount: { coefficient: 105, scale: 1 },
          closesRound: true
        }]
      })
    })
  }

  for (const [type, kind] of [["freespin", "free_rounds"], ["bonus", "free_rounds"], ["jackpot", "jackpot"]] as const) {
    it(`of type ${type} without a round id is paid outside any round`, () => {
      const received = send({ ...win, type, round_id: undefined, freespin_id: "f-1", quantity: "0" })
      assert.deepInclude(actionsOf(received)[0], {
        action: "promo_win",
        kind,
        campaignId: "f-1",
        transactionId: "tx-2"
      })
      assert.deepInclude(asCall(received).call, {
        roundId: null,
        grant: { reference: "f-1", mustExist: false, finishes: true, won: null }
      })
    })
  }

  const prizes = {
    pragmatic_prize_drop: "cash_drop",
    prize_drop: "cash_drop",
    pragmatic_tournament: "tournament",
    tournament: "tournament",
    promo: "cash_drop",
    unaccounted_promo: "cash_drop",
    loyalty_win: "cash_drop"
  } as const
  for (const [type, kind] of Object.entries(prizes)) {
    it(`of type ${type} is a promo-win, even if it names a round`, () => {
      assert.deepInclude(actionsOf(send({ ...win, type }))[0], {
        action: "promo_win",
        kind,
        campaignId: `${type}:tx-2`
      })
    })
  }

  it("is answered with the balance and the operator's transaction id", () => {
    assert.deepStrictEqual(valuesOf(answerTo(send(win), settled(euros(17_021), {}))), {
      balance: 170.21,
      transaction_id: "pb-tx-2"
    })
  })
})

describe("a Slotegrator refund", () => {
  it("rolls back the named bet", () => {
    assert.deepStrictEqual(actionsOf(send(refund)), [{
      action: "rollback",
      transactionId: "tx-3",
      targetTransactionId: "tx-1",
      onlyBets: true,
      closesRound: false
    }])
  })

  it("of an unknown bet, and a second refund of the same bet, are answered with success and the first refund's transaction id", () => {
    const first = answerTo(send(refund), settled(euros(100), { status: "ignored" }))
    const second = answerTo(send({ ...refund, transaction_id: "tx-4" }), settled(euros(100), { status: "ignored" }))
    assert.deepStrictEqual(valuesOf(first), { balance: 1, transaction_id: "pb-refund:tx-1" })
    assert.strictEqual(second.body, first.body)
  })

  it("is answered with success when its own rollback arrived first", () => {
    const outcome = refusedWith(
      "DUPLICATE_TRANSACTION",
      { earlier: { kind: "tombstone", status: "processed" } },
      euros(100)
    )
    assert.deepStrictEqual(valuesOf(answerTo(send(refund), outcome)), { balance: 1, transaction_id: "pb-refund:tx-1" })
    assert.strictEqual(errorOf(send(win), outcome), "INTERNAL_ERROR")
  })
})

describe("a Slotegrator rollback", () => {
  it("rolls back exactly the listed transactions, in order", () => {
    const byTarget = { action: "rollback", idPrefix: "rollback:", closesRound: false } as const
    assert.deepStrictEqual(actionsOf(send(rollback)), [
      { ...byTarget, transactionId: "rollback:tx-1", targetTransactionId: "tx-1" },
      { ...byTarget, transactionId: "rollback:tx-2", targetTransactionId: "tx-2" }
    ])
  })

  it("is answered with the balance, the operator's transaction id and all listed ids, including unknown ones", () => {
    const outcome = settled(euros(2_718), { status: "ignored" }, { status: "replayed" })
    assert.deepStrictEqual(valuesOf(answerTo(send(rollback), outcome)), {
      balance: 27.18,
      transaction_id: "pb-rb-1",
      rollback_transactions: ["tx-1", "tx-2"]
    })
  })

  it("of no transactions, more than 100 or an unknown action is answered INTERNAL_ERROR", () => {
    const head = Object.fromEntries(Object.entries(rollback).filter(([name]) => !name.includes("[")))
    assert.strictEqual(errorOf(send(head)), "INTERNAL_ERROR")
    const many = Array.from({ length: 101 }, (_, place) => listed(place, "bet", `t-${place}`)).flat()
    assert.strictEqual(errorOf(send({ ...head, ...Object.fromEntries(many) })), "INTERNAL_ERROR")
    assert.strictEqual(
      errorOf(send({ ...head, ...Object.fromEntries(listed(0, "rollback", "t-1")) })),
      "INTERNAL_ERROR"
    )
  })
})

describe("a Slotegrator call that cannot be answered now", () => {
  for (const [action, fields] of Object.entries(calls)) {
    it(`${action} is answered INTERNAL_ERROR`, () => {
      const codes: ReadonlyArray<RefusalCode> = [...passing, "KYC_REQUIRED"]
      for (const code of codes) assert.strictEqual(errorOf(send(fields), refusedWith(code, {}, null)), "INTERNAL_ERROR")
    })
  }
})
