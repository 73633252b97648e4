import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedInFully } from "../../kit/Browser.ts"
import { dataOf, made, openCasino, staff } from "../../kit/Casino.ts"
import { choose, notified } from "../../kit/PageSteps.ts"

// Goal: a compliance officer opens a case, works on it, asks for the source of funds, notes a report, decides and closes it; and connects a screening.
// Method: a casino with a player, in a real browser.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the cases pages", (it) => {
  it.effect("12.2: a case is opened, worked on, decided and closed, with its evidence on one page", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      const payment = dataOf(yield* casino.deposit(player, 12_300), 201)
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* browser.open({ cookie })
      const dialog = page.getByRole("dialog")
      const taken = async (label: string, done: string) => {
        await dialog.getByRole("button", { name: label }).click()
        await notified(page, done)
      }
      const take = (label: string) =>
        page.getByRole("main").getByRole("button", { name: label, exact: true }).first().click()
      yield* Effect.promise(async () => {
        await page.goto("/cases")
        await page.getByRole("heading", { level: 1, name: "Cases" }).waitFor()
        await page.getByRole("button", { name: "Open case" }).first().click()
        await choose(page, "Type", "affordability", dialog)
        await dialog.getByLabel("Player id").fill(String(player))
        await dialog.getByLabel("Note").fill("three deposits in an hour")
        await taken("Open case", "Case opened")
        await page.getByRole("row").filter({ hasText: "affordability" }).getByRole("link").first().click()
        await page.getByRole("heading", { level: 1, name: /^Case \d+$/ }).waitFor()
        await page.getByText("three deposits in an hour").waitFor()
        await page.getByRole("link", { name: String(payment.id) }).waitFor()
        await take("Start work")
        await dialog.getByLabel("Note").fill("looking at it")
        await taken("Start work", "Case in progress")
        await take("Assign to me")
        await taken("Assign to me", "is yours")
        await take("Add note")
        await dialog.getByLabel("Note").fill("salary is plausible")
        await taken("Add note", "Note added")
        await take("Ask for source of funds")
        await dialog.getByLabel("Text").fill("Please send three payslips.")
        await dialog.getByLabel("Due").fill("P14D")
        await taken("Ask for source of funds", "Player asked")
        await page.getByRole("row").filter({ hasText: "source of funds" }).waitFor()
        await take("Add evidence")
        await dialog.getByLabel("Kind").fill("payslip")
        await dialog.getByLabel("Reference").fill("box 7")
        await dialog.getByLabel("SHA-256").fill("ab".repeat(32))
        await taken("Add evidence", "Evidence added")
        await take("Reject evidence")
        await taken("Reject evidence", "Evidence rejected")
        await take("Accept evidence")
        await taken("Accept evidence", "Evidence accepted")
        await take("Note report")
        await dialog.getByLabel("Reference").fill("R-77")
        await dialog.getByRole("textbox", { name: "Authority" }).fill("FIU")
        await dialog.getByLabel("Submitted").fill("2026-11-20T12:00")
        await taken("Note report", "Report noted")
        await page.getByRole("row").filter({ hasText: "R-77" }).waitFor()
        await take("Decide")
        await choose(page, "Decision", "monitor", dialog)
        await taken("Decide", "Case decided")
        await take("Take up again")
        await taken("Take up again", "Case in progress")
        // without what the page has said of the first decision
        await page.reload()
        await take("Decide")
        await choose(page, "Decision", "no action", dialog)
        await taken("Decide", "Case decided")
        await take("Close case")
        await taken("Close case", "Case closed")
        await page.goto(`/players/${player}?tab=compliance`)
        await page.getByRole("row").filter({ hasText: "affordability" }).filter({ hasText: "closed" }).waitFor()
      })
      const [found] = yield* staff("GET", `/cases?player=${player}`)
      assert.deepInclude(found, { status: "closed", decision: "no_action" })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("12.2: a case links its alerts that are older than the player's newest 100", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      const first = player * 1000
      const raise = (from: number, to: number) =>
        sql`INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold,
            created_at, updated_at)
          SELECT ${first}::float8::bigint + n, ${casino.id}, ${player}, 'large_deposit', 'test:' || n, 'low', 'open', '{}', 'none',
            now() + n * interval '1 ms', now()
          FROM generate_series(${from}::integer, ${to}::integer) n`
      yield* raise(0, 0)
      const { id } = yield* made("/cases", { type: "aml", player, alerts: [first] })
      yield* raise(1, 100)
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/cases/${id}`)
        await page.getByText("Of the player's newest 100.").waitFor()
        await page.getByText("None of the newest 100.").waitFor()
        await page.getByRole("link", { name: String(first), exact: true }).click()
        await page.getByRole("heading", { name: `Alert ${first}: large deposit` }).waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("12.1: a screening connection is added, changed and disabled", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* browser.open({ cookie })
      const dialog = page.getByRole("dialog")
      yield* Effect.promise(async () => {
        await page.goto("/registers")
        await page.getByRole("button", { name: "Add screening" }).click()
        await choose(page, "Operator", casino.slug, dialog)
        await dialog.getByLabel("Address").fill("https://screening.example/v1")
        await dialog.getByLabel("Api key").fill("secret")
        await dialog.getByRole("button", { name: "Add screening" }).click()
        await notified(page, "Screening added")
        const row = page.getByRole("row").filter({ hasText: "Screening" }).filter({ hasText: "not asked yet" })
        await row.getByRole("button", { name: "Change screening" }).click()
        await dialog.getByLabel("Api key").fill("another")
        await dialog.getByRole("button", { name: "Change screening" }).click()
        await notified(page, "Screening changed")
        await row.getByRole("button", { name: "Actions of register Screening" }).click()
        await page.getByRole("menuitem", { name: "Switch screening off" }).click()
        await dialog.getByRole("button", { name: "Switch screening off" }).click()
        await notified(page, "Screening switched off")
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))
})
