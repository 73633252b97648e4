import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { launchChromium } from "../../bench/targets/Chromium.ts"
import { serverFolder } from "../kit/E2eDatabase.ts"
import { freePort, type ServiceProcess, startService } from "../kit/ServiceProcess.ts"

// Goal: the casino that comes with Pitboss is a whole site on the client package alone: a visitor registers, pays, plays what can be proved, sets limits
// and takes a break, by keyboard and on a phone, and sees every call and webhook.
// Method: `demo --casino` as a process against a service, in Chromium; the site's own refusals by requests that no page sends.

const root = join(import.meta.dirname, "..", "..")
const takesPictures = process.env["PITBOSS_SCREENSHOTS"] !== undefined
const axe = Fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Opens the casino of a service until the scope closes; its address. */
const openCasino = Effect.fnUntraced(function*(service: ServiceProcess, dataDir: string) {
  const casinoPort = yield* freePort
  const casino = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "scripts/demo.ts", "--casino"], {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          DATA_DIR: dataDir,
          PORT: String(service.port),
          BACKOFFICE_PORT: String(service.backofficePort),
          CASINO_PORT: String(casinoPort)
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  let output = ""
  casino.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")))
  yield* Effect.sync(() => output.includes("A casino is open at")).pipe(
    Effect.repeat({ until: (isOpen) => isOpen, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("60 seconds")
  )
  return `http://127.0.0.1:${casinoPort}`
})

const startWith = Effect.fnUntraced(function*(dataDir: string, webhooksHere: "on" | "off") {
  return yield* startService({
    port: yield* freePort,
    databaseUrl: "",
    environment: { DATA_DIR: dataDir, DEMO: "on", WEBHOOK_ALLOW_INSECURE: webhooksHere }
  })
})

class Site extends Context.Service<Site, { readonly url: string }>()("pitboss/test/Casino") {
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function*() {
      const dataDir = yield* serverFolder
      return { url: yield* openCasino(yield* startWith(dataDir, "on"), dataDir) }
    })
  )
}

interface Visitor {
  readonly page: Page
  readonly problems: ReadonlyArray<string>
}

const visit = Effect.fnUntraced(function*(width: number) {
  const { url } = yield* Site
  const browser = yield* Effect.acquireRelease(
    Effect.promise(launchChromium),
    (started) => Effect.promise(() => started.close())
  )
  const page = yield* Effect.promise(() =>
    browser.newPage({ viewport: { width, height: 900 }, reducedMotion: "reduce", locale: "en-GB" })
  )
  page.setDefaultTimeout(20_000)
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(String(error)))
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) problems.push(message.text())
  })
  yield* Effect.promise(() => page.goto(url))
  return { page, problems } satisfies Visitor
})

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
const status = (page: Page, name: string) => page.getByRole("status", { name })

/** What WCAG's rules find, and whether anything is wider than the window. */
const findings = async (page: Page) => {
  await page.evaluate(axe)
  return page.evaluate(
    `axe.run().then(({ violations }) => [...violations.map(({ id, nodes }) => id + " " + nodes[0].html), ...document.documentElement.scrollWidth > innerWidth ? ["too wide"] : []])`
  )
}

const games = ["Dice", "Limbo", "Coin Flip", "Plinko", "Mines"]

const playAll = async (page: Page) => {
  for (const game of games) {
    await button(page, game).click()
    await button(page, "Play").click()
    await status(page, "Outcome").getByText(`${game}: `).waitFor()
  }
}

