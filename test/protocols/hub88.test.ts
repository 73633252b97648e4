import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Crypto from "node:crypto"
import type { RefusalCode } from "../../src/domain/Refusal.ts"
import { hub88Protocol } from "../../src/protocols/hub88/Hub88.ts"
import type { FreeRoundsOrder, WalletOutcome } from "../../src/protocols/Protocol.ts"
import {
  asAction,
  asAnswer,
  asCall,
  asStranger,
  balanceOf,
  bound,
  euros,
  fieldRefused,
  gameUnknown,
  identified,
  launchOf,
  noon,
  refusedWith,
  settled,
  valuesOf,
  vendorAnswering,
  vendorCall
} from "./support.ts"

// Goal: the codec of Hub88's Wallet API and of Caleta's variant follows their description, row by row. Method: pure functions; signed
// calls go in, and outcomes of the wallet are made up.

/** A made-up key pair's signature of one bet, computed elsewhere. */
const betVector = {
  publicKey: "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApqr7X5SjTHwdTfKhmGwH\nZQUMJOQd" +
    "VyIHUAcKsZyGZflnokaoXo2ieCC/j3uhzh/epcqRIJeT04niAWpt9rkd\nBNiLEHffcGS8m3hjijN7IpqCwkeubigGnYh0aA6LZLd" +
    "uNJEzgAOIRmTNAsH03Gm+\n5kUpCOnFIlBOiAbejWKR2wm8GqD4Nu/VQFpiL/Bn7v7L+No/67mABHyh2iL3X/VS\n15Yrc5DwrQqvF" +
    "+C9WNRFoTowvyG0S/of+YjIYv1t6FgRBoBOr07shgWhMiw16VV4\nfwWIcf/VZ35Y7PWv8JdSYQB0cPCBh93Rcn9833WGF4AnMnYi" +
    "UbuXG4aTzIIJ2NEr\nKQIDAQAB\n-----END PUBLIC KEY-----\n",
  body:
    "{\"user\":\"john12345\",\"token\":\"tok-1\",\"transaction_uuid\":\"16d2dcfe-b89e-11e7-854a-58404eea6d16\",\"suppl" +
    "ier_transaction_id\":\"41ecc3ad-b181-4235-bf9d-acf0a7ad9730\",\"supplier_user\":\"cg_45141\",\"round\":\"rNEMw" +
    "gzJAOZ6eR3V\",\"round_closed\":false,\"is_free\":false,\"request_uuid\":\"583c985f-fee6-4c0e-bbf5-308aad6265" +
    "af\",\"game_code\":\"clt_dragonrising\",\"currency\":\"EUR\",\"amount\":1050000}",
  signature: "D0sf3jr4PQFOziLGXofsOjBiBwa+kb2fL/FUvGB3H/qqvzfNLzfmB6TlUBTZAC+MutaJfHlJq3Q6EjjSmmsw+mMSRlOPbO1F1NP1" +
    "20c5hKnQQrDg1AsqoAfBvG0vjCmIFzl4otLX2aJYKEq8F4LCZKGf7bW2TLPvfXdrhlddCVCYWVSIYNQRTPR2h13FPAL9lyL3dDUa" +
    "JHiGmpKH+Dzv3ElObzh4reaLZT4WaNuGjTv9AFLrWwaSWV7PF4svp2cjDh3+1AGYHv3/izUBeewTb0kYfL/7F5Wbscolk8w+B2Dk" +
    "jKNMRO8/tAObMiZGZb0uhnKt5xhdbjyrDQSPlgMM+w=="
}

const pair = () =>
  Crypto.generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  })

const [vendor, operator] = [pair(), pair()]

const settings = {
  vendor_public_key: vendor.publicKey,
  private_key: operator.privateKey,
  operator_id: 7,
  sub_partner_id: "brand-1",
  games_url: "https://hub.example.com/"
}

const hub88 = bound(hub88Protocol, settings)
const caleta = bound(hub88Protocol, { ...settings, dialect: "caleta" })

const signatureOf = (body: string): string =>
  Crypto.sign("sha256", Buffer.from(body), vendor.privateKey).toString("base64")

const sendTo = (to: typeof hub88, header: string) => (path: string, body: unknown) => {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return to.receive(vendorCall(path, text, { headers: { [header]: signatureOf(text) } }))
}
const send = sendTo(hub88, "x-hub88-signature")
const sendCaleta = sendTo(caleta, "x-auth-signature")

