import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { fresh, made, openCasino } from "../../kit/Casino.ts"
import { Browser, later, signedIn, signedInFully, tabTo } from "../../kit/Browser.ts"
import { openBackoffice, openProvider } from "../../kit/IdentityProvider.ts"
import { act, done } from "../../kit/PageSteps.ts"
import { codeOf, cookieOf, inSession, signIn } from "../../kit/StaffBrowser.ts"

// Goal: every way of signing in and out of the pages works, an expired session loses no input, and an account sees
// only permitted pages. Method: Chromium on both servers; sessions are ended in the database.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor()

const fillIn = async (page: Page, fields: Readonly<Record<string, string>>) => {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
}

const signInAs = async (page: Page, name: string, password: string, code = "") => {
  await fillIn(page, { Name: name, Password: password, Code: code })
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
}

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("signing in to the pages", (it) => {
  it.effect("requires the second factor once it is set up, and accepts each recovery code once", () =>
    Effect.gen(function*() {
      const { id, name, password } = yield* signedIn({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open()
      const secret = yield* Effect.promise(async () => {
        await page.goto("/account")
        await signInAs(page, name, password)
        await heading(page, "Account")
        await page.getByRole("button", { name: "Set up second factor" }).click()
        const dialog = page.getByRole("dialog", { name: "Second factor" })
        await dialog.getByRole("button", { name: "Begin" }).click()
        await dialog.getByRole("img", { name: "QR code of the second factor" }).waitFor()
        return await dialog.getByTestId("secret").textContent() ?? ""
      })
      const now = yield* Clock.currentTimeMillis
      const recovery = yield* Effect.promise(async () => {
        const dialog = page.getByRole("dialog", { name: "Second factor" })
        await dialog.getByLabel("Code").fill("000000")
        await dialog.getByRole("button", { name: "Confirm" }).click()
        await dialog.getByRole("alert").filter({ hasText: "VALIDATION_FAILED" }).waitFor()
        await dialog.getByLabel("Code").fill(codeOf(secret, now))
        await dialog.getByRole("button", { name: "Confirm" }).click()
        const codes = (await dialog.getByTestId("recovery-codes").textContent() ?? "").split("\n")
        await dialog.getByRole("button", { name: "I have kept them" }).click()
        await page.getByRole("button", { name: "Replace second factor" }).waitFor()
        await page.getByRole("button", { name, exact: true }).click()
        await page.getByRole("menuitem", { name: "Sign out" }).click()
        await heading(page, "Sign in to Pitboss")
        await signInAs(page, name, password)
        await page.getByRole("alert").filter({ hasText: "INVALID_CREDENTIALS" }).waitFor()
        return codes
      })
      assert.isAbove(recovery.length, 4)
      yield* later(id)
      const code = codeOf(secret, yield* Clock.currentTimeMillis)
      yield* Effect.promise(async () => {
        await signInAs(page, name, password, code)
        await heading(page, "Home")
      })
      const [first = ""] = recovery
      const another = yield* browser.open()
      yield* Effect.promise(async () => {
        await another.goto("/sign-in")
        await signInAs(another, name, password, first)
        await heading(another, "Home")
      })
      const third = yield* browser.open()
      yield* Effect.promise(async () => {
        await third.goto("/sign-in")
        await signInAs(third, name, password, first)
        await third.getByRole("alert").filter({ hasText: "INVALID_CREDENTIALS" }).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("works by keyboard alone, and leads to the requested page", () =>
    Effect.gen(function*() {
      const { name, password } = yield* signedIn()
      const page = yield* (yield* Browser).open()
      yield* Effect.promise(() => page.goto("/sign-in?next=%2Faccount").then(() => heading(page, "Sign in to Pitboss")))
      yield* tabTo(page, /^Name/)
      yield* Effect.promise(() => page.keyboard.type(name))
      yield* tabTo(page, /^Password/)
      yield* Effect.promise(async () => {
        await page.keyboard.type(password)
        await page.keyboard.press("Enter")
        await heading(page, "Account")
        await page.getByRole("table", { name: "Sessions" }).getByText("this session").waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("works by a sign-in link once", () =>
    Effect.gen(function*() {
      const { id, name } = yield* signedIn()
      const { cookie, name: present } = yield* signedIn()
      const { url } = yield* made("/staff/tickets", { staff: id })
      const { pathname, search } = new URL(url)
      const [page, other] = [yield* (yield* Browser).open({ cookie }), yield* (yield* Browser).open()]
      yield* Effect.promise(async () => {
        await page.goto(pathname + search)
        await page.getByRole("alert").filter({ hasText: `This browser is signed in as ${present}` }).waitFor()
        await page.getByRole("link", { name: `Stay signed in as ${present}` }).waitFor()
        await page.reload()
        await page.getByRole("button", { name: `Sign in as ${name}` }).click()
        await heading(page, "Home")
        await other.goto(pathname + search)
        await other.getByRole("alert").filter({ hasText: "This link has been used" }).waitFor()
        await other.goto("/sign-in?problem=Call%20this%20number")
        const alert = await other.getByRole("alert").textContent()
        assert.notMatch(alert ?? "", /number/, "the address says nothing in the name of the page")
      })
    }).pipe(Effect.scoped))

  it.effect("is possible within an open form when the session has ended; the form keeps its input and is saved", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { cookie, id, password } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const slug = fresh("typed-")
      const dialog = page.getByRole("dialog", { name: "Add operator" })
      yield* Effect.promise(async () => {
        await page.goto("/operators")
        await page.getByRole("button", { name: "Add operator" }).click()
        await dialog.getByLabel("Slug").fill(slug)
        await dialog.getByLabel("Name").fill(`Casino ${slug}`)
      })
      yield* sql`DELETE FROM staff_sessions WHERE staff_id = ${id}`
      yield* Effect.promise(async () => {
        await dialog.getByRole("button", { name: "Add operator" }).click()
        const again = page.getByRole("dialog", { name: "Sign in again" })
        await again.getByLabel("Password", { exact: true }).fill("something else entirely")
        await again.getByRole("button", { name: "Sign in" }).click()
        await again.getByRole("alert").filter({ hasText: "INVALID_CREDENTIALS" }).waitFor()
        assert.strictEqual(await dialog.getByLabel("Slug").inputValue(), slug)
        await again.getByLabel("Password", { exact: true }).fill(password)
        await again.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { level: 1, name: `Casino ${slug}` }).waitFor()
        await dialog.waitFor({ state: "hidden" })
      })
      assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS n FROM operators WHERE slug = ${slug}`, [{ n: 1 }])
    }).pipe(Effect.scoped))

  it.effect("ends one other session on request, and all others with a new password", () =>
    Effect.gen(function*() {
      const { cookie, name, password } = yield* signedIn()
      const elsewhere = Effect.map(signIn({ name, password }), (answer) => inSession(cookieOf(answer)))
      const page = yield* (yield* Browser).open({ cookie })
      const statusOf = (call: Effect.Success<typeof elsewhere>) =>
        Effect.map(call("GET", "/session"), ({ status }) => status)
      const first = yield* elsewhere
      assert.strictEqual(yield* statusOf(first), 200)
      yield* Effect.promise(async () => {
        await page.goto("/account")
        await done(page, "End session")
        await page.getByRole("button", { name: "End session" }).waitFor({ state: "detached" })
      })
      assert.strictEqual(yield* statusOf(first), 401)
      const second = yield* elsewhere
      const next = "another horse, another battery"
      yield* Effect.promise(() => done(page, "Change password", { "Present password": password, "New password": next }))
      assert.deepStrictEqual([
        yield* statusOf(second),
        (yield* signIn({ name, password })).status,
        (yield* signIn({ name, password: next })).status
      ], [401, 401, 201])
      yield* Effect.promise(async () => {
        await page.reload()
        await heading(page, "Account")
      })
    }).pipe(Effect.scoped))

  it.effect("ends in all browsers by Sign out everywhere", () =>
    Effect.gen(function*() {
      const { cookie, name, password } = yield* signedIn()
      const browser = yield* Browser
      const [page, other] = [yield* browser.open({ cookie }), yield* browser.open()]
      yield* Effect.promise(async () => {
        await other.goto("/sign-in")
        await signInAs(other, name, password)
        await heading(other, "Home")
        await page.goto("/account")
        await page.getByRole("button", { name: "Sign out everywhere" }).click()
        await page.getByRole("dialog", { name: "Sign out everywhere" })
          .getByRole("button", { name: "Sign out everywhere" }).click()
        await heading(page, "Sign in to Pitboss")
        await other.goto("/account")
        await heading(other, "Sign in to Pitboss")
      })
    }).pipe(Effect.scoped))

  it.effect("shows staff bound to one operator nothing of another", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* openCasino(), yield* openCasino()]
      const [own, others] = [yield* one.sit(), yield* two.sit()]
      const { cookie } = yield* signedIn({ role: "admin", operators: [one.slug] })
      const page = yield* (yield* Browser).open({ cookie })
      const rowsOf = async (path: string, title: string, row: string) => {
        await page.goto(path)
        const table = page.getByRole("table", { name: title, exact: true })
        await table.getByText(row, { exact: true }).first().waitFor()
        return table.textContent()
      }
      yield* Effect.promise(async () => {
        const players = await rowsOf("/players", "Players", String(own.id))
        assert.notInclude(players, String(others.player.username))
        const operators = await rowsOf("/operators", "Operators", one.slug)
        assert.notInclude(operators, two.slug)
        const keys = await page.getByRole("table", { name: "API keys" }).textContent()
        assert.notInclude(keys, two.slug)
        assert.strictEqual(await page.getByRole("button", { name: "Add operator" }).count(), 0)
        await page.goto(`/players/${others.id}`)
        await page.getByRole("alert").filter({ hasText: "NOT_FOUND" }).first().waitFor()
        assert.notInclude(await page.content(), String(others.player.username))
      })
    }).pipe(Effect.scoped))

  it.effect("asks for the second factor again before authority changes, and then completes the change", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* signedInFully()
      const clerk = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie: account.cookie })
      yield* later(account.id)
      const code = codeOf(account.secret, yield* Clock.currentTimeMillis)
      yield* Effect.promise(async () => {
        await page.goto("/staff")
        const row = page.getByRole("row").filter({ hasText: clerk.name })
        await act(page, "New token", {}, { menuOf: row })
        const dialog = page.getByRole("dialog", { name: "Second factor" })
        await dialog.getByLabel("Code").fill(code)
        await dialog.getByRole("button", { name: "Confirm" }).click()
        await page.getByText("shown now and never again").waitFor()
      })
      const lines =
        yield* sql`SELECT actor FROM audit_log WHERE action = 'staff.rotate' AND subject = ${`staff:${clerk.id}`}`
      assert.deepStrictEqual(lines, [{ actor: `staff:${account.id}` }])
    }).pipe(Effect.scoped))

  // last, because the end of its server counts as the end of the service
  it.effect("works through an identity provider, and leads to the requested page", () =>
    Effect.gen(function*() {
      const provider = yield* openProvider
      yield* Effect.addFinalizer(() => Effect.sync(() => provider.server.close()))
      const base = `http://127.0.0.1:${yield* openBackoffice(provider.issuer)}`
      provider.start(`${base}/sign-in/oidc/callback`)
      const page = yield* (yield* Browser).open()
      yield* Effect.promise(async () => {
        await page.goto(`${base}/jobs`)
        await page.getByRole("link", { name: "Sign in with the identity provider" }).click()
        await page.locator("input[name=login]").fill("ann")
        await page.locator("input[name=password]").fill("x")
        await page.locator("button[type=submit]").click()
        await page.getByRole("button", { name: "Continue" }).click()
        await heading(page, "Jobs")
        await page.getByRole("button", { name: "Name of ann" }).waitFor()
        assert.strictEqual(
          await page.getByRole("link", { name: "Staff" }).count(),
          0,
          "the role that the provider says"
        )
      })
    }).pipe(Effect.scoped))
})
