import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import type { Rules } from "../../src/domain/jurisdiction/Rules.ts"
import type { RegisterKind } from "../../src/domain/register/Register.ts"
import { AudiencePatience } from "../../src/features/consents/Audiences.ts"
import { PersonalData } from "../../src/platform/PersonalData.ts"
import { sealNumbers } from "../../src/store/SealedFields.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, hourMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { casinoUnder, dataOf, type Fields, fresh, registration, staff } from "../kit/Casino.ts"
import { browserCall } from "../kit/HttpCalls.ts"

// Goal: nobody is addressed who has not consented, is excluded, or about whom a register did not properly answer its marketing question; and what was said is
// kept. Method: over HTTP, with the fakes of registers over their own wires; what is asked is counted there.

const products = ["casino", "sports"]

const granted = (
  consents: ReadonlyArray<{ readonly channel: string; readonly product: string; readonly granted: boolean }>
) => consents.filter((one) => one.granted).map(({ channel, product }) => `${channel}.${product}`)

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("consents", (it) => {
  it.effect("10.1: consents for all products of a channel set its marketing flag in the profile, and the flag sets the consents", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ consents: { products } })
      const { id } = yield* casino.register({ marketing: { sms: true } })
      const path = `/players/${id}/consents`
      const shown = Effect.map(casino.get(path), (reply) => dataOf(reply))
      const marketing = Effect.map(casino.get(`/players/${id}`), (reply) => dataOf(reply).marketing)
      const first = yield* shown
      assert.strictEqual(first.length, 6)
      assert.deepStrictEqual(granted(first), ["sms.casino", "sms.sports"])
      assert.deepInclude(first[0], {
        channel: "email",
        product: "casino",
        granted: false,
        at: null,
        source: null,
        text_version: null
      })
      assert.deepInclude(first[2], { source: "registration", granted: true })
      const put = (...consents: ReadonlyArray<Fields>) => casino.put(path, { consents })
      const email = { channel: "email", granted: true, text_version: "7" }
      const one = dataOf(yield* put({ ...email, product: "casino" }))
      assert.deepInclude(one[0], { granted: true, source: "operator", text_version: "7" })
      assert.deepStrictEqual(yield* marketing, { email: false, sms: true, newsletter: false })
      dataOf(yield* put({ ...email, product: "sports" }))
      assert.deepStrictEqual(yield* marketing, { email: true, sms: true, newsletter: false })
      dataOf(yield* casino.patch(`/players/${id}`, { marketing: { email: false } }))
      assert.deepStrictEqual(granted(yield* shown), ["sms.casino", "sms.sports"])
      dataOf(yield* casino.patch(`/players/${id}`, { marketing: { email: true } }))
      assert.deepStrictEqual(granted(yield* shown), ["email.casino", "email.sports", "sms.casino", "sms.sports"])
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`, {}), 201)
      const body = { consents: [{ channel: "sms", product: "sports", granted: false }] }
      const own = dataOf(yield* browserCall(token, "/consents", { method: "PUT", body }))
      assert.deepStrictEqual(granted(own), ["email.casino", "email.sports", "sms.casino"])
      assert.deepStrictEqual(dataOf(yield* browserCall(token, "/consents")), own)
      assert.deepStrictEqual(yield* marketing, { email: true, sms: false, newsletter: false })
    }))

  it.effect("10.1, 12.4: each change records an acknowledgement and an audit log line; a repeated consent changes nothing", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({ consents: { products } })
      const { id } = yield* casino.register()
      const path = `/players/${id}/consents`
      const both = {
        consents: [{ channel: "email", product: "casino", granted: true }, { channel: "sms", granted: true }]
      }
      dataOf(yield* casino.put(path, both))
      dataOf(yield* casino.put(path, both))
      const refused = yield* casino.put(path, {
        consents: [{ channel: "email", product: "casino", granted: false }, {
          channel: "fax",
          product: "poker",
          granted: true
        }]
      })
      assert.deepInclude(refused, { status: 422, code: "VALIDATION_FAILED" })
      assert.hasAllKeys(refused.details, ["consents.1.channel", "consents.1.product"])
      const answers = dataOf(yield* casino.get(`/players/${id}/acknowledgements`))
      assert.deepStrictEqual(
        answers.map(({ answer, by, field, kind }: Fields) => [kind, answer, field, by]),
        [["consent", "accept", "sms.*", "operator"], ["consent", "accept", "email.casino", "operator"]]
      )
      const posted = yield* casino.post(`/players/${id}/acknowledgements`, { kind: "consent", answer: "accept" })
      assert.strictEqual(posted.code, "RESPONSIBLE_GAMING_RULE")
      const changed = yield* staff("PATCH", path, {
        channel: "sms",
        product: "sports",
        granted: false,
        reason: "by phone"
      })
      assert.deepStrictEqual(granted(changed.consents), ["email.casino", "sms.casino"])
      assert.deepStrictEqual(yield* staff("GET", path), changed)
      const [line] = yield* staff("GET", `/audit?player=${id}&action=player.consent`)
      assert.deepInclude(line, { reason: "by phone" })
      assert.deepInclude(line.after, {
        kind: "consent",
        field: "sms.sports",
        answer: "decline",
        profile: `${casino.profile} 1`
      })
      const { violations } = yield* staff("GET", `/ledger/verification?operator=${casino.slug}`)
      assert.deepStrictEqual(violations, [])
    }))

  it.effect("10.1: a self-exclusion withdraws all consents in the same commit where the jurisdiction says so, a time-out does not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const consenting = Effect.fnUntraced(function*(reset: boolean) {
        const casino = yield* casinoUnder({ consents: { reset_on_exclusion: reset } })
        const { id } = yield* casino.register({ marketing: { email: true, sms: true } })
        dataOf(yield* casino.put(`/players/${id}/consents`, { consents: [{ channel: "newsletter", granted: true }] }))
        return { casino, id, shown: Effect.map(casino.get(`/players/${id}/consents`), (reply) => dataOf(reply)) }
      })
      const { casino, id, shown } = yield* consenting(true)
      dataOf(yield* casino.exclude(id, { period: "24_hours" }))
      assert.strictEqual(granted(yield* shown).length, 3)
      dataOf(yield* casino.exclude(id, { period: "6_months" }))
      assert.deepStrictEqual(granted(yield* shown), [])
      assert.isTrue((yield* shown).every(({ source }: Fields) => source === "exclusion"))
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${id}`)).marketing, {
        email: false,
        sms: false,
        newsletter: false
      })
      const [answer] = dataOf(yield* casino.get(`/players/${id}/acknowledgements`))
      assert.deepInclude(answer, { kind: "consent", answer: "decline", field: null, by: "operator" })
      const [line] = yield* staff("GET", `/audit?player=${id}&action=player.self_exclusion`)
      assert.strictEqual(line.after.consents_withdrawn, answer.id)
      const written =
        yield* sql`SELECT a.xmin = p.xmin AS together FROM acknowledgements a JOIN players p ON p.id = a.player_id WHERE a.id = ${answer.id}`
      assert.deepStrictEqual(written.map((row) => ({ ...row })), [{ together: true }])

      const other = yield* consenting(false)
      dataOf(yield* other.casino.exclude(other.id, { period: "6_months" }))
      assert.strictEqual(granted(yield* other.shown).length, 3)
    }))

  it.effect("10.1: a marketing flag that an earlier release set counts as consent for its channel", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoUnder({})
      const { id } = yield* casino.register()
      dataOf(yield* casino.put(`/players/${id}/consents`, { consents: [{ channel: "sms", granted: true }] }))
      yield* sql`UPDATE players SET marketing_email = true WHERE id = ${id}`
      assert.deepStrictEqual(granted(dataOf(yield* casino.get(`/players/${id}/consents`))), [
        "email.casino",
        "sms.casino"
      ])
    }))
})