const transaction = {
  user: "1018",
  token: "token-0001",
  transaction_uuid: "bet-1",
  supplier_transaction_id: "s-1",
  supplier_user: "cg_45141",
  round: "round-1",
  round_closed: false,
  request_uuid: "request-1",
  game_code: "clt_dragonrising"
}
const bet = { ...transaction, is_free: false, currency: "EUR", amount: 1_050_000 }
const win = { ...bet, transaction_uuid: "win-1", reference_transaction_uuid: "bet-1", round_closed: true }
const rollback = { ...transaction, transaction_uuid: "rollback-1", reference_transaction_uuid: "bet-1" }
const info = { user: "1018", request_uuid: "request-1" }
const balance = { user: "1018", token: "token-0001", request_uuid: "request-1", game_code: "clt_dragonrising" }

const bodies: { readonly [path: string]: object } = {
  "/user/info": info,
  "/user/balance": balance,
  "/transaction/bet": bet,
  "/transaction/win": win,
  "/transaction/rollback": rollback
}
const caletaBodies: { readonly [path: string]: object } = {
  // its one field
  "/wallet/check": { token: "token-0001" },
  "/wallet/balance": { ...balance, supplier_user: "1018" },
  "/wallet/bet": { ...bet, user: undefined, supplier_user: "1018" },
  "/wallet/win": { ...win, user: undefined, supplier_user: "1018" },
  "/wallet/rollback": rollback
}

const answer = (path: string, outcome: WalletOutcome) => asCall(send(path, bodies[path])).render(outcome)
const statusOf = (path: string, outcome: WalletOutcome) => valuesOf(answer(path, outcome))["status"]
const caletaStatusOf = (path: string, outcome: WalletOutcome) =>
  valuesOf(asCall(sendCaleta(path, caletaBodies[path])).render(outcome))["status"]
const formStatusOf = (received: ReturnType<typeof send>) => valuesOf(asAnswer(received).answer)["status"]

describe("the Hub88 signature", () => {
  it("is RSA-SHA256 over the raw bytes, with the vendor's key", () => {
    const { receive } = bound(hub88Protocol, { ...settings, vendor_public_key: betVector.publicKey })
    const received = receive(
      vendorCall("/transaction/bet", betVector.body, { headers: { "x-hub88-signature": betVector.signature } })
    )
    assert.deepInclude(asAction(received).action, { amount: { coefficient: 105, scale: 1 } })
    const other = receive(
      vendorCall("/transaction/bet", `${betVector.body} `, { headers: { "x-hub88-signature": betVector.signature } })
    )
    asStranger(other)
  })

  it("is answered RS_ERROR_INVALID_SIGNATURE (HTTP 200) when it is missing, wrong or not base64", () => {
    const text = JSON.stringify(bet)
    for (const signature of [undefined, "", "äöü", signatureOf(`${text} `)]) {
      const headers = signature === undefined ? {} : { "x-hub88-signature": signature }
      const answer = asStranger(hub88.receive(vendorCall("/transaction/bet", text, { headers })))
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(valuesOf(answer), {
        user: "1018",
        status: "RS_ERROR_INVALID_SIGNATURE",
        request_uuid: "request-1"
      })
    }
    const answer = asStranger(hub88.receive(vendorCall("/transaction/bet", "{")))
    assert.deepStrictEqual(valuesOf(answer), { status: "RS_ERROR_INVALID_SIGNATURE" })
  })

  it("is in the header X-Auth-Signature for Caleta", () => {
    const text = JSON.stringify(caletaBodies["/wallet/bet"])
    const headers = { "x-hub88-signature": signatureOf(text) }
    asStranger(caleta.receive(vendorCall("/wallet/bet", text, { headers })))
    assert.strictEqual(sendCaleta("/wallet/bet", text)._tag, "Call")
  })
})

