import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { GameSums } from "../../../src/features/reports/GameSums.ts"
import { FigureReadings } from "../../../src/features/figures/FigureReadings.ts"
import { assertNone, Browser, chooseOption, signedIn, tabTo } from "../../kit/Browser.ts"
import { pass, whileTimePasses } from "../../kit/Calendar.ts"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { dataOf, openCasino } from "../../kit/Casino.ts"

// Goal: the report shows the play, with equal figures in the chart, the tables and the exported file. Method: two days of play on a calendar of
// the test's, Chromium.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const dayMs = 86_400_000

/** A casino that won 150 on the first day and lost 40 on the second. Minor units of EUR. */
const playedTwoDays = Effect.gen(function*() {
  const readings = yield* FigureReadings
  const casino = yield* openCasino({ report_offset_hours: 2 })
  const seat = yield* casino.sit(100_000)
  dataOf(yield* seat.bet(15_000))
  yield* readings.readHour
  yield* pass(dayMs)
  yield* readings.readHour
  // yesterday's session has expired
  const { session_token } = dataOf(yield* casino.launch(seat.id))
  const { player_ref } = dataOf(yield* casino.callWallet("authenticate", { session_token }))
  const today = casino.playOf(session_token, player_ref)
  const { transaction_id: bet } = dataOf(yield* today.bet(1000))
  dataOf(yield* today.win(bet, 5000))
  yield* pass(dayMs)
  yield* readings.readHour
  yield* readings.readFunds
  return casino
})

const play = { Bets: "bets", Wins: "wins", GGR: "ggr", Rounds: "rounds" }
const payments = { Deposits: "deposits", Withdrawals: "withdrawals" }

/** Tables of the page with the sections of the file, and the columns of both by the heading. */
const sections: Readonly<
  Record<string, { readonly section: string; readonly columns: Readonly<Record<string, string>> }>
> = {
  "By day": { section: "day", columns: { Day: "name", ...play, "Bonus bets": "bonus_bets", ...payments } },
  "Days in UTC+2": {
    section: "local_day",
    columns: {
      Day: "name",
      ...play,
      "Bonus conversions": "bonus_conversions",
      "Net gaming revenue": "net_gaming_revenue",
      ...payments
    }
  },
  "By type of game": { section: "type", columns: { Type: "name", ...play, "Bonus bets": "bonus_bets" } },
  "By provider": { section: "provider", columns: { Provider: "name", ...play, "Bonus bets": "bonus_bets" } },
  "By game": { section: "game", columns: { Game: "name", Provider: "provider", ...play, "Bonus bets": "bonus_bets" } },
  "Funds held for players now": {
    section: "funds",
    columns: { Currency: "currency", Wallet: "name", Amount: "held", Players: "players" }
  },
  "Cost of bonuses": {
    section: "bonus",
    columns: {
      Bonus: "name",
      Granted: "granted",
      "Granted amount": "granted_amount",
      Converted: "converted",
      Forfeited: "forfeited",
      Liability: "liability",
      Running: "running"
    }
  }
}

/** A figure without the signs of its currency, of gains and of thousands; any other text as it is. */
const plainOf = (text = ""): string =>
  /^[+\-−]?\D?[\d,.]+$/u.test(text) ? String(Number(text.replaceAll(/[^\d-]/gu, ""))) : text

