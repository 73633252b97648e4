import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { dataOf, made, openCasino, staff } from "../../kit/Casino.ts"
import { assertNone, Browser, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { act, choose, done, shownOnce } from "../../kit/PageSteps.ts"
import { expectedSignature, makeSink } from "../../kit/WebhookSink.ts"

// Goal: an endpoint is added, tested and repaired in a browser: the secret shown once is the signing one, a failed delivery shows its
// request and response, and missed events are sent again. Method: Chromium, and a receiver scripted by the test.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
  Layer.provideMerge(Browser.layerBuilt)
)

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the webhooks page", (it) => {
  it.effect("adds an endpoint with a signing secret, shows a failed delivery, and sends it again", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
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
        const shown = await shownOnce(dialog)
        await page.getByRole("table", { name: "Webhooks" }).getByText(sink.url).waitFor()
        return shown
      })
      const [webhook] = yield* staff("GET", `/webhooks?operator=${casino.slug}`)
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      // later reads do not contain it
      assert.notInclude(JSON.stringify(webhook), secret)

      const { id: player } = yield* casino.register()
      yield* flush
      yield* sink.arrived(1)
      const registered = sink.received[0] ?? assert.fail("nothing was received")
      assert.strictEqual(registered.headers["x-service-signature"], expectedSignature(secret, registered))

      sink.answer = () => (response) => response.writeHead(500).end("<b>out of order</b>")
      dataOf(yield* casino.deposit(player, 4321), 201)
      yield* flush
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
      assertNone(yield* violationsOn(page))

      sink.answer = () => 200
      const failed = sink.received.length
      yield* Effect.promise(() => done(page, "Retry", {}, dialog))
      yield* flush
      yield* sink.arrived(failed + 1)
      yield* Effect.promise(async () => {
        await dialog.getByText("delivered").waitFor()
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "hidden" })
        const redelivery = await act(page, "Redeliver", { "Since (Europe/Berlin)": "2020-01-01T00:00" })
        await redelivery.getByText("Nothing was sent").waitFor()
        assert.strictEqual(await page.getByText("Redelivery asked for").count(), 0)
        await redelivery.getByRole("button", { name: "Close" }).last().click()
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  it.effect("sends a ping by keyboard alone and shows its result", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
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
      yield* flush
      yield* sink.arrived(1)
      yield* Effect.promise(() => delivery.getByText("thank you").waitFor())
    }).pipe(Effect.scoped))

  it.effect("signs with the new and the old secret until the old one is ended, and redelivers events since a time", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink()
      const { id, secret: old } = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${id}`, { active: false }).pipe(Effect.orDie))
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const chosen = page.getByRole("region", { name: `Webhook ${id}` })
      const secret = yield* Effect.promise(async () => {
        await page.goto(`/webhooks?webhook=${id}`)
        return shownOnce(await act(page, "New secret", {}, chosen))
      })
      /** Secrets that signed the next event. */
      const signers = Effect.gen(function*() {
        const before = sink.received.length
        yield* casino.register()
        yield* flush
        yield* sink.arrived(before + 1)
        const event = sink.received[before] ?? assert.fail("nothing was received")
        const { "x-service-signature": now, "x-service-signature-previous": previous } = event.headers
        return [now === expectedSignature(secret, event), previous === expectedSignature(String(old), event)]
      })
      assert.deepStrictEqual(yield* signers, [true, true])
      yield* Effect.promise(async () => {
        await done(page, "End old secret", {}, chosen)
        await chosen.getByRole("button", { name: "End old secret" }).waitFor({ state: "detached" })
      })
      assert.deepStrictEqual(yield* signers, [true, false])

      const before = sink.received.length
      yield* Effect.promise(async () => {
        await page.reload()
        await chosen.getByRole("button", { name: "Redeliver" }).click()
        const dialog = page.getByRole("dialog", { name: "Redeliver" })
        await choose(page, "Which", "delivered", dialog)
        await dialog.getByLabel("Since (Europe/Berlin)").fill("2020-01-01T00:00")
        await dialog.getByRole("button", { name: "Redeliver" }).click()
        await dialog.getByText("2 deliveries are due again.").waitFor()
        await dialog.getByRole("button", { name: "Close" }).last().click()
      })
      yield* flush
      yield* sink.arrived(before + 2)
      const eventsOf = (received: typeof sink.received) => received.map(({ body }) => JSON.parse(body).event)
      assert.sameMembers(eventsOf(sink.received.slice(before)), eventsOf(sink.received.slice(0, before)))
      yield* Effect.promise(async () => {
        const dialog = page.getByRole("dialog", { name: "Change webhook" })
        await chosen.getByRole("button", { name: "Change webhook" }).click()
        await dialog.getByLabel("Active: events are sent").uncheck()
        await dialog.getByRole("button", { name: "Change webhook" }).click()
        await chosen.getByText("inactive").waitFor()
      })
      const [webhook] = yield* staff("GET", `/webhooks?operator=${casino.slug}`)
      assert.deepInclude(webhook, { id, active: false, previous_secret_until: null })
    }).pipe(Effect.scoped))
})