describe("Hub88 calls", () => {
  it("Hub88 and Caleta calls have separate paths, and only POST is accepted", () => {
    for (const path of Object.keys(bodies)) {
      assert.strictEqual(send(path, bodies[path])._tag, "Call", path)
      assert.strictEqual(sendCaleta(path, bodies[path])._tag, "NotFound", path)
    }
    for (const path of Object.keys(caletaBodies)) {
      assert.strictEqual(sendCaleta(path, caletaBodies[path])._tag, "Call", path)
      assert.strictEqual(send(path, caletaBodies[path])._tag, "NotFound", path)
    }
    for (const path of ["", "/", "/transaction", "/transaction/bet/", "/toString"]) {
      assert.strictEqual(send(path, bet)._tag, "NotFound")
    }
    assert.strictEqual(hub88.receive(vendorCall("/user/info", "", { method: "GET" }))._tag, "NotFound")
  })

  it("RS_ERROR_WRONG_SYNTAX: a body that is not a JSON object or lacks a required field", () => {
    for (const text of ["", "{", "[]", "1"]) {
      assert.strictEqual(formStatusOf(send("/user/balance", text)), "RS_ERROR_WRONG_SYNTAX")
    }
    const necessary = {
      "/user/info": ["user", "request_uuid"],
      "/user/balance": ["user", "token", "request_uuid", "game_code"],
      "/transaction/bet": [
        "user",
        "transaction_uuid",
        "supplier_transaction_id",
        "token",
        "round_closed",
        "round",
        "request_uuid",
        "is_free",
        "game_code",
        "currency",
        "amount"
      ],
      "/transaction/win": ["user", "transaction_uuid", "reference_transaction_uuid", "round", "amount", "currency"],
      "/transaction/rollback": [
        "user",
        "transaction_uuid",
        "supplier_transaction_id",
        "request_uuid",
        "reference_transaction_uuid",
        "round",
        "round_closed",
        "game_code"
      ]
    }
    for (const [path, names] of Object.entries(necessary)) {
      for (const name of names) {
        const received = send(path, { ...bodies[path], [name]: undefined })
        assert.strictEqual(formStatusOf(received), "RS_ERROR_WRONG_SYNTAX", `${path} without ${name}`)
        assert.strictEqual(asAnswer(received).answer.status, 200)
      }
    }
  })

  it("RS_ERROR_WRONG_TYPES: fields of the wrong type", () => {
    for (
      const wrong of [
        { user: 1018 },
        { token: true },
        { transaction_uuid: 7 },
        { round_closed: "false" },
        { is_free: 0 },
        { currency: 978 },
        { amount: "1050000" },
        { amount: -1 },
        { amount: 10.5 },
        { amount: {} },
        { reward_uuid: 7 }
      ]
    ) {
      assert.strictEqual(
        formStatusOf(send("/transaction/bet", { ...bet, ...wrong })),
        "RS_ERROR_WRONG_TYPES",
        JSON.stringify(wrong)
      )
    }
    const inexact = JSON.stringify(bet).replace("1050000", "1050000.0000000000000001")
    assert.strictEqual(formStatusOf(send("/transaction/bet", inexact)), "RS_ERROR_WRONG_TYPES")
  })

  it("user and request_uuid are echoed for a malformed call", () => {
    assert.deepStrictEqual(valuesOf(asAnswer(send("/transaction/bet", { ...bet, amount: "1" })).answer), {
      user: "1018",
      status: "RS_ERROR_WRONG_TYPES",
      request_uuid: "request-1"
    })
  })

  it("the fields meta and bet, and unknown fields, are ignored", () => {
    const { action } = asAction(send("/transaction/bet", { ...bet, bet: "zero", meta: { a: [1.5] }, more: null }))
    assert.strictEqual(action.action, "bet")
  })

  it("a bet needs its session token, but a win and a rollback do not", () => {
    const placed = asAction(send("/transaction/bet", bet))
    assert.deepInclude(placed.call, {
      player: { ref: "1018", token: "token-0001", transactionId: null },
      session: "token",
      gameId: "clt_dragonrising",
      roundId: "round-1",
      currency: "EUR"
    })
    assert.deepStrictEqual(placed.action, {
      action: "bet",
      transactionId: "bet-1",
      amount: { coefficient: 105, scale: 1 },
      isFree: false,
      closesRound: false
    })
    const paid = asAction(send("/transaction/win", win))
    assert.deepInclude(paid.call, { player: { ref: "1018", token: null, transactionId: null }, session: "none" })
    assert.deepStrictEqual(paid.action, {
      action: "win",
      transactionId: "win-1",
      betTransactionId: "bet-1",
      // Caleta's messages are the same only in the same round
      ofBet: true,
      amount: { coefficient: 105, scale: 1 },
      closesRound: true
    })
    assert.notProperty(asAction(sendCaleta("/wallet/win", win)).action, "ofBet")
    const taken = asAction(send("/transaction/rollback", rollback))
    assert.deepInclude(taken.call, { player: { ref: "1018", token: null, transactionId: "bet-1" }, session: "none" })
    assert.deepStrictEqual(taken.action, {
      action: "rollback",
      transactionId: "rollback-1",
      targetTransactionId: "bet-1",
      // Caleta's wins are never rolled back
      onlyBets: false,
      closesRound: false
    })
    assert.deepInclude(asAction(sendCaleta("/wallet/rollback", rollback)).action, { onlyBets: true })
  })

  it("is_free debits no money and pays wins in full; reward_uuid names the grant", () => {
    const free = { ...bet, is_free: true, reward_uuid: "reward-1" }
    const placed = asAction(send("/transaction/bet", free))
    assert.deepInclude(placed.action, { isFree: true })
    assert.deepStrictEqual(placed.call.grant, { reference: "reward-1", mustExist: false, finishes: false })
    const paid = asAction(send("/transaction/win", { ...win, is_free: true, reward_uuid: "reward-1" }))
    assert.deepInclude(paid.action, { amount: { coefficient: 105, scale: 1 } })
    assert.deepInclude(paid.call.grant, { reference: "reward-1" })
    assert.isUndefined(asAction(send("/transaction/bet", { ...bet, reward_uuid: null })).call.grant)
    assert.isUndefined(asAction(send("/transaction/win", { ...win, reward_uuid: "" })).call.grant)
    assert.isNull(asAction(send("/transaction/rollback", { ...rollback, token: "" })).call.player.token)
    const { call: { player } } = asAction(
      sendCaleta("/wallet/win", { ...win, user: "1018", supplier_user: "", reward_uuid: "" })
    )
    assert.strictEqual(player.ref, "1018")
  })

  it("user info is queried by player, and a balance by player and token", () => {
    assert.deepInclude(asCall(send("/user/info", info)).call, {
      kind: "identify",
      player: { ref: "1018", token: null, transactionId: null },
      exchange: false
    })
    assert.deepInclude(asCall(send("/user/balance", balance)).call, {
      kind: "balance",
      player: { ref: "1018", token: "token-0001", transactionId: null },
      gameId: "clt_dragonrising"
    })
  })
})

