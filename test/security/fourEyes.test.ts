import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import { bootstrapToken, type Casino, dataOf, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { goTo, pass, whileTimePasses } from "../kit/Calendar.ts"
import {
  browse,
  cookieOf,
  enrols,
  inSession,
  ofPages,
  signIn,
  withPassword,
  withSecondFactor
} from "../kit/StaffBrowser.ts"

// Goal: no single person can take money out, with any number of tokens. Method: the attacks of a member of staff on a running
// service: corrections, split withdrawals, tokens made, rotated and borrowed, the bootstrap token, bonuses of cash.

const api = "/backoffice/v1"

const as = (token: string) => ({ authorization: `Bearer ${token}` })

interface Account {
  readonly id: number
  readonly token: string
}

const newStaff = (role: string, more: { readonly [field: string]: unknown } = {}, token?: string) =>
  Effect.map(
    staffCall("POST", `${api}/staff`, { name: role, role, ...more }, token === undefined ? undefined : as(token)),
    ({ data }): Account => data
  )

const moveAs = ({ token }: Account, payment: number, name: string) =>
  staffCall("POST", `${api}/payments/${payment}/${name}`, {}, as(token))

/** Status of a payment after a move, or the reason of its refusal. */
const outcome = (account: Account, payment: number, name: string) =>
  Effect.map(
    moveAs(account, payment, name),
    ({ code, data, details }) => code === undefined ? data.status : details["reason"] ?? code
  )

const correctAs = ({ token }: Account, player: number, amount: number) =>
  staffCall("POST", `${api}/players/${player}/corrections`, { amount, reason: "why not" }, as(token))

const decide = ({ token }: Account, correction: number, name: "approve" | "reject") =>
  Effect.map(
    staffCall("POST", `${api}/corrections/${correction}/${name}`, {}, as(token)),
    ({ code, data, details }) => code === undefined ? data.status : details["reason"] ?? code
  )

/** The account created by a call. */
const accountOf = ({ data }: { readonly data: Account }): Account => data

/** A staff member who may move money without a budget, for the attacks that need it. */
const newPayer = Effect.map(newStaff("payments", { daily_budget: null }), (account) => {
  const send = (method: string, path: string, body: { readonly [field: string]: unknown }) =>
    staffCall(method, `${api}${path}`, body, as(account.token))
  return {
    correct: (player: number, amount: number) => correctAs(account, player, amount),
    grant: (player: number, bonus: number, amount: number) =>
      send("POST", `/players/${player}/bonuses`, { bonus, amount }),
    make: (path: string, body: { readonly [field: string]: unknown }) => send("POST", path, body),
    change: (path: string, body: { readonly [field: string]: unknown }) => send("PATCH", path, body),
    /** The status of the payment afterwards, or the reason of a refusal. */
    approve: (payment: number) => outcome(account, payment, "approve")
  }
})

const withdrawal = (casino: Casino, player: number, amount: number) =>
  Effect.map(casino.withdraw(player, amount), (answer): number => dataOf(answer, 201).id)

/** A session of a sign-in link. */
const opens = (url: string) =>
  Effect.map(
    browse("POST", "/session/ticket", { body: { ticket: new URL(url).searchParams.get("ticket") }, headers: ofPages }),
    (answer) => ({ call: inSession(cookieOf(answer)) })
  )

const linkFor = (staffId: number, token: string) =>
  Effect.map(
    staffCall("POST", `${api}/staff/tickets`, { staff: staffId }, as(token)),
    ({ data }): string => data.url
  )

const verified = (casino: Casino) =>
  Effect.map(staff("GET", `/ledger/verification?operator=${casino.slug}`), ({ violations }) => violations)

layer(layerCasinos, { excludeTestServices: true })("four-eyes rule", (it) => {
  it.effect("one person cannot correct a balance and pay it out, not even in parts at the threshold", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const thief = yield* newStaff("payments", { daily_budget: null })
      const large = yield* correctAs(thief, player, 5_000_000)
      assert.deepStrictEqual([large.status, large.data.status], [202, "pending"])
      assert.strictEqual(yield* decide(thief, large.data.id, "approve"), "second_approver")
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])

      // in parts: the first is within the threshold, the second is not, however small
      const part = yield* correctAs(thief, player, 10_000)
      assert.deepStrictEqual([part.status, part.data.type], [201, "correction_up"])
      assert.strictEqual((yield* correctAs(thief, player, 1)).status, 202)
      // and corrections count with withdrawals
      const paid = yield* withdrawal(casino, player, 1)
      assert.strictEqual(yield* outcome(thief, paid, "approve"), "corrected_balance")
      const honest = yield* newStaff("payments")
      yield* pass(1000)
      const late = yield* withdrawal(casino, player, 2)
      assert.strictEqual(yield* outcome(honest, late, "approve"), "new")
      assert.strictEqual(yield* outcome(thief, late, "approve"), "corrected_balance")
      assert.deepStrictEqual(yield* verified(casino), [])
    }))

  it.effect("one person cannot approve a withdrawal that was split into parts below the threshold", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 100_000), 201)
      const [one, two, three] = [yield* newStaff("payments"), yield* newStaff("payments"), yield* newStaff("admin")]
      const first = yield* withdrawal(casino, player, 10_000)
      assert.strictEqual(yield* outcome(one, first, "approve"), "allowed")
      const second = yield* withdrawal(casino, player, 1)
      assert.strictEqual(yield* outcome(one, second, "approve"), "new")
      assert.strictEqual(yield* outcome(one, second, "approve"), "second_approver")
      // the first had a single approver while it was alone: that person may not pay it out any more
      assert.strictEqual(yield* outcome(one, first, "pay"), "approver_pays")
      assert.strictEqual(yield* outcome(two, first, "pay"), "paid")
      assert.strictEqual(yield* outcome(two, second, "approve"), "allowed")
      for (const approver of [one, two]) assert.strictEqual(yield* outcome(approver, second, "pay"), "approver_pays")
      assert.strictEqual(yield* outcome(three, second, "pay"), "paid")
      // a rejected one does not count, and the next day counts anew
      const { id: other } = yield* casino.register()
      dataOf(yield* casino.deposit(other, 100_000), 201)
      const dropped = yield* withdrawal(casino, other, 9000)
      assert.strictEqual(yield* outcome(one, dropped, "reject"), "rejected")
      const alone = yield* withdrawal(casino, other, 10_000)
      assert.strictEqual(yield* outcome(one, alone, "approve"), "allowed")
      assert.strictEqual(yield* outcome(one, alone, "pay"), "paid")
      yield* pass(24 * 3_600_000)
      const tomorrow = yield* withdrawal(casino, other, 10_000)
      assert.strictEqual(yield* outcome(one, tomorrow, "approve"), "allowed")
      assert.strictEqual(yield* outcome(one, tomorrow, "pay"), "paid")
      assert.deepStrictEqual(yield* verified(casino), [])
    }))

  it.effect("one person cannot approve twice with a token that this person issued, rotated or borrowed", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 100_000), 201)
      const admin = yield* newStaff("admin")
      const clerk = yield* newStaff("payments")
      const puppet = yield* newStaff("payments", {}, admin.token)
      yield* pass(1000)
      const payment = yield* withdrawal(casino, player, 100)
      yield* pass(1000)
      // a token from after the request, in either place
      const fresh = yield* newStaff("payments", {}, admin.token)
      assert.strictEqual(yield* outcome(fresh, payment, "approve"), "token_issued_after_request")
      assert.strictEqual(yield* outcome(admin, payment, "approve"), "new")
      assert.strictEqual(yield* outcome(fresh, payment, "approve"), "token_issued_after_request")
      // an account that the first approver made, and a token that the first approver rotated
      assert.strictEqual(yield* outcome(puppet, payment, "approve"), "account_created_by_approver")
      const { token } = accountOf(yield* staffCall("POST", `${api}/staff/${clerk.id}/rotate`, {}, as(admin.token)))
      const borrowed = { ...clerk, token }
      assert.strictEqual(yield* outcome(borrowed, payment, "approve"), "token_issued_after_request")
      yield* pass(1000)
      const next = yield* withdrawal(casino, player, 100)
      assert.strictEqual(yield* outcome(admin, next, "approve"), "new")
      assert.strictEqual(yield* outcome(borrowed, next, "approve"), "token_issued_by_approver")
      // the other way round
      const third = yield* withdrawal(casino, player, 100)
      assert.strictEqual(yield* outcome(borrowed, third, "approve"), "new")
      assert.strictEqual(yield* outcome(admin, third, "approve"), "token_issued_by_approver")
      // a rotation by a third person does not make an account of the first approver's a second person
      yield* staffCall("POST", `${api}/staff/${puppet.id}/rotate`)
      yield* pass(1000)
      const fourth = yield* withdrawal(casino, player, 100)
      assert.strictEqual(yield* outcome(admin, fourth, "approve"), "new")
      const { token: renewed } = accountOf(yield* staffCall("POST", `${api}/staff/${puppet.id}/rotate`))
      yield* pass(1000)
      const fifth = yield* withdrawal(casino, player, 100)
      assert.strictEqual(yield* outcome(admin, fifth, "approve"), "new")
      assert.strictEqual(yield* outcome({ ...puppet, token: renewed }, fifth, "approve"), "account_created_by_approver")
      // two independent people are accepted
      const other = yield* newStaff("admin")
      yield* pass(1000)
      const sixth = yield* withdrawal(casino, player, 100)
      assert.strictEqual(yield* outcome(admin, sixth, "approve"), "new")
      assert.strictEqual(yield* outcome(other, sixth, "approve"), "allowed")
      // corrections follow the same rule
      const { data: request } = yield* correctAs(admin, player, 5)
      assert.strictEqual(
        yield* decide({ ...puppet, token: renewed }, request.id, "approve"),
        "account_created_by_approver"
      )
      yield* pass(1000)
      assert.strictEqual(
        yield* decide(yield* newStaff("admin"), request.id, "approve"),
        "token_issued_after_request"
      )
      assert.strictEqual(yield* decide(other, request.id, "approve"), "posted")
    }))

  it.effect("the bootstrap token moves no money once there are staff, and does nothing once it is retired", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 1000), 201)
      const bonus = yield* casino.newBonus()
      const payment = yield* withdrawal(casino, player, 100)
      const admin = yield* newStaff("admin")
      const bare = { id: 0, token: bootstrapToken }
      assert.strictEqual(yield* outcome(bare, payment, "approve"), "bootstrap_token")
      assert.strictEqual(yield* outcome(bare, payment, "pay"), "bootstrap_token")
      const corrected = yield* correctAs(bare, player, 100)
      assert.deepStrictEqual([corrected.status, corrected.details["reason"]], [403, "bootstrap_token"])
      const granted = yield* staffCall(
        "POST",
        `${api}/players/${player}/bonuses`,
        { bonus: bonus.id },
        as(bootstrapToken)
      )
      assert.deepStrictEqual([granted.status, granted.details["reason"]], [403, "bootstrap_token"])
      assert.deepStrictEqual(yield* casino.balances(player), [900, 0])
      // the rest is still its own
      assert.strictEqual((yield* staffCall("GET", `${api}/staff`, undefined, as(bootstrapToken))).status, 200)

      const retired = yield* staffCall("POST", `${api}/staff/bootstrap/retirement`, {}, as(admin.token))
      assert.strictEqual(retired.data.retired_by, `staff:${admin.id}`)
      assert.strictEqual((yield* staffCall("GET", `${api}/staff`, undefined, as(bootstrapToken))).status, 401)
      yield* sql`DELETE FROM bootstrap_retirement`
    }))

  it.effect("the bootstrap token cannot be retired while no other account can sign in", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const retire = staffCall("POST", `${api}/staff/bootstrap/retirement`, {}, as(bootstrapToken))
      yield* sql`UPDATE staff SET active = false`
      assert.strictEqual((yield* retire).code, "INVALID_REQUEST")
      const admin = yield* newStaff("admin")
      yield* sql`UPDATE staff SET token_issued_at = now() - interval '10 years' WHERE id = ${admin.id}`
      assert.strictEqual((yield* retire).code, "INVALID_REQUEST")
    }))

  it.effect("one person cannot give away more than the daily budget, and the role support cannot grant cash", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id: player } = yield* casino.register()
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const wagered = yield* casino.newBonus()
      const grant = ({ token }: Account, bonus: number, more = {}, to = player) =>
        staffCall("POST", `${api}/players/${to}/bonuses`, { bonus, ...more }, as(token))
      const support = yield* newStaff("support", { daily_budget: 1200 })
      const refused = yield* grant(support, cash.id)
      assert.deepStrictEqual([refused.status, refused.code], [403, "INSUFFICIENT_SCOPE"])
      // 50 at once, each of 500, out of 1200
      const answers = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => grant(support, wagered.id),
        { concurrency: 8 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
      const beyond = answers.find(({ status }) => status !== 201)
      assert.deepStrictEqual([beyond?.code, beyond?.details["limit"], beyond?.details["value"]], [
        "LIMIT_EXCEEDED",
        "daily_budget",
        1200
      ])
      // a refused grant does not use the budget
      const payer = yield* newStaff("payments", { daily_budget: 1000 })
      const once = yield* casino.newBonus({ max_grants_per_player: 1, wagering_multiplier: 0 })
      assert.strictEqual((yield* grant(payer, once.id)).status, 201)
      assert.strictEqual((yield* grant(payer, once.id)).code, "BONUS_INVALID")
      // grants and corrections, up and down, come out of one budget
      assert.strictEqual((yield* correctAs(payer, player, -300)).status, 201)
      assert.strictEqual((yield* correctAs(payer, player, 201)).code, "LIMIT_EXCEEDED")
      assert.strictEqual((yield* correctAs(payer, player, 200)).status, 201)
      // without a rate no amount counts as within it
      const { id: swede } = yield* casino.register({ currency: "SEK" })
      const clerk = yield* newStaff("payments", { daily_budget: 1000 })
      assert.strictEqual((yield* correctAs(clerk, swede, 1)).code, "LIMIT_EXCEEDED")
      yield* pass(24 * 3_600_000)
      assert.strictEqual((yield* correctAs(payer, player, 1000)).status, 201)
      // a new bonus is granted once unless configured otherwise
      const plain = yield* made("/bonuses", {
        operator: casino.slug,
        name: "Plain",
        type: "cash",
        default_amount: 5
      })
      assert.strictEqual(plain.max_grants_per_player, 1)
      // staff may not raise their own budget
      const admin = yield* newStaff("admin")
      const own = yield* staffCall("PATCH", `${api}/staff/${admin.id}`, { daily_budget: null }, as(admin.token))
      assert.strictEqual(own.code, "VALIDATION_FAILED")
    }))

  it.effect("a correction is posted once, also when it is approved again after a crash or twice at the same time", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id: player } = yield* casino.register()
      const [one, two, three] = [yield* newStaff("payments"), yield* newStaff("payments"), yield* newStaff("payments")]
      const { data: request } = yield* correctAs(one, player, 70)
      const both = yield* Effect.all([two, three].map((each) => decide(each, request.id, "approve")), {
        concurrency: "unbounded"
      })
      assert.sameMembers(both, ["posted", "PAYMENT_REQUEST_INVALID"])
      assert.deepStrictEqual(yield* casino.balances(player), [70, 0])
      // as left by a process that dies between the entry and the end of the request
      yield* sql`UPDATE corrections SET status = 'pending', decided_by = NULL, decided_at = NULL, transaction_id = NULL
        WHERE id = ${request.id}`
      assert.strictEqual(yield* decide(one, request.id, "reject"), "PAYMENT_REQUEST_INVALID")
      assert.strictEqual(yield* decide(three, request.id, "approve"), "posted")
      assert.deepStrictEqual(yield* casino.balances(player), [70, 0])
    }))

  it.effect("a staff token expires after 90 days, and a rotation renews it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const account = yield* newStaff("support")
      const opens = ({ token }: Account) =>
        Effect.map(staffCall("GET", `${api}/players`, undefined, as(token)), ({ code, status }) => code ?? status)
      assert.strictEqual(yield* opens(account), 200)
      const listed: ReadonlyArray<{ readonly [field: string]: unknown }> = yield* staff("GET", "/staff")
      const shown = listed.find(({ id }) => id === account.id) ?? {}
      assert.strictEqual(
        Date.parse(String(shown["token_expires_at"])) - Date.parse(String(shown["token_issued_at"])),
        90 * 86_400_000
      )
      assert.isString(shown["last_used_at"])
      yield* sql`UPDATE staff SET token_issued_at = token_issued_at - interval '90 days' WHERE id = ${account.id}`
      assert.strictEqual(yield* opens(account), "INVALID_API_KEY")
      yield* pass(1000)
      const renewed = yield* staff("POST", `/staff/${account.id}/rotate`)
      assert.strictEqual(yield* opens(renewed), 200)
    }))

  it.effect("cash bonuses count like corrections: one person cannot create withdrawable money above the threshold with them", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const wagered = yield* casino.newBonus()
      const thief = yield* newPayer
      const refused = yield* thief.grant(player, cash.id, 10_001)
      assert.deepStrictEqual([refused.code, refused.details["reason"]], ["BONUS_INVALID", "second_approver"])
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
      // in parts, with a correction among them
      assert.strictEqual((yield* thief.grant(player, cash.id, 6000)).status, 201)
      assert.strictEqual((yield* thief.correct(player, 4000)).status, 201)
      assert.strictEqual((yield* thief.grant(player, cash.id, 1)).details["reason"], "second_approver")
      assert.strictEqual((yield* thief.correct(player, 1)).status, 202)
      // money with a wagering requirement is not limited
      assert.strictEqual((yield* thief.grant(player, wagered.id, 20_000)).status, 201)
      // and it counts with withdrawals
      const payment = dataOf(yield* casino.withdraw(player, 1), 201)
      assert.strictEqual(yield* thief.approve(payment.id), "corrected_balance")
      assert.deepStrictEqual((yield* staff("GET", `/ledger/verification?operator=${casino.slug}`)).violations, [])
    }))

  it.effect("a role that corrects balances cannot create or change bonuses and promo codes", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: accomplice } = yield* casino.register()
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const code = fresh("P")
      const promo = yield* made("/promo-codes", {
        operator: casino.slug,
        code,
        bonus: cash.id,
        max_redemptions: 1
      })
      const thief = yield* newPayer
      const offer = { operator: casino.slug, name: "P", type: "cash", default_amount: 5_000_000 }
      const attempts = [
        yield* thief.make("/bonuses", offer),
        yield* thief.change(`/bonuses/${cash.id}`, { default_amount: 5_000_000 }),
        yield* thief.make("/promo-codes", {
          operator: casino.slug,
          code: fresh("Q"),
          bonus: cash.id,
          max_redemptions: 9
        }),
        yield* thief.change(`/promo-codes/${promo.id}`, { active: false })
      ]
      for (const { code: refused, details, status } of attempts) {
        assert.deepStrictEqual([status, refused, details["required_roles"]], [403, "INSUFFICIENT_SCOPE", ["admin"]])
      }
      dataOf(yield* casino.post(`/players/${accomplice}/promo-codes`, { code }), 201)
      assert.deepStrictEqual(yield* casino.balances(accomplice), [500, 0])
      // an offered bonus is granted as before, of another amount too
      assert.strictEqual((yield* thief.grant(accomplice, cash.id, 70)).status, 201)
    }))

  it.effect("a promo code for a bonus without wagering needs a maximum number of redemptions", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const required = { max_redemptions: ["is required for a bonus without wagering"] }
      const codeFor = (bonus: number, more: { readonly [field: string]: unknown } = {}) =>
        staffCall("POST", `${api}/promo-codes`, { operator: casino.slug, code: fresh("C"), bonus, ...more })
      const cash = yield* casino.newBonus({ type: "cash", wagering_multiplier: 0 })
      const unwagered = yield* casino.newBonus({ wagering_multiplier: 0 })
      for (const { id } of [cash, unwagered]) {
        for (const more of [{}, { max_redemptions: null }, { expires_at: "2099-01-01T00:00:00Z" }]) {
          const refused = yield* codeFor(id, more)
          assert.deepStrictEqual([refused.code, refused.details], ["VALIDATION_FAILED", required])
        }
        assert.strictEqual((yield* codeFor(id, { max_redemptions: 2 })).status, 201)
      }
      // nor does a bonus lose its wagering once there is a code without end
      const wagered = yield* casino.newBonus()
      const { data: endless } = yield* codeFor(wagered.id)
      const loses = staffCall("PATCH", `${api}/bonuses/${wagered.id}`, { wagering_multiplier: 0 })
      const switches = (active: boolean) => staffCall("PATCH", `${api}/promo-codes/${endless.id}`, { active })
      const kept = yield* loses
      assert.deepStrictEqual([kept.code, kept.details], ["VALIDATION_FAILED", {
        wagering_multiplier: [
          `must not be 0 while a promo code without max_redemptions grants it, like ${endless.code}`
        ]
      }])
      assert.strictEqual((yield* switches(false)).status, 200)
      assert.strictEqual((yield* loses).status, 200)
      assert.deepStrictEqual((yield* switches(true)).details, required)
      // one from before the rule can be switched off, and its bonus changed
      yield* sql`UPDATE promo_codes SET active = true WHERE id = ${endless.id}`
      assert.strictEqual(
        (yield* staffCall("PATCH", `${api}/bonuses/${wagered.id}`, { active: false, max_bet: 5 })).status,
        200
      )
      assert.strictEqual((yield* switches(false)).status, 200)
    }))

  it.effect("one person cannot approve through a self-created account that rotates a colleague's token, once or twice", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const thief = yield* newStaff("admin", { daily_budget: null })
      const colleague = yield* newStaff("admin")
      const puppet = accountOf(
        yield* staffCall("POST", `${api}/staff`, { name: "Puppet", role: "admin" }, as(thief.token))
      )
      const rotate = ({ id }: Account, by: Account) =>
        Effect.map(staffCall("POST", `${api}/staff/${id}/rotate`, undefined, as(by.token)), accountOf)
      const taken = yield* rotate(colleague, puppet)
      yield* pass(1000)
      const asks = Effect.map(correctAs(thief, player, 5_000_000), ({ data }): number => data.id)
      assert.strictEqual(yield* decide(taken, yield* asks, "approve"), "acts_through_others")
      const twice = yield* rotate(colleague, taken)
      yield* pass(1000)
      assert.strictEqual(yield* decide(twice, yield* asks, "approve"), "acts_through_others")
      // nor the other way round, nor where a withdrawal is paid out
      const other = yield* correctAs(twice, player, 5_000_000)
      assert.strictEqual(yield* decide(thief, other.data.id, "approve"), "acts_through_others")
      dataOf(yield* casino.deposit(player, 20_000), 201)
      const payment = yield* withdrawal(casino, player, 20_000)
      assert.strictEqual(yield* outcome(thief, payment, "approve"), "new")
      assert.strictEqual(yield* outcome(twice, payment, "approve"), "acts_through_others")
      assert.deepStrictEqual(yield* casino.balances(player), [0, 0])
      // nor does the puppet raise its maker's budget, as nobody does their own
      const raised = yield* staffCall("PATCH", `${api}/staff/${thief.id}`, { daily_budget: 1 }, as(puppet.token))
      assert.strictEqual(raised.code, "VALIDATION_FAILED")
    }))

  it.effect("one person cannot approve with a second factor that this person enrolled for a colleague by a sign-in link", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id: player } = yield* casino.register()
      const thief = yield* newStaff("admin", { daily_budget: null })
      const colleague = yield* newStaff("payments")
      const { call } = yield* opens(yield* linkFor(colleague.id, thief.token))
      yield* enrols(call)
      yield* pass(1000)
      const { data: request } = yield* correctAs(thief, player, 500)
      const approved = yield* call("POST", `/corrections/${request.id}/approve`, {})
      assert.strictEqual(approved.details["reason"], "token_issued_by_approver")
    }))

  it.effect("a colleague whose second factor one person reset does not count as a second person just by enrolling a new one", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id: player } = yield* casino.register()
      const thief = yield* newStaff("admin", { daily_budget: null })
      const colleague = yield* withSecondFactor(fresh("Col "), "payments")
      yield* staffCall("PATCH", `${api}/staff/${colleague.id}`, { reset_second_factor: true }, as(thief.token))
      const { call } = yield* opens(yield* linkFor(colleague.id, bootstrapToken))
      yield* enrols(call)
      yield* pass(1000)
      const { data: request } = yield* correctAs(thief, player, 500)
      const approved = yield* call("POST", `/corrections/${request.id}/approve`, {})
      assert.strictEqual(approved.details["reason"], "token_issued_by_approver")
    }))

  it.effect("a colleague whose token one person rotated counts again after replacing it in a session with a second factor", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 0 })
      const { id: player } = yield* casino.register()
      const [admin, other] = [yield* withPassword(fresh("Adm ")), yield* withPassword(fresh("Col "), "payments")]
      yield* pass(1000)
      yield* enrols(admin.call)
      const colleague = { ...other, ...yield* enrols(other.call) }
      yield* staffCall("PATCH", `${api}/staff/${admin.id}`, { daily_budget: null })
      const asked = () =>
        Effect.map(
          admin.call("POST", `/players/${player}/corrections`, { amount: 5, reason: "x" }),
          ({ data }): number => data.id
        )
      const approves = (call: typeof colleague.call, correction: number) =>
        Effect.map(
          call("POST", `/corrections/${correction}/approve`, {}),
          ({ code, data, details }) => code === undefined ? data.status : details["reason"]
        )
      yield* pass(1000)
      assert.strictEqual(yield* approves(colleague.call, yield* asked()), "posted", "both have shown a factor since")
      // a rotation by the one, and a session of the other with its factor
      yield* admin.call("POST", `/staff/${colleague.id}/rotate`)
      const { name, password } = colleague
      const again = inSession(cookieOf(yield* signIn({ name, password, code: colleague.recovery[0] ?? "" })))
      yield* pass(1000)
      assert.strictEqual(
        yield* approves(again, yield* asked()),
        "token_issued_by_approver",
        "the token needs no factor"
      )
      assert.strictEqual((yield* again("POST", "/session/token")).status, 201)
      yield* pass(1000)
      assert.strictEqual(yield* approves(again, yield* asked()), "posted")
    }))

  it.effect("one person cannot pay out after midnight an amount that the same person credited by a correction before midnight", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 10_000 })
      const { id: player } = yield* casino.register()
      const thief = yield* newPayer
      yield* goTo("2026-03-15T23:59:00Z")
      assert.strictEqual((yield* thief.correct(player, 10_000)).status, 201)
      yield* pass(120_000)
      const payment = dataOf(yield* casino.withdraw(player, 10_000), 201)
      assert.strictEqual(yield* thief.approve(payment.id), "corrected_balance")
    })))
})
