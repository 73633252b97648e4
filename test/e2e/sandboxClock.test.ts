import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { DueObligations } from "../../src/features/obligations/DueObligations.ts"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import { DormantAccounts } from "../../src/features/position/DormantAccounts.ts"
import { DueSessions } from "../../src/features/position/DueSessions.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { layerWebhooks } from "../../src/service.ts"
import { rulesEveryMs } from "../../src/features/sandbox/DueInstants.ts"
import { SandboxClock } from "../../src/features/sandbox/SandboxClock.ts"
import { WebhookHousekeeping } from "../../src/features/webhooks/WebhookHousekeeping.ts"
import { GeneralPlans } from "../../src/platform/Database.ts"
import { ClockOwner, OperatorClocks } from "../../src/store/OperatorClocks.ts"
import { StaleRounds } from "../../src/features/settlement/StaleRounds.ts"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, goTo, hourMs, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import {
  assertRefused,
  type Casino,
  casinoUnder,
  dataOf,
  fresh,
  made,
  openCasino,
  outcomeOf,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { makeSink } from "../kit/WebhookSink.ts"
import { chanceOf } from "../kit/Chance.ts"
import { noon } from "../kit/Noon.ts"
import { runs } from "../kit/Runs.ts"

// Goal: a sandbox whose clock is advanced ends as one for which the time passed, and nobody else notices. Method: the same scene, drawn from a seed, twice: in
// one the clock of the operator is advanced, in the other the calendar of the test goes on, with the jobs every quarter of an hour.

const sandbox = (settings: { readonly [field: string]: unknown } = {}) => openCasino({ is_sandbox: true, ...settings })

const advance = (casino: Casino, by: { readonly [field: string]: unknown }) => casino.post("/sandbox/clock/advance", by)

/** All jobs that look for what is due, as often as in production. */
const runJobs = Effect.gen(function*() {
  yield* (yield* DueAccountChanges).run
  yield* (yield* Bonuses).applyDue
  yield* (yield* DueSessions).run
  if ((yield* Clock.currentTimeMillis) % rulesEveryMs === 0) yield* (yield* DueObligations).run
  yield* (yield* DormantAccounts).run
  yield* (yield* StaleRounds).run
})

const stepMs = 15 * minuteMs

/** Time passes, with the jobs. */
const letPass = Effect.fnUntraced(function*(ms: number) {
  for (let left = ms; left > 0; left -= stepMs) {
    yield* pass(Math.min(left, stepMs))
    yield* runJobs
  }
})

/** Instants as milliseconds since the beginning, and without ids and names, which differ from scene to scene. */
const comparable = (value: unknown, start: number): unknown => {
  if (Array.isArray(value)) return value.map((one) => comparable(one, start))
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return Date.parse(value) - start
  if (typeof value !== "object" || value === null) return value
  const strange =
    /(^|_)id$|^(username|email|phone|external_id|last_name|name|profile|jurisdiction|external_reference|key)$/
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => strange.test(name) ? [] : [[name, comparable(one, start)]])
  )
}

/** Everything that can be seen of a player, and the events about the player. */
const stateOf = Effect.fnUntraced(function*(casino: Casino, id: number, start: number) {
  const sql = yield* SqlClient.SqlClient
  const shown = yield* Effect.forEach(
    ["", "/wallet", "/limits", "/bonuses?per_page=100", "/transactions?per_page=100", "/obligations"],
    (path) => Effect.map(casino.get(`/players/${id}${path}`), (reply) => comparable(dataOf(reply), start))
  )
  const events = yield* sql<{ readonly type: string; readonly at: Date }>`SELECT type, created_at AS at FROM events
    WHERE player_id = ${id} ORDER BY player_version, id`
  const sessions = yield* sql<
    { readonly at: Date; readonly ended: Date | null }
  >`SELECT expires_at AS at, ended_at AS ended
    FROM game_sessions WHERE player_id = ${id} ORDER BY id`
  const stale = yield* sql`SELECT FROM stale_rounds WHERE player_id = ${id}`
  return {
    shown,
    events: events.map(({ at, type }) => [type, at.getTime() - start]),
    sessions: sessions.map(({ at, ended }) => [at.getTime() - start, ended === null ? null : ended.getTime() - start]),
    stale: stale.length
  }
})