describe("Hub88 amounts", () => {
  const amountOf = (amount: number) => {
    const { action } = asAction(send("/transaction/bet", { ...bet, amount }))
    return action.action === "bet" ? action.amount : undefined
  }

  it("are whole numbers of hundred-thousandths of a major unit", () => {
    assert.deepStrictEqual(amountOf(356_000), { coefficient: 356, scale: 2 })
    assert.deepStrictEqual(amountOf(1000), { coefficient: 1, scale: 2 })
    assert.deepStrictEqual(amountOf(100), { coefficient: 1, scale: 3 })
    assert.deepStrictEqual(amountOf(1), { coefficient: 1, scale: 5 })
    assert.deepStrictEqual(amountOf(0), { coefficient: 0, scale: 0 })
  })

  it("are read up to the largest balance, however many hundred-thousandths that is", () => {
    assert.deepStrictEqual(amountOf(10_000_000_000_000_000), { coefficient: 100_000_000_000, scale: 0 })
    assert.deepStrictEqual(amountOf(999_999_999_999_999_000), { coefficient: 999_999_999_999_999, scale: 2 })
    assert.strictEqual(asAnswer(send("/transaction/bet", { ...bet, amount: 1e30 })).reason, "form")
    assert.strictEqual(asAnswer(send("/transaction/bet", { ...bet, amount: -1e16 })).reason, "form")
  })

  it("are answered in hundred-thousandths, converted by the currency's decimals, and as 0 for a negative balance", () => {
    const bodyOf = (real: number, bonus: number, currency = "EUR") =>
      answer("/user/balance", balanceOf({ real, bonus, currency })).body
    const sample = (currency: string, units: string) =>
      `{"user":"1018","status":"RS_OK","request_uuid":"request-1","currency":"${currency}","balance":${units}}`
    assert.strictEqual(bodyOf(356, 0), sample("EUR", "356000"))
    assert.strictEqual(bodyOf(100, 256), sample("EUR", "356000"))
    assert.strictEqual(bodyOf(-1, 0), sample("EUR", "0"))
    assert.strictEqual(bodyOf(120, 0, "JPY"), sample("JPY", "12000000"))
    assert.strictEqual(bodyOf(1050, 0, "KWD"), sample("KWD", "105000"))
    assert.strictEqual(bodyOf(999_999_999_999_999, 0), sample("EUR", "999999999999999000"))
  })
})

