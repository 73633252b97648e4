import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { assertNone, Browser, signedIn } from "../../kit/Browser.ts"
import { assertRefused, dataOf, fresh, openCasino, staff } from "../../kit/Casino.ts"
import { countEffort } from "../../kit/Clicks.ts"

// Goal: support finds a round by when it was played and says what came of it, in four clicks at most. Method: a person's way through a real browser, in
// the zone of Berlin, with every click counted.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerBothServers), Layer.provideMerge(Browser.layerBuilt))

/** A player whose rounds on Golden Reels began at times of Berlin: 21:10 paid, 21:40 waits for its win, 23:30 was taken back. */
const evening = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const casino = yield* openCasino()
  yield* staff("PATCH", `/games/${casino.slots.id}`, { name: "Golden Reels" })
  const seat = yield* casino.sit(10_000, { username: fresh("mara_") })
  const bets: Array<string> = []
  for (const at of ["2026-11-20T20:10:00Z", "2026-11-20T20:40:12Z", "2026-11-20T22:30:00Z"]) {
    const id: string = dataOf(yield* seat.bet(500)).transaction_id
    yield* sql`UPDATE rounds SET opened_at = ${new Date(at)} WHERE round_id = ${id}`
    bets.push(id)
  }
  const [paid = "", waiting = "", taken = ""] = bets
  dataOf(yield* seat.win(paid, 1200))
  dataOf(yield* seat.rollback(taken))
  return { casino, seat, paid, waiting, taken }
})

