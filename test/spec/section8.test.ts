import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { HttpServer } from "effect/http"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, fresh, made, openCasino } from "../kit/Casino.ts"
import {
  browserCall,
  type ConnectionLost,
  operatorWith,
  plainCall,
  type Reply,
  signedCall,
  signedHeaders,
  unixSeconds
} from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"
import { dayMs, goTo, hourMs, minuteMs, pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"

// Goal: each limit of SPEC 8 accepts its exact value and refuses one beyond. Method: over HTTP, both sides of
// each edge. The responsible-gaming limits have a file of their own, limits.test.ts.

const me = "/api/v1/operator/me"

const instant = (offset: number) => new Date(Date.parse(noon) + offset).toISOString()

const assertField = (answer: Reply, field: string) => {
  assertRefused(answer, 422, "VALIDATION_FAILED")
  assert.hasAllKeys(answer.details, [field])
}

layer(layerCasinos, { excludeTestServices: true })("SPEC 8 limits at their edges", (it) => {
  it.effect("8 signed timestamp: 300 seconds on either side are accepted, 301 are not", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const now = yield* unixSeconds
      const at = (timestamp: number) =>
        plainCall(me, { headers: signedHeaders(signer, me, { timestamp, nonce: fresh("t") }) })
      for (const offset of [-300, 300]) assert.strictEqual((yield* at(now + offset)).status, 200)
      for (const offset of [-301, 301]) assertRefused(yield* at(now + offset), 401, "TIMESTAMP_OUT_OF_RANGE")
    }))

  it.effect("8 nonce: 128 characters are accepted, 129 are not", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const timestamp = yield* unixSeconds
      const withNonce = (nonce: string) => plainCall(me, { headers: signedHeaders(signer, me, { timestamp, nonce }) })
      assert.strictEqual((yield* withNonce("n".repeat(128))).status, 200)
      assertRefused(yield* withNonce("n".repeat(129)), 401, "INVALID_NONCE")
    }))

  it.effect("8 idempotency: the same key with another path, query or body is IDEMPOTENCY_KEY_REUSED; PATCH ignores the key", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const headers = { "Idempotency-Key": fresh("key") }
      const path = `/players/${id}/session-tokens`
      const uri = `/api/v1/operator${path}`
      assert.strictEqual((yield* house.post(path, { ttl_minutes: 5 }, headers)).status, 201)
      for (
        const answer of [
          yield* house.post(path, { ttl_minutes: 6 }, headers),
          yield* house.post(`${path}?a=1`, { ttl_minutes: 5 }, headers),
          // other bytes of the same meaning, and no JSON
          yield* signedCall(house.signer, uri, { method: "POST", raw: "{ \"ttl_minutes\": 5 }", headers }),
          yield* signedCall(house.signer, uri, { method: "POST", raw: "{", headers }),
          yield* house.post(`/players/${id}/deposits`, { ttl_minutes: 5 }, headers)
        ]
      ) assertRefused(answer, 422, "IDEMPOTENCY_KEY_REUSED")
      for (const city of ["Rome", "Oslo"]) {
        assert.strictEqual(dataOf(yield* house.call("PATCH", `/players/${id}`, { city }, headers)).city, city)
      }
    }))

  it.effect("2.8 X-Request-Id: every answer has the one sent, if that is up to 128 visible characters, or else a new one", () =>
    Effect.gen(function*() {
      const { signer } = yield* SharedCasino
      const ask = Effect.fnUntraced(function*(path: string, id: string) {
        const { headers } = yield* signedCall(signer, path, { headers: { "X-Request-Id": id } })
        return headers["x-request-id"] ?? ""
      })
      for (
        const path of [
          me,
          "/api/v1/operator/nothing",
          "/api/v1/operator/players/0",
          "/api/v1/player/me",
          "/health/live",
          "/docs"
        ]
      ) {
        for (const id of ["x", "r".repeat(128), "a-1_b.c~!#$"]) assert.strictEqual(yield* ask(path, id), id)
        for (const id of ["r".repeat(129), "two words", "\u00e9"]) {
          const other = yield* ask(path, id)
          assert.match(other, /^\S{1,128}$/)
          assert.notStrictEqual(other, id)
        }
      }
    }))

  it.effect("8 idempotency: a key of 255 characters is accepted, one of 256 refused; the answer is replayed for exactly 24 hours", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const issue = (key: string) =>
        house.post(`/players/${id}/session-tokens`, { ttl_minutes: 5 }, { "Idempotency-Key": key })
      const key = "k".repeat(255)
      const first = yield* issue(key)
      assert.strictEqual(first.status, 201)
      assertRefused(yield* issue(`${key}k`), 422, "INVALID_IDEMPOTENCY_KEY")
      assert.isUndefined(first.headers["idempotent-replayed"])
      yield* pass(dayMs - 1)
      // all API keys of an operator share the limit
      const other = operatorWith(yield* made("/keys", { operator: house.slug }))
      const path = `/players/${id}/session-tokens`
      for (
        const again of [yield* issue(key), yield* other.post(path, { ttl_minutes: 5 }, { "Idempotency-Key": key })]
      ) {
        assert.deepStrictEqual([again.status, again.text, again.headers["idempotent-replayed"]], [
          201,
          first.text,
          "true"
        ])
        assert.notStrictEqual(again.headers["x-request-id"], first.headers["x-request-id"])
      }
      yield* pass(1)
      const anew = yield* issue(key)
      assert.deepStrictEqual([anew.status, anew.headers["idempotent-replayed"]], [201, undefined])
      assert.notStrictEqual(anew.data.token, first.data.token)
    })))

  it.effect("8 rate: 600 requests a minute by default or the key's own limit, with headers on every answer, errors too", () =>
    whileTimePasses(Effect.gen(function*() {
      const { slug } = yield* SharedCasino
      const usual = operatorWith(yield* made("/keys", { operator: slug }))
      const { data, headers } = yield* usual.get("/me")
      assert.strictEqual(data.api_key.rate_limit_per_minute, 600)
      assert.deepStrictEqual([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]], ["600", "599"])

      const three = operatorWith(yield* made("/keys", { operator: slug, rate_limit_per_minute: 3 }))
      const standing = (answer: Reply) => [
        answer.status,
        answer.headers["x-ratelimit-limit"],
        answer.headers["x-ratelimit-remaining"],
        answer.headers["retry-after"]
      ]
      assert.deepStrictEqual(standing(yield* three.get("/players/999999999")), [404, "3", "2", undefined])
      // neither a path that does not exist nor a failed authentication counts
      assert.deepStrictEqual(standing(yield* three.get("/nothing")), [404, undefined, undefined, undefined])
      const late = { headers: signedHeaders(three.signer, me, { timestamp: 1, nonce: fresh("late") }) }
      assert.strictEqual((yield* plainCall(me, late)).status, 401)
      yield* pass(10 * secondMs)
      assert.deepStrictEqual(standing(yield* three.post("/players", {})), [422, "3", "1", undefined])
      assert.deepStrictEqual(standing(yield* three.get("/players?page=0")), [422, "3", "0", undefined])
      assert.deepStrictEqual(standing(yield* three.get("/me")), [429, "3", "0", "50"])
      // the seconds to the end of the window, at least one
      yield* pass(50 * secondMs - 1)
      assert.deepStrictEqual(standing(yield* three.get("/me")), [429, "3", "0", "1"])
      yield* pass(1)
      assert.deepStrictEqual(standing(yield* three.get("/me")), [200, "3", "2", undefined])
    })))

  it.effect("8 page size: per_page is 1 to 100, 25 by default; page begins at 1", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const players = yield* Effect.forEach(Array.from({ length: 26 }), () => casino.register(), { concurrency: 4 })
      const [one = { id: 0 }] = players
      const { token } = dataOf(yield* casino.post(`/players/${one.id}/session-tokens`), 201)
      const lists: ReadonlyArray<(query: string) => Effect.Effect<Reply, ConnectionLost, HttpServer.HttpServer>> = [
        (query) => casino.get(`/players?${query}`),
        (query) => casino.get(`/players/${one.id}/transactions?${query}`),
        (query) => casino.get(`/payments?${query}`),
        (query) => casino.get(`/games?${query}`),
        (query) => casino.get(`/players/${one.id}/bonuses?${query}`),
        (query) => browserCall(token, `/transactions?${query}`)
      ]
      for (const list of lists) {
        assert.deepInclude((yield* list("")).meta, { current_page: 1, per_page: 25 })
        for (const per_page of [1, 100]) {
          assert.deepInclude((yield* list(`per_page=${per_page}`)).meta, { current_page: 1, per_page })
        }
        for (const query of ["per_page=0", "per_page=101", "page=0", "page=-1", "page=1.5", "per_page=ten"]) {
          assertField(yield* list(query), query.split("=")[0] ?? "")
        }
      }
      const pages = yield* Effect.forEach([1, 2, 3], (page) => casino.get(`/players?page=${page}`))
      assert.deepStrictEqual(pages.map(({ data }) => data.length), [25, 1, 0])
      const meta = { per_page: 25, total: 26, last_page: 2 }
      assert.deepInclude(pages[0]?.meta, { ...meta, current_page: 1, from: 1, to: 25 })
      assert.deepInclude(pages[1]?.meta, { ...meta, current_page: 2, from: 26, to: 26 })
      assert.strictEqual((yield* casino.get("/players?per_page=1&page=26")).data.length, 1)
    }))

  it.effect("8 session token: lasts 1 to 720 minutes, 30 by default, and not a millisecond longer", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const path = `/players/${id}/session-tokens`
      for (const ttl_minutes of [0, 721, 1.5, "30"]) {
        assertField(yield* house.post(path, { ttl_minutes }), "ttl_minutes")
      }
      const lives: ReadonlyArray<readonly [body: object | undefined, minutes: number]> = [
        [undefined, 30],
        [{}, 30],
        [{ ttl_minutes: 1 }, 1],
        [{ ttl_minutes: 720 }, 720]
      ]
      for (const [body, minutes] of lives) {
        yield* goTo(noon)
        const issued = dataOf(yield* house.post(path, body), 201)
        assert.deepInclude(issued, {
          token_type: "Bearer",
          player_id: id,
          expires_at: instant(minutes * minuteMs)
        })
        yield* pass(minutes * minuteMs - 1)
        assert.strictEqual((yield* browserCall(issued.token, "/me")).status, 200)
        yield* pass(1)
        assertRefused(yield* browserCall(issued.token, "/me"), 401, "INVALID_PLAYER_TOKEN")
      }
    })))

  it.effect("8 real-mode wallet session: lasts 12 hours, and not a millisecond longer", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      dataOf(yield* house.deposit(id, 100), 201)
      const launched = dataOf(yield* house.launch(id))
      assert.strictEqual(launched.expires_at, instant(12 * hourMs))
      const { player_ref } = dataOf(yield* house.callWallet("authenticate", { session_token: launched.session_token }))
      const play = house.playOf(launched.session_token, player_ref)
      yield* pass(12 * hourMs - 1)
      const { transaction_id } = dataOf(yield* play.bet(10))
      yield* pass(1)
      assertRefused(yield* play.bet(10), 401, "INVALID_SESSION")
      dataOf(yield* play.win(transaction_id, 5))
    })))

  it.effect("8 cooling-off: lasts the operator's hours, reported as cooling_off_hours", () =>
    Effect.gen(function*() {
      for (const cooling_off_hours of [0, 1, 168]) {
        const casino = yield* openCasino({ cooling_off_hours })
        const { id } = yield* casino.register()
        dataOf(yield* casino.limit(id, { max_single_bet: 10 }))
        const { data, meta } = yield* casino.limit(id, { max_single_bet: 11 })
        assert.strictEqual(meta.cooling_off_hours, cooling_off_hours)
        const waits = data.pending_changes.map((change: { readonly effective_at: string }) => change.effective_at)
        assert.deepStrictEqual(waits, cooling_off_hours === 0 ? [] : [instant(cooling_off_hours * hourMs)])
        assert.strictEqual(data.limits.max_single_bet, cooling_off_hours === 0 ? 11 : 10)
      }
    }))

  it.effect("8 time-out: up to 30 days; self-exclusion: at least 3 months; between them only a self_closure is accepted", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const month = "2026-12-20T12:00:00.000Z"
      const quarter = "2027-02-20T12:00:00.000Z"
      const after = (time: string, milliseconds: number) => new Date(Date.parse(time) + milliseconds).toISOString()
      const good: ReadonlyArray<readonly [body: { readonly [field: string]: string }, type: string]> = [
        [{ until: after(noon, 1) }, "time_out"],
        [{ until: month }, "time_out"],
        [{ until: month, type: "time_out" }, "time_out"],
        [{ until: quarter }, "self_exclusion"],
        [{ until: quarter, type: "self_exclusion" }, "self_exclusion"],
        [{ period: "30_days" }, "time_out"],
        [{ period: "3_months" }, "self_exclusion"],
        [{ until: after(month, 1), type: "self_closure" }, "self_closure"],
        [{ until: after(noon, 1), type: "self_closure" }, "self_closure"],
        [{ period: "5_years", type: "self_closure" }, "self_closure"]
      ]
      for (const [body, type] of good) {
        const { id } = yield* house.register()
        assert.strictEqual(dataOf(yield* house.exclude(id, body)).self_exclusion.type, type, JSON.stringify(body))
      }
      const periods = {
        "24_hours": "2026-11-21T12:00:00.000Z",
        "7_days": "2026-11-27T12:00:00.000Z",
        "30_days": month,
        "3_months": quarter,
        "6_months": "2027-05-20T12:00:00.000Z",
        "12_months": "2027-11-20T12:00:00.000Z",
        "5_years": "2031-11-20T12:00:00.000Z"
      }
      for (const [period, until] of Object.entries(periods)) {
        const { id } = yield* house.register()
        assert.deepInclude(dataOf(yield* house.exclude(id, { period })).self_exclusion, { since: noon, until })
      }
      const { id } = yield* house.register()
      for (
        const body of [
          {},
          { period: "7_days", until: month },
          { period: "2_days" },
          { until: "tomorrow" },
          { period: "7_days", type: "holiday" },
          { until: noon },
          { until: after(month, 1) },
          { until: after(quarter, -1) },
          { until: after(month, 1), type: "time_out" },
          { until: after(quarter, -1), type: "self_exclusion" },
          { period: "3_months", type: "time_out" },
          { period: "30_days", type: "self_exclusion" }
        ]
      ) assertRefused(yield* house.exclude(id, body), 422, "VALIDATION_FAILED")
      assert.isNull(dataOf(yield* house.get(`/players/${id}`)).self_exclusion)
    }))

  it.effect("8 deposits and withdrawals are idempotent on external_reference for longer than on any idempotency key", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id } = yield* house.register()
      const [paid, asked] = [fresh("ref-"), fresh("ref-")]
      const first = yield* house.deposit(id, 100, { external_reference: paid })
      const second = yield* house.withdraw(id, 30, { external_reference: asked })
      assert.deepStrictEqual([first.status, second.status], [201, 201])
      yield* pass(400 * dayMs)
      const again = yield* house.deposit(id, 100, { external_reference: paid })
      const asking = yield* house.withdraw(id, 30, { external_reference: asked })
      assert.deepStrictEqual([again.status, again.data], [200, first.data])
      assert.deepStrictEqual([asking.status, asking.data], [200, second.data])
      assert.deepStrictEqual(yield* house.balances(id), [70, 0])
    })))
})