/** A jurisdiction in which raises are confirmed, sessions interrupted, limits reviewed, and a limit is required. */
const rules = {
  limits: { raise: { confirm: true }, required: [["max_daily_deposit"]] },
  reviews: { limits: "P2D", no_limits: "P1D" },
  reality_check: { default: "PT30M", min: "PT15M", max: "PT1H", grace: "PT15M" }
}

/** Plays the scene of a seed in a new casino; gives what was answered and what is left. */
const scene = Effect.fnUntraced(function*<E, R>(
  seed: number,
  letTimePass: (casino: Casino, ms: number) => Effect.Effect<unknown, E, R>
) {
  yield* goTo(noon)
  const start = Date.parse(noon)
  const draw = chanceOf(seed).below
  const settings = { is_sandbox: true, cooling_off_hours: 24 }
  const casino = seed % 2 === 0 ? yield* casinoUnder(rules, settings) : yield* openCasino(settings)
  const bonus = yield* casino.newBonus({ valid_days: 1, wagering_multiplier: 50 })
  const { id } = yield* casino.register()
  const outcomes: Array<unknown> = []
  let elapsed = 0
  const actions: ReadonlyArray<
    () => ReturnType<typeof casino.get>
  > = [
    () => casino.deposit(id, 1000 + 100 * draw(5)),
    () => casino.post(`/sandbox/players/${id}/rounds`, { game_id: casino.slots.id, bet: 10, win: 5 * draw(6) }),
    () => casino.limit(id, { max_daily_deposit: 1000 * (1 + draw(6)) }),
    () => casino.limit(id, { max_single_bet: 50 * (1 + draw(6)), max_weekly_bet: null }),
    () => casino.grant(id, bonus.id),
    () => casino.withdraw(id, 100 + draw(100)),
    () => casino.exclude(id, { period: "24_hours" }),
    () => {
      const expires = new Date(start + elapsed + dayMs).toISOString().slice(0, 10)
      return casino.post(`/sandbox/players/${id}/kyc`, { status: "verified", document_expires_on: expires })
    },
    () => casino.launch(id),
    () => casino.post(`/players/${id}/session-tokens`, { ttl_minutes: 60 })
  ]
  outcomes.push(outcomeOf(yield* casino.deposit(id, 5000)))
  const steps = 8 + draw(8)
  for (let step = 0; step < steps; step++) {
    const action = actions[draw(actions.length)]
    if (action !== undefined) outcomes.push(outcomeOf(yield* action()))
    const ms = stepMs * (1 + draw(draw(3) === 0 ? 120 : 30))
    yield* letTimePass(casino, ms)
    elapsed += ms
  }
  const state = yield* stateOf(casino, id, start)
  return { outcomes, elapsed, state }
})

const withJobs = (_: Casino, ms: number) => letPass(ms)

const byClock = Effect.fnUntraced(function*(casino: Casino, ms: number) {
  const clock = dataOf(yield* advance(casino, { seconds: ms / 1000 }))
  assert.deepInclude(clock, { advancing: false, target: null })
})

/** Of one database: jobs find more to look at with every casino that was there before. */
const seedsAtATime = 3

const live = layerWebhooks.pipe(
  Layer.provideMerge(layerCasinos),
  // the jobs look at few rows, thousands of times: to plan each statement anew would take most of the time
  Layer.provide(Layer.succeed(GeneralPlans, "force_generic_plan"))
)

for (let first = 1; first <= runs(6, 30); first += seedsAtATime) {
  layer(live, { excludeTestServices: true, timeout: 120_000 })("a sandbox's clock", (it) => {
    for (let seed = first; seed < first + seedsAtATime; seed++) {
      it.effect(`has the same effects when it is advanced as when the time passes by itself, seed ${seed}`, () =>
        Effect.gen(function*() {
          const passed = yield* scene(seed, withJobs)
          const advanced = yield* scene(seed, byClock)
          assert.deepStrictEqual(advanced, passed)
        }))
    }
  })
}