describe("answers to Hub88", () => {
  it("user info contains all known data of the player", () => {
    assert.deepStrictEqual(valuesOf(answer("/user/info", identified(euros(1050)))), {
      user: "1018",
      status: "RS_OK",
      request_uuid: "request-1",
      country: "DE",
      jurisdiction: "DE",
      sub_partner_id: "brand-1",
      birth_date: "1990-01-31",
      registration_date: "2026-11-22",
      tags: []
    })
  })

  it("RS_OK: bet, win and rollback, first or repeated, and a rollback of an unknown bet", () => {
    for (const path of ["/transaction/bet", "/transaction/win", "/transaction/rollback"]) {
      for (const status of ["processed", "replayed", "ignored"] as const) {
        assert.deepStrictEqual(valuesOf(answer(path, settled(euros(1050), { status }))), {
          user: "1018",
          status: "RS_OK",
          request_uuid: "request-1",
          currency: "EUR",
          balance: 1_050_000
        })
      }
    }
    assert.strictEqual(statusOf("/transaction/rollback", refusedWith("NOT_FOUND")), "RS_OK")
  })

  it("a refusal contains the balance of a known player", () => {
    assert.deepStrictEqual(valuesOf(answer("/transaction/bet", refusedWith("INSUFFICIENT_FUNDS"))), {
      user: "1018",
      status: "RS_ERROR_NOT_ENOUGH_MONEY",
      request_uuid: "request-1",
      currency: "EUR",
      balance: 1_050_000
    })
    assert.deepStrictEqual(valuesOf(answer("/transaction/bet", refusedWith("INVALID_SESSION", {}, null))), {
      user: "1018",
      status: "RS_ERROR_INVALID_TOKEN",
      request_uuid: "request-1"
    })
  })

  it("each refusal of a bet has its own status", () => {
    const rows: ReadonlyArray<readonly [WalletOutcome, string]> = [
      [refusedWith("INSUFFICIENT_FUNDS"), "RS_ERROR_NOT_ENOUGH_MONEY"],
      [refusedWith("INVALID_SESSION", { session: "unknown" }), "RS_ERROR_INVALID_TOKEN"],
      [refusedWith("INVALID_SESSION", { session: "over" }), "RS_ERROR_TOKEN_EXPIRED"],
      [refusedWith("PLAYER_RESTRICTED"), "RS_ERROR_USER_DISABLED"],
      [refusedWith("LIMIT_EXCEEDED"), "RS_ERROR_LIMIT_REACHED"],
      [refusedWith("BONUS_INVALID"), "RS_ERROR_LIMIT_REACHED"],
      [refusedWith("DUPLICATE_TRANSACTION"), "RS_ERROR_DUPLICATE_TRANSACTION"],
      [refusedWith("BET_ROLLED_BACK"), "RS_ERROR_TRANSACTION_ROLLED_BACK"],
      [refusedWith("NOT_FOUND"), "RS_ERROR_INVALID_TOKEN"],
      [gameUnknown, "RS_ERROR_INVALID_GAME"],
      [fieldRefused("currency"), "RS_ERROR_WRONG_CURRENCY"],
      [fieldRefused("amount"), "RS_ERROR_WRONG_TYPES"]
    ]
    for (const [outcome, status] of rows) assert.strictEqual(statusOf("/transaction/bet", outcome), status)
    assert.strictEqual(caletaStatusOf("/wallet/bet", refusedWith("LIMIT_EXCEEDED")), "RS_ERROR_BET_LIMIT_EXCEEDED")
    assert.strictEqual(caletaStatusOf("/wallet/bet", refusedWith("BONUS_INVALID")), "RS_ERROR_BET_LIMIT_EXCEEDED")
  })

  it("a refused win is answered with the status for an unknown bet, a rolled-back bet or a used transaction id", () => {
    assert.strictEqual(
      statusOf("/transaction/win", refusedWith("BET_NOT_FOUND")),
      "RS_ERROR_TRANSACTION_DOES_NOT_EXIST"
    )
    assert.strictEqual(
      statusOf("/transaction/win", refusedWith("BET_ROLLED_BACK")),
      "RS_ERROR_TRANSACTION_ROLLED_BACK"
    )
    assert.strictEqual(
      statusOf("/transaction/win", refusedWith("DUPLICATE_TRANSACTION")),
      "RS_ERROR_DUPLICATE_TRANSACTION"
    )
  })

  it("a win and a rollback are never answered with USER_DISABLED, INVALID_TOKEN, TOKEN_EXPIRED or a limit", () => {
    const codes: ReadonlyArray<RefusalCode> = [
      "PLAYER_RESTRICTED",
      "INVALID_SESSION",
      "LIMIT_EXCEEDED",
      "BONUS_INVALID",
      "INSUFFICIENT_FUNDS"
    ]
    for (const code of codes) {
      assert.strictEqual(statusOf("/transaction/win", refusedWith(code)), "RS_ERROR_UNKNOWN")
      assert.strictEqual(statusOf("/transaction/rollback", refusedWith(code)), "RS_ERROR_UNKNOWN")
      assert.strictEqual(caletaStatusOf("/wallet/win", refusedWith(code)), "RS_ERROR_UNKNOWN")
    }
  })
})

