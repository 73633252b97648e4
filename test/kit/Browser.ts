/**
 * Browser for tests: the Chromium of an npm package, driven over its protocol. Pages are opened at the back office's port with the
 * session of a staff member. Console errors and violations of the page's policy are recorded for the test.
 */
import { assert } from "@effect/vitest"
import { Clock, Console, Context, Effect, Exit, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { Browser as Chromium, Page } from "playwright-core"
import { launchChromium } from "../../bench/targets/Chromium.ts"
import { BothServers, made } from "./Casino.ts"
import { codeOf, cookieOf, inSession, signIn } from "./StaffBrowser.ts"

const root = join(import.meta.dirname, "..", "..")

const takesPictures = process.env["PITBOSS_SCREENSHOTS"] !== undefined

/** The size of a page in tests, and in the pictures of the documentation. */
const viewport = takesPictures ? { width: 1440, height: 1024 } : { width: 1280, height: 800 }

export type Scheme = "light" | "dark"

export interface PageOptions {
  /** Value of the session cookie; absent when not signed in. */
  readonly cookie?: string | undefined
  readonly scheme?: Scheme
}

/** Prints what the pages of a failed test show: address, focused element, and the text of dialogs or else of the page. */
const reportStateOf = (pages: ReadonlyArray<Page>): Effect.Effect<void> =>
  Effect.forEach(pages, (page) =>
    Effect.tryPromise(() =>
      page.evaluate(
        `[document.activeElement?.outerHTML.slice(0, 300), (document.querySelector("[role=dialog]") ?? document.body).innerText.slice(0, 2000)].join("\\n")`
      )
    ).pipe(
      Effect.timeout("5 seconds"),
      Effect.matchEffect({
        onFailure: (error) => Console.error("page of a failed test does not answer", page.url(), error),
        onSuccess: (state) => Console.error("page of a failed test", page.url(), state)
      })
    ), { discard: true })

/** Builds the pages unless they are there; the script says when there is nothing to do. */
const build = Effect.sync(() =>
  void execFileSync(process.execPath, [join(root, "scripts", "pages.ts")], { stdio: "ignore" })
)

export class Browser extends Context.Service<Browser, {
  /** A page of its own, in a window of its own. Closed at the end of the scope. */
  readonly open: (options?: PageOptions) => Effect.Effect<Page, never, Scope.Scope>
  /** Errors logged by pages and failures in them since the last call. */
  readonly problems: () => ReadonlyArray<string>
  readonly origin: string
}>()("pitboss/test/Browser") {
  static readonly layer = Layer.effect(
    Browser,
    Effect.gen(function*() {
      const { backofficePort } = yield* BothServers
      const origin = `http://127.0.0.1:${backofficePort}`
      const browser: Chromium = yield* Effect.acquireRelease(
        Effect.promise(launchChromium),
        (started) => Effect.promise(() => started.close())
      )
      const problems: Array<string> = []
      const open = Effect.fnUntraced(function*({ cookie, scheme = "light" }: PageOptions = {}) {
        const context = yield* Effect.acquireRelease(
          Effect.promise(() =>
            browser.newContext({
              baseURL: origin,
              viewport,
              colorScheme: scheme,
              locale: "en-GB",
              timezoneId: "Europe/Berlin",
              reducedMotion: "reduce"
            })
          ),
          (opened, exit) =>
            (Exit.isFailure(exit) ? reportStateOf(opened.pages()) : Effect.void).pipe(
              Effect.andThen(Effect.promise(() => opened.close()))
            )
        )
        context.setDefaultTimeout(20_000)
        yield* Effect.promise(() => context.addInitScript(countsAnswers))
        if (cookie !== undefined) {
          yield* Effect.promise(() =>
            context.addCookies([{
              name: "pitboss_session",
              value: cookie,
              url: origin,
              httpOnly: true,
              sameSite: "Strict"
            }])
          )
        }
        const page = yield* Effect.promise(() => context.newPage())
        page.on("pageerror", (error) => problems.push(String(error)))
        // an answer of 4xx is the service's word and no fault of the page
        page.on("console", (message) => {
          if (message.type() === "error" && !/Failed to load resource/.test(message.text())) {
            problems.push(message.text())
          }
        })
        return page
      })
      return Browser.of({ open, origin, problems: () => problems.splice(0) })
    })
  )

  /** On pages that are built first. Needs servers that start after them: give it to `Layer.provide`. */
  static readonly layerBuilt = Layer.effectDiscard(build)
}

let accounts = 0

/** An account with a password and a session in a browser. */
export interface SignedIn {
  readonly id: number
  readonly name: string
  readonly password: string
  /** Of its session. */
  readonly cookie: string
}

/** Opens an account and signs it in by name and password. `fields`: of `POST /staff`. */
export const signedIn = Effect.fnUntraced(
  function*(
    { name = `Person ${++accounts}`, ...fields }: Readonly<Record<string, unknown>> & { readonly name?: string } = {}
  ) {
    const password = `correct horse ${accounts} battery`
    const account = yield* made("/staff", { name, password, role: "admin", ...fields })
    const session = yield* signIn({ name, password })
    assert.strictEqual(session.status, 201, session.text)
    const [, cookie = ""] = cookieOf(session).split("=")
    return { id: Number(account.id), name, password, cookie } satisfies SignedIn
  }
)

/** As {@link signedIn}, with a freshly verified second factor, for actions that require it. */
export const signedInFully = Effect.fnUntraced(function*(fields: Parameters<typeof signedIn>[0] = {}) {
  const account = yield* signedIn(fields)
  const call = inSession(`pitboss_session=${account.cookie}`)
  const { data: { secret } } = yield* call("POST", "/session/second-factor")
  const code = codeOf(secret, yield* Clock.currentTimeMillis)
  const confirmed = yield* call("POST", "/session/second-factor/confirm", { code })
  assert.strictEqual(confirmed.status, 201, confirmed.text)
  return { ...account, call, secret: String(secret) }
})

/** Forgets that codes of an account were used, and when the second factor was shown in its sessions. */
export const later = (id: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE staff SET totp_step = totp_step - 5 WHERE id = ${id}`
    yield* sql`UPDATE staff_sessions SET second_factor_at = second_factor_at - interval '5 minutes' WHERE staff_id = ${id}`
  })

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Fails with the faults found on a page, word for word. */
export const assertNone = (faults: ReadonlyArray<string>): void =>
  assert.deepStrictEqual(faults, [], `faults on a page:\n${faults.join("\n")}`)

/** Counts the answers that a page still waits for, each until the last of its bytes. */
const countsAnswers = `(() => {
  const original = fetch
  globalThis.answersAwaited = 0
  globalThis.fetch = (...request) => {
    const answer = original(...request)
    globalThis.answersAwaited++
    answer.then((response) => response.clone().arrayBuffer()).catch(() => {}).finally(() => globalThis.answersAwaited--)
    return answer
  }
})()`

/**
 * Waits for the answers that a page has asked for, a frame, what it starts, and the end of all animations that end: what an answer draws comes later than
 * the page's heading, the page hears of another size of its window in a frame, a colour half-way has less contrast, a dialog that is being opened has no
 * name yet.
 */
export const atRest = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    do {
      await new Promise(requestAnimationFrame)
      for (let task = 0; task < 3; task++) await new Promise((resolve) => setTimeout(resolve))
    } while (globalThis.answersAwaited > 0)
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })()`)

/** What axe-core checks; `colours` are the rules whose outcome depends on them, for a page that was checked by all in others. */
const axeRules = {
  all: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  colours: { type: "rule", values: ["color-contrast", "link-in-text-block"] }
}

/**
 * Runs axe-core on a dialog or menu that is open alone, which hides the rest; else on the page without the parts that `but` names and `rows` that are like
 * others. What is not looked at is not drawn meanwhile, and keeps its place: axe-core works on all that is drawn. What has the focus stays, since it would
 * lose it, and the page behind a menu or a dialog that is none for itself, which follow their button.
 */
const runAxe = (but: ReadonlyArray<string>, rows: string, rules: keyof typeof axeRules) =>
  `(async () => {
    const open = ["[role=dialog]", "[role=menu]"].filter((part) => document.querySelector(part)?.checkVisibility())
    const hidden = new CSSStyleSheet()
    const behind = "body:has([aria-modal=true]) > :not(:focus-within, :has([role=dialog], [role=menu]))"
    hidden.replaceSync((open.length === 0 ? "${rows}:not(:focus-within)" : behind) + " { visibility: hidden !important }")
    document.adoptedStyleSheets.push(hidden)
    try {
      if (open.some((part) => !document.querySelector(part).checkVisibility({ visibilityProperty: true }))) {
        throw new Error("what is to be looked at is hidden")
      }
      const { violations } = await axe.run(
        open.length === 0
          ? { include: [["html"]], exclude: ${JSON.stringify([rows, ...but].map((part) => [part]))} }
          : { include: [[open[0]]] },
        { preload: false, iframes: false, resultTypes: ["violations"], runOnly: ${JSON.stringify(axeRules[rules])} }
      )
      return violations.map(({ id, help, nodes }) => id + ": " + help + " " + nodes.slice(0, 4).map(({ any, html }) =>
        html.slice(0, 160) + " " + any.map(({ message }) => message).join(" ")).join(" | "))
    } finally {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== hidden)
    }
  })()`

/**
 * Violations of WCAG 2.2 A and AA found by axe-core once the page is at rest: rule, help, and elements. `but`: parts that are not looked at; `rows`: how
 * many of a table are.
 */
export const violationsNow = async (
  page: Page,
  { but = [], rows = 11, rules = "all" }: {
    readonly but?: ReadonlyArray<string>
    readonly rows?: number
    readonly rules?: keyof typeof axeRules
  } = {}
): Promise<ReadonlyArray<string>> => {
  await atRest(page)
  // evaluated as the debugger does, which the page's policy does not concern
  if (await page.evaluate("typeof axe") === "undefined") await page.evaluate(axeSource)
  const found: unknown = await page.evaluate(runAxe(but, `tbody > tr:nth-of-type(n+${rows + 1})`, rules))
  return Array.isArray(found) ? found.map(String) : []
}

/** As {@link violationsNow}. */
export const violationsOn = (page: Page): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(() => violationsNow(page))

/** Takes a picture for the documentation when `PITBOSS_SCREENSHOTS` is set; else nothing changes. */
export const picture = (page: Page, name: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (!takesPictures) return
    const path = join(root, "docs", "images", `${name}.png`)
    mkdirSync(dirname(path), { recursive: true })
    await page.screenshot({ path, animations: "disabled" })
  })

