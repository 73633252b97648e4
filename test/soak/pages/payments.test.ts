import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { Browser, later, signedIn, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { House, layerCasinos, openCasino, staff } from "../../kit/Casino.ts"
import { heldWithdrawal } from "../../kit/commands/Scene.ts"
import { act, done, looksRight } from "../../kit/PageSteps.ts"
import { codeOf } from "../../kit/StaffBrowser.ts"

// Goal: a withdrawal that takes two people is approved by two, each with a second factor, and who may not is told why before and after trying. Method:
// two windows of Chromium with an account each.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the page of payments", (it) => {
  it.effect("takes two people to approve a withdrawal, and asks the first one for the second factor", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      // accounts that are newer than a request do not approve it
      const ann = yield* signedInFully({ role: "payments" })
      const ben = yield* signedInFully({ role: "payments" })
      const cleo = yield* signedInFully({ role: "payments" })
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { payment } = yield* heldWithdrawal(casino, 700)
      // the codes of the second factor are shown again
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
        // what was asked for goes on by itself
        await dialog.waitFor({ state: "hidden" })
        await rowOn(first).getByText("a second person's approval").waitFor()
        await rowOn(first).getByText(/^Not by you: /).waitFor()
        // and is refused when it is tried all the same
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
        // who approved does not pay
        await third.goto(address)
        await done(third, "Pay", {}, rowOn(third))
        await rowOn(third).getByText("paid", { exact: true }).waitFor()
        await rowOn(third).getByRole("button", { name: `Details of payment ${payment}` }).click()
        const details = third.getByRole("dialog", { name: `Payment ${payment}` })
        await details.getByText(`staff:${ann.id}`).waitFor()
        await details.getByText(`staff:${ben.id}`).waitFor()
      })
      assert.deepStrictEqual(yield* violationsOn(third), [])
      assert.strictEqual((yield* staff("GET", `/payments/${payment}`)).status, "paid")
      assert.deepStrictEqual(browser.problems(), [])
    }).pipe(Effect.scoped))

  it.effect("rejects a withdrawal by keyboard alone: the player has the money back; support may only look", () =>
    Effect.gen(function*() {
      const casino = yield* House
      const { payment, player } = yield* heldWithdrawal(casino, 400)
      const browser = yield* Browser
      const support = yield* browser.open({ cookie: (yield* signedIn({ role: "support" })).cookie })
      yield* Effect.promise(async () => {
        await support.goto(`/payments?id=${payment}`)
        await support.getByRole("link", { name: String(payment), exact: true }).waitFor()
        for (const name of ["Approve", "Pay", "Reject", "Cancel"]) {
          assert.strictEqual(await support.getByRole("button", { name, exact: true }).count(), 0, name)
        }
      })
      const page = yield* browser.open({ cookie: (yield* signedIn({ role: "payments" })).cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?id=${payment}`)
        await page.getByRole("link", { name: String(payment), exact: true }).waitFor()
      })
      yield* tabTo(page, "Reject")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "Reject" })
        await dialog.waitFor()
        await page.keyboard.type("Another account's card")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await dialog.waitFor({ state: "hidden" })
        await page.getByRole("table", { name: "Payments" }).getByText("rejected", { exact: true }).waitFor()
      })
      assert.deepStrictEqual(yield* casino.balances(player), [1000, 0])
      assert.deepInclude(yield* staff("GET", `/payments/${payment}`), { reject_reason: "Another account's card" })
    }).pipe(Effect.scoped))

  it.effect("looks right in light and dark", () =>
    Effect.gen(function*() {
      const { payment } = yield* heldWithdrawal(yield* House, 823)
      const { cookie } = yield* signedIn()
      const shown = String(payment)
      yield* looksRight(cookie, "/payments", (page) => page.getByRole("link", { name: shown }).waitFor(), "payments")
      for (const tab of ["corrections", "methods"]) {
        yield* looksRight(
          cookie,
          `/payments?tab=${tab}`,
          (page) => page.getByRole("table").waitFor(),
          `payments-${tab}`
        )
      }
    }).pipe(Effect.scoped))
})