describe("Caleta calls", () => {
  it("a check exchanges the token", () => {
    const { call, render } = asCall(sendCaleta("/wallet/check", caletaBodies["/wallet/check"]))
    assert.deepInclude(call, {
      kind: "identify",
      player: { ref: null, token: "token-0001", transactionId: null },
      exchange: true
    })
    assert.deepStrictEqual(valuesOf(render(identified(euros(1050)))), {
      user: "1018",
      status: "RS_OK",
      currency: "EUR",
      balance: 1_050_000,
      token: "t-1"
    })
    const echoing = asCall(sendCaleta("/wallet/check", { token: "token-0001", request_uuid: "request-1" }))
    assert.deepInclude(valuesOf(echoing.render(identified(euros(1050)))), { request_uuid: "request-1" })
    for (const body of [{}, { token: "" }, { request_uuid: "request-1" }]) {
      assert.strictEqual(asAnswer(sendCaleta("/wallet/check", body)).reason, "form")
    }
  })

  it("supplier_user identifies the player, and a balance is answered even for an expired token", () => {
    const placed = asAction(sendCaleta("/wallet/bet", caletaBodies["/wallet/bet"]))
    assert.deepInclude(placed.call, { player: { ref: "1018", token: "token-0001", transactionId: null } })
    assert.deepInclude(asCall(sendCaleta("/wallet/balance", caletaBodies["/wallet/balance"])).call, {
      player: { ref: "1018", token: "token-0001", transactionId: null },
      mayBeOver: true
    })
    assert.notProperty(asCall(send("/user/balance", balance)).call, "mayBeOver")
  })

  it("a rollback without user identifies the player by its token or its transaction", () => {
    const short = { transaction_uuid: "r-1", reference_transaction_uuid: "bet-1", request_uuid: "request-1" }
    const named = asAction(sendCaleta("/wallet/rollback", { ...short, token: "token-0001" }))
    assert.deepInclude(named.call, { player: { ref: null, token: "token-0001", transactionId: "bet-1" } })
    const unnamed = asAction(sendCaleta("/wallet/rollback", short))
    assert.deepInclude(unnamed.call, {
      player: { ref: null, token: null, transactionId: "bet-1" },
      gameId: null,
      roundId: null
    })
    assert.deepInclude(unnamed.action, { targetTransactionId: "bet-1" })
  })

  it("need no supplier_transaction_id, and round_closed and is_free default to false", () => {
    const short = {
      ...bet,
      supplier_user: "1018",
      supplier_transaction_id: undefined,
      round_closed: undefined,
      is_free: undefined
    }
    assert.deepInclude(asAction(sendCaleta("/wallet/bet", short)).action, {
      isFree: false,
      closesRound: false,
      amount: { coefficient: 105, scale: 1 }
    })
  })

  it("compare a repeated message by user, round and game, not by its whole content as Hub88 calls do", () => {
    assert.strictEqual(caleta.policy?.sameMessage, "round")
    assert.strictEqual((hub88.policy ?? hub88Protocol.policy).sameMessage, "content")
  })
})

describe("Hub88 settings", () => {
  const wrong = (given: object) => hub88Protocol.bind({ ...settings, ...given })._tag

  it("are refused when a key, the operator id, another value or a name is invalid", () => {
    assert.strictEqual(wrong({}), "Success")
    assert.strictEqual(wrong({ dialect: "hub88" }), "Success")
    for (
      const given of [
        { vendor_public_key: "no key" },
        { vendor_public_key: vendor.privateKey.slice(0, 100) },
        { private_key: operator.publicKey },
        { operator_id: "7" },
        { operator_id: 1.5 },
        { sub_partner_id: "" },
        { dialect: "other" },
        { more: 1 }
      ]
    ) assert.strictEqual(wrong(given), "Failure", JSON.stringify(given))
  })

  it("include the private key among the encrypted secrets", () => {
    assert.deepStrictEqual(hub88Protocol.secrets, ["private_key"])
  })
})

