import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { assertNone, Browser, signedIn, signedInFully, timersDone, violationsOn } from "../../kit/Browser.ts"
import { layerCasinos, SharedCasino } from "../../kit/Backoffice.ts"
import { dataOf, fresh, openCasino, staff, staffCall } from "../../kit/Casino.ts"
import { press } from "../../kit/PageSteps.ts"

// Goal: on any page, anything with an id can be searched, values are copied in machine-readable form, and times and colours follow the settings.
// Method: Chromium on a casino that plays.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

/** Clipboard content after copying an element: the browser's copy event, with a clipboard of its own. */
const copyOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`(() => {
    const range = document.createRange()
    range.selectNodeContents(document.querySelector(${JSON.stringify(selector)}))
    const selection = document.getSelection()
    selection.removeAllRanges()
    selection.addRange(range)
    const clipboardData = new DataTransfer()
    document.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }))
    return clipboardData.getData("text/plain")
  })()`)

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the common page frame", (it) => {
  it.effect("finds a player, a round and a payment by id, by keyboard alone", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(5000)
      const { transaction_id: round } = dataOf(yield* seat.bet(250))
      const payment = dataOf(yield* casino.withdraw(seat.id, 1000), 201)
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const find = async (text: string, entry: RegExp) => {
        await page.keyboard.press("Control+k")
        const input = page.getByRole("textbox", { name: "Find" }).or(page.getByRole("combobox", { name: "Find" }))
        await input.and(page.locator(":focus")).waitFor()
        await page.keyboard.type(text)
        await page.getByRole("button", { name: entry }).or(page.getByRole("option", { name: entry })).first().waitFor()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await input.waitFor({ state: "hidden" })
      }
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        await find(String(seat.id), /^Player/)
        await page.getByRole("heading", { level: 1, name: String(seat.player.username) }).waitFor()
        await find(String(round), /^(Round|Transaction)/)
        await page.waitForURL(new RegExp(`/rounds/${casino.studio.slug}/slots/${round}`))
        await page.getByRole("heading", { level: 1 }).filter({ hasText: String(round) }).waitFor()
        await find(String(payment.id), /^Payment/)
        await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
        await page.getByRole("link", { name: String(payment.id), exact: true }).waitFor()
        await find("Audit", /^Audit log/)
        await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor()
        await page.keyboard.press("Control+k")
        await page.locator("input:focus").and(page.getByLabel("Find")).waitFor()
        await page.keyboard.type(String(seat.id))
        await page.getByText(`Player ${seat.player.username}`).waitFor()
      })
      assertNone(yield* violationsOn(page))
    }).pipe(Effect.scoped))

  it.effect("copies cells and whole tables with amounts in the page's units and times in UTC", () =>
    Effect.gen(function*() {
      const casino = yield* SharedCasino
      const seat = yield* casino.sit(123_456)
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const { id } = seat
      yield* Effect.promise(async () => {
        await page.goto(`/payments?player=${id}`)
        await page.getByText("€1,234.56").waitFor()
        assert.strictEqual(await copyOf(page, "tbody [data-copy='1234.56']"), "1234.56")
        const table = await copyOf(page, "table[aria-label=Payments]")
        const [head = "", first = ""] = table.split("\n")
        assert.include(head.split("\t"), "Amount")
        assert.includeMembers(first.split("\t"), ["1234.56", "paid", String(id)])
        assert.match(first, /\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\t/)
      })
    }).pipe(Effect.scoped))

  it.effect("shows times in the chosen time zone and pages in the chosen colours, and remembers both", () =>
    Effect.gen(function*() {
      const { cookie, name } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      const shown = () => page.getByRole("table", { name: "Sessions" }).locator("time").first()
      const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
      yield* Effect.promise(async () => {
        await page.goto("/account")
        await page.getByRole("heading", { level: 1, name: "Account" }).waitFor()
        const at = await shown().getAttribute("datetime") ?? ""
        const textIn = (timeZone: string) =>
          new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone }).format(new Date(at))
        assert.strictEqual(await shown().textContent(), textIn("Europe/Berlin"))
        await page.getByRole("button", { name, exact: true }).click()
        await page.locator("input").and(page.getByLabel("Times are shown in")).fill("Tokyo")
        await page.getByRole("option", { name: "Asia/Tokyo" }).click()
        await page.getByText(textIn("Asia/Tokyo")).first().waitFor()
        const light = await ground()
        await page.getByRole("menuitem", { name: "Dark" }).click()
        await page.waitForFunction("document.documentElement.dataset.mantineColorScheme === 'dark'")
        const dark = await ground()
        assert.notStrictEqual(dark, light)
        await page.reload()
        await page.getByText(textIn("Asia/Tokyo")).first().waitFor()
        assert.strictEqual(await ground(), dark)
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("reports a missing network at once, keeps the form, and sends nothing when the network is back", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const slug = fresh("offline-")
      const dialog = page.getByRole("dialog", { name: "Add operator" })
      const sent: Array<string> = []
      page.on("request", (request) => request.method() === "POST" && sent.push(request.url()))
      yield* Effect.promise(async () => {
        await page.goto("/operators")
        await page.getByRole("button", { name: "Add operator" }).click()
        await dialog.getByLabel("Slug").fill(slug)
        await dialog.getByLabel("Name").fill(`Casino ${slug}`)
        await page.context().setOffline(true)
        await dialog.getByRole("button", { name: "Add operator" }).click()
        await dialog.getByRole("alert").filter({ hasText: "Nothing was sent" }).waitFor()
        await dialog.getByRole("alert").filter({ hasText: "NO_NETWORK" }).waitFor()
        assert.strictEqual(await dialog.getByLabel("Slug").inputValue(), slug)
        await page.context().setOffline(false)
        // whatever waited for the network would be sent before this is answered
        await timersDone(page)
        await page.evaluate(`fetch("/backoffice/v1/session").then((answer) => answer.text())`)
      })
      assert.deepStrictEqual(sent, [])
      assert.notInclude((yield* staff("GET", "/operators")).map((one: { readonly slug: string }) => one.slug), slug)
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Add operator" }).click()
        await dialog.waitFor({ state: "hidden" })
      })
      assert.lengthOf(sent, 1)
    }).pipe(Effect.scoped))

  it.effect("asks before Escape, a click outside or Back discards a filled form, but not for an empty one", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const dialog = page.getByRole("dialog", { name: "Add operator" })
      const question = dialog.getByRole("alertdialog", { name: "Discard what you entered?" })
      yield* Effect.promise(async () => {
        await page.goto("/jobs")
        await page.getByRole("link", { name: "Operators" }).click()
        await page.getByRole("button", { name: "Add operator" }).click()
        await dialog.waitFor()
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "hidden" })
        await page.getByRole("button", { name: "Add operator" }).click()
        await dialog.getByLabel("Slug").fill("lucky")
        await page.keyboard.press("Escape")
        await question.getByRole("button", { name: "Keep editing" }).and(page.locator(":focus")).waitFor()
        await page.keyboard.press("Escape")
        await question.waitFor({ state: "hidden" })
        assert.strictEqual(await dialog.getByLabel("Slug").inputValue(), "lucky")
        await page.mouse.click(5, 400)
        await question.getByRole("button", { name: "Keep editing" }).click()
        await question.waitFor({ state: "hidden" })
        await page.evaluate("history.back()")
        await question.waitFor()
        assert.strictEqual(await dialog.getByLabel("Slug").inputValue(), "lucky")
      })
      assertNone(yield* violationsOn(page))
      yield* Effect.promise(async () => {
        await question.getByRole("button", { name: "Discard" }).click()
        await dialog.waitFor({ state: "hidden" })
        await page.getByRole("button", { name: "Add operator" }).and(page.locator(":focus")).waitFor()
        await page.evaluate("history.back()")
        await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("keeps an open form before the user when Ctrl K is pressed in it", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const find = page.getByRole("dialog", { name: "Find" })
      const form = page.getByRole("dialog", { name: "Add operator" })
      yield* Effect.promise(async () => {
        await page.goto("/operators")
        await page.getByRole("heading", { level: 1, name: "Operators" }).waitFor()
        // loaded once, the palette opens at once
        await page.keyboard.press("Control+k")
        await find.waitFor()
        await page.keyboard.press("Escape")
        await find.waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Add operator" }).click()
        await form.getByLabel("Slug").fill("luck")
        await page.keyboard.press("Control+k")
        await timersDone(page)
        await page.keyboard.type("y")
        assert.strictEqual(await form.getByLabel("Slug").inputValue(), "lucky")
        assert.strictEqual(await find.count(), 0)
      })
    }).pipe(Effect.scoped))

  it.effect("closes a new secret only by its button, not by Back, asks first if it was not copied, and saves it with its key as a file", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
        await page.goto(`/operators?operator=${casino.slug}`)
        await page.getByRole("link", { name: "Jobs" }).click()
        await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor()
        await page.evaluate("history.back()")
        await press(page, "New secret", { menuOf: page.getByRole("row").filter({ hasText: casino.key.key }) })
        const dialog = page.getByRole("dialog", { name: "New secret" })
        const asked = await dialog.getByText(/^Type .* to confirm$/).textContent() ?? ""
        await dialog.getByLabel(asked).fill(asked.slice("Type ".length, -" to confirm".length))
        await dialog.getByRole("button", { name: "New secret" }).click()
        await dialog.getByText("shown now and never again").waitFor()
        const secret = await dialog.locator("pre").textContent() ?? ""
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 400)
        await dialog.getByRole("button", { name: "Close", exact: true }).click()
        await dialog.getByRole("button", { name: "Back" }).and(page.locator(":focus")).click()
        await page.evaluate("history.forward()")
        await dialog.getByRole("button", { name: "Back" }).click()
        const download = page.waitForEvent("download")
        await dialog.getByRole("button", { name: "Save as file" }).click()
        const file = await download
        assert.strictEqual(file.suggestedFilename(), `${casino.key.key}.json`)
        assert.deepStrictEqual(JSON.parse(readFileSync(await file.path(), "utf8")), { key: casino.key.key, secret })
        await dialog.getByRole("button", { name: "Copy and close" }).waitFor({ state: "hidden" })
        await dialog.getByRole("button", { name: "Copy", exact: true }).click()
        await dialog.getByRole("button", { name: "Copied" }).waitFor()
        assert.strictEqual(await page.evaluate("navigator.clipboard.readText()"), secret)
        await dialog.getByRole("button", { name: "Close", exact: true }).click()
        await dialog.waitFor({ state: "hidden" })
      })
    }).pipe(Effect.scoped))

  it.effect("shows a page-not-found page for an unknown URL", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        const answer = await page.goto("/payment/12")
        assert.strictEqual(answer?.status(), 404)
        await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor()
        await page.getByRole("main").getByRole("link", { name: "Payments" }).click()
        await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor()
        await page.goto("/payment/12")
        await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor()
      })
      assertNone(yield* violationsOn(page))
      const refused = yield* staffCall("GET", "/nothing")
      assert.deepStrictEqual([refused.status, refused.code], [404, "NOT_FOUND"])
    }).pipe(Effect.scoped))
})
