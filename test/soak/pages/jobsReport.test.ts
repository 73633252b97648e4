import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { assertNone, Browser, signedIn } from "../../kit/Browser.ts"
import { goTo, whileTimePasses } from "../../kit/Calendar.ts"
import { dataOf, made, openCasino } from "../../kit/Casino.ts"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { countEffort } from "../../kit/Clicks.ts"

// Goal: the month-end figures of several operators take two clicks, in one currency. Method: October is played, and reported on the twentieth of
// November, in a real browser with every click counted.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const now = "2026-11-20T12:00:00Z"

/** Four operators that won 50.00 each in October; the currency of one has no rate. */
const october = Effect.gen(function*() {
  yield* goTo("2026-10-15T12:00:00Z")
  yield* made("/rates", { currency: "SEK", base: "EUR", rate: 0.1 })
  const casinos = []
  for (const [name, currency] of [["Alta", "EUR"], ["Brera", "EUR"], ["Dalarna", "SEK"], ["Lima", "PEN"]] as const) {
    const casino = yield* openCasino({ name, currency })
    yield* made("/payment-methods", { operator: casino.slug, code: "cash", currencies: [currency] })
    const seat = yield* casino.sit(0, { currency })
    dataOf(yield* casino.deposit(seat.id, 100_000, { payment_method: "cash" }), 201)
    dataOf(yield* seat.bet(5000, { currency }))
    casinos.push(casino)
  }
  yield* goTo(now)
  return casinos
})

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("tasks with reports", (it) => {
  it.effect("the month-end GGR of four operators takes two clicks", () =>
    whileTimePasses(
      Effect.gen(function*() {
        const casinos = yield* october
        const { cookie } = yield* signedIn({ role: "payments", operators: casinos.map(({ slug }) => slug) })
        const browser = yield* Browser
        const page = yield* browser.open({ cookie })
        const lines = yield* Effect.promise(async () => {
          await page.clock.setFixedTime(now)
          await page.goto("/")
          await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
          const effort = await countEffort(page)
          await page.getByRole("link", { name: "GGR report" }).click()
          await page.getByRole("button", { name: "Last month" }).click()
          // twice 50 EUR, and 50 SEK at a tenth
          await page.locator("dl > div").filter({ hasText: /^GGR of all/ }).getByText("+€105.00").waitFor()
          const rows = page.getByRole("table", { name: "By operator" }).getByRole("row")
          await rows.filter({ hasText: "Dalarna" }).getByText("+€5.00").first().waitFor()
          await rows.filter({ hasText: "Lima" }).getByText("no rate").waitFor()
          await page.getByText("In no total, because there is no rate to EUR: Lima.").waitFor()
          assert.isAtMost(await effort.clicks(), 2)
          assert.strictEqual(effort.pageChanges(), 1)
          assert.include(page.url(), "from=2026-10-01&to=2026-10-31")
          // one operator of them, by month at a click, and everything in one file
          await rows.getByRole("link", { name: "Dalarna" }).click()
          await page.getByText("Months", { exact: true }).click()
          await page.getByRole("table", { name: "By month" }).getByText("2026-10").waitFor()
          const [file] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("link", { name: "Export CSV: everything" }).click()
          ])
          return readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).map((line) => line.split(","))
        })
        const [head = [], ...rows] = lines
        const of = (row: ReadonlyArray<string>, name: string) => row[head.indexOf(name)]
        assert.deepStrictEqual(rows.map((row) => [of(row, "section"), of(row, "key"), of(row, "ggr")]), [
          ["total", "total", "5000"],
          ["month", "2026-10", "5000"],
          ["day", "2026-10-15", "5000"],
          ["type", "rng", "5000"],
          ["provider", String(casinos[2]?.studio.id), "5000"]
        ])
        assertNone(browser.problems())
      }).pipe(Effect.scoped)
    ))
})
