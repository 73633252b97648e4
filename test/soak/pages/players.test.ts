import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { wallTime } from "../../../src/domain/ZonedTime.ts"
import { ProviderProtocols } from "../../../src/features/integrations/ProviderSettings.ts"
import { layerBothServers } from "../../kit/Backoffice.ts"
import { casinoUnder, dataOf, fresh, made, openCasino, staff } from "../../kit/Casino.ts"
import { assertNone, Browser, chooseOption, signedIn, signedInFully, tabTo } from "../../kit/Browser.ts"
import { playerWithLostSeeds } from "../../kit/commands/Secrets.ts"
import { fakeProtocol, makeFakeVendor } from "../../kit/FakeVendor.ts"
import { choose, done, notified, press } from "../../kit/PageSteps.ts"
import { codeOf } from "../../kit/StaffBrowser.ts"

// Goal: staff find a player and act on the account in the pages, with effect in the service. Method: a real browser; effects
// of clicks are read through the staff API.

const layerPages = Browser.layer.pipe(
  Layer.provideMerge(layerBothServers),
  Layer.provideMerge(Browser.layerBuilt),
  Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol]))
)

const openAt = async (page: Page, path: string, heading: string): Promise<void> => {
  await page.goto(path)
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor()
}

/** Opens the dialog of an action that is taken rarely. */
const rareDialogOf = async (page: Page, name: string) => {
  await page.getByRole("button", { name: "More", exact: true }).click()
  await page.getByRole("menuitem", { name, exact: true }).click()
  const dialog = page.getByRole("dialog", { name })
  await dialog.waitFor()
  return dialog
}

/** Opens the dialog of an action. */
const dialogOf = async (page: Page, name: string) => {
  await page.getByRole("button", { name, exact: true }).click()
  const dialog = page.getByRole("dialog", { name })
  await dialog.waitFor()
  return dialog
}

