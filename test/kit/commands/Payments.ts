/** Cases of `payment`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { pass } from "../Calendar.ts"
import { dataOf, openCasino } from "../Casino.ts"
import { type CommandCase, done, heldWithdrawal, nobody, refusal, type SceneShape } from "./Scene.ts"

/** A move that every withdrawal refuses that is not there, and the deposit refuses. */
const refusedMove = (name: string): CommandCase["refused"] => [
  [`payment ${name} ${nobody}`, "NOT_FOUND"],
  [`payment ${name} $${name === "chargeback" ? "withdrawal" : "deposit"}`, "PAYMENT_REQUEST_INVALID"],
  [`payment ${name} $${name === "chargeback" ? "deposit" : "withdrawal"} --reason $long$long`, "VALIDATION_FAILED"]
]

const misusedMove = (name: string) => [`payment ${name} first`, `payment ${name} $withdrawal --amount 5`]

const allowedWithdrawal = Effect.fnUntraced(function*({ house }: SceneShape) {
  const held = yield* heldWithdrawal(house)
  yield* done(`payment approve ${held.payment}`)
  return held
})

const newDeposit = Effect.fnUntraced(function*({ house }: SceneShape, amount = 300) {
  const { id: player } = yield* house.register()
  const { id: payment } = dataOf(yield* house.deposit(player, amount), 201)
  return { player: Number(player), payment: Number(payment) }
})

