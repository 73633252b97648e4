import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { made } from "../../kit/Backoffice.ts"
import { Browser, picture, signedIn, violationsOn } from "../../kit/Browser.ts"
import { House, layerCasinos } from "../../kit/Casino.ts"
import { dataOf } from "../../kit/PublicApi.ts"

// Goal: every page opens by its address, with its heading, in light and dark, without what axe-core finds and without an error in the browser. Method:
// a casino with play, payments and offers, and an admin who opens one page after the other.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

/** Address and heading. */
const pages: ReadonlyArray<readonly [path: string, heading: string]> = [
  ["/", "Home"],
  ["/players", "Players"],
  ["/ledger", "Ledger"],
  ["/rounds", "Rounds"],
  ["/payments", "Payments"],
  ["/alerts", "Alerts"],
  ["/bonuses", "Bonuses"],
  ["/promo-codes", "Promo codes"],
  ["/games", "Games"],
  ["/providers", "Providers"],
  ["/reports/ggr", "GGR report"],
  ["/operators", "Operators"],
  ["/webhooks", "Webhooks"],
  ["/audit", "Audit log"],
  ["/staff", "Staff"],
  ["/jobs", "Jobs"]
]

/** Those of which no other test takes a picture. */
const pictured: ReadonlySet<string> = new Set(["/jobs"])

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("every page", (it) => {
  it.effect("opens by its address, and reads well in light and dark", () =>
    Effect.gen(function*() {
      const casino = yield* House
      const seats = yield* Effect.forEach([20_000, 50_000, 7500], (amount) => casino.sit(amount))
      yield* Effect.forEach(seats, (seat) =>
        Effect.forEach([250, 1000, 500], (amount) =>
          Effect.gen(function*() {
            const { transaction_id: bet } = dataOf(yield* seat.bet(amount))
            dataOf(yield* seat.win(bet, amount === 500 ? 900 : 0))
          })))
      const [first] = seats
      if (first === undefined) return assert.fail("nobody sits")
      const { transaction_id: open } = dataOf(yield* first.bet(300))
      dataOf(yield* casino.withdraw(first.id, 5000), 201)
      yield* casino.newBonus()
      yield* made("/webhooks", { operator: casino.slug, url: "https://hooks.example/pitboss", events: [] }).pipe(
        Effect.ignoreCause
      )
      const { cookie } = yield* signedIn()
      const browser = yield* Browser
      const inner: typeof pages = [
        [`/players/${first.id}`, String(first.player.username)],
        [`/rounds/${casino.studio.slug}/slots/${open}`, String(open)],
        [`/providers/${casino.studio.slug}`, String(casino.studio.name)]
      ]
      const wrong: Array<string> = []
      for (const scheme of ["light", "dark"] as const) {
        const page = yield* browser.open({ cookie, scheme })
        for (const [path, heading] of [...pages, ...inner]) {
          yield* Effect.promise(async () => {
            await page.goto(path)
            await page.getByRole("heading", { level: 1 }).filter({ hasText: heading }).waitFor()
            await page.getByText("Loading …").first().waitFor({ state: "detached" })
            await page.getByRole("main").getByLabel("Loading").first().waitFor({ state: "detached" })
          })
          wrong.push(...(yield* violationsOn(page)).map((found) => `${path} ${scheme}: ${found}`))
          if (scheme === "light" && pictured.has(path)) yield* picture(page, path.slice(1))
        }
      }
      assert.deepStrictEqual([...wrong, ...browser.problems()], [])
    }).pipe(Effect.scoped), 300_000)
})
