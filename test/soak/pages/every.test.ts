import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { assertNone, Browser, picture, timersDone, violationsOn } from "../../kit/Browser.ts"
import { assertHoldsFocus, focusFaults } from "../../kit/Focus.ts"
import { made } from "../../kit/Casino.ts"
import { turnTo } from "../../kit/Layout.ts"
import { PageScene } from "../../kit/PageScene.ts"

// Goal: every page opens by its address with its heading, is readable in light and dark, and works by keyboard alone. Method: a casino that has
// been open for ten days, an admin's window, axe-core, and a walk by Tab until the focus comes round. The documentation's screenshots are
// taken on the way.

type Scene = typeof PageScene.Service

interface Shown {
  /** Name of the scene and of its screenshot. */
  readonly name: string
  readonly hasPicture?: false
  readonly path: string | ((scene: Scene) => string)
  readonly heading: string | ((scene: Scene) => string)
  /** Text that is present once the page is drawn. */
  readonly text: string
  /** Action before the page is checked. Such a page is not walked: dialogs keep the focus. */
  readonly open?: (page: Page) => Promise<unknown>
}

const ofPlayer = (tab: string) => ({ player }: Scene) => `/players/${player.id}?tab=${tab}`
const username = ({ player }: Scene) => player.username

const press = (button: string) => (page: Page) =>
  page.getByRole("button", { name: button, exact: true }).first().click()