export const paymentCases: ReadonlyArray<CommandCase> = [
  {
    line: "payment show $withdrawal",
    misused: ["payment show first"],
    refused: [[`payment show ${nobody}`, "NOT_FOUND"]],
    *works({ house }) {
      const { payment, player } = yield* heldWithdrawal(house)
      const { data } = yield* house.get(`/payments/${payment}`)
      const person = yield* done(`player show ${player}`)
      assert.deepStrictEqual(yield* done(`payment show ${payment}`), {
        operator_id: house.id,
        ...data,
        bank_name: null,
        notes: null,
        first_approved_by: null,
        second_approved_by: null,
        waiting_for: ["approval"],
        held_by_alerts: [],
        objection: null,
        player_name: `${person.first_name} ${person.last_name}`,
        kyc_status: person.kyc_status,
        balance: 900,
        player_since: person.created_at,
        is_first_withdrawal: true,
        open_alerts: 0
      })
      yield* done(`payment approve ${payment}`)
      yield* done(`payment pay ${payment}`)
      yield* pass(1)
      const later = dataOf(yield* house.withdraw(player, 100), 201)
      assert.deepInclude(yield* done(`payment show ${later.id}`), { balance: 800, is_first_withdrawal: false })
    }
  },
  {
    line: "payment list",
    misused: [
      "payment list --page 2",
      "payment list --type gift",
      "payment list --status lost",
      "payment list --player ada"
    ],
    refused: [
      ["payment list --operator nobody", "NOT_FOUND"],
      ["payment list --per-page 101", "VALIDATION_FAILED"],
      ["payment list --cursor 1-2-3", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const { payment, player } = yield* heldWithdrawal(casino)
      const deposit = dataOf(yield* casino.deposit(player, 5, { external_reference: "mine" }), 201)
      const ids = (flags: string) =>
        Effect.map(
          done(`payment list --operator ${casino.slug} ${flags}`),
          (payments: ReadonlyArray<{ readonly id: number }>) => payments.map(({ id }) => id)
        )
      assert.strictEqual((yield* ids("")).length, 3)
      assert.deepStrictEqual(
        [
          yield* ids("--type withdrawal"),
          yield* ids("--status new"),
          yield* ids("--status waiting"),
          yield* ids("--external-reference mine"),
          yield* ids(`--player ${nobody}`),
          yield* ids(`--id ${payment}`),
          yield* ids("--method bank"),
          (yield* ids("--sort amount --currency EUR")).at(-1),
          (yield* ids("--sort oldest")).at(-1),
          yield* ids("--min-amount 6 --currency EUR --type withdrawal")
        ],
        [[payment], [payment], [payment], [deposit.id], [], [payment], [payment], deposit.id, deposit.id, [payment]]
      )
      assert.strictEqual((yield* ids(`--player ${player} --per-page 2`)).length, 2)
    }
  },
  {
    line: "payment approve $withdrawal",
    misused: misusedMove("approve"),
    refused: refusedMove("approve"),
    *works({ tokens }) {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 99 })
      const { payment } = yield* heldWithdrawal(casino, 100)
      const first = yield* done(`payment approve ${payment}`, undefined, tokens["payments"])
      assert.deepInclude(first, { id: payment, status: "new" })
      assert.match(first.first_approved_by, /^staff:\d+$/)
      const again = yield* refusal(`payment approve ${payment}`, undefined, { token: tokens["payments"] })
      assert.strictEqual(again.code, "PAYMENT_REQUEST_INVALID")
      const second = yield* done(`payment approve ${payment} --reason "seen twice"`, undefined, tokens["admin"])
      assert.strictEqual(second.status, "allowed")
      assert.strictEqual((yield* casino.get(`/payments/${payment}`)).data.status, "allowed")
    },
    changes: ({ house }) =>
      Effect.map(heldWithdrawal(house), ({ payment }) => ({
        line: `payment approve ${payment}`,
        differs: ["status", "first_approved_by"]
      }))
  },
  {
    line: "payment pay $withdrawal",
    misused: misusedMove("pay"),
    refused: [...refusedMove("pay"), ["payment pay $withdrawal", "PAYMENT_REQUEST_INVALID"]],
    *works(scene) {
      const { payment, player } = yield* allowedWithdrawal(scene)
      const paid = yield* done(`payment pay ${payment} --reason "batch 7"`)
      assert.deepInclude(paid, { id: payment, status: "paid" })
      assert.isString(paid.paid_at)
      assert.deepStrictEqual(yield* scene.house.balances(player), [900, 0])
    },
    changes: (scene) =>
      Effect.map(allowedWithdrawal(scene), ({ payment }) => ({ line: `payment pay ${payment}`, differs: ["status"] }))
  },
  {
    line: "payment reject $withdrawal",
    misused: misusedMove("reject"),
    refused: refusedMove("reject"),
    *works({ house }) {
      const { payment, player } = yield* heldWithdrawal(house)
      const rejected = yield* done(`payment reject ${payment} --reason "name differs"`)
      assert.deepInclude(rejected, { id: payment, status: "rejected", reject_reason: "name differs" })
      assert.deepStrictEqual(yield* house.balances(player), [1000, 0])
    },
    changes: ({ house }) =>
      Effect.map(heldWithdrawal(house), ({ payment }) => ({
        line: `payment reject ${payment} --reason no`,
        differs: ["status", "reject_reason"]
      }))
  },
  {
    line: "payment cancel $withdrawal",
    misused: misusedMove("cancel"),
    refused: refusedMove("cancel"),
    *works(scene) {
      const { payment, player } = yield* heldWithdrawal(scene.house)
      const cancelled = yield* done(`payment cancel ${payment}`)
      assert.deepInclude(cancelled, { id: payment, status: "cancelled", reject_reason: null })
      assert.deepStrictEqual(yield* scene.house.balances(player), [1000, 0])
      const { payment: allowed } = yield* allowedWithdrawal(scene)
      assert.strictEqual((yield* refusal(`payment cancel ${allowed}`)).code, "PAYMENT_REQUEST_INVALID")
    },
    changes: ({ house }) =>
      Effect.map(heldWithdrawal(house), ({ payment }) => ({ line: `payment cancel ${payment}`, differs: ["status"] }))
  },
  {
    line: "payment chargeback $deposit",
    misused: misusedMove("chargeback"),
    refused: refusedMove("chargeback"),
    *works(scene) {
      const { payment, player } = yield* newDeposit(scene)
      yield* done(`player correct ${player} --amount -200 --reason spent`)
      const charged = yield* done(`payment chargeback ${payment} --reason fraud`)
      assert.deepInclude(charged, { id: payment, status: "paid", is_reversed: true })
      assert.deepStrictEqual(yield* scene.house.balances(player), [-200, 0])
      assert.strictEqual((yield* refusal(`payment chargeback ${payment}`)).code, "PAYMENT_REQUEST_INVALID")
    },
    changes: (scene) =>
      Effect.map(
        newDeposit(scene),
        ({ payment }) => ({ line: `payment chargeback ${payment}`, differs: ["is_reversed"] })
      )
  }
]