layer(layerPages, { excludeTestServices: true, timeout: "3 minutes" })("support tasks with rounds", (it) => {
  it.effect("the question \"where is my win of 21:40 on Golden Reels?\" is answered in four clicks: no win came", () =>
    Effect.gen(function*() {
      const { paid, seat, taken, waiting } = yield* evening
      const { cookie } = yield* signedIn({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        const effort = await countEffort(page)
        await page.keyboard.press("Control+k")
        await page.getByRole("textbox", { name: "Find" }).fill(String(seat.player.username))
        await page.getByRole("button", { name: new RegExp(`^Player ${String(seat.player.username)}`) }).click()
        await page.getByRole("tab", { name: "Rounds" }).click()
        const jump = page.getByLabel("Jump to")
        await jump.click()
        await jump.fill("2026-11-20T21:40")
        const rounds = page.getByRole("table", { name: "Rounds" })
        await rounds.getByRole("link", { name: taken, exact: true }).waitFor({ state: "detached" })
        const row = rounds.getByRole("row").filter({ hasText: waiting })
        for (const text of ["Golden Reels", "21:40:12", "€5.00", "No win has come so far.", "open"]) {
          await row.getByText(text).first().waitFor()
        }
        const other = await rounds.getByRole("row").filter({ hasText: paid }).innerText()
        assert.include(other, "Won €12.00.")
        assert.include(other, "+€7.00")
        assert.isAtMost(await effort.clicks(), 4)
        // the player's page alone
        assert.strictEqual(effort.pageChanges(), 1)
        // the address holds the range
        await page.reload()
        await row.waitFor()
        assert.strictEqual(await page.getByLabel("From").inputValue(), "2026-11-20T21:10")
        await row.getByRole("link", { name: waiting }).click()
        await page.getByRole("alert").getByText(
          /^No win came\. .* has not ended the round: a win that it sends is still paid\./
        )
          .waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("the reason for a refused win is found in four clicks, and directly by the message id", () =>
    Effect.gen(function*() {
      const { paid, seat } = yield* evening
      const win = fresh("late-win-")
      assertRefused(yield* seat.win(paid, 7500, { transaction_id: win }), 409, "ROUND_CLOSED")
      const { cookie } = yield* signedIn({ role: "support" })
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/")
        await page.getByRole("heading", { level: 1, name: "Home" }).waitFor()
        const effort = await countEffort(page)
        await page.keyboard.press("Control+k")
        await page.getByRole("textbox", { name: "Find" }).fill(String(seat.player.username))
        await page.getByRole("button", { name: new RegExp(`^Player ${String(seat.player.username)}`) }).click()
        await page.getByRole("tab", { name: "Refused calls" }).click()
        await page.getByRole("table", { name: "Refused and replayed calls" }).getByRole("link", { name: win }).click()
        await page.getByRole("heading", { level: 1, name: `Message ${win}`, exact: true }).waitFor()
        const sentence = page.getByRole("alert").getByText(
          /^Win .* of 75\.00 EUR for .* was refused with ROUND_CLOSED at .*: no money moved\. Its round had ended\. The round paid €12\.00/
        )
        await sentence.waitFor()
        assert.isAtMost(await effort.clicks(), 4)
        await page.getByRole("table", { name: "Refused and replayed calls" }).getByText(/^409 .*ROUND_CLOSED/).waitFor()
        await page.keyboard.press("Control+k")
        await page.getByRole("textbox", { name: "Find" }).fill(paid)
        await page.getByRole("button", { name: `Transaction bet ${paid}` }).click()
        await page.getByRole("alert").getByText(
          / staked €5\.00 in round .* €5\.00 left the real wallet\. The round paid €12\.00/
        )
          .waitFor()
        await page.keyboard.press("Control+k")
        await page.getByRole("textbox", { name: "Find" }).fill(win)
        await page.getByRole("button", { name: `Transaction win ${win}` }).click()
        await sentence.waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("a message is reached from its round, from a ledger entry and from the provider's last calls", () =>
    Effect.gen(function*() {
      const { casino, paid, seat, taken } = yield* evening
      const win = fresh("late-win-")
      assertRefused(yield* seat.win(paid, 7500, { transaction_id: win }), 409, "ROUND_CLOSED")
      const { cookie } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        const isAt = (id: string) =>
          page.getByRole("heading", { level: 1, name: `Message ${id}`, exact: true }).waitFor()
        await page.goto(`/rounds/${casino.studio.slug}/slots/${paid}`)
        await page.getByRole("alert").getByText(/The round paid .* was refused with ROUND_CLOSED/).waitFor()
        await page.getByRole("table", { name: "Refused and replayed calls" }).getByRole("link", { name: win }).click()
        await isAt(win)
        await page.getByRole("link", { name: paid }).first().click()
        await page.getByRole("table", { name: "Messages" }).getByRole("link", { name: paid, exact: true }).first()
          .click()
        await isAt(paid)
        await page.goto(`/ledger?player=${seat.id}&type=casino_rollback`)
        await page.getByRole("table", { name: "Ledger" }).getByTitle("The message that posted it").click()
        await page.getByRole("alert").getByText(`took bet ${taken} of`).waitFor()
        await page.goto(`/providers/${casino.studio.id}`)
        await page.getByRole("table", { name: "Last calls" }).getByRole("link", { name: win }).first().click()
        await isAt(win)
        await page.goto(`/messages/${casino.studio.slug}/never`)
        await page.getByRole("alert").filter({ hasText: "NOT_FOUND" }).getByText(/ask Studio of .* to send it again/)
          .waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("lists are filtered by a game's name, by a message id alone, and by named ranges such as today", () =>
    Effect.gen(function*() {
      const { casino, paid, seat, taken, waiting } = yield* evening
      const now = dataOf(yield* seat.bet(100)).transaction_id
      const { cookie } = yield* signedIn({ operators: [casino.slug] })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await page.goto("/rounds")
        const rounds = page.getByRole("table", { name: "Rounds" })
        const row = (id: string) => rounds.getByRole("link", { name: id, exact: true })
        await row(now).waitFor()
        await page.getByLabel("Message or entry id").fill(taken)
        await row(paid).waitFor({ state: "detached" })
        await rounds.getByText("taken back", { exact: true }).waitFor()
        await rounds.getByText("The stake was returned.").waitFor()
        await page.getByRole("button", { name: "Clear" }).click()
        await row(waiting).waitFor()
        const game = page.getByRole("combobox", { name: "Game" })
        await game.click()
        await game.fill("golden")
        await page.getByRole("option", { name: /^Golden Reels/ }).first().click()
        await page.waitForURL(/game=\d+/)
        await page.reload()
        await page.locator("input[value='Golden Reels']").waitFor()
        await page.getByRole("button", { name: "Clear" }).click()
        await page.getByRole("combobox", { name: "Time" }).click()
        await page.getByRole("option", { name: "Today" }).click()
        await page.waitForURL(/from=.*to=/)
        await row(paid).waitFor({ state: "detached" })
        await row(now).waitFor()
      })
    }).pipe(Effect.scoped))
})
