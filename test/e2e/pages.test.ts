import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { globSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { layerBothServers } from "../kit/Backoffice.ts"
import { BothServers } from "../kit/Casino.ts"
import { send } from "../kit/HttpCalls.ts"
import { assertNone, Browser, signedIn, violationsOn } from "../kit/Browser.ts"

// Goal: the pages of the back office open in a real browser, for signed-in staff only. The rest is in test/soak/pages.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

const root = join(import.meta.dirname, "..", "..")
const dist = join(root, "dist", "pages")

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("the back-office pages", (it) => {
  it.effect("redirect to the sign-in without a session, keeping the requested URL; the staff API still answers 401", () =>
    Effect.gen(function*() {
      const { backofficePort } = yield* BothServers
      const page = yield* send(backofficePort, "/players?status=active", { headers: { accept: "text/html" } })
      assert.deepStrictEqual([page.status, page.headers["location"]], [
        302,
        "/sign-in?next=%2Fplayers%3Fstatus%3Dactive"
      ])
      const signIn = yield* send(backofficePort, "/sign-in")
      assert.strictEqual(signIn.status, 200)
      assert.match(signIn.headers["content-type"] ?? "", /^text\/html/)
      const policy = signIn.headers["content-security-policy"] ?? ""
      assert.match(policy, /script-src 'self';/)
      assert.notMatch(policy, /script-src[^;]*unsafe/)
      assert.strictEqual((yield* send(backofficePort, "/backoffice/v1/players")).status, 401)
    }))

  it.effect("let staff in by name and password, and show the home page", () =>
    Effect.gen(function*() {
      const { name, password } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open()
      yield* Effect.promise(async () => {
        await page.goto("/jobs")
        await page.getByLabel("Name").fill(name)
        await page.getByLabel("Password").fill("something else entirely")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("alert").filter({ hasText: "INVALID_CREDENTIALS" }).waitFor()
        await page.getByLabel("Password").fill(password)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor()
        assert.strictEqual(new URL(page.url()).pathname, "/jobs")
        await page.getByRole("link", { name: "Home" }).click()
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        await page.getByText("Active players today").waitFor()
      })
      assertNone(yield* violationsOn(page))
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("offer a role only its permitted actions, and refuse others that are called", () =>
    Effect.gen(function*() {
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/operators")
        await page.getByRole("heading", { level: 1, name: "Operators" }).waitFor()
        await page.getByRole("table", { name: "Operators" }).waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Add operator" }).count(), 0)
        assert.strictEqual(await page.getByRole("link", { name: "Staff" }).count(), 0)
        const refused = await page.evaluate(
          `fetch("/backoffice/v1/operators", { method: "POST", headers: { "x-requested-with": "pitboss", "content-type": "application/json" }, body: JSON.stringify({ slug: "x", name: "X", currency: "EUR" }) }).then((answer) => answer.json()).then(({ error }) => error.code)`
        )
        assert.strictEqual(refused, "INSUFFICIENT_SCOPE")
      })
    }).pipe(Effect.scoped))

  it("have a test that uses each of their action buttons and menu entries", () => {
    const textOf = (pattern: string) =>
      globSync(pattern, { cwd: root }).map((path) => readFileSync(join(root, path), "utf8")).join("\n")
    // labels from a table, such as the moves of a payment, are not matched here
    const action =
      /(?:<ActionButton\s+action=\S+\s+label=|(?:rowAction\(\{|=> \(\{|return \{)\s+action: \S+\s+label: )[^"\n]*"([^"]+)"/g
    const labels = [...textOf("src/pages/**/*.tsx").matchAll(action)].map(([, label = ""]) => label)
    const tests = textOf("test/soak/pages/*.test.ts")
    assert.isAbove(labels.length, 50)
    // a node can be drained only where there are several
    assert.deepStrictEqual(labels.filter((label) => !tests.includes(`"${label}"`)), ["Drain node"])
  })

  it("load at most 250 KB of JavaScript for the home page, with imported modules and its chart", () => {
    const assets = join(dist, "assets")
    const [, entry = ""] = /src="\/assets\/([^"]+\.js)"/.exec(readFileSync(join(dist, "index.html"), "utf8")) ?? []
    const needed = new Set<string>()
    const need = (name: string): void => {
      if (needed.has(name)) return
      needed.add(name)
      const imports = readFileSync(join(assets, name), "utf8").matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)
      for (const [, imported = ""] of imports) need(imported)
    }
    const first = readdirSync(assets).filter((name) => /^(HomePage|Chart)-.*\.js$/.test(name))
    assert.lengthOf(first, 2)
    for (const name of [entry, ...first]) need(name)
    assert.isAbove(needed.size, 3)
    const bytes = [...needed].reduce((sum, name) => sum + statSync(join(assets, `${name}.br`)).size, 0)
    assert.isAtMost(bytes, 250_000)
  })
})
