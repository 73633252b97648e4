import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { fresh, openCasino, staff } from "../../kit/Casino.ts"
import { assertNone, Browser, signedInFully } from "../../kit/Browser.ts"
import { notified } from "../../kit/PageSteps.ts"

// Goal: who applies for a licence reads a profile without its document, and a version of it comes and is approved in the pages alone. Method: an admin, an
// officer and a casino under a profile of its own, in a real browser; effects are read through the staff API.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

const documentOf = (code: string, days: number) => ({
  code,
  name: "Island",
  currency: "EUR",
  limits: { caps: { max_monthly_deposit: 100_000 }, raise: { wait: `P${days}D` } },
  bonuses: { max_wagering_multiplier: 10 },
  sources: { "limits.caps": { confidence: "A", source: "Gaming act of the island, section 4" } }
})

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the jurisdiction profile pages", (it) => {
  it.effect("show a built-in profile's rules, with the source and the confidence of each", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/profiles")
        await page.getByRole("heading", { level: 1, name: "Profiles" }).waitFor()
        await page.getByRole("link", { name: "Netherlands", exact: true }).click()
        await page.getByRole("heading", { level: 1, name: "Netherlands" }).waitFor()
        const rule = page.getByRole("row").filter({ hasText: "A raise waits at least" })
        assert.deepStrictEqual(await rule.getByRole("cell").allTextContents(), [
          "A raise waits at least",
          "7 days",
          "one secondary text",
          "C: one text"
        ])
        // an officer reads and approves, and adds nothing
        assert.strictEqual(await page.getByRole("button", { name: "New version" }).count(), 0)
      })
      assertNone((yield* Browser).problems())
    }).pipe(Effect.scoped))

  it.effect("import a profile from a file, show what a looser version changes, and have another person approve it", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const code = fresh("x-isle")
      const [admin, officer] = [yield* signedInFully(), yield* signedInFully({ role: "compliance" })]
      const page = yield* browser.open({ cookie: admin.cookie })
      const dialog = page.getByRole("dialog")
      yield* Effect.promise(async () => {
        await page.goto("/profiles")
        await page.getByRole("button", { name: "Import profile" }).click()
        await dialog.getByLabel("Document").fill("minimum_age: 18")
        await dialog.getByRole("button", { name: "Import profile" }).click()
        await dialog.getByText("Not a document: JSON in braces is one").waitFor()
        await dialog.locator("input[type=file]").setInputFiles({
          name: "island.json",
          mimeType: "application/json",
          buffer: Buffer.from(JSON.stringify(documentOf(code, 7)))
        })
        await dialog.getByRole("button", { name: "Import profile" }).click()
        await dialog.getByText(/^Version 1 of .+ counts from /).waitFor()
        await dialog.getByRole("link").click()
        await page.getByRole("heading", { level: 1, name: "Island" }).waitFor()
        await page.getByRole("row").filter({ hasText: "Cap of the limit monthly deposit" })
          .filter({ hasText: "€1,000.00" }).filter({ hasText: "A: the authority's own text" }).waitFor()
      })
      // in use, so that what is looser needs somebody else
      yield* openCasino({ profiles: [code], default_profile: code })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "New version" }).click()
        const text = dialog.getByLabel("Document")
        await text.fill((await text.inputValue()).replace("\"P7D\"", "\"P1D\"").replace("100000", "50000"))
        const differences = dialog.getByRole("table", { name: "Differences" })
        assert.deepStrictEqual(
          await differences.getByRole("row").filter({ hasText: "A raise waits at least" }).getByRole("cell")
            .allTextContents(),
          ["A raise waits at least", "7 days", "1 day", "looser"]
        )
        await dialog.getByRole("button", { name: "New version" }).click()
        await dialog.getByText("waits until somebody else approves it; nothing has changed yet.").waitFor()
        await dialog.getByText("It has 2 differences, of which 1 looser.").waitFor()
        await dialog.getByRole("link").click()
        await page.getByText("You added it: somebody else has to approve it.").waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Approve version" }).count(), 0)
      })
      const other = yield* browser.open({ cookie: officer.cookie })
      yield* Effect.promise(async () => {
        await other.goto(`/profiles/${code}`)
        await other.getByRole("link", { name: "Version 2" }).first().click()
        const changes = other.getByRole("table", { name: "Differences" }).getByRole("row")
        assert.deepStrictEqual(
          await changes.filter({ hasText: "Cap of the limit" }).getByRole("cell").allTextContents(),
          ["Cap of the limit monthly deposit", "€1,000.00", "€500.00", "stricter"]
        )
        await other.getByRole("button", { name: "Approve version" }).click()
        const confirm = other.getByRole("dialog", { name: "Approve version" })
        await confirm.getByText(/What is looser counts after the time that a raise of a limit waits/).waitFor()
        await confirm.getByRole("button", { name: "Approve version" }).click()
        await notified(other, `Version 2 of ${code} is approved`)
        await other.getByText("2, which counts now").waitFor()
      })
      const shown = yield* staff("GET", `/profiles/${code}?version=2`)
      assert.deepInclude(shown, {
        status: "approved",
        imported_by: `staff:${admin.id}`,
        approved_by: `staff:${officer.id}`
      })
      assert.isAbove(Date.parse(shown.looser_from), Date.parse(shown.valid_from))
      assertNone(browser.problems())
    }).pipe(Effect.scoped))
})
