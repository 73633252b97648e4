import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import { LicenseeExclusions } from "../../src/features/responsibleGaming/LicenseeExclusions.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import {
  assertRefused,
  type Casino,
  casinoUnder,
  dataOf,
  type Fields,
  fresh,
  made,
  openCasino,
  outcomeOf,
  registration,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { eventually } from "../kit/WebhookSink.ts"

// Goal: 3.4, an exclusion asked for at every operator of a licensee reaches every account of the person there, and no other; nobody learns of the other
// operator. Method: operators with and without a licensee over HTTP, at any node; the jobs are run by the test, in the order that a race needs.

const breaks = (more: Fields = {}) => ({
  breaks: {
    periods: { "7_days": "time_out", "6_months": "self_exclusion", "12_months": "self_exclusion" },
    self_exclusion: { min: null, max: null },
    scope: "licensee",
    ...more
  }
})

const newLicensee = Effect.suspend(() =>
  Effect.map(made("/licensees", { name: fresh("licensee-") }), ({ id }): number => id)
)

/** Operators of one licensee whose players are under these breaks. */
const operators = Effect.fnUntraced(function*(count: number, more: Fields = {}) {
  const licensee = yield* newLicensee
  const first = yield* casinoUnder(breaks(more), { licensee })
  const settings = { profiles: [first.profile, "none"], default_profile: first.profile }
  const others = yield* Effect.forEach(Array.from({ length: count - 1 }), () => openCasino({ ...settings, licensee }))
  const [second = first, third = first] = others
  return { first, second, third, licensee, settings }
})

/** Runs the jobs until nothing waits: identities first. */
const settle = Effect.gen(function*() {
  const [compliance, exclusions] = [yield* Compliance, yield* LicenseeExclusions]
  for (const { run } of [compliance, exclusions]) while ((yield* run).hasMore) { /* until nothing waits */ }
})

/** The same person with another username and e-mail. */
const again = (person: Fields) => {
  const username = fresh("again-")
  return { ...person, username, email: `${username}@example.com` }
}

const exclusionOf = (casino: Casino, id: number) =>
  Effect.map(casino.get(`/players/${id}`), (reply) => dataOf(reply).self_exclusion)

const add = (casino: Casino, person: Fields) =>
  Effect.map(casino.post("/players", person), (reply): number => dataOf(reply, 201).id)

