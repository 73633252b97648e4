import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import {
  assertNone,
  atRest,
  Browser,
  later,
  type Scheme,
  signedIn,
  signedInFully,
  timersDone,
  violationsNow
} from "../../kit/Browser.ts"
import { dataOf, fresh, made, openCasino, staff } from "../../kit/Casino.ts"
import {
  isNew,
  keepStill,
  layoutFaults,
  type Opener,
  openersIn,
  resizerOf,
  turnTo,
  type WindowSize,
  windowSizes
} from "../../kit/Layout.ts"
import { PageScene } from "../../kit/PageScene.ts"
import { press } from "../../kit/PageSteps.ts"
import { codeOf } from "../../kit/StaffBrowser.ts"

// Goal: every page and every dialog reads well in light and dark and at every size of window, with nothing wider than the window and no text cut, and all
// dialogs are opened and closed by keys. Method: addresses are those of the router, dialogs and menus what the buttons of a page open; a casino of long
// names, large amounts and many rows; one visit of a page, at which the window is resized. Nothing is sent.

/** The longest words of each kind that are likely. */
const long = {
  operator: "Grand International Casino Entertainment Group of the Northern Islands",
  studio: "North Atlantic Interactive Gaming Studios and Laboratories",
  game: "The Extraordinarily Long Adventures of the Golden Dragon in the Lost City of Gold",
  bonus: "Welcome offer for new players of the northern islands, with thirty times wagering",
  username: "maximiliana_konstantinopol1987",
  round: "0b0c6a1e-6f5d-4d0a-9d56-9e0d5b8c7a11-2026-11-29-round",
  note: "Called_about_a_card_that_is_new_and_sent_the_form_".repeat(6),
  address: "https://events.operations.grand-international-casino-entertainment.example/webhooks/pitboss/production"
}

const manyRows = 70

const fill = Effect.gen(function*() {
  const casino = yield* openCasino({ name: long.operator, withdrawal_second_approval_above: 1_000_000_00 })
  yield* staff("PATCH", `/providers/${casino.studio.id}`, { name: long.studio })
  yield* staff("PATCH", `/games/${casino.slots.id}`, { name: long.game, rtp: 96.2 })
  const rules: ReadonlyArray<{ readonly rule: string }> = yield* staff("GET", `/alert-rules?operator=${casino.slug}`)
  for (const { rule } of rules) {
    yield* staff("PATCH", `/alert-rules/${rule}`, { operator: casino.slug, stop_withdrawals: false })
  }
  const seat = yield* casino.sit(9_876_543_210, {
    username: long.username,
    email: "maximiliana.alexandra.konstantinopolska@mail.northern-islands.example",
    first_name: "Maximiliana Alexandra Wilhelmina",
    last_name: "von Hohenzollern-Sigmaringen und Altenburg",
    country: "DE",
    city: "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
  })
  for (let row = 0; row < manyRows; row++) {
    const { transaction_id: bet } = dataOf(yield* seat.bet(123_456_78, { round_id: `${long.round}-${row}` }))
    if (row % 3 === 0) dataOf(yield* seat.win(bet, 234_567_89, { round_id: `${long.round}-${row}` }))
    dataOf(yield* casino.deposit(seat.id, 1_234_567_89 + row), 201)
    dataOf(yield* casino.withdraw(seat.id, 98_765_43 + row), 201)
  }
  const bonus = yield* casino.newBonus({ name: long.bonus, default_amount: 1_234_567_89, wagering_multiplier: 30 })
  dataOf(yield* casino.grant(seat.id, bonus.id), 201)
  yield* made("/promo-codes", {
    operator: casino.slug,
    code: "WELCOME_TO_THE_NORTHERN_ISLANDS_OF_GOLD_2026",
    bonus: bonus.id,
    max_redemptions: 1_000_000
  })
  yield* staff("POST", `/players/${seat.id}/notes`, { text: long.note })
  dataOf(yield* casino.limit(seat.id, { max_daily_bet: 9_876_543_210, max_session_minutes: 120 }))
  yield* made("/staff", {
    name: "Bartholomew Featherstonehaugh-Cholmondeley",
    role: "support",
    operators: [casino.slug]
  })
  yield* made("/webhooks", { operator: casino.slug, url: `${long.address}/${fresh("x")}`, active: false })
  return { casino, seat, bonus, round: `${long.round}-0` }
})