layer(Site.layer, { excludeTestServices: true, timeout: "5 minutes" })("the example casino", (it) => {
  it.effect("can be played from registration to time-out, verifies every round, and shows calls and webhooks", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* visit(1280)
      yield* Effect.promise(async () => {
        await button(page, "Register").waitFor()
        assert.deepStrictEqual(await findings(page), [])
        await button(page, "Register").click()
        await page.getByRole("heading", { name: "Lobby" }).waitFor()
        for (const name of ["Lobby", "Cashier", "Limits", "History", "Bonus", "Fairness"]) {
          assert.strictEqual(await page.getByRole("heading", { name }).count(), 1, name)
        }

        await status(page, "Balance").getByText("€0.00").waitFor()
        await page.getByLabel("Card number").fill("4000 0000 0000 0002")
        await button(page, "Deposit").click()
        await page.getByRole("alert").getByText("declined").waitFor()
        assert.include(await status(page, "Balance").textContent(), "€0.00")
        await page.getByLabel("Card number").fill("4242 4242 4242 4242")
        await button(page, "Deposit").click()
        await status(page, "Balance").getByText("€50.00").waitFor()

        await playAll(page)
        await button(page, "Verify").click()
        await status(page, "Proof").getByText("5 of 5 rounds").waitFor()
        await button(page, "Take €10.00").click()
        await page.getByRole("progressbar").waitFor()
        await page.getByLabel("Most in euros").fill("60")
        await button(page, "Set limit").click()
        await page.getByRole("cell", { name: "€10.00", exact: true }).first().waitFor()
        assert.isAbove(await page.getByRole("region", { name: "Movements of money" }).getByRole("row").count(), 6)

        const calls = page.getByRole("complementary", { name: "Calls" })
        for (const text of ["deposit.paid", "POST /operator/players", "POST /player/games", "bonus.granted"]) {
          await calls.getByText(text).first().waitFor()
        }
        assert.isAbove(await calls.locator(".webhook").count(), 2)
        assert.deepStrictEqual(await findings(page), [])

        if (takesPictures) {
          await button(page, "Plinko").click()
          await button(page, "Play").click()
          await status(page, "Outcome").getByText("Plinko: ").waitFor()
          await page.evaluate("scrollTo(0, 0)")
          await page.screenshot({ path: join(root, "docs", "images", "casino.png") })
        }
        // a deposit above the limit is refused in the service's words, and nothing is paid
        await button(page, "Deposit").click()
        await page.getByRole("alert").getByText("limit").waitFor()

        await button(page, "Time-out").click()
        await status(page, "Break").getByText("cannot play or deposit until").waitFor()
        // what they lead to is not there
        assert.isFalse(await page.getByRole("navigation").isVisible())
        await calls.getByText("player.self_excluded").first().waitFor()
        assert.deepStrictEqual(await findings(page), [])

        // the break outlasts the page, and another visitor may open an account
        await page.reload()
        await status(page, "Break").getByText("cannot play or deposit until").waitFor()
        await button(page, "Leave").click()
        await button(page, "Register").waitFor()
      })
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.scoped))

  it.effect("can be played on a phone screen by keyboard alone", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* visit(390)
      /** Goes on by Tab to what has a name, at most once round. */
      const reach = async (name: string) => {
        for (let steps = 0; steps < 100; steps++) {
          const focused = await page.evaluate(
            "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? ''"
          )
          if (focused === name) return
          await page.keyboard.press("Tab")
        }
        assert.fail(`${name} is not reached by Tab`)
      }
      yield* Effect.promise(async () => {
        await button(page, "Register").waitFor()
        await reach("Register")
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { name: "Lobby" }).waitFor()
        await reach("Deposit")
        await page.keyboard.press("Enter")
        await status(page, "Balance").getByText("€50.00").waitFor()
        await reach("Limbo")
        await page.keyboard.press("Space")
        await reach("Play")
        await page.keyboard.press("Enter")
        await status(page, "Outcome").getByText("Limbo: ").waitFor()
        assert.deepStrictEqual(await findings(page), [])
        // the drawer is closed on a phone, and opens
        await reach("Calls and webhooks")
        await page.keyboard.press("Enter")
        await page.getByText("POST /player/games").first().waitFor()
        assert.deepStrictEqual(await findings(page), [])
      })
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.scoped))

  it.effect("refuses requests that none of its own pages sends", () =>
    Effect.gen(function*() {
      const { url } = yield* Site
      const cookie = yield* Effect.promise(async () =>
        (await fetch(url)).headers.get("set-cookie")?.split(";", 1)[0] ?? assert.fail("no cookie")
      )
      const json = { "content-type": "application/json", cookie }
      const cases: ReadonlyArray<readonly [path: string, init: RequestInit, status: number]> = [
        ["/site/deposit", { method: "POST", headers: json, body: `{"amount":100,"card":"4242424242424242"}` }, 401],
        ["/site/register", { method: "POST", headers: { cookie }, body: "{}" }, 415],
        ["/site/register", { method: "POST", headers: json, body: "{" }, 400],
        ["/site/register", { method: "POST", headers: json, body: "x".repeat(100_000) }, 413],
        ["/site/token", { method: "POST", headers: json, body: "{}" }, 401],
        ["/site/games", {}, 401],
        ["/webhooks", { method: "POST", body: "{}" }, 400],
        ["/app/scripts/casino/page/%2e%2e/Server.ts", {}, 404],
        ["/app/scripts/casino/Server.ts", {}, 404],
        ["/api/v1/operator/me", {}, 404],
        ["/api/v1/player/me", { headers: { cookie } }, 401]
      ]
      for (const [path, init, expected] of cases) {
        const { status } = yield* Effect.promise(() => fetch(url + path, init))
        assert.strictEqual(status, expected, path)
      }
    }))

  it.effect(
    "shows events even when the service sends it no webhooks",
    () =>
      Effect.gen(function*() {
        const dataDir = yield* serverFolder
        const open = (webhooksHere: "on" | "off") =>
          Effect.gen(function*() {
            const service = yield* startWith(dataDir, webhooksHere)
            const url = yield* openCasino(service, dataDir)
            const { headers } = yield* Effect.promise(() => fetch(url))
            const cookie = headers.get("set-cookie")?.split(";", 1)[0] ?? assert.fail("no cookie")
            const registered = yield* Effect.promise(() =>
              fetch(`${url}/site/register`, {
                method: "POST",
                headers: { cookie, "content-type": "application/json" },
                body: JSON.stringify({
                  username: `ada_${webhooksHere}`,
                  email: `ada_${webhooksHere}@players.example`,
                  first_name: "Ada",
                  last_name: `Example ${webhooksHere}`,
                  birth_date: "1990-12-31",
                  country: "MT"
                })
              })
            )
            assert.strictEqual(registered.status, 200)
            const drawer = yield* Effect.promise(() => fetch(`${url}/site/calls`, { headers: { cookie } }))
            const from = yield* Stream.fromReadableStream({
              evaluate: () => drawer.body ?? assert.fail("no drawer"),
              onError: String
            }).pipe(
              Stream.decodeText,
              Stream.splitLines,
              Stream.filter((line) => line.includes("\"player.registered\"")),
              Stream.runHead,
              Effect.timeout("30 seconds")
            )
            service.kill("SIGTERM")
            yield* service.exited
            return Option.getOrUndefined(from)
          }).pipe(Effect.scoped)
        assert.include(yield* open("on"), "\"from\":\"webhook\"")
        assert.include(yield* open("off"), "\"from\":\"event\"")
      }).pipe(Effect.scoped),
    120_000
  )

  it.effect("has a server of at most 400 lines that imports only the client package and Node.js", () =>
    Effect.sync(() => {
      const text = Fs.readFileSync(join(root, "scripts", "casino", "Server.ts"), "utf8")
      assert.isAtMost(text.split("\n").length, 400)
      const imports = [...text.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name)
      assert.include(imports, "../package/client/src/index.ts")
      const others = imports.filter((name) => !name.startsWith("node:"))
      assert.deepStrictEqual(others, ["../package/client/src/index.ts"])
    }))
})
