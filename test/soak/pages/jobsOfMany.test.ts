import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedInFully, violationsOn } from "../../kit/Browser.ts"
import { Calendar } from "../../kit/Calendar.ts"
import { dataOf, fresh, made, openCasino, staff } from "../../kit/Casino.ts"
import { heldWithdrawal, raisedAlert } from "../../kit/commands/Scene.ts"
import { makeSink } from "../../kit/WebhookSink.ts"

// Goal: an action on many rows says before it is confirmed which it leaves out and why, and afterwards what became of each. Method: Chromium; all rows
// of each list that has such actions are marked, the sentences of its dialogs are counted, and the service is asked what has happened.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
  Layer.provideMerge(Calendar.layer),
  Layer.provideMerge(Browser.layerBuilt)
)

/** Marks every row that a list shows. */
const markAll = async (page: Page, rows: string, count: number) => {
  await page.getByRole("checkbox", { name: /^Select (?!all)/u }).nth(count - 1).waitFor()
  await page.getByRole("checkbox", { name: `Select all ${rows} shown` }).check()
  await page.getByText(new RegExp(`^${count} selected`, "u")).waitFor()
}

/** Opens an action on what is marked. */
const openMany = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByRole("button", { name, exact: true }).waitFor()
  const left = await dialog.getByRole("region", { name: "Left out" }).locator("li").allTextContents()
  return {
    /** What it leaves out, and why. */
    left,
    /** Confirms; gives what it came to, and the sentence of each item. */
    confirm: async (fields: Readonly<Record<string, string>> = {}) => {
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
      await dialog.getByRole("button", { name, exact: true }).click()
      const outcomes = dialog.getByLabel("Outcomes")
      await outcomes.waitFor()
      const [said] = await dialog.getByRole("status").locator("p").allTextContents()
      const items = await outcomes.locator("li").allTextContents()
      await dialog.getByRole("button", { name: "Close" }).last().click()
      await dialog.waitFor({ state: "hidden" })
      return { said, items: items.toSorted() }
    }
  }
}

