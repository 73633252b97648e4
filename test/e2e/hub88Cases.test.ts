import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import { hub88Dialect } from "../../scripts/simulators/dialects/Hub88.ts"
import { samples } from "../../scripts/simulators/Samples.ts"
import { fresh } from "../kit/Casino.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { openTable } from "../kit/VendorTables.ts"

// Goal: every rule of Hub88's Wallet API, and of Caleta's variant, holds over real HTTP. Method: signed calls as in its
// description, against the public server and a real database; each answer's status and balance.

const Answer = Schema.fromJsonString(Schema.Struct({
  status: Schema.String,
  user: Schema.optionalKey(Schema.String),
  request_uuid: Schema.optionalKey(Schema.String),
  currency: Schema.optionalKey(Schema.String),
  balance: Schema.optionalKey(Schema.Int),
  token: Schema.optionalKey(Schema.String),
  country: Schema.optionalKey(Schema.String),
  birth_date: Schema.optionalKey(Schema.String),
  sub_partner_id: Schema.optionalKey(Schema.String)
}))

const Keys = Schema.Struct({ vendor_private_key: Schema.String, private_key: Schema.String })

/** Hundred-thousandths of a euro. */
const units = (euros: number): number => Math.round(euros * 100_000)

/** A player with 100.00 EUR at a game of a new operator, and the vendor's calls for the player. */
const newTable = Effect.fnUntraced(function*(name: "hub88" | "caleta") {
  const isCaleta = name === "caleta"
  const { provider, vendor: extra } = samples[name]?.("https://vendor.example") ?? { provider: {}, vendor: {} }
  const keys = yield* Schema.decodeUnknownEffect(Keys)({ ...provider, ...extra })
  const dialect = hub88Dialect.make({ ...keys, dialect: name })
  const { session, vendor } = yield* openTable({ name, protocol: "hub88", settings: provider, dialect })

  const ask = Effect.fnUntraced(function*(path: string, fields: object) {
    // a check has its token alone
    const raw = JSON.stringify(path === "/wallet/check" ? fields : { request_uuid: "request-1", ...fields })
    const signature = Crypto.sign("sha256", Buffer.from(raw), keys.vendor_private_key).toString("base64")
    const reply = yield* exchange(vendor.agent, vendor.port, `/api/v1/integrations/${vendor.slug}${path}`, {
      raw,
      headers: { [isCaleta ? "X-Auth-Signature" : "X-Hub88-Signature"]: signature, "Content-Type": "application/json" }
    })
    assert.strictEqual(reply.status, 200, reply.text)
    return yield* Schema.decodeUnknownEffect(Answer)(reply.text)
  })

  const { playerRef, token } = session
  const player = isCaleta ? { supplier_user: playerRef } : { user: playerRef }
  const transaction = (id: string) => ({
    ...player,
    token,
    transaction_uuid: id,
    supplier_transaction_id: `s-${id}`,
    round: "round-1",
    round_closed: false,
    game_code: vendor.game.externalId
  })
  const base = isCaleta ? "/wallet" : "/transaction"
  const told = ({ balance, status }: typeof Answer.Type) => [status, balance] as const
  const money = (id: string, euros: number, more: object) => ({
    ...transaction(id),
    is_free: false,
    currency: "EUR",
    amount: units(euros),
    ...more
  })
  return {
    ask,
    playerRef,
    token,
    info: ask("/user/info", { user: playerRef }),
    balance: (by = token) =>
      ask(isCaleta ? "/wallet/balance" : "/user/balance", {
        ...player,
        token: by,
        game_code: vendor.game.externalId
      }),
    bet: (id: string, euros: number, more: object = {}) => Effect.map(ask(`${base}/bet`, money(id, euros, more)), told),
    win: (id: string, bet: string, euros: number, more: object = {}) =>
      Effect.map(ask(`${base}/win`, money(id, euros, { reference_transaction_uuid: bet, ...more })), told),
    rollback: (id: string, target: string, more: object = {}) =>
      Effect.map(ask(`${base}/rollback`, { ...transaction(id), reference_transaction_uuid: target, ...more }), told)
  }
})