const shown: ReadonlyArray<Shown> = [
  { name: "home", path: "/", heading: "Home", text: "Webhooks fail" },
  { name: "players", path: "/players", heading: "Players", text: "mara_lind" },
  { name: "player", path: ({ player }) => `/players/${player.id}`, heading: username, text: "verified" },
  {
    name: "player-excluded",
    hasPicture: false,
    path: ({ excluded }) => `/players/${excluded.id}`,
    heading: ({ excluded }) => excluded.username,
    text: "Excluded from play"
  },
  {
    name: "player-exclude",
    path: ({ player }) => `/players/${player.id}`,
    heading: username,
    text: "May bet: yes",
    open: async (page) => {
      await press("Exclude")(page)
      await page.getByRole("radio", { name: "6 months" }).check()
      await page.getByText(/^Excluded until /).waitFor()
    }
  },
  ...(["Set limit", "Grant bonus"] as const).map((action): Shown => ({
    name: `player-${action.toLowerCase().replace(" ", "-")}`,
    hasPicture: false,
    path: ({ player }) => `/players/${player.id}`,
    heading: username,
    text: "May bet: yes",
    open: press(action)
  })),
  {
    name: "player-bonus",
    path: ofPlayer("bonuses"),
    heading: username,
    text: "aviate-",
    open: async (page) => {
      await press("Explain")(page)
      await page.getByText("are left to wager").waitFor()
    }
  },
  {
    name: "player-timeline",
    path: ofPlayer("timeline"),
    heading: username,
    text: ", staked €",
    open: async (page) => {
      await page.getByRole("button", { name: /Golden Reels/ }).first().click()
      await page.getByRole("table", { name: "Entries of Golden Reels" }).waitFor()
    }
  },
  { name: "player-ledger", path: ofPlayer("ledger"), heading: username, text: "casino rollback" },
  { name: "player-rounds", hasPicture: false, path: ofPlayer("rounds"), heading: username, text: "Golden Reels" },
  { name: "player-calls", hasPicture: false, path: ofPlayer("calls"), heading: username, text: "BET_ROLLED_BACK" },
  { name: "player-payments", hasPicture: false, path: ofPlayer("payments"), heading: username, text: "withdrawal" },
  { name: "player-bonuses", path: ofPlayer("bonuses"), heading: username, text: "aviate-" },
  { name: "player-limits", path: ofPlayer("limits"), heading: username, text: "€100.00" },
  { name: "player-sessions", hasPicture: false, path: ofPlayer("sessions"), heading: username, text: "for money" },
  { name: "player-notes", hasPicture: false, path: ofPlayer("notes"), heading: username, text: "Sent the form." },
  { name: "player-alerts", hasPicture: false, path: ofPlayer("alerts"), heading: username, text: "No alerts." },
  { name: "player-audit", hasPicture: false, path: ofPlayer("audit"), heading: username, text: "player.kyc" },
  { name: "rounds", path: "/rounds", heading: "Rounds", text: "Golden Reels" },
  {
    name: "round",
    path: ({ casino, round }) => `/rounds/${casino.studio.slug}/slots/${round}`,
    heading: ({ round }) => `Round ${round}`,
    text: "Taken back by"
  },
  {
    name: "message",
    path: ({ casino, late }) => `/messages/${casino.studio.slug}/${late}`,
    heading: ({ late }) => `Message ${late}`,
    text: "was refused with BET_ROLLED_BACK"
  },
  { name: "ledger", path: "/ledger", heading: "Ledger", text: "casino rollback" },
  { name: "payments", path: "/payments", heading: "Payments", text: "to be paid out" },
  {
    name: "payments-approve",
    path: "/payments?status=waiting",
    heading: "Payments",
    text: "to be paid out",
    open: async (page) => {
      await page.getByRole("checkbox", { name: "Select all payments shown" }).check()
      await page.getByRole("button", { name: /^Approve \d/ }).click()
      await page.getByRole("dialog").getByText(/^Left out/).waitFor()
    }
  },
  { name: "corrections", path: "/payments?tab=corrections", heading: "Payments", text: "Actions" },
  { name: "payment-methods", path: "/payments?tab=methods", heading: "Payments", text: "Change method" },
  { name: "alerts", path: "/alerts", heading: "Alerts", text: "Large credit" },
  { name: "alert", path: ({ alert }) => `/alerts?id=${alert}`, heading: "Alerts", text: "to confirm the jackpot" },
  { name: "alert-rules", path: "/alerts?tab=rules", heading: "Alerts", text: "Change rule" },
  {
    name: "ggr-report",
    path: ({ casino }) => `/reports/ggr?operator=${casino.slug}&from=2026-11-20&to=2026-11-29`,
    heading: "GGR report",
    text: "Funds held for players"
  },
  { name: "audit", path: "/audit", heading: "Audit log", text: "player.note" },
  {
    name: "audit-line",
    path: ({ player }) => `/audit?action=player.kyc&player=${player.id}`,
    heading: "Audit log",
    text: "player.kyc",
    open: (page) => page.getByRole("button", { name: /^Before and after/ }).first().click()
  },
  { name: "jobs", path: "/jobs", heading: "Jobs", text: "idempotency-keys" },
  { name: "bonuses", path: "/bonuses", heading: "Bonuses", text: "Friday cashback" },
  { name: "bonus", path: ({ bonus }) => `/bonuses/${bonus.id}`, heading: "Welcome offer", text: "Cancel grant" },
  {
    name: "bonus-editor",
    path: ({ bonus }) => `/bonuses/${bonus.id}`,
    heading: "Welcome offer",
    text: "Cancel grant",
    open: press("Change bonus")
  },
  { name: "promo-codes", path: "/promo-codes", heading: "Promo codes", text: "COMEBACK" },
  { name: "games", path: "/games", heading: "Games", text: "Book of Tides" },
  { name: "providers", path: "/providers", heading: "Providers", text: "Aviate Games" },
  {
    name: "provider",
    path: ({ partner }) => `/providers/${partner.slug}`,
    heading: "Aviate Games",
    text: "Reconciliation"
  },
  {
    name: "own-provider",
    hasPicture: false,
    path: ({ casino }) => `/providers/${casino.studio.slug}`,
    heading: "North Studio",
    text: "New secret"
  },
  {
    name: "provider-form",
    path: "/providers",
    heading: "Providers",
    text: "Aviate Games",
    open: async (page) => {
      await press("Add provider")(page)
      await page.getByRole("combobox", { name: "Protocol" }).click()
      await page.getByRole("option", { name: "hub88" }).click()
    }
  },
  {
    name: "operator",
    path: ({ newcomer }) => `/operators/${newcomer.slug}`,
    heading: "Aurora",
    text: "3 of 5 steps are missing."
  },
  { name: "cases", hasPicture: false, path: "/cases", heading: "Cases", text: "aml" },
  {
    name: "case",
    hasPicture: false,
    path: ({ file }) => `/cases/${file}`,
    heading: ({ file }) => `Case ${file}`,
    text: "who is she?"
  },
  { name: "profiles", hasPicture: false, path: "/profiles", heading: "Profiles", text: "Netherlands" },
  { name: "profile", hasPicture: false, path: "/profiles/de", heading: "Germany", text: "Counts from" },
  { name: "registers", hasPicture: false, path: "/registers", heading: "Registers", text: "No register was asked" },
  { name: "retention", hasPicture: false, path: "/retention", heading: "Retention", text: "Nobody has asked" },
  { name: "unknown", hasPicture: false, path: "/nothing", heading: "Page not found", text: "No page has the address" },
  { name: "operators", path: "/operators", heading: "Operators", text: "Nordlys" },
  {
    name: "webhooks",
    path: ({ webhook }) => `/webhooks?webhook=${webhook.id}`,
    heading: "Webhooks",
    text: "the answer was not 2xx"
  },
  {
    name: "delivery",
    path: ({ delivery, webhook }) => `/webhooks?webhook=${webhook.id}&delivery=${delivery.id}`,
    heading: "Webhooks",
    text: "maintenance until 14:00",
    open: async () => {}
  },
  { name: "staff", path: "/staff", heading: "Staff", text: "Cleo Martin" },
  { name: "account", path: "/account", heading: "Account", text: "this session" },
  {
    name: "palette",
    path: "/",
    heading: "Home",
    text: "Webhooks fail",
    open: async (page) => {
      await page.keyboard.press("Control+k")
      await page.getByLabel("Find").and(page.locator("input:focus")).waitFor()
      await page.keyboard.type("mara")
      await page.getByText("Player mara_lind").waitFor()
    }
  }
]

