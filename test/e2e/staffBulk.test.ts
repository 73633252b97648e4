import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { type Fields, fresh, made, openCasino, staffCall } from "../kit/Casino.ts"
import { done, heldWithdrawal, nobody, raisedAlert } from "../kit/commands/Scene.ts"

// Goal: a bulk action does exactly what its items would do alone, once. Method: withdrawals of several players, on several nodes where the run has
// them, approved in one request under an idempotency key, repeated, and by an account that may not access all of them.

const approveAll = (token: string, payments: ReadonlyArray<number>, key?: string) =>
  staffCall("POST", "/backoffice/v1/payments/approve", { payments }, {
    authorization: `Bearer ${token}`,
    ...(key === undefined ? {} : { "idempotency-key": key })
  })

const codesOf = (data: Fields): ReadonlyArray<unknown> =>
  Array.isArray(data["items"]) ? data["items"].map((item) => item.code) : []

layer(layerCasinos, { excludeTestServices: true })("staff bulk actions", (it) => {
  it.effect("are executed once under an idempotency key, and every retry gets the first answer", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { token } = yield* made("/staff", { name: "One", role: "payments" })
      const held = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => heldWithdrawal(casino))
      const ids = held.map(({ payment }) => payment)
      const key = fresh("bulk-")
      const first = yield* approveAll(token, ids, key)
      assert.deepStrictEqual([first.status, first.data.done], [200, 6])
      const again = yield* approveAll(token, ids, key)
      assert.deepStrictEqual(again.data, first.data)
      // without the key each is judged again, and refused: it was approved
      assert.deepStrictEqual(codesOf((yield* approveAll(token, ids)).data), ids.map(() => "PAYMENT_REQUEST_INVALID"))
      const other = yield* approveAll(token, ids.slice(1), key)
      assert.deepStrictEqual([other.status, other.code], [422, "IDEMPOTENCY_KEY_REUSED"])
      // a key is its account's
      const { token: second } = yield* made("/staff", { name: "Two", role: "payments" })
      assert.strictEqual((yield* approveAll(second, ids, key)).data.refused, 6)
    }))

  it.effect("count each item before they decide the next: two withdrawals of a player that together exceed the threshold need a second person", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 150 })
      const { token } = yield* made("/staff", { name: "One", role: "payments" })
      const { player, payment } = yield* heldWithdrawal(casino, 100)
      const { data: second } = yield* casino.withdraw(player, 100)
      assert.strictEqual((yield* approveAll(token, [payment, second.id])).data.done, 2)
      const statusOf = (id: number) => Effect.map(casino.get(`/payments/${id}`), ({ data }) => data.status)
      assert.deepStrictEqual([yield* statusOf(payment), yield* statusOf(second.id)], ["new", "new"])
    }))

  it.effect("answer NOT_FOUND for items of operators the account is not bound to, and execute the others", () =>
    Effect.gen(function*() {
      const [own, rival] = [yield* openCasino(), yield* openCasino()]
      const { token } = yield* made("/staff", { name: "Bound", role: "payments", operators: [own.slug] })
      const [ours, theirs] = [yield* heldWithdrawal(own), yield* heldWithdrawal(rival)]
      const { data } = yield* approveAll(token, [theirs.payment, ours.payment])
      assert.deepStrictEqual(codesOf(data), ["NOT_FOUND", null])
      assert.strictEqual((yield* rival.get(`/payments/${theirs.payment}`)).data.status, "new")
    }))

  it.effect("without items, with too many or with an invalid id are refused as a whole", () =>
    Effect.gen(function*() {
      const { token } = yield* made("/staff", { name: "One", role: "payments" })
      for (const payments of [[], Array.from({ length: 201 }, (_, index) => index + 1), [0], ["x"]]) {
        const { code, details } = yield* staffCall("POST", "/backoffice/v1/payments/approve", { payments }, {
          authorization: `Bearer ${token}`
        })
        assert.strictEqual(code, "VALIDATION_FAILED")
        assert.match(Object.keys(details).join(" "), /^payments(\.0)?$/)
      }
    }))

  it.effect("on the command line, pay and reject payments, each with its line in the audit log", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const [first, second, third] = [
        yield* heldWithdrawal(casino),
        yield* heldWithdrawal(casino),
        yield* heldWithdrawal(casino)
      ]
      const approved = yield* done(`payment approve-many --payments ${first.payment},${nobody},${first.payment}`)
      assert.deepStrictEqual(codesOf(approved), [null, "NOT_FOUND"])
      const paid = yield* done(`payment pay-many --payments ${first.payment},${second.payment} --reason "batch 7"`)
      assert.deepStrictEqual(codesOf(paid), [null, "PAYMENT_REQUEST_INVALID"])
      yield* done(`payment reject-many --payments ${third.payment} --reason "name differs"`)
      assert.deepStrictEqual(yield* casino.balances(third.player), [1000, 0])
      const lines = yield* done(`audit list --player ${first.player}`)
      assert.deepStrictEqual(lines.map((line: Fields) => [line["action"], line["reason"]]), [
        ["payment.pay", "batch 7"],
        ["payment.approve", null]
      ])
    }))

  it.effect("on the command line, assign and close alerts, and disable promo codes", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: account } = yield* made("/staff", { name: "Ann", role: "compliance" })
      const [{ alert: open }, { alert: closed }] = [yield* raisedAlert(casino), yield* raisedAlert(casino)]
      yield* done(`alert update-many --alerts ${closed} --status closed --note known`)
      const given = yield* done(`alert assign-many --alerts ${open},${closed} --staff ${account}`)
      assert.deepStrictEqual(codesOf(given), [null, "VALIDATION_FAILED"])
      const shown = (id: number) => done(`alert show ${id}`)
      assert.strictEqual((yield* shown(open)).assigned_to, account)
      assert.strictEqual((yield* shown(closed)).status, "closed")
      const { id: bonus } = yield* casino.newBonus()
      const promo = yield* made("/promo-codes", { operator: casino.slug, code: fresh("GIFT"), bonus })
      yield* done(`promo update-many --promos ${promo.id} --active false`)
      const { id } = yield* casino.register()
      const redeemed = yield* casino.post(`/players/${id}/promo-codes`, { code: promo.code })
      assert.strictEqual(redeemed.code, "PROMO_CODE_INVALID")
    }))

  it.effect("on the command line, retry webhook deliveries", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const webhook = yield* made("/webhooks", {
        operator: casino.slug,
        url: "https://hooks.example/in",
        active: false
      })
      const { id } = yield* done(`webhook ping ${webhook.id}`)
      const retried = yield* done(`delivery retry-many --deliveries ${id},${nobody}`)
      assert.deepStrictEqual(codesOf(retried), [null, "NOT_FOUND"])
    }))
})