const ids = Effect.sync(() => {
  const name = fresh("ids")
  return (id: string) => `${name}-${id}`
})

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("calls of Hub88 and Caleta", (it) => {
  it.effect("user info and balance return the player, currency and balance, and echo request_uuid", () =>
    Effect.gen(function*() {
      const { balance, info, playerRef } = yield* newTable("hub88")
      assert.deepInclude(yield* info, {
        status: "RS_OK",
        user: playerRef,
        request_uuid: "request-1",
        sub_partner_id: "main"
      })
      assert.deepInclude(yield* balance(), {
        status: "RS_OK",
        user: playerRef,
        request_uuid: "request-1",
        currency: "EUR",
        balance: 10_000_000
      })
      assert.strictEqual((yield* balance("a-token-of-nobody")).status, "RS_ERROR_INVALID_TOKEN")
    }))

  it.effect("hub88: a win is paid to the bet that it refers to, whichever game and round it names", () =>
    Effect.gen(function*() {
      const { bet, win } = yield* newTable("hub88")
      const id = yield* ids
      assert.deepStrictEqual(yield* bet(id("b"), 10), ["RS_OK", 9_000_000])
      const elsewhere = { round: "round-2", game_code: "none" }
      assert.deepStrictEqual(yield* win(id("w"), id("b"), 3.56, elsewhere), ["RS_OK", 9_356_000])
      assert.deepStrictEqual(yield* win(id("w"), id("b"), 3.56, elsewhere), ["RS_OK", 9_356_000])
      assert.strictEqual((yield* win(id("v"), id("never"), 1))[0], "RS_ERROR_TRANSACTION_DOES_NOT_EXIST")
    }))

  it.effect("hub88: a rollback ends its round also where it takes nothing back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { bet, rollback } = yield* newTable("hub88")
      const id = yield* ids
      const about = { round: id("r") }
      const isClosed = Effect.map(sql`SELECT closed FROM rounds WHERE round_id = ${about.round}`, ([found]) =>
        found?.["closed"])
      yield* bet(id("b"), 10, about)
      assert.deepStrictEqual(yield* rollback(id("x"), id("never"), about), ["RS_OK", 9_000_000])
      assert.strictEqual(yield* isClosed, false)
      assert.deepStrictEqual(yield* rollback(id("x"), id("never"), { ...about, round_closed: true }), [
        "RS_OK",
        9_000_000
      ])
      assert.strictEqual(yield* isClosed, true)
    }))

  for (const name of ["hub88", "caleta"] as const) {
    it.effect(`${name}: a repeated transaction_uuid is settled once, and refused when its round differs`, () =>
      Effect.gen(function*() {
        const { bet, rollback, win } = yield* newTable(name)
        const id = yield* ids
        assert.deepStrictEqual(yield* bet(id("b"), 10), ["RS_OK", 9_000_000])
        assert.deepStrictEqual(yield* bet(id("b"), 10), ["RS_OK", 9_000_000])
        assert.deepStrictEqual(yield* bet(id("b"), 10, { round: "round-2" }), [
          "RS_ERROR_DUPLICATE_TRANSACTION",
          9_000_000
        ])
        // Caleta refuses only a different user, round or game
        assert.deepStrictEqual(yield* bet(id("b"), 11), [
          name === "caleta" ? "RS_OK" : "RS_ERROR_DUPLICATE_TRANSACTION",
          9_000_000
        ])
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 3.56), ["RS_OK", 9_356_000])
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 3.56), ["RS_OK", 9_356_000])
        assert.deepStrictEqual(yield* rollback(id("r"), id("b")), ["RS_OK", 10_356_000])
        assert.deepStrictEqual(yield* rollback(id("r"), id("b")), ["RS_OK", 10_356_000])
        assert.deepStrictEqual(yield* rollback(id("r2"), id("b")), ["RS_OK", 10_356_000])
      }))

    it.effect(`${name}: a rollback of an unknown bet is answered RS_OK without moving money, and the bet and win that follow are refused`, () =>
      Effect.gen(function*() {
        const { bet, rollback, win } = yield* newTable(name)
        const id = yield* ids
        assert.deepStrictEqual(yield* rollback(id("r"), id("b")), ["RS_OK", 10_000_000])
        assert.deepStrictEqual(yield* bet(id("b"), 10), ["RS_ERROR_TRANSACTION_ROLLED_BACK", 10_000_000])
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 10), ["RS_ERROR_TRANSACTION_ROLLED_BACK", 10_000_000])
        assert.deepStrictEqual(yield* rollback(id("r"), id("b")), ["RS_OK", 10_000_000])
      }))

    it.effect(`${name}: a win of an unknown bet is refused as unknown, a win of a rolled-back bet as rolled back`, () =>
      Effect.gen(function*() {
        const { bet, rollback, win } = yield* newTable(name)
        const id = yield* ids
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 5), ["RS_ERROR_TRANSACTION_DOES_NOT_EXIST", 10_000_000])
        yield* bet(id("b"), 10)
        yield* rollback(id("r"), id("b"))
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 5), ["RS_ERROR_TRANSACTION_ROLLED_BACK", 10_000_000])
      }))

    it.effect(`${name}: several bets of one round are rolled back separately, also after the round's end`, () =>
      Effect.gen(function*() {
        const { bet, rollback, win } = yield* newTable(name)
        const id = yield* ids
        yield* bet(id("b1"), 10)
        yield* bet(id("b2"), 10)
        assert.deepStrictEqual(yield* rollback(id("r2"), id("b2")), ["RS_OK", 9_000_000])
        assert.deepStrictEqual(yield* bet(id("b3"), 10), ["RS_OK", 8_000_000])
        assert.deepStrictEqual(yield* win(id("w1"), id("b1"), 0, { round_closed: true }), ["RS_OK", 8_000_000])
        assert.deepStrictEqual(yield* win(id("w3"), id("b3"), 1, { round_closed: true }), ["RS_OK", 8_100_000])
        assert.deepStrictEqual(yield* rollback(id("r3"), id("b3")), ["RS_OK", 9_100_000])
      }))

    it.effect(`${name}: an amount of one cent is accepted, smaller fractions are RS_ERROR_WRONG_TYPES`, () =>
      Effect.gen(function*() {
        const { bet } = yield* newTable(name)
        const id = yield* ids
        assert.deepStrictEqual(yield* bet(id("1000"), 0, { amount: 1000 }), ["RS_OK", 9_999_000])
        assert.deepStrictEqual((yield* bet(id("100"), 0, { amount: 100 }))[0], "RS_ERROR_WRONG_TYPES")
        assert.deepStrictEqual((yield* bet(id("1"), 0, { amount: 1 }))[0], "RS_ERROR_WRONG_TYPES")
        assert.deepStrictEqual((yield* bet(id("-1"), 0, { amount: -1 }))[0], "RS_ERROR_WRONG_TYPES")
      }))

    it.effect(`${name}: a refused bet is answered with the documented status and the balance`, () =>
      Effect.gen(function*() {
        const { bet } = yield* newTable(name)
        const id = yield* ids
        assert.deepStrictEqual(yield* bet(id("b1"), 100.01), ["RS_ERROR_NOT_ENOUGH_MONEY", 10_000_000])
        assert.deepStrictEqual(yield* bet(id("b2"), 1, { currency: "USD" }), ["RS_ERROR_WRONG_CURRENCY", 10_000_000])
        assert.deepStrictEqual((yield* bet(id("b3"), 1, { game_code: "nowhere" }))[0], "RS_ERROR_INVALID_GAME")
        assert.deepStrictEqual((yield* bet(id("b4"), 1, { token: "a-token-of-nobody" }))[0], "RS_ERROR_INVALID_TOKEN")
      }))

    it.effect(`${name}: a win and a rollback are settled whatever their token`, () =>
      Effect.gen(function*() {
        const { bet, rollback, win } = yield* newTable(name)
        const id = yield* ids
        yield* bet(id("b1"), 10)
        yield* bet(id("b2"), 10)
        const token = "a-token-of-nobody"
        assert.deepStrictEqual(yield* win(id("w1"), id("b1"), 20, { token }), ["RS_OK", 10_000_000])
        assert.deepStrictEqual(yield* rollback(id("r2"), id("b2"), { token }), ["RS_OK", 11_000_000])
      }))

    it.effect(`${name}: a free bet takes no money, and its win is paid`, () =>
      Effect.gen(function*() {
        const { bet, win } = yield* newTable(name)
        const id = yield* ids
        const free = { is_free: true, reward_uuid: "a-reward-of-theirs" }
        for (const amount of [1_000_001, 1_000_100, 1]) {
          assert.deepStrictEqual(yield* bet(id(`b${amount}`), 0, { ...free, amount }), [
            "RS_ERROR_WRONG_TYPES",
            10_000_000
          ])
        }
        assert.deepStrictEqual(yield* bet(id("b"), 5, free), ["RS_OK", 10_000_000])
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 2, free), ["RS_OK", 10_200_000])
        assert.deepStrictEqual(yield* win(id("w"), id("b"), 2, free), ["RS_OK", 10_200_000])
      }))
  }

  it.effect("Caleta: check replaces the token, and the old one is expired for bets", () =>
    Effect.gen(function*() {
      const { ask, balance, bet, token } = yield* newTable("caleta")
      const id = yield* ids
      const checked = yield* ask("/wallet/check", { token })
      assert.deepInclude(checked, { status: "RS_OK", balance: 10_000_000 })
      assert.notStrictEqual(checked.token, token)
      assert.deepStrictEqual((yield* bet(id("b1"), 10))[0], "RS_ERROR_TOKEN_EXPIRED")
      assert.deepStrictEqual(yield* bet(id("b1"), 10, { token: checked.token }), ["RS_OK", 9_000_000])
      assert.deepInclude(yield* balance(), { status: "RS_OK", balance: 9_000_000 })
      assert.strictEqual((yield* ask("/wallet/check", { token: "a-token-of-nobody" })).status, "RS_ERROR_INVALID_TOKEN")
    }))

  it.effect("Caleta: a balance request with an unknown token, or with another player's, is refused as INVALID_TOKEN", () =>
    Effect.gen(function*() {
      const { balance } = yield* newTable("caleta")
      const other = yield* newTable("caleta")
      for (const token of ["a-token-of-nobody", other.token, `${other.token}x`]) {
        const answer = yield* balance(token)
        assert.strictEqual(answer.status, "RS_ERROR_INVALID_TOKEN")
        assert.notProperty(answer, "balance")
      }
      assert.strictEqual((yield* balance()).status, "RS_OK")
    }))

  it.effect("Caleta: a rollback identifies its player by the token or by the transaction", () =>
    Effect.gen(function*() {
      const { ask, bet, token } = yield* newTable("caleta")
      const id = yield* ids
      const rollback = (target: string, more: object) =>
        ask("/wallet/rollback", { transaction_uuid: `r-${target}`, reference_transaction_uuid: target, ...more })
      yield* bet(id("b1"), 10)
      yield* bet(id("b2"), 10)
      assert.deepInclude(yield* rollback(id("b1"), { token }), { status: "RS_OK", balance: 9_000_000 })
      assert.deepInclude(yield* rollback(id("b2"), {}), { status: "RS_OK", balance: 10_000_000 })
      assert.deepInclude(yield* rollback(id("b2"), {}), { status: "RS_OK", balance: 10_000_000 })
      assert.strictEqual((yield* rollback(id("b3"), {})).status, "RS_ERROR_TRANSACTION_DOES_NOT_EXIST")
      assert.deepInclude(yield* rollback(id("b3"), { token }), { status: "RS_OK", balance: 10_000_000 })
    }))
})