class FilledScene extends Context.Service<FilledScene, Effect.Success<typeof fill>>()("pitboss/test/FilledScene") {
  static readonly layer = Layer.effect(FilledScene, fill).pipe(Layer.provideMerge(PageScene.layer))
}

interface Scenes {
  readonly scene: typeof PageScene.Service
  readonly filled: typeof FilledScene.Service
}

/** Addresses of pages that need more than their path, and others of the same page that show more. A page that is not here is opened by its path. */
const addresses: Readonly<Record<string, (scenes: Scenes) => ReadonlyArray<string>>> = {
  "/players/$player": ({ filled, scene }) => [`/players/${filled.seat.id}`, `/players/${scene.excluded.id}`],
  "/rounds/$provider/$game/$round": ({ filled, scene }) => [
    `/rounds/${filled.casino.studio.slug}/slots/${filled.round}`,
    `/rounds/${scene.casino.studio.slug}/slots/${scene.round}`
  ],
  "/messages/$provider/$transaction": ({ scene }) => [`/messages/${scene.casino.studio.slug}/${scene.late}`],
  "/bonuses/$bonus": ({ filled }) => [`/bonuses/${filled.bonus.id}`],
  "/cases/$case": ({ scene }) => [`/cases/${scene.file}`],
  "/profiles/$code": () => ["/profiles/gb"],
  "/operators/$operator": ({ filled }) => [`/operators/${filled.casino.slug}`],
  "/providers/$provider": ({ filled, scene }) => [
    `/providers/${scene.partner.slug}`,
    `/providers/${filled.casino.studio.slug}`
  ],
  "/payments": () => ["/payments", "/payments?status=waiting"],
  "/reports/ggr": ({ filled }) => [
    "/reports/ggr",
    `/reports/ggr?operator=${filled.casino.slug}&from=2026-11-20&to=2026-11-29`
  ],
  "/webhooks": ({ scene: { delivery, webhook } }) => [
    "/webhooks",
    `/webhooks?webhook=${webhook.id}`,
    `/webhooks?webhook=${webhook.id}&delivery=${delivery.id}`
  ]
}

/** Windows that are open at the same time: as many as the machines have cores. */
const windows = Semaphore.makeUnsafe(2)

const sourceOfPages = join(import.meta.dirname, "..", "..", "..", "src", "pages", "app", "pages.ts")

/** Paths of the router, and an address that no page has. */
const paths = [...readFileSync(sourceOfPages, "utf8").matchAll(/"(\/[^"]*)"/gu)].map(([, path = ""]) => path)

/** Requests that have no answer yet, by page. A stream of events never ends, and is none of them. */
const requestsOf = (page: Page): () => number => {
  const open = new Set<unknown>()
  page.on("request", (request) => request.resourceType() !== "eventsource" && open.add(request))
  page.on("requestfinished", (request) => open.delete(request))
  page.on("requestfailed", (request) => open.delete(request))
  return () => open.size
}

/** What a button opens. */
const opened = (page: Page): Locator => page.locator("[role=dialog]:visible, [role=menu]:visible").first()

const [largest] = windowSizes.slice(-1)

/** Rows of a table that are looked at: the others are alike. */
const rows = 5

/** Walks addresses in one window. `hasFrame`: the frame, which all pages share, is looked at as well. */
class Walk {
  /** Faults, with the places at which they are. */
  readonly faults = new Map<string, Set<string>>()
  /** Names of what was opened. */
  readonly #seen = new Set<string>()
  readonly #page: Page
  readonly #resize: (size: WindowSize) => Promise<void>
  readonly #waiting: () => number
  readonly #but: ReadonlyArray<string>
  #scheme: Scheme = "light"