const of = (scene: Scene, value: string | ((scene: Scene) => string)) =>
  typeof value === "string" ? value : value(scene)

/** Waits until a page is drawn. */
const drawn = async (page: Page, path: string, heading: string, text: string): Promise<void> => {
  await page.goto(path)
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor()
  await page.getByText(text).filter({ visible: true }).first().waitFor()
  await page.getByText("Loading …").first().waitFor({ state: "detached" })
  await page.getByRole("main").getByLabel("Loading").first().waitFor({ state: "detached" })
}

/** Opens a page in dark, and turns it to light: findings of axe-core and of the page's console in both; takes the screenshot of the light one. */
const lookAt = Effect.fnUntraced(function*(scene: Scene, { hasPicture, heading, name, open, path, text }: Shown) {
  const wrong: Array<string> = []
  const { window: page } = scene
  yield* Effect.promise(async () => {
    await page.emulateMedia({ colorScheme: "dark" })
    await drawn(page, of(scene, path), of(scene, heading), text)
    await open?.(page)
  })
  for (const scheme of ["dark", "light"] as const) {
    yield* Effect.promise(() => turnTo(page, scheme))
    wrong.push(...(yield* violationsOn(page)).map((found) => `${scheme}: ${found}`))
    if (scheme === "light" && hasPicture !== false) yield* picture(page, name)
  }
  return [...wrong, ...(yield* Browser).problems()]
})

