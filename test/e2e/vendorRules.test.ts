import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Crypto from "node:crypto"
import type { FormEntries } from "../../src/protocols/FormBody.ts"
import { pragmaticHash } from "../../src/protocols/pragmatic/PragmaticHash.ts"
import { requestSigner } from "../../src/protocols/RequestSign.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { endSession } from "../../src/domain/settlement/Launch.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { slotegratorSign } from "../../src/protocols/slotegrator/SlotegratorSign.ts"
import { samples } from "../../scripts/simulators/Samples.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { vendorCases } from "../kit/Vendors.ts"
import { openTable, realOf } from "../kit/VendorTables.ts"

// Goal: vendor-specific rules, each by the vendor's own messages over HTTP. Method: the public server on a real
// database; messages are written by hand, and the player's money is checked besides the answers.

const opening = 10_000

/** A player with 100.00 EUR at a vendor's game. */
const newTable = Effect.fnUntraced(function*(protocol: string) {
  const found = vendorCases.find(({ name }) => name === protocol)
  if (found === undefined) return yield* Effect.die(new Error(`no case of ${protocol}`))
  const { playerId, session, vendor } = yield* openTable(found, { opening })
  return { ...session, playerId, vendor }
})

type Table = Effect.Success<ReturnType<typeof newTable>>

const post = Effect.fnUntraced(
  function*({ vendor }: Table, path: string, raw: string, headers: { readonly [name: string]: string }) {
    const { status, text } = yield* exchange(vendor.agent, vendor.port, `/api/v1/integrations/${vendor.slug}${path}`, {
      method: "POST",
      headers,
      raw
    })
    const values: { readonly [name: string]: unknown } = JSON.parse(text)
    const answer: { readonly [name: string]: unknown } = { ...values, status }
    return answer
  }
)

