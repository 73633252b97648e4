import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedInFully, violationsOn } from "../../kit/Browser.ts"
import { countEffort } from "../../kit/Clicks.ts"
import { fresh, staff } from "../../kit/Casino.ts"
import { operatorWith } from "../../kit/HttpCalls.ts"

// Goal: an operator is set up with key and webhook in ten clicks at most, led from step to step. Method: Chromium; every click and every Enter counts.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("setting up an operator", (it) => {
  it.effect("takes ten clicks including API key and webhook, and the operator's page names the missing steps", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(() => page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      const click = (role: "button" | "link", name: string) =>
        page.getByRole(role, { name, exact: true }).last().click()
      const slug = fresh("led-")
      const steps = page.getByRole("region", { name: "Set-up" })
      const step = (name: string) => steps.getByRole("listitem", { name })
      const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()")
      const effort = yield* Effect.promise(async () => {
        await page.goto("/")
        const effort = await countEffort(page)
        await click("link", "Operators")
        await click("button", "Add operator")
        await page.getByRole("dialog", { name: "Add operator" }).getByLabel("Slug").and(page.locator(":focus"))
          .waitFor()
        await page.keyboard.type(slug)
        await page.keyboard.press("Tab")
        await page.keyboard.type(`Casino ${slug}`)
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 1, name: `Casino ${slug}` }).waitFor()
        await step("API key").getByText("missing").waitFor()
        await step("First signed call").getByText("not seen yet").waitFor()
        return effort
      })
      assertNone(yield* violationsOn(page))
      const secret = yield* Effect.promise(async () => {
        await click("button", "Add key")
        await click("button", "Add key")
        await click("button", "Copy and close")
        await step("API key").getByText("done").waitFor()
        return clipboard()
      })
      yield* Effect.promise(async () => {
        await click("button", "Add webhook")
        await page.getByRole("dialog", { name: "Add webhook" }).getByLabel("Address").and(page.locator(":focus"))
          .waitFor()
        await page.keyboard.type("https://hooks.example/pitboss")
        await page.keyboard.press("Enter")
        await click("button", "Copy and close")
        await step("Webhook").getByText("done").waitFor()
      })
      assert.strictEqual(yield* Effect.promise(() => effort.clicks()), 9)
      const [{ key }] = yield* staff("GET", `/keys?operator=${slug}`)
      assert.strictEqual((yield* operatorWith({ key, secret }).get("/me")).status, 200)
      yield* Effect.promise(async () => {
        await step("First signed call").getByText("done").waitFor()
        await page.getByRole("table", { name: "API keys" }).getByRole("button", { name: `Copy key ${key}` }).click()
        assert.strictEqual(await clipboard(), key)
      })
    }).pipe(Effect.scoped))
})
