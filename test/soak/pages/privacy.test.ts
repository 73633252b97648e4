import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedInFully } from "../../kit/Browser.ts"
import { casinoUnder, dataOf, staff } from "../../kit/Casino.ts"

// Goal: a compliance officer sees what is due and what persons asked for, and erases a player's data. Method: a casino under a profile with periods, in a
// real browser.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the personal data pages", (it) => {
  it.effect("show due retention, all data requests and those of one player, and erase a player's data", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const casino = yield* casinoUnder({ retention: { marketing: "P0D", payments: "P5Y" } })
      const { id, username } = yield* casino.register({ city: "Valletta" })
      dataOf(yield* casino.post(`/players/${id}/data-requests`, { type: "access" }), 201)
      yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* browser.open({ cookie })
      const dialog = page.getByRole("dialog")
      yield* Effect.promise(async () => {
        await page.goto("/retention")
        await page.getByRole("heading", { level: 1, name: "Retention" }).waitFor()
        await page.getByRole("row", { name: /^marketing 1 0/ }).waitFor()
        await page.getByRole("row", { name: /^payments 0 1/ }).waitFor()
        await page.getByRole("row").filter({ hasText: "access" }).getByRole("link").first().click()
        await page.getByRole("tab", { name: "Compliance" }).click()
        await page.getByRole("heading", { name: "Data requests" }).first().waitFor()
        await page.getByRole("row").filter({ hasText: "access" }).filter({ hasText: "open" }).waitFor()
        await page.getByRole("button", { name: "More" }).click()
        await page.getByRole("menuitem", { name: "Erase personal data" }).click()
        await dialog.getByRole("textbox").fill(String(username))
        await dialog.getByRole("button", { name: "Erase personal data" }).click()
        await dialog.getByText("Kept: payments until", { exact: false }).waitFor()
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await page.getByText(`erased-${id}`).first().waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))
})
