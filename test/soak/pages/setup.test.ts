import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Locator, Page } from "playwright-core"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { operatorWith } from "../../kit/HttpCalls.ts"
import { fresh, openCasino, staff, staffCall } from "../../kit/Casino.ts"
import { assertNone, chooseOption, Browser, signedIn, signedInFully, tabTo, violationsOn } from "../../kit/Browser.ts"
import { act, choose, closeUncopied, done, press, shownOnce } from "../../kit/PageSteps.ts"

// Goal: staff accounts, operators and their keys are created and changed in the pages, and the audit log has each change with the state before.
// Method: clicks and keys in Chromium, answers from the database and the staff API.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const open = async (page: Page, path: string, title: string) => {
  await page.goto(path)
  await page.getByRole("heading", { level: 1, name: title }).waitFor()
  await page.getByRole("table", { name: title, exact: true }).getByRole("row").nth(1).waitFor()
}

/** The staff API's list row with an id. */
const rowOf = Effect.fnUntraced(function*(path: string, id: number) {
  for (const row of yield* staff("GET", path)) if (row.id === id) return row
  return assert.fail(`${path} has no ${id}`)
})

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the setup pages", (it) => {
  it.effect("add a staff account for one operator by keyboard alone, which then signs in", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const name = fresh("Paula ")
      yield* Effect.promise(() => open(page, "/staff", "Staff"))
      yield* tabTo(page, "Add account")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("dialog", { name: "Add account" }).getByLabel("Name").and(page.locator(":focus"))
          .waitFor()
        await page.keyboard.type(name)
      })
      yield* tabTo(page, /^Operators/)
      yield* Effect.promise(async () => {
        await page.keyboard.type(house.slug)
        await page.getByRole("option", { name: house.slug, exact: true }).waitFor()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Escape")
      })
      const dialog = page.getByRole("dialog", { name: "Add account" })
      assert.isTrue(yield* Effect.promise(() => dialog.isVisible()), "Escape closes the list before the dialog")
      yield* tabTo(page, /^Password/)
      yield* Effect.promise(() => page.keyboard.type("correct horse battery"))
      yield* tabTo(page, "Add account")
      const token = yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await dialog.getByText("shown now and never again").waitFor()
        return await dialog.locator("pre").textContent() ?? ""
      })
      const shown = yield* staffCall("GET", "/backoffice/v1/session", undefined, { authorization: `Bearer ${token}` })
      assert.deepInclude(shown.data.staff, { name, role: "support", operators: [house.id] })
      assert.isTrue(shown.data.has_password)
    }).pipe(Effect.scoped))

  it.effect("change an account, and show the line of the audit log with before and after", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const clerk = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await open(page, "/staff", "Staff")
        await press(page, "Change account", { menuOf: page.getByRole("row").filter({ hasText: clerk.name }) })
        const dialog = page.getByRole("dialog", { name: "Change account" })
        await dialog.getByLabel("Role").click()
        await page.getByRole("option", { name: "payments" }).click()
        await dialog.getByLabel(/^Daily budget/).fill("250.50")
        await dialog.getByRole("button", { name: "Change account" }).click()
        await page.getByRole("row").filter({ hasText: clerk.name }).getByText("payments").waitFor()

        await open(page, "/audit?action=staff.update", "Audit log")
        await page.getByRole("row").filter({ hasText: `staff:${clerk.id}` })
          .getByRole("button", { name: /^Before and after/ }).click()
        const line = page.getByRole("dialog", { name: "staff.update" })
        const role = line.getByRole("row").filter({ hasText: "role" })
        assert.strictEqual(await role.textContent(), "role (changed)\"support\"\"payments\"")
      })
      assert.strictEqual((yield* rowOf("/staff", clerk.id)).daily_budget, 25_050)
      assertNone(yield* violationsOn(page))
    }).pipe(Effect.scoped))

  it.effect("show the audit log and filter it by action, by keyboard alone", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(() => open(page, "/audit", "Audit log"))
      yield* tabTo(page, "Action")
      yield* Effect.promise(async () => {
        await page.keyboard.type("operator.create")
        await chooseOption(page, "operator.create")
        await page.waitForURL(/action=operator\.create/)
        const rows = page.getByRole("table", { name: "Audit log" }).getByRole("row")
        await rows.filter({ hasText: "staff.create" }).first().waitFor({ state: "detached" })
        await rows.filter({ hasText: "operator.create" }).first().waitFor()
      })
      yield* tabTo(page, /^Before and after/)
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "operator.create" })
        await dialog.getByRole("row").filter({ hasText: "slug" }).waitFor()
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "hidden" })
      })
    }).pipe(Effect.scoped))

  it.effect("revoke a key only when its name is typed, and show it revoked in the table", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await open(page, `/operators?operator=${casino.slug}`, "Operators")
        const row = page.getByRole("table", { name: "API keys" }).getByRole("row").filter({ hasText: casino.slug })
        await press(page, "Revoke key", { menuOf: row })
        const dialog = page.getByRole("dialog", { name: "Revoke key" })
        const confirm = dialog.getByRole("button", { name: "Revoke key" })
        assert.isTrue(await confirm.isDisabled())
        const asked = await dialog.getByText(/^Type .* to confirm$/).textContent() ?? ""
        await dialog.getByLabel(asked).fill(asked.slice("Type ".length, -" to confirm".length))
        await confirm.click()
        await row.getByText("revoked").waitFor()
      })
      const [key] = yield* sql<{ readonly revoked: boolean }>`
        SELECT revoked_at IS NOT NULL AS revoked FROM api_keys WHERE key = ${casino.key.key}`
      assert.deepStrictEqual(key, { revoked: true })
      const refused = yield* casino.get("/me")
      assert.strictEqual(refused.status, 401)
    }).pipe(Effect.scoped))

  it.effect("add an operator and its key by keyboard alone, with the secret shown once", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const slug = fresh("keyed-")
      yield* Effect.promise(() => open(page, "/operators", "Operators"))
      yield* tabTo(page, "Add operator")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("dialog", { name: "Add operator" }).getByLabel("Slug").waitFor()
        await page.keyboard.type(slug)
        await page.keyboard.press("Tab")
        await page.keyboard.type(`Casino ${slug}`)
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { level: 1, name: `Casino ${slug}` }).waitFor()
        await page.getByRole("dialog", { name: "Add operator" }).waitFor({ state: "hidden" })
        await page.getByRole("region", { name: "Set-up" }).getByRole("button", { name: "Add key" }).waitFor()
      })
      yield* tabTo(page, "Add key", 200)
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "Add key" })
        await dialog.getByRole("button", { name: "Add key" }).click()
        await dialog.getByText("Secret: shown now and never again").waitFor()
        const secret = await dialog.locator("pre").textContent() ?? ""
        await closeUncopied(dialog)
        assert.notInclude(await page.content(), secret)
      })
    }).pipe(Effect.scoped))

  it.effect("change an operator's approval threshold and limits, and give its key a new secret that alone is accepted", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const secret = yield* Effect.promise(async () => {
        await open(page, `/operators?operator=${casino.slug}`, "Operators")
        const row = page.getByRole("table", { name: "Operators" }).getByRole("row").filter({ hasText: casino.slug })
        await done(page, "Change operator", { "Second approval above (EUR)": "1250.50" }, row)
        await row.getByText("€1,250.50").waitFor()
        await press(page, "Change operator", row)
        const form = page.getByRole("dialog", { name: "Change operator" })
        await form.getByLabel("Maximum stake of an original (EUR)").fill("50")
        await choose(page, "Add a limit", "Max daily deposit", form)
        await form.getByLabel("Max daily deposit", { exact: true }).fill("500")
        await form.getByRole("button", { name: "Change operator" }).click()
        await form.waitFor({ state: "hidden" })
        const keyRow = page.getByRole("table", { name: "API keys" }).getByRole("row").filter({ hasText: casino.slug })
        await press(page, "Change key", { menuOf: keyRow })
        const change = page.getByRole("dialog", { name: "Change key" })
        await change.getByLabel("Requests per minute").fill("1200")
        await change.getByRole("button", { name: "Change key" }).click()
        await change.waitFor({ state: "hidden" })
        await keyRow.getByText("1,200").waitFor()
        const dialog = await act(page, "New secret", { "Type API key to confirm": "API key" }, { menuOf: keyRow })
        return shownOnce(dialog)
      })
      assert.deepInclude(yield* rowOf("/operators", casino.id), {
        withdrawal_second_approval_above: 125_050,
        original_max_stake: 5000,
        default_limits: { max_daily_deposit: 50_000 }
      })
      const { status } = yield* operatorWith({ key: casino.key.key, secret }).get("/me")
      assert.deepStrictEqual([(yield* casino.get("/me")).status, status], [401, 200])
    }).pipe(Effect.scoped))

  it.effect("send from a form that was open while a colleague changed the operator only what was entered in it", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const dialog = page.getByRole("dialog", { name: "Change operator" })
      yield* Effect.promise(async () => {
        await page.goto(`/operators/${casino.slug}`)
        await press(page, "Change operator", page)
        await dialog.getByLabel(/^Name/).fill("Renamed")
      })
      const cap = { withdrawal_second_approval_above: 200_000, daily_withdrawal_cap: 500_000 }
      yield* staff("PATCH", `/operators/${casino.slug}`, cap)
      const sent = yield* Effect.promise(async () => {
        // back at the window after a while, the page reads again
        await page.clock.setFixedTime(await page.evaluate<number>("Date.now() + 60_000"))
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
        await page.getByText("€5,000.00").first().waitFor()
        const [request] = await Promise.all([
          page.waitForRequest((one) => one.method() === "PATCH"),
          dialog.getByRole("button", { name: "Change operator" }).click()
        ])
        await dialog.waitFor({ state: "hidden" })
        return request.postDataJSON()
      })
      assert.deepStrictEqual(sent, { name: "Renamed" })
      assert.deepInclude(yield* rowOf("/operators", casino.id), { name: "Renamed", ...cap })
    }).pipe(Effect.scoped))

  it.effect("group operators by licensee, shown on an operator's page", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const name = fresh("Holding ")
      const change = async (choosing: (form: Locator) => Promise<void>) => {
        const row = page.getByRole("table", { name: "Operators" }).getByRole("row").filter({ hasText: casino.slug })
        await press(page, "Change operator", row)
        const form = page.getByRole("dialog", { name: "Change operator" })
        await choosing(form)
        await form.getByRole("button", { name: "Change operator" }).click()
        await form.waitFor({ state: "hidden" })
      }
      yield* Effect.promise(async () => {
        await open(page, `/operators?operator=${casino.slug}`, "Operators")
        await done(page, "Add licensee", { Name: name })
        await page.getByRole("table", { name: "Licensees" }).getByText(name).waitFor()
        await change((form) => choose(page, "Licensee", name, form))
        await page.goto(`/operators/${casino.slug}`)
        await page.getByText(name, { exact: true }).waitFor()
      })
      assert.isNumber((yield* rowOf("/operators", casino.id)).licensee_id)
      yield* Effect.promise(async () => {
        await open(page, `/operators?operator=${casino.slug}`, "Operators")
        // chosen again, it is none
        await change((form) => choose(page, "Licensee", name, form))
      })
      assert.isNull((yield* rowOf("/operators", casino.id)).licensee_id)
    }).pipe(Effect.scoped))

  it.effect("let in a person who has lost the second factor, by a sign-in link that is shown once", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const clerk = yield* signedInFully({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      const row = page.getByRole("row").filter({ hasText: clerk.name })
      const link = yield* Effect.promise(async () => {
        await open(page, "/staff", "Staff")
        await done(page, "Reset second factor", {}, { menuOf: row })
        await row.getByText("second factor").waitFor({ state: "detached" })
        return shownOnce(await act(page, "Sign-in link", {}, { menuOf: row }))
      })
      assert.strictEqual((yield* clerk.call("GET", "/session")).status, 401)
      assert.isFalse((yield* rowOf("/staff", clerk.id)).has_second_factor)
      const own = yield* browser.open()
      const { pathname, search } = new URL(link)
      yield* Effect.promise(async () => {
        await own.goto(pathname + search)
        await own.getByRole("button", { name: `Sign in as ${clerk.name}`, exact: true }).click()
        await own.getByRole("button", { name: clerk.name, exact: true }).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("re-encrypt the encrypted columns, by keyboard alone", () =>
    Effect.gen(function*() {
      const { cookie, id } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        const counts: Array<string> = []
        page.on("request", (request) => void counts.push(new URL(request.url()).pathname))
        await page.goto("/jobs")
        await page.getByRole("heading", { name: "Encrypted columns" }).waitFor()
        await page.waitForLoadState("networkidle")
        // all that is encrypted is opened to be counted
        assert.notInclude(counts, "/backoffice/v1/secrets")
        await page.getByRole("button", { name: "Count", exact: true }).click()
        await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor()
        await page.getByRole("table", { name: "Encrypted columns" }).getByRole("row").nth(1).waitFor()
      })
      yield* tabTo(page, "Encrypt under the present key")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByRole("dialog", { name: "Encrypt under the present key" }).waitFor()
      })
      yield* tabTo(page, "Encrypt under the present key")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await page.getByText("Encrypt under the present key: done").waitFor()
      })
      const [line] = yield* staff("GET", "/audit?action=secret.reseal")
      assert.deepInclude(line, { actor: `staff:${id}` })
    }).pipe(Effect.scoped))
})
