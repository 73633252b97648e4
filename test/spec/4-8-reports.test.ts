import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { command, layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, type Casino, dataOf, move, openCasino, staff } from "../kit/Casino.ts"
import { dayMs, goTo, pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: the GGR report meets SPEC 2.10 and 4.8 and the row of DECISIONS 4. Method: a day of play with sums worked out by
// hand, over HTTP; then the edges of the range.

const report = (casino: Casino, query: string) => casino.get(`/reports/ggr?${query}`)

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.8 reports", (it) => {
  it.effect("4.8 GGR: every figure of a day is correct, and test players are left out unless requested", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const ada = yield* casino.sit(1000)
      const slots = dataOf(yield* ada.bet(100))
      dataOf(yield* ada.win(slots.transaction_id, 40))
      const table = { game_id: "table" }
      dataOf(yield* ada.bet(50, table))
      const taken = dataOf(yield* ada.bet(200, table))
      dataOf(yield* ada.rollback(taken.transaction_id))
      const held = dataOf(yield* casino.withdraw(ada.id, 300), 201)
      yield* move(held.id, "approve")
      yield* move(held.id, "pay")

      const bob = yield* casino.sit(100)
      const bonus = yield* casino.newBonus({ wagering_multiplier: 50 })
      dataOf(yield* casino.grant(bob.id, bonus.id), 201)
      assert.strictEqual(dataOf(yield* bob.bet(300)).bonus_amount, -200)
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0, default_amount: 25 })
      dataOf(yield* casino.grant(bob.id, cash.id), 201)

      const tester = yield* casino.sit(5000, { is_test: true })
      dataOf(yield* tester.bet(1000))

      const { data, status, text } = yield* report(casino, "from=2026-11-20&to=2026-11-20")
      assert.strictEqual(status, 200, text)
      assert.deepInclude(data, {
        from: "2026-11-20",
        to: "2026-11-20",
        currency: "EUR",
        include_test_players: false,
        bonus_conversions: 25,
        net_gaming_revenue: 385
      })
      assert.deepInclude(data.casino, { bets: 450, wins: 40, ggr: 410, players: 2 })
      assert.deepInclude(data.casino.by_type.rng, { bets: 400, wins: 40, ggr: 360, players: 2 })
      assert.deepInclude(data.casino.by_type.live, { bets: 50, wins: 0, ggr: 50, players: 1 })
      assert.strictEqual(data.casino.by_provider.length, 1)
      assert.deepInclude(data.casino.by_provider[0], {
        provider_id: casino.studio.id,
        provider: casino.studio.name,
        bets: 450,
        wins: 40,
        ggr: 410,
        bonus_bets: 200
      })
      for (const part of [data.casino, data.casino.by_type.rng, data.casino.by_type.live, data.casino.by_provider[0]]) {
        assert.isTrue(Number.isInteger(part.rounds))
      }
      assert.deepStrictEqual(data.payments, {
        chargebacks: 0,
        deposits: 1100,
        depositing_players: 2,
        withdrawals: 300,
        withdrawing_players: 1,
        net_deposits: 800
      })
      assert.deepStrictEqual([data.players, data.unconverted], [{ registered: 2 }, []])
      const rival = yield* openCasino()
      const others = dataOf(yield* report(rival, "from=2026-11-20&to=2026-11-20"))
      assert.deepInclude(others.casino, { bets: 0, rounds: 0, players: 0, by_provider: [] })

      const all = dataOf(yield* report(casino, "from=2026-11-20&to=2026-11-20&include_test_players=true"))
      assert.deepInclude(all.casino, { bets: 1450, wins: 40, ggr: 1410, players: 3 })
      assert.deepStrictEqual([all.include_test_players, all.payments.deposits, all.players.registered], [true, 6100, 3])
      // the back office shows the same figures
      const shown = yield* staff("GET", `/reports/ggr?operator=${casino.slug}&from=2026-11-20&to=2026-11-20`)
      assert.deepStrictEqual(shown, data)
    }))

  it.effect("4.8 GGR: days are in UTC, the last one is included, and a rollback counts on its own day only", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      yield* goTo("2026-11-20T23:59:59.999Z")
      const { transaction_id } = dataOf(yield* seat.bet(100))
      const friday = "from=2026-11-20&to=2026-11-20"
      const before = dataOf(yield* report(casino, friday))
      assert.deepInclude(before.casino, { bets: 100, ggr: 100 })
      yield* pass(1)
      const { session_token } = dataOf(yield* casino.launch(seat.id))
      dataOf(yield* casino.playOf(session_token, seat.ref).bet(30))
      dataOf(yield* seat.rollback(transaction_id))
      const saturday = dataOf(yield* report(casino, "from=2026-11-21&to=2026-11-21"))
      assert.strictEqual(saturday.casino.ggr, -70)
      assert.deepStrictEqual(dataOf(yield* report(casino, friday)), before)
      assert.strictEqual(dataOf(yield* report(casino, "from=2026-11-20&to=2026-11-21")).casino.ggr, 30)
      yield* pass(dayMs)
      assert.deepStrictEqual(dataOf(yield* report(casino, friday)), before)
    })))

  it.effect("4.8 and CONTRACT 3: rate set applies from now on, past days do not change, and report ggr prints the report", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "GBP" })
      const player = yield* casino.register({ currency: "SEK" })
      const set = (rate: string) => `rate set --currency SEK --base GBP --rate ${rate}`.split(" ")
      const play = Effect.fnUntraced(function*(stake: number) {
        const { session_token } = dataOf(yield* casino.launch(player.id))
        const seat = casino.playOf(session_token, "")
        dataOf(yield* seat.bet(stake, { currency: "SEK" }))
      })
      const friday = "from=2026-11-20&to=2026-11-20"
      assert.deepInclude(yield* command(set("0.1")), { currency: "SEK", base: "GBP", rate: 0.1 })
      dataOf(yield* casino.deposit(player.id, 10_000), 201)
      yield* play(1000)
      const before = dataOf(yield* report(casino, friday))
      assert.deepStrictEqual([before.currency, before.casino.bets, before.payments.deposits], ["GBP", 100, 1000])
      yield* pass(dayMs)
      yield* command(set("0.2"))
      const shown = yield* command(`report ggr --operator ${casino.slug} --from 2026-11-20 --to 2026-11-20`.split(" "))
      yield* play(1000)
      assert.strictEqual(dataOf(yield* report(casino, "from=2026-11-21&to=2026-11-21")).casino.bets, 200)
      assert.deepStrictEqual(dataOf(yield* report(casino, friday)), before)
      assert.deepStrictEqual(shown, before)
    })))

  it.effect("8 GGR report range: both dates are required, in order, and at most 366 days are reported", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      // 366 days, both included
      assert.strictEqual((yield* report(house, "from=2025-11-20&to=2026-11-20")).status, 200)
      for (
        const query of [
          "from=2025-11-19&to=2026-11-20",
          "from=2026-11-20",
          "to=2026-11-20",
          "from=2026-11-21&to=2026-11-20",
          "from=2026-02-30&to=2026-11-20",
          "from=20261120&to=2026-11-20",
          "from=2026-11-20T00:00:00Z&to=2026-11-20",
          "from=2026-11-20&to=2026-11-20&include_test_players=maybe"
        ]
      ) assertRefused(yield* report(house, query), 422, "VALIDATION_FAILED")
    }))
})
