import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SessionTokens } from "../../src/features/games/SessionTokens.ts"
import { endSession } from "../../src/domain/settlement/Launch.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { evolutionDialect } from "../../scripts/simulators/dialects/Evolution.ts"
import { samples } from "../../scripts/simulators/Samples.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { openSeat } from "../kit/Vendors.ts"
import { openVendor } from "../kit/VendorTables.ts"

// Goal: every rule of Evolution's One Wallet holds over real HTTP. Method: calls as in its description, against the public server
// and a real database; each answer's status and balance.

const Answer = Schema.fromJsonString(Schema.Struct({
  status: Schema.String,
  balance: Schema.optionalKey(Schema.Number),
  sid: Schema.optionalKey(Schema.String),
  uuid: Schema.optionalKey(Schema.String)
}))

const evolutionCase = () => {
  const { provider } = samples["evolution"]?.("https://vendor.example") ?? { provider: {} }
  const settings = { auth_token: "an-auth-token-of-samples", casino_key: "casino", api_token: "an-api-token" }
  return { name: "evolution", protocol: "evolution", settings: provider, dialect: evolutionDialect.make(settings) }
}

/** A player with 100.00 EUR at a table of a new operator, and the vendor's calls for the player. */
const newTable = Effect.gen(function*() {
  const { newPlayer, vendor } = yield* openVendor(evolutionCase())

  const ask = Effect.fnUntraced(function*(method: string, body: object) {
    const path = `/api/v1/integrations/${vendor.slug}/${method}?authToken=an-auth-token-of-samples`
    const reply = yield* exchange(vendor.agent, vendor.port, path, { body: { uuid: "call-1", ...body } })
    assert.strictEqual(reply.status, 200, reply.text)
    return yield* Schema.decodeUnknownEffect(Answer)(reply.text)
  })

  const seatOf = Effect.fnUntraced(function*(playerId: number) {
    const { playerRef, token } = yield* openSeat(vendor, playerId)
    const about = (sid: string) => ({ sid, userId: playerRef })
    const money = (method: string) =>
      Effect.fnUntraced(
        function*(refId: string, amount: number, { round = "round-1", sid = token, id = `${method}-${refId}` } = {}) {
          const { balance, status } = yield* ask(method, {
            ...about(sid),
            currency: "EUR",
            game: { id: round, type: "blackjack", details: { table: { id: vendor.game.externalId, vid: "v-1" } } },
            transaction: { id, refId, amount }
          })
          return [status, balance] as const
        }
      )
    return {
      playerRef,
      sid: token,
      check: (sid = token) => ask("check", { ...about(sid), channel: { type: "P" } }),
      balance: (sid = token) => ask("balance", { ...about(sid), currency: "EUR", game: null }),
      debit: money("debit"),
      credit: money("credit"),
      cancel: money("cancel"),
      promo: (id: string, amount: number) =>
        ask("promo_payout", {
          ...about(token),
          currency: "EUR",
          game: null,
          promoTransaction: { type: "JACKPOT", id, amount, voucherId: null, remainingRounds: null }
        })
    }
  })
  const seat = yield* seatOf(yield* newPlayer())
  return { ...seat, ask, newPlayer, seatOf }
})

