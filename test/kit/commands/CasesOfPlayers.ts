/** Cases of `case`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { made, openCasino, staff } from "../Casino.ts"
import { type CommandCase, done, nobody, raisedAlert, refusal } from "./Scene.ts"

/** A case about a new player of a casino of its own. */
const openedCase = Effect.gen(function*() {
  const casino = yield* openCasino()
  const { id: player } = yield* casino.register()
  return { casino, player: Number(player), opened: yield* made("/cases", { type: "aml", player }) }
})

/** A case, and an alert about its player that is part of none. */
const withAlert = Effect.gen(function*() {
  const { alert, player } = yield* raisedAlert(yield* openCasino())
  const opened = yield* made("/cases", { type: "aml", player })
  return { alert, case: Number(opened.id) }
})

export const caseCases: ReadonlyArray<CommandCase> = [
  {
    line: "case open --type aml --player $player",
    misused: ["case open --type gossip --player $player", "case open --type aml --player ada"],
    refused: [
      [`case open --type aml --player ${nobody}`, "NOT_FOUND"],
      ["case open --type aml --player $player --alerts $closed_alert", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      const opened = yield* done(`case open --type aml --player ${player} --alerts ${alert} --note "fast in and out"`)
      assert.deepInclude(opened, { operator_id: casino.id, player_id: player, type: "aml", status: "open" })
      const shown = yield* staff("GET", `/cases/${opened.id}`)
      assert.deepInclude(shown, { ...opened, alerts: [alert] })
      assert.deepStrictEqual(shown.notes.map(({ note, status }: typeof shown) => [note, status]), [
        ["fast in and out", "open"]
      ])
      // an alert is part of one case
      const { code } = yield* refusal(`case open --type harm --player ${player} --alerts ${alert}`)
      assert.strictEqual(code, "VALIDATION_FAILED")
      assert.lengthOf(yield* staff("GET", `/cases?player=${player}`), 1)
    },
    changes: () => Effect.succeed({ line: "case open --type contact --player $player --note asked", differs: [] })
  },
  {
    line: "case list",
    misused: ["case list --type gossip", "case list --status shut", "case list --player ada"],
    refused: [["case list --operator nobody", "NOT_FOUND"], ["case list --cursor !", "VALIDATION_FAILED"]],
    *works() {
      const { casino, opened, player } = yield* openedCase
      const other = yield* made("/cases", { type: "harm", player })
      const list = (flags: string) => done(`case list --operator ${casino.slug} ${flags}`)
      const idsOf = (rows: ReadonlyArray<{ readonly id: number }>) => rows.map(({ id }) => id)
      // two nodes' clocks may differ by milliseconds
      const newestFirst = [opened, other].toSorted((one, two) =>
        Date.parse(two.created_at) - Date.parse(one.created_at) || two.id - one.id
      )
      assert.deepStrictEqual(yield* list(""), newestFirst)
      assert.deepStrictEqual(idsOf(yield* list("--type harm")), [other.id])
      assert.deepStrictEqual(
        idsOf(yield* list(`--player ${player} --status waiting --per-page 1`)),
        idsOf(newestFirst.slice(0, 1))
      )
      assert.deepStrictEqual(yield* list("--status closed"), [])
    }
  },
  {
    line: "case update $case",
    misused: ["case update all --note asked", "case update $case --status shut", "case update $case --amount much"],
    refused: [
      [`case update ${nobody} --note asked`, "NOT_FOUND"],
      ["case update $case --status decided", "VALIDATION_FAILED"],
      ["case update $case --decision monitor", "VALIDATION_FAILED"],
      ["case update $case --assign 999999999", "VALIDATION_FAILED"]
    ],
    *works() {
      const { opened } = yield* openedCase
      const update = (flags: string) => done(`case update ${opened.id} ${flags}`)
      assert.deepInclude(yield* update("--status in_progress --note looking"), {
        status: "in_progress",
        decision: null
      })
      assert.deepInclude(yield* update("--status decided --decision monitor"), { decision: "monitor" })
      assert.deepInclude(yield* update("--status in_progress"), { status: "in_progress", decision: null })
      yield* update("--status decided --decision no_action")
      const { closed_at: closedAt, status } = yield* update("--status closed")
      assert.deepStrictEqual([status, typeof closedAt], ["closed", "string"])
      assert.strictEqual((yield* refusal(`case update ${opened.id} --note late`)).code, "VALIDATION_FAILED")
    },
    changes: () =>
      Effect.map(openedCase, ({ opened }) => ({
        line: `case update ${opened.id} --status in_progress`,
        differs: ["status"]
      }))
  },
  {
    line: "case add $case --alerts $alert",
    misused: ["case add $case --alerts all"],
    refused: [
      [`case add ${nobody} --alerts $alert`, "NOT_FOUND"],
      ["case add $case --alerts $closed_alert", "VALIDATION_FAILED"]
    ],
    *works() {
      const { alert, case: id } = yield* withAlert
      assert.deepInclude(yield* done(`case add ${id} --alerts ${alert}`), { alerts: [alert] })
      assert.deepInclude(yield* staff("GET", `/alerts/${alert}`), { case_id: id })
    },
    changes: () =>
      Effect.map(
        withAlert,
        ({ alert, case: id }) => ({ line: `case add ${id} --alerts ${alert}`, differs: ["alerts"] })
      )
  },
  {
    line: "case sar $case --reference R-1",
    misused: ["case sar all --reference R-1", "case sar $case --reference R-1 --consent maybe"],
    refused: [
      [`case sar ${nobody} --reference R-1`, "NOT_FOUND"],
      ["case sar $case --reference R-2", "VALIDATION_FAILED"],
      ["case sar $case --reference R-1 --submitted-at today", "VALIDATION_FAILED"],
      [
        "case sar $case --reference R-2 --authority FIU --submitted-at 2026-11-20T12:00:00Z --consent granted",
        "VALIDATION_FAILED"
      ]
    ],
    *works() {
      const { opened } = yield* openedCase
      const sar = (flags: string) => done(`case sar ${opened.id} --reference R-1 ${flags}`)
      const report = yield* sar("--authority FIU --submitted-at 2026-11-20T12:00:00Z --consent-requested")
      assert.deepInclude(report, { authority: "FIU", reference: "R-1", consent: "requested", deemed_at: null })
      const deemed = yield* sar("--consent deemed --deemed-at 2026-11-20T12:00:00Z")
      assert.deepInclude(deemed, { id: report.id, consent: "deemed", deemed_at: "2026-11-20T12:00:00.000Z" })
      assert.deepStrictEqual((yield* staff("GET", `/cases/${opened.id}`)).reports, [deemed])
    },
    changes: () =>
      Effect.map(openedCase, ({ opened }) => ({
        line: `case sar ${opened.id} --reference R-1 --authority FIU --submitted-at 2026-11-20T12:00:00Z`,
        differs: []
      }))
  },
  {
    line: "case funds $case",
    misused: ["case funds $case --evidence payslip", "case funds all --accept"],
    refused: [
      [`case funds ${nobody} --text payslips`, "NOT_FOUND"],
      ["case funds $case --accept --reject", "VALIDATION_FAILED"],
      ["case funds $case --accept", "VALIDATION_FAILED"],
      ["case funds $case --text payslips --due soon", "VALIDATION_FAILED"]
    ],
    *works() {
      const { opened } = yield* openedCase
      const funds = (flags: string) => done(`case funds ${opened.id} ${flags}`)
      const { obligations: [asked] } = yield* funds("--text \"three payslips\" --due P14D")
      assert.deepInclude(asked, {
        kind: "source_of_funds",
        state: "open",
        gates: ["deposit"],
        details: { text: "three payslips" }
      })
      const digest = "ab".repeat(32)
      const { evidence: [piece] } = yield* funds(`--evidence payslip:box-7:${digest}`)
      assert.deepInclude(piece, { kind: "payslip", reference: "box-7", sha256: digest })
      const { notes: [rejected] } = yield* funds("--reject")
      assert.include(rejected.note, "rejected")
      const { obligations: [met] } = yield* funds("--accept")
      assert.deepInclude(met, { id: asked.id, state: "met" })
    },
    changes: () =>
      Effect.map(openedCase, ({ opened }) => ({ line: `case funds ${opened.id} --text payslips`, differs: [] }))
  },
  {
    line: "screening create --operator $rival --url https://screening.example/v1 --api-key secret-key",
    misused: [],
    refused: [
      ["screening create --operator nobody --url https://screening.example/v1 --api-key secret-key", "NOT_FOUND"],
      [
        "screening create --operator $house --url https://screening.example/v1 --api-key secret-key",
        "VALIDATION_FAILED"
      ]
    ],
    *works() {
      const { slug } = yield* openCasino()
      const url = "https://screening.example/v1"
      const screening = yield* done(`screening create --operator ${slug} --url ${url} --api-key secret-key`)
      assert.deepInclude(screening, { kind: "screening", active: true, settings: { url } })
    },
    changes: () =>
      Effect.map(openCasino(), ({ slug }) => ({
        line: `screening create --operator ${slug} --url https://screening.example/v1 --api-key secret-key`,
        differs: []
      }))
  },
  {
    line: "screening update $screening",
    misused: ["screening update all", "screening update $screening --active maybe"],
    refused: [
      [`screening update ${nobody} --active false`, "NOT_FOUND"],
      ["screening update $register --active false", "NOT_FOUND"],
      // another host takes the key anew
      ["screening update $screening --url https://elsewhere.example/v1", "VALIDATION_FAILED"]
    ],
    *works() {
      const { slug } = yield* openCasino()
      const fields = { operator: slug, url: "https://screening.example/v1", api_key: "secret-key" }
      const { id } = yield* made("/screenings", fields)
      assert.deepInclude(yield* done(`screening update ${id} --active false`), { id, active: false })
      const moved = yield* done(`screening update ${id} --url https://elsewhere.example/v1 --api-key another`)
      assert.deepInclude(moved.settings, { url: "https://elsewhere.example/v1" })
    },
    changes: () =>
      Effect.gen(function*() {
        const { slug } = yield* openCasino()
        const fields = { operator: slug, url: "https://screening.example/v1", api_key: "secret-key" }
        const { id } = yield* made("/screenings", fields)
        return { line: `screening update ${id} --active false`, differs: ["active"] }
      })
  }
]