  constructor(page: Page, resize: (size: WindowSize) => Promise<void>, hasFrame: boolean) {
    this.#page = page
    this.#but = hasFrame ? [] : ["header", "nav"]
    this.#resize = resize
    this.#waiting = requestsOf(page)
  }

  #add(place: string, at: string, faults: ReadonlyArray<string>): void {
    for (const fault of faults) {
      const key = `${place}: ${fault}`
      this.faults.set(key, (this.faults.get(key) ?? new Set()).add(at))
    }
  }

  /** Waits until what was asked for has come, and the page no longer changes. */
  async #settled(): Promise<void> {
    const page = this.#page
    let before: unknown
    for (let look = 0; look < 1000; look++) {
      await timersDone(page)
      const text: unknown = await page.evaluate(
        `document.querySelector("main [aria-label=Loading]") === null && document.body.innerText`
      )
      if (this.#waiting() === 0 && text !== false && text === before) return
      before = text
      await page.waitForTimeout(40)
    }
    throw new Error(`${page.url()} goes on changing`)
  }

  async #turn(): Promise<void> {
    this.#scheme = this.#scheme === "light" ? "dark" : "light"
    await turnTo(this.#page, this.#scheme)
  }

  /** Looks at what is shown, at sizes and in both schemes; the window is the largest afterwards. */
  async look(place: string, sizes: ReadonlyArray<WindowSize> = windowSizes): Promise<void> {
    for (const size of sizes) {
      await this.#resize(size)
      await this.#look(place, size, "all")
      this.#add(place, size.name, await layoutFaults(this.#page))
      // what does not depend on colours is the same in both
      await this.#turn()
      await this.#look(place, size, "colours")
    }
  }

  async #look(place: string, size: WindowSize, rules: "all" | "colours"): Promise<void> {
    await atRest(this.#page)
    if (!await isNew(this.#page, rules)) return
    this.#add(
      place,
      `${size.name}, ${this.#scheme}`,
      await violationsNow(this.#page, { but: this.#but, rows, rules })
    )
  }

  /** Presses a button by key. False when it opens nothing. */
  async open(button: Locator): Promise<boolean> {
    await button.focus()
    await this.#page.keyboard.press("Enter")
    await timersDone(this.#page)
    if (await opened(this.#page).isVisible()) return true
    await this.#settled()
    return opened(this.#page).isVisible()
  }

  /** Closes what is open by key: the focus must be at the button again. */
  async #close(place: string, { index }: Opener): Promise<void> {
    const page = this.#page
    await timersDone(page)
    // the first key closes a list of options that its field opened
    for (let press = 0; press < 2 && await opened(page).isVisible(); press++) {
      await page.keyboard.press("Escape")
      await timersDone(page)
    }
    if (await opened(page).isVisible()) throw new Error(`${place} is not closed by Escape`)
    const focused: unknown = await page.evaluate(
      "document.activeElement?.dataset.opener ?? document.activeElement?.outerHTML.slice(0, 200)"
    )
    if (focused !== String(index)) {
      this.#add(place, "", [`gives the focus not to its button, but to ${String(focused)}`])
    }
  }

  /** Moves by arrow keys to an item of the open menu, and chooses it. */
  async #choose(name: string, count: number): Promise<void> {
    const page = this.#page
    const item = page.getByRole("menuitem", { name, exact: true }).and(page.locator(":focus"))
    for (let press = 0; press <= count && await item.count() === 0; press++) {
      await page.keyboard.press("ArrowDown")
      await timersDone(page)
    }
    assert.strictEqual(await item.count(), 1, `${name} is not reached by arrow keys`)
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").first().waitFor()
  }

  async #lookAtMenu(place: string, opener: Opener, isFrame: boolean): Promise<void> {
    const page = this.#page
    const button = page.locator(`[data-opener="${opener.index}"]`)
    const names = await page.getByRole("menuitem").allTextContents()
    const kind = opener.name.replace(/(?<=Actions of \w*).*/u, "")
    // what the frame's menu does, such as signing out, is done at once
    const fresh = isFrame ? [] : names.filter((name) => !this.#seen.has(name) && !this.#seen.has(`${kind} ${name}`))
    if (isFrame) await this.look(`${place}, ${opener.name}`)
    if (fresh.length === 0) return this.#close(place, opener)
    await this.look(`${place}, ${opener.name}`, windowSizes.slice(-1))
    await this.#close(place, opener)
    for (const name of fresh) {
      this.#seen.add(`${kind} ${name}`)
      assert.isTrue(await this.open(button), `${place}, ${opener.name} opens once only`)
      await this.#choose(name, names.length)
      await this.look(`${place}, ${name}`)
      await this.#close(`${place}, ${name}`, opener)
    }
  }

  /** Opens all that the buttons of a part of the page open. */
  async #lookAtOpeners(place: string, root: string): Promise<void> {
    const page = this.#page
    for (const opener of await openersIn(page, root)) {
      const { index, isMenu, name } = opener
      if (!isMenu && this.#seen.has(name)) continue
      this.#seen.add(name)
      const button = page.locator(`[data-opener="${index}"]`)
      // a list of which more was loaded has no such button any more
      if (!await button.isVisible()) continue
      if (!await this.open(button)) {
        if (await button.isVisible() && await button.getAttribute("aria-expanded") === "true") {
          await this.look(`${place}, ${name}`)
        }
      } else if (await page.getByRole("menu").isVisible()) await this.#lookAtMenu(place, opener, root === "header")
      else {
        await this.look(`${place}, ${name}`)
        await this.#close(`${place}, ${name}`, opener)
      }
    }
  }

  /** Goes to an address, in the largest window. */
  async goTo(address: string): Promise<void> {
    const page = this.#page
    assert(largest !== undefined)
    await this.#resize(largest)
    await page.goto(address)
    await keepStill(page)
    await page.getByRole("heading", { level: 1 }).first().waitFor()
    await this.#settled()
    assert.isTrue(page.url().endsWith(address), `${address} leads to ${page.url()}`)
  }

  /** A page with all of its tabs or the one that is open, the details of its first row, what its marked rows offer, and all dialogs. */
  async at(address: string, parts: ReadonlyArray<string>, hasTabs: boolean): Promise<void> {
    const page = this.#page
    await this.goTo(address)
    if (await page.getByRole("dialog").first().isVisible()) return this.look(address)
    const tabs = hasTabs ? await page.getByRole("tab").allTextContents() : []
    for (const tab of tabs.length === 0 ? [undefined] : tabs) {
      const place = tab === undefined ? address : `${address}, ${tab}`
      if (tab !== undefined) {
        await page.getByRole("tab", { name: tab, exact: true }).click()
        await this.#settled()
      }
      await this.look(place)
      for (const part of parts) await this.#lookAtOpeners(place, part)
      const row = page.locator(".opens tbody a").first()
      if (await row.isVisible()) {
        await row.focus()
        await page.keyboard.press("Enter")
        await page.locator("aside").waitFor()
        await this.#settled()
        await this.look(`${place}, details`)
        await this.#lookAtOpeners(`${place}, details`, "aside")
        await page.locator("aside h2").focus()
        await page.keyboard.press("Escape")
        await page.locator("aside").waitFor({ state: "hidden" })
      }
      const all = page.getByRole("checkbox", { name: /^Select all/ }).first()
      if (await all.isVisible()) {
        await all.check()
        await this.look(`${place}, all selected`)
        await this.#lookAtOpeners(`${place}, all selected`, ".bulk-bar")
      }
    }
  }
}

/** A walk in a window of its own; fails with what it found. */
const walking = Effect.fnUntraced(
  function*(cookie: string | undefined, hasFrame: boolean, run: (walk: Walk, page: Page) => Promise<void>) {
    const page = yield* (yield* Browser).open({ cookie })
    const walk = new Walk(page, yield* Effect.promise(() => resizerOf(page)), hasFrame)
    yield* Effect.promise(() => run(walk, page))
    assertNone([...walk.faults].map(([fault, at]) => `${fault} (${[...at].join("; ")})`))
    assertNone((yield* Browser).problems())
  }
)

/** Walks addresses of one page; those after the first show another state of it. Nothing is changed: the other pages see the same casino. */
const walkPage = (addressed: ReadonlyArray<string>, cookie: string | undefined) => {
  const hasFrame = addressed.includes("/")
  return walking(cookie, hasFrame, async (walk, page) => {
    const sent: Array<string> = []
    page.on("request", (request) => request.method() === "GET" || sent.push(`${request.method()} ${request.url()}`))
    for (const [index, address] of addressed.entries()) {
      await walk.at(address, hasFrame ? ["main", "header"] : ["main"], index === 0)
    }
    assertNone(sent)
  })
}

/** What outlasts a busy machine; two pages are walked at a time. */
const options = { timeout: 900_000, concurrent: true }

layer(FilledScene.layer, { excludeTestServices: true, timeout: "4 minutes" })(
  "at every window size, in light and dark",
  (it) => {
    for (const path of paths) {
      it.effect(`${path} and its dialogs fit, are legible and operable by keyboard`, () =>
        Effect.gen(function*() {
          const scenes = { scene: yield* PageScene, filled: yield* FilledScene }
          const addressed = addresses[path]?.(scenes) ?? [path]
          assert.isFalse(
            addressed.some((address) => address.includes("$")),
            `no address of ${path}: name one in this test`
          )
          yield* walkPage(addressed, scenes.scene.admin.cookie)
        }).pipe(Effect.scoped, windows.withPermits(1)), options)
    }

    it.effect(
      "the second factor, a secret shown once and the discard question fit and are legible",
      () =>
        Effect.gen(function*() {
          const { cookie, id, secret } = yield* signedInFully()
          const { name: clerk } = yield* signedIn({ role: "support" })
          yield* later(id)
          const code = codeOf(secret, yield* Clock.currentTimeMillis)
          yield* walking(cookie, false, async (walk, page) => {
            await walk.goTo("/staff")
            await press(page, "New token", { menuOf: page.getByRole("row").filter({ hasText: clerk }) })
            await page.getByRole("dialog").getByRole("button", { name: "New token" }).click()
            const factor = page.getByRole("dialog", { name: "Second factor" })
            await factor.waitFor()
            await walk.look("Second factor")
            await factor.getByLabel("Code").fill(code)
            await factor.getByRole("button", { name: "Confirm" }).click()
            await page.getByText("shown now and never again").waitFor()
            await walk.look("New token, done")
            await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).click()
            await page.getByText("Not copied yet").waitFor()
            await walk.look("New token, not copied")
            await page.getByRole("button", { name: "Close without a copy" }).click()
            await press(page, "Add account", page)
            await page.getByRole("dialog").getByLabel("Name").fill("Somebody")
            await page.keyboard.press("Escape")
            await page.getByText("Discard what you entered?").waitFor()
            await walk.look("Add account, discarded")
          })
        }).pipe(Effect.scoped, windows.withPermits(1)),
      options
    )

    it.effect("an unknown URL and the sign-in fit and are legible", () =>
      Effect.gen(function*() {
        const { admin } = yield* PageScene
        yield* walkPage([`/${"nothing".repeat(30)}`], admin.cookie)
        yield* walkPage(["/sign-in"], undefined)
      }).pipe(Effect.scoped, windows.withPermits(1)), options)
  }
)
