import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Page } from "playwright-core"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { dataOf, fresh, made, openCasino } from "../../kit/Casino.ts"
import { assertNone, Browser, signedIn, tabTo } from "../../kit/Browser.ts"
import { done, press } from "../../kit/PageSteps.ts"

// Goal: money movements are found in the pages by any known identifier, down to the messages of a round. Method: played over
// HTTP, read in a real browser.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

const openAt = async (page: Page, path: string, heading: string): Promise<void> => {
  await page.goto(path)
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor()
}

/** A round with an accepted bet, one that was rolled back, and a win. */
const played = Effect.gen(function*() {
  const casino = yield* openCasino()
  const seat = yield* casino.sit(5000)
  // an id in the style of some vendors
  const round = fresh("round/7 ")
  const bet: string = dataOf(yield* seat.bet(100, { round_id: round })).transaction_id
  const second: string = dataOf(yield* seat.bet(50, { round_id: round })).transaction_id
  dataOf(yield* seat.rollback(second))
  dataOf(yield* seat.win(bet, 300, { round_id: round }))
  return { casino, seat, round, bet, second }
})

layer(layerPages, { excludeTestServices: true, timeout: "5 minutes" })(
  "the ledger and round pages",
  (it) => {
    it.effect("filter entries, and link from an entry to its round with all messages in order", () =>
      Effect.gen(function*() {
        const { round, seat, second } = yield* played
        const { cookie } = yield* signedIn()
        const browser = yield* Browser
        const page = yield* browser.open({ cookie })
        yield* Effect.promise(async () => {
          await openAt(page, "/ledger", "Ledger")
          const ledger = page.getByRole("table", { name: "Ledger" })
          await page.getByLabel("Player id").fill(String(seat.id))
          await page.waitForURL(/player=/)
          await page.getByRole("combobox", { name: "Type" }).click()
          await page.getByRole("option", { name: "casino rollback" }).click()
          await ledger.getByText("+€0.50").waitFor()
          await ledger.getByText("-€1.00").waitFor({ state: "detached" })
          assert.strictEqual(await ledger.getByRole("row").count(), 2)
          await ledger.getByRole("link", { name: round }).click()
          await page.getByRole("heading", { level: 1, name: `Round ${round}`, exact: true }).waitFor()
          const messages = page.getByRole("table", { name: "Messages" })
          await messages.waitFor()
          const texts = await messages.getByRole("row").allInnerTexts()
          assert.deepStrictEqual(
            texts.slice(1).map((text) => /\b(bet|rollback|win)\b/.exec(text)?.[0]),
            ["bet", "bet", "rollback", "win"]
          )
          assert.match(texts[2] ?? "", /Taken back by/)
          assert.include(texts[3] ?? "", `Of ${second}`)
          const amounts = await page.getByRole("table", { name: "Ledger entries" }).getByRole("row").allInnerTexts()
          assert.deepStrictEqual(
            amounts.slice(1).map((text) => /[-+]€[\d.]+/.exec(text)?.[0]),
            ["-€1.00", "-€0.50", "+€0.50", "+€3.00"]
          )
          // the address holds the whole state
          await page.reload()
          await page.getByRole("table", { name: "Players" }).getByText("+€2.00").waitFor()
        })
        assertNone(browser.problems())
      }).pipe(Effect.scoped))

    it.effect("filter amounts in the list's currency, and ignore text that is no amount", () =>
      Effect.gen(function*() {
        const { seat } = yield* played
        yield* made("/operators", { slug: fresh("osaka-"), name: "Osaka", currency: "JPY" })
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(async () => {
          await openAt(page, `/ledger?player=${seat.id}`, "Ledger")
          const amount = page.getByLabel("Min amount")
          const ledger = page.getByRole("table", { name: "Ledger" })
          await ledger.getByText("-€0.50").waitFor()
          const more = page.getByRole("button", { name: "Add filter" })
          await more.click()
          assert.isTrue(await amount.isDisabled(), "of two currencies")
          await page.getByLabel("Currency").fill("EUR")
          await page.waitForURL(/currency=EUR/)
          await amount.fill("2.50")
          await page.waitForURL(/min_amount=250/)
          await ledger.getByText("-€0.50").waitFor({ state: "detached" })
          await ledger.getByText("+€3.00").waitFor()
          await amount.fill("2,50")
          await page.waitForURL(/^[^?]*\?(?!.*min_amount)/)
          await ledger.getByText("-€0.50").waitFor()
          // of one operator there is one currency, which the search then names
          await page.keyboard.press("Escape")
          await page.getByRole("button", { name: "Clear" }).click()
          await more.click()
          await page.getByRole("combobox", { name: "Operator" }).click()
          await page.getByRole("option", { name: "Osaka" }).first().click()
          await amount.fill("1,000")
          await page.waitForURL(/(?=.*min_amount=1000)(?=.*currency=JPY)/)
          await page.getByText("Nothing matches the filters.").waitFor()
          assert.strictEqual(await page.getByLabel("Currency").inputValue(), "JPY")
        })
      }).pipe(Effect.scoped))

    it.effect("show the tombstone of a bet that was rolled back before it came", () =>
      Effect.gen(function*() {
        const casino = yield* openCasino()
        const seat = yield* casino.sit(1000)
        const bet = fresh("early-")
        dataOf(yield* seat.rollback(bet))
        yield* seat.bet(100, { transaction_id: bet, round_id: bet })
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(async () => {
          await openAt(page, `/rounds/${casino.studio.slug}/slots/${bet}`, `Round ${bet}`)
          const messages = page.getByRole("table", { name: "Messages" })
          await messages.getByText("tombstone").waitFor()
          await messages.getByText("ignored").waitFor()
          await page.getByText("No money moved.").waitFor()
          await openAt(page, `/rounds/${casino.studio.slug}/slots/nothing`, "Round nothing")
          await page.getByRole("alert").filter({ hasText: "NOT_FOUND" }).waitFor()
        })
      }).pipe(Effect.scoped))

    it.effect("close a round that its provider did not end, with a reason", () =>
      Effect.gen(function*() {
        const casino = yield* openCasino()
        const seat = yield* casino.sit(1000)
        const bet: string = dataOf(yield* seat.bet(100, { round_id: fresh("unended-") })).transaction_id
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(async () => {
          await page.goto(`/rounds?provider=${casino.studio.slug}&transaction=${bet}`)
          await page.getByRole("table", { name: "Rounds" }).getByRole("link", { name: /^unended-/ }).click()
          const players = page.getByRole("table", { name: "Players" })
          await players.getByText("open", { exact: true }).waitFor()
          await done(page, "Close round", { Reason: "the provider lost it" })
          await players.getByText("closed", { exact: true }).waitFor()
          await page.getByRole("button", { name: "Close round" }).waitFor({ state: "detached" })
        })
      }).pipe(Effect.scoped))

    it.effect("end the form that closes a round when another round comes in its place", () =>
      Effect.gen(function*() {
        const casino = yield* openCasino()
        const seat = yield* casino.sit(1000)
        const [one, other] = [fresh("first-"), fresh("second-")]
        for (const round of [one, other]) dataOf(yield* seat.bet(10, { round_id: round }))
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        const dialog = page.getByRole("dialog", { name: "Close round" })
        yield* Effect.promise(async () => {
          await openAt(page, `/rounds/${casino.studio.slug}/slots/${one}`, `Round ${one}`)
          await page.keyboard.press("Control+k")
          await page.getByPlaceholder("Name, id").fill(other)
          await page.getByText(`Round ${other}`).first().waitFor()
          await page.keyboard.press("Enter")
          await page.getByRole("heading", { level: 1, name: `Round ${other}` }).waitFor()
          await press(page, "Close round", page)
          await dialog.getByLabel("Reason").waitFor()
          await page.goBack()
          await page.getByText(`Round ${one}`, { exact: true }).waitFor()
          await dialog.waitFor({ state: "detached" })
        })
      }).pipe(Effect.scoped))

    it.effect("find a round by a provider's message id, by keyboard alone", () =>
      Effect.gen(function*() {
        const { bet, casino, round, seat } = yield* played
        const { cookie } = yield* signedIn()
        const page = yield* (yield* Browser).open({ cookie })
        yield* Effect.promise(() => openAt(page, "/rounds", "Rounds"))
        yield* tabTo(page, "Message or entry id")
        yield* Effect.promise(() => page.keyboard.type(bet))
        yield* tabTo(page, "Add filter")
        yield* Effect.promise(() => page.keyboard.press("Enter"))
        yield* tabTo(page, "Provider")
        yield* Effect.promise(async () => {
          await page.keyboard.type(casino.studio.slug)
          await page.keyboard.press("Escape")
          await page.waitForURL(/transaction=/)
          await page.waitForURL(/provider=/)
          const rounds = page.getByRole("table", { name: "Rounds" })
          await rounds.getByRole("link", { name: String(seat.id) }).waitFor()
        })
        yield* tabTo(page, round)
        yield* Effect.promise(async () => {
          await page.keyboard.press("Enter")
          await page.getByRole("heading", { level: 1, name: `Round ${round}`, exact: true }).waitFor()
        })
      }).pipe(Effect.scoped))
  }
)