layer(live, { excludeTestServices: true, timeout: 120_000 })("a sandbox's clock", (it) => {
  it.effect("can be read and advanced, but not moved back or too far", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const casino = yield* sandbox()
      const clock = (reply: Parameters<typeof dataOf>[0]) => dataOf(reply).now
      assert.strictEqual(clock(yield* casino.get("/sandbox/clock")), noon)
      for (const by of [{}, { seconds: 1, to: "2027-01-01T00:00:00Z" }, { seconds: 400 * 86_400 + 1 }, { to: noon }]) {
        assertRefused(yield* advance(casino, by), 422, "VALIDATION_FAILED")
      }
      assertRefused(yield* advance(casino, { to: "2028-01-01T00:00:00Z" }), 422, "VALIDATION_FAILED")
      assert.strictEqual(clock(yield* advance(casino, { to: "2026-12-24T18:00:00Z" })), "2026-12-24T18:00:00.000Z")
      yield* pass(hourMs)
      assert.strictEqual(clock(yield* casino.get("/sandbox/clock")), "2026-12-24T19:00:00.000Z")
      assert.strictEqual(dataOf(yield* casino.get("/me")).server_time, "2026-12-24T19:00:00.000Z")
      assert.strictEqual((yield* casino.register()).created_at, "2026-12-24T19:00:00.000Z")
    }))

  it.effect("is at most 3650 days ahead of real time", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const sql = yield* SqlClient.SqlClient
      const casino = yield* sandbox()
      yield* sql`INSERT INTO operator_clocks (operator_id, offset_ms) VALUES (${casino.id}, ${3649 * dayMs})`
      yield* (yield* OperatorClocks).announce
      const beyond = yield* advance(casino, { seconds: 86_401 })
      assertRefused(beyond, 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(Object.keys(beyond.details), ["seconds"])
      dataOf(yield* advance(casino, { seconds: 86_400 }))
      assertRefused(yield* advance(casino, { seconds: 1 }), 422, "VALIDATION_FAILED")
    }))

  it.effect("after a reset, jobs use the clock of the new sandbox, not that of the archived one", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const { everywhere } = yield* SandboxClock
      const casino = yield* sandbox()
      yield* byClock(casino, hourMs)
      const { operator_id: successor } = dataOf(yield* casino.post("/sandbox/reset"))
      const owners: Array<number | null> = []
      yield* everywhere(Effect.map(ClockOwner, (owner) => {
        owners.push(owner)
        return { done: 0, hasMore: false }
      }))
      assert.includeMembers(owners, [null, successor])
      assert.notInclude(owners, casino.id)
    }))

  it.effect("does not affect live operators or other sandboxes", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const start = Date.parse(noon)
      const sql = yield* SqlClient.SqlClient
      const others = [yield* openCasino({ cooling_off_hours: 24 }), yield* sandbox({ cooling_off_hours: 24 })]
      const moved = yield* sandbox({ cooling_off_hours: 24 })
      const begin = Effect.fnUntraced(function*(casino: Casino) {
        const bonus = yield* casino.newBonus({ valid_days: 1 })
        const { bet, id } = yield* casino.sit(5000)
        yield* casino.limit(id, { max_daily_deposit: 9000 })
        yield* casino.limit(id, { max_daily_deposit: 99_000 })
        dataOf(yield* casino.grant(id, bonus.id), 201)
        const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`, { ttl_minutes: 60 }), 201)
        const excluded = yield* casino.register()
        yield* casino.exclude(excluded.id, { period: "24_hours" })
        dataOf(yield* bet(10))
        return { bet, casino, id, token, excluded: Number(excluded.id) }
      })
      const there = yield* Effect.forEach(others, begin)
      const here = yield* begin(moved)
      const look = Effect.forEach(
        there,
        ({ casino, excluded, id }) => Effect.all([stateOf(casino, id, start), stateOf(casino, excluded, start)])
      )
      const before = yield* look
      const auditBefore = yield* sql`SELECT id FROM audit_log WHERE operator_id IN (${others[0]?.id}, ${others[1]?.id})`
      yield* byClock(moved, 40 * dayMs)
      yield* runJobs
      assert.deepStrictEqual(yield* look, before)
      const auditAfter = yield* sql`SELECT id FROM audit_log WHERE operator_id IN (${others[0]?.id}, ${others[1]?.id})`
      assert.strictEqual(auditAfter.length, auditBefore.length)
      for (const { bet, casino, token } of there) {
        assert.strictEqual(dataOf(yield* casino.get("/me")).server_time, noon)
        dataOf(yield* bet(10))
        assert.strictEqual((yield* browserCall(token, "/me")).status, 200)
      }
      assert.strictEqual((yield* here.bet(10)).code, "INVALID_SESSION")
      assert.strictEqual((yield* browserCall(here.token, "/me")).code, "INVALID_PLAYER_TOKEN")
      assert.strictEqual(dataOf(yield* moved.get(`/players/${here.id}/limits`)).limits.max_daily_deposit, 99_000)
      assert.isNull(dataOf(yield* moved.get(`/players/${here.excluded}`)).self_exclusion)
      // lines of the audit log keep real time
      const [late] = yield* sql`SELECT id FROM audit_log WHERE operator_id = ${moved.id} AND at > ${new Date(
        start + hourMs
      )} LIMIT 1`
      assert.isUndefined(late)
    }))

  it.effect("a round is stale once it has been open for a day of sandbox time; rounds of other operators are not", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const [casino, other] = [yield* sandbox(), yield* sandbox()]
      const sql = yield* SqlClient.SqlClient
      const stale = ({ id }: Casino) =>
        Effect.map(sql`SELECT FROM stale_rounds WHERE operator_id = ${id}`, ({ length }) => length)
      for (const { sit } of [casino, other]) dataOf(yield* (yield* sit()).bet(10))
      yield* byClock(casino, dayMs)
      assert.strictEqual(yield* stale(casino), 0)
      yield* byClock(casino, 1000)
      assert.deepStrictEqual([yield* stale(casino), yield* stale(other)], [1, 0])
    }))

  it.effect("webhook deliveries are retried after 1, 2, 4 … minutes of sandbox time, eight times, signed with real time", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const { flush } = yield* WebhookSender
      const casino = yield* sandbox()
      const sink = yield* makeSink(() => 500)
      const webhook = yield* made("/webhooks", { operator: casino.slug, url: sink.url, events: ["player.registered"] })
      yield* casino.register()
      yield* flush
      assert.strictEqual(sink.received.length, 1)
      for (let attempt = 2; attempt <= 8; attempt++) {
        const minutes = 2 ** (attempt - 2)
        yield* byClock(casino, minutes * minuteMs - 1000)
        yield* flush
        assert.strictEqual(sink.received.length, attempt - 1, `not before ${minutes} minutes`)
        yield* byClock(casino, 1000)
        yield* flush
        assert.strictEqual(sink.received.length, attempt, `after ${minutes} minutes`)
      }
      yield* byClock(casino, 10 * dayMs)
      yield* flush
      assert.strictEqual(sink.received.length, 8)
      assert.strictEqual(sink.received[7]?.headers["webhook-timestamp"], String(Date.parse(noon) / 1000))
      const [delivery] = (yield* staffCall("GET", `/backoffice/v1/deliveries?webhook=${webhook.id}`)).data
      assert.strictEqual(delivery.status, "failed")
    }))

  it.effect("dormancy and repeated screening follow sandbox time, and 400 days pass in one call", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoUnder({ dormant: { after: "P30D" } }, { is_sandbox: true })
      const address = { url: "https://127.0.0.1:1/", api_key: "unused" }
      yield* staff("POST", "/screenings", { operator: casino.slug, ...address })
      const { id } = yield* casino.register({ last_name: "Pep" })
      yield* sql`INSERT INTO screenings (player_id, operator_id, event, due_at, attempts)
        VALUES (${id}, ${casino.id}, 'registration', ${new Date(noon)}, 0) ON CONFLICT (player_id) DO NOTHING`
      yield* byClock(casino, 400 * dayMs)
      assert.isString(dataOf(yield* casino.get(`/players/${id}`)).dormant_since)
      const checks = yield* sql<{ readonly verdict: string }>`SELECT verdict FROM register_checks
        WHERE player_id = ${id} AND kind = 'screening'`
      assert.deepStrictEqual([...new Set(checks.map(({ verdict }) => verdict))], ["hit"])
      assert.strictEqual(checks.length, 14)
    }))

  it.effect("an event is kept for 30 days of real time, whatever sandbox time passes", () =>
    whileTimePasses(Effect.gen(function*() {
      yield* goTo(noon)
      const { flush } = yield* WebhookSender
      const { tidy } = yield* WebhookHousekeeping
      const casino = yield* sandbox()
      yield* casino.register()
      yield* flush
      yield* byClock(casino, 60 * dayMs)
      yield* casino.register()
      yield* flush
      yield* tidy
      const ids = dataOf(yield* casino.get("/events")).map(({ id }: { readonly id: string }) => id)
      assert.strictEqual(ids.length, 2)
      for (const id of ids) dataOf(yield* casino.get(`/events/${id}`))
      yield* pass(31 * dayMs)
      for (const id of ids) assertRefused(yield* casino.get(`/events/${id}`), 404, "NOT_FOUND", { reason: "expired" })
      yield* tidy
      for (const id of ids) assertRefused(yield* casino.get(`/events/${id}`), 404, "NOT_FOUND", { reason: "expired" })
    })))

  it.effect("an advance of the clock whose process died is completed by another process", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const sql = yield* SqlClient.SqlClient
      const clock = yield* SandboxClock
      const casino = yield* sandbox({ cooling_off_hours: 24 })
      const { id } = yield* casino.register()
      for (const max_daily_deposit of [1000, 2000]) yield* casino.limit(id, { max_daily_deposit })
      // as it is left in the middle: at an instant, with an end of the lease that has passed
      const [at, target] = [Date.parse(noon) + hourMs, Date.parse(noon) + 2 * dayMs]
      yield* sql`INSERT INTO operator_clocks (operator_id, offset_ms, held_at, target, lease_until)
        VALUES (${casino.id}, ${hourMs}, ${new Date(at)}, ${new Date(target)}, ${new Date(noon)})`
      yield* clock.run
      const { advancing, now } = dataOf(yield* casino.get("/sandbox/clock"))
      assert.deepStrictEqual([advancing, now], [false, new Date(target).toISOString()])
      const limits = dataOf(yield* casino.get(`/players/${id}/limits`))
      assert.deepStrictEqual([limits.limits.max_daily_deposit, limits.pending_changes], [2000, []])
    }))

  it.effect("an idempotency key is still replayed after a day of sandbox time, and requests are signed with real time", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const casino = yield* sandbox()
      const { id } = yield* casino.register()
      const deposit = { amount: 100, external_reference: fresh("once-") }
      const keyed = { "Idempotency-Key": fresh("key-") }
      dataOf(yield* casino.call("POST", `/players/${id}/deposits`, deposit, keyed), 201)
      yield* byClock(casino, 25 * hourMs)
      const again = yield* casino.call("POST", `/players/${id}/deposits`, deposit, keyed)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
    }))

  it.effect("a data request and its events are dated in sandbox time, its audit log lines in real time", () =>
    Effect.gen(function*() {
      yield* goTo(noon)
      const sql = yield* SqlClient.SqlClient
      const casino = yield* sandbox()
      const { id } = yield* casino.register()
      yield* byClock(casino, 25 * hourMs)
      const path = `/players/${id}/data-requests`
      const request = dataOf(yield* casino.post(path, { type: "access" }), 201)
      assert.strictEqual((yield* casino.get(`${path}/${request.id}/document`)).status, 200)
      const tomorrow = new Date(Date.parse(noon) + 25 * hourMs)
      const events = yield* sql`SELECT type FROM events WHERE player_id = ${id} AND created_at >= ${tomorrow}`
      assert.sameMembers(events.map(({ type }) => type), [
        "compliance.case_opened",
        "data_request.completed",
        "compliance.case_closed"
      ])
      const late = yield* sql`SELECT id FROM audit_log WHERE operator_id = ${casino.id} AND at >= ${tomorrow}`
      assert.deepStrictEqual(late, [])
    }))
})