type Use = NonNullable<Rules["registers"][number]["on"]["marketing"]>

/** A casino whose jurisdiction has a register asked for marketing, and players who have consented to e-mail. */
const asking = Effect.fnUntraced(function*(kind: RegisterKind, use: Partial<Use> = {}, lastGood: string | null = null) {
  const fake = yield* makeFakeRegister({ kind })
  const marketing = { max_age: "PT0S", unavailable: "refuse", ...use }
  const login = { max_age: "PT0S", unavailable: "refuse" }
  const casino = yield* casinoUnder({ registers: [{ kind, on: { marketing, login }, last_good_max_age: lastGood }] })
  yield* staff("POST", "/registers", { operator: casino.slug, kind, settings: fake.settings })
  const someone = Effect.fnUntraced(function*(more: Fields = {}) {
    const last_name = fresh("Lovelace")
    const reply = yield* casino.post("/players", {
      ...registration(fresh("p-")),
      last_name,
      birth_date: "1980-01-01",
      zip_code: "SW1A 1AA",
      ...(kind === "spelpaus" ? { personal_id: "19800101-9879" } : {}),
      marketing: { email: true },
      ...more
    })
    const id: number = dataOf(reply, 201).id
    return { id, last_name }
  })
  const say = (last_name: string, verdict: "excluded" | "clear") =>
    fake.know([{
      first_name: "Ada",
      last_name,
      birth_date: "1980-01-01",
      verdict,
      ...(kind === "spelpaus" ? { personal_id: "19800101-9879" } : {})
    }])
  const audience = (player_ids: ReadonlyArray<number>, more: Fields = {}) =>
    casino.post("/marketing/audience", { channel: "email", product: "casino", player_ids, ...more })
  const checks = (id: number) =>
    Effect.map(
      casino.get(`/players/${id}/register-checks`),
      (reply) => dataOf(reply).map(({ event, verdict }: Fields) => `${String(event)} ${String(verdict)}`)
    )
  return { ...casino, fake, someone, say, audience, checks }
})

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("marketing audiences", (it) => {
  it.effect("10.2: players without consent, excluded, restricted or of another operator are listed as refused, each with the reason", () =>
    Effect.gen(function*() {
      const casino = yield* casinoUnder({})
      const player = (marketing: Fields = { email: true }) =>
        Effect.map(casino.register({ marketing }), ({ id }) => Number(id))
      const [fine, silent, excluded, locked, restricted] = yield* Effect.all([
        player(),
        player({}),
        player(),
        player(),
        player()
      ])
      const foreign = Number((yield* (yield* casinoUnder({})).register({ marketing: { email: true } })).id)
      dataOf(yield* casino.exclude(excluded, { period: "24_hours" }))
      dataOf(yield* casino.put(`/players/${locked}/status`, { status: "locked" }))
      yield* staff("PATCH", `/players/${restricted}/restrictions`, { can_bet: false, reason: "harm" })
      const body = {
        channel: "email",
        product: "casino",
        player_ids: [silent, excluded, fine, foreign, locked, restricted, fine]
      }
      const found = yield* casino.post("/marketing/audience", body)
      assert.deepStrictEqual(dataOf(found), {
        allowed: [fine],
        refused: [
          { player_id: silent, reason: "no_consent" },
          { player_id: excluded, reason: "excluded" },
          { player_id: foreign, reason: "not_found" },
          { player_id: locked, reason: "restricted" },
          { player_id: restricted, reason: "restricted" }
        ]
      })
      const headers = { "Idempotency-Key": fresh("key-") }
      const keyed = casino.send("/marketing/audience", { method: "POST", body, headers })
      assert.deepStrictEqual((yield* keyed).json, (yield* keyed).json)
      const other = yield* casino.post("/marketing/audience", { ...body, product: "sports" })
      assert.deepStrictEqual(dataOf(other).allowed, [])
      for (const player_ids of [[], Array.from({ length: 10_001 }, (_, index) => index + 1), ["x"]]) {
        assert.strictEqual(
          (yield* casino.post("/marketing/audience", { ...body, player_ids })).code,
          "VALIDATION_FAILED"
        )
      }
      assert.strictEqual(
        dataOf(
          yield* casino.post("/marketing/audience", {
            ...body,
            player_ids: Array.from({ length: 10_000 }, (_, index) => index + 1)
          })
        ).refused.length,
        10_000
      )
    }))

  for (const kind of ["spelpaus", "gamstop", "generic"] as const) {
    it.effect(`10.2, 5.2: ${kind}: the marketing check refuses excluded players, is stored, and is separate from the sign-in check`, () =>
      Effect.gen(function*() {
        const { audience, checks, fake, get, post, say, someone } = yield* asking(kind)
        const { id, last_name } = yield* someone()
        dataOf(yield* post(`/players/${id}/session-tokens`), 201)
        say(last_name, "excluded")
        const before = fake.asked.length
        assert.deepStrictEqual(dataOf(yield* audience([id])), {
          allowed: [],
          refused: [{ player_id: id, reason: "register_excluded" }]
        })
        assert.strictEqual(fake.asked.length, before + 1)
        if (kind === "spelpaus") assert.include(fake.asked.at(-1)?.path, "/marketing-subjectid/")
        assert.deepStrictEqual(yield* checks(id), ["marketing excluded", "login clear"])
        assert.deepInclude(dataOf(yield* get(`/players/${id}`)).register, { verdict: "clear" })
        say(last_name, "clear")
        // the pace of batches
        yield* pass(1000)
        assert.deepStrictEqual(dataOf(yield* audience([id])).allowed, [id])
        // the sign-in asks for itself
        say(last_name, "excluded")
        assert.deepInclude(yield* post(`/players/${id}/session-tokens`), { code: "PLAYER_RESTRICTED" })
        assert.strictEqual((yield* checks(id))[0], "login excluded")
        const last = fake.asked.length
        assert.deepStrictEqual(dataOf(yield* audience([id])).refused, [{ player_id: id, reason: "register_excluded" }])
        assert.strictEqual(fake.asked.length, last, "whom the answer about play excludes is not asked about")
      }))
  }

  it.effect("10.2, 2.4: after a move to a jurisdiction without a register, the old register is queried while the stricter rules apply", () =>
    Effect.gen(function*() {
      const { audience, fake, profile, say, slug, someone } = yield* asking("generic")
      const { id, last_name } = yield* someone()
      yield* staff("PATCH", `/operators/${slug}`, { profiles: [profile, "none"] })
      yield* staff("POST", `/players/${id}/jurisdiction`, { to: "none", reason: "lives elsewhere" })
      const before = fake.asked.length
      say(last_name, "excluded")
      assert.deepStrictEqual(dataOf(yield* audience([id])).refused, [{ player_id: id, reason: "register_excluded" }])
      assert.strictEqual(fake.asked.length, before + 1)
    }))

  it.effect("10.2: a register's clear answer to a marketing check is reused for max_age, and only for the identity that was queried", () =>
    whileTimePasses(Effect.gen(function*() {
      const { audience, fake, patch, someone } = yield* asking("generic", { max_age: "PT24H" })
      const { id } = yield* someone()
      const asked = Effect.gen(function*() {
        const before = fake.asked.length
        assert.deepStrictEqual(dataOf(yield* audience([id])).allowed, [id])
        return fake.asked.length - before
      })
      assert.deepStrictEqual([yield* asked, yield* asked], [1, 0])
      yield* pass(24 * hourMs)
      assert.deepStrictEqual([yield* asked, yield* asked], [1, 0])
      dataOf(yield* patch(`/players/${id}`, { last_name: fresh("Byron") }))
      assert.deepStrictEqual([yield* asked, yield* asked], [1, 0])
    })))

  it.effect("10.2: without a valid register answer the player is refused as register_unavailable, unless the jurisdiction allows the player", () =>
    whileTimePasses(Effect.gen(function*() {
      const outcome = Effect.fnUntraced(function*(use: Partial<Use>, lastGood: string | null = null) {
        const { audience, checks, fake, post, someone } = yield* asking("generic", use, lastGood)
        const { id } = yield* someone()
        const known = dataOf(yield* audience([id])).allowed.length === 1
        // at one instant the ids of two nodes would say which check is the later one
        yield* pass(1)
        fake.setMode("garbage")
        const { allowed, refused } = dataOf(yield* audience([id]))
        assert.strictEqual((yield* checks(id))[0], "marketing unavailable")
        // a sign-in has its own turns and its own breaker
        for (let times = 0; times < 6; times++) yield* audience([id])
        fake.setMode("ok")
        dataOf(yield* post(`/players/${id}/session-tokens`), 201)
        yield* pass(2 * dayMs)
        fake.setMode("garbage")
        const later = dataOf(yield* audience([id]))
        return [known, allowed.length === 1, refused[0]?.reason, later.allowed.length === 1]
      })
      assert.deepStrictEqual(yield* outcome({}), [true, false, "register_unavailable", false])
      assert.deepStrictEqual(yield* outcome({ unavailable: "allow" }), [true, true, undefined, true])
      assert.deepStrictEqual(yield* outcome({ unavailable: "last_good" }, "P1D"), [true, true, undefined, false])
    })))

  it.effect("10.2: thousands of players are checked in batches, and an invalid personal number fails only its own player's check", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { audience, fake, id: operatorId, someone } = yield* asking("spelpaus")
      const { id } = yield* someone()
      const ids = (yield* sql<
        { readonly id: number }
      >`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country,
          currency, jurisdiction, marketing_email, created_at, updated_at)
        SELECT id + n, operator_id, username || n, n || email, first_name, last_name, birth_date, country, currency, jurisdiction, true, now(), now()
        FROM players, generate_series(1, 2500) n WHERE id = ${id} AND operator_id = ${operatorId} RETURNING id::float8 AS id`)
        .map((row) => row.id)
      const personal = yield* PersonalData
      yield* Effect.forEach(ids, (one) => {
        const personalId = one === id + 7 ? "19800101-9870" : "19800101-9879"
        return sql`UPDATE players SET numbers_sealed = ${
          sealNumbers(personal, one, { personalId, documentNumber: null })
        }
          WHERE id = ${one}`
      })
      const before = fake.asked.length
      const { allowed, refused } = dataOf(yield* audience(ids))
      assert.strictEqual(fake.asked.length, before + 1)
      assert.strictEqual(allowed.length, 2499)
      assert.deepStrictEqual(refused, [{ player_id: id + 7, reason: "register_unavailable" }])
      const [row] =
        yield* sql`SELECT count(*)::float8 AS checks, count(DISTINCT request_id)::float8 AS requests FROM register_checks
        WHERE operator_id = ${operatorId} AND event = 'marketing'`
      assert.deepStrictEqual({ ...row }, { checks: 2500, requests: 1 })
      const { violations } = yield* staff("GET", `/ledger/verification?operator=${String(operatorId)}`)
      assert.deepStrictEqual(violations, [])
    }))
})

const impatient = layerCasinos.pipe(Layer.provide(Layer.succeed(AudiencePatience, 0)))

layer(impatient, { excludeTestServices: true, timeout: 60_000 })("marketing audiences with slow checks", (it) => {
  it.effect("10.2: a player who was not checked in time is refused as register_unavailable, and no check is stored", () =>
    Effect.gen(function*() {
      for (const kind of ["spelpaus", "generic"] as const) {
        const { audience, checks, someone } = yield* asking(kind)
        const { id } = yield* someone()
        assert.deepStrictEqual(dataOf(yield* audience([id])), {
          allowed: [],
          refused: [{ player_id: id, reason: "register_unavailable" }]
        })
        assert.deepStrictEqual(yield* checks(id), [])
      }
    }))
})
