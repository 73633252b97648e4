import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { assertNone, Browser, chooseOption, signedIn, tabTo, violationsOn } from "../../kit/Browser.ts"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { fresh, openCasino, staff } from "../../kit/Casino.ts"
import { act, done } from "../../kit/PageSteps.ts"

// Goal: games are found, added and changed in a browser, and operators see the changed catalogue.
// Method: clicks and keys in Chromium, answers from the staff API and the operator's.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the games page", (it) => {
  it.effect("finds games by a part of the name and by provider, with the filters in the URL", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const browser = yield* Browser
      const { cookie } = yield* signedIn()
      const page = yield* browser.open({ cookie })
      const rows = page.getByRole("table", { name: "Games", exact: true }).getByRole("row")
      yield* Effect.promise(async () => {
        await page.goto(`/games?provider=${casino.studio.slug}`)
        await page.getByRole("heading", { level: 1, name: "Games" }).waitFor()
        await rows.filter({ hasText: casino.slots.name }).waitFor()
        await rows.filter({ hasText: casino.table.name }).waitFor()
        await page.getByLabel("Name").fill("TABLE of")
        await rows.filter({ hasText: casino.slots.name }).waitFor({ state: "detached" })
        await rows.filter({ hasText: casino.table.name }).waitFor()
        assert.strictEqual(new URL(page.url()).searchParams.get("name"), "TABLE of")
        assert.strictEqual(await rows.count(), 2)
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("disables a game for the operator, and undoes that", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const row = page.getByRole("row").filter({ hasText: casino.slots.name })
      const status = Effect.map(casino.get(`/games/${casino.slots.id}`), (answer) => answer.status)
      yield* Effect.promise(async () => {
        await page.goto(`/games?provider=${casino.studio.slug}`)
        await act(page, "Switch game off", {}, { menuOf: row })
        await row.getByText("inactive").waitFor()
      })
      assert.strictEqual(yield* status, 404)
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Undo" }).click()
        await row.getByText("active", { exact: true }).waitFor()
      })
      assert.strictEqual(yield* status, 200)
    }).pipe(Effect.scoped))

  it.effect("adds a game by keyboard alone, reports a taken id, and clears the return to player when its field is emptied", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const name = fresh("Comet ")
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const { keyboard } = page
      yield* Effect.promise(async () => {
        await page.goto(`/games?provider=${casino.studio.slug}`)
        await page.getByRole("row").filter({ hasText: casino.slots.name }).waitFor()
      })
      yield* tabTo(page, "Add game")
      const dialog = page.getByRole("dialog", { name: "Add game" })
      yield* Effect.promise(async () => {
        await keyboard.press("Enter")
        await dialog.waitFor()
        await keyboard.press("Enter")
        await chooseOption(page, casino.studio.name)
      })
      yield* tabTo(page, /^Name/)
      yield* Effect.promise(() => keyboard.type(name))
      yield* tabTo(page, /^Provider's id/)
      yield* Effect.promise(() => keyboard.type("slots"))
      yield* tabTo(page, /^Return to player/)
      yield* Effect.promise(async () => {
        await keyboard.type("96.5")
        await keyboard.press("Enter")
        await dialog.getByRole("alert").filter({ hasText: "VALIDATION_FAILED" }).waitFor()
        await dialog.getByLabel("Provider's id").focus()
        await keyboard.type("-2")
        await keyboard.press("Enter")
        await page.getByRole("row").filter({ hasText: name }).getByText("96.5 %").waitFor()
      })
      const path = `/games?provider=${casino.studio.slug}&name=${encodeURIComponent(name)}`
      const [added] = yield* staff("GET", path)
      assert.deepInclude(added, { external_id: "slots-2", rtp: 96.5, category: "slots", active: true })
      yield* Effect.promise(async () => {
        const row = page.getByRole("row").filter({ hasText: name })
        await done(page, "Change game", { "Return to player": "" }, { menuOf: row })
        await row.getByText("96.5 %").waitFor({ state: "detached" })
      })
      const [changed] = yield* staff("GET", path)
      assert.deepInclude(changed, { external_id: "slots-2", rtp: null })
    }).pipe(Effect.scoped))

  it.effect("offers no changes to the role support", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/games?provider=${casino.studio.slug}`)
        await page.getByRole("row").filter({ hasText: casino.slots.name }).waitFor()
        assert.strictEqual(await page.getByRole("button", { name: /Add game|Actions of/ }).count(), 0)
      })
      assertNone(yield* violationsOn(page))
    }).pipe(Effect.scoped))
})