const range = "from=2026-11-19&to=2026-11-22"

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the GGR report page", (it) => {
  it.effect("shows consistent sums in figures, chart, tables and CSV", () =>
    whileTimePasses(
      Effect.gen(function*() {
        const casino = yield* playedTwoDays
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        const lines = yield* Effect.promise(async () => {
          await page.goto(`/reports/ggr?operator=${casino.slug}&${range}`)
          await page.getByRole("heading", { level: 1, name: "GGR report" }).waitFor()
          await page.locator("dl > div").filter({ hasText: /^GGR/ }).getByText("+€110.00").waitFor()
          await page.getByRole("img", { name: /^GGR by (hour|day)/ }).locator("canvas").waitFor()
          const rows = page.getByRole("table", { name: "By day" }).getByRole("row")
          await rows.filter({ hasText: "2026-11-20" }).getByText("+€150.00").waitFor()
          await rows.filter({ hasText: "2026-11-21" }).getByText("-€40.00").waitFor()
          await page.getByRole("table", { name: "By provider" }).getByText(casino.studio.name).waitFor()
          await page.getByRole("table", { name: "Funds held for players" }).getByText("€890.00").waitFor()
          const [file] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("link", { name: "Export CSV: by day" }).click()
          ])
          return readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).map((line) => line.split(","))
        })
        const [head = [], ...rows] = lines
        const of = (row: ReadonlyArray<string> | undefined, name: string) => row?.[head.indexOf(name)]
        assert.deepStrictEqual(rows.map((row) => [of(row, "name"), of(row, "bets"), of(row, "wins"), of(row, "ggr")]), [
          ["2026-11-20", "15000", "0", "15000"],
          ["2026-11-21", "1000", "5000", "-4000"]
        ])
        assertNone((yield* Browser).problems())
      }).pipe(Effect.scoped)
    ))

  // Goal: the file of everything is what the page shows. Method: each table's cells against the lines of its section, in minor units.
  it.effect("exports every figure of its tables in one file", () =>
    whileTimePasses(
      Effect.gen(function*() {
        const casino = yield* playedTwoDays
        const { id } = yield* casino.register()
        dataOf(yield* casino.deposit(id, 2500), 201)
        dataOf(yield* casino.grant(id, (yield* casino.newBonus({ type: "no_deposit" })).id), 201)
        yield* pass(600_001)
        const games = yield* GameSums
        yield* Effect.repeat(games.addUp, { while: ({ hasMore }) => hasMore })
        yield* (yield* FigureReadings).readFunds
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        const { lines, shown } = yield* Effect.promise(async () => {
          await page.goto(`/reports/ggr?operator=${casino.slug}&${range}`)
          const cells: Record<string, ReadonlyArray<ReadonlyArray<string>>> = {}
          for (const [heading, { section }] of Object.entries(sections)) {
            const table = page.getByRole("table", { name: heading })
            await table.getByRole("row").nth(1).waitFor()
            const rows = await table.getByRole("row").all()
            cells[section] = await Promise.all(
              rows.map((row) => row.getByRole("columnheader").or(row.getByRole("cell")).allTextContents())
            )
          }
          const [file] = await Promise.all([
            page.waitForEvent("download"),
            page.getByRole("link", { name: "Export CSV: everything" }).click()
          ])
          return {
            shown: cells,
            lines: readFileSync(await file.path(), "utf8").trim().split(/\r?\n/).map((line) => line.split(","))
          }
        })
        const [head = [], ...rows] = lines
        for (const { columns, section } of Object.values(sections)) {
          const own = rows.filter((row) => row[head.indexOf("section")] === section)
          const [marked = [], ...drawn] = shown[section] ?? []
          // a heading that sorts has a mark behind its text
          const headings = marked.map((heading) => heading.trim())
          assert.isAbove(drawn.length, 0, section)
          for (const [heading, column] of Object.entries(columns)) {
            assert.include(headings, heading, section)
            assert.include(head, column)
            assert.deepStrictEqual(
              drawn.map((row) => plainOf(row[headings.indexOf(heading)])),
              own.map((row) => plainOf(row[head.indexOf(column)])),
              `${section}: ${heading}`
            )
          }
        }
        assertNone((yield* Browser).problems())
      }).pipe(Effect.scoped)
    ))

  it.effect("shows another figure by keyboard alone, and keeps figure and range in the URL", () =>
    whileTimePasses(
      Effect.gen(function*() {
        const casino = yield* playedTwoDays
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(async () => {
          await page.goto(`/reports/ggr?operator=${casino.slug}&${range}`)
          await page.getByRole("img", { name: /^GGR by/ }).waitFor()
        })
        yield* tabTo(page, "Figure")
        yield* Effect.promise(async () => {
          await page.keyboard.press("Enter")
          await chooseOption(page, "Bets")
          await page.waitForURL(/metric=bets/)
          await page.getByRole("img", { name: /^Bets by/ }).waitFor()
          assert.include(page.url(), range.split("&")[0] ?? "")
        })
      }).pipe(Effect.scoped)
    ))

  it.effect("is drawn when the browser's language tag is invalid", () =>
    whileTimePasses(
      Effect.gen(function*() {
        const casino = yield* playedTwoDays
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(async () => {
          // as Chromium behaves on a machine without a language
          await page.addInitScript(
            "Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true })"
          )
          await page.goto(`/reports/ggr?operator=${casino.slug}&${range}`)
          await page.locator("dl > div").filter({ hasText: /^GGR/ }).getByText("+€110.00").waitFor()
          await page.getByRole("img", { name: /^GGR by (hour|day)/ }).locator("canvas").waitFor()
        })
        assertNone((yield* Browser).problems())
      }).pipe(Effect.scoped)
    ))
})
