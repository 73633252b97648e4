import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Locator } from "playwright-core"
import { ProviderProtocols } from "../../../src/features/integrations/ProviderSettings.ts"
import { protocols } from "../../../src/protocols/Protocols.ts"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { fresh, made, openCasino, outcomeOf, staff } from "../../kit/Casino.ts"
import { signedCall } from "../../kit/HttpCalls.ts"
import { assertNone, Browser, chooseOption, signedInFully, tabTo } from "../../kit/Browser.ts"
import { amount, fakeProtocol, makeFakeVendor } from "../../kit/FakeVendor.ts"
import { closeUncopied, done } from "../../kit/PageSteps.ts"

// Goal: a provider is connected, maintained and reconciled with its vendor in a browser, and its secrets are shown at most once.
// Method: clicks and keys in Chromium, a vendor at a free port, answers from the staff API and the provider wallet API.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerCasinos),
  Layer.provideMerge(Browser.layerBuilt),
  Layer.provide(Layer.succeed(ProviderProtocols, [...protocols, fakeProtocol]))
)

/** Input of a label; a field's list of options has the same label. */
const inputOf = (within: Locator, label: string): Locator =>
  within.locator("input, textarea").and(within.getByLabel(label))

/** Answer of the wallet to a call with an unknown session: depends on the signature alone. */
const walletAnswers = (key: string, secret: string) =>
  Effect.map(
    signedCall({ header: "X-Provider-Key", key, secret }, "/api/v1/provider/wallet/authenticate", {
      method: "POST",
      body: { session_token: "nobodys" }
    }),
    outcomeOf
  )

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the provider pages", (it) => {
  it.effect("add a provider by keyboard with its protocol's settings, and never show the secret ones again", () =>
    Effect.gen(function*() {
      const slug = fresh("aviate-")
      const token = "a token of the vendor"
      const browser = yield* Browser
      const { cookie } = yield* signedInFully()
      const page = yield* browser.open({ cookie })
      const { keyboard } = page
      yield* Effect.promise(async () => {
        await page.goto("/providers")
        await page.getByRole("table", { name: "Providers", exact: true }).getByRole("row").nth(1).waitFor()
      })
      yield* tabTo(page, "Add provider")
      const dialog = page.getByRole("dialog", { name: "Add provider" })
      yield* Effect.promise(async () => {
        await keyboard.press("Enter")
        await dialog.waitFor()
        // the first field has the focus
        await keyboard.type("Aviate Games")
      })
      yield* tabTo(page, /^Slug/)
      yield* Effect.promise(() => keyboard.type(slug))
      yield* tabTo(page, /^Protocol/)
      yield* Effect.promise(async () => {
        assert.strictEqual(await dialog.getByLabel("Casino id").count(), 0)
        await keyboard.press("Enter")
        await chooseOption(page, "gcp")
        await inputOf(dialog, "Casino id").waitFor()
      })
      yield* tabTo(page, /^Auth token/)
      yield* Effect.promise(() => keyboard.type(token))
      yield* tabTo(page, /^Casino id/)
      yield* Effect.promise(() => keyboard.type("c1"))
      yield* tabTo(page, /^Games URL/)
      yield* Effect.promise(async () => {
        await keyboard.type("https://games.example/v1")
        await keyboard.press("Enter")
        await dialog.waitFor({ state: "detached" })
        await page.getByRole("row").filter({ hasText: slug }).getByRole("link", { name: "Aviate Games" }).click()
        await page.getByRole("heading", { level: 1, name: "Aviate Games" }).waitFor()
        await page.getByText(new RegExp(`/api/v1/integrations/${slug}$`)).waitFor()
        assert.strictEqual(await page.getByText("Auth token").count(), 1)
        assert.notInclude(await page.content(), token)
      })
      const shown = yield* staff("GET", `/providers/${slug}`)
      assert.deepInclude(shown, {
        protocol: "gcp",
        settings: { casino_id: "c1", games_url: "https://games.example/v1" },
        secret_settings: ["auth_token"]
      })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Change provider" }).click()
        const change = page.getByRole("dialog", { name: "Change provider" })
        assert.strictEqual(await inputOf(change, "Auth token").inputValue(), "")
        await inputOf(change, "Casino id").fill("c2")
        await change.getByRole("button", { name: "Change provider" }).click()
        await page.getByText("c2", { exact: true }).waitFor()
      })
      assert.deepInclude(yield* staff("GET", `/providers/${slug}`), {
        settings: { casino_id: "c2", games_url: "https://games.example/v1" },
        secret_settings: ["auth_token"]
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("create a new secret after the slug was typed, and show it once; the wallet then accepts only the new one", () =>
    Effect.gen(function*() {
      const { studio } = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const dialog = page.getByRole("dialog", { name: "New secret" })
      const secret = yield* Effect.promise(async () => {
        await page.goto(`/providers/${studio.id}`)
        await page.getByRole("button", { name: "New secret" }).click()
        const confirm = dialog.getByRole("button", { name: "New secret" })
        assert.isTrue(await confirm.isDisabled())
        await dialog.getByLabel(`Type ${studio.slug} to confirm`).fill(studio.slug)
        await confirm.click()
        await dialog.getByText("Secret: shown now and never again").waitFor()
        return await dialog.locator("code, pre").first().innerText()
      })
      assert.deepStrictEqual(
        [yield* walletAnswers(studio.key, studio.secret), yield* walletAnswers(studio.key, secret)],
        ["INVALID_SIGNATURE", "INVALID_SESSION"]
      )
      yield* Effect.promise(async () => {
        await closeUncopied(dialog)
        assert.notInclude(await page.content(), secret)
      })
    }).pipe(Effect.scoped))

  it.effect("read a vendor's catalogue, and list a day's transactions that only the vendor has", () =>
    Effect.gen(function*() {
      const vendor = yield* makeFakeVendor
      const slug = fresh("vendor-")
      const provider = yield* made("/providers", { slug, name: slug, protocol: "fake", settings: vendor.settings })
      vendor.games = [
        { externalId: "book", name: "Book", type: "rng", category: "slots", rtp: 96.5, thumbnailUrl: null }
      ]
      vendor.feed = {
        by: "transaction",
        lines: [{ transactionId: "t-77", kind: "bet", amount: amount("1.50"), currency: "EUR", playerRef: "nobody" }]
      }
      const browser = yield* Browser
      const { cookie } = yield* signedInFully()
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/providers/${provider.id}`)
        await page.getByRole("button", { name: "Read catalogue" }).click()
        const dialog = page.getByRole("dialog", { name: "Read catalogue" })
        await dialog.getByLabel("Offer new games at once").check()
        await dialog.getByRole("button", { name: "Read catalogue" }).click()
        await dialog.getByText("Added (1)").waitFor()
        await dialog.getByText("book", { exact: true }).waitFor()
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await page.getByLabel("Day (UTC)").fill("2026-01-01")
        await page.getByRole("button", { name: "Compare" }).click()
        const table = page.getByRole("table", { name: "Only the vendor's" })
        await table.getByText("t-77").waitFor()
        await table.getByText("€1.50").waitFor()
      })
      const [game] = yield* staff("GET", `/games?provider=${slug}`)
      assert.deepInclude(game, { external_id: "book", name: "Book", active: true })
      vendor.mood = { no: "CLOSED" }
      yield* Effect.promise(async () => {
        await page.getByLabel("Day (UTC)").fill("2026-01-02")
        await page.getByRole("button", { name: "Compare" }).click()
        await page.getByRole("alert").filter({ hasText: "CLOSED" }).waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("disable a provider with all its games, and undo that", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const offered = Effect.map(casino.get(`/games/${casino.slots.id}`), ({ status }) => status)
      yield* Effect.promise(async () => {
        await page.goto(`/providers/${casino.studio.id}`)
        await done(page, "Switch provider off")
        await page.getByRole("button", { name: "Switch provider on" }).waitFor()
      })
      assert.strictEqual(yield* offered, 404)
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByRole("button", { name: "Switch provider off" }).waitFor()
      })
      assert.strictEqual(yield* offered, 200)
    }).pipe(Effect.scoped))
})
