/** Cases of `alert`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { alertRules } from "../../../src/domain/compliance/AlertRules.ts"
import { dataOf, type Fields, openCasino } from "../Casino.ts"
import { pass } from "../Calendar.ts"
import { type CommandCase, done, nobody, raisedAlert, refusal } from "./Scene.ts"

export const alertCases: ReadonlyArray<CommandCase> = [
  {
    line: "alert list",
    misused: ["alert list --rule everything", "alert list --status reopened", "alert list --player ada"],
    refused: [["alert list --operator nobody", "NOT_FOUND"], ["alert list --limit 101", "VALIDATION_FAILED"]],
    *works() {
      const casino = yield* openCasino()
      const raised = [yield* raisedAlert(casino), yield* raisedAlert(casino), yield* raisedAlert(casino)]
      const [first, second, third] = raised.map(({ alert }) => alert)
      yield* done(`alert update ${second} --status escalated`)
      const ids = (flags: string) =>
        Effect.map(
          done(`alert list --operator ${casino.slug} ${flags}`),
          (alerts: ReadonlyArray<{ readonly id: number }>) => alerts.map(({ id }) => id)
        )
      assert.deepStrictEqual(
        [
          yield* ids(""),
          yield* ids("--limit 1"),
          yield* ids(`--cursor ${third} --rule large_credit`),
          yield* ids(`--player ${raised[0]?.player}`),
          yield* ids("--status escalated"),
          yield* ids("--rule structuring"),
          yield* ids("--sort oldest --limit 2"),
          yield* ids(`--sort oldest --cursor ${second}`)
        ],
        [[third, second, first], [third], [second, first], [first], [second], [], [first, second], [third]]
      )
      // the least severe and newest comes last, a closed one is not waiting
      yield* done(
        `alert configure --operator ${casino.slug} --rule large_credit --severity low --stop-withdrawals false`
      )
      const { alert: mild } = yield* raisedAlert(casino)
      yield* done(`alert update ${first} --status closed --note known`)
      const severe = "--sort severity --status waiting"
      assert.deepStrictEqual(
        [yield* ids(severe), yield* ids(`${severe} --cursor ${second}`), yield* ids("--sort newest --limit 1")],
        [[second, third, mild], [third, mild], [mild]]
      )
    }
  },
  {
    line: "alert evidence $alert",
    misused: ["alert evidence first"],
    refused: [[`alert evidence ${nobody}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      yield* pass(1)
      const { id: payment } = dataOf(yield* casino.deposit(player, 100), 201)
      const evidence = yield* done(`alert evidence ${alert}`)
      assert.deepInclude(evidence.player, { id: player, currency: "EUR" })
      assert.deepInclude(evidence.payments[0], { id: payment, is_later: true, is_counted: false })
      assert.deepStrictEqual(evidence.figures[0], {
        figure: "deposits",
        raised: 1000,
        now: 1100,
        raised_count: 1,
        now_count: 2
      })
    }
  },
  {
    line: "alert update $alert",
    misused: ["alert update $alert --status reopened", "alert update first --note x"],
    refused: [
      [`alert update ${nobody} --status closed`, "NOT_FOUND"],
      ["alert update $closed_alert --status open", "VALIDATION_FAILED"],
      ["alert update $closed_alert --status in_review", "VALIDATION_FAILED"]
    ],
    *works({ tokens }) {
      const { alert } = yield* raisedAlert(yield* openCasino())
      const update = (flags: string) =>
        Effect.andThen(pass(1), done(`alert update ${alert} ${flags}`, undefined, tokens["compliance"]))
      const reviewed = yield* update("--status in_review --note \"asked for papers\"")
      assert.deepInclude(reviewed, { id: alert, status: "in_review", closed_at: null })
      const [{ by, note, status }] = reviewed.notes
      assert.deepStrictEqual([note, status], ["asked for papers", "in_review"])
      assert.match(by, /^staff:\d+$/)
      yield* update("--note \"they have come\"")
      yield* update("--status escalated")
      assert.strictEqual((yield* refusal(`alert update ${alert} --status open`)).code, "VALIDATION_FAILED")
      yield* update("--status in_review")
      const closed = yield* update("--status closed --note \"an inheritance\"")
      assert.isString(closed.closed_at)
      assert.deepStrictEqual(yield* update("--status closed"), closed)
      assert.lengthOf((yield* update("--note \"one more\"")).notes, 4)
      const lines = yield* done(`audit list --player ${closed.player_id} --action alert.update`)
      assert.deepStrictEqual(
        lines.map((line: { readonly after: { readonly status: string }; readonly reason: string | null }) => [
          line.after.status,
          line.reason
        ]),
        [
          ["closed", "one more"],
          ["closed", "an inheritance"],
          ["in_review", null],
          ["escalated", null],
          ["in_review", "they have come"],
          ["in_review", "asked for papers"]
        ]
      )
    },
    changes: ({ house }) =>
      Effect.map(raisedAlert(house), ({ alert }) => ({
        line: `alert update ${alert} --status escalated`,
        differs: ["status"]
      }))
  },
  {
    line: "alert rules --operator $house",
    misused: ["alert rules --operator $house --rule structuring"],
    refused: [["alert rules --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const rules: ReadonlyArray<Fields> = yield* done(`alert rules --operator ${casino.slug}`)
      assert.deepStrictEqual(rules.map(({ rule }) => rule), [...alertRules])
      assert.deepStrictEqual(rules.find(({ rule }) => rule === "large_deposit"), {
        operator_id: casino.id,
        rule: "large_deposit",
        enabled: true,
        severity: "medium",
        stop_withdrawals: false,
        threshold: 200_000,
        percent: null,
        count: null,
        window_hours: null,
        currency: "EUR"
      })
    }
  },
  {
    line: "alert configure --operator $house --rule structuring",
    misused: [
      "alert configure --operator $house --rule everything",
      "alert configure --operator $house --rule structuring --severity grave"
    ],
    refused: [
      ["alert configure --operator nobody --rule structuring --count 2", "NOT_FOUND"],
      ["alert configure --operator $house --rule large_deposit --threshold 0", "VALIDATION_FAILED"],
      ["alert configure --operator $house --rule large_deposit --count 2", "VALIDATION_FAILED"],
      ["alert configure --operator $house --rule structuring --percent 100", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const show = done(`alert rules --operator ${casino.slug}`)
      const before: ReadonlyArray<{ readonly rule: string }> = yield* show
      const configure = `alert configure --operator ${casino.slug} --rule large_deposit`
      const set = yield* done(`${configure} --threshold 5000 --severity low --stop-withdrawals true`)
      assert.deepInclude(set, { threshold: 5000, severity: "low", stop_withdrawals: true, enabled: true })
      // omitted settings and other rules are unchanged
      const off = yield* done(`${configure} --enabled false`)
      assert.deepStrictEqual(off, { ...set, enabled: false })
      assert.deepStrictEqual(yield* show, before.map((rule) => rule.rule === "large_deposit" ? off : rule))
      yield* done(`${configure} --enabled false`)
      const lines = yield* done(`audit list --operator ${casino.slug} --action alert.configure`)
      assert.lengthOf(lines, 2, "a change of nothing leaves no line")
    },
    changes: ({ house }) =>
      Effect.succeed({
        line: `alert configure --operator ${house.slug} --rule deposit_velocity --count 77`,
        differs: ["count"]
      })
  }
]
