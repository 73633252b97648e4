import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { casinoUnder, dataOf, type Fields, made, openCasino, staff, staffCall, treasurerToken } from "../kit/Casino.ts"
import { raisedAlert } from "../kit/commands/Scene.ts"

// Goal: what a case decides for money holds at the next command, over HTTP: withdrawals under a report, deposits under a question about their source,
// the cap on net deposits. Method: staff work on cases; the operator pays in and out.

const opened = (player: number, type: string, more: Fields = {}) => made("/cases", { type, player, ...more })

const update = (id: number, body: Fields) => staff("PATCH", `/cases/${id}`, body)

const decided = Effect.fnUntraced(function*(id: number, body: Fields) {
  yield* update(id, { status: "in_progress" })
  return yield* update(id, { status: "decided", ...body })
})

/** Judges what waits to be judged. */
const judge = Effect.flatMap(Compliance, ({ run }) => Effect.repeat(run, { while: ({ hasMore }) => hasMore }))

layer(layerCasinos, { excludeTestServices: true })("player cases", (it) => {
  it.effect("9.2: closing a case closes its alerts and ends their holds on withdrawals", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { alert, player } = yield* raisedAlert(casino)
      dataOf(yield* casino.deposit(player, 1000), 201)
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, { reason: "compliance_hold" })
      const { id } = yield* opened(player, "aml", { alerts: [alert] })
      yield* decided(id, { decision: "no_action" })
      assert.strictEqual((yield* casino.withdraw(player, 100)).code, "PLAYER_RESTRICTED")
      yield* update(id, { status: "closed" })
      assert.deepInclude(yield* staff("GET", `/alerts/${alert}`), { status: "closed", case_id: id })
      dataOf(yield* casino.withdraw(player, 100), 201)
    }))

  it.effect("9.3: a request for the authority's consent holds all withdrawals until the consent is granted or, if it is refused, the case is closed", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 1000), 201)
      const waiting = dataOf(yield* casino.withdraw(player, 100), 201)
      const { id } = yield* opened(player, "aml")
      const sar = (reference: string, body: Fields) => staff("POST", `/cases/${id}/sar`, { reference, ...body })
      const fresh = { authority: "FIU", submitted_at: "2026-11-20T10:00:00Z", consent_requested: true }
      yield* sar("R-1", fresh)
      yield* sar("R-2", fresh)
      const held = { reason: "compliance_hold" }
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, held)
      const approval = yield* staffCall("POST", `/backoffice/v1/payments/${waiting.id}/approve`, {})
      assert.strictEqual(approval.code, "PLAYER_RESTRICTED")
      const [queued] = yield* staff("GET", `/payments?id=${waiting.id}`)
      assert.include(queued.waiting_for, "case")
      const clerk = { authorization: `Bearer ${yield* treasurerToken}` }
      const seen = yield* staffCall("GET", `/backoffice/v1/payments/${waiting.id}`, undefined, clerk)
      assert.deepInclude(dataOf(seen), { waiting_for: ["approval", "alert"], held_by_alerts: [] })
      // nobody but the case lets the money go
      yield* staff("PATCH", `/players/${player}/restrictions`, { can_withdraw: true })
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, held)
      yield* decided(id, { decision: "report" })
      const open = yield* staffCall("PATCH", `/backoffice/v1/cases/${id}`, { status: "closed" })
      assert.deepInclude(open, { status: 422, code: "VALIDATION_FAILED" })
      yield* sar("R-1", { consent: "granted" })
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, held)
      yield* sar("R-2", { consent: "refused" })
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, held)
      yield* update(id, { status: "closed" })
      dataOf(yield* casino.withdraw(player, 100), 201)
    }))

  it.effect("9.3, 11.3: a completed data request leaves open a case that has a report, and the hold ends with the authority's consent", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 1000), 201)
      const request = dataOf(yield* casino.post(`/players/${player}/data-requests`, { type: "access" }), 201)
      const [found] = yield* staff("GET", `/cases?player=${player}`)
      const sar = (body: Fields) => staff("POST", `/cases/${found.id}/sar`, { reference: "R-1", ...body })
      yield* sar({ authority: "FIU", submitted_at: "2026-11-20T10:00:00Z", consent_requested: true })
      dataOf(yield* casino.get(`/players/${player}/data-requests/${request.id}/document`))
      assert.deepInclude(dataOf(yield* casino.get(`/players/${player}/data-requests/${request.id}`)), {
        status: "completed"
      })
      assert.deepInclude(yield* staff("GET", `/cases/${found.id}`), { status: "open" })
      assert.deepInclude((yield* casino.withdraw(player, 100)).details, { reason: "compliance_hold" })
      yield* sar({ consent: "granted" })
      dataOf(yield* casino.withdraw(player, 100), 201)
    }))

  it.effect("9.4: an unanswered question about the source of funds stops deposits from its due date until the evidence is accepted", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const { id } = yield* opened(seat.id, "aml", { note: "structured deposits" })
      const funds = (body: Fields) => staff("POST", `/cases/${id}/funds`, body)
      yield* funds({ text: "Please send us three payslips.", due: "P14D" })
      const path = `/players/${seat.id}/obligations`
      const [asked] = dataOf(yield* casino.get(path))
      // 6.2: of a case aml the player learns nothing but the words for the player
      assert.deepStrictEqual(asked.details, { text: "Please send us three payslips." })
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      const shown = yield* browserCall(token, "/obligations")
      assert.deepStrictEqual(dataOf(shown), [asked])
      dataOf(yield* casino.deposit(seat.id, 100), 201)
      yield* pass(14 * dayMs)
      const gate = { reason: "obligation", obligations: ["source_of_funds"] }
      assert.deepStrictEqual((yield* casino.deposit(seat.id, 100)).details, gate)
      yield* funds({ evidence: [{ kind: "payslip", reference: "box 7", sha256: "ab".repeat(32) }] })
      yield* funds({ reject: true })
      assert.deepStrictEqual((yield* casino.deposit(seat.id, 100)).details, gate)
      yield* funds({ accept: true })
      dataOf(yield* casino.deposit(seat.id, 100), 201)
      assert.deepInclude(dataOf(yield* casino.get(path))[0], { id: asked.id, state: "met" })
      const sql = yield* SqlClient.SqlClient
      const told = yield* sql`SELECT type FROM events WHERE player_id = ${seat.id} AND type LIKE 'obligation.%'`
      assert.deepStrictEqual(told, [])
    })))

  it.effect("4.5: deposits refused by the net deposit cap open one case, and the case's decision `raise` increases the cap", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ deposits: { net_cap: { amount: 1000 } } })
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 1000), 201)
      const over = casino.deposit(player, 100)
      for (const { code, details } of yield* Effect.all([over, over], { concurrency: 2 })) {
        assert.strictEqual(code, "LIMIT_EXCEEDED")
        assert.deepInclude(details, { limit: "net_deposit_cap", value: 1000 })
      }
      const [found, ...others] = yield* staff("GET", `/cases?player=${player}`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(found, { type: "affordability", status: "open", opened_by: "compliance" })
      yield* decided(found.id, { decision: "raise", amount: 1500 })
      dataOf(yield* casino.deposit(player, 500), 201)
      assert.deepInclude((yield* over).details, { limit: "net_deposit_cap", value: 1500 })
      // what is taken up again is not decided
      yield* update(found.id, { status: "in_progress" })
      assert.deepInclude((yield* over).details, { value: 1000 })
      assert.lengthOf(yield* staff("GET", `/cases?player=${player}`), 1)
    }))

  it.effect("9.2: a critical alert opens a case automatically, except under the jurisdiction profile `none`", () =>
    Effect.gen(function*() {
      const free = yield* raisedAlert(yield* openCasino())
      const held = yield* raisedAlert(yield* casinoUnder({ minimum_age: 20 }))
      yield* judge
      yield* judge
      assert.deepStrictEqual(yield* staff("GET", `/cases?player=${free.player}`), [])
      const [found, ...others] = yield* staff("GET", `/cases?player=${held.player}`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(yield* staff("GET", `/cases/${found.id}`), { type: "aml", alerts: [held.alert] })
    }))

  it.effect("4.4: a player's limit above the amount set by the jurisdiction opens a contact case unless one is open, and blocks nothing", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ limits: { contact_above: { max_monthly_deposit: 1000 } } })
      const set = (player: number, limits: Fields) => casino.put(`/players/${player}/limits`, { limits })
      const casesOf = (player: number) => Effect.andThen(judge, staff("GET", `/cases?player=${player}`))
      const { id: player } = yield* casino.register()
      yield* set(player, { max_monthly_deposit: 1000, max_daily_deposit: 5000 })
      assert.deepStrictEqual(yield* casesOf(player), [])
      // a raise that waits is set as well
      yield* set(player, { max_monthly_deposit: 1001 })
      const [contact] = yield* casesOf(player)
      assert.deepInclude(contact, { type: "contact", opened_by: "compliance" })
      yield* set(player, { max_monthly_deposit: 1002 })
      yield* set(player, { max_daily_deposit: 400 })
      assert.lengthOf(yield* casesOf(player), 1)
      dataOf(yield* casino.deposit(player, 300), 201)
      yield* decided(contact.id, { decision: "no_action" })
      yield* update(contact.id, { status: "closed" })
      yield* set(player, { max_daily_deposit: 300 })
      assert.lengthOf(yield* casesOf(player), 1)
      yield* set(player, { max_monthly_deposit: 1003 })
      assert.lengthOf(yield* casesOf(player), 2)
      const { id: other } = yield* casino.register({ limits: { max_monthly_deposit: 1500 } })
      assert.lengthOf(yield* casesOf(other), 1)
    }))

  it.effect("9.6: net deposits above the threshold raise one alert, one vulnerability check and one case, and again only after the repeat period", () =>
    whileTimePasses(Effect.gen(function*() {
      const vulnerability = { net_deposits: 1000, window: "P30D", repeat: "P60D" }
      const casino = yield* casinoUnder({ vulnerability })
      const { id: player } = yield* casino.register()
      const found = Effect.gen(function*() {
        yield* judge
        const alerts = yield* staff("GET", `/alerts?player=${player}&rule=net_deposits`)
        const cases = yield* staff("GET", `/cases?player=${player}&type=vulnerability`)
        return { alerts, cases }
      })
      dataOf(yield* casino.deposit(player, 600), 201)
      const withdrawal = dataOf(yield* casino.withdraw(player, 100), 201)
      yield* staff("POST", `/payments/${withdrawal.id}/approve`, {})
      yield* staff("POST", `/payments/${withdrawal.id}/pay`, {})
      dataOf(yield* casino.deposit(player, 500), 201)
      assert.deepStrictEqual(yield* found, { alerts: [], cases: [] })
      dataOf(yield* casino.deposit(player, 1), 201)
      dataOf(yield* casino.deposit(player, 500), 201)
      const { alerts: [alert, ...more], cases: [one, ...others] } = yield* found
      assert.deepStrictEqual([more, others], [[], []])
      assert.deepInclude(alert, { case_id: one.id, status: "open" })
      assert.deepInclude(alert.details, { amount: 1001, threshold: 1000, window: "P30D" })
      const obligations = Effect.map(casino.get(`/players/${player}/obligations`), dataOf)
      const [check] = yield* obligations
      assert.deepInclude(check, { kind: "vulnerability_check", state: "open", gates: [] })
      yield* decided(one.id, { decision: "monitor" })
      assert.deepInclude((yield* obligations)[0], { id: check.id, state: "met" })
      // a case that is taken up again imposes its check again
      yield* update(one.id, { status: "in_progress" })
      assert.deepInclude((yield* obligations)[0], { kind: "vulnerability_check", state: "open" })
      yield* update(one.id, { status: "decided", decision: "monitor" })
      assert.deepInclude((yield* obligations)[0], { kind: "vulnerability_check", state: "met" })
      yield* pass(40 * dayMs)
      dataOf(yield* casino.deposit(player, 1001), 201)
      assert.lengthOf((yield* found).alerts, 1)
      yield* pass(20 * dayMs)
      dataOf(yield* casino.deposit(player, 1), 201)
      assert.lengthOf((yield* found).cases, 2)
    })))
})