layer(layerE2eServer, { timeout: "60 seconds", excludeTestServices: true })("Evolution's wallet calls", (it) => {
  it.effect("check returns a new sid: the old one is INVALID_SID for balance and debit, and its bets are still settled", () =>
    Effect.gen(function*() {
      const { balance, check, credit, debit, sid } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      const { sid: next = "", status } = yield* check()
      assert.strictEqual(status, "OK")
      assert.notStrictEqual(next, sid)
      assert.strictEqual((yield* balance()).status, "INVALID_SID")
      assert.deepStrictEqual(yield* debit("b-2", 10), ["INVALID_SID", 90])
      assert.deepStrictEqual(yield* credit("b-1", 15), ["OK", 105])
      assert.deepInclude(yield* balance(next), { status: "OK", balance: 105 })
      assert.deepStrictEqual(yield* debit("b-2", 10, { sid: next }), ["OK", 95])
    }))

  it.effect("the sid of an ended session is INVALID_SID, also for check, and its bets are still settled", () =>
    Effect.gen(function*() {
      const { balance, check, credit, debit, sid } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      const session = (yield* SessionTokens).verify(sid)
      assert.isDefined(session)
      const { expiresAt, playerId, sessionId: id } = session
      const actors = yield* PlayerActors
      yield* actors.ask(null, playerId, endSession({ id, expiresAt }))
      actors.renew(playerId, () => true)
      assert.strictEqual((yield* check()).status, "INVALID_SID")
      assert.strictEqual((yield* balance()).status, "INVALID_SID")
      assert.deepStrictEqual(yield* debit("b-2", 10), ["INVALID_SID", 90])
      assert.deepStrictEqual(yield* credit("b-1", 15), ["OK", 105])
    }))

  it.effect("a malformed call is refused with INVALID_PARAMETER and the balance", () =>
    Effect.gen(function*() {
      const { ask, balance, debit, playerRef, sid } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", -10), ["INVALID_PARAMETER", 100])
      const bare = { sid, userId: playerRef, currency: "EUR" }
      for (const method of ["debit", "credit", "cancel", "promo_payout"]) {
        assert.deepInclude(yield* ask(method, bare), { status: "INVALID_PARAMETER", balance: 100, uuid: "call-1" })
      }
      assert.notProperty(yield* ask("debit", { ...bare, userId: "nobody" }), "balance")
      assert.strictEqual((yield* balance()).balance, 100)
    }))

  it.effect("every call with a sid and another player's userId is answered INVALID_SID and moves nothing", () =>
    Effect.gen(function*() {
      const { ask, balance, cancel, credit, debit, newPlayer, playerRef, seatOf } = yield* newTable
      const other = yield* seatOf(yield* newPlayer())
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      const stolen = { sid: other.sid, userId: playerRef }
      assert.strictEqual((yield* ask("check", { ...stolen, channel: { type: "P" } })).status, "INVALID_SID")
      assert.strictEqual((yield* ask("balance", { ...stolen, currency: "EUR", game: null })).status, "INVALID_SID")
      assert.strictEqual((yield* debit("b-2", 10, { sid: other.sid }))[0], "INVALID_SID")
      assert.strictEqual((yield* credit("b-1", 10, { sid: other.sid }))[0], "INVALID_SID")
      assert.strictEqual((yield* cancel("b-1", 10, { sid: other.sid }))[0], "INVALID_SID")
      assert.strictEqual((yield* debit("b-1", 10, { sid: other.sid }))[0], "INVALID_SID", "a known debit")
      assert.deepStrictEqual(yield* credit("b-1", 0), ["OK", 90])
      assert.strictEqual((yield* credit("b-1", 0, { sid: other.sid }))[0], "INVALID_SID", "a known credit")
      assert.strictEqual((yield* balance()).balance, 90)
      assert.strictEqual((yield* other.balance()).balance, 100)
    }))

  it.effect("several sids of a player are valid at the same time, and a bet under one is settled under another", () =>
    Effect.gen(function*() {
      const { newPlayer, seatOf } = yield* newTable
      const playerId = yield* newPlayer()
      const desktop = yield* seatOf(playerId)
      const mobile = yield* seatOf(playerId)
      assert.deepStrictEqual(yield* desktop.debit("b-1", 10), ["OK", 90])
      assert.deepStrictEqual(yield* mobile.debit("b-2", 10), ["OK", 80])
      assert.deepStrictEqual(yield* mobile.credit("b-1", 20), ["OK", 100])
      assert.deepStrictEqual(yield* desktop.cancel("b-2", 10), ["OK", 110])
    }))

  it.effect("a repeated debit, credit, cancel or promo payout moves money once", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit, promo } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      assert.deepStrictEqual(yield* debit("b-1", 10), ["BET_ALREADY_EXIST", 90])
      assert.deepStrictEqual(yield* credit("b-1", 20), ["OK", 110])
      assert.deepStrictEqual(yield* credit("b-1", 20), ["BET_ALREADY_SETTLED", 110])
      assert.deepStrictEqual(yield* debit("b-2", 10), ["OK", 100])
      assert.deepStrictEqual(yield* cancel("b-2", 10), ["OK", 110])
      assert.deepStrictEqual(yield* cancel("b-2", 10), ["BET_ALREADY_SETTLED", 110])
      assert.deepStrictEqual(yield* debit("b-2", 10), ["FINAL_ERROR_ACTION_FAILED", 110])
      assert.deepInclude(yield* promo("p-1", 5), { status: "OK", balance: 115 })
      assert.deepInclude(yield* promo("p-1", 5), { status: "OK", balance: 115 })
    }))

  it.effect("a credit or cancel of an unknown debit is refused with BET_DOES_NOT_EXIST; a debit that follows its cancel is refused with a final error", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit } = yield* newTable
      assert.deepStrictEqual(yield* credit("b-1", 20), ["BET_DOES_NOT_EXIST", 100])
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      assert.deepStrictEqual(yield* credit("b-1", 20), ["OK", 110])
      assert.deepStrictEqual(yield* cancel("b-2", 10), ["BET_DOES_NOT_EXIST", 110])
      assert.deepStrictEqual(yield* cancel("b-2", 10), ["BET_DOES_NOT_EXIST", 110])
      assert.deepStrictEqual(yield* debit("b-2", 10), ["FINAL_ERROR_ACTION_FAILED", 110])
      assert.deepStrictEqual(yield* credit("b-2", 10), ["BET_DOES_NOT_EXIST", 110])
      assert.deepStrictEqual(yield* debit("b-2", 10), ["FINAL_ERROR_ACTION_FAILED", 110])
    }))

  it.effect("a cancel that names another round than the debit it overtook finds the debit when it is sent again", () =>
    Effect.gen(function*() {
      const { cancel, debit } = yield* newTable
      const early = cancel("b-1", 10, { round: "round-9" })
      assert.deepStrictEqual(yield* early, ["BET_DOES_NOT_EXIST", 100])
      assert.deepStrictEqual(yield* early, ["BET_DOES_NOT_EXIST", 100])
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      assert.deepStrictEqual(yield* early, ["OK", 100])
      assert.deepStrictEqual(yield* early, ["BET_ALREADY_SETTLED", 100])
    }))

  it.effect("a debit takes one credit or one cancel, and any further credit or cancel is answered BET_ALREADY_SETTLED", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit } = yield* newTable
      yield* debit("b-1", 10)
      assert.deepStrictEqual(yield* credit("b-1", 0), ["OK", 90])
      assert.deepStrictEqual(yield* cancel("b-1", 10), ["BET_ALREADY_SETTLED", 90])
      assert.deepStrictEqual(yield* credit("b-1", 50, { id: "other" }), ["BET_ALREADY_SETTLED", 90])
      yield* debit("b-2", 10)
      assert.deepStrictEqual(yield* cancel("b-2", 10), ["OK", 90])
      assert.deepStrictEqual(yield* credit("b-2", 50), ["BET_ALREADY_SETTLED", 90])
    }))

  it.effect("a credit or cancel settles one debit, not the whole round", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit } = yield* newTable
      yield* debit("b-1", 10)
      yield* debit("b-2", 10)
      yield* debit("b-3", 10)
      assert.deepStrictEqual(yield* credit("b-2", 5), ["OK", 75])
      assert.deepStrictEqual(yield* cancel("b-3", 10), ["OK", 85])
      assert.deepStrictEqual(yield* credit("b-1", 0), ["OK", 85])
      assert.deepStrictEqual(yield* debit("b-4", 10), ["OK", 75])
      assert.deepStrictEqual(yield* cancel("b-4", 10), ["OK", 85])
    }))

  it.effect("a hundred debits of one round are settled separately, all at the same time", () =>
    Effect.gen(function*() {
      const { balance, cancel, credit, debit } = yield* newTable
      const numbers = Array.from({ length: 100 }, (_, index) => index)
      const placed = yield* Effect.forEach(numbers, (number) => debit(`b-${number}`, 0.5), { concurrency: 20 })
      assert.deepStrictEqual(new Set(placed.map(([status]) => status)), new Set(["OK"]))
      assert.strictEqual((yield* balance()).balance, 50)
      const settled = yield* Effect.forEach(
        numbers.toReversed(),
        (number) => number % 2 === 0 ? credit(`b-${number}`, 1) : cancel(`b-${number}`, 0.5),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(new Set(settled.map(([status]) => status)), new Set(["OK"]))
      assert.strictEqual((yield* balance()).balance, 125)
    }))

  it.effect("a debit beyond the balance is refused with INSUFFICIENT_FUNDS and the balance, and takes nothing", () =>
    Effect.gen(function*() {
      const { credit, debit } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", 100.01), ["INSUFFICIENT_FUNDS", 100])
      assert.deepStrictEqual(yield* debit("b-2", 100), ["OK", 0])
      assert.deepStrictEqual(yield* debit("b-3", 0.01), ["INSUFFICIENT_FUNDS", 0])
      assert.deepStrictEqual(yield* credit("b-2", 0.01), ["OK", 0.01])
    }))

  it.effect("63,727,092.34 EUR can be won and staked again without rounding", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit } = yield* newTable
      yield* debit("b-1", 100)
      assert.deepStrictEqual(yield* credit("b-1", 63_727_092.34), ["OK", 63_727_092.34])
      assert.deepStrictEqual(yield* debit("b-2", 63_727_092.34, { round: "round-2" }), ["OK", 0])
      assert.deepStrictEqual(yield* cancel("b-2", 63_727_092.34, { round: "round-2" }), ["OK", 63_727_092.34])
    }))

  it.effect("an amount that is not whole cents is refused with INVALID_PARAMETER and moves nothing", () =>
    Effect.gen(function*() {
      const { credit, debit } = yield* newTable
      assert.deepStrictEqual(yield* debit("b-1", 0.000001), ["INVALID_PARAMETER", 100])
      assert.deepStrictEqual(yield* debit("b-1", 10.005), ["INVALID_PARAMETER", 100])
      assert.deepStrictEqual(yield* debit("b-1", 10), ["OK", 90])
      assert.deepStrictEqual(yield* credit("b-1", 10.001), ["INVALID_PARAMETER", 90])
      assert.deepStrictEqual(yield* credit("b-1", 10), ["OK", 100])
    }))

  it.effect("a call without uuid is served, and a call with one gets it back in the answer", () =>
    Effect.gen(function*() {
      const { ask, playerRef, sid } = yield* newTable
      const about = { uuid: undefined, sid, userId: playerRef, channel: { type: "P" } }
      const { sid: next = "", ...first } = yield* ask("check", about)
      assert.deepStrictEqual(first, { status: "OK" })
      const debit = {
        ...about,
        sid: next,
        currency: "EUR",
        game: { id: "round-1", details: { table: { id: "nowhere" } } },
        transaction: { id: "t-1", refId: "b-1", amount: 1 }
      }
      assert.deepInclude(yield* ask("balance", debit), { status: "OK", balance: 100 })
      assert.notProperty(yield* ask("debit", debit), "uuid")
      assert.strictEqual((yield* ask("balance", { ...debit, uuid: "u-7" })).uuid, "u-7")
    }))

  it.effect("the refId decides which debit is settled, whatever round and table the call names", () =>
    Effect.gen(function*() {
      const { ask, balance, cancel, credit, debit, playerRef, sid } = yield* newTable
      const bare = (method: string, refId: string, amount: number, game?: object) =>
        ask(method, { sid, userId: playerRef, currency: "EUR", transaction: { id: "x", refId, amount }, game })
      yield* debit("b-1", 10)
      assert.deepStrictEqual(yield* credit("b-1", 20, { round: "round-9" }), ["OK", 110])
      assert.deepStrictEqual(yield* credit("b-1", 20, { round: "round-9" }), ["BET_ALREADY_SETTLED", 110])
      assert.deepStrictEqual(yield* credit("b-1", 20), ["BET_ALREADY_SETTLED", 110])
      assert.deepStrictEqual(yield* cancel("b-1", 10, { round: "round-8" }), ["BET_ALREADY_SETTLED", 110])
      yield* debit("b-2", 10, { round: "round-2" })
      assert.deepStrictEqual(yield* cancel("b-2", 10, { round: "round-9" }), ["OK", 110])
      assert.deepStrictEqual(yield* debit("b-2", 10, { round: "round-2" }), ["FINAL_ERROR_ACTION_FAILED", 110])
      yield* debit("b-3", 10, { round: "round-3" })
      const elsewhere = { id: "round-3", details: { table: { id: "nowhere" } } }
      assert.deepInclude(yield* bare("credit", "b-3", 15, elsewhere), { status: "OK", balance: 115 })
      assert.deepInclude(yield* bare("credit", "b-3", 15, elsewhere), { status: "BET_ALREADY_SETTLED", balance: 115 })
      yield* debit("b-4", 10, { round: "round-4" })
      assert.deepInclude(yield* bare("credit", "b-4", 0), { status: "OK", balance: 105 })
      assert.deepInclude(yield* bare("credit", "b-5", 10, elsewhere), { status: "BET_DOES_NOT_EXIST", balance: 105 })
      // two rounds have it, and a third one is named: neither is meant
      yield* debit("b-6", 1, { round: "round-5" })
      yield* debit("b-6", 2, { round: "round-6" })
      assert.deepStrictEqual(yield* credit("b-6", 50, { round: "round-7" }), ["BET_DOES_NOT_EXIST", 102])
      assert.strictEqual((yield* balance()).balance, 102)
    }))

  it.effect("two players, and two rounds of one player, can use the same ids without affecting each other", () =>
    Effect.gen(function*() {
      const { cancel, credit, debit, newPlayer, seatOf } = yield* newTable
      const other = yield* seatOf(yield* newPlayer())
      assert.deepStrictEqual(yield* debit("b-1", 10, { id: "t-1" }), ["OK", 90])
      assert.deepStrictEqual(yield* other.debit("b-1", 20, { id: "t-1" }), ["OK", 80])
      assert.deepStrictEqual(yield* debit("b-1", 30, { id: "t-1", round: "round-2" }), ["OK", 60])
      assert.deepStrictEqual(yield* credit("b-1", 40, { id: "t-2" }), ["OK", 100])
      assert.deepStrictEqual(yield* other.cancel("b-1", 20, { id: "t-1" }), ["OK", 100])
      assert.deepStrictEqual(yield* cancel("b-1", 30, { id: "t-1", round: "round-2" }), ["OK", 130])
    }))

  it.effect("a wrong currency or an invalid table is refused with INVALID_PARAMETER", () =>
    Effect.gen(function*() {
      const { ask, playerRef, sid } = yield* newTable
      const debit = {
        sid,
        userId: playerRef,
        currency: "EUR",
        game: { id: "round-1", type: "blackjack", details: { table: { id: "nowhere", vid: "v-1" } } },
        transaction: { id: "t-1", refId: "b-1", amount: 1 }
      }
      assert.strictEqual((yield* ask("debit", debit)).status, "INVALID_PARAMETER")
      assert.deepInclude(yield* ask("balance", { ...debit, currency: "USD" }), {
        status: "INVALID_PARAMETER",
        uuid: "call-1"
      })
    }))
})
