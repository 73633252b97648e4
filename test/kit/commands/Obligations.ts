/** Cases of `obligation`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { casinoUnder, dataOf, fresh, made, openCasino } from "../Casino.ts"
import { noon } from "../Noon.ts"
import { type CommandCase, done, nobody, refusal } from "./Scene.ts"

/** A player of a casino of its own, under rules with these limits, and the obligations of the player. */
const owing = Effect.fnUntraced(function*(limits: object) {
  const casino = yield* casinoUnder({ limits })
  const { id: player } = yield* casino.register()
  return { casino, player, obligations: dataOf(yield* casino.get(`/players/${player}/obligations`)) }
})

/** One that the scene's players do not share: a line needs one that is still open. */
const waivable = Effect.map(owing({ prompt: true }), ({ obligations: [one] }) => String(one.id))

/** A player of a casino with a strict jurisdiction and none. */
const movable = Effect.gen(function*() {
  const { code } = yield* made("/profiles", {
    code: fresh("x-strict-"),
    name: "Strict",
    stakes: [{ categories: ["slots"], amount: 50 }]
  })
  const casino = yield* openCasino({ profiles: [code, "none"], default_profile: code })
  return { casino, code: String(code), seat: yield* casino.sit(1000) }
})

export const obligationCases: ReadonlyArray<CommandCase> = [
  {
    line: "player compliance $player",
    misused: ["player compliance ada"],
    refused: [[`player compliance ${nobody}`, "NOT_FOUND"]],
    *works() {
      const { casino, obligations, player } = yield* owing({ required: [["max_balance"]], raise: { confirm: true } })
      yield* casino.limit(player, { max_daily_bet: 500 })
      yield* casino.limit(player, { max_daily_bet: 900 })
      yield* casino.exclude(player, { period: "7_days" })
      const { pending_changes, self_exclusion } = dataOf(yield* casino.get(`/players/${player}/limits`))
      assert.deepStrictEqual(yield* done(`player compliance ${player}`), {
        player_id: player,
        operator_id: casino.id,
        jurisdiction: {
          code: casino.profile,
          name: "Rules of a house",
          version: 1,
          moved_from: null,
          looser_from: null
        },
        terms: { required: null, accepted: null },
        registers: [],
        obligations,
        gates: { play: ["required_limits"], deposit: [] },
        reality_check: {
          own_interval: null,
          ...dataOf(yield* casino.get(`/players/${player}/reality-check`))
        },
        pending_changes,
        self_exclusion
      })
      assert.strictEqual(pending_changes[0].field, "max_daily_bet")
      assert.strictEqual(self_exclusion.ends, "by_itself")
    }
  },
  {
    line: "player jurisdiction $player --to none --reason asked",
    misused: ["player jurisdiction ada --to none --reason asked"],
    refused: [
      [`player jurisdiction ${nobody} --to none --reason asked`, "NOT_FOUND"],
      ["player jurisdiction $player --to gb --reason asked", "VALIDATION_FAILED"],
      ["player jurisdiction $player --to x-nowhere --reason asked", "VALIDATION_FAILED"]
    ],
    *works() {
      const { casino, code, seat } = yield* movable
      const shown = yield* done(`player jurisdiction ${seat.id} --to none --reason "moved house"`)
      const from = new Date(Date.parse(noon) + 86_400_000).toISOString()
      assert.deepInclude(shown.jurisdiction, { code: "none", moved_from: code })
      assert.isAtLeast(Date.parse(shown.jurisdiction.looser_from), Date.parse(from))
      assert.strictEqual(dataOf(yield* casino.get(`/players/${seat.id}`)).jurisdiction, "none")
      // the cap on stakes is of the jurisdiction that the player left
      assert.deepInclude((yield* seat.bet(51)).details, { limit: "stake_cap" })
      const again = yield* done(`player jurisdiction ${seat.id} --to none --reason again`)
      assert.deepStrictEqual(again, shown)
    },
    changes: () =>
      Effect.map(movable, ({ seat }) => ({
        line: `player jurisdiction ${seat.id} --to none --reason asked`,
        differs: ["jurisdiction", "looser_from"]
      }))
  },
  {
    line: "obligation list --player $player",
    misused: ["obligation list", "obligation list --player ada", "obligation list --player $player --state shut"],
    refused: [
      [`obligation list --player ${nobody}`, "NOT_FOUND"],
      ["obligation list --player $player --cursor !", "VALIDATION_FAILED"]
    ],
    *works() {
      const { casino, obligations, player } = yield* owing({ prompt: true, required: [["max_balance"]] })
      const shown = obligations.map((one: object) => ({ player_id: player, operator_id: casino.id, ...one }))
      const list = (flags: string) => done(`obligation list --player ${player} ${flags}`)
      assert.deepStrictEqual(yield* list(""), shown)
      assert.deepStrictEqual(yield* list("--state open"), shown)
      assert.deepStrictEqual(yield* list("--state waived"), [])
      const [newest, older] = shown
      assert.deepStrictEqual(
        [yield* list("--per-page 1"), yield* list(`--cursor ${newest.id.toString(36)}`)],
        [[newest], [older]]
      )
    }
  },
  {
    line: "obligation waive $obligation --reason asked",
    misused: ["obligation waive all --reason asked"],
    refused: [
      [`obligation waive ${nobody} --reason asked`, "NOT_FOUND"],
      ["obligation waive $obligation --reason \"\"", "VALIDATION_FAILED"]
    ],
    *works() {
      const { casino, obligations, player } = yield* owing({ prompt: true, required: [["max_balance"]] })
      const idOf = (kind: string) =>
        obligations.find((one: { readonly kind: string }) => one.kind === kind)?.id ?? assert.fail(kind)
      assert.strictEqual((yield* casino.deposit(player, 100)).code, "PLAYER_RESTRICTED")
      const waived = yield* done(`obligation waive ${idOf("limit_prompt")} --reason "asked on the phone"`)
      assert.deepInclude(waived, { player_id: player, kind: "limit_prompt", state: "waived", met_at: null })
      dataOf(yield* casino.deposit(player, 100), 201)
      assert.deepStrictEqual(yield* done(`obligation waive ${waived.id} --reason again`), waived)
      const { code } = yield* refusal(`obligation waive ${idOf("required_limits")} --reason asked`)
      assert.strictEqual(code, "RESPONSIBLE_GAMING_RULE")
      yield* casino.limit(player, { max_balance: 9000 })
      assert.strictEqual(
        (yield* refusal(`obligation waive ${idOf("required_limits")} --reason late`)).code,
        "RESPONSIBLE_GAMING_RULE"
      )
    },
    changes: () => Effect.map(waivable, (id) => ({ line: `obligation waive ${id} --reason asked`, differs: ["state"] }))
  }
]