layer(layerPages, { excludeTestServices: true, timeout: "4 minutes" })("bulk actions on lists", (it) => {
  it.effect("pay approved withdrawals, skip others, and report those that somebody else has moved meanwhile", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const held = yield* Effect.forEach([100, 200, 300, 400], (amount) => heldWithdrawal(casino, amount))
      const [first, second, third, fresh] = held.map(({ payment }) => payment)
      for (const id of [first, second, third]) yield* staff("POST", `/payments/${id}/approve`, {})
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "payments" })).cookie })
      const opened = yield* Effect.promise(async () => {
        await page.goto(`/payments?status=waiting&operator=${casino.slug}`)
        await markAll(page, "payments", 4)
        return await openMany(page, "Pay 3 (€6.00)")
      })
      assert.deepStrictEqual(opened.left, [`1 not at this step: payment ${fresh}`])
      assertNone(yield* violationsOn(page))
      yield* staff("POST", `/payments/${second}/reject`, { reason: "Asked for twice" })
      const paid = yield* Effect.promise(() => opened.confirm({ Reason: "batch 7" }))
      assert.deepStrictEqual(paid, {
        said: "2 paid out, 1 not.",
        items: [
          `payment ${first}: paid out`,
          `payment ${second}: not paid out. A withdrawal that is rejected cannot be paid out.`,
          `payment ${third}: paid out`
        ].toSorted()
      })
      const statuses = yield* Effect.forEach(held, ({ payment }) => staff("GET", `/payments/${payment}`))
      assert.deepStrictEqual(statuses.map(({ status }) => status), ["paid", "rejected", "paid", "new"])
    }).pipe(Effect.scoped))

  it.effect("reject waiting withdrawals with one reason, and return the money to the players", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const [one, other] = [yield* heldWithdrawal(casino, 100), yield* heldWithdrawal(casino, 250)]
      yield* staff("POST", `/payments/${other.payment}/approve`, {})
      const deposits = yield* staff("GET", `/payments?type=deposit&operator=${casino.slug}`)
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "payments" })).cookie })
      const opened = yield* Effect.promise(async () => {
        await page.goto(`/payments?operator=${casino.slug}`)
        const boxes = page.getByRole("checkbox", { name: /^Select payment/u })
        await boxes.nth(3).click()
        await boxes.nth(0).click({ modifiers: ["Shift"] })
        await page.getByText(/^4 selected/u).waitFor()
        // and back: what is between goes the way of the last
        await boxes.nth(1).click()
        await boxes.nth(2).click({ modifiers: ["Shift"] })
        await page.getByText(/^2 selected/u).waitFor()
        await markAll(page, "payments", 4)
        return await openMany(page, "Reject 2 (€3.50)")
      })
      assert.deepStrictEqual(opened.left, [
        `2 not at this step: ${deposits.map(({ id }: { readonly id: number }) => `payment ${id}`).join(", ")}`
      ])
      const rejected = yield* Effect.promise(() => opened.confirm({ Reason: "Another account's card" }))
      assert.deepStrictEqual(rejected, {
        said: "2 rejected.",
        items: [one, other].map(({ payment }) => `payment ${payment}: rejected`).toSorted()
      })
      for (const { payment, player } of [one, other]) {
        assert.deepStrictEqual(yield* casino.balances(player), [1000, 0])
        const { reject_reason: reason } = yield* staff("GET", `/payments/${payment}`)
        assert.strictEqual(reason, "Another account's card")
      }
    }).pipe(Effect.scoped))

  it.effect("assign unassigned alerts to oneself, and close them with one reason", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const officer = yield* signedInFully({ role: "compliance" })
      const raised = yield* Effect.forEach([1, 2, 3, 4], () => raisedAlert(casino))
      const [own, closed, ...open] = raised.map(({ alert }) => alert)
      yield* staff("POST", `/alerts/${own}/assign`, { staff: String(officer.id) })
      yield* staff("PATCH", `/alerts/${closed}`, { status: "closed", note: "Known" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      const namesOf = (ids: ReadonlyArray<number | undefined>, end: string) =>
        ids.map((id) => `alert ${id}: ${end}`).toSorted()
      const claiming = yield* Effect.promise(async () => {
        await page.goto(`/alerts?operator=${casino.slug}`)
        await markAll(page, "alerts", 4)
        return await openMany(page, "Claim 2")
      })
      assert.deepStrictEqual(claiming.left.toSorted(), [
        `1 closed already: alert ${closed}`,
        `1 yours already: alert ${own}`
      ])
      assert.deepStrictEqual(yield* Effect.promise(() => claiming.confirm()), {
        said: "2 yours.",
        items: namesOf(open, "yours")
      })
      for (const id of open) assert.strictEqual((yield* staff("GET", `/alerts/${id}`)).assigned_to, officer.id)
      const closing = yield* Effect.promise(async () => {
        await page.getByRole("checkbox", { name: "Select all alerts shown" }).check()
        return await openMany(page, "Close 3")
      })
      assert.deepStrictEqual(closing.left, [`1 closed already: alert ${closed}`])
      assert.deepStrictEqual(
        yield* Effect.promise(() => closing.confirm({ Reason: "The provider confirms the jackpots" })),
        { said: "3 closed.", items: namesOf([own, ...open], "closed") }
      )
      for (const id of [own, ...open]) assert.strictEqual((yield* staff("GET", `/alerts/${id}`)).status, "closed")
    }).pipe(Effect.scoped))

  it.effect("retry deliveries that failed or wait for their next attempt, and no others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { flush } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink()
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      yield* casino.register()
      yield* flush
      sink.answer = () => 503
      yield* casino.register()
      yield* casino.register()
      yield* flush
      const listed = yield* staff("GET", `/deliveries?webhook=${webhook.id}`)
      const [newest, middle, oldest]: ReadonlyArray<number> = listed.map(({ id }: { readonly id: number }) => id)
      yield* sql`UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE id = ${middle}`
      sink.answer = () => 200
      const before = sink.received.length
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "support" })).cookie })
      const opened = yield* Effect.promise(async () => {
        await page.goto(`/webhooks?webhook=${webhook.id}`)
        await markAll(page, "deliveries", 3)
        return await openMany(page, "Retry 2")
      })
      assert.deepStrictEqual(opened.left, [`1 delivered: delivery ${oldest}`])
      assert.deepStrictEqual(yield* Effect.promise(() => opened.confirm()), {
        said: "2 due again.",
        items: [newest, middle].map((id) => `delivery ${id}: due again`).toSorted()
      })
      yield* flush
      yield* sink.arrived(before + 2)
    }).pipe(Effect.scoped))

  it.effect("disable and enable promo codes, except those already in that state", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: bonus } = yield* casino.newBonus()
      const codes = [fresh("GIFT"), fresh("GIFT"), fresh("GIFT")]
      const promos = yield* Effect.forEach(
        codes,
        (code) => made("/promo-codes", { operator: casino.slug, code, bonus })
      )
      yield* staff("PATCH", `/promo-codes/${promos[0].id}`, { active: false })
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully()).cookie })
      const off = yield* Effect.promise(async () => {
        await page.goto(`/promo-codes?operator=${casino.slug}`)
        await markAll(page, "promo codes", 3)
        return await openMany(page, "Switch off 2")
      })
      assert.deepStrictEqual(off.left, [`1 off already: ${codes[0]}`])
      assert.deepStrictEqual(yield* Effect.promise(() => off.confirm()), {
        said: "2 off.",
        items: codes.slice(1).map((code) => `${code}: off`).toSorted()
      })
      const { id: player } = yield* casino.register()
      const redeem = casino.post(`/players/${player}/promo-codes`, { code: codes[1] })
      assert.strictEqual((yield* redeem).code, "PROMO_CODE_INVALID")
      const on = yield* Effect.promise(async () => {
        await page.getByRole("checkbox", { name: "Select all promo codes shown" }).check()
        return await openMany(page, "Switch on 3")
      })
      assert.deepStrictEqual(on.left, [])
      assert.strictEqual((yield* Effect.promise(() => on.confirm())).said, "3 on.")
      dataOf(yield* redeem, 201)
    }).pipe(Effect.scoped))
})
