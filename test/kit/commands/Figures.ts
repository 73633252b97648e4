/** Cases of `figures`, of reports over time, and of what staff do with one alert, delivery or bonus. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dataOf, type Fields, made, openCasino } from "../Casino.ts"
import { makeSink } from "../WebhookSink.ts"
import { type CommandCase, done, grantedBonus, nobody, raisedAlert } from "./Scene.ts"

const days = "--from 2026-11-01 --to 2026-11-20"

export const figureCases: ReadonlyArray<CommandCase> = [
  {
    line: `report series --operator $house --metric ggr ${days}`,
    misused: [`report series --operator $house --metric luck ${days}`],
    refused: [
      [`report series --operator nobody --metric ggr ${days}`, "NOT_FOUND"],
      [`report series --operator $house --metric ggr ${days} --step hour`, "VALIDATION_FAILED"],
      [`report series --operator $house --metric deposits ${days} --provider $studio`, "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      dataOf(yield* (yield* casino.sit(1000)).bet(100))
      const { points } = yield* done(`report series --operator ${casino.slug} --metric bets ${days}`)
      assert.strictEqual(points.length, 20)
      assert.deepStrictEqual(points.at(-1), { at: "2026-11-20T00:00:00.000Z", value: 100 })
    }
  },
  {
    line: `report breakdown --operator $house --by day ${days}`,
    misused: [`report breakdown --operator $house --by week ${days}`],
    refused: [[`report breakdown --operator nobody --by day ${days}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      dataOf(yield* (yield* casino.sit(1000)).bet(100))
      const { rows } = yield* done(`report breakdown --operator ${casino.slug} --by day ${days}`)
      assert.deepInclude(rows[0], { key: "2026-11-20", bets: 100, ggr: 100, deposits: 1000 })
      const all = yield* done(`report breakdown --operator ${casino.slug} --by all ${days}`)
      assert.deepStrictEqual(
        all.rows.map((row: { by: string; key: string; ggr: number }) => [row.by, row.key, row.ggr]),
        [
          ["total", "total", 100],
          ["month", "2026-11", 100],
          ["day", "2026-11-20", 100],
          ["type", "rng", 100],
          ["provider", String(casino.studio.id), 100]
        ]
      )
      // without play there is the total alone, of nothing
      const before = yield* done(
        `report breakdown --operator ${casino.slug} --by all --from 2026-11-01 --to 2026-11-02`
      )
      assert.deepStrictEqual(
        before.rows.map((row: { by: string; ggr: number; rounds: number }) => [row.by, row.ggr, row.rounds]),
        [["total", 0, 0]]
      )
    }
  },
  {
    line: `report local-days --operator $house ${days}`,
    misused: [`report local-days --operator $house ${days} --include-test-players true`],
    refused: [
      [`report local-days --operator nobody ${days}`, "NOT_FOUND"],
      ["report local-days --operator $house --from 2026-11-20 --to 2026-11-01", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino({ report_offset_hours: 14 })
      dataOf(yield* (yield* casino.sit(1000)).bet(100))
      const { offset_hours: hours, rows } = yield* done(
        `report local-days --operator ${casino.slug} --from 2026-11-20 --to 2026-11-30`
      )
      assert.strictEqual(hours, 14)
      // at noon it is the next day there, which began at ten; that hour was not read
      assert.deepStrictEqual(
        rows.map(({ bets, day, deposits, from, ggr, until }: Fields) => ({ bets, day, deposits, from, ggr, until })),
        [
          {
            bets: 0,
            day: "2026-11-20",
            deposits: 0,
            from: "2026-11-19T00:00:00.000Z",
            ggr: 0,
            until: "2026-11-20T00:00:00.000Z"
          },
          {
            bets: 100,
            day: "2026-11-21",
            deposits: 1000,
            from: "2026-11-20T00:00:00.000Z",
            ggr: 100,
            until: "2026-11-21T10:00:00.000Z"
          }
        ]
      )
    }
  },
  {
    line: `report sections --operator $house ${days}`,
    misused: [`report sections --operator $house ${days} --by day`],
    refused: [[`report sections --operator nobody ${days}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      dataOf(yield* (yield* casino.sit(1000)).bet(100))
      const { bonus } = yield* grantedBonus(casino)
      const { rows } = yield* done(`report sections --operator ${casino.slug} ${days}`)
      assert.deepStrictEqual(
        rows.map(({ ggr, granted, key, section }: Fields) => [section, key, ggr, granted]),
        [
          ["total", "total", 100, null],
          ["month", "2026-11", 100, null],
          ["day", "2026-11-20", 100, null],
          ["type", "rng", 100, null],
          ["provider", String(casino.studio.id), 100, null],
          ["bonus", String(bonus), null, 1]
        ]
      )
    }
  },
  {
    line: `report operators ${days}`,
    misused: [`report operators ${days} --by day`],
    refused: [
      [`report operators --operator nobody ${days}`, "NOT_FOUND"],
      ["report operators --from 2026-11-20 --to 2026-11-01", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      dataOf(yield* (yield* casino.sit(1000)).bet(100))
      const { rows, total } = yield* done(`report operators --operator ${casino.slug} ${days}`)
      assert.deepInclude(rows[0], { operator_id: casino.id, currency: "EUR", rate: null, ggr: 100, deposits: 1000 })
      assert.deepInclude(total, { ggr: 100, rounds: 1 })
    }
  },
  {
    line: "report funds",
    misused: ["report funds --wallet real"],
    refused: [
      ["report funds --operator nobody", "NOT_FOUND"],
      ["report funds --at yesterday", "VALIDATION_FAILED"],
      ["report funds --at 2099-01-01", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      assert.deepStrictEqual(yield* done(`report funds --operator ${casino.slug}`), [])
      yield* casino.sit(1000)
      assert.deepStrictEqual(yield* done(`report funds --operator ${casino.slug} --at 2026-01-01`), [])
    }
  },
  {
    line: "report dormant",
    misused: ["report dormant --wallet real"],
    refused: [["report dormant --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { id } = yield* casino.sit(1000)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE players SET dormant_since = '2026-11-20T12:00:00Z' WHERE id = ${id}`
      assert.deepStrictEqual(yield* done(`report dormant --operator ${casino.slug}`), [{
        player_id: id,
        operator_id: casino.id,
        currency: "EUR",
        balance: 1000,
        bonus_balance: 0,
        dormant_since: "2026-11-20T12:00:00.000Z",
        last_login_at: null
      }])
    }
  },
  {
    line: `report bonuses --operator $house ${days}`,
    misused: [],
    refused: [[`report bonuses --operator nobody ${days}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { bonus } = yield* grantedBonus(casino)
      const [cost] = yield* done(`report bonuses --operator ${casino.slug} ${days}`)
      assert.deepInclude(cost, { bonus_id: bonus, granted: 1, liability: 500 })
    }
  },
  {
    line: "figures overview",
    misused: ["figures overview --since today"],
    refused: [["figures overview --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      yield* casino.sit(1000)
      const { money } = yield* done(`figures overview --operator ${casino.slug}`)
      assert.deepInclude(money[0], { currency: "EUR", deposits: 1000 })
    }
  },
  {
    line: "bonus show $bonus",
    misused: ["bonus show welcome"],
    refused: [[`bonus show ${nobody}`, "NOT_FOUND"]],
    *works() {
      const { bonus } = yield* grantedBonus(yield* openCasino())
      const { id, liability } = yield* done(`bonus show ${bonus}`)
      assert.strictEqual(id, bonus)
      assert.deepInclude(liability[0], { currency: "EUR", running: 1, amount: 500 })
    }
  },
  {
    line: "bonus grants $bonus",
    misused: ["bonus grants $bonus --state lost"],
    refused: [[`bonus grants ${nobody}`, "NOT_FOUND"]],
    *works() {
      const { bonus, granted } = yield* grantedBonus(yield* openCasino())
      const [only] = yield* done(`bonus grants ${bonus} --state activated`)
      assert.strictEqual(only.id, granted)
      assert.deepStrictEqual(yield* done(`bonus grants ${bonus} --state finished`), [])
    }
  },
  {
    line: "alert assign $alert --staff none",
    misused: ["alert assign first --staff none"],
    refused: [
      [`alert assign ${nobody} --staff none`, "NOT_FOUND"],
      ["alert assign $alert --staff somebody", "VALIDATION_FAILED"],
      ["alert assign $closed_alert --staff none", "VALIDATION_FAILED"]
    ],
    *works({ names }) {
      const { alert } = yield* raisedAlert(yield* openCasino())
      const given = yield* done(`alert assign ${alert} --staff ${names.admin}`)
      assert.strictEqual(String(given.assigned_to), names.admin)
    },
    changes: ({ names }) =>
      Effect.map(Effect.flatMap(openCasino(), raisedAlert), ({ alert }) => ({
        line: `alert assign ${alert} --staff ${names.admin}`,
        differs: ["assigned_to"]
      }))
  },
  {
    line: "alert hold $alert --reason papers",
    misused: ["alert hold first --reason papers"],
    refused: [
      [`alert hold ${nobody} --reason papers`, "NOT_FOUND"],
      ["alert hold $closed_alert --reason papers", "VALIDATION_FAILED"]
    ],
    *works() {
      const { alert } = yield* raisedAlert(yield* openCasino())
      assert.strictEqual((yield* done(`alert release ${alert} --reason known`)).stops_withdrawals, false)
      assert.strictEqual((yield* done(`alert hold ${alert} --reason papers`)).stops_withdrawals, true)
    },
    changes: () =>
      Effect.gen(function*() {
        const { alert } = yield* raisedAlert(yield* openCasino())
        yield* done(`alert release ${alert} --reason known`)
        return { line: `alert hold ${alert} --reason papers`, differs: ["stops_withdrawals"] }
      })
  },
  {
    line: "alert release $alert --reason known",
    misused: ["alert release first --reason known"],
    refused: [
      [`alert release ${nobody} --reason known`, "NOT_FOUND"],
      ["alert release $closed_alert --reason known", "VALIDATION_FAILED"]
    ],
    *works() {
      const { alert } = yield* raisedAlert(yield* openCasino())
      yield* done(`alert hold ${alert} --reason papers`)
      assert.strictEqual((yield* done(`alert release ${alert} --reason known`)).stops_withdrawals, false)
    },
    changes: () =>
      Effect.gen(function*() {
        const { alert } = yield* raisedAlert(yield* openCasino())
        yield* done(`alert hold ${alert} --reason papers`)
        return { line: `alert release ${alert} --reason known`, differs: ["stops_withdrawals"] }
      })
  },
  {
    line: "delivery show $delivery",
    misused: ["delivery show first"],
    refused: [[`delivery show ${nobody}`, "NOT_FOUND"]],
    *works({ house }) {
      const sink = yield* makeSink(() => 500)
      const webhook = yield* made("/webhooks", { operator: house.slug, url: sink.url, active: false })
      const { id } = yield* done(`webhook ping ${webhook.id}`)
      const { response } = yield* done(`delivery show ${id}`)
      assert.deepInclude(response, { status: 500, error: "status" })
    }
  },
  {
    line: "webhook redeliver $webhook --since 2026-11-01T00:00:00Z",
    misused: ["webhook redeliver $webhook --since 2026-11-01T00:00:00Z --status pending"],
    refused: [
      [`webhook redeliver ${nobody} --since 2026-11-01T00:00:00Z`, "NOT_FOUND"],
      ["webhook redeliver $webhook --since 2026-11-01T00:00:00Z --operator $rival", "NOT_FOUND"],
      ["webhook redeliver $webhook --since yesterday", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const sink = yield* makeSink()
      const webhook = yield* made("/webhooks", { operator: house.slug, url: sink.url, active: false })
      const { id: delivery } = yield* done(`webhook ping ${webhook.id}`)
      assert.deepInclude(yield* done(`delivery show ${delivery}`), { id: delivery, status: "delivered" })
      const again = yield* done(`webhook redeliver ${webhook.id} --since 2026-11-01T00:00:00Z`)
      assert.deepInclude(again, { webhook_id: webhook.id })
    },
    changes: ({ house }) =>
      Effect.gen(function*() {
        const sink = yield* makeSink()
        const webhook = yield* made("/webhooks", { operator: house.slug, url: sink.url, active: false })
        yield* done(`webhook ping ${webhook.id}`)
        return { line: `webhook redeliver ${webhook.id} --since 2026-11-01T00:00:00Z`, differs: [] }
      })
  }
]
