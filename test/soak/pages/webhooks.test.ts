import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerBothServers, made } from "../../kit/Backoffice.ts"
import { Browser, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { openCasino, staff } from "../../kit/Casino.ts"
import { act, done, looksRight } from "../../kit/PageSteps.ts"
import { dataOf } from "../../kit/PublicApi.ts"
import { expectedSignature, makeSink } from "../../kit/WebhookSink.ts"

// Goal: an address is added, tried and mended in a browser: the secret that the page shows once is the one that signs, a failed delivery shows what was
// sent and answered, and what was missed is sent again. Method: Chromium, and a receiver that answers as the test says.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
  Layer.provideMerge(Browser.layerBuilt)
)

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the page of webhooks", (it) => {
  it.effect("adds an address with a secret that signs, shows a failed delivery, and sends again", () =>
    Effect.gen(function*() {
      const { sweep } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const secret = yield* Effect.promise(async () => {
        await page.goto("/webhooks")
        await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
        await page.getByRole("button", { name: "Add webhook" }).click()
        const dialog = page.getByRole("dialog", { name: "Add webhook" })
        const operator = dialog.getByRole("combobox", { name: "Operator" }).or(
          dialog.getByRole("textbox", { name: "Operator" })
        )
        if (await operator.inputValue() === "") {
          await operator.click()
          await page.getByRole("option", { name: casino.slug }).click()
        }
        await dialog.getByLabel("Address").fill(sink.url)
        await dialog.getByRole("button", { name: "Add webhook" }).click()
        await dialog.getByText("shown now and never again").waitFor()
        const shown = await dialog.locator("pre, code").first().textContent()
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await page.getByRole("table", { name: "Webhooks" }).getByText(sink.url).waitFor()
        return shown ?? ""
      })
      const [webhook] = yield* staff("GET", `/webhooks?operator=${casino.slug}`)
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      // what the page shows later does not hold it
      assert.notInclude(JSON.stringify(webhook), secret)

      const { id: player } = yield* casino.register()
      yield* sweep
      yield* sink.arrived(1)
      const registered = sink.received[0] ?? assert.fail("nothing was received")
      assert.strictEqual(registered.headers["x-service-signature"], expectedSignature(secret, registered))

      sink.answer = () => (response) => response.writeHead(500).end("<b>out of order</b>")
      dataOf(yield* casino.deposit(player, 4321), 201)
      yield* sweep
      const table = page.getByRole("table", { name: "Deliveries" })
      const row = table.getByRole("row").filter({ hasText: "deposit.paid" })
      const dialog = page.getByRole("dialog", { name: /^Delivery \d+$/ })
      yield* Effect.promise(async () => {
        await page.goto(`/webhooks?webhook=${webhook.id}`)
        await row.getByText("the answer was not 2xx").waitFor()
        await row.getByRole("link").click()
        await dialog.getByRole("region", { name: "Body of the answer" }).getByText("<b>out of order</b>").waitFor()
        await dialog.getByRole("region", { name: "Body of the request" }).getByText("\"amount\": 4321").waitFor()
      })
      assert.deepStrictEqual(yield* violationsOn(page), [])

      sink.answer = () => 200
      const failed = sink.received.length
      yield* Effect.promise(() => done(page, "Retry", {}, dialog))
      yield* sweep
      yield* sink.arrived(failed + 1)
      yield* Effect.promise(async () => {
        await dialog.getByText("delivered").waitFor()
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "hidden" })
        const redelivery = await act(page, "Redeliver", { "Since (UTC)": "2020-01-01T00:00" })
        await redelivery.getByText("No delivery of that time").waitFor()
        await redelivery.getByRole("button", { name: "Close" }).last().click()
      })
      assert.deepStrictEqual((yield* Browser).problems(), [])
    }).pipe(Effect.scoped))

  it.effect("sends a ping by keyboard alone and shows what came of it", () =>
    Effect.gen(function*() {
      const { sweep } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink()
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      // support may ping, not change
      const { cookie } = yield* signedInFully({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/webhooks?operator=${casino.slug}`)
        await page.getByRole("table", { name: "Webhooks" }).getByText(sink.url).waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Change webhook" }).count(), 0)
        assert.strictEqual(await page.getByRole("button", { name: "Add webhook" }).count(), 0)
      })
      yield* tabTo(page, "Send ping")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("dialog", { name: "Send ping" }).waitFor()
      })
      yield* tabTo(page, "Send ping")
      const delivery = page.getByRole("dialog", { name: /^Delivery \d+$/ })
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await delivery.waitFor()
      })
      yield* sweep
      yield* sink.arrived(1)
      yield* Effect.promise(() => delivery.getByText("thank you").waitFor())
    }).pipe(Effect.scoped))

  it.effect("looks right in light and dark, as a list and as a delivery", () =>
    Effect.gen(function*() {
      const { sweep } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink(() => (response) => response.writeHead(503).end("maintenance until 14:00"))
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 12_345), 201)
      yield* sweep
      const [newest] = yield* staff("GET", `/deliveries?webhook=${webhook.id}`)
      const { cookie } = yield* signedInFully()
      const path = `/webhooks?webhook=${webhook.id}`
      yield* looksRight(cookie, path, (page) => page.getByText("the answer was not 2xx").first().waitFor(), "webhooks")
      yield* looksRight(
        cookie,
        `${path}&delivery=${newest.id}`,
        (page) => page.getByText("maintenance until 14:00").waitFor(),
        "delivery"
      )
    }).pipe(Effect.scoped))
})
