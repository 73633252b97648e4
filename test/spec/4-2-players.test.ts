import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, type Fields, fresh, made, openCasino, registration, staffCall } from "../kit/Casino.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"
import { dayMs, minuteMs, pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"

// Goal: players are registered, found, shown and changed field by field by SPEC 4.2. Method: over HTTP; for each field of the
// two bodies, accepted and refused values, with that field alone in the refusal.

const assertField = (answer: Reply, field: string, about: unknown) => {
  assertRefused(answer, 422, "VALIDATION_FAILED")
  assert.deepStrictEqual(Object.keys(answer.details), [field], JSON.stringify(about))
}

const iso = (offset: number) => new Date(Date.parse(noon) + offset).toISOString()

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.2 players", (it) => {
  it.effect("4.2 registration: each required field is required", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const whole = registration(fresh("whole_"))
      for (const field of Object.keys(whole)) {
        for (const missing of [undefined, null]) {
          assertField(yield* house.post("/players", { ...whole, [field]: missing }), field, missing)
        }
      }
      assert.strictEqual((yield* house.post("/players", whole)).status, 201)
    }))

  it.effect("4.2 registration: each optional field has its default, and a sent value is returned", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "SEK" })
      const plain = dataOf(yield* casino.post("/players", registration(fresh("plain_"))), 201)
      assert.deepInclude(plain, {
        external_id: null,
        middle_name: null,
        gender: null,
        city: null,
        address: null,
        zip_code: null,
        phone: null,
        personal_id: null,
        document_number: null,
        language: "en",
        currency: "SEK",
        status: "active",
        category: "new",
        kyc_status: "not_started",
        is_verified: false,
        risk_level: "low",
        is_test: false,
        restrictions: {
          can_login: true,
          can_deposit: true,
          can_withdraw: true,
          can_bet: true,
          excluded_from_bonuses: false
        },
        self_exclusion: null,
        marketing: { email: false, sms: false, newsletter: false },
        registration: { source: "api", ip: null, promo_code: null, affiliate_id: null, btag: null },
        last_login_at: null,
        created_at: noon,
        updated_at: noon
      })
      const given = {
        external_id: fresh("e-"),
        middle_name: "Mid",
        city: "City",
        address: "Street 1",
        zip_code: "Z 1",
        personal_id: "P 1",
        document_number: "D 1",
        phone: "+46701234567",
        language: "sv",
        currency: "USD",
        is_test: true,
        gender: "other"
      }
      const tracking = { promo_code: "NONE", affiliate_id: "a", btag: "b", registration_ip: "2001:db8::1" }
      const full = dataOf(
        yield* casino.post("/players", {
          ...registration(fresh("full_")),
          ...given,
          ...tracking,
          terms_version: "7",
          marketing: { sms: true, newsletter: true },
          password: "longer than 8"
        }),
        201
      )
      assert.deepInclude(full, given)
      assert.deepStrictEqual(full.marketing, { email: false, sms: true, newsletter: true })
      assert.deepStrictEqual(full.registration, {
        source: "api",
        ip: "2001:db8::1",
        promo_code: "NONE",
        affiliate_id: "a",
        btag: "b"
      })
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${full.id}`)), full)
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${full.id}/wallet`)), {
        player_id: full.id,
        currency: "USD",
        balance: 0,
        bonus_balance: 0,
        unverified_withdrawal_allowance: null,
        wallets: ["real", "bonus"].map((type) => ({ type, balance: 0, currency: "USD", updated_at: noon }))
      })
      const spelt = { email: `${fresh("Loud.")}@Example.COM`, phone: "+49 1512 3456789", unheard_of: "ignored" }
      const { email, phone } = yield* casino.register(spelt)
      assert.deepStrictEqual([email, phone], [spelt.email.toLowerCase(), "+4915123456789"])
    }))

  it.effect("4.2 registration: each field accepts its valid values and refuses the others by name", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const rows: ReadonlyArray<readonly [field: string, good: ReadonlyArray<unknown>, bad: ReadonlyArray<unknown>]> = [
        ["username", ["U-_9".padEnd(30, "y")], ["ab", "z".repeat(31), "with space", "dot.ted"]],
        ["password", ["passw0rd", "1234567a"], ["passw0r", "password", "12345678"]],
        ["email", ["a.b+c@d-e.example"], ["", "x", "a@b", "a b@c.de", "@c.de", 5]],
        ["first_name", ["Anne Marie", "李"], ["", " ", 5, "a\u0000b"]],
        ["last_name", ["O'Neill-Smith"], ["", "\t", true]],
        ["birth_date", ["1900-01-01", "2004-02-29", "2008-11-20"], [
          "2008-11-21",
          "1990-02-30",
          "1990-1-1",
          "01.01.1990",
          19900101,
          "2020-01-01"
        ]],
        ["country", ["SE", "GB"], ["se", "SWE", "XX", "", 1]],
        ["terms_accepted", [true], [false, "true", 1]],
        ["gender", ["male", "female", "other"], ["x", "Male", 1]],
        ["phone", ["+4915112345678", "+1 212 555 0100"], ["0701234567", "+1", "phone", 46701234567]],
        ["language", ["de"], ["DE", "deu", "d", 1]],
        ["currency", ["EUR", "JPY"], ["eur", "EURO", "XXX", "ABC", 978]],
        ["registration_ip", ["203.0.113.7", "::1"], ["300.1.1.1", "host", "1.2.3"]],
        ["is_test", [true, false], ["true", 1]],
        ["marketing", [{}, { email: true }], ["yes", [], 1]],
        ["external_id", ["any text"], [5, "x".repeat(256)]],
        ["promo_code", ["unknown"], [5]]
      ]
      const attempt = (field: string, value: unknown) =>
        house.post("/players", { ...registration(fresh("field_")), [field]: value })
      for (const [field, good, bad] of rows) {
        for (const value of good) {
          const answer = yield* attempt(field, value)
          assert.strictEqual(answer.status, 201, `${field} ${answer.text}`)
        }
        for (const value of bad) assertField(yield* attempt(field, value), field, value)
      }
    }))

  it.effect("4.2 registration: username, e-mail, phone and external id are unique within the operator", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const unique = { external_id: fresh("x-"), phone: "+35621555001" }
      const { email, username } = yield* house.register(unique)
      const taken = { ...unique, username, email }
      for (const [field, value] of Object.entries(taken)) {
        const answer = yield* house.post("/players", { ...registration(fresh("twin_")), [field]: value })
        assertField(answer, field, value)
      }
      // the same e-mail and number in other spelling
      for (const [field, value] of [["email", email.toUpperCase()], ["phone", "+356 2155 5001"]] as const) {
        assertField(yield* house.post("/players", { ...registration(fresh("twin_")), [field]: value }), field, value)
      }
    }))

  it.effect("4.2 registration and PATCH: of simultaneous requests for the same unique value, exactly one succeeds", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const body = { ...registration(fresh("race_")), external_id: fresh("race-") }
      const registered = yield* Effect.all(Array.from({ length: 5 }, () => house.post("/players", body)), {
        concurrency: "unbounded"
      })
      assert.sameMembers(registered.map(({ status }) => status), [201, 422, 422, 422, 422])
      const players = yield* Effect.forEach([1, 2, 3, 4], () => house.register())
      const wanted = { email: `${fresh("wanted")}@example.com` }
      const changed = yield* Effect.forEach(players, ({ id }) => house.patch(`/players/${id}`, wanted), {
        concurrency: "unbounded"
      })
      const taken = { email: ["is already taken"] }
      assert.sameDeepMembers(changed.map(({ details }) => details), [{}, taken, taken, taken])
    }))

  it.effect("4.2 registration: an excluded identity is refused under every name it ever had, until the exclusion ends", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const known = {
        personal_id: "PID 77-88",
        document_number: "D 1",
        first_name: "Zo\u00eb",
        last_name: "M\u00fcller"
      }
      const { id } = yield* casino.register(known)
      const change = (body: Fields) => casino.patch(`/players/${id}`, body)
      dataOf(yield* change({ last_name: "King" }))
      dataOf(yield* casino.exclude(id, { period: "24_hours" }))
      dataOf(yield* change({ last_name: "Lovelace" }))
      dataOf(yield* change({ birth_date: "1990-12-30", city: "London" }))
      const attempt = (more: Fields) => casino.post("/players", { ...registration(fresh("again_")), ...more })
      const excluded: ReadonlyArray<Fields> = [
        { personal_id: "pid7788" },
        { document_number: "d-1" },
        { first_name: "ZOE", last_name: "Muller" },
        { first_name: "Zoe", last_name: "king" },
        { first_name: "Müller", last_name: "Zoë" },
        { first_name: "Zoe", last_name: "Lovelace" },
        { first_name: "Zoe", last_name: "Lovelace", birth_date: "1990-12-30" },
        { first_name: "Lukasz", last_name: "Wojcik" }
      ]
      const { id: second } = yield* casino.register({
        first_name: "Łukasz",
        last_name: "Wójcik",
        birth_date: "1990-12-31"
      })
      dataOf(yield* casino.exclude(second, { period: "24_hours" }))
      for (const more of excluded) assertRefused(yield* attempt(more), 422, "SELF_EXCLUDED_IDENTITY")
      // a name never held on that day, and a namesake
      dataOf(yield* attempt({ first_name: "Zoe", last_name: "M\u00fcller", birth_date: "1990-12-30" }), 201)
      dataOf(yield* attempt({ first_name: "Zoe", last_name: "King", birth_date: "1991-12-31" }), 201)
      yield* pass(dayMs)
      for (const more of excluded) dataOf(yield* attempt(more), 201)
    })))

  it.effect("4.2 registration: an existing promo code is redeemed, after a crash by a job; the sent code is stored whether or not it exists", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { applyDue } = yield* Bonuses
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus()
      yield* made("/promo-codes", { operator: casino.slug, code: "START", bonus: bonus.id })
      const good = yield* casino.register({ promo_code: "start" })
      const bad = yield* casino.register({ promo_code: "stop" })
      assert.deepStrictEqual([yield* casino.balances(good.id), yield* casino.balances(bad.id)], [[0, 500], [0, 0]])
      assert.deepStrictEqual([good, bad].map(({ registration }) => registration.promo_code), ["start", "stop"])
      yield* applyDue
      yield* sql`DELETE FROM promo_redemptions WHERE player_id = ${good.id}`
      yield* sql`UPDATE promo_codes SET redemptions = 0 WHERE operator_id = ${casino.id}`
      yield* sql`UPDATE players SET registration_promo_due = true, created_at = ${iso(-minuteMs)}
        WHERE id IN (${good.id}, ${bad.id})`
      assert.deepStrictEqual([yield* applyDue, yield* applyDue], [2, 0])
      assert.strictEqual(dataOf(yield* casino.get(`/players/${good.id}/bonuses`)).length, 2)
    }))

  it.effect("4.2 list: each filter finds exactly the matching players, and the bounds of the creation time are inclusive", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const first = yield* casino.register({ external_id: "one", last_name: "Stone" })
      yield* pass(secondMs)
      const second = yield* casino.register({ external_id: "two", last_name: "Brick" })
      yield* pass(secondMs)
      const third = yield* casino.register({ external_id: "three", last_name: "Stonewall" })
      yield* casino.put(`/players/${second.id}/status`, { status: "locked" })
      yield* casino.put(`/players/${third.id}/status`, { status: "closed" })
      yield* staffCall("POST", `/backoffice/v1/players/${first.id}/kyc`, { status: "pending_review" })
      const rows: ReadonlyArray<readonly [query: string, found: ReadonlyArray<Fields>]> = [
        ["", [third, second, first]],
        ["status=active", [first]],
        ["status=locked", [second]],
        ["status=closed", [third]],
        [`email=${second.email}`, [second]],
        [`email=${String(second.email).slice(0, -1)}`, []],
        [`username=${second.username}`, [second]],
        [`username=${String(second.username).slice(0, -1)}`, []],
        ["external_id=two", [second]],
        ["external_id=tw", []],
        ["kyc_status=not_started", [third, second]],
        ["kyc_status=pending_review", [first]],
        ["kyc_status=verified", []],
        ["kyc_status=rejected", []],
        ["kyc_status=expired", []],
        ["search=STONE", [third, first]],
        ["search=wall", [third]],
        [`search=${String(first.username).slice(1)}`, [first]],
        [`search=${second.username}%40exam`, [second]],
        ["search=Ada", []],
        [`created_from=${iso(0)}`, [third, second, first]],
        [`created_from=${iso(1)}`, [third, second]],
        [`created_from=${iso(secondMs)}&created_to=${iso(secondMs)}`, [second]],
        [`created_to=${iso(secondMs - 1)}`, [first]],
        [`created_to=${iso(2 * secondMs)}`, [third, second, first]],
        ["status=active&search=stone", [first]]
      ]
      for (const [query, found] of rows) {
        const { data, meta } = yield* casino.get(`/players?${query}`)
        assert.deepStrictEqual(
          [data.map(({ id }: { readonly id: number }) => id), meta.total],
          [found.map(({ id }) => id), found.length],
          query
        )
      }
      for (
        const [field, value] of [
          ["status", "open"],
          ["kyc_status", "done"],
          ["created_from", "2026-11-20"],
          ["created_to", "soon"]
        ] as const
      ) assertField(yield* casino.get(`/players?${field}=${value}`), field, value)
    })))

  it.effect("4.2 PATCH: each field changes alone, is named when it is refused, and leaves a line in the audit log", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
      const { id, marketing: _, ...before } = yield* house.register()
      const rows: ReadonlyArray<readonly [field: string, good: unknown, bad: ReadonlyArray<unknown>]> = [
        ["email", `${fresh("new")}@example.com`, ["x", null, 5]],
        ["first_name", "Berta", ["", null, 5]],
        ["last_name", "Brown", ["", null]],
        ["birth_date", "1999-12-31", ["2010-01-01", "1999-13-01", null]],
        ["country", "FI", ["XX", "fi", null]],
        ["city", "Turku", [5]],
        ["address", "Road 2", [false]],
        ["phone", "+358401234567", ["0401234567"]],
        ["external_id", fresh("new-"), [5]],
        ["language", "fi", ["fin", null]]
      ]
      let shown: Fields = before
      for (const [field, good, bad] of rows) {
        for (const value of bad) assertField(yield* house.patch(`/players/${id}`, { [field]: value }), field, value)
        yield* pass(secondMs)
        const { id: same, marketing, updated_at, ...after } = dataOf(
          yield* house.patch(`/players/${id}`, { [field]: good })
        )
        shown = { ...shown, [field]: good }
        const { updated_at: earlier, ...others } = shown
        assert.deepStrictEqual([same, after], [id, others])
        assert.isAbove(Date.parse(updated_at), Date.parse(String(earlier)), field)
        assert.deepStrictEqual(marketing, { email: false, sms: false, newsletter: false })
      }
      const told = dataOf(yield* house.patch(`/players/${id}`, { marketing: { email: true, sms: true } }))
      // of marketing only the e-mail can be changed here
      assert.deepStrictEqual(told.marketing, { email: true, sms: false, newsletter: false })
      assertField(yield* house.patch(`/players/${id}`, { marketing: { email: 1 } }), "marketing.email", 1)
      // fields outside a profile update are ignored
      const ignored = { username: "other", currency: "USD", status: "closed", personal_id: "X", is_test: true }
      const still = dataOf(yield* house.patch(`/players/${id}`, ignored))
      const { currency, is_test, personal_id, status, username } = told
      assert.deepInclude(still, { currency, is_test, personal_id, status, username })
      assert.strictEqual((yield* house.patch(`/players/${id}`, {})).status, 200)
      // an update without changes adds no line to the log
      const { data: kept } = yield* house.patch(`/players/${id}`, {
        city: "Turku",
        email: ` ${told.email.toUpperCase()} `
      })
      assert.deepStrictEqual(kept, told)

      const { data: lines } = yield* staffCall("GET", `/backoffice/v1/audit?player=${id}&per_page=100`)
      const fields = lines
        .filter(({ action }: { readonly action: string }) => action === "player.profile")
        .flatMap(({ after }: { readonly after: object }) => Object.keys(after))
      assert.sameMembers(fields, [...rows.map(([field]) => field), "marketing.email"])
    })))

  it.effect("4.2 PATCH: game providers get the changed country and language at authenticate", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(0)
      dataOf(yield* house.patch(`/players/${seat.id}`, { country: "SE", language: "sv" }))
      const { data } = yield* house.callWallet("authenticate", { session_token: seat.token })
      assert.deepInclude(data, { country: "SE", language: "sv" })
    }))

  it.effect("4.2 PATCH: a value that another player has is refused as taken, the player's own present value is accepted", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const one = yield* house.register({ phone: "+35621555777", external_id: fresh("x-") })
      const two = yield* house.register()
      for (const field of ["email", "phone", "external_id"]) {
        assertField(yield* house.patch(`/players/${two.id}`, { [field]: one[field] }), field, one[field])
        assert.strictEqual((yield* house.patch(`/players/${one.id}`, { [field]: one[field] })).status, 200)
      }
    }))
})
