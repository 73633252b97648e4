import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Locator, Page } from "playwright-core"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { dataOf, fresh, made, staff } from "../../kit/Casino.ts"
import { assertNone, Browser, chooseOption, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { done } from "../../kit/PageSteps.ts"

// Goal: bonuses and promo codes are created, described, granted and cancelled in a browser, and the service stores them as the page shows.
// Method: clicks and keys in Chromium, answers from the staff API.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const open = async (page: Page, path: string, title: string) => {
  await page.goto(path)
  await page.getByRole("heading", { level: 1, name: title }).waitFor()
}

/** Input of a label; a field's list of options has the same label. */
const inputOf = (within: Locator, label: string): Locator =>
  within.locator("input, textarea").and(within.getByLabel(label))

const choose = async (within: Locator, label: string, option: string) => {
  await inputOf(within, label).click()
  await within.page().getByRole("option", { name: option }).click()
}

/** The staff API's row with a name or a code; undefined without one. */
const stored = Effect.fnUntraced(function*(path: string, name: string) {
  for (const row of yield* staff("GET", path)) if (row.name === name || row.code === name) return row
})

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the bonus and promo code pages", (it) => {
  it.effect("show the terms in words while they are entered, in the operator's currency, and save them", () =>
    Effect.gen(function*() {
      const { slots } = yield* SharedCasino
      const slug = fresh("kyoto-")
      yield* made("/operators", { slug, name: slug, currency: "JPY" })
      const name = fresh("Spring ")
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const dialog = page.getByRole("dialog", { name: "Add bonus" })
      yield* Effect.promise(async () => {
        await open(page, "/bonuses", "Bonuses")
        await page.getByRole("button", { name: "Add bonus" }).click()
        await choose(dialog, "Operator", slug)
        await inputOf(dialog, "Name").fill(name)
        await inputOf(dialog, "Amount (JPY)").fill("500")
        const words = dialog.getByRole("status", { name: "What it means" })
        await words.getByText("The player gets JP¥500 of bonus money, however much was deposited.").waitFor()
        await words.getByText("It has to be wagered 30 times: stakes of JP¥15,000 in all").waitFor()
        await inputOf(dialog, "Add a game").fill(slots.name.slice(2))
        await page.getByRole("option", { name: slots.name }).click()
        await words.getByText(`Bonus money cannot be staked on ${slots.name}`).waitFor()
        await choose(dialog, "Type", "cashback")
      })
      assertNone(yield* violationsOn(page))
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Add bonus" }).click()
        await page.getByRole("link", { name }).waitFor()
      })
      assert.deepInclude(yield* stored("/bonuses", name), {
        type: "cashback",
        default_amount: 500,
        wagering_multiplier: 30,
        contributions: { [slots.id]: 0 }
      })
    }).pipe(Effect.scoped))

  it.effect("show a bonus's grants and its remaining cost, until the grant is cancelled", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const bonus = yield* house.newBonus({ name: fresh("Ten ") })
      const { id: player } = yield* house.register()
      dataOf(yield* house.grant(player, bonus.id), 201)
      const browser = yield* Browser
      const { cookie } = yield* signedInFully()
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await open(page, `/bonuses/${bonus.id}`, bonus.name)
        await page.getByText("It has to be wagered 10 times: stakes of €50.00 in all").waitFor()
        await page.getByRole("table", { name: "Liability" }).getByText("€5.00").waitFor()
        await page.getByRole("table", { name: "Grants" }).getByRole("link", { name: String(player) }).waitFor()
      })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Cancel grant" }).click()
        const dialog = page.getByRole("dialog", { name: "Cancel grant" })
        await inputOf(dialog, "Reason").fill("Given by mistake")
        await dialog.getByRole("button", { name: "Cancel grant" }).click()
        // the button is gone: its row has the focus
        await page.getByRole("table", { name: "Grants" }).locator("tr:focus").getByText("cancelled").waitFor()
      })
      yield* Effect.promise(async () => {
        await page.reload()
        await page.getByText("No grant runs or waits").waitFor()
      })
      const [grant] = yield* staff("GET", `/bonuses/${bonus.id}/grants`)
      assert.deepInclude(grant, { player_id: player, state: "finished", result: "cancelled" })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("add a code by keyboard, with a required maximum for a cash bonus, disable it, and undo that", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const cash = yield* house.newBonus({ name: fresh("Cash "), type: "cash", wagering_multiplier: 0 })
      const code = fresh("CASH")
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const { keyboard } = page
      yield* Effect.promise(() => open(page, "/promo-codes", "Promo codes"))
      yield* tabTo(page, "Add promo code")
      yield* Effect.promise(() => keyboard.press("Enter"))
      const dialog = page.getByRole("dialog", { name: "Add promo code" })
      yield* Effect.promise(async () => {
        // a selection by typing and arrow keys; the first field has the focus
        await dialog.waitFor()
        if (await inputOf(dialog, "Operator").count() > 0) {
          await keyboard.press("Enter")
          await chooseOption(page, house.slug)
        }
      })
      yield* tabTo(page, /^Code/)
      yield* Effect.promise(() => keyboard.type(code))
      yield* tabTo(page, /^Bonus/)
      yield* Effect.promise(async () => {
        await keyboard.press("Enter")
        await chooseOption(page, cash.name)
        await dialog.getByText("Needed: this bonus is money at once.").waitFor()
      })
      yield* tabTo(page, "Add promo code")
      yield* Effect.promise(async () => {
        await keyboard.press("Enter")
        await dialog.getByText("Redemptions at most is needed").waitFor()
        await inputOf(dialog, "Redemptions at most").focus()
        await keyboard.type("7")
        await keyboard.press("Enter")
        await page.getByRole("row").filter({ hasText: code }).getByText("0 of 7").waitFor()
      })
      assert.deepInclude(yield* stored("/promo-codes", code), { bonus_id: cash.id, max_redemptions: 7, active: true })
      const row = page.getByRole("row").filter({ hasText: code })
      yield* Effect.promise(async () => {
        await row.getByRole("button", { name: "Switch code off" }).click()
        await page.getByRole("dialog").getByRole("button", { name: "Switch code off" }).click()
        await row.getByText("inactive").waitFor()
      })
      assert.deepInclude(yield* stored("/promo-codes", code), { active: false })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Undo" }).click()
        await row.getByRole("button", { name: "Switch code off" }).waitFor()
      })
      assert.deepInclude(yield* stored("/promo-codes", code), { active: true })
    }).pipe(Effect.scoped))

  it.effect("change the terms for later grants only, and disable a bonus", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const bonus = yield* house.newBonus({ name: fresh("Changing ") })
      const { id: player } = yield* house.register()
      const granted = dataOf(yield* house.grant(player, bonus.id), 201)
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await open(page, `/bonuses/${bonus.id}`, bonus.name)
        await done(page, "Change bonus", { "Wagering: times the amount": "20" })
        await page.getByText("It has to be wagered 20 times: stakes of €100.00 in all").waitFor()
      })
      assert.deepInclude(yield* stored("/bonuses", bonus.name), { wagering_multiplier: 20, default_amount: 500 })
      const [kept] = yield* staff("GET", `/players/${player}/bonuses`)
      assert.deepInclude(kept, { id: granted.id, wager_requirement: 5000 })
      yield* Effect.promise(async () => {
        await done(page, "Switch bonus off")
        await page.getByRole("button", { name: "Switch bonus on" }).waitFor()
      })
      assert.isAtLeast((yield* house.grant((yield* house.register()).id, bonus.id)).status, 400)
    }).pipe(Effect.scoped))
})
