import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedIn, signedInFully, violationsOn } from "../../kit/Browser.ts"
import { fresh, openCasino, staff } from "../../kit/Casino.ts"
import { countEffort } from "../../kit/Clicks.ts"

// Goal: what a player asks for on the phone is done in four clicks, from any page. Method: Chromium counts what a person presses; the effects are read
// through the staff API.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

/** Opens a player from any page by name. */
const find = async (page: Page, username: string): Promise<void> => {
  await page.keyboard.press("Control+k")
  await page.getByLabel("Find").and(page.locator("input:focus")).waitFor()
  await page.keyboard.type(username)
  await page.getByText(`Player ${username}`).waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: username, exact: true }).waitFor()
}

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("tasks on a player's page", (it) => {
  it.effect("a self-exclusion by phone takes four clicks, shows its end beforehand, and then appears on every tab", () =>
    Effect.gen(function*() {
      const { id, player: { username } } = yield* (yield* openCasino()).sit(5000)
      const { cookie } = yield* signedIn({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      const dialog = page.getByRole("dialog", { name: "Exclude" })
      const effort = yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        const counting = await countEffort(page)
        await find(page, username)
        await page.getByText("May bet: yes").waitFor()
        await page.getByRole("button", { name: "Exclude", exact: true }).click()
        // the periods have the focus: the arrow keys choose
        await dialog.getByRole("radio", { name: "24 hours" }).and(page.locator(":focus")).waitFor()
        for (const period of ["7 days", "30 days", "3 months", "6 months"]) {
          await page.keyboard.press("ArrowDown")
          await dialog.getByRole("radio", { name: period }).and(page.locator(":checked")).waitFor()
        }
        await dialog.getByText(/^Excluded until .+ It cannot be shortened or lifted before then/).waitFor()
        await dialog.getByLabel("Reason").fill("Rang at noon")
        const confirm = dialog.getByRole("button", { name: "Exclude" })
        assert.isTrue(await confirm.isDisabled(), "the username is not typed yet")
        await dialog.getByLabel(/^Type /).fill(username)
        await page.keyboard.press("Enter")
        await dialog.waitFor({ state: "hidden" })
        const clicks = await counting.clicks()
        const note = page.getByRole("note", { name: "Standing" })
        await note.getByText(/^Excluded from play \(self-exclusion\) until /).waitFor()
        await page.getByText(/^May bet: no, self-exclusion until /).waitFor()
        await page.getByText("May withdraw: yes").waitFor()
        await page.getByRole("tab", { name: "Notes" }).click()
        await note.waitFor()
        return { clicks, changes: counting.pageChanges() }
      })
      assert.isAtMost(effort.clicks, 4)
      assert.strictEqual(effort.changes, 1)
      const { self_exclusion } = yield* staff("GET", `/players/${id}/limits`)
      assert.strictEqual(self_exclusion.type, "self_exclusion")
      const [line] = yield* staff("GET", `/audit?player=${id}&action=player.exclude`)
      assert.deepInclude(line, { reason: "Rang at noon" })
      assert.strictEqual(line.after.channel, "phone")
      assertNone([...(yield* violationsOn(page)), ...browser.problems()])
    }).pipe(Effect.scoped))

  it.effect("a bonus is granted and explained in four clicks, with the amounts of the grant", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({
        name: fresh("Welcome "),
        default_amount: 5000,
        wagering_multiplier: 30,
        max_bet: 500,
        max_conversion_multiplier: 5
      })
      yield* casino.newBonus({ name: fresh("Cash "), type: "cash", default_amount: 500, wagering_multiplier: 0 })
      const { id, player: { username } } = yield* casino.sit(5000)
      const { cookie } = yield* signedInFully({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(() => page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      const dialog = page.getByRole("dialog", { name: "Grant bonus" })
      const clicks = yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        const counting = await countEffort(page)
        await find(page, username)
        await page.getByRole("button", { name: "Grant bonus", exact: true }).click()
        // the only one that support may grant is chosen; the amount is none of theirs
        await dialog.getByRole("radio", { name: new RegExp(bonus.name) }).and(page.locator(":checked")).waitFor()
        assert.strictEqual(await dialog.getByRole("radio").count(), 1)
        assert.strictEqual(await dialog.getByLabel(/^Amount/).count(), 0)
        await page.keyboard.press("Enter")
        await dialog.getByText("You have staked 0.00 EUR of 1500.00 EUR; 1500.00 EUR are left to wager.").waitFor()
        await dialog.getByText("A stake may be 5.00 EUR at most while it runs.").waitFor()
        await dialog.getByText("At the end 250.00 EUR at most becomes real money; the rest is taken away.").waitFor()
        return counting.clicks()
      })
      assert.isAtMost(clicks, 4)
      assertNone([...(yield* violationsOn(page)), ...browser.problems()])
      const copied = yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Copy", exact: true }).click()
        await dialog.getByText("Copied").waitFor()
        return page.evaluate<string>("navigator.clipboard.readText()")
      })
      assert.include(copied, "At the end 250.00 EUR at most becomes real money")
      assert.strictEqual((yield* staff("GET", `/players/${id}/bonuses`))[0].bonus_id, bonus.id)
      // and later, from the list
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await page.getByRole("tab", { name: "Bonuses" }).click()
        await page.getByRole("button", { name: "Explain" }).click()
        await page.getByRole("dialog", { name: bonus.name }).getByText("1500.00 EUR are left to wager").waitFor()
      })
    }).pipe(Effect.scoped))
})
