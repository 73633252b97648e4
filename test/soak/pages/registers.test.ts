import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { makeFakeRegister } from "../../../scripts/registers/FakeRegister.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedInFully } from "../../kit/Browser.ts"
import { casinoUnder, dataOf, fresh, registration, staff } from "../../kit/Casino.ts"
import { choose, notified } from "../../kit/PageSteps.ts"

// Goal: a compliance officer connects a register, sees whether it answers, and finds on a player's page what it said and what the jurisdiction stops.
// Method: a casino under a profile with a register, and the register's fake, in a real browser.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the registers page", (it) => {
  it.effect("connects a register, queries it about a player, and shows its answer on the player's page", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const on = { login: { max_age: "PT0S", unavailable: "refuse" } }
      const casino = yield* casinoUnder({
        registers: [{ kind: "generic", on }],
        limits: { prompt: true }
      })
      yield* staff("PATCH", `/operators/${casino.slug}`, { profiles: [casino.profile, "none"] })
      const player = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      const fake = yield* makeFakeRegister({
        kind: "generic",
        isPlain: true,
        people: [{
          first_name: player.first_name,
          last_name: player.last_name,
          birth_date: player.birth_date,
          verdict: "excluded"
        }]
      })
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* browser.open({ cookie })
      const dialog = page.getByRole("dialog")
      yield* Effect.promise(async () => {
        await page.goto("/registers")
        await page.getByRole("heading", { level: 1, name: "Registers" }).waitFor()
        await page.getByRole("button", { name: "Add register" }).click()
        // the only operator is chosen
        await dialog.getByLabel("Register", { exact: false }).first().click()
        await page.getByRole("option", { name: "Another register" }).click()
        await dialog.getByLabel("URL").fill(String(fake.settings["url"]))
        await dialog.getByLabel("Api key").fill(String(fake.settings["api_key"]))
        await dialog.getByRole("button", { name: "Add register" }).click()
        await notified(page, "Register added")
        const row = page.getByRole("row").filter({ hasText: "not asked yet" })
        await row.getByRole("button", { name: "Actions of register Another register" }).click()
        await page.getByRole("menuitem", { name: "Ask about a player" }).click()
        await dialog.getByLabel("Player id").fill(String(player.id))
        await dialog.getByRole("button", { name: "Ask about a player" }).click()
        await notified(page, "The answer is: excluded")
        await page.getByRole("row").filter({ hasText: "refresh" }).filter({ hasText: "excluded" })
          .getByRole("link", { name: String(player.id) }).click()
        await page.getByText("May sign in: no, excluded by a national register").waitFor()
        await page.getByText("Rules of a house", { exact: false }).first().waitFor()
        await page.getByRole("row").filter({ hasText: "limit prompt" }).filter({ hasText: "deposit" }).waitFor()
        await page.getByRole("row").filter({ hasText: "Another register" }).filter({ hasText: "excluded" }).waitFor()
        await page.getByRole("button", { name: "Waive" }).click()
        await dialog.getByLabel("Reason").fill("asked on the phone")
        await dialog.getByRole("button", { name: "Waive" }).click()
        await notified(page, "Obligation waived")
        await page.getByText("Nothing is owed.").waitFor()
        await page.getByRole("button", { name: "Move to another jurisdiction" }).click()
        await choose(page, "Jurisdiction", "none", dialog)
        await dialog.getByLabel("Reason").fill("lives elsewhere now")
        await dialog.getByRole("button", { name: "Move to another jurisdiction" }).click()
        await notified(page, "Player moved")

        await page.goto("/registers")
        const answering = page.getByRole("row").filter({ hasText: "answers," })
        const take = async (label: string) => {
          await answering.getByRole("button", { name: "Actions of register Another register" }).click()
          await page.getByRole("menuitem", { name: label }).click()
        }
        await take("Ask anew")
        await dialog.getByRole("button", { name: "Ask anew" }).click()
        await notified(page, "Asked about 0: 0 excluded, 0 without an answer")
        await answering.getByRole("button", { name: "Change register" }).click()
        await dialog.getByLabel("Api key").fill("another")
        await dialog.getByRole("button", { name: "Change register" }).click()
        await notified(page, "Register changed")
        await take("Switch off")
        await dialog.getByRole("button", { name: "Switch off" }).click()
        await notified(page, "Register switched off")
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))
})
