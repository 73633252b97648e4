import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import {
  assertRefused,
  type Casino,
  dataOf,
  type Fields,
  made,
  move,
  openCasino,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { dayMs, pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: money moves between the real and the bonus wallet by DECISIONS 4, row by row. Method: bets, wins and rollbacks of a
// provider over HTTP, with the amounts worked out by hand in the test; the whole ledger is verified at the end.

interface Entry {
  readonly wallet: string
  readonly type: string
  readonly amount: number
  readonly player_bonus_id: number | null
}

/** Ledger without its first deposit, oldest first: wallet, type, amount. */
const movesOf = (casino: Casino, playerId: number) =>
  Effect.map(
    casino.get(`/players/${playerId}/transactions?per_page=100`),
    ({ data }) =>
      data.toReversed().filter(({ type }: Entry) => type !== "deposit").map(({ amount, type, wallet }: Entry) => [
        wallet,
        type,
        amount
      ])
  )

const lastBonus = (casino: Casino, playerId: number) =>
  Effect.map(casino.get(`/players/${playerId}/bonuses`), ({ data }) => data[0])

/** A seat with real money and an activated bonus. */
const withBonus = Effect.fnUntraced(function*(casino: Casino, real: number, bonus: number, terms: Fields = {}) {
  const offered = yield* casino.newBonus({ wagering_multiplier: 100, default_amount: bonus, ...terms })
  const seat = yield* casino.sit(real)
  const granted = dataOf(yield* casino.grant(seat.id, offered.id), 201)
  return { ...seat, bonusId: Number(granted.id) }
})

layer(layerCasinos, { excludeTestServices: true })("DECISIONS 4 wallet and bonus rules", (it) => {
  it.effect("4 a bonus from grant to conversion follows every rule: stakes, wins, rollback, contribution, max_bet, wagering and cap", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const terms = { wagering_multiplier: 2, max_bet: 300, max_conversion_multiplier: 1 }
      const seat = yield* withBonus(house, 100, 500, terms)
      assertRefused(yield* seat.bet(301), 422, "BONUS_INVALID", { max_bet: 300, retry: "never" })
      assert.deepInclude(dataOf(yield* seat.bet(40)), { real_amount: -40, bonus_amount: 0, bonus_balance: 500 })
      const mixed = dataOf(yield* seat.bet(240))
      assert.deepInclude(mixed, { real_amount: -60, bonus_amount: -180, balance: 0, bonus_balance: 320 })
      assert.strictEqual(mixed.wallet_transaction_ids.length, 2)
      // a quarter of the round was real money; the rounding remainder is real
      const won = dataOf(yield* seat.win(mixed.transaction_id, 1001, { round_closed: false }))
      assert.deepInclude(won, { real_amount: 251, bonus_amount: 750, balance: 251, bonus_balance: 1070 })
      assert.deepInclude(dataOf(yield* seat.rollback(won.transaction_id)), { real_amount: -251, bonus_amount: -750 })
      assert.deepInclude(dataOf(yield* seat.rollback(mixed.transaction_id)), { real_amount: 60, bonus_amount: 180 })
      assert.deepInclude(yield* lastBonus(house, seat.id), { wagered_amount: 40, wagering_progress: 4 })
      dataOf(yield* house.deposit(seat.id, 940), 201)
      // live games contribute a tenth of the stake
      dataOf(yield* seat.bet(109, { game_id: "table" }))
      assert.deepInclude(yield* lastBonus(house, seat.id), { wager_requirement: 1000, wagered_amount: 50 })
      for (const stake of [300, 300, 299]) dataOf(yield* seat.bet(stake))
      assert.deepInclude(yield* lastBonus(house, seat.id), { state: "activated", wagering_progress: 94 })
      const last = dataOf(yield* seat.bet(51))
      assert.deepInclude(last, { bonus_amount: -51, balance: 441, bonus_balance: 0 })
      assert.deepInclude(yield* lastBonus(house, seat.id), {
        state: "finished",
        result: "converted",
        converted_amount: 441,
        forfeited_amount: 0
      })
      // the cap of 500 leaves room for 59 of a win that comes after the conversion
      assert.deepInclude(dataOf(yield* seat.win(last.transaction_id, 80)), { real_amount: 59, bonus_amount: 0 })

      const capped = yield* withBonus(house, 0, 100, { wagering_multiplier: 2, max_conversion_multiplier: 2 })
      const stake = dataOf(yield* capped.bet(100))
      dataOf(yield* capped.win(stake.transaction_id, 350))
      dataOf(yield* house.deposit(capped.id, 100), 201)
      dataOf(yield* capped.bet(100))
      assert.deepInclude(yield* lastBonus(house, capped.id), { converted_amount: 200, forfeited_amount: 150 })
      assert.deepStrictEqual(yield* house.balances(capped.id), [200, 0])
    }))

  it.effect("4 a bonus that is not converted: is not staked in a game that contributes 0 %, forfeits wins once cancelled, is lost with its last round", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const none = yield* withBonus(house, 100, 500, { contributions: { [house.slots.id]: 0 } })
      assertRefused(yield* none.bet(101), 402, "INSUFFICIENT_FUNDS", { balance: 100, retry: "never" })
      dataOf(yield* none.bet(500, { game_id: "table" }))
      const seat = yield* withBonus(house, 100, 500)
      const { transaction_id } = dataOf(yield* seat.bet(400))
      yield* staff("POST", `/player-bonuses/${seat.bonusId}/cancel`, {})
      assert.deepInclude(dataOf(yield* seat.win(transaction_id, 1000)), {
        real_amount: 250,
        bonus_amount: 0,
        balance: 250
      })
      assert.deepStrictEqual((yield* movesOf(house, seat.id)).slice(-3), [
        ["real", "casino_win", 250],
        ["bonus", "casino_win", 750],
        ["bonus", "bonus_correction_down", -750]
      ])
      const lost = yield* withBonus(house, 0, 100)
      const bet = dataOf(yield* lost.bet(100))
      assert.strictEqual((yield* lastBonus(house, lost.id)).state, "activated")
      dataOf(yield* lost.win(bet.transaction_id, 0))
      assert.deepInclude(yield* lastBonus(house, lost.id), { state: "finished", result: "lost", forfeited_amount: 0 })
    }))

  it.effect("4 withdrawal while a bonus runs: the bonus is forfeited unless the operator's settings keep it", () =>
    Effect.gen(function*() {
      for (const forfeit of [undefined, true, false]) {
        const settings = forfeit === undefined ? {} : { forfeit_bonus_on_withdrawal: forfeit }
        const casino = yield* openCasino(settings)
        const seat = yield* withBonus(casino, 100, 500)
        // a refused withdrawal forfeits nothing
        assertRefused(yield* casino.withdraw(seat.id, 101), 402, "INSUFFICIENT_FUNDS")
        assert.strictEqual((yield* lastBonus(casino, seat.id)).state, "activated")
        const held = dataOf(yield* casino.withdraw(seat.id, 40), 201)
        const keeps = forfeit === false
        assert.deepStrictEqual(yield* casino.balances(seat.id), [60, keeps ? 500 : 0])
        const { forfeited_amount, result, state } = yield* lastBonus(casino, seat.id)
        assert.deepStrictEqual(
          [state, result, forfeited_amount],
          keeps ? ["activated", null, 0] : ["finished", "cancelled", 500]
        )
        // the bonus does not come back with the money
        yield* move(held.id, "cancel")
        assert.deepStrictEqual(yield* casino.balances(seat.id), [100, keeps ? 500 : 0])
      }
    }))

  it.effect("4 negative balance: a win's rollback, a chargeback or a correction may cause it; bets and withdrawals are then refused", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const assertOwing = Effect.fnUntraced(function*(
        seat: Effect.Success<ReturnType<Casino["sit"]>>,
        type: string,
        owed: number
      ) {
        assert.deepStrictEqual(yield* house.balances(seat.id), [-owed, 0], type)
        assertRefused(yield* seat.bet(1), 402, "INSUFFICIENT_FUNDS", { balance: -owed, retry: "never" })
        assertRefused(yield* house.withdraw(seat.id, 1), 402, "INSUFFICIENT_FUNDS", { balance: -owed })
        assert.deepStrictEqual((yield* movesOf(house, seat.id)).at(-1)?.[1], type)
        dataOf(yield* house.deposit(seat.id, owed + 5), 201)
        dataOf(yield* seat.bet(5))
      })
      const winner = yield* house.sit(100)
      const bet = dataOf(yield* winner.bet(100))
      const won = dataOf(yield* winner.win(bet.transaction_id, 300, { round_closed: false }))
      dataOf(yield* winner.bet(300))
      dataOf(yield* winner.rollback(won.transaction_id))
      yield* assertOwing(winner, "casino_rollback", 300)

      const charged = yield* house.sit(0)
      const { id: paymentId } = dataOf(yield* house.deposit(charged.id, 200), 201)
      dataOf(yield* charged.bet(150))
      yield* move(paymentId, "chargeback")
      yield* assertOwing(charged, "chargeback", 150)

      const corrected = yield* house.sit(10)
      yield* made(`/players/${corrected.id}/corrections`, { amount: -50, reason: "mistake" })
      yield* assertOwing(corrected, "correction_down", 40)
      // the bonus balance never becomes negative
      const refused = yield* staffCall("POST", `/backoffice/v1/players/${corrected.id}/corrections`, {
        wallet: "bonus",
        amount: -1,
        reason: "mistake"
      })
      assert.strictEqual(refused.status, 422)
    }))

  it.effect("4 unverified_withdrawal_allowance: the threshold minus requested withdrawals, at least 0; null if verified or no threshold", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 500 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 5000), 201)
      const allowance = Effect.map(
        casino.get(`/players/${id}/wallet`),
        ({ data }) => data.unverified_withdrawal_allowance
      )
      assert.strictEqual(yield* allowance, 500)
      const first = dataOf(yield* casino.withdraw(id, 200), 201)
      const second = dataOf(yield* casino.withdraw(id, 100), 201)
      assert.strictEqual(yield* allowance, 200)
      assertRefused(yield* casino.withdraw(id, 201), 422, "KYC_REQUIRED")
      const third = dataOf(yield* casino.withdraw(id, 200), 201)
      assert.strictEqual(yield* allowance, 0)
      assertRefused(yield* casino.withdraw(id, 1), 422, "KYC_REQUIRED")
      yield* move(first.id, "reject")
      yield* move(second.id, "cancel")
      assert.strictEqual(yield* allowance, 300)
      // paid withdrawals stay counted
      yield* move(third.id, "approve")
      yield* move(third.id, "pay")
      assert.strictEqual(yield* allowance, 300)
      yield* staff("PATCH", `/operators/${casino.slug}`, { kyc_withdrawal_threshold: 100 })
      assert.strictEqual(yield* allowance, 0)
      yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review" })
      assert.strictEqual(yield* allowance, 0)
      yield* staff("POST", `/players/${id}/kyc`, { status: "verified" })
      assert.isNull(yield* allowance)
      dataOf(yield* casino.withdraw(id, 4000), 201)
      yield* staff("POST", `/players/${id}/kyc`, { status: "expired" })
      assert.strictEqual(yield* allowance, 0)
      yield* staff("PATCH", `/operators/${casino.slug}`, { kyc_withdrawal_threshold: null })
      assert.isNull(yield* allowance)
    }))

  it.effect("3.2 and CONTRACT 2: open bets and withdrawals are settled for a closed account and a disabled game", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const [{ id: paymentId }] = dataOf(yield* casino.get(`/payments?player_id=${seat.id}`))
      const [won, taken] = [dataOf(yield* seat.bet(100)), dataOf(yield* seat.bet(200))]
      const [held, asked] = [
        dataOf(yield* casino.withdraw(seat.id, 50), 201),
        dataOf(yield* casino.withdraw(seat.id, 60), 201)
      ]
      yield* casino.put(`/players/${seat.id}/status`, { status: "closed" })
      yield* staff("PATCH", `/games/${casino.slots.id}`, { active: false })
      assertRefused(yield* seat.bet(1), 404, "NOT_FOUND")
      assert.deepInclude(dataOf(yield* seat.win(won.transaction_id, 300)), { status: "processed", balance: 890 })
      assert.deepInclude(dataOf(yield* seat.rollback(taken.transaction_id)), { status: "processed", balance: 1090 })
      assert.strictEqual((yield* move(held.id, "reject")).status, 200)
      assert.strictEqual((yield* move(asked.id, "cancel")).status, 200)
      assert.deepStrictEqual(yield* casino.balances(seat.id), [1200, 0])
      assert.strictEqual((yield* move(paymentId, "chargeback")).status, 200)
      assert.deepStrictEqual(yield* casino.balances(seat.id), [200, 0])
    }))

  // Goal: a disabled provider's bets are refused, and its open rounds are settled and rolled back. Method: two bets, the provider
  // disabled, then every kind of message, both ways into the service.
  it.effect("CONTRACT 2 a provider that is switched off settles open bets, and takes no new ones", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const [won, taken] = [dataOf(yield* seat.bet(100)), dataOf(yield* seat.bet(200))]
      yield* staff("PATCH", `/providers/${casino.studio.slug}`, { active: false })
      for (const more of [{}, { is_free: true, amount: 0, campaign_id: "c" }]) {
        assertRefused(yield* seat.bet(1, more), 404, "NOT_FOUND")
      }
      assertRefused(
        yield* casino.callWallet("bet-win", {
          request_id: "off",
          transaction_id: "off-bet",
          session_token: seat.token,
          game_id: "slots",
          round_id: "off",
          amount: 1,
          currency: "EUR",
          win: { transaction_id: "off-win", amount: 5 },
          round_closed: true
        }),
        404,
        "NOT_FOUND"
      )
      // a retry of an earlier bet gets its stored answer, and is not charged twice
      const again = yield* seat.bet(100, { transaction_id: won.transaction_id, round_id: won.transaction_id })
      assert.deepInclude(dataOf(again), { status: "replayed", balance: 700 })
      assert.deepInclude(dataOf(yield* seat.win(won.transaction_id, 300)), { status: "processed", balance: 1000 })
      assert.deepInclude(dataOf(yield* seat.rollback(taken.transaction_id)), { status: "processed", balance: 1200 })
      const prize = {
        request_id: "p",
        transaction_id: `${casino.slug}-p`,
        player_ref: seat.ref,
        amount: 7,
        currency: "EUR",
        kind: "cash_drop",
        campaign_id: "c"
      }
      assert.deepInclude(dataOf(yield* casino.callWallet("promo-win", prize)), { status: "processed", balance: 1207 })
      yield* staff("PATCH", `/providers/${casino.studio.slug}`, { active: true })
      assert.deepInclude(dataOf(yield* seat.bet(7)), { balance: 1200 })
    }))

  it.effect("3.4 a bonus is staked to the last millisecond of its valid days, and not after", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* withBonus(house, 0, 500, { valid_days: 1 })
      yield* pass(dayMs - 1)
      const { session_token } = dataOf(yield* house.launch(seat.id))
      const play = house.playOf(session_token, seat.ref)
      assert.deepInclude(dataOf(yield* play.bet(100)), { bonus_amount: -100, bonus_balance: 400 })
      yield* pass(1)
      assertRefused(yield* play.bet(100), 402, "INSUFFICIENT_FUNDS", { balance: 0, retry: "never" })
      assert.deepInclude(yield* lastBonus(house, seat.id), { result: "expired", forfeited_amount: 400 })
    })))

  it.effect("CONTRACT 2 wallet_seq rises by one with every action that moves money, whoever takes it, and with no other action", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const first = dataOf(yield* seat.bet(10, { round_id: "seq", transaction_id: `seq-${seat.id}` }))
      let expected: number = first.wallet_seq
      /** Asserts that a known message is answered with the current balance. */
      const assertMoved = Effect.fnUntraced(function*(by: number, what: string) {
        const today = dataOf(yield* seat.bet(10, { round_id: "seq", transaction_id: `seq-${seat.id}` }))
        assert.deepStrictEqual([today.status, today.wallet_seq], ["replayed", expected += by], what)
      })
      yield* assertMoved(0, "a replay")
      dataOf(yield* house.deposit(seat.id, 100), 201)
      yield* assertMoved(1, "a deposit")
      const held = dataOf(yield* house.withdraw(seat.id, 50), 201)
      yield* assertMoved(1, "a withdrawal")
      yield* move(held.id, "approve")
      yield* assertMoved(0, "an approval")
      yield* move(held.id, "reject")
      yield* assertMoved(1, "a refund")
      yield* made(`/players/${seat.id}/corrections`, { amount: 5, reason: "x" })
      yield* assertMoved(1, "a correction")
      dataOf(yield* seat.win(first.transaction_id, 0, { round_id: "seq", round_closed: false }))
      yield* assertMoved(0, "a win of 0")
      const never = `never-${seat.id}`
      assert.strictEqual(dataOf(yield* seat.rollback(never)).status, "ignored")
      yield* assertMoved(0, "an ignored rollback")
      assertRefused(yield* seat.bet(5000), 402, "INSUFFICIENT_FUNDS")
      yield* assertMoved(0, "a refusal")
      const { id: bonusId } = yield* house.newBonus({ type: "cash", wagering_multiplier: 0 })
      dataOf(yield* house.grant(seat.id, bonusId), 201)
      yield* assertMoved(1, "a grant that is paid out: one action")
      dataOf(yield* house.limit(seat.id, { max_single_bet: 100 }))
      yield* assertMoved(0, "a limit")
      const { player_ref, round } = { player_ref: seat.ref, round: { game_id: "slots", round_id: "seq" } }
      dataOf(yield* house.callWallet("round/close", { player_ref, ...round }))
      yield* assertMoved(0, "a round close")
    }))

  it.effect("6 a refused request leaves no event, no entry and no payment", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const house = yield* SharedCasino
      const seat = yield* house.sit(100)
      const bonus = yield* house.newBonus({ max_grants_per_player: 1 })
      dataOf(yield* house.grant(seat.id, bonus.id), 201)
      dataOf(yield* house.limit(seat.id, { max_single_deposit: 100 }))
      const rows = Effect.forEach(
        ["events", "ledger_entries", "payment_requests", "player_bonuses", "audit_log"],
        (table) =>
          Effect.map(sql`SELECT FROM ${sql.literal(table)} WHERE player_id = ${seat.id}`, ({ length }) => length)
      )
      const before = yield* rows
      const { first_name, last_name, birth_date } = seat.player
      for (
        const answer of [
          yield* house.deposit(seat.id, 101),
          yield* house.withdraw(seat.id, 101),
          yield* house.grant(seat.id, bonus.id),
          yield* seat.bet(5000),
          yield* house.exclude(seat.id, { period: "never" }),
          yield* house.put(`/players/${seat.id}/status`, { status: "open" }),
          yield* house.post("/players", { first_name, last_name, birth_date })
        ]
      ) assert.include([402, 422], answer.status, answer.text)
      assert.deepStrictEqual(yield* rows, before)
    }))

  it.effect("4 the ledger that the tests of this file have written verifies without violations", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* staff("GET", "/ledger/verification")).violations, [])
    }))
})
