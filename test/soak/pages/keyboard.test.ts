import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { assertNone, Browser, signedInFully, tabTo, timersDone } from "../../kit/Browser.ts"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { dataOf, openCasino } from "../../kit/Casino.ts"

// Goal: a person without a mouse never loses the place: what is pressed may disappear, the focus does not. Method: keys alone; after each the element that
// has the focus. That all is reached by Tab is in `every.test.ts`, that dialogs give the focus back in `sizes.test.ts`.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

/** Waits until the element of a selector has the focus. */
const hasFocus = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor()

const enter = async (page: Page): Promise<void> => {
  await page.keyboard.press("Enter")
  await timersDone(page)
}

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the pages by keyboard alone", (it) => {
  it.effect("removing a filter moves the focus to the remaining ones", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(5000)
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?player=${seat.id}&currency=EUR&status=paid`)
        await page.getByRole("table", { name: "Payments" }).getByText("deposit").waitFor()
      })
      yield* tabTo(page, /^Remove filter Currency/)
      yield* Effect.promise(async () => {
        await enter(page)
        await page.getByRole("button", { name: "Add filter" }).and(page.locator(":focus")).waitFor()
      })
      yield* tabTo(page, "Clear")
      yield* Effect.promise(async () => {
        await enter(page)
        await hasFocus(page, "[role=search] input")
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  it.effect("after leaving a bulk dialog and clearing the selection, the focus is on the list's bar", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(9000)
      for (const amount of [1000, 2000]) dataOf(yield* casino.withdraw(seat.id, amount), 201)
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?player=${seat.id}&status=waiting`)
        await page.getByText("2 payments", { exact: true }).waitFor()
      })
      yield* tabTo(page, "Select all payments shown")
      yield* Effect.promise(() => page.keyboard.press("Space"))
      const approve = page.getByRole("button", { name: /^Approve 2/ })
      yield* Effect.promise(async () => {
        await approve.focus()
        await enter(page)
        await page.getByRole("dialog").locator(":focus").waitFor()
        await page.keyboard.press("Escape")
        await approve.and(page.locator(":focus")).waitFor()
      })
      yield* tabTo(page, "Select none")
      yield* Effect.promise(async () => {
        await enter(page)
        await hasFocus(page, ".bulk-bar")
      })
    }).pipe(Effect.scoped))

  it.effect("the button that loads the last rows moves the focus to the first of them", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      for (let count = 0; count < 103; count++) dataOf(yield* casino.deposit(id, 100 + count), 201)
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?player=${id}`)
        const more = page.getByRole("button", { name: "Show more" })
        await more.focus()
        for (let part = 0; part < 3 && await more.isVisible(); part++) await enter(page)
        await more.waitFor({ state: "hidden" })
        await hasFocus(page, "tbody tr")
      })
    }).pipe(Effect.scoped))

  it.effect("the question before input is discarded returns the focus to the field", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/operators")
        await page.getByRole("button", { name: "Add operator" }).focus()
        await enter(page)
        const slug = page.getByRole("dialog").getByLabel("Slug")
        await slug.focus()
        await page.keyboard.type("lucky")
        await page.keyboard.press("Escape")
        await page.getByRole("button", { name: "Keep editing" }).and(page.locator(":focus")).waitFor()
        await enter(page)
        await slug.and(page.locator(":focus")).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("paging through details to the last row keeps the focus on the button, and Escape returns it to the row", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(9000)
      for (const amount of [1000, 2000]) dataOf(yield* casino.withdraw(seat.id, amount), 201)
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?player=${seat.id}&status=waiting`)
        await page.getByText("2 payments", { exact: true }).waitFor()
        await page.locator("tbody a").first().focus()
        await enter(page)
        const next = page.getByRole("button", { name: /^Next/ })
        await next.focus()
        await enter(page)
        await next.and(page.locator("[aria-disabled=true]:focus")).waitFor()
        await enter(page)
        await page.keyboard.press("Escape")
        await hasFocus(page, "tbody a")
      })
    }).pipe(Effect.scoped))
})