/** Inserts issued free rounds of the player under a reference; returns the query of their status and winnings. */
const issued = Effect.fnUntraced(function*({ gameId, playerId }: Table, reference: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO free_rounds (id, operator_id, player_id, provider_id, game_id, reference, rounds, stake, currency, status,
      valid_until, created_by, created_at, updated_at)
    SELECT p.id, p.operator_id, p.id, g.provider_id, g.id, ${reference}, 10, 20, 'EUR', 'issued', now(), 'test', now(), now()
    FROM players p, games g WHERE p.id = ${playerId} AND g.external_id = ${gameId}`
  return sql<
    { status: string; won: number | null }
  >`SELECT status, won::float8 FROM free_rounds WHERE reference = ${reference}
    AND player_id = ${playerId}`
})

type Fields = { readonly [name: string]: string }

const form = { "content-type": "application/x-www-form-urlencoded" }

const textOf = (entries: FormEntries): string => new URLSearchParams(Object.fromEntries(entries)).toString()

const secretOf = (protocol: string, name: string): string => String(samples[protocol]?.("").provider[name])

const pragmatic = (table: Table) => (method: string, fields: Fields) => {
  const entries = Object.entries({ providerId: "pragmaticplay", userId: table.playerRef, ...fields })
  const hash = pragmaticHash(secretOf("pragmatic", "secret_key"), entries)
  return post(table, `/${method}.html`, textOf([...entries, ["hash", hash]]), form)
}

const slotegrator = (table: Table) =>
  Effect.fnUntraced(function*(action: string, fields: Fields) {
    const now = yield* Clock.currentTimeMillis
    const entries = Object.entries({
      action,
      player_id: table.playerRef,
      currency: "EUR",
      game_uuid: table.gameId,
      session_id: table.token,
      ...fields
    })
    const headers = {
      "X-Merchant-Id": "merchant-1",
      "X-Timestamp": String(Math.floor(now / 1000)),
      "X-Nonce": "n"
    }
    const key = Crypto.createSecretKey(secretOf("slotegrator", "merchant_key"), "utf8")
    return yield* post(table, "", textOf(entries), {
      ...headers,
      ...form,
      "X-Sign": slotegratorSign(key, entries, headers)
    })
  })

const signed = (table: Table, protocol: string, path: string, values: object) => {
  const raw = JSON.stringify(values)
  return post(table, path, raw, {
    "content-type": "application/json",
    "x-request-sign": requestSigner(secretOf(protocol, "auth_token")).sign(raw)
  })
}

const a8r = (table: Table) => (method: string, fields: object) =>
  signed(table, "a8r", `/v2/a8r_casino.${method}`, { player_id: table.playerRef, currency: "EUR", ...fields })

const round = (table: Table, id: string) => ({ round_id: id, game_id: table.gameId, provider: "vendor" })

const gcp = (table: Table) => (path: string, fields: object) =>
  signed(table, "gcp", path, {
    user_id: table.playerRef,
    currency: "EUR",
    game: table.gameId,
    game_id: "r1",
    ...fields
  })

const spribe = (table: Table) => (method: string, fields: object) => {
  const raw = JSON.stringify({ user_id: table.playerRef, currency: "EUR", game: table.gameId, ...fields })
  const text = `1700000000${secretOf("spribe", "wallet_path")}/${method}${raw}`
  return post(table, `/${method}`, raw, {
    "content-type": "application/json",
    "X-Spribe-Client-ID": secretOf("spribe", "client_id"),
    "X-Spribe-Client-TS": "1700000000",
    "X-Spribe-Client-Signature": Crypto.createHmac("sha256", secretOf("spribe", "secret_key")).update(text).digest(
      "hex"
    )
  })
}

const spin = (table: Table, reference: string, amount: string, roundId = "1"): Fields => ({
  gameId: table.gameId,
  roundId,
  amount,
  reference,
  timestamp: "1700000000000",
  roundDetails: "spin"
})

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("vendor rules", (it) => {
  it.effect("Pragmatic Play: a result before its bet is answered \"try again\", and is paid once after the bet", () =>
    Effect.gen(function*() {
      const table = yield* newTable("pragmatic")
      const call = pragmatic(table)
      assert.deepInclude(yield* call("result", spin(table, "w1", "5.00")), { status: 200, error: 100 })
      assert.deepInclude(yield* call("bet", { ...spin(table, "b1", "2.00"), token: table.token }), {
        error: 0,
        cash: 98
      })
      assert.deepInclude(yield* call("result", spin(table, "w1", "5.00")), { error: 0, cash: 103 })
      assert.deepInclude(yield* call("result", spin(table, "w1", "5.00")), { error: 0, cash: 103 })
      assert.deepInclude(yield* call("endRound", { gameId: table.gameId, roundId: "1" }), { error: 0, cash: 103 })
      assert.deepInclude(yield* call("endRound", { gameId: table.gameId, roundId: "1" }), { error: 0, cash: 103 })
    }))

  it.effect("Pragmatic Play: a refund is made once, before or after its bet, and the bet's result is refused afterwards", () =>
    Effect.gen(function*() {
      const table = yield* newTable("pragmatic")
      const call = pragmatic(table)
      const early = yield* call("refund", { reference: "b1" })
      assert.deepInclude(early, { error: 0, transactionId: "refund:b1" })
      assert.notProperty(early, "cash")
      assert.deepInclude(yield* call("bet", spin(table, "b1", "2.00")), { error: 120 })
      assert.deepInclude(yield* call("bet", spin(table, "b2", "2.00", "2")), { error: 0, cash: 98 })
      for (let time = 0; time < 2; time++) assert.deepInclude(yield* call("refund", { reference: "b2" }), { error: 0 })
      assert.deepInclude(yield* call("result", spin(table, "w2", "9.00", "2")), { error: 120 })
      assert.deepInclude(yield* call("bet", spin(table, "b2", "2.00", "2")), { error: 120 })
      assert.deepInclude(yield* call("bet", spin(table, "b3", "2.00", "3")), { error: 0 })
      assert.deepInclude(yield* call("result", spin(table, "w3", "1.00", "3")), { error: 0, cash: 99 })
      assert.deepInclude(yield* call("bet", spin(table, "b4", "5.00", "3")), { error: 0 })
      // of two bets of a round one was paid, and the other one's answer was lost
      for (let time = 0; time < 2; time++) assert.deepInclude(yield* call("refund", { reference: "b4" }), { error: 0 })
      assert.strictEqual(yield* realOf(table.playerId), 9_900)
    }))

  it.effect("Pragmatic Play: a reference identifies one message; a bet needs a valid token, a result does not", () =>
    Effect.gen(function*() {
      const table = yield* newTable("pragmatic")
      const call = pragmatic(table)
      assert.deepInclude(yield* call("bet", { ...spin(table, "b1", "2.00"), token: "over" }), { error: 4 })
      assert.deepInclude(yield* call("bet", spin(table, "b1", "2.00")), { error: 0, cash: 98 })
      assert.deepInclude(yield* call("bet", spin(table, "b1", "3.00")), { error: 120 })
      assert.deepInclude(yield* call("bet", spin(table, "b2", "2.005")), { error: 7 })
      assert.deepInclude(yield* call("bet", spin(table, "b2", "98.01")), { error: 1 })
      assert.deepInclude(yield* call("bet", { ...spin(table, "b2", "1.00"), gameId: "other" }), { error: 8 })
      assert.deepInclude(yield* call("endRound", { gameId: "other", roundId: "1" }), { error: 8 })
      assert.deepInclude(yield* call("result", { ...spin(table, "b1", "1.00"), token: "over" }), { error: 0, cash: 99 })
      assert.deepInclude(yield* call("balance", { userId: "nobody" }), { error: 2 })
    }))

  it.effect("Pragmatic Play: prizes and corrections are booked once, and the total of free rounds finishes the grant without a payment", () =>
    Effect.gen(function*() {
      const table = yield* newTable("pragmatic")
      const call = pragmatic(table)
      yield* call("bet", spin(table, "b1", "2.00"))
      const withPrize = {
        ...spin(table, "w1", "1.00"),
        promoWinAmount: "4.00",
        promoWinReference: "p1",
        promoCampaignID: "7",
        promoCampaignType: "T"
      }
      for (let time = 0; time < 2; time++) {
        assert.deepInclude(yield* call("result", withPrize), { error: 0, cash: 103 })
      }
      const prize = {
        campaignId: "7",
        campaignType: "T",
        amount: "4.00",
        currency: "EUR",
        reference: "p1",
        timestamp: "1"
      }
      assert.deepInclude(yield* call("promoWin", prize), { error: 0, cash: 103 })
      assert.deepInclude(yield* call("promoWin", { ...prize, reference: "p2" }), { error: 0, cash: 107 })
      const total = { amount: "9.00", reference: "t1", timestamp: "1", bonusCode: "code" }
      const grant = yield* issued(table, "code")
      assert.deepInclude(yield* call("bonusWin", total), { error: 0, cash: 107 })
      assert.deepStrictEqual(yield* grant, [{ status: "finished", won: 900 }])
      const correction = { ...spin(table, "a1", "-7.00"), validBetAmount: "1.00" }
      for (let time = 0; time < 2; time++) {
        assert.deepInclude(yield* call("adjustment", correction), { error: 0, cash: 100 })
      }
      assert.deepInclude(yield* call("adjustment", { ...correction, reference: "a2", amount: "-100.01" }), { error: 1 })
      assert.deepInclude(yield* call("adjustment", { ...correction, reference: "a3", amount: "0.50" }), { cash: 100.5 })
      assert.deepInclude(yield* call("GetBalancePerGame", { gameIdList: `${table.gameId},other` }), {
        error: 0,
        gamesBalances: [
          { gameID: table.gameId, cash: 100.5, bonus: 0 },
          { gameID: "other", cash: 100.5, bonus: 0 }
        ]
      })
      assert.strictEqual(yield* realOf(table.playerId), 10_050)
    }))

  it.effect("Slotegrator: a refund before its bet is accepted, and a second refund of that bet under another id gets the same answer", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      const refund = { amount: "2.00", bet_transaction_id: "b1", transaction_id: "f1" }
      const first = yield* call("refund", refund)
      assert.deepInclude(first, { status: 200, balance: 100, transaction_id: "pb-refund:b1" })
      assert.deepStrictEqual(yield* call("refund", { ...refund, transaction_id: "f2" }), first)
      const bet = { amount: "2.00", transaction_id: "b1", type: "bet", round_id: "r1" }
      assert.deepInclude(yield* call("bet", bet), { error_code: "INTERNAL_ERROR" })
      assert.deepInclude(yield* call("bet", { ...bet, amount: "100.01", transaction_id: "b2" }), {
        error_code: "INSUFFICIENT_FUNDS"
      })
      assert.strictEqual(yield* realOf(table.playerId), opening)
    }))

  it.effect("Slotegrator: a refund ends its round also where it takes nothing back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      const rounds = sql`SELECT closed FROM rounds WHERE player_id = ${table.playerId}`
      const refund = { amount: "2.00", bet_transaction_id: "never", transaction_id: "f1" }
      yield* call("bet", { amount: "2.00", transaction_id: "b1", type: "bet", round_id: "r1" })
      yield* call("refund", { ...refund, finished: "1" })
      assert.deepStrictEqual(yield* rounds, [{ closed: false }])
      assert.deepInclude(yield* call("refund", { ...refund, finished: "1", round_id: "r1" }), { balance: 98 })
      assert.deepStrictEqual(yield* rounds, [{ closed: true }])
    }))

  it.effect("Slotegrator: a refund of a win, a prize or another refund moves no money", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      yield* call("bet", { amount: "60.00", transaction_id: "b1", type: "bet", round_id: "r1" })
      yield* call("win", { amount: "20.00", transaction_id: "w1", type: "win", round_id: "r1" })
      yield* call("win", { amount: "5.00", transaction_id: "p1", type: "promo" })
      yield* call("bet", { amount: "1.00", transaction_id: "b2", type: "bet", round_id: "r2" })
      yield* call("refund", { amount: "1.00", bet_transaction_id: "b2", transaction_id: "f2", round_id: "r2" })
      for (const target of ["w1", "p1", "f2"]) {
        const refund = { amount: "20.00", bet_transaction_id: target, transaction_id: `f-${target}` }
        for (let time = 0; time < 2; time++) {
          const answer = yield* call("refund", refund)
          assert.deepInclude(answer, { status: 200, balance: 65, transaction_id: `pb-refund:${target}` })
        }
      }
      // what was named stays as it was
      assert.deepInclude(yield* call("win", { amount: "20.00", transaction_id: "w1", type: "win", round_id: "r1" }), {
        balance: 65
      })
      assert.strictEqual(yield* realOf(table.playerId), opening - 6000 + 2000 + 500)
    }))

  it.effect("Slotegrator: the amount of a free spin is not charged, but must be valid in the currency", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      const free = { amount: "1.005", transaction_id: "b1", type: "freespin", round_id: "r1" }
      assert.deepInclude(yield* call("bet", free), { error_code: "INTERNAL_ERROR" })
      assert.deepInclude(yield* call("bet", { ...free, amount: "1.00" }), { balance: 100 })
    }))

  const listed = (...transactions: ReadonlyArray<readonly [action: string, id: string]>): Fields =>
    Object.fromEntries(transactions.flatMap(([action, id], place) => [
      [`rollback_transactions[${place}][action]`, action],
      [`rollback_transactions[${place}][amount]`, "2.00"],
      [`rollback_transactions[${place}][transaction_id]`, id],
      [`rollback_transactions[${place}][type]`, action]
    ]))

  it.effect("Slotegrator: a rollback reverses the wins, bets and refunds it lists, in any order, once", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      yield* call("bet", { amount: "2.00", transaction_id: "b1", type: "bet", round_id: "r1" })
      yield* call("win", { amount: "5.00", transaction_id: "w1", type: "win", round_id: "r1" })
      yield* call("bet", { amount: "3.00", transaction_id: "b2", type: "bet", round_id: "r1" })
      yield* call("refund", { amount: "3.00", transaction_id: "f2", bet_transaction_id: "b2", round_id: "r1" })
      assert.strictEqual(yield* realOf(table.playerId), opening + 300)
      const all = { transaction_id: "rb1", type: "rollback", provider_round_id: "r1", round_id: "r1" }
      const fields = { ...all, ...listed(["bet", "b1"], ["win", "w1"], ["bet", "b2"], ["refund", "f2"], ["bet", "b3"]) }
      for (let time = 0; time < 2; time++) {
        assert.deepInclude(yield* call("rollback", fields), {
          balance: 100,
          transaction_id: "pb-rb1",
          rollback_transactions: ["b1", "w1", "b2", "f2", "b3"]
        })
      }
      assert.deepInclude(
        yield* call("bet", { amount: "2.00", transaction_id: "b3", type: "bet", round_id: "r1" }),
        { error_code: "INTERNAL_ERROR" }
      )
      assert.strictEqual(yield* realOf(table.playerId), opening)
    }))

  it.effect("Slotegrator: a bet and its refund that are both rolled back leave the balance as before the bet, in either order, in one call or in two", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      const calls = [[["bet"], ["refund"]], [["refund"], ["bet"]], [["bet", "refund"]], [["refund", "bet"]], [
        ["bet"],
        ["bet", "refund"]
      ]] as const
      for (const [place, lists] of calls.entries()) {
        const ids = { bet: `b${place}`, refund: `f${place}` }
        yield* call("bet", { amount: "2.00", transaction_id: ids.bet, type: "bet", round_id: "r1" })
        yield* call("refund", { amount: "2.00", transaction_id: ids.refund, bet_transaction_id: ids.bet })
        for (const list of lists) {
          const transactions = listed(...list.map((action) => [action, ids[action]] as const))
          yield* call("rollback", { transaction_id: "rb", type: "rollback", ...transactions })
        }
        assert.strictEqual(yield* realOf(table.playerId), opening, JSON.stringify(lists))
      }
    }))

  it.effect("Slotegrator: a win is paid even if its session has ended, it names no round, or its bet was refunded", () =>
    Effect.gen(function*() {
      const table = yield* newTable("slotegrator")
      const call = slotegrator(table)
      yield* call("bet", { amount: "2.00", transaction_id: "b1", type: "bet", round_id: "r1" })
      yield* call("refund", { amount: "2.00", transaction_id: "f1", bet_transaction_id: "b1", round_id: "r1" })
      const late = { amount: "1.00", transaction_id: "w1", type: "win", round_id: "r1", session_id: "over" }
      assert.deepInclude(yield* call("win", late), { balance: 101, transaction_id: "pb-w1" })
      const spins = { amount: "1.50", transaction_id: "w2", type: "freespin", freespin_id: "f", quantity: "0" }
      const grant = yield* issued(table, "f")
      assert.deepInclude(yield* call("win", spins), { balance: 102.5 })
      assert.deepStrictEqual(yield* grant, [{ status: "finished", won: null }], "it is the last spin's win")
      const free = { amount: "1.00", transaction_id: "b2", type: "freespin", round_id: "r2" }
      assert.deepInclude(yield* call("bet", free), { balance: 102.5, transaction_id: "pb-b2" })
      assert.deepInclude(yield* call("bet", { ...free, type: "bet", transaction_id: "b3", session_id: "over" }), {
        error_code: "INTERNAL_ERROR"
      })
    }))

  it.effect("A8R: a win that arrives before its bet is paid, and all transactions of a call are settled or none", () =>
    Effect.gen(function*() {
      const table = yield* newTable("a8r")
      const call = a8r(table)
      const settle = (...transactions: ReadonlyArray<object>) =>
        call("Round/BetWin", { ...round(table, "r1"), finished: false, transactions })
      assert.deepInclude(yield* settle({ id: "w1", type: "win", amount: "5" }), { status: 200, balance: "105.00" })
      assert.deepInclude(yield* settle({ id: "b1", type: "bet", amount: "2.00" }), { balance: "103.00" })
      const refused = yield* settle({ id: "w2", type: "win", amount: "1" }, { id: "b2", type: "bet", amount: "104.01" })
      assert.deepInclude(refused, { status: 400 })
      assert.deepInclude(refused["meta"], { api_code: "100", balance: "103.00" })
      const known = yield* settle({ id: "b1", type: "bet", amount: "50" }, { id: "w3", type: "win", amount: "1" })
      assert.deepInclude(known, { status: 200, balance: "104.00" })
      const taken = yield* settle({ id: "b1", type: "win", amount: "2.00" })
      assert.deepInclude(taken, { status: 400, code: "already_exists" })
      assert.deepInclude(taken["meta"], { api_code: "409", balance: "104.00" })
      const malformed = yield* settle({ id: "b4", type: "bet", amount: "0.001" })
      assert.deepInclude(malformed["meta"], { api_code: "400", balance: "104.00" })
    }))

  it.effect("A8R: a rollback is always accepted, even of an unknown transaction or of a win that was already spent", () =>
    Effect.gen(function*() {
      const table = yield* newTable("a8r")
      const call = a8r(table)
      const settle = (...transactions: ReadonlyArray<object>) =>
        call("Round/BetWin", { ...round(table, "r1"), finished: true, transactions })
      const rollBack = (id: string, original: string) =>
        call("Round/Rollback", { ...round(table, "r1"), finished: true, transactions: [{ id, original_id: original }] })
      assert.deepInclude(yield* rollBack("x1", "b1"), { status: 200, balance: "100.00" })
      assert.deepInclude(yield* settle({ id: "b1", type: "bet", amount: "2.00" }), { status: 200, balance: "100.00" })
      yield* settle({ id: "b2", type: "bet", amount: "10" }, { id: "w2", type: "win", amount: "50" })
      assert.deepInclude(yield* settle({ id: "b3", type: "bet", amount: "140" }), { balance: "0.00" })
      assert.deepInclude(yield* rollBack("x2", "w2"), { status: 200, balance: "0.00" })
      assert.strictEqual(yield* realOf(table.playerId), -5_000)
      assert.deepInclude(yield* call("Player/Balance", {}), { balance: "0.00" })
      assert.deepInclude(yield* settle({ id: "w4", type: "win", amount: "60" }), { balance: "10.00" })
      assert.deepInclude(yield* rollBack("x3", "b2"), { balance: "20.00" })
      assert.deepInclude(yield* rollBack("x4", "b2"), { balance: "20.00" })
    }))

  it.effect("A8R: the balance has no bonus money where no bonus runs, in a refused bet and in a query", () =>
    Effect.gen(function*() {
      const table = yield* newTable("a8r")
      const call = a8r(table)
      const correction = correctionStep({ wallet: "bonus", amount: 500, reason: "a test", actor: "staff:1" })
      yield* (yield* PlayerActors).ask(null, table.playerId, correction)
      const transactions = [{ id: "b1", type: "bet", amount: "100.01" }]
      const { meta } = yield* call("Round/BetWin", { ...round(table, "r1"), finished: false, transactions })
      assert.deepInclude(meta, { api_code: "100", balance: "100.00" })
      assert.deepInclude(yield* call("Player/Balance", {}), { balance: "100.00" })
    }))

  it.effect("A8R: a finished round is closed without naming its game, and an unknown issue of free rounds is refused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const table = yield* newTable("a8r")
      const call = a8r(table)
      const transactions = [{ id: "b1", type: "bet", amount: "2.00" }]
      yield* call("Round/BetWin", { ...round(table, "r1"), finished: false, transactions })
      const closed = sql<{ closed: boolean }>`SELECT closed FROM rounds WHERE player_id = ${table.playerId}`
      assert.deepStrictEqual(yield* closed, [{ closed: false }])
      assert.deepInclude(yield* call("Round/Finish", { round_id: "r1" }), { status: 200, balance: "98.00" })
      assert.deepStrictEqual(yield* closed, [{ closed: true }])
      assert.deepInclude(yield* call("Round/Finish", { round_id: "never" }), { status: 200, balance: "98.00" })
      assert.deepStrictEqual(yield* closed, [{ closed: true }])
      const unknown = yield* call("Freespins/Finish", { issue_id: "i-1", amount: "5", player_id: undefined })
      assert.deepInclude(unknown, { status: 400 })
      const currency = yield* call("Round/Finish", { round_id: "r1", currency: "USD" })
      assert.deepInclude(currency["meta"], { api_code: "154" })
    }))

  it.effect("A8R: a round is closed without naming its game, however many came after it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [table, other] = [yield* newTable("a8r"), yield* newTable("a8r")]
      const bet = (at: Table, id: string) =>
        a8r(at)("Round/BetWin", {
          ...round(at, id),
          finished: false,
          transactions: [{ id: `b-${id}`, type: "bet", amount: "1.00" }]
        })
      yield* bet(other, "r0")
      for (let count = 0; count < 10; count++) {
        assert.deepInclude(yield* bet(table, `r${count}`), { status: 200 })
      }
      const finish = a8r(table)("Round/Finish", { round_id: "r0" })
      assert.deepInclude(yield* finish, { status: 200, balance: "90.00" })
      assert.deepInclude(yield* finish, { status: 200, balance: "90.00" })
      const closed = (playerId: number) =>
        sql<{ round_id: string }>`SELECT round_id FROM rounds WHERE player_id = ${playerId} AND closed`
      assert.deepStrictEqual(yield* closed(table.playerId), [{ round_id: "r0" }])
      assert.deepStrictEqual(yield* closed(other.playerId), [])
    }))

  it.effect("A8R, GCP: a finished round is closed also where the last transaction is known already or moves nothing, and by no refused call", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [first, second] = [yield* newTable("a8r"), yield* newTable("gcp")]
      const tables = [
        {
          table: first,
          settle: (roundId: string, finished: boolean, ...transactions: ReadonlyArray<object>) =>
            a8r(first)("Round/BetWin", { ...round(first, roundId), finished, transactions }),
          rollBack: (roundId: string, id: string, original_id: string, fields: object = {}) =>
            a8r(first)("Round/Rollback", {
              ...round(first, roundId),
              finished: true,
              transactions: [{ id, original_id }],
              ...fields
            }),
          bet: (id: string, amount: number) => ({ id, type: "bet", amount: `${amount}.00` }),
          win: (id: string, amount: number) => ({ id, type: "win", amount: `${amount}.00` }),
          otherGame: { game_id: "none" }
        },
        {
          table: second,
          settle: (game_id: string, finished: boolean, ...actions: ReadonlyArray<object>) =>
            gcp(second)("/play", { game_id, finished, actions }),
          rollBack: (game_id: string, action_id: string, original_action_id: string, fields: object = {}) =>
            gcp(second)("/rollback", {
              game_id,
              finished: true,
              actions: [{ action: "rollback", action_id, original_action_id }],
              ...fields
            }),
          bet: (action_id: string, amount: number) => ({ action_id, action: "bet", amount: amount * 100 }),
          win: (action_id: string, amount: number) => ({ action_id, action: "win", amount: amount * 100 }),
          otherGame: { game: "none" }
        }
      ]
      for (const { bet, otherGame, rollBack, settle, table, win } of tables) {
        const isClosed = (roundId: string) =>
          Effect.map(
            sql`SELECT closed FROM rounds WHERE player_id = ${table.playerId} AND round_id = ${roundId}`,
            ([found]) => found?.["closed"]
          )
        const transactionsOf = ({ transactions }: { readonly [name: string]: unknown }) => transactions
        yield* settle("won", false, win("w1", 0))
        const finished = yield* settle("won", true, bet("b1", 10), win("w1", 0))
        assert.strictEqual(finished["status"], 200)
        assert.lengthOf(Array.from(Object(transactionsOf(finished))), 2)
        assert.strictEqual(yield* isClosed("won"), true)
        const again = yield* settle("won", true, bet("b1", 10), win("w1", 0))
        assert.deepStrictEqual(transactionsOf(again), transactionsOf(finished))
        yield* settle("back", false, bet("b2", 5), bet("b3", 5))
        yield* rollBack("back", "k1", "b3", { finished: false })
        assert.strictEqual(yield* isClosed("back"), false)
        assert.deepInclude(yield* rollBack("back", "k1", "b3"), { status: 200 })
        assert.strictEqual(yield* isClosed("back"), true)
        yield* settle("early", false, bet("b4", 5))
        assert.deepInclude(yield* rollBack("early", "k3", "never"), { status: 200 })
        assert.strictEqual(yield* isClosed("early"), true)
        yield* settle("refused", false, bet("b5", 5))
        assert.notInclude(yield* settle("refused", true, bet("b6", 1_000)), { status: 200 })
        assert.strictEqual(yield* isClosed("refused"), false)
        assert.deepInclude(yield* rollBack("unknown", "k4", "none", otherGame), { status: 200 })
        assert.isUndefined(yield* isClosed("unknown"))
        assert.strictEqual(yield* realOf(table.playerId), opening - 2_500)
      }
    }))

  it.effect("A8R, GCP, Spribe: an ended session takes no bets, but wins of its earlier bets are paid", () =>
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const tables = [yield* newTable("a8r"), yield* newTable("gcp"), yield* newTable("spribe")] as const
      const [first, second, third] = tables
      const bets = [
        (id: string) =>
          a8r(first)("Round/BetWin", { ...round(first, "r1"), transactions: [{ id, type: "bet", amount: "2.00" }] }),
        (id: string) => gcp(second)("/play", { actions: [{ action: "bet", amount: 200, action_id: id }] }),
        (id: string) => spribe(third)("withdraw", { provider_tx_id: id, provider: "spribe-aviator", amount: 2000 })
      ] as const
      for (const bet of bets) assert.strictEqual((yield* bet("b1")).status, 200)
      for (const { playerId } of tables) {
        const { openSessions } = yield* actors.read(null, playerId)
        for (const session of openSessions) yield* actors.ask(null, playerId, endSession(session))
      }
      const [inA8r, inGcp, inSpribe] = [yield* bets[0]("b2"), yield* bets[1]("b2"), yield* bets[2]("b2")]
      assert.deepInclude(inA8r["meta"], { api_code: "101", balance: "98.00" })
      assert.deepInclude(inGcp, { status: 412, code: 101, balance: 9_800 })
      assert.deepInclude(inSpribe, { code: 401 })
      const paid = yield* a8r(first)("Round/BetWin", {
        ...round(first, "r1"),
        transactions: [{ id: "w1", type: "win", amount: "5.00" }]
      })
      assert.deepInclude(paid, { status: 200, balance: "103.00" })
      const play = yield* gcp(second)("/play", { actions: [{ action: "win", amount: 500, action_id: "w1" }] })
      assert.deepInclude(play, { status: 200, balance: 10_300 })
      yield* spribe(third)("deposit", {
        provider_tx_id: "w1",
        provider: "spribe-aviator",
        amount: 5000,
        withdraw_provider_tx_id: "b1"
      })
      assert.strictEqual(yield* realOf(third.playerId), opening + 300)
    }))

  it.effect("GCP: amounts are in subunits, a repeated action is settled once, and a bet rolled back in advance is refused", () =>
    Effect.gen(function*() {
      const table = yield* newTable("gcp")
      const call = gcp(table)
      assert.deepInclude(yield* call("/play", { finished: false }), { status: 200, balance: 10_000 })
      const actions = [{ action: "bet", amount: 200, action_id: "b1" }, { action: "win", amount: 50, action_id: "w1" }]
      for (let time = 0; time < 2; time++) {
        assert.deepInclude(yield* call("/play", { finished: true, actions }), { balance: 9_850, game_id: "r1" })
      }
      const rollback = (id: string, original: string) =>
        call("/rollback", { actions: [{ action: "rollback", action_id: id, original_action_id: original }] })
      assert.deepInclude(yield* rollback("x1", "b2"), { status: 200, balance: 9_850 })
      const late = yield* call("/play", { actions: [{ action: "bet", amount: 100, action_id: "b2" }] })
      assert.deepInclude(late, { status: 412, code: 400, balance: 9_850 })
      assert.deepInclude(yield* rollback("x2", "b1"), { status: 200, balance: 10_050 })
      const much = yield* call("/play", { actions: [{ action: "bet", amount: 10_051, action_id: "b3" }] })
      assert.deepInclude(much, { status: 412, code: 100, balance: 10_050 })
      assert.deepInclude(yield* call("/play", { currency: "USD" }), { status: 412, code: 154 })
    }))

  it.effect("Spribe: a withdrawal can be rolled back only after its deposit was rolled back, and only once, even under another rollback id; balances before and after are told, a debt as 0", () =>
    Effect.gen(function*() {
      const table = yield* newTable("spribe")
      const call = spribe(table)
      const told = (code: number, before: number, after: number) => ({ code, from: before * 1_000, to: after * 1_000 })
      const settle = Effect.fnUntraced(function*(method: string, provider_tx_id: string, fields: object) {
        const { code, data } = yield* call(method, { provider_tx_id, ...fields })
        const { new_balance, old_balance } = Object(data)
        return { code, ...data !== undefined && { from: old_balance, to: new_balance } }
      })
      const taken = (id: string, rollback_provider_tx_id: string) =>
        settle("rollback", id, { rollback_provider_tx_id, game: undefined, currency: undefined })
      const bet = { amount: 10_000, action: "bet" }
      const win = { amount: 25_000, action: "win", withdraw_provider_tx_id: "b1" }
      assert.deepStrictEqual(yield* settle("withdraw", "b1", bet), told(200, 100, 90))
      assert.deepStrictEqual(yield* settle("withdraw", "b1", bet), told(409, 90, 90))
      assert.deepStrictEqual(yield* settle("deposit", "w1", win), told(200, 90, 115))
      assert.deepStrictEqual(yield* taken("x1", "b1"), { code: 405 })
      assert.deepStrictEqual(yield* taken("x2", "w1"), told(200, 115, 90))
      assert.deepStrictEqual(yield* taken("x3", "b1"), told(200, 90, 100))
      assert.deepStrictEqual(yield* taken("x4", "b1"), told(409, 100, 100))
      assert.deepStrictEqual(yield* settle("withdraw", "b1", bet), { code: 405 })
      assert.deepStrictEqual(yield* settle("deposit", "w2", win), { code: 408 })
      assert.deepStrictEqual(yield* taken("x5", "never"), { code: 408 })
      assert.deepStrictEqual(yield* settle("withdraw", "never", bet), { code: 405 })
      assert.deepStrictEqual(yield* settle("withdraw", "b2", { ...bet, amount: 10_001 }), { code: 405 })
      assert.strictEqual(yield* realOf(table.playerId), opening)

      assert.deepStrictEqual(yield* settle("withdraw", "b4", bet), told(200, 100, 90))
      const large = { ...win, amount: 50_000, withdraw_provider_tx_id: "b4" }
      assert.deepStrictEqual(yield* settle("deposit", "w4", large), told(200, 90, 140))
      assert.deepStrictEqual(yield* settle("withdraw", "b5", { ...bet, amount: 130_000 }), told(200, 140, 10))
      assert.deepStrictEqual(yield* taken("x6", "w4"), told(200, 10, 0))
      assert.strictEqual(yield* realOf(table.playerId), -4_000)
    }))

  it.effect("Spribe: a free-bet deposit needs no withdrawal; unknown players, other currencies and excessive stakes are refused", () =>
    Effect.gen(function*() {
      const table = yield* newTable("spribe")
      const call = spribe(table)
      const free = { provider_tx_id: "f1", amount: 3_000, action: "rainfreebet" }
      assert.deepInclude(yield* call("deposit", free), { code: 200 })
      assert.deepInclude(yield* call("deposit", free), { code: 409 })
      assert.deepInclude(yield* call("deposit", { ...free, provider_tx_id: "f2", action: "win" }), { code: 405 })
      const stake = { provider_tx_id: "b1", amount: 1_000, action: "bet" }
      assert.deepInclude(yield* call("withdraw", { ...stake, user_id: "nobody" }), { code: 401 })
      assert.deepInclude(yield* call("withdraw", { ...stake, currency: "USD" }), { code: 405 })
      assert.deepInclude(yield* call("withdraw", { ...stake, amount: 103_010 }), { code: 402 })
      assert.strictEqual(yield* realOf(table.playerId), opening + 300)
    }))
})
