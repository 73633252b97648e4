import { assert, it } from "@effect/vitest"
import { ggrReport, type GroupSums, noSums } from "../../../src/features/reports/GgrReport.ts"

// Goal: the report's displayed figures add up. Method: sums with rounding remainders; the differences by hand.

const head = { from: "2026-11-01", to: "2026-11-30", currency: "EUR", include_test_players: false }

const group = (more: Partial<GroupSums>): GroupSums => ({ ...noSums, ...more })

it("the GGR report computes differences from rounded figures, and omits providers without activity", () => {
  const total = group({
    rounds: 3,
    bets: 101,
    bonus_bets: 1,
    wins: 50,
    bonus_conversions: 60,
    deposits: 500,
    chargebacks: 100,
    withdrawals: 450
  })
  const report = ggrReport(head, {
    total,
    byType: [{ ...group({ bets: 101, wins: 50, rounds: 3 }), isLive: true }],
    byProvider: [
      { ...group({}), providerId: 1, provider: "Idle" },
      { ...group({ bets: 101, wins: 50, bonus_bets: 1, rounds: 3 }), providerId: 2, provider: "Studio" }
    ],
    unconverted: [{ ...group({ deposits: 70, chargebacks: 20 }), currency: "KWD", entries: 2 }],
    players: new Map([["casino", 2], ["live", 2], ["deposit", 1]]),
    registered: 4
  })
  const none = { bets: 0, wins: 0, ggr: 0, rounds: 0, players: 0 }
  assert.deepStrictEqual(report, {
    ...head,
    casino: {
      bets: 101,
      wins: 50,
      ggr: 51,
      rounds: 3,
      players: 2,
      by_type: { rng: none, live: { bets: 101, wins: 50, ggr: 51, rounds: 3, players: 2 } },
      by_provider: [{ provider_id: 2, provider: "Studio", bets: 101, wins: 50, ggr: 51, bonus_bets: 1, rounds: 3 }]
    },
    bonus_conversions: 60,
    net_gaming_revenue: -9,
    payments: {
      deposits: 400,
      depositing_players: 1,
      withdrawals: 450,
      withdrawing_players: 0,
      net_deposits: -50,
      chargebacks: 100
    },
    players: { registered: 4 },
    unconverted: [{
      currency: "KWD",
      entries: 2,
      bets: 0,
      wins: 0,
      bonus_bets: 0,
      bonus_conversions: 0,
      deposits: 50,
      chargebacks: 20,
      withdrawals: 0
    }]
  })
})