layer(PageScene.layer, { excludeTestServices: true, timeout: "3 minutes" })("every back-office page", (it) => {
  for (const each of shown) {
    const { name, open } = each
    it.effect(`${name} has no accessibility violation in light and dark${open === undefined ? ", and is reachable by keyboard" : ""}`, () =>
      Effect.gen(function*() {
        const scene = yield* PageScene
        assertNone(yield* lookAt(scene, each))
        if (open === undefined) assertNone(yield* focusFaults(scene.window))
      }))
  }

  it.effect("the sign-in page has no accessibility violation in light and dark, and is reachable by keyboard", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      for (const scheme of ["light", "dark"] as const) {
        const page = yield* browser.open({ scheme })
        yield* Effect.promise(() => drawn(page, "/sign-in", "Sign in to Pitboss", "No account yet?"))
        assertNone(yield* violationsOn(page))
        if (scheme === "light") yield* picture(page, "sign-in")
        assertNone(yield* focusFaults(page))
      }
    }).pipe(Effect.scoped))

  it.effect("a sign-in link's page has no accessibility violation in light and dark, signed out and in, and is reachable by keyboard", () =>
    Effect.gen(function*() {
      const browser = yield* Browser
      const { admin } = yield* PageScene
      const { id } = yield* made("/staff", { name: "Ines Holm", role: "support" })
      const { pathname, search } = new URL((yield* made("/staff/tickets", { staff: id })).url)
      const windows = [
        { as: {}, text: "This link signs you in as Ines Holm, once." },
        { as: { cookie: admin.cookie }, text: `This browser is signed in as ${admin.name}` }
      ]
      for (const { as, text } of windows) {
        for (const scheme of ["light", "dark"] as const) {
          const page = yield* browser.open({ scheme, ...as })
          yield* Effect.promise(async () => {
            await drawn(page, pathname + search, "Sign in to Pitboss", text)
            await page.getByRole("button", { name: "Sign in as Ines Holm", exact: true }).waitFor()
          })
          assertNone(yield* violationsOn(page))
          if (scheme === "light" && as.cookie !== undefined) yield* picture(page, "sign-in-link")
          assertNone(yield* focusFaults(page))
        }
      }
    }).pipe(Effect.scoped))

  it.effect("dialogs take the focus, keep it, and return it to their button", () =>
    Effect.gen(function*() {
      const scene = yield* PageScene
      const dialogs: ReadonlyArray<readonly [path: string, heading: string, text: string, button: string]> = [
        [`/players/${scene.player.id}`, scene.player.username, "verified", "Change status"],
        [`/players/${scene.player.id}`, scene.player.username, "verified", "Correct balance"],
        ["/operators", "Operators", "Nordlys", "Change operator"],
        ["/promo-codes", "Promo codes", "COMEBACK", "Switch code off"],
        [`/audit?player=${scene.player.id}&action=player.kyc`, "Audit log", "player.kyc", "Find"],
        ["/staff", "Staff", "Cleo Martin", "Add account"],
        ["/account", "Account", "this session", "Replace second factor"],
        [`/bonuses/${scene.bonus.id}`, "Welcome offer", "Cancel grant", "Change bonus"]
      ]
      yield* Effect.promise(async () => {
        for (const [path, heading, text, button] of dialogs) {
          await drawn(scene.window, path, heading, text)
          await assertHoldsFocus(scene.window, button)
        }
      })
    }))

  it.effect("the account menu can be operated by keyboard, including the time zone, and returns the focus", () =>
    Effect.gen(function*() {
      const { admin, window: page } = yield* PageScene
      yield* Effect.promise(async () => {
        await drawn(page, "/account", "Account", "this session")
        const opener = page.getByRole("button", { name: admin.name, exact: true })
        await opener.focus()
        await page.keyboard.press("Enter")
        const focused = page.getByRole("menu").locator(":focus")
        await page.getByRole("menuitem").first().waitFor()
        await timersDone(page)
        const names = await page.getByRole("menuitem").allTextContents()
        assert.isAbove(names.length, 3)
        for (const name of names) {
          await page.keyboard.press("ArrowDown")
          await focused.filter({ hasText: name }).waitFor()
        }
        await page.keyboard.press("Tab")
        await page.getByLabel("Times are shown in").and(page.locator("input:focus")).waitFor()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await page.getByRole("menu").waitFor({ state: "hidden" })
        await opener.and(page.locator(":focus")).waitFor()
      })
    }))

  it.effect("the keyboard check detects deliberate faults", () =>
    Effect.gen(function*() {
      const page = yield* (yield* Browser).open()
      const faultsOf = Effect.fnUntraced(function*(body: string) {
        yield* Effect.promise(() => page.setContent(`<button>First</button>${body}<button>Last</button>`))
        return yield* focusFaults(page)
      })
      assert.deepStrictEqual([
        yield* faultsOf("<a href=#>Link</a>"),
        yield* faultsOf("<a href=# tabindex=-1>Link</a>"),
        yield* faultsOf("<button style='outline: none'>Plain</button>"),
        yield* faultsOf("<button>Under</button><div style='position: fixed; inset: 0; background: white'></div>"),
        yield* faultsOf("<input aria-label=Trap onkeydown='event.preventDefault()'>"),
        yield* faultsOf(
          "<div role=tablist><button role=tab aria-selected=true>A</button><button role=tab tabindex=-1>B</button></div>"
        )
      ], [
        [],
        ["a \"Link\" is not reached by Tab"],
        ["button \"Plain\" looks the same with the focus"],
        ["First", "Under", "Last"].map((name) => `button "${name}" has the focus under something else`),
        ["the focus does not come round: it is at input \"Trap\"", "button \"Last\" is not reached by Tab"],
        ["tab \"B\" is not reached by arrow keys"]
      ])
    }).pipe(Effect.scoped))

  it.effect("each picture of the documentation is taken by one of these tests", () =>
    Effect.sync(() => {
      const taken = [
        "sign-in",
        "sign-in-link",
        // of the README, which the test of the casino takes
        "casino",
        ...shown.flatMap(({ hasPicture, name }) => hasPicture === false ? [] : [name])
      ].map((
        name
      ) => `${name}.png`)
      const folder = join(import.meta.dirname, "..", "..", "..", "docs", "images")
      assert.deepStrictEqual(readdirSync(folder).toSorted(), taken.toSorted())
    }))
})
