import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedIn, violationsOn } from "../../kit/Browser.ts"
import { countEffort } from "../../kit/Clicks.ts"
import { made, openCasino, staff } from "../../kit/Casino.ts"
import { dayMs, hourMs } from "../../kit/Calendar.ts"
import { makeSink } from "../../kit/WebhookSink.ts"

// Goal: from home to why a webhook fails, and all sent again that has not arrived since yesterday at 18:00, in four clicks; nothing to send is no success.
// Method: Chromium, and a receiver that is out of order; every click counts, typing is free.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
  Layer.provideMerge(Browser.layerBuilt)
)

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("a webhook that fails", (it) => {
  it.effect("is explained, and its undelivered events since a chosen time are sent again, in four clicks", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { flush } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink(() => (response) => response.writeHead(503).end("maintenance until 14:00"))
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      const now = yield* Clock.currentTimeMillis
      const evening = new Date(Math.floor(now / dayMs) * dayMs - 6 * hourMs).toISOString().slice(0, 16)
      yield* casino.register()
      yield* flush
      // one of before that evening, given up, which stays as it is
      yield* sql`UPDATE webhook_deliveries SET created_at = ${new Date(
        now - 3 * dayMs
      )}, status = 'failed', attempts = 8,
          next_attempt_at = NULL
        WHERE endpoint_id = ${webhook.id}`
      yield* casino.register()
      yield* casino.register()
      yield* flush
      sink.answer = () => 200
      const before = sink.received.length
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      const dialog = page.getByRole("dialog", { name: "Send again" })
      const chosen = page.getByRole("region", { name: `Webhook ${webhook.id}` })
      const since = "What has not arrived since (Europe/Berlin)"
      const effort = yield* Effect.promise(async () => {
        await page.goto("/")
        const effort = await countEffort(page)
        await page.getByRole("link", { name: sink.url }).click()
        await chosen.getByText("3 deliveries have not arrived").waitFor()
        const deliveries = page.getByRole("table", { name: "Deliveries" })
        await deliveries.getByText("the answer was not 2xx").first().waitFor()
        await deliveries.getByText("503").first().waitFor()
        assert.strictEqual(await deliveries.getByText("retrying", { exact: true }).count(), 2)
        await chosen.getByRole("button", { name: "Send again" }).click()
        await dialog.getByText("3 deliveries have not arrived").waitFor()
        await dialog.getByLabel(since).click()
        await dialog.getByLabel(since).fill(evening)
        await dialog.getByText("2 deliveries have not arrived").waitFor()
        return effort
      })
      assertNone(yield* violationsOn(page))
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Send again" }).click()
        await dialog.getByText("2 deliveries are due again.").waitFor()
        assert.deepStrictEqual([await effort.clicks(), effort.pageChanges()], [4, 1])
      })
      yield* flush
      yield* sink.arrived(before + 2)
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await chosen.getByText("1 delivery has not arrived").waitFor({ timeout: 15_000 })
        await chosen.getByRole("button", { name: "Send again" }).click()
        await dialog.getByLabel(since).fill(evening)
        await dialog.getByText("there is nothing to send").waitFor()
        await dialog.getByRole("button", { name: "Send again" }).click()
        await dialog.getByText("Nothing was sent").waitFor()
        assert.strictEqual(await page.getByText("is sent again").count(), 0)
      })
    }).pipe(Effect.scoped))
})
