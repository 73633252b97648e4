import { assert, layer } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { assertNone, Browser, signedInFully, violationsOn } from "../../kit/Browser.ts"
import { layerCasinos } from "../../kit/Backoffice.ts"
import { pass } from "../../kit/Calendar.ts"
import { dataOf, openCasino, staff } from "../../kit/Casino.ts"
import { heldWithdrawal, raisedAlert } from "../../kit/commands/Scene.ts"
import { personOn } from "../../kit/PersonSteps.ts"
import { queueSql, queueSteps } from "../../../bench/data/Queue.ts"

// Goal: the queues of payments and alerts are worked in few clicks without leaving them, and one of thousands draws and
// reads what is near. Method: Chromium; every click and key that a person needs is counted, as are the changes of the page, its rows and its requests.

const layerPages = Browser.layer.pipe(Layer.provideMerge(layerCasinos), Layer.provideMerge(Browser.layerBuilt))

const several = 20

layer(layerPages, { excludeTestServices: true, timeout: "4 minutes" })("tasks on the queues", (it) => {
  it.effect("20 withdrawals are inspected and approved in at most 25 clicks on one page", () =>
    Effect.gen(function*() {
      const clerk = yield* signedInFully({ role: "payments" })
      const casino = yield* openCasino()
      const held = yield* Effect.forEach(Array.from({ length: several + 1 }), (_, index) =>
        heldWithdrawal(casino, 100 + index))
      const [extra] = held.slice(-1)
      const page = yield* (yield* Browser).open({ cookie: clerk.cookie })
      const table = page.getByRole("table", { name: "Payments" })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?status=waiting&operator=${casino.slug}`)
        await table.getByRole("checkbox").nth(several).waitFor()
      })
      const person = personOn(page)
      yield* Effect.promise(async () => {
        const first = String(held[0]?.payment)
        await person.click(table.getByRole("link", { name: first, exact: true }))
        for (const { payment } of held.slice(0, several)) {
          // the row and what stands beside it answer the question
          const beside = page.getByRole("complementary", { name: `Payment ${payment}` })
          await beside.getByText("first withdrawal").waitFor()
          await beside.getByText("not started").waitFor()
          await person.press("x")
        }
        await page.getByText(`${several} selected (€21.90)`).waitFor()
        const approve = page.getByRole("button", { name: `Approve ${several} (€21.90)` })
        await person.click(approve)
        const dialog = page.getByRole("dialog")
        await person.click(dialog.getByRole("button", { name: `Approve ${several} (€21.90)` }))
        await dialog.getByText(`${several} approved.`).waitFor()
        await dialog.getByText(`payment ${first}: approved`).waitFor()
      })
      const { changes, clicks } = person.counted()
      yield* Console.log(`approve ${several} withdrawals: ${clicks} clicks, ${changes} changes of the page`)
      assert.isAtMost(clicks, 25)
      assert.strictEqual(changes, 0)
      assertNone(yield* violationsOn(page))
      const waiting = yield* staff("GET", `/payments?status=new&operator=${casino.slug}`)
      assert.deepStrictEqual(
        waiting.map((one: { readonly id: number }) =>
          one.id
        ),
        [extra?.payment]
      )
    }).pipe(Effect.scoped))

  it.effect("a bulk approval skips withdrawals held by an alert or already approved, and says so before and after", () =>
    Effect.gen(function*() {
      const clerk = yield* signedInFully({ role: "payments" })
      const casino = yield* openCasino()
      const free = yield* heldWithdrawal(casino, 300)
      const allowed = yield* heldWithdrawal(casino, 200)
      yield* staff("POST", `/payments/${allowed.payment}/approve`, {})
      yield* staff("PATCH", "/alert-rules/large_credit", { operator: casino.slug, stop_withdrawals: false })
      const { alert, player } = yield* raisedAlert(casino)
      const held = dataOf(yield* casino.withdraw(player, 100), 201)
      yield* staff("POST", `/alerts/${alert}/hold`, { reason: "papers" })
      const page = yield* (yield* Browser).open({ cookie: clerk.cookie })
      const box = (payment: number) => page.getByRole("checkbox", { name: `Select payment ${payment}` })
      yield* Effect.promise(async () => {
        await page.goto(`/payments?status=waiting&operator=${casino.slug}`)
        await box(free.payment).focus()
        await page.keyboard.press("x")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("x")
        await box(held.id).check()
        assert.isTrue(await box(allowed.payment).isChecked())
        await page.getByRole("button", { name: "Approve 1 (€3.00)" }).click()
        const dialog = page.getByRole("dialog")
        const left = dialog.getByRole("region", { name: "Left out" })
        await left.getByText(`1 held by an alert: payment ${held.id}`).waitFor()
        await left.getByText(`1 not at this step: payment ${allowed.payment}`).waitFor()
        // somebody else was faster
      })
      yield* staff("POST", `/payments/${free.payment}/approve`, {})
      yield* Effect.promise(async () => {
        const dialog = page.getByRole("dialog")
        await dialog.getByRole("button", { name: "Approve 1 (€3.00)" }).click()
        await dialog.getByText("0 approved, 1 not.").waitFor()
        await dialog.getByText(/A withdrawal that is allowed cannot be approved/u).waitFor()
      })
    }).pipe(Effect.scoped))

  it.effect("an alert is judged by its evidence in at most 4 clicks on one page", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      yield* pass(1)
      const deposit = dataOf(yield* casino.deposit(player, 4321), 201)
      const officer = yield* signedInFully({ role: "compliance" })
      const page = yield* (yield* Browser).open({ cookie: officer.cookie })
      const table = page.getByRole("table", { name: "Alerts" })
      yield* Effect.promise(async () => {
        await page.goto(`/alerts?status=waiting&operator=${casino.slug}`)
        await table.getByRole("link", { name: String(alert), exact: true }).waitFor()
      })
      const person = personOn(page)
      yield* Effect.promise(async () => {
        await person.click(table.getByRole("link", { name: String(alert), exact: true }))
        const evidence = page.getByRole("region", { name: "Evidence" })
        await evidence.getByRole("link", { name: String(deposit.id), exact: true }).waitFor()
        const deposits = evidence.getByRole("table", { name: "Figures" }).getByRole("row").filter({
          hasText: "Deposits"
        })
        await deposits.getByText("1, €10.00").waitFor()
        await deposits.getByText("2, €53.21").waitFor()
        await evidence.getByRole("region", { name: "Player" }).getByText("Balance").waitFor()
      })
      assertNone(yield* violationsOn(page))
      yield* Effect.promise(async () => {
        await person.click(page.getByRole("complementary").getByRole("button", { name: "Close alert" }))
        const dialog = page.getByRole("dialog", { name: "Close alert" })
        await dialog.getByLabel("Reason").fill("The provider confirms the jackpot")
        await person.click(dialog.getByRole("button", { name: "Close alert" }))
        await dialog.waitFor({ state: "hidden" })
      })
      const { changes, clicks } = person.counted()
      yield* Console.log(`judge an alert: ${clicks} clicks, ${changes} changes of the page`)
      assert.isAtMost(clicks, 4)
      assert.strictEqual(changes, 0)
      assert.strictEqual((yield* staff("GET", `/alerts/${alert}`)).status, "closed")
    }).pipe(Effect.scoped))

  it.effect("a queue of 5,000 withdrawals is filtered and 200 approved, with few rows rendered and no page read twice", () =>
    Effect.gen(function*() {
      const clerk = yield* signedInFully({ role: "payments" })
      const casino = yield* openCasino()
      const players = yield* Effect.forEach(Array.from({ length: 50 }), () => casino.register())
      yield* (yield* SqlClient.SqlClient).unsafe(queueSql(casino.id, players.map(({ id }) => Number(id))))
      const page = yield* (yield* Browser).open({ cookie: clerk.cookie })
      const asked: Array<string> = []
      page.on("request", (request) => {
        if (request.url().includes("/backoffice/v1/payments")) asked.push(`${request.method()} ${request.url()}`)
      })
      /** What was asked for since the last time. */
      const requests = () => asked.splice(0)
      const drawn: Array<number> = []
      const look = async () => void drawn.push(await page.locator("tbody tr").count())
      yield* Effect.promise(async () => {
        // boxes that fade are there longer than the key that closes them
        await page.emulateMedia({ reducedMotion: "no-preference" })
        await page.goto(`/payments?status=waiting&operator=${casino.slug}`)
        await queueSteps.shown(page)
        await look()
        assert.lengthOf(requests(), 1)
        await queueSteps.filter(page)
        await look()
        const filtered = requests()
        assert.lengthOf(filtered, 1)
        await queueSteps.mark(page)
        await look()
        // 200 rows are two parts; the third is read when the end of the second is near
        const parts = requests()
        assert.isAtMost(parts.length, 2)
        assert.strictEqual(new Set([...filtered, ...parts]).size, filtered.length + parts.length)
        await queueSteps.approve(page)
        await look()
        const [first, ...again] = requests()
        assert.match(first ?? "", /^POST .*approve$/u)
        // the parts that were read, once more
        assert.strictEqual(new Set(again).size, again.length)
        assert.isAtMost(again.length, parts.length + 1)
      })
      // a window of rows and some beyond it, however many are loaded and marked
      assert.isAtMost(Math.max(...drawn), 110)
      const left = yield* staff("GET", `/payments?status=allowed&operator=${casino.slug}&per_page=100`)
      assert.lengthOf(left, 100)
    }).pipe(Effect.scoped))
})
