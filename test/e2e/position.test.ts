import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PlayerAccounts } from "../../src/features/players/PlayerAccounts.ts"
import { DormantAccounts } from "../../src/features/position/DormantAccounts.ts"
import { DueSessions } from "../../src/features/position/DueSessions.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, minuteMs, pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"
import { casinoUnder, dataOf, type Fields, made, move, openCasino, outcomeOf, staff } from "../kit/Casino.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"

// Goal: operators and players read what was played and paid, and a reality check stops play until it is answered, at any node. Method: play over HTTP under a
// profile with an interval, on a clock of the test.

const checking = (more: Fields = {}) =>
  casinoUnder({ reality_check: { default: "PT20M", min: "PT10M", max: "PT1H", grace: "PT60S", ...more } })

const gate = { reason: "obligation", obligations: ["reality_check"] }

const flow = (deposits: number, withdrawals: number) => ({
  deposits,
  withdrawals,
  net_deposits: deposits - withdrawals
})

const played = (staked: number, won: number) => ({ staked, won, net: won - staked })

/** Stays in play for a time, with a bet every ten minutes. */
const playFor = <Answer extends { readonly status: number }, E, R>(
  seat: { readonly bet: (amount: number) => Effect.Effect<Answer, E, R> },
  minutes: number
) =>
  Effect.gen(function*() {
    for (let gone = 0; gone < minutes; gone += 10) {
      assert.strictEqual((yield* seat.bet(10)).status, 200)
      yield* pass(Math.min(10, minutes - gone) * minuteMs)
    }
  })

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("positions and reality checks", (it) => {
  it.effect("7.1: a position has the totals of the session, the day, thirty days and the lifetime; rollbacks are netted, charged-back deposits left out", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const position = Effect.map(casino.get(`/players/${seat.id}/position`), (reply) => dataOf(reply))
      const none = { ...flow(0, 0), ...played(0, 0) }
      assert.deepStrictEqual(yield* position, {
        currency: "EUR",
        session: { since: noon, elapsed_seconds: 0, ...played(0, 0) },
        day: { ...none, ...flow(1000, 0) },
        rolling_30_days: { ...none, ...flow(1000, 0) },
        lifetime: flow(1000, 0)
      })

      const bonus = yield* casino.newBonus({ wagering_multiplier: 100 })
      dataOf(yield* casino.grant(seat.id, bonus.id), 201)
      // 1000 of real money and 200 of the bonus
      const mixed = dataOf(yield* seat.bet(1200))
      dataOf(yield* seat.win(mixed.transaction_id, 600))
      const wrong = dataOf(yield* seat.bet(50))
      dataOf(yield* seat.rollback(wrong.transaction_id))
      yield* pass(70 * secondMs)
      const money = { ...flow(1000, 0), ...played(1200, 600) }
      assert.deepStrictEqual(yield* position, {
        currency: "EUR",
        session: { since: noon, elapsed_seconds: 70, ...played(1200, 600) },
        day: money,
        rolling_30_days: money,
        lifetime: flow(1000, 0)
      })

      // the next day without a session: deposits that stand, and withdrawals that were neither rejected nor cancelled
      yield* pass(dayMs)
      const back = dataOf(yield* casino.deposit(seat.id, 700), 201)
      dataOf(yield* move(back.id, "chargeback"))
      dataOf(yield* casino.deposit(seat.id, 900), 201)
      dataOf(yield* casino.withdraw(seat.id, 100), 201)
      for (const way of ["reject", "cancel"]) {
        const gone = dataOf(yield* casino.withdraw(seat.id, 30), 201)
        dataOf(yield* move(gone.id, way, "asked"))
      }
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      const next = dataOf(yield* browserCall(token, "/position"))
      assert.deepStrictEqual(next, {
        currency: "EUR",
        session: { since: null, elapsed_seconds: 0, ...played(0, 0) },
        day: { ...flow(900, 100), ...played(0, 0) },
        rolling_30_days: { ...flow(1900, 100), ...played(1200, 600) },
        lifetime: flow(1900, 100)
      })
      assert.deepStrictEqual(yield* position, next)
      // the deposit at the very beginning of the thirty days counts
      assert.deepInclude(yield* Effect.andThen(pass(30 * dayMs), position), {
        rolling_30_days: { ...flow(900, 100), ...played(0, 0) }
      })
      yield* pass(1)
      assert.deepInclude(yield* position, {
        rolling_30_days: { ...flow(0, 0), ...played(0, 0) },
        lifetime: flow(1900, 100)
      })
    })))

  it.effect("7.2: operator and player can set an interval within the bounds of the profile, and null removes it", () =>
    Effect.gen(function*() {
      const casino = yield* checking({ default: null })
      const { id } = yield* casino.register()
      const path = `/players/${id}/reality-check`
      const idle = {
        interval: null,
        elapsed_seconds: 0,
        due_at: null,
        session: { since: null, elapsed_seconds: 0, ...played(0, 0) }
      }
      assert.deepStrictEqual(dataOf(yield* casino.get(path)), idle)
      for (const interval of ["PT9M59S", "PT61M", "20 minutes", "PT0S", ""]) {
        const { code, details } = yield* casino.put(path, { interval })
        assert.deepStrictEqual([code, Object.keys({ ...details })], ["VALIDATION_FAILED", ["interval"]], interval)
      }
      assert.strictEqual((yield* casino.put(path, {})).code, "VALIDATION_FAILED")
      assert.deepStrictEqual(dataOf(yield* casino.put(path, { interval: "PT10M" })), { ...idle, interval: "PT10M" })
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      assert.deepStrictEqual(dataOf(yield* browserCall(token, "/reality-check")), { ...idle, interval: "PT10M" })
      const put = (interval: unknown) => browserCall(token, "/reality-check", { method: "PUT", body: { interval } })
      assert.strictEqual((yield* put("PT2H")).code, "VALIDATION_FAILED")
      assert.strictEqual(dataOf(yield* put("PT1H")).interval, "PT1H")
      assert.deepInclude((yield* staff("GET", `/players/${id}/compliance`)).reality_check, {
        own_interval: "PT1H",
        interval: "PT1H"
      })
      assert.strictEqual(dataOf(yield* put(null)).interval, null)
      const lines = yield* staff("GET", `/audit?player=${id}&action=player.reality_check`)
      assert.deepStrictEqual(
        lines.map(({ actor, after, before }: Fields) => [String(actor).split(":")[0], before, after]),
        [
          ["player", { interval: "PT1H" }, { interval: null, profile: `${casino.profile} 1` }],
          ["player", { interval: "PT10M" }, { interval: "PT1H", profile: `${casino.profile} 1` }],
          ["key", { interval: null }, { interval: "PT10M", profile: `${casino.profile} 1` }]
        ]
      )
    }))

  it.effect("7.3: a due check stops bets, launches and originals after its grace period; the answer continue starts the next interval", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* checking()
      const seat = yield* casino.sit(1000)
      yield* playFor(seat, 20)
      // due now; within its grace a bet is taken, and finds it
      const late = dataOf(yield* seat.bet(10))
      const due = { since: noon, elapsed_seconds: 1200, ...played(30, 0) }
      assert.deepStrictEqual(yield* told(seat.id), [["reality_check.due", due]])
      yield* pass(minuteMs)
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      const original = yield* made("/games", {
        provider: casino.studio.slug,
        external_id: "flip",
        name: `Flip of ${casino.slug}`,
        category: "instant",
        original: "coin_flip"
      })
      const flip = { stake: 10, params: { side: "heads" } }
      const refusals = [
        yield* seat.bet(10),
        yield* casino.launch(seat.id),
        yield* browserCall(token, `/games/${casino.slots.id}/launch`, { method: "POST" }),
        yield* browserCall(token, `/games/${original.id}/play`, { body: flip })
      ]
      for (const refused of refusals) {
        assert.deepInclude(refused, { status: 422, code: "PLAYER_RESTRICTED" })
        assert.deepInclude(refused.details, gate)
      }
      dataOf(yield* seat.win(late.transaction_id, 5))
      dataOf(yield* casino.deposit(seat.id, 5), 201)
      const [open] = dataOf(yield* casino.get(`/players/${seat.id}/obligations?state=open`))
      assert.deepInclude(open, { kind: "reality_check", gates: ["play"], due_at: at(20) })
      assert.deepStrictEqual(open.details, { interval: "PT20M", gates_from: at(21) })
      assert.deepInclude((yield* staff("GET", `/players/${seat.id}/compliance`)).gates, { play: ["reality_check"] })

      const answer = (word: string) =>
        casino.post(`/players/${seat.id}/acknowledgements`, { kind: "reality_check", answer: word })
      assert.strictEqual((yield* answer("accept")).code, "RESPONSIBLE_GAMING_RULE")
      assert.deepInclude(dataOf(yield* answer("continue"), 201), { kind: "reality_check", answer: "continue" })
      assert.strictEqual((yield* answer("continue")).code, "RESPONSIBLE_GAMING_RULE")
      dataOf(yield* seat.bet(10))
      const next = dataOf(yield* casino.get(`/players/${seat.id}/reality-check`))
      assert.deepInclude(next, { elapsed_seconds: 0, due_at: at(41) })
      assert.deepInclude(next.session, { since: noon, elapsed_seconds: 1260, ...played(40, 5) })
    })))

  it.effect("7.3: the answer stop ends the player's wallet sessions but no tokens; a new launch continues the session", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* checking()
      const seat = yield* casino.sit(1000)
      const { token } = dataOf(yield* casino.post(`/players/${seat.id}/session-tokens`), 201)
      yield* playFor(seat, 22)
      assert.strictEqual((yield* seat.bet(10)).code, "PLAYER_RESTRICTED")
      const stop = { kind: "reality_check", answer: "stop" }
      assert.strictEqual((yield* browserCall(token, "/acknowledgements", { method: "POST", body: stop })).status, 201)
      assert.strictEqual((yield* seat.bet(10)).code, "INVALID_SESSION")
      assert.deepInclude(dataOf(yield* browserCall(token, "/reality-check")), { elapsed_seconds: 0, due_at: at(42) })
      const { session_token: again } = dataOf(yield* casino.launch(seat.id))
      dataOf(yield* casino.playOf(again, seat.ref).bet(10))
      assert.strictEqual((yield* seat.bet(10)).code, "INVALID_SESSION")
    })))

  it.effect("7.3: a job raises a due check once without any bet; a break of 15 minutes resets it", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* checking()
      const { run } = yield* DueSessions
      const seat = yield* casino.sit(1000)
      yield* playFor(seat, 19)
      dataOf(yield* seat.bet(10))
      yield* run
      assert.deepStrictEqual(yield* told(seat.id), [])
      yield* pass(minuteMs)
      yield* Effect.all([run, run], { concurrency: 2 })
      yield* run
      assert.strictEqual((yield* told(seat.id)).length, 1)
      yield* pass(2 * minuteMs)
      assert.strictEqual((yield* seat.bet(10)).code, "PLAYER_RESTRICTED")
      // the session is over 15 minutes after its last bet, and the check with it
      yield* pass(12 * minuteMs - 1)
      assert.strictEqual((yield* casino.launch(seat.id)).code, "PLAYER_RESTRICTED")
      yield* pass(1)
      yield* run
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        yield* sql`SELECT o.state, a.session_due_at AS due FROM obligations o JOIN accounts a USING (player_id)
          WHERE player_id = ${seat.id}`,
        [{ state: "met", due: null }]
      )
      dataOf(yield* seat.bet(10))
      assert.deepInclude(dataOf(yield* casino.get(`/players/${seat.id}/reality-check`)), {
        elapsed_seconds: 0,
        due_at: at(54)
      })
    })))

  it.effect("2.5, 7.3: a longer interval, or none, does not lift a due check; staff can waive it", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* checking()
      const seat = yield* casino.sit(1000)
      yield* casino.put(`/players/${seat.id}/reality-check`, { interval: "PT10M" })
      yield* playFor(seat, 12)
      assert.strictEqual((yield* seat.bet(10)).code, "PLAYER_RESTRICTED")
      for (const interval of ["PT1H", null]) {
        const put = dataOf(yield* casino.put(`/players/${seat.id}/reality-check`, { interval }))
        assert.strictEqual(put.due_at, at(10))
        assert.strictEqual((yield* seat.bet(10)).code, "PLAYER_RESTRICTED", String(interval))
      }
      const [open] = yield* staff("GET", `/obligations?player=${seat.id}&state=open`)
      yield* staff("POST", `/obligations/${open.id}/waive`, { reason: "by telephone" })
      dataOf(yield* seat.bet(10))
    })))

  it.effect("7.3: without an interval nothing falls due, and no due time is stored", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      yield* playFor(seat, 100)
      assert.strictEqual(outcomeOf(yield* seat.bet(10)), outcomeOf({ status: 200 }))
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT session_due_at AS due FROM accounts WHERE player_id = ${seat.id}`, [
        { due: null }
      ])
    })))

  it.effect("11.7: an account without sign-in, bet or deposit becomes dormant, once, and is listed; any of the three ends it", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* casinoUnder({ dormant: { after: "P30D" } })
      const { list, run } = yield* DormantAccounts
      const sitting = yield* Effect.all([casino.sit(1000), casino.sit(500), casino.sit(200)])
      const idle = yield* casino.register()
      const ids = [...sitting.map(({ id }) => id), idle.id]
      const sinceOf = (id: number) => Effect.map(casino.get(`/players/${id}`), (reply) => dataOf(reply).dormant_since)
      const marked = Effect.forEach(ids, sinceOf)
      const [bettor, depositor, visitor] = sitting
      assert(bettor !== undefined && depositor !== undefined && visitor !== undefined)
      // each used in another way, in the middle of the period
      yield* pass(20 * dayMs)
      const token = dataOf(yield* casino.launch(bettor.id)).session_token
      const play = casino.playOf(token, bettor.ref)
      dataOf(yield* play.bet(10))
      dataOf(yield* casino.deposit(depositor.id, 50), 201)
      dataOf(yield* casino.post(`/players/${visitor.id}/session-tokens`), 201)
      // money that moves without the player is no use of the account
      yield* made(`/players/${idle.id}/corrections`, { amount: 70, reason: "goodwill" })
      yield* pass(10 * dayMs - 1)
      yield* run
      assert.deepStrictEqual(yield* marked, [null, null, null, null])
      yield* pass(1)
      yield* run
      const first = at(30 * 24 * 60)
      assert.deepStrictEqual(yield* marked, [null, null, null, first])
      yield* pass(20 * dayMs)
      yield* Effect.all([run, run], { concurrency: 2 })
      const second = at(50 * 24 * 60)
      assert.deepStrictEqual(yield* marked, [second, second, second, first])
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(
        yield* sql`SELECT count(*)::integer AS told FROM events WHERE operator_id = ${casino.id} AND type = 'player.dormant'`,
        [{ told: 4 }]
      )
      const [line] = yield* staff("GET", `/audit?player=${idle.id}&action=player.dormant`)
      assert.deepInclude(line, { actor: "scheduler", after: { dormant_since: first, profile: `${casino.profile} 1` } })
      const listed = yield* staff("GET", `/reports/dormant?operator=${casino.slug}`)
      assert.deepStrictEqual(
        listed.map((row: Fields) => [row["player_id"], row["balance"], row["dormant_since"]]),
        [[idle.id, 70, first], [visitor.id, 200, second], [depositor.id, 550, second], [bettor.id, 990, second]]
      )
      const part = yield* list([casino.id], { cursor: undefined, limit: 3 })
      assert.strictEqual(part.items.length, 3)
      const { items } = yield* list([casino.id], { cursor: part.next ?? "", limit: 3 })
      assert.deepStrictEqual(items.map(({ player_id }) => player_id), [bettor.id])

      dataOf(yield* casino.post(`/players/${visitor.id}/session-tokens`), 201)
      dataOf(yield* casino.deposit(depositor.id, 50), 201)
      const again = dataOf(yield* casino.launch(bettor.id)).session_token
      // a launch is no use, a bet is
      assert.strictEqual(yield* sinceOf(bettor.id), second)
      dataOf(yield* casino.playOf(again, bettor.ref).bet(10))
      assert.deepStrictEqual(yield* marked, [null, null, null, first])
      yield* run
      assert.deepStrictEqual(yield* marked, [null, null, null, first])
    })))

  it.effect("11.7: a sign-in while the account is being marked wins over dormancy, whichever is written first", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* casinoUnder({ dormant: { after: "P30D" } })
      const { run } = yield* DormantAccounts
      const { noteLogin } = yield* PlayerAccounts
      const sql = yield* SqlClient.SqlClient
      const [early, late] = [yield* casino.register(), yield* casino.register()]
      const sinceOf = (id: number) => Effect.map(casino.get(`/players/${id}`), (reply) => dataOf(reply).dormant_since)
      yield* pass(30 * dayMs)
      // the row of a sign-in that comes as the account is marked
      const instant = at(30 * 24 * 60)
      yield* sql.unsafe(`CREATE FUNCTION sign_in() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.last_login_at := '${instant}'; RETURN NEW; END $$`)
      yield* sql.unsafe(`CREATE TRIGGER sign_in BEFORE UPDATE OF dormant_since ON players FOR EACH ROW
        WHEN (NEW.id = ${early.id} AND NEW.dormant_since IS NOT NULL) EXECUTE FUNCTION sign_in()`)
      yield* run
      yield* sql.unsafe("DROP FUNCTION sign_in() CASCADE")
      assert.isNull(yield* sinceOf(early.id))
      assert.strictEqual(yield* sinceOf(late.id), instant)
      yield* noteLogin(casino.id, late.id)
      assert.isNull(yield* sinceOf(late.id))
    })))

  it.effect("11.7: under the profile `none` no account becomes dormant", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.sit(1000)
      yield* pass(3650 * dayMs)
      yield* (yield* DormantAccounts).run
      assert.isNull(dataOf(yield* casino.get(`/players/${id}`)).dormant_since)
    })))
})

/** Minutes after the beginning. */
const at = (minutes: number) => new Date(Date.parse(noon) + minutes * minuteMs).toISOString()

/** The events about reality checks of a player, with the session of each. */
const told = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`SELECT type, data -> 'session' AS session, data -> 'player' ->> 'id' AS player FROM events
    WHERE player_id = ${playerId} AND type LIKE 'reality_check.%' ORDER BY id`
  for (const { player } of found) assert.strictEqual(player, String(playerId))
  return found.map(({ session, type }) => [type, session])
})
