import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import { pass, whileTimePasses } from "../kit/Calendar.ts"
import { noon } from "../kit/Noon.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { DueObligations } from "../../src/features/obligations/DueObligations.ts"
import { casinoUnder, dataOf, type Fields, fresh, made, openCasino, registration, staff } from "../kit/Casino.ts"

// Goal: over HTTP, at any node: a jurisdiction's obligations stop a launch, a bet and a deposit until they are met, and what a player answers is kept.

const gate = (...obligations: ReadonlyArray<string>) => ({ reason: "obligation", obligations })

layer(layerCasinos, { excludeTestServices: true })("player obligations", (it) => {
  it.effect("4.1, 6.2: required limits block launches until the last one is set, and the obligation is then met", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ limits: { required: [["max_daily_deposit"], ["max_balance"]] } })
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      const launch = casino.post(`/players/${id}/games/${casino.slots.id}/launch`, {})
      assert.deepInclude(yield* launch, { status: 422, code: "PLAYER_RESTRICTED", details: gate("required_limits") })
      dataOf(yield* casino.deposit(id, 500), 201)
      const [open] = dataOf(yield* casino.get(`/players/${id}/obligations`))
      assert.deepInclude(open, { kind: "required_limits", state: "open", gates: ["play"], met_at: null, details: {} })
      yield* casino.put(`/players/${id}/limits`, { limits: { max_daily_deposit: 1000 } })
      assert.strictEqual((yield* launch).code, "PLAYER_RESTRICTED")
      yield* casino.put(`/players/${id}/limits`, { limits: { max_balance: 9000 } })
      assert.strictEqual((yield* launch).status, 200)
      const [met] = dataOf(yield* casino.get(`/players/${id}/obligations?state=met`))
      assert.deepInclude(met, { id: open.id, state: "met" })
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${id}/obligations?state=open`)), [])
      const { code, details } = yield* casino.put(`/players/${id}/limits`, { limits: { max_balance: null } })
      assert.deepStrictEqual([code, details], ["RESPONSIBLE_GAMING_RULE", { required: ["max_balance"] }])
    }))

  it.effect("6.1: new terms block bets, launches and deposits until they are accepted; a registration may accept them", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ terms_version: "1" })
      const { id } = dataOf(yield* casino.post("/players", { ...registration(fresh("p-")), terms_version: "1" }), 201)
      dataOf(yield* casino.deposit(id, 500), 201)
      const late = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      assert.deepStrictEqual((yield* casino.deposit(late.id, 500)).details, gate("terms"))
      const seat = yield* casino.sit(500, { terms_version: "1" })
      yield* staff("PATCH", `/operators/${casino.slug}`, { terms_version: "2" })
      // within two seconds at a node that was not told
      const refused = yield* seat.bet(10).pipe(
        Effect.repeat({ while: ({ status }) => status === 200, schedule: Schedule.spaced("200 millis"), times: 15 })
      )
      assert.deepInclude(refused.details, gate("terms"))
      const launch = casino.post(`/players/${id}/games/${casino.slots.id}/launch`, {})
      assert.deepStrictEqual((yield* launch).details, gate("terms"))
      const [open] = dataOf(yield* casino.get(`/players/${id}/obligations`))
      assert.deepInclude(open, { kind: "terms", gates: ["play", "deposit"], details: { text_version: "2" } })
      const accept = (text: string) =>
        casino.post(`/players/${id}/acknowledgements`, { kind: "terms", answer: "accept", text_version: text })
      assert.strictEqual((yield* accept("1")).code, "RESPONSIBLE_GAMING_RULE")
      assert.deepInclude(dataOf(yield* accept("2"), 201), { kind: "terms", by: "operator", text_version: "2" })
      dataOf(yield* launch)
      dataOf(yield* casino.deposit(id, 500), 201)
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${id}/obligations?state=open`)), [])
    }))

  it.effect("6.1: limit reviews and funds notices fall due by time, are raised by a job also for inactive players, and start again when answered", () =>
    whileTimePasses(Effect.gen(function*() {
      const { run } = yield* DueObligations
      const casino = yield* casinoUnder({ reviews: { limits: "P30D", funds_notice: "P60D" } })
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      const { id: unlimited } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      yield* casino.limit(id, { max_daily_bet: 100 })
      const sql = yield* SqlClient.SqlClient
      const written = (player: number) =>
        Effect.map(
          sql`SELECT kind, gates FROM obligations WHERE player_id = ${player} AND state = 'open' ORDER BY id`,
          (rows) => rows.map(({ kind }) => kind)
        )
      yield* run
      assert.deepStrictEqual(yield* written(id), [])
      yield* pass(31 * 86_400_000)
      yield* run
      assert.deepStrictEqual([yield* written(id), yield* written(unlimited)], [["limit_review"], []])
      yield* pass(30 * 86_400_000)
      yield* run
      yield* run
      assert.deepStrictEqual(yield* written(unlimited), ["funds_notice"])
      const answer = (kind: string) => casino.post(`/players/${id}/acknowledgements`, { kind, answer: "accept" })
      dataOf(yield* answer("limit_review"), 201)
      dataOf(yield* answer("funds_notice"), 201)
      assert.strictEqual((yield* answer("funds_notice")).code, "RESPONSIBLE_GAMING_RULE")
      assert.deepStrictEqual(yield* written(id), [])
      const met = dataOf(yield* casino.get(`/players/${id}/obligations?state=met`))
      assert.sameMembers(met.map(({ kind }: { readonly kind: string }) => kind), ["limit_review", "funds_notice"])
    })))

  it.effect("2.5: limits that a new profile version requires become obligations by a job, also for inactive players", () =>
    Effect.gen(function*() {
      const { run } = yield* DueObligations
      const casino = yield* casinoUnder({})
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      yield* made("/profiles", { code: casino.profile, name: "Stricter", limits: { required: [["max_balance"]] } })
      yield* run
      const [open] = yield* (yield* SqlClient.SqlClient)`SELECT kind, state FROM obligations WHERE player_id = ${id}`
      assert.deepStrictEqual({ ...open }, { kind: "required_limits", state: "open" })
    }))

  it.effect("4.1: limits above a cap of a new profile version are lowered by a job, with a line in the audit log", () =>
    Effect.gen(function*() {
      const { run } = yield* DueObligations
      const casino = yield* casinoUnder({})
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      yield* casino.limit(id, { max_daily_bet: 500 })
      yield* made("/profiles", { code: casino.profile, name: "Stricter", limits: { caps: { max_daily_bet: 300 } } })
      yield* run
      yield* run
      const lines = yield* staff("GET", `/audit?player=${id}&action=player.limits`)
      assert.deepInclude(lines[0], { actor: "profile", after: { limits: { max_daily_bet: 300 } } })
      assert.strictEqual(lines.length, 2)
    }))

  it.effect("4.1: a registration may set the required limits", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ limits: { required: [["max_balance"]], caps: { max_balance: 9000 } } })
      const register = (limits: Fields) => casino.post("/players", { ...registration(fresh("p-")), limits })
      const { id } = dataOf(yield* register({ max_balance: 5000 }), 201)
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}/limits`)).limits.max_balance, 5000)
      dataOf(yield* casino.post(`/players/${id}/games/${casino.slots.id}/launch`, {}))
      for (const limits of [{ max_balance: 9001 }, { max_fun: 1 }]) {
        const [field] = Object.keys(limits)
        assert.deepStrictEqual(Object.keys((yield* register(limits)).details), [`limits.${field}`])
      }
    }))

  it.effect("4.2, 6.3: the player declines the limit prompt once; a repetition under the idempotency key is replayed", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ limits: { prompt: true } })
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      assert.deepStrictEqual((yield* casino.deposit(id, 100)).details, gate("limit_prompt"))
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      const body = { kind: "limit_prompt", answer: "decline", channel: "web" }
      const headers = { "idempotency-key": fresh("prompt-") }
      const first = yield* browserCall(token, "/acknowledgements", { body, headers })
      assert.deepInclude(dataOf(first, 201), { kind: "limit_prompt", answer: "decline", by: "player", channel: "web" })
      assert.deepStrictEqual((yield* browserCall(token, "/acknowledgements", { body, headers })).data, first.data)
      assert.strictEqual((yield* browserCall(token, "/acknowledgements", { body })).code, "RESPONSIBLE_GAMING_RULE")
      dataOf(yield* casino.deposit(id, 100), 201)
      const listed = yield* casino.get(`/players/${id}/acknowledgements`)
      assert.deepStrictEqual(listed.data, [first.data])
    }))

  it.effect("4.3: a raised limit takes effect when it is confirmed, which is possible only after the waiting time", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ limits: { raise: { wait: "P2D", confirm: true, confirm_within: "P7D" } } })
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      yield* casino.put(`/players/${id}/limits`, { limits: { max_daily_bet: 100 } })
      const raised = yield* casino.put(`/players/${id}/limits`, { limits: { max_daily_bet: 300 } })
      assert.deepInclude(raised.meta, { pending: ["max_daily_bet"], cooling_off_hours: 48 })
      const [pending] = raised.data.pending_changes
      assert.strictEqual(pending.confirm_from, pending.effective_at)
      const confirm = (field: string) =>
        casino.post(`/players/${id}/acknowledgements`, { kind: "limit_raise", answer: "accept", field })
      assert.strictEqual((yield* confirm("max_daily_bet")).code, "RESPONSIBLE_GAMING_RULE")
      assert.strictEqual((yield* confirm("max_daily_loss")).code, "NOT_FOUND")
      const { run } = yield* DueAccountChanges
      const told = (yield* SqlClient
        .SqlClient)`SELECT data - 'player' AS data FROM events WHERE player_id = ${id} AND type = 'limit.raise_confirmable'`
      yield* run
      assert.deepStrictEqual(yield* told, [])
      yield* pass(2 * 86_400_000)
      yield* run
      yield* run
      // 12.3: once
      assert.deepStrictEqual((yield* told).map(({ data }) => data), [{
        field: "max_daily_bet",
        confirm_from: pending.confirm_from,
        confirm_until: pending.confirm_until
      }])
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}/limits`)).limits.max_daily_bet, 100)
      assert.deepInclude(dataOf(yield* confirm("max_daily_bet"), 201), { by: "operator", field: "max_daily_bet" })
      assert.strictEqual(dataOf(yield* casino.get(`/players/${id}/limits`)).limits.max_daily_bet, 300)
    }))

  it.effect("2.4: a player moved to another jurisdiction keeps the stricter rules until they end, also after being reloaded", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* casinoUnder({ stakes: [{ categories: ["slots"], amount: 50 }] })
      yield* staff("PATCH", `/operators/${casino.slug}`, { profiles: [casino.profile, "none"] })
      const seat = yield* casino.sit(1000)
      const { jurisdiction } = yield* staff("POST", `/players/${seat.id}/jurisdiction`, { to: "none", reason: "asked" })
      const actors = yield* PlayerActors
      actors.renew(seat.id, () => true)
      const { rules } = yield* actors.read(null, seat.id)
      assert.deepStrictEqual(
        [rules.code, rules.moved, rules.stakes.length],
        ["none", { from: casino.profile, until: Date.parse(jurisdiction.looser_from) }, 1]
      )
      yield* pass(86_400_000)
      const free = yield* actors.read(null, seat.id)
      assert.deepStrictEqual([free.rules.code, free.rules.moved, free.rules.stakes], ["none", null, []])
    })))

  it.effect("3.5: players read and change their own limits and exclude themselves; the exclusion ends the token", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = dataOf(yield* casino.post("/players", registration(fresh("p-"))), 201)
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      const changed = yield* browserCall(token, "/limits", { method: "PUT", body: { limits: { max_daily_bet: 50 } } })
      assert.deepInclude(changed.meta, { applied: ["max_daily_bet"], pending: [] })
      assert.deepStrictEqual(
        (yield* browserCall(token, "/limits")).data,
        dataOf(yield* casino.get(`/players/${id}/limits`))
      )
      assert.deepStrictEqual(
        Object.keys(
          (yield* browserCall(token, "/limits", { method: "PUT", body: { limits: { max_fun: 1 } } })).details
        ),
        ["limits.max_fun"]
      )
      const excluded = yield* browserCall(token, "/self-exclusion", { body: { period: "7_days" } })
      assert.strictEqual(dataOf(excluded).self_exclusion.type, "time_out")
      assert.strictEqual((yield* browserCall(token, "/limits")).code, "INVALID_PLAYER_TOKEN")
    }))

  it.effect("3.3: an exclusion that ends on request keeps the person out until the player asks to return and the wait is over", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({
        breaks: {
          periods: { "6_months": "self_exclusion" },
          self_exclusion: { min: null, max: null },
          ends: "on_request",
          return_wait: "PT24H"
        }
      })
      const person = registration(fresh("p-"))
      const { id } = dataOf(yield* casino.post("/players", person), 201)
      const until = new Date(Date.parse(noon) + 40 * 86_400_000).toISOString()
      const excluded = dataOf(yield* casino.post(`/players/${id}/self-exclusion`, { until, type: "self_exclusion" }))
      assert.deepInclude(excluded.self_exclusion, { until, ends: "on_request", return_at: null, source: "operator" })
      const acknowledge = casino.post(`/players/${id}/acknowledgements`, { kind: "return_to_play", answer: "accept" })
      assert.strictEqual((yield* acknowledge).code, "RESPONSIBLE_GAMING_RULE")
      yield* pass(60 * 86_400_000)
      const again = { ...person, username: fresh("p-"), email: `${fresh("p-")}@example.com` }
      assert.strictEqual((yield* casino.post("/players", again)).code, "SELF_EXCLUDED_IDENTITY")
      assert.strictEqual((yield* casino.deposit(id, 100)).details.reason, "self_exclusion")
      dataOf(yield* acknowledge, 201)
      assert.isString(dataOf(yield* casino.get(`/players/${id}`)).self_exclusion.return_at)
      assert.strictEqual((yield* casino.deposit(id, 100)).details.reason, "self_exclusion")
      yield* pass(86_400_000)
      dataOf(yield* casino.deposit(id, 100), 201)
      assert.isNull(dataOf(yield* casino.get(`/players/${id}`)).self_exclusion)
      assert.notStrictEqual((yield* casino.post("/players", again)).code, "SELF_EXCLUDED_IDENTITY")
    }))
})
