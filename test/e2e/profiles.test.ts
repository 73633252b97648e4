import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import {
  bootstrapToken,
  casinoUnder,
  dataOf,
  type Fields,
  fresh,
  made,
  openCasino,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"

// Goal: an operator offers jurisdictions, a player is under one, and a version counts for everybody on the next request, at every node. Method: over
// HTTP, with profiles made for the case.

const codeOf = () => fresh("x-test-")

const personOf = (more: Fields = {}) => registration(fresh("player-"), more)

const importProfile = (document: Fields, token = bootstrapToken) =>
  staffCall("POST", "/backoffice/v1/profiles", { name: "Test", ...document }, { authorization: `Bearer ${token}` })

const approve = (code: string, version: number, token: string) =>
  staffCall("POST", `/backoffice/v1/profiles/${code}/versions/${version}/approve`, {}, {
    authorization: `Bearer ${token}`
  })

const effectsOf = ({ data }: { readonly data: Fields }): ReadonlyArray<unknown> =>
  Array.isArray(data["differences"]) ? data["differences"].map(({ effect, path }) => `${path} ${effect}`) : []

layer(layerCasinos, { excludeTestServices: true })("jurisdiction profiles", (it) => {
  it.effect("2.3: an operator can read only the profiles that it may use", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ profiles: ["se", "none"], default_profile: "se" })
      const listed = yield* casino.get("/profiles")
      assert.deepStrictEqual(listed.data, [
        { code: "se", name: "Sweden", version: 1, valid_from: "1970-01-01T00:00:00.000Z", is_default: true },
        { code: "none", name: "No jurisdiction", version: 1, valid_from: "1970-01-01T00:00:00.000Z", is_default: false }
      ])
      const { data } = yield* casino.get("/profiles/se")
      assert.deepInclude(data, { code: "se", currency: "SEK", version: 1, minimum_age: 18 })
      assert.deepStrictEqual(data.limits.raise, {
        wait: "PT72H",
        until_period_ends: true,
        confirm: false,
        confirm_within: "P7D"
      })
      for (const code of ["gb", "x-unknown", "SE"]) {
        assert.strictEqual((yield* casino.get(`/profiles/${code}`)).code, "NOT_FOUND")
      }
    }))

  it.effect("2.4: a registration gets the named profile or the default one, and no update of the player changes it", () =>
    Effect.gen(function*() {
      const [home, abroad] = [codeOf(), codeOf()]
      yield* importProfile({ code: home })
      yield* importProfile({ code: abroad })
      const casino = yield* openCasino({ profiles: [home, abroad], default_profile: home })
      const byDefault = dataOf(yield* casino.post("/players", personOf()), 201)
      assert.strictEqual(byDefault.jurisdiction, home)
      const visitor = dataOf(yield* casino.post("/players", { ...personOf(), jurisdiction: abroad }), 201)
      assert.strictEqual(visitor.jurisdiction, abroad)
      const refused = yield* casino.post("/players", { ...personOf(), jurisdiction: "gb" })
      assert.deepStrictEqual([refused.status, refused.code, Object.keys(refused.details)], [
        422,
        "VALIDATION_FAILED",
        ["jurisdiction"]
      ])
      yield* casino.patch(`/players/${visitor.id}`, { jurisdiction: home, city: "Toronto" })
      const { data } = yield* casino.get(`/players/${visitor.id}`)
      assert.deepInclude(data, { jurisdiction: abroad, city: "Toronto" })
    }))

  it.effect("1.4: a registration is refused without a rate from the profile's currency to the player's", () =>
    Effect.gen(function*() {
      const code = codeOf()
      yield* importProfile({ code, currency: "CHF", limits: { caps: { max_daily_bet: 1000 } } })
      const casino = yield* openCasino({ profiles: [code], default_profile: code })
      const refused = yield* casino.post("/players", { ...personOf(), currency: "SEK" })
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["currency"]])
      yield* made("/rates", { currency: "SEK", base: "CHF", rate: 0.08 })
      dataOf(yield* casino.post("/players", { ...personOf(), currency: "SEK" }), 201)
    }))

  it.effect("1.4: amounts of a later profile version are converted to each currency in which the profile has players", () =>
    Effect.gen(function*() {
      const code = codeOf()
      yield* importProfile({ code, currency: "NOK" })
      const casino = yield* openCasino({ profiles: [code], default_profile: code })
      yield* made("/rates", { currency: "DKK", base: "NOK", rate: 2 })
      const player = dataOf(yield* casino.post("/players", { ...personOf(), currency: "DKK" }), 201)
      yield* importProfile({ code, currency: "NOK", limits: { caps: { max_daily_bet: 1000 } } })
      const raise = casino.put(`/players/${player.id}/limits`, { limits: { max_daily_bet: 501 } })
      // within two seconds at a node that was not told
      const refused = yield* raise.pipe(
        Effect.repeat({ while: ({ status }) => status === 200, schedule: Schedule.spaced("200 millis"), times: 15 })
      )
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", [
        "limits.max_daily_bet"
      ]])
    }))

  it.effect("1.4: a version with amounts is refused while the profile has players in a currency without a rate, and they keep their rules", () =>
    Effect.gen(function*() {
      const code = codeOf()
      yield* importProfile({ code, currency: "CZK" })
      const casino = yield* openCasino({ profiles: [code], default_profile: code })
      const { id } = dataOf(yield* casino.post("/players", { ...personOf(), currency: "PLN" }), 201)
      const capped = { code, currency: "CZK", limits: { caps: { max_daily_bet: 1000 } } }
      const refused = yield* importProfile(capped)
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["currency"]])
      dataOf(yield* casino.get(`/players/${id}/limits`))
      yield* made("/rates", { currency: "PLN", base: "CZK", rate: 5 })
      assert.strictEqual((yield* importProfile(capped)).status, 201)
      dataOf(yield* casino.get(`/players/${id}/limits`))
    }))

  it.effect("4.6: a cap on stakes in a category that no game can have is refused", () =>
    Effect.gen(function*() {
      const capped = (category: string) =>
        importProfile({ code: codeOf(), stakes: [{ categories: ["slots", category], amount: 100 }] })
      const category = fresh("wheel_").replaceAll("-", "_")
      const { code, details } = yield* capped(category)
      assert.deepStrictEqual([code, Object.keys(details)], ["VALIDATION_FAILED", ["stakes"]])
      const { studio } = yield* openCasino()
      yield* made("/games", { provider: studio.slug, external_id: "w", name: "Wheel", type: "live", category })
      assert.strictEqual((yield* capped(category)).status, 201)
    }))

  it.effect("2.2: a changed birth date must meet the minimum age of the player's jurisdiction", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ minimum_age: 21 })
      const { id } = dataOf(yield* casino.post("/players", personOf({ birth_date: bornYearsAgo(30) })), 201)
      const { details } = yield* casino.patch(`/players/${id}`, { birth_date: bornYearsAgo(20) })
      assert.deepStrictEqual(details, { birth_date: ["must be at least 21 years ago"] })
      dataOf(yield* casino.patch(`/players/${id}`, { birth_date: bornYearsAgo(22) }))
    }))

  it.effect("4.5: net deposits of the month are limited by the cap, also after a withdrawal is cancelled", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ deposits: { net_cap: { amount: 1000 } } })
      const { id } = dataOf(yield* casino.post("/players", personOf()), 201)
      dataOf(yield* casino.deposit(id, 900), 201)
      const { code, details } = yield* casino.deposit(id, 101)
      const refused = { limit: "net_deposit_cap", value: 1000, used: 900, resets_at: "2026-12-01T00:00:00.000Z" }
      assert.deepStrictEqual([code, details], ["LIMIT_EXCEEDED", refused])
      const withdrawal = dataOf(yield* casino.withdraw(id, 400), 201)
      dataOf(yield* casino.deposit(id, 101), 201)
      yield* staff("POST", `/payments/${withdrawal.id}/cancel`, { reason: "asked" })
      assert.deepInclude((yield* casino.deposit(id, 1)).details, { used: 1001 })
    }))

  it.effect("2.2: a document with an unknown key or a wrong value is refused with the path of the value", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [document: Fields, path: string]> = [
        [{ colour: "red" }, "colour"],
        [{ limits: { raise: { wait: "soon" } } }, "limits.raise.wait"],
        [{ limits: { caps: { max_hourly_bet: 5 } } }, "limits.caps.max_hourly_bet"],
        [{ minimum_age: 12 }, "minimum_age"],
        [{ currency: "XXX" }, "currency"],
        [{ version: 7 }, "version"]
      ]
      const code = codeOf()
      yield* importProfile({ code })
      for (const [document, path] of wrong) {
        const { code: refused, details } = yield* importProfile({ code, ...document })
        assert.deepStrictEqual([refused, Object.keys(details)], ["VALIDATION_FAILED", [path]], path)
      }
      for (const code of ["gb2", "none"]) {
        assert.deepStrictEqual(Object.keys((yield* importProfile({ code })).details), ["code"])
      }
    }))

  it.effect("2.5: a stricter version applies to the next request of every player, at every node", () =>
    Effect.gen(function*() {
      const code = codeOf()
      yield* importProfile({ code })
      const casino = yield* openCasino({ profiles: [code], default_profile: code })
      const player = dataOf(yield* casino.post("/players", personOf()), 201)
      const exclude = casino.post(`/players/${player.id}/self-exclusion`, { period: "6_weeks" })
      assert.deepStrictEqual(Object.keys((yield* exclude).details), ["period"])
      const { data, status } = yield* importProfile({
        code,
        minimum_age: 21,
        breaks: { periods: { "24_hours": "time_out", "6_weeks": "time_out" }, time_out: { min: null, max: "P6W" } }
      })
      // removing periods loosens what is on offer, and the operator is live
      assert.deepStrictEqual([status, data["status"]], [201, "proposed"])
      const { token } = yield* made("/staff", { name: "Second", role: "compliance" })
      const { token: first } = yield* made("/staff", { name: "First", role: "admin" })
      const stricter = yield* importProfile({ code, minimum_age: 21, breaks: { periods: sixWeeks } }, first)
      assert.deepStrictEqual(effectsOf(stricter), ["minimum_age stricter", "breaks.periods.6_weeks stricter"])
      assert.strictEqual(stricter.data["status"], "approved")
      // what was proposed before cannot take its place any more
      assert.strictEqual((yield* approve(code, 2, token)).code, "INVALID_REQUEST")
      const young = personOf({ birth_date: bornYearsAgo(20) })
      // within two seconds at a node that was not told
      const refused = yield* casino.post("/players", young).pipe(
        Effect.repeat({ while: ({ status }) => status === 201, schedule: Schedule.spaced("200 millis"), times: 15 })
      )
      assert.deepStrictEqual(refused.details, { birth_date: ["must be at least 21 years ago"] })
      assert.strictEqual((yield* exclude).status, 200)
    }))

  it.effect("2.6: a looser version of a profile in use, and any version of a built-in one, needs approval by a second person", () =>
    Effect.gen(function*() {
      const code = codeOf()
      const strict = { code, limits: { raise: { wait: "P7D" } } }
      const first = yield* importProfile(strict)
      assert.deepInclude(first.data, { code, version: 1, status: "approved", differences: [] })
      yield* openCasino({ profiles: [code], default_profile: code })
      const { token: admin } = yield* made("/staff", { name: "First", role: "admin" })
      const { token: other } = yield* made("/staff", { name: "Second", role: "compliance" })
      const looser = yield* importProfile({ ...strict, limits: { raise: { wait: "PT24H" } } }, admin)
      assert.deepInclude(looser.data, { version: 2, status: "proposed" })
      assert.deepStrictEqual(effectsOf(looser), ["limits.raise.wait looser"])
      assert.deepInclude(yield* approve(code, 2, admin), { status: 403, code: "INSUFFICIENT_SCOPE" })
      const approved = yield* approve(code, 2, other)
      assert.deepInclude(approved.data, { version: 2, status: "approved" })
      // what is looser waits as a raise of a limit does: seven days
      const { looser_from: from, valid_from: since } = approved.data
      assert.strictEqual(Date.parse(from) - Date.parse(since), 7 * 86_400_000)
      assert.strictEqual((yield* approve(code, 9, other)).code, "NOT_FOUND")
      const builtIn = yield* staffCall("GET", "/backoffice/v1/profiles/mt")
      const { valid_from: _since, version: _version, ...document } = builtIn.data.document
      const next = yield* importProfile({ ...document, minimum_age: 25 }, admin)
      assert.deepInclude(next.data, { code: "mt", status: "proposed" })
      assert.strictEqual((yield* staffCall("GET", "/backoffice/v1/profiles/mt")).data.document.minimum_age, 18)
    }))

  it.effect("2.6: an approved looser version that is not yet in force needs approval and the waiting time again when it is sent anew", () =>
    Effect.gen(function*() {
      const { token: admin } = yield* made("/staff", { name: "First", role: "admin" })
      const { token: other } = yield* made("/staff", { name: "Second", role: "compliance" })
      const dueLater: ReadonlyArray<Fields> = [
        // its looser part waits
        {},
        // it begins next century
        { valid_from: "2126-01-01T00:00:00Z" }
      ]
      for (const later of dueLater) {
        const code = codeOf()
        yield* importProfile({ code, limits: { caps: { max_daily_bet: 100 } } })
        yield* openCasino({ profiles: [code], default_profile: code })
        const looser = { code, limits: { caps: { max_daily_bet: 900 } } }
        yield* importProfile({ ...looser, ...later }, admin)
        yield* approve(code, 2, other)
        const again = yield* importProfile(looser, admin)
        assert.deepInclude(again.data, { version: 3, status: "proposed" })
        assert.deepStrictEqual(effectsOf(again), ["limits.caps.max_daily_bet looser"])
        const { looser_from: from, valid_from: since } = (yield* approve(code, 3, other)).data
        assert.strictEqual(Date.parse(from) - Date.parse(since), 86_400_000)
      }
    }))

  it.effect("2.6: a profile that no operator offers any more, but players have, is in use", () =>
    Effect.gen(function*() {
      const code = codeOf()
      const strict = { code, limits: { raise: { wait: "P7D" } } }
      yield* importProfile(strict)
      const casino = yield* openCasino({ profiles: [code], default_profile: code })
      dataOf(yield* casino.post("/players", personOf()), 201)
      const offers = { profiles: ["none"], default_profile: "none" }
      yield* staffCall("PATCH", `/backoffice/v1/operators/${casino.slug}`, offers)
      assert.deepInclude((yield* importProfile({ code })).data, { version: 2, status: "proposed" })
    }))

  it.effect("an operator can offer only known profiles, and its default must be among them", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const update = (body: Fields) => staffCall("PATCH", `/backoffice/v1/operators/${casino.slug}`, body)
      for (
        const [body, field] of [
          [{ profiles: ["none", "x-nowhere"] }, "profiles"],
          [{ profiles: [] }, "profiles"],
          [{ profiles: ["gb"] }, "default_profile"],
          [{ default_profile: "gb" }, "default_profile"]
        ] as const
      ) assert.deepStrictEqual(Object.keys((yield* update(body)).details), [field], JSON.stringify(body))
      // one that begins next century would refuse every registration that names none
      const late = codeOf()
      yield* importProfile({ code: late, valid_from: "2126-01-01T00:00:00Z" })
      const offered = yield* update({ profiles: ["none", late], default_profile: late })
      assert.deepStrictEqual(Object.keys(offered.details), ["default_profile"])
      const { data } = yield* update({ profiles: ["gb", "none"], default_profile: "gb" })
      assert.deepInclude(data, { profiles: ["gb", "none"], default_profile: "gb" })
    }))
})

const sixWeeks = {
  "24_hours": "time_out",
  "7_days": "time_out",
  "30_days": "time_out",
  "6_weeks": "self_closure",
  "3_months": "self_exclusion",
  "6_months": "self_exclusion",
  "12_months": "self_exclusion",
  "5_years": "self_exclusion"
}

/** A birthday half a year before now. */
const bornYearsAgo = (years: number): string => {
  const date = new Date(Date.now() - 182 * 86_400_000)
  return `${date.getUTCFullYear() - years}-${date.toISOString().slice(5, 10)}`
}