const waiting = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT 1 FROM licensee_comparisons`).length
})

layer(layerCasinos, { excludeTestServices: true })("3.4 an exclusion for a licensee", (it) => {
  it.effect("3.4: excludes the person's accounts at the other operators until the same end, matched by name, personal id or document", () =>
    Effect.gen(function*() {
      const { first, second, third } = yield* operators(3)
      const outside = yield* openCasino({ profiles: [first.profile], default_profile: first.profile })
      const person = registration(fresh("p-"), { personal_id: "19901231-1234", document_number: "XK 42" })
      const id = yield* add(first, person)
      const alike = {
        name: yield* add(second, again({ ...registration(person.username) })),
        number: yield* add(second, again({ ...registration(fresh("other-")), personal_id: "199012311234" })),
        document: yield* add(third, again({ ...registration(fresh("other-")), document_number: "xk42" }))
      }
      const others = [
        [second, yield* add(second, again({ ...registration(person.username), birth_date: "1991-01-01" }))],
        [outside, yield* add(outside, again(person))],
        [first, yield* add(first, registration(fresh("other-")))]
      ] as const
      yield* settle
      const token = dataOf(yield* second.post(`/players/${alike.name}/session-tokens`), 201).token
      dataOf(yield* first.exclude(id, { period: "6_months" }))
      yield* settle
      const own = yield* exclusionOf(first, id)
      assert.deepInclude(own, { source: "operator", type: "self_exclusion" })
      for (
        const [casino, account] of [[second, alike.name], [second, alike.number], [third, alike.document]] as const
      ) {
        const { since: _, ...shown } = yield* exclusionOf(casino, account)
        assert.deepStrictEqual(shown, {
          type: "self_exclusion",
          until: own.until,
          ends: "by_itself",
          return_at: null,
          source: "licensee"
        })
        assert.strictEqual((yield* casino.deposit(account, 100)).details.reason, "self_exclusion")
      }
      for (const [casino, account] of others) assert.isNull(yield* exclusionOf(casino, account))
      assert.strictEqual((yield* browserCall(token, "/limits")).code, "INVALID_PLAYER_TOKEN")
      assert.strictEqual(yield* waiting, 0)
    }))

  it.effect("3.4: refuses registrations at the licensee's operators with its source, even before a job has run", () =>
    Effect.gen(function*() {
      const { first, second, settings } = yield* operators(2)
      const outside = yield* openCasino(settings)
      const person = registration(fresh("p-"))
      const id = yield* add(first, person)
      dataOf(yield* first.exclude(id, { period: "6_months" }))
      const refused = yield* second.post("/players", again(person))
      assertRefused(refused, 422, "SELF_EXCLUDED_IDENTITY", { source: "licensee" })
      assertRefused(yield* first.post("/players", again(person)), 422, "SELF_EXCLUDED_IDENTITY", { source: "operator" })
      // a refused registration leaves nothing: the same names are free
      dataOf(yield* outside.post("/players", person), 201)
      for (const hidden of [first.slug, String(first.id), String(id)]) assert.notInclude(refused.text, hidden)
      // an account under a false name does not get the right one
      const { id: other } = yield* second.register()
      const { birth_date, first_name, last_name } = person
      const renamed = yield* second.patch(`/players/${other}`, { first_name, last_name, birth_date })
      assertRefused(renamed, 422, "SELF_EXCLUDED_IDENTITY", { source: "licensee" })
    }))

  it.effect("3.4: does not spread when it is a time-out or is limited to one operator", () =>
    Effect.gen(function*() {
      const { first, second } = yield* operators(2)
      const calm = registration(fresh("p-"))
      const [id, other] = [yield* add(first, calm), yield* add(second, again(calm))]
      dataOf(yield* first.exclude(id, { period: "7_days" }))
      const local = registration(fresh("p-"))
      const [own, far] = [yield* add(first, { ...local, jurisdiction: undefined }), yield* add(second, again(local))]
      yield* staff("PATCH", `/operators/${first.id}`, { profiles: [first.profile, "none"] })
      const under = registration(fresh("p-"), { jurisdiction: "none" })
      const [none, distant] = [yield* add(first, under), yield* add(second, again({ ...under, jurisdiction: "none" }))]
      dataOf(yield* first.exclude(none, { period: "6_months" }))
      yield* settle
      for (const account of [other, far, distant]) assert.isNull(yield* exclusionOf(second, account))
      assert.isNull(yield* exclusionOf(first, own))
      dataOf(yield* second.post("/players", again({ ...under, jurisdiction: "none" })), 201)
    }))

  it.effect("3.4: covers the operators named in the request if the jurisdiction's scope is `ask`, whether operator, player or staff sends it", () =>
    Effect.gen(function*() {
      const { first, second } = yield* operators(2, { scope: "ask" })
      const [near, far] = [registration(fresh("p-")), registration(fresh("p-"))]
      const ids = [yield* add(first, near), yield* add(first, far)]
      const [one = 0, two = 0] = ids
      const accounts = [yield* add(second, again(near)), yield* add(second, again(far))]
      const [nearAccount = 0, farAccount = 0] = accounts
      yield* settle
      const unsaid = yield* first.exclude(one, { period: "6_months" })
      assert.deepStrictEqual([unsaid.code, Object.keys(unsaid.details)], ["VALIDATION_FAILED", ["scope"]])
      assert.strictEqual(
        outcomeOf(yield* first.exclude(one, { period: "6_months", scope: "world" })),
        "VALIDATION_FAILED"
      )
      const request = { period: "6_months", channel: "phone", reason: "asked by phone" }
      const byStaff = yield* staffCall("POST", `/backoffice/v1/players/${one}/exclusion`, request)
      assert.deepStrictEqual([byStaff.code, Object.keys(byStaff.details)], ["VALIDATION_FAILED", ["scope"]])
      const { token } = dataOf(yield* first.post(`/players/${two}/session-tokens`), 201)
      const byPlayer = (body: Fields) => browserCall(token, "/self-exclusion", { body })
      assert.deepStrictEqual(Object.keys((yield* byPlayer({ period: "6_months" })).details), ["scope"])
      dataOf(yield* first.exclude(one, { period: "6_months", scope: "operator" }))
      dataOf(yield* byPlayer({ period: "6_months", scope: "licensee" }))
      yield* settle
      assert.isNull(yield* exclusionOf(second, nearAccount))
      assert.deepInclude(yield* exclusionOf(second, farAccount), { source: "licensee" })
      // asked of all operators later
      dataOf(
        yield* staffCall("POST", `/backoffice/v1/players/${one}/exclusion`, {
          ...request,
          period: "12_months",
          scope: "licensee"
        })
      )
      yield* settle
      assert.deepInclude(yield* exclusionOf(second, nearAccount), { source: "licensee" })
    }))

  it.effect("3.4: extends shorter exclusions at other operators, and shortens none", () =>
    Effect.gen(function*() {
      const { first, second } = yield* operators(2)
      const [brief, long] = [registration(fresh("p-")), registration(fresh("p-"))]
      const [one, two] = [yield* add(first, brief), yield* add(first, long)]
      const shorter = yield* add(second, again({ ...brief, jurisdiction: "none" }))
      const longer = yield* add(second, again({ ...long, jurisdiction: "none" }))
      yield* settle
      dataOf(yield* second.exclude(shorter, { period: "30_days" }))
      dataOf(yield* second.exclude(longer, { period: "5_years" }))
      const before = yield* exclusionOf(second, longer)
      const { self_exclusion: asked } = dataOf(yield* first.exclude(one, { period: "6_months" }))
      dataOf(yield* first.exclude(two, { period: "6_months" }))
      yield* settle
      assert.deepInclude(yield* exclusionOf(second, shorter), { until: asked.until, source: "licensee" })
      assert.deepStrictEqual(yield* exclusionOf(second, longer), before)
      dataOf(yield* first.exclude(one, { period: "12_months" }))
      yield* settle
      assert.strictEqual((yield* exclusionOf(second, shorter)).until, (yield* exclusionOf(first, one)).until)
    }))

  it.effect("3.3, 3.4: ends on request for each account separately, and is not applied again where it has ended", () =>
    whileTimePasses(Effect.gen(function*() {
      const { first, licensee: id, second, settings } = yield* operators(2, { ends: "on_request" })
      const person = registration(fresh("p-"))
      const [own, account] = [yield* add(first, person), yield* add(second, again(person))]
      yield* settle
      dataOf(yield* first.exclude(own, { period: "6_months" }))
      yield* settle
      assert.deepInclude(yield* exclusionOf(second, account), { ends: "on_request", return_at: null })
      yield* pass(200 * dayMs)
      const accept = { kind: "return_to_play", answer: "accept" }
      dataOf(yield* second.post(`/players/${account}/acknowledgements`, accept), 201)
      assert.isNull(yield* exclusionOf(second, account))
      assert.deepInclude(yield* exclusionOf(first, own), { return_at: null })
      // another operator joins: its account is excluded, since the exclusion still stands; the other has returned from it
      const third = yield* openCasino(settings)
      const late = yield* add(third, again(person))
      // an exclusion that is over is forgotten after half a day
      yield* pass(dayMs)
      yield* (yield* DueAccountChanges).run
      yield* settle
      yield* staff("PATCH", `/operators/${third.id}`, { licensee: id })
      yield* settle
      assert.deepInclude(yield* exclusionOf(third, late), { source: "licensee", ends: "on_request" })
      assert.isNull(yield* exclusionOf(second, account))
      // excluded anew
      dataOf(yield* first.exclude(own, { period: "12_months" }))
      yield* settle
      assert.deepInclude(yield* exclusionOf(second, account), { source: "licensee" })
    })))

  it.effect("3.3, 3.4: is followed by the longest return wait of the jurisdictions of the person's accounts", () =>
    whileTimePasses(Effect.gen(function*() {
      const { first, second } = yield* operators(2, { ends: "on_request", return_wait: "P7D" })
      const months = { periods: { "6_months": "self_exclusion" }, scope: "licensee", ends: "on_request" }
      const { profile } = yield* casinoUnder({ breaks: { ...months, return_wait: "P30D" } })
      yield* staff("PATCH", `/operators/${second.slug}`, { profiles: [first.profile, profile, "none"] })
      const waitOf = Effect.fnUntraced(function*(jurisdiction: string) {
        const person = registration(fresh("p-"))
        const own = yield* add(first, person)
        const account = yield* add(second, again({ ...person, jurisdiction }))
        yield* settle
        dataOf(yield* first.exclude(own, { period: "6_months" }))
        yield* settle
        yield* pass(200 * dayMs)
        const now = yield* Clock.currentTimeMillis
        const accept = { kind: "return_to_play", answer: "accept" }
        dataOf(yield* second.post(`/players/${account}/acknowledgements`, accept), 201)
        const { return_at: at } = yield* exclusionOf(second, account)
        return (Date.parse(at) - now) / dayMs
      })
      assert.deepStrictEqual([yield* waitOf("none"), yield* waitOf(profile)], [7, 30])
    })))

  it.effect("3.4: covers an account registered while the exclusion spreads, whether the account or the exclusion is compared first", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { first, second } = yield* operators(2)
      const [compliance, exclusions] = [yield* Compliance, yield* LicenseeExclusions]
      const orders = [
        // the account's facts are known before the exclusion is compared, or after it
        [compliance.run, exclusions.run, exclusions.run],
        [exclusions.run, compliance.run, exclusions.run]
      ]
      for (const order of orders) {
        const person = registration(fresh("p-"))
        const id = yield* add(first, person)
        yield* settle
        // as of a registration that looked for exclusions before there was one, and commits after it
        yield* sql`UPDATE operators SET licensee_id = NULL WHERE id = ${second.id}`
        dataOf(yield* first.exclude(id, { period: "6_months" }))
        const account = yield* add(second, again(person))
        yield* sql`UPDATE operators SET licensee_id = (SELECT licensee_id FROM operators WHERE id = ${first.id})
          WHERE id = ${second.id}`
        for (const run of order) yield* run
        assert.deepInclude(yield* exclusionOf(second, account), { source: "licensee" })
        assert.strictEqual(yield* waiting, 0)
      }
    }))

  it.effect("3.4: refuses a simultaneous registration, or excludes its account afterwards", () =>
    Effect.gen(function*() {
      const { first, second } = yield* operators(2)
      const people = Array.from({ length: 16 }, () => registration(fresh("p-")))
      const outcomes = yield* Effect.forEach(people, (person) =>
        Effect.gen(function*() {
          const id = yield* add(first, person)
          const [excluded, registered] = yield* Effect.all([
            first.exclude(id, { period: "6_months" }),
            second.post("/players", again(person))
          ], { concurrency: 2 })
          dataOf(excluded)
          return registered
        }), { concurrency: 4 })
      yield* settle
      for (const registered of outcomes) {
        if (registered.status === 201) {
          assert.deepInclude(yield* exclusionOf(second, registered.data.id), { source: "licensee" })
        } else assertRefused(registered, 422, "SELF_EXCLUDED_IDENTITY", { source: "licensee" })
      }
    }))

  it.effect("3.4: spreads soon after its commit, without waiting for a job", () =>
    Effect.gen(function*() {
      const { first, second } = yield* operators(2)
      const person = registration(fresh("p-"))
      const [id, account] = [yield* add(first, person), yield* add(second, again(person))]
      yield* settle
      yield* Layer.build(LicenseeExclusions.layerWakes)
      dataOf(yield* first.exclude(id, { period: "6_months" }))
      yield* eventually(exclusionOf(second, account), (exclusion) => exclusion?.source === "licensee")
    }).pipe(Effect.scoped))

  it.effect("3.4: covers an operator that joins the licensee, and its own exclusions cover the others", () =>
    Effect.gen(function*() {
      const { first, licensee: id, second, settings } = yield* operators(2)
      const joining = yield* openCasino(settings)
      const [one, two] = [registration(fresh("p-")), registration(fresh("p-"))]
      const [excluded, elsewhere] = [yield* add(first, one), yield* add(joining, again(one))]
      const [ownExcluded, theirs] = [yield* add(joining, two), yield* add(second, again(two))]
      dataOf(yield* first.exclude(excluded, { period: "6_months" }))
      dataOf(yield* joining.exclude(ownExcluded, { period: "6_months" }))
      yield* settle
      for (const account of [[joining, elsewhere], [second, theirs]] as const) {
        assert.isNull(yield* exclusionOf(...account))
      }
      yield* staff("PATCH", `/operators/${joining.id}`, { licensee: id })
      assertRefused(yield* joining.post("/players", again(one)), 422, "SELF_EXCLUDED_IDENTITY", { source: "licensee" })
      yield* settle
      for (const account of [[joining, elsewhere], [second, theirs]] as const) {
        assert.deepInclude(yield* exclusionOf(...account), { source: "licensee" })
      }
      // one that leaves keeps what holds there, and gets no more
      yield* staff("PATCH", `/operators/${joining.id}`, { licensee: null })
      assert.deepInclude(yield* exclusionOf(joining, elsewhere), { source: "licensee" })
      dataOf(yield* joining.post("/players", again(registration(fresh("p-")))), 201)
    }))

  it.effect("3.4: reaches an account that cannot be loaded at first once it can be, and delays no other account", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const exclusions = yield* LicenseeExclusions
      const { first, second } = yield* operators(2)
      const [stuck, sound] = [registration(fresh("p-")), registration(fresh("p-"))]
      const [one, two] = [yield* add(first, stuck), yield* add(first, sound)]
      const [held, free] = [yield* add(second, again(stuck)), yield* add(second, again(sound))]
      yield* settle
      // a row that no release has written: the player cannot be loaded
      yield* sql`UPDATE players SET registers = '[{"kind": "none"}]' WHERE id = ${held}`
      yield* sql`UPDATE accounts SET version = version + 1 WHERE player_id = ${held}`
      dataOf(yield* first.exclude(one, { period: "6_months" }))
      dataOf(yield* first.exclude(two, { period: "6_months" }))
      yield* exclusions.run
      assert.deepInclude(yield* exclusionOf(second, free), { source: "licensee" })
      assert.deepStrictEqual([yield* waiting, yield* exclusions.isDueSoon], [1, true])
      yield* sql`UPDATE players SET registers = '[]' WHERE id = ${held}`
      yield* exclusions.run
      assert.strictEqual(yield* waiting, 1)
      yield* pass(1001)
      yield* exclusions.run
      yield* exclusions.run
      assert.strictEqual(yield* waiting, 0)
      // as after a process that died between the exclusion and the removal
      yield* sql`INSERT INTO licensee_comparisons (player_id) VALUES (${one}), (${held})`
      yield* exclusions.run
      const told = yield* sql<{ readonly type: string }>`SELECT type FROM events
        WHERE player_id = ${held} AND type = 'player.self_excluded'`
      assert.strictEqual(told.length, 1)
      const text = JSON.stringify([
        yield* sql`SELECT data FROM events WHERE player_id = ${held}`,
        yield* sql`SELECT before, after, reason, actor FROM audit_log WHERE player_id = ${held}`
      ])
      for (const hidden of [first.slug, String(first.id), String(one)]) assert.notInclude(text, hidden)
    }))

  it.effect("4.7: `first_only` counts a person's bonuses at all operators of the licensee", () =>
    Effect.gen(function*() {
      const only = { bonuses: { first_only: true } }
      const shared = yield* newLicensee
      const first = yield* casinoUnder(only, { licensee: shared })
      const settings = { profiles: [first.profile], default_profile: first.profile }
      const second = yield* openCasino({ ...settings, licensee: shared })
      const outside = yield* openCasino(settings)
      const person = registration(fresh("p-"))
      const accounts = yield* Effect.forEach(
        [first, second, outside],
        (casino) => Effect.map(add(casino, again(person)), (id) => ({ casino, id }))
      )
      yield* settle
      const granted = yield* Effect.forEach(
        accounts,
        ({ casino, id }) => Effect.flatMap(casino.newBonus(), (bonus) => casino.grant(id, bonus.id))
      )
      assert.deepStrictEqual(granted.map(outcomeOf), [201, "BONUS_INVALID", 201])
      assert.strictEqual(granted[1]?.details.rule, "first_only")
      const { id: someone } = yield* second.register()
      const bonus = yield* second.newBonus()
      dataOf(yield* second.grant(someone, bonus.id), 201)
      const code = yield* made("/promo-codes", { operator: second.slug, code: fresh("CODE"), bonus: bonus.id })
      const redeemed = yield* second.post(`/players/${accounts[1]?.id}/promo-codes`, { code: code.code })
      assert.deepStrictEqual([redeemed.code, redeemed.details.rule], ["BONUS_INVALID", "first_only"])
    }))

  it.effect("12.1: the licensee of an operator is set only by staff who are bound to no operator", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const id = yield* newLicensee
      const bound = yield* made("/staff", { name: "Bound", role: "admin", operators: [casino.slug] })
      const as = { authorization: `Bearer ${bound.token}` }
      const path = `/backoffice/v1/operators/${casino.id}`
      assert.strictEqual((yield* staffCall("PATCH", path, { licensee: id }, as)).code, "INSUFFICIENT_SCOPE")
      dataOf(yield* staffCall("PATCH", path, { name: "Renamed" }, as))
      assert.strictEqual(
        (yield* staffCall("GET", "/backoffice/v1/licensees", undefined, as)).code,
        "INSUFFICIENT_SCOPE"
      )
      dataOf(yield* staffCall("PATCH", path, { licensee: id }))
    }))
})