layer(layerPages, { excludeTestServices: true, timeout: "5 minutes" })("the players pages", (it) => {
  it.effect("find players while typing, by status, and from the URL", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const [wanted, other] = [yield* casino.register(), yield* casino.register()]
      yield* staff("POST", `/players/${other.id}/status`, { status: "locked" })
      const { cookie } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, "/players", "Players")
        const table = page.getByRole("table", { name: "Players" })
        await page.getByLabel("Search").pressSequentially(wanted.username)
        await page.waitForURL(/starting_with=/)
        await table.getByRole("link", { name: String(other.id), exact: true }).waitFor({ state: "detached" })
        await page.getByRole("button", { name: "Clear" }).click()
        await choose(page, "Status", "locked")
        await table.getByRole("link", { name: String(wanted.id), exact: true }).waitFor({ state: "detached" })
        await page.reload()
        await table.getByRole("link", { name: String(other.id), exact: true }).waitFor()
        assert.strictEqual(await table.getByRole("row").count(), 2)
        assert.strictEqual(await page.getByLabel("Search").inputValue(), "")
        await table.getByRole("link", { name: String(other.id), exact: true }).click()
        await page.getByRole("heading", { level: 1, name: other.username, exact: true }).waitFor()
        // by keyboard a filter opens at its current value
        await openAt(page, "/players?status=locked", "Players")
        await page.getByRole("combobox", { name: "Status" }).focus()
        await page.keyboard.press("ArrowDown")
        await page.getByRole("option", { name: "locked" }).and(page.locator("[data-combobox-selected]")).waitFor()
        await chooseOption(page, "closed")
        await page.waitForURL(/status=closed/)
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  // Goal: support jumps to a minute on any tab of the player. Method: a note of now, jumped to and missed by a day, and the filter on each tab.
  it.effect("show a player's lists around a typed time, and name the author of a note", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id, username } = yield* casino.register()
      yield* staff("POST", `/players/${id}/notes`, { text: "Called at noon." })
      const { cookie } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      const now = yield* Clock.currentTimeMillis
      yield* Effect.promise(async () => {
        const zone = String(await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone"))
        for (const tab of ["timeline", "sessions", "bonuses", "alerts", "notes"]) {
          await openAt(page, `/players/${id}?tab=${tab}`, username)
          await page.getByLabel("Jump to").waitFor()
          await page.getByRole("combobox", { name: "Time" }).waitFor()
        }
        const note = page.getByRole("table", { name: "Notes" }).getByText("Called at noon.")
        await note.waitFor()
        await page.getByRole("table", { name: "Notes" }).getByText("Bootstrap token").waitFor()
        await page.getByLabel("Jump to").fill(wallTime(now - 86_400_000, zone))
        await page.waitForURL(/from=.*to=/)
        await page.getByText("Nothing matches the filters.").waitFor()
        await page.getByLabel("Jump to").fill(wallTime(now, zone))
        await note.waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))

  it.effect("lock an account with a reason, and undo that; a note stays with the player", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const player = yield* casino.register()
      const { cookie, id: staffId } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      const statusNow = Effect.map(staff("GET", `/players/${player.id}`), ({ status }) => status)
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player.id}`, player.username)
        const dialog = await dialogOf(page, "Change status")
        await choose(page, "Status", "locked")
        await dialog.getByLabel("Reason").fill("Called by the bank")
        await dialog.getByRole("button", { name: "Change status" }).click()
        await notified(page, `Status of ${player.username} changed`)
      })
      assert.strictEqual(yield* statusNow, "locked")
      const [line] = yield* staff("GET", `/audit?player=${player.id}&action=player.status`)
      assert.deepInclude(line, { actor: `staff:${staffId}`, reason: "Called by the bank" })
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Undo" }).click()
        await notified(page, "Taken back")
      })
      assert.strictEqual(yield* statusNow, "active")
      yield* Effect.promise(async () => {
        const dialog = await dialogOf(page, "Add note")
        // refused by the service, with message and code, and the typed text is kept
        await dialog.getByLabel("Note").fill("   ")
        await dialog.getByRole("button", { name: "Add note" }).click()
        await dialog.getByRole("alert").filter({ hasText: "VALIDATION_FAILED" }).waitFor()
        await dialog.getByLabel("Note").fill("Asked for papers")
        await dialog.getByRole("button", { name: "Add note" }).click()
        await page.getByRole("table", { name: "Latest notes" }).getByText("Asked for papers").waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("correct a balance after the username is typed and the second factor given", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { id, player } = yield* casino.sit(5000)
      const { cookie, id: staffId, secret } = yield* signedInFully()
      // much later: the last code has expired, and a new one is requested
      yield* sql`UPDATE staff SET totp_step = totp_step - 5 WHERE id = ${staffId}`
      yield* sql`UPDATE staff_sessions SET second_factor_at = NULL WHERE staff_id = ${staffId}`
      const code = codeOf(secret, yield* Clock.currentTimeMillis)
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, player.username)
        const dialog = await dialogOf(page, "Correct balance")
        // the browser speaks British English
        await dialog.getByLabel(/^Amount/).fill("-1,000")
        await dialog.getByText("-€1,000.00").waitFor()
        for (
          const [text, problem] of [["-12,34", "Write it like 1,234.50"], [
            "-12.345",
            "EUR has at most 2 decimals"
          ]] as const
        ) {
          await dialog.getByLabel(/^Amount/).fill(text)
          await dialog.getByLabel("Reason").focus()
          await dialog.getByText(problem).waitFor()
        }
        await dialog.getByLabel(/^Amount/).fill("-12.34")
        await dialog.getByText("after it €37.66").waitFor()
        await dialog.getByLabel("Reason").fill("Paid twice")
        const confirm = dialog.getByRole("button", { name: "Correct balance" })
        assert.isTrue(await confirm.isDisabled(), "the username is not typed yet")
        await dialog.getByLabel(/^Type /).fill(player.username)
        await confirm.click()
        const second = page.getByRole("dialog", { name: "Second factor" })
        await second.getByLabel("Code").fill(code)
        await second.getByRole("button", { name: "Confirm" }).click()
        await notified(page, "Correction taken in")
        await page.getByRole("table", { name: "Wallets" }).getByText("€37.66").waitFor()
      })
      assert.deepStrictEqual(yield* casino.balances(id), [3766, 0])
    }).pipe(Effect.scoped))

  it.effect("grant a bonus and cancel it", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ name: fresh("Welcome ") })
      const player = yield* casino.register()
      const { cookie } = yield* signedInFully()
      const page = yield* (yield* Browser).open({ cookie })
      const stateNow = Effect.map(
        staff("GET", `/players/${player.id}/bonuses`),
        ([first]) => [first?.bonus_id, first?.amount, first?.result]
      )
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player.id}?tab=bonuses`, player.username)
        const dialog = await dialogOf(page, "Grant bonus")
        await dialog.getByRole("radio", { name: new RegExp(bonus.name) }).check()
        await dialog.getByRole("button", { name: "Grant bonus" }).click()
        await dialog.getByRole("region", { name: "Tell the player" }).waitFor()
        await dialog.getByRole("button", { name: "Close" }).last().click()
        await page.getByRole("table", { name: "Bonuses" }).getByText(bonus.name).waitFor()
      })
      assert.deepStrictEqual(yield* stateNow, [bonus.id, 500, null])
      yield* Effect.promise(async () => {
        await press(page, "Cancel bonus", { menuOf: page.getByRole("row").filter({ hasText: bonus.name }) })
        const dialog = page.getByRole("dialog", { name: "Cancel bonus" })
        await dialog.getByLabel(/^Type /).fill(player.username)
        await dialog.getByRole("button", { name: "Cancel bonus" }).click()
        await page.getByRole("table", { name: "Bonuses" }).getByText("cancelled").waitFor()
      })
      assert.deepStrictEqual(yield* stateNow, [bonus.id, 500, "cancelled"])
    }).pipe(Effect.scoped))

  it.effect("decide on KYC, restrict and sign out a player, which takes effect at the operator and in the game", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id, player: { username }, ...seat } = yield* casino.sit(5000)
      yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review" })
      const { cookie, id: staffId } = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, username)
        const kyc = await dialogOf(page, "Change KYC")
        await choose(page, "KYC status", "verified")
        await kyc.getByLabel("Document valid until").fill("2099-04-30")
        await kyc.getByLabel("Reason").fill("Passport seen")
        await kyc.getByRole("button", { name: "Change KYC" }).click()
        await notified(page, `KYC of ${username} changed`)
        await page.getByText("verified").first().waitFor()
        const restriction = await rareDialogOf(page, "Restrict")
        await restriction.getByLabel("May withdraw").uncheck()
        await restriction.getByRole("button", { name: "Restrict" }).click()
        await restriction.getByText("Reason is needed").waitFor()
        await restriction.getByLabel("Reason").fill("Card is not theirs")
        await restriction.getByRole("button", { name: "Restrict" }).click()
        await notified(page, `Restrictions of ${username} changed`)
        await page.getByText("May withdraw: no, restricted by staff").waitFor()
      })
      const [restricted] = yield* staff("GET", `/audit?player=${id}&action=player.restrict`)
      assert.deepInclude(restricted, { reason: "Card is not theirs" })
      assert.strictEqual((yield* staff("GET", `/players/${id}`)).kyc_status, "verified")
      const [line] = yield* staff("GET", `/audit?player=${id}&action=player.kyc`)
      assert.deepInclude(line, { actor: `staff:${staffId}`, reason: "Passport seen" })
      assert.deepInclude(line.after, { document_expires_on: "2099-04-30" })
      assert.strictEqual((yield* casino.withdraw(id, 100)).code, "PLAYER_RESTRICTED")
      yield* Effect.promise(async () => {
        await page.getByRole("button", { name: "Undo" }).last().click()
        await notified(page, "Taken back")
      })
      dataOf(yield* casino.withdraw(id, 100), 201)

      dataOf(yield* seat.bet(100))
      yield* Effect.promise(async () => {
        const dialog = await rareDialogOf(page, "Sign out everywhere")
        await dialog.getByLabel("Reason").fill("Lost the phone")
        await dialog.getByLabel(/^Type /).fill(username)
        await dialog.getByRole("button", { name: "Sign out everywhere" }).click()
        await notified(page, `${username} is signed out`)
      })
      assert.strictEqual((yield* seat.bet(100)).code, "INVALID_SESSION")
    }).pipe(Effect.scoped))

  it.effect("retire seeds that cannot be decrypted, after the username was typed", () =>
    Effect.gen(function*() {
      const { hashes, player } = yield* playerWithLostSeeds(yield* openCasino())
      const { username } = yield* staff("GET", `/players/${player}`)
      const page = yield* (yield* Browser).open({ cookie: (yield* signedInFully({ role: "support" })).cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player}`, username)
        const dialog = await rareDialogOf(page, "Retire seeds")
        await dialog.getByLabel("Reason").fill("The key is gone")
        await dialog.getByLabel(/^Type /).fill(String(username))
        await dialog.getByRole("button", { name: "Retire seeds" }).click()
        await dialog.getByText(hashes[0]).waitFor()
      })
      const [line] = yield* staff("GET", `/audit?player=${player}&action=player.retire_seeds`)
      assert.deepInclude(line, { reason: "The key is gone" })
      assert.deepStrictEqual(line.after.lost, [...hashes])
    }).pipe(Effect.scoped))

  it.effect("issue free rounds at a vendor, and cancel them there", () =>
    Effect.gen(function*() {
      const vendor = yield* makeFakeVendor
      const slug = fresh("vendor-")
      const provider = yield* made("/providers", { slug, name: slug, protocol: "fake", settings: vendor.settings })
      yield* made("/games", { provider: provider.slug, external_id: "book", name: fresh("Book ") })
      const player = yield* (yield* openCasino()).register()
      const { cookie } = yield* signedInFully({ role: "payments" })
      const page = yield* (yield* Browser).open({ cookie })
      const table = page.getByRole("table", { name: "Free rounds" })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player.id}?tab=bonuses`, player.username)
        const dialog = await dialogOf(page, "Issue free rounds")
        await choose(page, "Game", new RegExp(slug))
        await dialog.getByLabel(/^Rounds/).fill("15")
        await dialog.getByLabel(/^Stake of each/).fill("0.25")
        await dialog.getByRole("button", { name: "Issue free rounds" }).click()
        await table.getByText("issued").waitFor()
      })
      const [issued] = yield* staff("GET", `/free-rounds?player=${player.id}`)
      assert.deepInclude(issued, { rounds: 15, stake: 25, status: "issued" })
      yield* Effect.promise(async () => {
        await done(page, "Cancel free rounds", { [`Type ${player.username} to confirm`]: player.username })
        await table.getByText("cancelled").waitFor()
      })
      assert.deepStrictEqual(vendor.asked.map(({ path }) => path), ["/free-rounds", "/free-rounds/cancel"])
    }).pipe(Effect.scoped))

  it.effect("offer the role support no money actions, KYC, alerts or audit log", () =>
    Effect.gen(function*() {
      const player = yield* (yield* openCasino()).register()
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player.id}`, player.username)
        await page.getByRole("button", { name: "Change status" }).waitFor()
        for (const name of ["Correct balance", "Change KYC"]) {
          assert.strictEqual(await page.getByRole("button", { name }).count(), 0, name)
        }
        assert.strictEqual(await page.getByRole("tab", { name: "Notes" }).count(), 1)
        for (const name of ["Alerts", "Audit log"]) {
          assert.strictEqual(await page.getByRole("tab", { name }).count(), 0, name)
        }
        // the address of an unknown player
        await openAt(page, "/players/999999999", "Player")
        await page.getByRole("alert").filter({ hasText: "NOT_FOUND" }).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("lock an account by keyboard alone", () =>
    Effect.gen(function*() {
      const player = yield* (yield* openCasino()).register()
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(() => openAt(page, `/players/${player.id}`, player.username))
      yield* tabTo(page, "Change status")
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        const dialog = page.getByRole("dialog", { name: "Change status" })
        await dialog.getByRole("combobox", { name: "Status" }).and(page.locator(":focus")).waitFor()
        // from the current one to the next
        await page.keyboard.press("ArrowDown")
        await chooseOption(page, "locked")
      })
      yield* tabTo(page, "Change status", 10)
      yield* Effect.promise(async () => {
        await page.keyboard.press("Enter")
        await notified(page, `Status of ${player.username} changed`)
      })
      assert.notStrictEqual((yield* staff("GET", `/players/${player.id}`)).status, "active")
    }).pipe(Effect.scoped))

  it.effect("lower a limit at once and raise it after the cooling-off, as announced before sending", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ cooling_off_hours: 48 })
      const { id, username } = yield* casino.register()
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      const limits = Effect.map(
        staff("GET", `/players/${id}/limits`),
        ({ limits: { max_daily_bet: now }, pending_changes }) => [
          now,
          pending_changes.map(({ requested_value: value }: { readonly requested_value: number }) => value)
        ]
      )
      const set = async (amount: string, said: string | RegExp) => {
        const dialog = page.getByRole("dialog", { name: "Set limit" })
        await dialog.getByLabel(/^Amount/).fill(amount)
        await dialog.getByText(said).waitFor()
        await dialog.getByLabel("Reason").fill("Asked on the phone")
        await dialog.getByRole("button", { name: "Set limit" }).click()
        await dialog.waitFor({ state: "hidden" })
      }
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, username)
        await (await dialogOf(page, "Set limit")).getByLabel("Limit", { exact: true }).selectOption("Daily bet")
        await set("100", "Now no limit; €100.00 at once.")
      })
      assert.deepStrictEqual(yield* limits, [10_000, []])
      yield* Effect.promise(async () => {
        await page.getByRole("tab", { name: "Limits" }).click()
        const row = page.getByRole("table", { name: "Limits" }).getByRole("row").filter({ hasText: "Daily bet" })
          .first()
        await row.getByRole("button", { name: "Set limit" }).click()
        await set("250", /^Now €100\.00; €250\.00 only from .+, after the cooling-off of 48 hours\.$/)
        await row.getByText("to €250.00").waitFor()
      })
      assert.deepStrictEqual(yield* limits, [10_000, [25_000]])
    }).pipe(Effect.scoped))

  // Goal: support keeps a consent given by phone, and hands out a statement. Method: the form on the overview; the page to print in its own tab, as the
  // API then has both.
  it.effect("record a consent given by phone, and print a statement of chosen days", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id, username } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 12_345), 201)
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, username)
        const consent = await dialogOf(page, "Change a consent")
        await choose(page, "Channel", "sms", consent)
        await consent.getByRole("switch", { name: "Granted" }).press("Space")
        await consent.getByLabel("Reason").fill("Asked on the phone")
        await consent.getByRole("button", { name: "Change a consent" }).click()
        await consent.waitFor({ state: "hidden" })
        const row = page.getByRole("table", { name: "Consents" }).getByRole("row").filter({ hasText: /sms/i })
        await row.getByText("yes", { exact: true }).waitFor()

        await page.getByRole("tab", { name: "Ledger" }).click()
        const today = new Date().toISOString().slice(0, 10)
        await page.getByLabel("First day (UTC)").fill(today)
        await page.getByLabel("Last day (UTC)").fill(today)
        const opened = page.context().waitForEvent("page")
        await page.getByRole("link", { name: "Page to print" }).click()
        const statement = await opened
        await statement.getByRole("heading", { level: 1, name: "Statement" }).waitFor()
        await statement.getByRole("cell", { name: "123.45" }).first().waitFor()
        await statement.close()
        await page.getByLabel("Last day (UTC)").fill("2020-01-01")
        await page.getByText("The last day is before the first.").waitFor()
      })
      assert.isTrue(dataOf(yield* casino.get(`/players/${id}`)).marketing.sms)
    }))

  // Goal: what staff read before they exclude or raise is what the player's jurisdiction says. Method: a player under rules whose raises wait
  // longer than the operator's, and whose exclusions end on request.
  it.effect("offer the exclusion periods of the player's jurisdiction, and announce waiting times before sending", () =>
    Effect.gen(function*() {
      const { breaks, limits: { raise } } = yield* staff("GET", "/profiles/de").pipe(
        Effect.map(({ document }) => document)
      )
      const limits = { raise: { ...raise, confirm: true } }
      const casino = yield* casinoUnder({ name: "Germania", breaks, limits }, { cooling_off_hours: 48 })
      const { id, username } = yield* casino.register()
      dataOf(yield* casino.limit(id, { max_daily_bet: 10_000 }))
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, username)
        const limit = await dialogOf(page, "Set limit")
        await limit.getByLabel("Limit", { exact: true }).selectOption("Daily bet")
        await limit.getByLabel(/^Amount/).fill("250")
        await limit.getByText(
          /^Now €100\.00; €250\.00 only from .+, after the 7 days that the rules of Germania let a raise wait\. The player has to confirm it then, within 7 days; else it lapses\.$/
        )
          .waitFor()
        await limit.getByLabel("Reason").fill("Asked on the phone")
        await limit.getByRole("button", { name: "Set limit" }).click()
        await limit.waitFor({ state: "hidden" })

        await page.getByRole("tab", { name: "Limits" }).click()
        await page.getByRole("row").filter({ hasText: "Daily bet" }).getByText(
          /^to €250\.00, .+, once the player confirms it$/
        )
          .waitFor()

        const exclude = await dialogOf(page, "Exclude")
        assert.deepStrictEqual(await exclude.getByRole("radiogroup").locator("label").allTextContents(), [
          "24 hours",
          "3 months",
          "6 months",
          "12 months",
          "Without an end",
          "Until a date"
        ])
        const choose = (name: string) => exclude.getByRole("radio", { name }).check()
        await choose("24 hours")
        await exclude.getByText(/^Excluded until .+ It cannot be shortened/).waitFor()
        await choose("3 months")
        await exclude.getByText(
          /^Excluded until .+, and after that until the player asks to return, and plays again 7 days later\. It cannot be shortened/
        ).waitFor()
        await choose("Without an end")
        await exclude.getByText(
          /^Excluded without an end\. The player may ask to return from .+ on, and plays again 7 days later\. It cannot/
        ).waitFor()
        await exclude.getByLabel("Reason").fill("Rang at noon")
        await exclude.getByLabel(/^Type /).fill(username)
        await exclude.getByRole("button", { name: "Exclude" }).click()
        await exclude.waitFor({ state: "hidden" })
        // nothing is longer
        await page.getByRole("note", { name: "Standing" }).waitFor()
        assert.strictEqual(await page.getByRole("button", { name: "Prolong exclusion" }).count(), 0)
      })
      const { pending_changes: [pending], self_exclusion: exclusion } = yield* staff("GET", `/players/${id}/limits`)
      assert.deepInclude(exclusion, { type: "self_exclusion", until: null, ends: "on_request", source: "staff" })
      assert.isAbove(Date.parse(pending.effective_at), (yield* Clock.currentTimeMillis) + 6 * 86_400_000)
    }).pipe(Effect.scoped))

  it.effect("ask for the scope of an exclusion where the rules leave it to the player", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ profiles: ["mt"], default_profile: "mt" })
      const { id, username } = yield* casino.register()
      const { cookie } = yield* signedIn({ role: "support" })
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}`, username)
        const exclude = await dialogOf(page, "Exclude")
        const where = exclude.getByRole("combobox", { name: "Where it holds" })
        await exclude.getByRole("radio", { name: "24 hours" }).check()
        await exclude.getByText(/^Excluded until /).waitFor()
        assert.strictEqual(await where.count(), 0, "a time-out holds at the operator")
        await exclude.getByRole("radio", { name: "6 months" }).check()
        await where.waitFor()
        await choose(page, "Where it holds", "At all operators of the licensee", exclude)
        await exclude.getByLabel("Reason").fill("Wrote a letter")
        await exclude.getByLabel(/^Type .* to confirm$/).fill(username)
        await exclude.getByRole("button", { name: "Exclude" }).click()
        await exclude.waitFor({ state: "hidden" })
      })
      const [line] = yield* staff("GET", `/audit?player=${id}&action=player.exclude`)
      assert.deepInclude(line, { reason: "Wrote a letter" })
      assert.include(JSON.stringify(line.after), "licensee")
    }).pipe(Effect.scoped))

  it.effect("group play into one timeline row that opens its entries, and name the game in the ledger", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id, player: { username }, ...seat } = yield* casino.sit(5000)
      const first = dataOf(yield* seat.bet(100))
      dataOf(yield* seat.bet(200))
      dataOf(yield* seat.win(first.transaction_id, 150))
      const { cookie } = yield* signedIn()
      const page = yield* (yield* Browser).open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${id}?tab=timeline`, username)
        const table = page.getByRole("table", { name: "Timeline" })
        await table.getByText("2 rounds, staked €3.00, won €1.50").waitFor()
        assert.strictEqual(await table.getByText("Casino bet").count(), 0)
        await table.getByRole("button", { name: new RegExp(casino.slots.name) }).click()
        const entries = page.getByRole("table", { name: `Entries of ${casino.slots.name}` })
        await entries.getByText("casino win").waitFor()
        assert.strictEqual(await entries.getByText("casino bet").count(), 2)
        await page.getByRole("tab", { name: "Ledger" }).click()
        await page.getByRole("table", { name: "Ledger entries" }).getByText(casino.slots.name).first().waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("scroll 100,000 entries to the last one, with few rows rendered", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const player = yield* casino.register()
      const entries = 100_000
      const firstId = 800_000_000
      yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
        SELECT ${player.id}::float8::bigint, i, ${firstId}::int + i, ${casino.id}::float8::bigint, 'real', 'correction_up', 1, i,
          now() - interval '1 day' + i * interval '0.1 seconds' FROM generate_series(1, ${entries}::int) i`
      yield* sql`UPDATE accounts SET real_balance = ${entries}, entry_seq = ${entries}, wallet_seq = ${entries}
        WHERE player_id = ${player.id}`
      const { cookie } = yield* signedIn()
      const browser = yield* Browser
      const page = yield* browser.open({ cookie })
      yield* Effect.promise(async () => {
        await openAt(page, `/players/${player.id}?tab=ledger`, player.username)
        const table = page.getByRole("table", { name: "Ledger entries" })
        const rows = table.getByRole("row")
        await table.getByRole("cell", { name: String(firstId + entries), exact: true }).waitFor()
        assert.strictEqual(await table.getAttribute("aria-rowcount"), String(entries + 1))
        const elements = async () => Number(await page.evaluate("document.getElementsByTagName('*').length"))
        const atFirst = await elements()
        // partly by the wheel, then all the way by keyboard, and back
        await page.mouse.move(640, 600)
        for (let turn = 0; turn < 20; turn++) {
          await page.mouse.wheel(0, 700)
          assert.isBelow(await rows.count(), 60)
          assert.isBelow(await elements(), 2 * atFirst)
        }
        await table.getByRole("cell", { name: String(firstId + entries - 420), exact: true }).waitFor()
        await page.keyboard.press("End")
        await table.getByRole("cell", { name: String(firstId + 1), exact: true }).waitFor()
        assert.isBelow(await rows.count(), 60)
        assert.isBelow(await elements(), 2 * atFirst)
        assert.strictEqual(await table.getByText("…", { exact: true }).count(), 0, "all that is seen is read")
        await page.keyboard.press("Home")
        await table.getByRole("cell", { name: String(firstId + entries), exact: true }).waitFor()
      })
      assertNone(browser.problems())
    }).pipe(Effect.scoped))
})
