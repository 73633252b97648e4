import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import {
  assertRefused,
  type Casino,
  casinoUnder,
  dataOf,
  fresh,
  made,
  openCasino,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"

// Goal: an operator for testing behaves as a live one, does by itself what others wait for, and touches nobody else. Method: sandboxes beside live operators
// on the same servers, over HTTP.

const sandbox = (settings: { readonly [field: string]: unknown } = {}) => openCasino({ is_sandbox: true, ...settings })

const pathsOf = (messages: ReadonlyArray<{ readonly path: string }>) =>
  messages.map(({ path }) => path.split("/").at(-1))

const play = (casino: Casino, playerId: number, round: { readonly [field: string]: unknown }) =>
  Effect.map(
    casino.post(`/sandbox/players/${playerId}/rounds`, { game_id: casino.slots.id, ...round }),
    (reply) => dataOf(reply).messages
  )

/** Begins a call while a change of a sandbox's clock is not committed yet; gives its answer. */
const behind = Effect.fnUntraced(function*<A, E, R, A2, E2, R2>(
  change: Effect.Effect<A2, E2, R2>,
  call: Effect.Effect<A, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const begun = yield* sql.withTransaction(Effect.gen(function*() {
    yield* change
    const fiber = yield* Effect.forkDetach(call)
    yield* sql`SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`.pipe(
      Effect.delay("10 millis"),
      Effect.repeat({ until: (rows) => rows.length > 0 || fiber.pollUnsafe() !== undefined, times: 1000 })
    )
    return fiber
  }))
  return yield* Fiber.join(begun)
})

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("sandboxes", (it) => {
  it.effect("an operator is a sandbox from its creation and for good, and its keys have the prefix pk_test_ and the scope sandbox", () =>
    Effect.gen(function*() {
      const [test, live] = [yield* sandbox(), yield* openCasino()]
      assert.match(test.key.key, /^pk_test_/)
      assert.match(test.key.secret, /^sk_test_/)
      assert.match((yield* staff("POST", `/keys/${test.key.key}/rotate`)).secret, /^sk_test_/)
      assert.match(live.key.key, /^pk_live_/)
      assert.include(test.key.scopes, "sandbox")
      assert.notInclude(live.key.scopes, "sandbox")
      assert.isFalse((yield* staff("PATCH", `/operators/${live.slug}`, { is_sandbox: true })).is_sandbox)
      assert.isFalse(dataOf(yield* live.get("/me")).operator.is_sandbox)
    }))

  it.effect("a live key gets 404 below /sandbox whatever its scopes; a sandbox's key needs the scope", () =>
    Effect.gen(function*() {
      const [test, live] = [yield* sandbox(), yield* openCasino()]
      const { id } = yield* live.register()
      assertRefused(yield* live.post(`/sandbox/players/${id}/kyc`, { status: "verified" }), 404, "NOT_FOUND")
      yield* staff("PATCH", `/keys/${live.key.key}`, { scopes: ["sandbox"] })
      assertRefused(yield* live.post(`/sandbox/players/${id}/kyc`, { status: "verified" }), 404, "NOT_FOUND")
      assertRefused(yield* test.post(`/sandbox/players/${id}/kyc`, { status: "verified" }), 404, "NOT_FOUND")
      assertRefused(yield* test.post("/sandbox/alerts", { player_id: id }), 404, "NOT_FOUND")
      yield* staff("PATCH", `/keys/${test.key.key}`, { scopes: ["players:write"] })
      assertRefused(yield* test.post(`/sandbox/players/1/kyc`, { status: "verified" }), 403, "INSUFFICIENT_SCOPE")
    }))

  it.effect("a simulated round goes through the wallet: won, lost, rolled back, repeated and out of order", () =>
    Effect.gen(function*() {
      const casino = yield* sandbox()
      const { id } = yield* casino.register()
      yield* casino.deposit(id, 1000)
      const won = yield* play(casino, id, { bet: 100, win: 250, duplicates: 2 })
      assert.deepStrictEqual(pathsOf(won), ["bet", "bet", "bet", "win", "win", "win"])
      assert.deepStrictEqual(won.map(({ status }: { readonly status: number }) => status), [
        200,
        200,
        200,
        200,
        200,
        200
      ])
      assert.strictEqual(won[5].answer.data.balance, 1150)
      assert.strictEqual((yield* casino.balances(id))[0], 1150)
      assert.deepStrictEqual(pathsOf(yield* play(casino, id, { bet: 50 })), ["bet"])
      assert.deepStrictEqual(pathsOf(yield* play(casino, id, { bet: 50, rollback: true })), ["bet", "rollback"])
      assert.strictEqual((yield* casino.balances(id))[0], 1100)
      const crossed = yield* play(casino, id, { bet: 100, win: 10, order: "crossed" })
      assert.deepStrictEqual(pathsOf(crossed), ["win", "bet", "win"])
      assert.strictEqual(crossed[0].answer.error.code, "BET_NOT_FOUND")
      const overtaken = yield* play(casino, id, { bet: 100, rollback: true, order: "crossed" })
      assert.deepStrictEqual(pathsOf(overtaken), ["rollback", "bet"])
      assert.strictEqual((yield* casino.balances(id))[0], 1010)
      const poor = yield* play(casino, id, { bet: 5000, win: 9000 })
      assert.deepStrictEqual(pathsOf(poor), ["bet"])
      assert.strictEqual(poor[0].answer.error.code, "INSUFFICIENT_FUNDS")
      const original = dataOf(yield* casino.get("/games?per_page=100")).find(
        ({ is_original }: { readonly is_original: boolean }) => is_original
      )
      if (original !== undefined) {
        const answer = yield* casino.post(`/sandbox/players/${id}/rounds`, { game_id: original.id, bet: 1 })
        assertRefused(answer, 422, "VALIDATION_FAILED")
      }
    }))

  it.effect("sandbox endpoints do what staff actions do: withdrawals, chargebacks, KYC and alerts", () =>
    Effect.gen(function*() {
      const casino = yield* sandbox({ withdrawal_second_approval_above: 0 })
      const { id } = yield* casino.register()
      const deposit = dataOf(yield* casino.deposit(id, 1000), 201)
      const request = (amount: number) => Effect.map(casino.withdraw(id, amount), (reply) => dataOf(reply, 201).id)
      const paid = yield* request(300)
      const step = (path: string) => casino.post(`/sandbox/${path}`)
      assertRefused(yield* step(`withdrawals/${paid}/pay`), 422, "PAYMENT_REQUEST_INVALID")
      assert.strictEqual(dataOf(yield* step(`withdrawals/${paid}/approve`)).status, "allowed")
      assert.strictEqual(dataOf(yield* step(`withdrawals/${paid}/pay`)).status, "paid")
      assert.strictEqual(dataOf(yield* step(`withdrawals/${yield* request(200)}/reject`)).status, "rejected")
      assertRefused(yield* step(`withdrawals/${deposit.id}/reject`), 404, "NOT_FOUND")
      assert.isTrue(dataOf(yield* step(`deposits/${deposit.id}/chargeback`)).is_reversed)
      assert.strictEqual((yield* casino.balances(id))[0], -300)
      const verified = yield* casino.post(`/sandbox/players/${id}/kyc`, { status: "verified" })
      assert.strictEqual(dataOf(verified).kyc_status, "verified")
      const alert = dataOf(yield* casino.post("/sandbox/alerts", { player_id: id, severity: "high" }), 201)
      assert.deepInclude(alert, { rule: "large_deposit", severity: "high", status: "open", player_id: id })
      assert.strictEqual((yield* staff("GET", `/alerts/${alert.id}`)).occurrence.startsWith("sandbox:"), true)
    }))

  it.effect("figures and reports over several operators leave sandboxes out; those of a single sandbox show it", () =>
    Effect.gen(function*() {
      const [test, live] = [yield* sandbox({ currency: "SEK" }), yield* openCasino({ currency: "SEK" })]
      for (const casino of [test, live]) {
        const { id } = yield* casino.register({ currency: "SEK" })
        yield* casino.deposit(id, 700)
      }
      const rows = (more: string) =>
        Effect.map(
          staff("GET", `/reports/operators?from=2026-01-01&to=2026-12-31&currency=SEK${more}`),
          ({ rows: found }) => found.map(({ operator_id: operatorId }: { readonly operator_id: number }) => operatorId)
        )
      const all = yield* rows("")
      assert.include(all, live.id)
      assert.notInclude(all, test.id)
      assert.deepStrictEqual(yield* rows(`&operator=${test.slug}`), [test.id])
    }))

  it.effect("a licensee holds sandboxes or live operators, not both", () =>
    Effect.gen(function*() {
      const licensee = (yield* made("/licensees", { name: fresh("Licensee ") })).id
      yield* sandbox({ licensee })
      const live = yield* openCasino()
      assertRefused(
        yield* staffCall("PATCH", `/backoffice/v1/operators/${live.slug}`, { licensee }),
        422,
        "VALIDATION_FAILED"
      )
      const mixed = { slug: fresh("mixed-"), name: "Mixed", currency: "EUR", licensee }
      assertRefused(yield* staffCall("POST", "/backoffice/v1/operators", mixed), 422, "VALIDATION_FAILED")
      yield* sandbox({ licensee })
    }))

  it.effect("a sandbox's register answers by the player's last name, without network calls", () =>
    Effect.gen(function*() {
      const always = { max_age: "PT0S", unavailable: "refuse" } as const
      const on = { registration: always }
      const casino = yield* casinoUnder(
        { registers: [{ kind: "generic", on, last_good_max_age: null }] },
        { is_sandbox: true }
      )
      // nobody listens there: an answer can only be a simulated one
      const settings = { url: "https://127.0.0.1:1/", api_key: "unused" }
      yield* staff("POST", "/registers", { operator: casino.slug, kind: "generic", settings })
      const register = (lastName: string) =>
        casino.post("/players", { ...registration(fresh("p-")), last_name: lastName })
      assert.strictEqual(dataOf(yield* register("Lovelace"), 201).register.verdict, "clear")
      assertRefused(yield* register("Excluded"), 422, "SELF_EXCLUDED_IDENTITY")
      assert.strictEqual((yield* register("Unavailable")).code, "TRY_AGAIN")
    }))

  it.effect("a reset starts anew with the same keys, webhooks, methods, bonuses and settings, and keeps the ledger valid", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const live = yield* openCasino()
      const casino = yield* sandbox({ cooling_off_hours: 48 })
      const bonus = yield* casino.newBonus()
      yield* made("/promo-codes", { operator: casino.slug, code: "AGAIN", bonus: bonus.id })
      const webhook = yield* made("/webhooks", {
        operator: casino.slug,
        url: "https://example.com/hook",
        active: false
      })
      const { bet, id } = yield* casino.sit(1000, { username: "same_again", external_id: "same" })
      const stranger = yield* live.register()
      dataOf(yield* casino.grant(id, bonus.id), 201)
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      dataOf(yield* bet(10))
      yield* casino.post("/sandbox/clock/advance", { seconds: 3600 })
      const before = dataOf(yield* casino.get("/me"))
      const reset = dataOf(yield* casino.post("/sandbox/reset"))
      assert.strictEqual(reset.archived_operator_id, casino.id)

      const after = dataOf(yield* casino.get("/me"))
      assert.deepStrictEqual(after.operator, { ...before.operator, id: reset.operator_id })
      assert.deepStrictEqual(after.api_key, before.api_key)
      assert.isAtLeast(Date.parse(after.server_time), Date.parse(before.server_time), "the clock is not turned back")
      assertRefused(yield* casino.get(`/players/${id}`), 404, "NOT_FOUND")
      assert.strictEqual((yield* browserCall(token, "/me")).status, 401)
      assert.notStrictEqual((yield* bet(10)).status, 200)
      assert.strictEqual(dataOf(yield* casino.get("/players")).length, 0)
      assert.strictEqual(dataOf(yield* casino.get("/payment-methods"))[0].code, "bank")
      assert.strictEqual(dataOf(yield* casino.get("/bonuses"))[0].id, bonus.id)
      const hooks = yield* staff("GET", `/webhooks?operator=${casino.slug}`)
      assert.deepStrictEqual(hooks.map((one: { readonly id: number }) => one.id), [webhook.id])
      const again = yield* casino.sit(1000, { username: "same_again", external_id: "same" })
      dataOf(yield* casino.post(`/players/${again.id}/promo-codes`, { code: "again" }), 201)
      assert.strictEqual((yield* play(casino, again.id, { bet: 100 }))[0].status, 200)

      const operators = yield* staff("GET", "/operators")
      const found = operators.filter(({ name }: { readonly name: string }) => name === casino.slug)
      assert.deepStrictEqual(found.map((one: { readonly id: number }) => one.id), [reset.operator_id])
      assert.strictEqual(found[0].cooling_off_hours, 48)
      assertRefused(
        yield* staffCall("GET", `/backoffice/v1/operators/${casino.id}/setup`),
        404,
        "NOT_FOUND"
      )
      const kept = yield* sql`SELECT FROM ledger_entries WHERE operator_id = ${casino.id}`
      assert.isAbove(kept.length, 1)
      const verified = yield* runHere(["ledger", "verify", "--json"])
      assert.strictEqual(verified.exitCode, 0, verified.stdout)
      assert.strictEqual(dataOf(yield* live.get(`/players/${stranger.id}`)).id, stranger.id)
    }))

  it.effect("staff bound to a sandbox see its figures and its newest entries after a reset, and nothing of the archived operator", () =>
    Effect.gen(function*() {
      const casino = yield* sandbox()
      const former = yield* casino.register()
      const { id: staffId, token } = yield* made("/staff", { name: fresh("Bound "), operators: [casino.slug] })
      const seen = (path: string) =>
        staffCall("GET", `/backoffice/v1${path}`, undefined, { authorization: `Bearer ${token}` })
      assert.strictEqual((yield* seen(`/players/${former.id}`)).status, 200)
      yield* casino.post("/sandbox/clock/advance", { seconds: 3600 })
      const { operator_id: successor } = dataOf(yield* casino.post("/sandbox/reset"))
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 700), 201)
      const accounts: ReadonlyArray<{ readonly id: number; readonly operators: unknown }> = yield* staff(
        "GET",
        "/staff"
      )
      assert.deepStrictEqual(accounts.find((one) => one.id === staffId)?.operators, [successor])
      assertRefused(yield* seen(`/players/${former.id}`), 404, "NOT_FOUND")
      const entries = dataOf(yield* seen("/ledger/entries"))
      assert.deepStrictEqual(entries.map(({ amount }: { readonly amount: number }) => amount), [700])
      assert.strictEqual(dataOf(yield* seen("/overview")).deposits, 1)
    }))

  it.effect("a reset repeated under its idempotency key is replayed, and resets nothing", () =>
    Effect.gen(function*() {
      const casino = yield* sandbox()
      const keyed = { "Idempotency-Key": fresh("reset-") }
      const first = yield* casino.call("POST", "/sandbox/reset", undefined, keyed)
      assert.strictEqual(dataOf(first).archived_operator_id, casino.id)
      const { id } = yield* casino.register()
      const again = yield* casino.call("POST", "/sandbox/reset", undefined, keyed)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}`)).id, Number(id))
    }))

  it.effect("a reset waits for an advance of the clock that is starting, and is then refused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* sandbox()
      yield* casino.post("/sandbox/clock/advance", { seconds: 3600 })
      const answer = yield* behind(
        sql`UPDATE operator_clocks SET held_at = now(), target = now() + interval '1 day',
          lease_until = now() + interval '1 hour' WHERE operator_id = ${casino.id}`,
        casino.post("/sandbox/reset")
      )
      assertRefused(answer, 422, "INVALID_REQUEST")
      yield* sql`UPDATE operator_clocks SET held_at = NULL, target = NULL WHERE operator_id = ${casino.id}`
    }))

  it.effect("an advance of the clock during a reset does not move the archived sandbox's clock", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* sandbox()
      const answer = yield* behind(
        sql`UPDATE operators SET archived_at = now() WHERE id = ${casino.id}`,
        casino.post("/sandbox/clock/advance", { seconds: 3600 })
      )
      assert.strictEqual(answer.code, "TRY_AGAIN")
      assert.deepStrictEqual(yield* sql`SELECT FROM operator_clocks WHERE operator_id = ${casino.id}`, [])
    }))
})
