import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { dataOf, openCasino, staff, staffCall } from "../../kit/Casino.ts"
import { assertNone, Browser, later, signedIn, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { raisedAlert } from "../../kit/commands/Scene.ts"
import { act, choose, done, notified } from "../../kit/PageSteps.ts"
import { codeOf } from "../../kit/StaffBrowser.ts"

// Goal: an alert is found, taken, worked on and closed in a browser, and the page's withdrawal status of the player matches the operator's API.
// Method: Chromium on alerts raised by large credits; the operator's API beside it.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the alerts page", (it) => {
  it.effect("handles an alert from the list to its closing, with the withdrawals it holds", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const { alert, player } = yield* raisedAlert(casino)
      const other = yield* raisedAlert(casino)
      const officer = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      const withdrawal = Effect.map(casino.withdraw(player, 100), ({ code, status }) => code ?? status)
      const fact = (name: string) => page.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) })
      const shows = (name: string, value: string) =>
        Effect.promise(() => fact(name).filter({ hasText: value }).waitFor())

      const list = `/alerts?status=open&assigned_to=none&player=${player}`
      yield* Effect.promise(async () => {
        await page.goto(list)
        await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor()
        const table = page.getByRole("table", { name: "Alerts" })
        await table.getByRole("link", { name: String(alert), exact: true }).waitFor()
        assert.strictEqual(await table.getByRole("link", { name: String(other.alert), exact: true }).count(), 0)
        await table.getByRole("link", { name: String(alert), exact: true }).click()
        await page.getByRole("heading", { level: 2, name: `Alert ${alert}: large credit` }).waitFor()
        await page.getByText("A game provider credited €100,000.01").waitFor()
        await done(page, "Assign to me")
      })
      yield* shows("Assigned to", "you")
      yield* shows("Withdrawals", "stopped")
      assert.strictEqual(yield* withdrawal, "PLAYER_RESTRICTED")
      yield* Effect.promise(() => done(page, "Release withdrawals", { Reason: "The jackpot is real" }))
      yield* shows("Withdrawals", "allowed")
      assert.strictEqual(yield* withdrawal, 201)
      yield* Effect.promise(() => done(page, "Hold withdrawals", { Reason: "Papers are asked for" }))
      yield* shows("Withdrawals", "stopped")
      assert.strictEqual(yield* withdrawal, "PLAYER_RESTRICTED")

      yield* Effect.promise(async () => {
        await done(page, "Add note", { Note: "Asked the provider.\nIt confirms <b>the win</b>." })
        const note = page.getByRole("list", { name: "Notes" }).getByRole("listitem")
        await note.getByText("It confirms <b>the win</b>.").waitFor()
        // closing a case requires a note
        const dialog = await act(page, "Close alert")
        await dialog.getByText("Reason is needed").waitFor()
        await dialog.getByLabel("Reason").fill("Paid by the provider")
        await dialog.getByRole("button", { name: "Close alert" }).click()
        await dialog.waitFor({ state: "hidden" })
      })
      yield* shows("Status", "closed")
      yield* shows("Withdrawals", "allowed")
      assert.strictEqual(yield* withdrawal, 201)
      const closed = yield* staff("GET", `/alerts/${alert}`)
      assert.deepInclude(closed, { status: "closed", assigned_to: officer.id })
      assert.deepStrictEqual(
        closed.notes.map(({ by, note }: { readonly by: string; readonly note: string }) => [by, note]),
        [
          [`staff:${officer.id}`, "Asked the provider.\nIt confirms <b>the win</b>."],
          [`staff:${officer.id}`, "Paid by the provider"]
        ]
      )
      yield* Effect.promise(async () => {
        for (const name of ["Assign to me", "Assign", "Hold withdrawals", "Escalate", "Close alert"]) {
          assert.strictEqual(await page.getByRole("button", { name, exact: true }).count(), 0, name)
        }
        await page.getByRole("button", { name: "Close details" }).click()
        await page.getByText("Nothing matches the filters.").waitFor()
        assert.strictEqual(new URL(page.url()).search, new URL(list, page.url()).search)
      })
      assertNone(yield* violationsOn(page))
    }).pipe(Effect.scoped))

  it.effect("works by keyboard alone, and undoes a mistaken assignment", () =>
    Effect.gen(function*() {
      const { alert } = yield* raisedAlert(yield* SharedCasino)
      const officer = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      yield* Effect.promise(async () => {
        await page.goto("/alerts")
        await page.getByRole("table", { name: "Alerts" }).waitFor()
      })
      yield* tabTo(page, "Alert id")
      yield* Effect.promise(async () => {
        await page.keyboard.type(String(alert))
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 2, name: new RegExp(`^Alert ${alert}`) }).waitFor()
      })
      yield* tabTo(page, "Start review")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "Start review" })
        await dialog.locator("textarea:focus, input:focus").waitFor()
        await page.keyboard.type("On it")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await dialog.waitFor({ state: "hidden" })
      })
      yield* tabTo(page, "Assign to me")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("dialog", { name: "Assign to me" }).waitFor()
      })
      yield* tabTo(page, "Assign to me")
      yield* Effect.promise(() => page.keyboard.press("Enter"))
      const undo = page.getByRole("button", { name: "Undo" })
      yield* Effect.promise(() => undo.waitFor())
      const assigned = yield* staff("GET", `/alerts/${alert}`)
      assert.deepInclude(assigned, { status: "in_review", assigned_to: officer.id })
      yield* tabTo(page, "Undo")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await notified(page, "Taken back")
        await page.getByText("nobody").waitFor()
      })
      assert.isNull((yield* staff("GET", `/alerts/${alert}`)).assigned_to)
      assert.deepStrictEqual(dataOf(yield* staffCall("GET", `/backoffice/v1/alerts/${alert}`)).notes[0].note, "On it")
    }).pipe(Effect.scoped))

  it.effect("shows an operator's rules, and asks for a second factor to change one", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "SEK" })
      const officer = yield* signedIn({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/alerts?tab=rules&operator=${casino.slug}`)
        const row = page.getByRole("table", { name: "Alert rules" }).getByRole("row").filter({
          hasText: "Large deposit"
        })
        await row.getByText("SEK 2,000.00").waitFor()
        const dialog = await act(page, "Change rule", { "Threshold (SEK)": "750.50" }, row)
        const alert = dialog.getByRole("alert")
        await alert.getByText("INSUFFICIENT_SCOPE").waitFor()
        await alert.getByRole("link", { name: "Set up a second factor" }).waitFor()
      })
      // an expired second factor is requested again, and the change goes on
      const equipped = yield* signedInFully({ role: "compliance" })
      yield* later(equipped.id)
      const code = codeOf(equipped.secret, yield* Clock.currentTimeMillis)
      const other = yield* (yield* Browser).open({ cookie: equipped.cookie })
      yield* Effect.promise(async () => {
        await other.goto(`/alerts?tab=rules&operator=${casino.slug}`)
        const row = other.getByRole("table", { name: "Alert rules" }).getByRole("row").filter({
          hasText: "Large deposit"
        })
        await act(other, "Change rule", { "Threshold (SEK)": "750.50" }, row)
        const second = other.getByRole("dialog", { name: "Second factor" })
        await second.getByLabel("Code").fill(code)
        await second.getByRole("button", { name: "Confirm" }).click()
        await row.getByText("SEK 750.50").waitFor()
      })
      const rules: ReadonlyArray<{ readonly rule: string; readonly threshold: number }> = yield* staff(
        "GET",
        `/alert-rules?operator=${casino.slug}`
      )
      assert.deepInclude(rules.find(({ rule }) => rule === "large_deposit"), { threshold: 75_050 })
    }).pipe(Effect.scoped))

  it.effect("keeps its hold, and adds none by staff, when a restriction of the player is made and taken back", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      yield* staff("POST", `/alerts/${alert}/hold`, { reason: "Asked for papers" })
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/players/${player}`)
        await page.getByText("May withdraw: no, held by an alert").waitFor()
        await page.getByRole("button", { name: "More", exact: true }).click()
        await page.getByRole("menuitem", { name: "Restrict", exact: true }).click()
        const dialog = page.getByRole("dialog", { name: "Restrict" })
        await dialog.getByLabel("May bet").uncheck()
        await dialog.getByLabel("Reason").fill("Wrong player")
        await dialog.getByRole("button", { name: "Restrict" }).click()
        await page.getByText("May bet: no, restricted by staff").waitFor()
        await page.getByRole("button", { name: "Undo" }).click()
        await notified(page, "Taken back")
      })
      const { restrictions: held } = yield* staff("GET", `/players/${player}`)
      assert.deepInclude(held, { can_bet: true, can_withdraw: false })
      yield* staff("PATCH", `/alerts/${alert}`, { status: "closed", note: "Papers seen" })
      dataOf(yield* casino.withdraw(player, 100), 201)
    }).pipe(Effect.scoped))

  it.effect("assigns an alert to another person, and escalates it", () =>
    Effect.gen(function*() {
      const { alert } = yield* raisedAlert(yield* SharedCasino)
      const officer = yield* signedInFully({ role: "compliance" })
      const other = yield* signedIn({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      yield* Effect.promise(async () => {
        await page.goto(`/alerts?id=${alert}`)
        await page.getByRole("button", { name: "Assign", exact: true }).click()
        const dialog = page.getByRole("dialog", { name: "Assign", exact: true })
        await choose(page, "To", `${other.name} (compliance)`, dialog)
        await dialog.getByRole("button", { name: "Assign", exact: true }).click()
        await dialog.waitFor({ state: "hidden" })
        await done(page, "Escalate", { Note: "Above what I decide" })
        await page.getByRole("list", { name: "Notes" }).getByText("Above what I decide").waitFor()
      })
      assert.deepInclude(yield* staff("GET", `/alerts/${alert}`), { status: "escalated", assigned_to: other.id })
    }).pipe(Effect.scoped))
})
