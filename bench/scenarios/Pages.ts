import { Console, Effect, Schema, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { TOTP } from "otpauth"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { type BenchError, failedAt } from "../BenchError.ts"
import { openDataset } from "../data/Dataset.ts"
import { queued, queueSql, queueSteps } from "../data/Queue.ts"
import { days, heavyPlayer, playerId } from "../data/GeneratorSql.ts"
import * as Flags from "../Flags.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { launchChromium } from "../targets/Chromium.ts"
import { Checkout } from "../targets/NodeFlags.ts"
import { Created, startService } from "../targets/Service.ts"
import { roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

/** Promised limits: the first page with a cold cache, and the main-thread work of a page of 100 rows. */
const firstPageLimit_ms = 1500
const workLimit_ms = 300
const rowsOfWork = 100
/** Rows that fill the window. */
const drawnRows = 20
/** The same where a form is above the list. */
const drawnRowsOfTab = 10
/** A stall: a person sees a frame that comes so late. */
const stallLimit_ms = 100
/** Threshold of the W3C Long Tasks API: longer tasks are noticeable. */
const longTask_ms = 50
const wheelTurns = 100

interface Opened {
  /** Time from the request until the main content is rendered. */
  readonly shownMs: number
  /** Script, style and layout on the page's thread, in processor time. */
  readonly workMs: number
  /** Everything on the page's thread, painting and collection of garbage included, in processor time. */
  readonly busyMs: number
}

interface PageCase {
  readonly name: string
  /** Also opened by navigation from home: cost of a page in an open session. */
  readonly isList?: true
  readonly path: string
  /** Waits until the main content is rendered. */
  readonly shown: (page: Page) => Promise<unknown>
}

/** Waits for a row of a table. By CSS alone: looking for roles is work of the page's own thread, and would be measured with it. */
const row = (label: string, number: number, more = "") => (page: Page) =>
  page.waitForSelector(`table[aria-label="${label}"]${more} tbody tr:nth-child(${number})`, { state: "attached" })

/** Waits until a list has loaded its first rows, and drawn those near the window. */
const listOf = (label: string) => row(label, drawnRows, `[aria-rowcount="${rowsOfWork + 1}"]`)

const casesOf = (heavy: number): ReadonlyArray<PageCase> => [
  { name: "home", path: "/", shown: (page) => page.waitForSelector("text=Active players today") },
  { name: "players, 100 rows", isList: true, path: "/players", shown: listOf("Players") },
  { name: "ledger, 100 rows", isList: true, path: "/ledger", shown: listOf("Ledger") },
  { name: "rounds, 100 rows", isList: true, path: "/rounds", shown: listOf("Rounds") },
  { name: "payments, 100 rows", isList: true, path: "/payments", shown: listOf("Payments") },
  {
    name: "player of 100,000 entries",
    path: `/players/${heavy}?tab=ledger`,
    shown: row("Ledger entries", drawnRowsOfTab)
  },
  { name: "GGR report", path: "/reports/ggr", shown: (page) => page.waitForSelector("table tbody tr") }
]

const promised = <A>(what: string, evaluate: () => Promise<A>): Effect.Effect<A, BenchError> =>
  Effect.tryPromise({ try: evaluate, catch: failedAt(what) })

const openBrowser: Effect.Effect<Browser, BenchError, Scope.Scope> = Effect.acquireRelease(
  promised("Chromium", launchChromium),
  (browser) => Effect.promise(() => browser.close())
)

/** Measures the main thread's work from now on, in ms of processor time, which is independent of other load. */
const countWork = async (context: BrowserContext, page: Page) => {
  const client = await context.newCDPSession(page)
  await client.send("Performance.enable", { timeDomain: "threadTicks" })
  return async (): Promise<{ readonly workMs: number; readonly busyMs: number }> => {
    const { metrics } = await client.send("Performance.getMetrics")
    const of = (name: string) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? 0)
    return {
      workMs: of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration"),
      busyMs: of("TaskDuration")
    }
  }
}

/** Opens a page in a window that has nothing in its cache, at once or from home. */
const openIn = (browser: Browser, session: Session, { path, shown }: PageCase, from: "cold" | "home") =>
  promised(path, async (): Promise<Opened> => {
    const context = await browser.newContext({ ...session, ...screen })
    try {
      const page = await context.newPage()
      const counted = await countWork(context, page)
      if (from === "home") {
        await page.goto("/")
        await page.waitForSelector("text=Active players today")
        await page.waitForLoadState("networkidle").catch(() => undefined)
      }
      const before = from === "home" ? await counted() : { workMs: 0, busyMs: 0 }
      const begun = performance.now()
      if (from === "home") await page.evaluate(`document.querySelector('nav a[href="${path}"]').click()`)
      else await page.goto(path, { waitUntil: "commit" })
      await shown(page)
      const shownMs = performance.now() - begun
      // pending rendering is part of it
      await page.waitForLoadState("networkidle").catch(() => undefined)
      const after = await counted()
      return { shownMs, workMs: after.workMs - before.workMs, busyMs: after.busyMs - before.busyMs }
    } finally {
      await context.close()
    }
  })

/** Counts frames from now on; `late` is the longest time between two. */
const watchFrames = `(() => {
  const seen = { last: performance.now(), late: 0, frames: 0 }
  globalThis.benchFrames = seen
  const next = () => {
    const now = performance.now()
    seen.late = Math.max(seen.late, now - seen.last)
    seen.last = now
    seen.frames += 1
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})()`

/** Tasks of the threads that draw pages, as Chromium traces them: `tdur` is processor time, in microseconds. */
const Trace = Schema.fromJsonString(Schema.Struct({
  traceEvents: Schema.Array(Schema.Struct({
    name: Schema.String,
    pid: Schema.Int,
    tid: Schema.Int,
    tdur: Schema.optionalKey(Schema.Number),
    args: Schema.optionalKey(Schema.Struct({ name: Schema.optionalKey(Schema.Unknown) }))
  }))
}))

/** The longest task of any page's thread, ms of processor time. */
const longestTaskOf = (trace: string): number => {
  const { traceEvents } = Schema.decodeSync(Trace)(trace)
  const drawing = new Set(
    traceEvents.filter(({ args, name }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`)
  )
  const longest = traceEvents
    .filter(({ name, pid, tid }) => name === "ThreadControllerImpl::RunTask" && drawing.has(`${pid} ${tid}`))
    .reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1000), 0)
  if (longest === 0) throw new Error("the trace holds no task of the page's thread")
  return longest
}

interface Scrolled {
  /** The longest time without a frame. */
  readonly lateMs: number
  /** The longest task of the page's thread, in processor time. */
  readonly taskMs: number
}

/** Scrolls a page by the wheel, then to its end and back. */
const scroll = (browser: Browser, session: Session, open: (page: Page) => Promise<unknown>) =>
  promised("scrolling", async (): Promise<Scrolled> => {
    const context = await browser.newContext({ ...session, ...screen })
    try {
      const page = await context.newPage()
      await open(page)
      await page.mouse.move(640, 600)
      await browser.startTracing(page, { categories: ["toplevel"] })
      await page.evaluate(watchFrames)
      for (let turn = 0; turn < wheelTurns; turn++) {
        await page.mouse.wheel(0, 400)
        await page.waitForTimeout(16)
      }
      for (const key of ["End", "Home"]) {
        await page.keyboard.press(key)
        await page.waitForTimeout(1000)
      }
      const lateMs = Number(await page.evaluate("globalThis.benchFrames.late"))
      const trace = await browser.stopTracing()
      return { lateMs, taskMs: longestTaskOf(trace.toString()) }
    } finally {
      await context.close()
    }
  })

const openLedger = (heavy: number) => async (page: Page) => {
  await page.goto(`/players/${heavy}?tab=ledger`)
  await row("Ledger entries", drawnRowsOfTab)(page)
  await page.waitForLoadState("networkidle")
}

/** Empty page of the ledger's height: baseline of browser and machine. */
const openEmpty = (page: Page) =>
  page.setContent("<!doctype html><title>Empty</title><div style=height:3300000px></div>")

/** As a person's browser: without a language, Chromium on a bare machine names one that no standard knows. */
const screen = { viewport: { width: 1280, height: 800 }, locale: "en-GB" }

/** Longest tasks while a queue of thousands is worked, ms of processor time. */
interface Worked {
  readonly filter: number
  readonly mark: number
  readonly approve: number
}

/** Works the queue of an operator as a person does: filters it, marks 200 rows and approves them. */
const workQueue = (browser: Browser, session: Session) =>
  promised("the queue", async (): Promise<Worked> => {
    const context = await browser.newContext({ ...session, ...screen })
    try {
      const page = await context.newPage()
      await page.goto("/payments?status=waiting&operator=operator-1")
      await queueSteps.shown(page)
      const longestOf = async (step: (page: Page) => Promise<void>): Promise<number> => {
        await browser.startTracing(page, { categories: ["toplevel"] })
        await step(page)
        return longestTaskOf((await browser.stopTracing()).toString())
      }
      const filter = await longestOf(queueSteps.filter)
      const mark = await longestOf(queueSteps.mark)
      const approve = await longestOf(queueSteps.approve)
      return { filter, mark, approve }
    } finally {
      await context.close()
    }
  })

interface Session {
  readonly baseURL: string
  readonly storageState: Awaited<ReturnType<BrowserContext["storageState"]>>
}

const Begun = Schema.Struct({ data: Schema.Struct({ secret: Schema.String }) })

/** Signs an account in as a browser does, with a second factor; the cookie is for every window that is opened later. */
const signIn = (browser: Browser, baseURL: string, name: string, password: string) =>
  promised("signing in", async (): Promise<Session> => {
    const context = await browser.newContext({ baseURL })
    const headers = { "x-requested-with": "pitboss" }
    try {
      const answer = await context.request.post("/backoffice/v1/session", {
        data: { name, password },
        headers
      })
      if (answer.status() !== 201) throw new Error(`${answer.status()} ${await answer.text()}`)
      // what moves money asks for a second factor
      const post = async (path: string, data: object) =>
        (await context.request.post(`/backoffice/v1/session/second-factor${path}`, { data, headers })).json()
      const { data: { secret } } = Schema.decodeUnknownSync(Begun)(await post("", {}))
      await post("/confirm", { code: new TOTP({ secret, algorithm: "SHA1" }).generate() })
      return { baseURL, storageState: await context.storageState() }
    } finally {
      await context.close()
    }
  })

const measure = (
  group: string,
  name: string,
  values: ReadonlyArray<Opened>,
  limits: { readonly shown?: number; readonly work?: number }
): Measurement => ({
  group,
  name,
  figures: [
    figure("shown after", "ms", "lower", values.map(({ shownMs }) => shownMs), limits.shown),
    figure("script, style, layout", "ms", "lower", values.map(({ workMs }) => workMs), limits.work),
    figure("page's thread busy", "ms", "lower", values.map(({ busyMs }) => busyMs))
  ],
  errors: {}
})

/** The back office in a real browser on a large casino: load time with a cold cache, main-thread cost, scrolling. */
export const pageScenario = scenario({
  name: "pages",
  title: "Pages: the back office in a browser, on a large casino",
  about:
    "How soon pages of the back office are drawn with a cold cache, what they cost the browser, and how a long list scrolls",
  flags: {
    ...Flags.dataset(10_000_000),
    rounds: Flags.rounds(5)
  },
  plan: ({ entries, folder, rounds }) => [
    `pages: ${rounds} rounds, the data first where there are none`,
    20 + (folder === undefined ? entries / 30_000 : 0) + rounds * 30
  ],
  measure: Effect.fnUntraced(function*(options) {
    const checkout = yield* Checkout
    yield* Effect.try({
      try: () => execFileSync(process.execPath, [join(checkout, "scripts", "pages.ts")]),
      catch: failedAt("building the pages")
    })
    const { database, environment, made, operatorId, postgres, shape } = yield* openDataset(options)
    const server = yield* describeServer(postgres)
    const service = yield* startService(environment)
    const [name, password] = [`bench ${randomBytes(4).toString("hex")}`, randomBytes(16).toString("hex")]
    yield* service.create("staff", { name, password, role: "admin" }, Created)
    const browser = yield* openBrowser
    const session = yield* signIn(browser, `http://${service.host}:${service.backofficePort}`, name, password)
    const heavy = playerId(shape, heavyPlayer(shape).number)

    const opened = new Map<string, Array<Opened>>()
    const queuers = Array.from({ length: 50 }, (_, index) => playerId(shape, index + 1))
    const worked: Array<Worked> = []
    const scrolled: Array<{ readonly ledger: Scrolled; readonly empty: Scrolled }> = []
    const cases = casesOf(heavy)
    for (const round of roundNumbers(options.rounds)) {
      for (const each of cases) {
        showProgress(`round ${round}/${options.rounds}  ${each.name}`)
        for (const from of each.isList === true ? ["cold", "home"] as const : ["cold"] as const) {
          const key = `${from} ${each.name}`
          opened.set(key, [...opened.get(key) ?? [], yield* openIn(browser, session, each, from)])
        }
      }
      showProgress(`round ${round}/${options.rounds}  queue`)
      yield* postgres.query(database, queueSql(operatorId, queuers))
      worked.push(yield* workQueue(browser, session))
      showProgress(`round ${round}/${options.rounds}  scrolling`)
      scrolled.push({
        ledger: yield* scroll(browser, session, openLedger(heavy)),
        empty: yield* scroll(browser, session, openEmpty)
      })
      endProgress()
      yield* Console.log(`round ${round}/${options.rounds} done`)
    }
    const number = (value: number) => value.toLocaleString("en-US")
    const measurements: ReadonlyArray<Measurement> = [
      ...cases.map((each) =>
        measure("cold cache", each.name, opened.get(`cold ${each.name}`) ?? [], {
          shown: firstPageLimit_ms
        })
      ),
      ...cases.filter(({ isList }) => isList === true).map((each) =>
        measure("from home", each.name, opened.get(`home ${each.name}`) ?? [], { work: workLimit_ms })
      ),
      {
        group: "longest task",
        name: `queue of ${number(queued)} withdrawals`,
        figures: ([["filter", "filter"], ["mark 200", "mark"], ["approve 200", "approve"]] as const).map((
          [name, step]
        ) => figure(name, "ms", "lower", worked.map((each) => each[step]), stallLimit_ms)),
        errors: {}
      },
      ...([
        [`ledger of ${number(heavyPlayer(shape).entries)} entries`, "ledger", stallLimit_ms, longTask_ms],
        ["empty page of its height", "empty", undefined, undefined]
      ] as const).map(([name, page, lateLimit, taskLimit]): Measurement => ({
        group: "scrolling",
        name,
        figures: [
          figure("longest time without a frame", "ms", "lower", scrolled.map((each) => each[page].lateMs), lateLimit),
          figure("longest task", "ms", "lower", scrolled.map((each) => each[page].taskMs), taskLimit)
        ],
        errors: {}
      }))
    ]
    return {
      ...server,
      method: [
        `A casino of ${number(made.players)} players, ${number(made.entries)} ledger entries and ${days} days.`,
        `Chromium without a window, 1280 x 800, each page in a window of its own with nothing in its cache, ${options.rounds} rounds; browser, ` +
        "service and PostgreSQL share the machine. Work is what the browser counts on the page's thread from the request on, the start of the application " +
        `included. The queue: filtered by its method, the first of 200 rows marked by its key, all up to the last by the same with shift, and approved. Scrolling: ${wheelTurns} turns of the wheel, then to the end and back. Work and tasks are processor time of the page's thread; ` +
        "the other times are a clock's, and hold what the machine takes for others: compare them with the empty page's."
      ],
      headlines: [],
      measurements
    }
  })
})