describe("outbound calls to Hub88 and Caleta", () => {
  const order = launchOf("token-0001", { gameId: "clt_dragonrising" })

  const signedBody = (asked: ReturnType<typeof vendorAnswering>["asked"], header = "X-Hub88-Signature") => {
    const request = asked.at(-1)
    const body = request?.body ?? ""
    const signature = Buffer.from(request?.headers[header] ?? "", "base64")
    assert.isTrue(Crypto.verify("sha256", Buffer.from(body), operator.publicKey, signature))
    const fields: { readonly [name: string]: unknown } = JSON.parse(body)
    return { url: request?.url, fields }
  }

  it.effect("game/url is signed with the operator's own key", () =>
    Effect.gen(function*() {
      const { asked, tools } = vendorAnswering({ url: "https://play.example.com/g?x=1" })
      assert.strictEqual(yield* hub88.outbound.launch(order, tools), "https://play.example.com/g?x=1")
      const { fields, url } = signedBody(asked)
      assert.strictEqual(url, "https://hub.example.com/operator/generic/v2/game/url")
      assert.deepStrictEqual(fields, {
        operator_id: 7,
        user: "1018",
        token: "token-0001",
        sub_partner_id: "brand-1",
        platform: "GPL_MOBILE",
        lang: "de",
        game_code: "clt_dragonrising",
        currency: "EUR",
        country: "DE",
        ip: "203.0.113.7",
        lobby_url: "https://casino.example.com/lobby"
      })
      const other = vendorAnswering({ url: "https://play.example.com/g" })
      yield* caleta.outbound.launch({ ...order, platform: "desktop" }, other.tools)
      assert.strictEqual(signedBody(other.asked, "X-Auth-Signature").fields["platform"], "GPL_DESKTOP")
    }))

  it.effect("Caleta's games API is below /api, and needs the address of the lobby", () =>
    Effect.gen(function*() {
      for (const games_url of ["https://rgs.example.com/api", "https://rgs.example.com/api/"]) {
        const { asked, tools } = vendorAnswering({ url: "https://play.example.com/g" })
        const own = bound(hub88Protocol, { ...settings, games_url, dialect: "caleta" })
        yield* own.outbound.launch({ ...order, lobbyUrl: null }, tools)
        const { fields, url } = signedBody(asked, "X-Auth-Signature")
        assert.strictEqual(url, "https://rgs.example.com/api/game/url")
        assert.strictEqual(fields["lobby_url"], "")
      }
      const { asked, tools } = vendorAnswering({ url: "https://play.example.com/g" })
      yield* bound(hub88Protocol, { ...settings, games_url: "https://hub.example.com/api" }).outbound.launch(
        order,
        tools
      )
      assert.strictEqual(signedBody(asked).url, "https://hub.example.com/api/operator/generic/v2/game/url")
    }))

  it.effect("a demo launch has the demo currency, and neither user nor token", () =>
    Effect.gen(function*() {
      for (
        const [{ outbound }, header, currency] of [
          [hub88, "X-Hub88-Signature", "XXX"],
          [caleta, "X-Auth-Signature", "FUN"]
        ] as const
      ) {
        const { asked, tools } = vendorAnswering({ url: "https://play.example.com/g" })
        yield* outbound.launch({ ...order, mode: "demo" }, tools)
        const { fields } = signedBody(asked, header)
        assert.strictEqual(fields["currency"], currency)
        assert.notProperty(fields, "user")
        assert.notProperty(fields, "token")
      }
    }))

  it.effect("a call is refused with the vendor's code, and unavailable when the answer cannot be decoded", () =>
    Effect.gen(function*() {
      const failureOf = (body: unknown, status?: number) =>
        Effect.flip(hub88.outbound.launch(order, vendorAnswering(body, status).tools))
      assert.deepInclude(yield* failureOf({ error: "RS_ERROR_INVALID_GAME" }, 400), {
        kind: "refused",
        word: "RS_ERROR_INVALID_GAME"
      })
      for (const said of [{ status: "RS_ERROR_INVALID_GAME" }, { error: "RS_ERROR_INVALID_GAME" }]) {
        assert.deepInclude(yield* failureOf(said), { kind: "refused", word: "RS_ERROR_INVALID_GAME" })
      }
      assert.deepInclude(yield* failureOf("oops", 500), { kind: "unavailable" })
      assert.deepInclude(yield* failureOf({ other: 1 }), { kind: "unavailable" })
      assert.deepInclude(yield* failureOf({ url: "data:text/html,x" }), { kind: "unavailable" })
    }))

  it.effect("game/list is the catalogue, with live games by category and without disabled games", () =>
    Effect.gen(function*() {
      const { tools } = vendorAnswering([
        {
          game_code: "g-1",
          name: "Dragon Rising",
          enabled: true,
          category: "Video Slots",
          rtp: "96.5",
          url_thumb: "https://i.example.com/1.png"
        },
        { game_code: "g-2", name: "Roulette", enabled: true, category: "Live Roulette", rtp: null },
        { game_code: "g-3", name: "Gone", enabled: false, category: "Video Slots" },
        { game_code: "g-4", name: "Plain" },
        { game_code: "g-5" },
        { game_code: 6, name: "Numbered" },
        "g-7"
      ])
      const { games, odd, withdrawn } = yield* hub88.outbound.catalogue?.(tools) ?? Effect.die("no catalogue")
      assert.deepStrictEqual(withdrawn, [{ id: "g-3", reason: "enabled: false" }])
      assert.deepStrictEqual(odd?.map(({ id }) => id), ["g-5", "6", null])
      assert.match(odd?.[0]?.reason ?? "", /^name: /)
      assert.match(odd?.[1]?.reason ?? "", /^game_code: /)
      assert.deepStrictEqual(games, [
        {
          externalId: "g-1",
          name: "Dragon Rising",
          type: "rng",
          category: "video slots",
          rtp: 96.5,
          thumbnailUrl: "https://i.example.com/1.png"
        },
        { externalId: "g-2", name: "Roulette", type: "live", category: "live roulette", rtp: null, thumbnailUrl: null },
        { externalId: "g-4", name: "Plain", type: "rng", category: "other", rtp: null, thumbnailUrl: null }
      ])
    }))

  const freeRounds: FreeRoundsOrder = {
    reference: "ours-1",
    playerRef: "1018",
    currency: "EUR",
    country: "DE",
    language: "de",
    gameId: "g-1",
    rounds: 10,
    stake: { coefficient: 2, scale: 1 },
    validUntil: noon + 86_400_000
  }

  it.effect("a reward is created from a prepaid with its game, currency, number of rounds and value", () =>
    Effect.gen(function*() {
      const prepaids = [
        { prepaid_uuid: "odd", game_code: "g-1", currency: "EUR", bet_value: "20000" },
        { prepaid_uuid: "p-0", game_code: "g-2", currency: "EUR", bet_value: 20_000, bet_count: 10 },
        { prepaid_uuid: "p-1", game_code: "g-1", currency: "USD", bet_value: 20_000, bet_count: 10 },
        { prepaid_uuid: "p-2", game_code: "g-1", currency: "EUR", bet_value: 10_000, bet_count: 10 },
        { prepaid_uuid: "p-3", game_code: "g-1", currency: "EUR", bet_value: 20_000, bet_count: 5 },
        { prepaid_uuid: "p-4", game_code: "g-1", currency: "EUR", bet_value: null, bet_count: 10 }
      ]
      const { asked, tools } = vendorAnswering(prepaids)
      const send: typeof tools.send = (request) =>
        Effect.map(
          tools.send(request),
          (response) =>
            request.url.endsWith("/rewards/create") ? { ...response, body: `{"reward_uuid":"reward-1"}` } : response
        )
      const issue = hub88.outbound.freeRounds?.issue
      assert(issue !== undefined)
      assert.strictEqual(yield* issue(freeRounds, { ...tools, send }), "reward-1")
      assert.deepInclude(signedBody(asked).fields, {
        user: "1018",
        prepaid_uuid: "p-4",
        bet_value: 20_000,
        bet_count: 10,
        operator_reference: "ours-1",
        end_time: "2026-11-23T12:00:00"
      })
      const refused = yield* Effect.flip(issue({ ...freeRounds, rounds: 7 }, vendorAnswering(prepaids).tools))
      assert.strictEqual(refused.kind, "refused")
    }))

  it.effect("a reward is cancelled by its id", () =>
    Effect.gen(function*() {
      const { asked, tools } = vendorAnswering({})
      yield* hub88.outbound.freeRounds?.cancel("reward-1", "1018", tools) ?? Effect.void
      const { fields, url } = signedBody(asked)
      assert.strictEqual(url, "https://hub.example.com/operator/generic/v2/freebet/rewards/cancel")
      assert.deepStrictEqual(fields, { operator_id: 7, reward_uuid: "reward-1" })
    }))

  it.effect("transactions/list is the feed, with the kind of each transaction and without declined ones", () =>
    Effect.gen(function*() {
      const line = (transaction_uuid: string, kind: string, transaction_status: string, amount: number) => ({
        transaction_uuid,
        user: "1018",
        kind,
        transaction_status,
        amount,
        currency: "EUR"
      })
      const { asked, tools } = vendorAnswering([
        line("1", "TK_BET", "TS_SUCCESS", 1_050_000),
        line("2", "TK_BET", "TS_ROLLEDBACK", 100_000),
        line("3", "TK_BET", "TS_DECLINED", 100_000),
        line("4", "TK_BET", "TS_RETRY_ATTEMPTS_LIMIT_EXCEEDED", 100_000),
        line("5", "TK_ROLLBACK", "TS_SUCCESS", 100_000),
        line("6", "TK_FREE_BET", "TS_SUCCESS", 100_000),
        ...["TK_WIN", "TK_FREE_WIN", "TK_JP_WIN", "TK_BONUS_WIN", "TK_NEG_BET"].map((kind, index) =>
          line(String(7 + index), kind, "TS_SUCCESS", 200_000)
        ),
        line("12", "TK_BET", "TS_PENDING", 100_000),
        line("13", "TK_TIP", "TS_SUCCESS", 100_000),
        { ...line("14", "TK_BET", "TS_SUCCESS", 100_000), user: undefined },
        { ...line("15", "TK_BET", "TS_SUCCESS", 100_000), amount: "1.00" },
        line("16", "TK_BET", "TS_SUCCESS", 0.5)
      ])
      const feed = yield* hub88.outbound.feed?.({ fromMs: noon, toMs: noon + 86_400_000 }, tools) ??
        Effect.die("no feed")
      assert(feed.by === "transaction")
      assert.strictEqual(feed.unsettled, 2)
      assert.deepStrictEqual(feed.odd?.map(({ id, reason }) => `${id} ${reason.split(":")[0]}`), [
        "14 user",
        "15 amount",
        "16 amount",
        "12 transaction_status",
        "13 kind"
      ])
      assert.deepStrictEqual(
        feed.lines.map(({ amount, kind, transactionId }) => `${transactionId} ${kind} ${amount.coefficient}`),
        ["1 bet 105", "2 bet 1", "5 rollback 1", "6 bet 0", "7 win 2", "8 win 2", "9 win 2", "10 win 2", "11 win 2"]
      )
      assert.deepInclude(signedBody(asked).fields, {
        sub_partner_id: "brand-1",
        start_time: "2026-11-22T12:00:00",
        end_time: "2026-11-23T12:00:00"
      })
    }))
})