/**
 * Ends when the timers that the last key started are over: lists set their marked option by one, and the focus trap of a dialog moves the focus
 * once more by one after a date. The next key would be too early.
 */
export const timersDone = (page: Page): Promise<unknown> =>
  page.evaluate("new Promise((resolve) => setTimeout(() => setTimeout(resolve)))")

/**
 * Chooses an option of the open list by keyboard: moves down until it is the marked one. One press may move nothing, or to the current
 * option, while the list is still opening.
 */
export const chooseOption = async (page: Page, name: string): Promise<void> => {
  const option = page.getByRole("option", { name, exact: true })
  await option.waitFor()
  const count = await page.getByRole("option").count()
  const isMarked = async () => {
    await timersDone(page)
    return await option.getAttribute("data-combobox-selected") !== null
  }
  for (let press = 0; press < 2 * count + 2 && !await isMarked(); press++) await page.keyboard.press("ArrowDown")
  assert.isTrue(await isMarked(), `no way to the option ${name}`)
  await page.keyboard.press("Enter")
  await option.waitFor({ state: "hidden" })
}

/** Moves by keyboard alone until the element that has the focus is named so. At most `maximum` steps. */
export const tabTo = (page: Page, name: string | RegExp, maximum = 80): Effect.Effect<void> =>
  Effect.promise(async () => {
    const seen: Array<string> = []
    for (let step = 0; step < maximum; step++) {
      await page.keyboard.press("Tab")
      await timersDone(page)
      const label = String(
        await page.evaluate(
          `document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? ""`
        )
      )
      seen.push(label)
      if (typeof name === "string" ? label === name : name.test(label)) return
    }
    assert.fail(`no way by Tab to ${String(name)}; passed ${seen.join(", ")}`)
  })
