import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { WebhookSender } from "../../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../../src/service.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { dataOf, made, openCasino, staff } from "../../kit/Casino.ts"
import { assertNone, Browser, signedIn, tabTo } from "../../kit/Browser.ts"
import { makeSink } from "../../kit/WebhookSink.ts"

// Goal: the open first page shows money moving and pending work, without a reload. Method: Chromium on one page load, while a casino plays.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerWebhooks.pipe(Layer.provideMerge(layerBothServers))),
  Layer.provideMerge(Browser.layerBuilt)
)

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the home page", (it) => {
  it.effect("updates after a deposit, a bet and a withdrawal without a reload, and links to the queue", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "SEK" })
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      let documents = 0
      page.on("framenavigated", () => documents++)
      const figure = (name: string) => page.getByRole("region", { name, exact: true })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await figure("Deposits today (SEK)").getByText("SEK 0.00").waitFor()
        await figure("Withdrawals waiting").getByText("0", { exact: true }).waitFor()
      })
      const loaded = documents
      const { id } = yield* casino.register({ currency: "SEK" })
      dataOf(yield* casino.deposit(id, 50_000), 201)
      yield* Effect.promise(() => figure("Deposits today (SEK)").getByText("SEK 500.00").waitFor())
      const { session_token } = dataOf(yield* casino.launch(id))
      const { player_ref } = dataOf(yield* casino.callWallet("authenticate", { session_token }))
      dataOf(yield* casino.playOf(session_token, player_ref).bet(4321, { currency: "SEK" }))
      yield* Effect.promise(async () => {
        await figure("Bets today (SEK)").getByText("SEK 43.21").waitFor()
        await figure("GGR today (SEK)").getByText("+SEK 43.21").waitFor()
      })
      const payment = dataOf(yield* casino.withdraw(id, 1000), 201)
      yield* Effect.promise(async () => {
        await figure("Withdrawals waiting").getByText("SEK 10.00").waitFor()
        assert.strictEqual(documents, loaded, "nothing was loaded again")
      })
      // by keyboard to the pending work
      yield* tabTo(page, "Open the queue")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
        await page.getByRole("link", { name: String(payment.id), exact: true }).waitFor()
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  // Goal: what waits is one number, wherever it stands. Method: the count of the navigation against the rows of the list that it leads to.
  it.effect("shows in the navigation the number of items that the linked list has", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 9000), 201)
      for (const amount of [1000, 2000, 3000]) dataOf(yield* casino.withdraw(id, amount), 201)
      const { cookie } = yield* signedIn({ role: "payments", operators: [casino.slug] })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("navigation").getByRole("link", { name: "3 waiting", exact: true }).click()
        await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
        assert.include(page.url(), "status=waiting")
        const table = page.getByRole("table", { name: "Payments" })
        await table.getByRole("row").nth(3).waitFor()
        // with the headings
        assert.strictEqual(await table.getByRole("row").count(), 4)
        // the page itself is the whole list
        await page.getByRole("navigation").getByRole("link", { name: "Payments", exact: true }).click()
        await table.getByRole("row").nth(4).waitFor()
        assert.notInclude(page.url(), "status=waiting")
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  // Goal: who has several operators sees how each one stands today, and its report at a click. Method: two that won different amounts.
  it.effect("shows today's GGR of each of several operators, with a link to its report", () =>
    Effect.gen(function*() {
      const casinos = [yield* openCasino({ name: "Alta" }), yield* openCasino({ name: "Brera" })]
      for (const [index, casino] of casinos.entries()) dataOf(yield* (yield* casino.sit(10_000)).bet(1000 + index))
      const { cookie } = yield* signedIn({ role: "payments", operators: casinos.map(({ slug }) => slug) })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("region", { name: "GGR today of Alta" }).getByText("+€10.00").waitFor()
        await page.getByRole("region", { name: "GGR today of Brera" }).getByText("+€10.01").waitFor()
        await page.getByRole("link", { name: "Brera", exact: true }).click()
        await page.getByRole("heading", { level: 1, name: "GGR report" }).waitFor()
        await page.locator("dl > div").filter({ hasText: /^GGR/ }).getByText("+€10.01").waitFor()
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  it.effect("names a failing webhook, with a link to its deliveries", () =>
    Effect.gen(function*() {
      const { flush } = yield* WebhookSender
      const casino = yield* openCasino()
      const sink = yield* makeSink(() => 500)
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url })
      yield* Effect.addFinalizer(() => staff("PATCH", `/webhooks/${webhook.id}`, { active: false }).pipe(Effect.orDie))
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 2, name: "Needs attention" }).waitFor()
        assert.strictEqual(await page.getByRole("link", { name: sink.url }).count(), 0)
      })
      yield* casino.register()
      yield* flush
      yield* Effect.promise(async () => {
        await page.getByText("1 of the last 50 failed").waitFor()
        await page.getByRole("link", { name: sink.url }).click()
        await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor()
        await page.getByRole("table", { name: "Deliveries" }).getByText("the answer was not 2xx").waitFor()
      })
    }).pipe(Effect.scoped))
})
