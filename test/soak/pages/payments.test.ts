import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { assertNone, Browser, later, signedIn, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { openCasino, staff } from "../../kit/Casino.ts"
import { heldWithdrawal } from "../../kit/commands/Scene.ts"
import { act, choose, done } from "../../kit/PageSteps.ts"
import { codeOf } from "../../kit/StaffBrowser.ts"

// Goal: a four-eyes withdrawal is approved by two people, each with a second factor; others see the reason before and after trying. Method:
// two windows of Chromium with an account each.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the payments page", (it) => {
  it.effect("needs two people to approve a withdrawal, and asks the first one for the second factor", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      // accounts newer than a request may not approve it
      const ann = yield* signedInFully({ role: "payments" })
      const ben = yield* signedInFully({ role: "payments" })
      const cleo = yield* signedInFully({ role: "payments" })
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { payment } = yield* heldWithdrawal(casino, 700)
      // codes of the second factor can be used again
      yield* later(ann.id)
      const code = codeOf(ann.secret, yield* Clock.currentTimeMillis)
      const address = `/payments?type=withdrawal&operator=${casino.slug}`
      const first = yield* browser.open({ cookie: ann.cookie })
      const second = yield* browser.open({ cookie: ben.cookie })
      const third = yield* browser.open({ cookie: cleo.cookie })
      const rowOn = (page: typeof first) =>
        page.getByRole("table", { name: "Payments" }).getByRole("row").filter({
          has: page.getByRole("link", { name: String(payment), exact: true })
        })
      yield* Effect.promise(async () => {
        await first.goto(address)
        await rowOn(first).getByText("€7.00").waitFor()
        const dialog = await act(first, "Approve", { Reason: "Known player" }, rowOn(first))
        const asked = first.getByRole("dialog").filter({ hasText: "Enter a code of your second factor" })
        await asked.getByLabel("Code").fill("000000")
        await asked.getByRole("button", { name: "Confirm" }).click()
        await asked.getByRole("alert").waitFor()
        await asked.getByLabel("Code").fill(code)
        await asked.getByRole("button", { name: "Confirm" }).click()
        await asked.waitFor({ state: "hidden" })
        // the requested action goes on by itself
        await dialog.waitFor({ state: "hidden" })
        await rowOn(first).getByText("a second person's approval").waitFor()
        await rowOn(first).getByText(/^Not by you: /).waitFor()
        // and is refused when tried anyway
        const again = await act(first, "Approve", {}, rowOn(first))
        await again.getByRole("alert").locator("code").waitFor()
        await again.getByRole("button", { name: "Cancel" }).click()
      })
      assert.strictEqual((yield* staff("GET", `/payments/${payment}`)).status, "new")
      yield* Effect.promise(async () => {
        await second.goto(address)
        await rowOn(second).getByText("a second person's approval").waitFor()
        await done(second, "Approve", {}, rowOn(second))
        await rowOn(second).getByText("to be paid out").waitFor()
        // an approver may not pay out
        await third.goto(address)
        await done(third, "Pay", {}, rowOn(third))
        await rowOn(third).getByText("paid", { exact: true }).waitFor()
        await rowOn(third).getByRole("link", { name: String(payment), exact: true }).click()
        const details = third.getByRole("complementary", { name: `Payment ${payment}` })
        await details.getByText(ann.name, { exact: true }).waitFor()
        await details.getByText(ben.name, { exact: true }).waitFor()
      })
      assertNone(yield* violationsOn(third))
      assert.strictEqual((yield* staff("GET", `/payments/${payment}`)).status, "paid")
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("rejects a withdrawal by keyboard alone and returns the money; the role support can only view it", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { payment, player } = yield* heldWithdrawal(casino, 400)
      const browser = yield* Browser
      const support = yield* browser.open({ cookie: (yield* signedIn({ role: "support" })).cookie })
      yield* Effect.promise(async () => {
        await support.goto(`/payments?id=${payment}`)
        await support.getByRole("link", { name: String(payment), exact: true }).click()
        await support.getByRole("complementary", { name: `Payment ${payment}` }).getByText("an approval").waitFor()
        for (const name of [/^Actions of/u, "Approve", "Reject"]) {
          assert.strictEqual(await support.getByRole("button", { name }).count(), 0, String(name))
        }
        assert.strictEqual(await support.getByRole("checkbox").count(), 0)
      })
      const page = yield* browser.open({ cookie: (yield* signedIn({ role: "payments" })).cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?id=${payment}`)
        await page.getByRole("link", { name: String(payment), exact: true }).waitFor()
      })
      yield* tabTo(page, `Actions of payment ${payment}`)
      const opener = page.getByRole("button", { name: `Actions of payment ${payment}` }).and(page.locator(":focus"))
      const item = (name: string) => page.getByRole("menuitem", { name, exact: true }).and(page.locator(":focus"))
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await item("Reject").waitFor()
        await page.keyboard.press("ArrowUp")
        await item("Cancel payment").waitFor()
      })
      assertNone(yield* violationsOn(page))
      yield* Effect.promise(async () => {
        await page.keyboard.press("Escape")
        await page.getByRole("menu").waitFor({ state: "hidden" })
        await opener.waitFor()
        await page.keyboard.press("Enter")
        await item("Reject").waitFor()
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "Reject" })
        await dialog.waitFor()
        await page.keyboard.type("Another account's card")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await dialog.waitFor({ state: "hidden" })
        await page.getByRole("table", { name: "Payments" }).getByText("rejected", { exact: true }).waitFor()
        // there is nothing left to do with it
        await page.locator("tr:focus").getByText("rejected", { exact: true }).waitFor()
      })
      assert.deepStrictEqual(yield* casino.balances(player), [1000, 0])
      assert.deepInclude(yield* staff("GET", `/payments/${payment}`), { reject_reason: "Another account's card" })
    }).pipe(Effect.scoped))

  it.effect("moves the focus from a withdrawal that leaves the list to the next one, then to the heading", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { payment: older } = yield* heldWithdrawal(casino, 400)
      const { payment: newer } = yield* heldWithdrawal(casino, 500)
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "payments" })).cookie })
      const focused = page.getByRole("table", { name: "Payments" }).locator("tr:focus")
      const reject = (payment: number) =>
        done(page, "Reject", { Reason: "Another account's card" }, {
          menuOf: page.getByRole("row").filter({ has: page.getByRole("link", { name: String(payment), exact: true }) })
        })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?status=new&operator=${casino.slug}`)
        await reject(newer)
        await focused.getByRole("link", { name: String(older), exact: true }).waitFor()
        await reject(older)
        await focused.getByText("Waits for", { exact: true }).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("cancels a withdrawal, and charges back a paid deposit after its number was typed", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { payment, player } = yield* heldWithdrawal(casino, 400)
      const [deposit] = yield* staff("GET", `/payments?player=${player}&type=deposit`)
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "payments" })).cookie })
      const only = page.getByRole("table", { name: "Payments" })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?id=${payment}`)
        await done(page, "Cancel payment", { Reason: "Asked for twice" }, { menuOf: only })
        await page.getByRole("table", { name: "Payments" }).getByText("cancelled", { exact: true }).waitFor()
      })
      assert.deepStrictEqual(yield* casino.balances(player), [1000, 0])
      yield* Effect.promise(async () => {
        await page.goto(`/payments?id=${deposit.id}`)
        await page.getByRole("link", { name: String(deposit.id), exact: true }).waitFor()
        const fields = { Reason: "Stolen card", [`Type ${deposit.id} to confirm`]: String(deposit.id) }
        await done(page, "Charge back", fields, { menuOf: only })
      })
      assert.deepInclude(yield* staff("GET", `/payments/${deposit.id}`), { is_reversed: true })
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
    }).pipe(Effect.scoped))

  it.effect("posts a correction that another person approves, and not one that is rejected", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id } = yield* casino.register()
      const ann = yield* signedInFully({ role: "payments" })
      const ben = yield* signedInFully({ role: "payments" })
      for (const amount of [900, 5000]) {
        const asked = yield* ann.call("POST", `/players/${id}/corrections`, { amount, reason: "The game did not pay" })
        assert.strictEqual(asked.status, 202, asked.text)
      }
      const browser = yield* Browser
      const [first, second] = [yield* browser.open({ cookie: ann.cookie }), yield* browser.open({ cookie: ben.cookie })]
      const rowOn = (page: typeof first, amount: string) =>
        page.getByRole("table", { name: "Corrections" }).getByRole("row").filter({ hasText: amount })
      const address = `/payments?tab=corrections&player=${id}`
      yield* Effect.promise(async () => {
        await first.goto(address)
        const own = await act(first, "Approve correction", {}, rowOn(first, "€9.00"))
        await own.getByRole("alert").locator("code").waitFor()
        await second.goto(address)
        await done(second, "Approve correction", {}, rowOn(second, "€9.00"))
        await rowOn(second, "€9.00").getByText("posted").waitFor()
        await done(second, "Reject correction", { Reason: "It did pay" }, { menuOf: rowOn(second, "€50.00") })
        await rowOn(second, "€50.00").getByText("rejected").waitFor()
      })
      assert.deepStrictEqual(yield* casino.balances(id), [900, 0])
    }).pipe(Effect.scoped))

  it.effect("adds a payment method with limits in the operator's currency, and disables it", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "SEK" })
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "payments" })).cookie })
      const method = Effect.map(
        staff("GET", `/payment-methods?operator=${casino.slug}`),
        (methods: ReadonlyArray<{ readonly code: string; readonly max_deposit: number; readonly active: boolean }>) =>
          methods.find(({ code }) => code === "swish")
      )
      const row = page.getByRole("table", { name: "Payment methods" }).getByRole("row").filter({ hasText: "swish" })
        .filter({ hasText: casino.slug })
      yield* Effect.promise(async () => {
        await page.goto("/payments?tab=methods")
        await page.getByRole("button", { name: "Add method" }).click()
        const dialog = page.getByRole("dialog", { name: "Add method" })
        await choose(page, "Operator", casino.slug, dialog)
        await dialog.getByLabel("Code").fill("swish")
        await dialog.getByLabel("Largest deposit (SEK)").fill("2500.50")
        await dialog.getByRole("button", { name: "Add method" }).click()
        await row.waitFor()
      })
      assert.deepInclude(yield* method, { code: "swish", max_deposit: 250_050, active: true })
      yield* Effect.promise(async () => {
        await row.getByRole("button", { name: "Change method" }).click()
        const dialog = page.getByRole("dialog", { name: "Change method" })
        await dialog.getByLabel("Offered").uncheck()
        await dialog.getByRole("button", { name: "Change method" }).click()
        await row.getByText("inactive").waitFor()
      })
      assert.deepInclude(yield* method, { max_deposit: 250_050, active: false })
    }).pipe(Effect.scoped))
})
