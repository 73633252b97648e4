import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { Screenings } from "../../src/features/screenings/Screenings.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { casinoUnder, dataOf, fresh, made, openCasino, staff } from "../kit/Casino.ts"
import { withPassword } from "../kit/StaffBrowser.ts"

// Goal: 9.5: players are looked for on lists of sanctions and of politically exposed persons, without anybody who waits for it; what is found is a case.
// Method: a fake of the service; the jobs are run by hand.

const rounds = Effect.gen(function*() {
  yield* Effect.repeat((yield* Compliance).run, { while: ({ hasMore }) => hasMore })
  yield* Effect.repeat((yield* Screenings).run, { while: ({ hasMore }) => hasMore })
})

const screened = Effect.gen(function*() {
  const casino = yield* openCasino()
  const fake = yield* makeFakeRegister({ kind: "screening" })
  const { id } = yield* made("/screenings", { operator: casino.slug, ...fake.settings })
  return { casino, fake, screening: Number(id) }
})

const named = { first_name: "Ada", birth_date: "1980-02-03" }

const hitOn = (last_name: string, category: "pep" | "sanction") => ({
  ...named,
  last_name,
  verdict: "clear" as const,
  hits: [{ list: "EU", category, score: 0.93, name: `ADA ${last_name.toUpperCase()}` }]
})

layer(layerCasinos, { excludeTestServices: true })("screening", (it) => {
  it.effect("9.5: a player is screened once at registration, once after a change of identity, and every 30 days", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, fake } = yield* screened
      const { id } = yield* casino.register({ ...named, last_name: fresh("Byron") })
      yield* rounds
      yield* rounds
      assert.deepInclude(JSON.parse(fake.asked[0]?.body ?? ""), { ...named, country: "MT" })
      const events = Effect.map(
        casino.get(`/players/${id}/register-checks`),
        (reply) =>
          dataOf(reply).map(({ event, verdict }: { readonly event: string; readonly verdict: string }) =>
            `${event} ${verdict}`
          )
      )
      assert.deepStrictEqual(yield* events, ["registration clear"])
      yield* pass(minuteMs)
      dataOf(yield* casino.patch(`/players/${id}`, { last_name: fresh("Lovelace") }))
      yield* rounds
      assert.deepStrictEqual(yield* events, ["identity clear", "registration clear"])
      yield* pass(30 * dayMs)
      fake.setMode("garbage")
      yield* rounds
      assert.deepStrictEqual((yield* events)[0], "rescreen unavailable")
      // never clear, and asked again until there is an answer
      fake.setMode("ok")
      yield* rounds
      assert.lengthOf(yield* events, 3)
      yield* pass(3 * minuteMs)
      yield* rounds
      assert.deepStrictEqual((yield* events)[0], "rescreen clear")
    })))

  it.effect("9.5: repeated hits on the same people open one case, and their names are stored only with the case", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, fake } = yield* screened
      const name = fresh("Minister")
      fake.know([hitOn(name, "pep")])
      const { id } = yield* casino.register({ ...named, last_name: name })
      yield* rounds
      const [found, ...others] = yield* staff("GET", `/cases?player=${id}`)
      assert.deepStrictEqual(others, [])
      assert.deepInclude(found, { type: "screening", status: "open" })
      const { hits } = yield* staff("GET", `/cases/${found.id}`)
      assert.deepStrictEqual(hits, hitOn(name, "pep").hits)
      const [check] = dataOf(yield* casino.get(`/players/${id}/register-checks`))
      assert.deepInclude(check, { kind: "screening", verdict: "hit", event: "registration" })
      dataOf(yield* casino.deposit(id, 1000), 201)
      dataOf(yield* casino.withdraw(id, 100), 201)
      yield* pass(30 * dayMs)
      yield* rounds
      assert.lengthOf(yield* staff("GET", `/cases?player=${id}`), 1)
      const sql = yield* SqlClient.SqlClient
      for (const table of ["register_checks", "audit_log", "events", "case_notes"]) {
        const rows = yield* sql`SELECT 1 FROM ${sql(table)} t WHERE t::text LIKE ${`%ADA ${name.toUpperCase()}%`}`
        assert.deepStrictEqual(rows, [], table)
      }
    })))

  it.effect("11.3: the document of a person's data lists register checks, and tells nothing of a screening", () =>
    Effect.gen(function*() {
      const on = { registration: { max_age: "PT0S", unavailable: "refuse" } }
      const casino = yield* casinoUnder({ registers: [{ kind: "generic", on }] })
      const [register, screening] = [
        yield* makeFakeRegister({ kind: "generic" }),
        yield* makeFakeRegister({ kind: "screening" })
      ]
      yield* staff("POST", "/registers", { operator: casino.slug, kind: "generic", settings: register.settings })
      yield* made("/screenings", { operator: casino.slug, ...screening.settings })
      const name = fresh("Minister")
      screening.know([hitOn(name, "pep")])
      const { id } = yield* casino.register({ ...named, last_name: name })
      yield* rounds
      const listed = dataOf(yield* casino.get(`/players/${id}/register-checks`))
      const kindOf = ({ kind, verdict }: { readonly kind: string; readonly verdict: string }) => `${kind} ${verdict}`
      assert.sameMembers(listed.map(kindOf), ["generic clear", "screening hit"])
      const request = dataOf(yield* casino.post(`/players/${id}/data-requests`, { type: "access" }), 201)
      const { checks } = dataOf(yield* casino.get(`/players/${id}/data-requests/${request.id}/document`))
      assert.deepStrictEqual(checks.map(kindOf), ["generic clear"])
    }))

  it.effect("9.5: after a change of identity the same hits open another case, and an erased person is not screened", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, fake } = yield* screened
      const name = fresh("Oligarch")
      const known = hitOn(name, "pep")
      fake.know([known, { ...known, birth_date: "1981-02-03" }])
      const { id } = yield* casino.register({ ...named, last_name: name })
      yield* rounds
      yield* pass(minuteMs)
      dataOf(yield* casino.patch(`/players/${id}`, { birth_date: "1981-02-03" }))
      yield* rounds
      const cases = yield* staff("GET", `/cases?player=${id}`)
      assert.lengthOf(cases, 2)
      for (const found of cases) {
        yield* staff("PATCH", `/cases/${found.id}`, { status: "in_progress" })
        yield* staff("PATCH", `/cases/${found.id}`, { status: "decided", decision: "no_action" })
        yield* staff("PATCH", `/cases/${found.id}`, { status: "closed" })
      }
      yield* staff("POST", `/players/${id}/status`, { status: "closed", reason: "asked" })
      dataOf(yield* casino.post(`/players/${id}/data-requests`, { type: "erasure" }), 201)
      yield* pass(31 * dayMs)
      const asked = fake.asked.length
      yield* rounds
      assert.lengthOf(fake.asked, asked)
    })))

  /** A player who is on a list of sanctions. */
  const sanctioned = Effect.gen(function*() {
    const { casino, fake } = yield* screened
    const name = fresh("Oligarch")
    const seat = yield* casino.sit(1000, { ...named, last_name: name })
    fake.know([hitOn(name, "sanction")])
    yield* rounds
    return { casino, seat }
  })
  const gate = { reason: "obligation", obligations: ["screening"] }

  it.effect("9.5: a sanctions hit stops withdrawals until its case is closed, and play and deposits until the case is decided", () =>
    Effect.gen(function*() {
      const { casino, seat } = yield* sanctioned
      assert.deepInclude((yield* seat.bet(10)).details, gate)
      assert.deepInclude((yield* casino.deposit(seat.id, 100)).details, gate)
      assert.deepInclude((yield* casino.withdraw(seat.id, 100)).details, { reason: "compliance_hold" })
      const [open] = yield* staff("GET", `/obligations?player=${seat.id}&state=open`)
      const { call } = yield* withPassword(fresh("Lia "), "compliance")
      const waived = yield* call("POST", `/obligations/${open.id}/waive`, { reason: "none" })
      assert.deepStrictEqual([waived.status, waived.details], [403, { reason: "second_factor_required" }])
      const [found] = yield* staff("GET", `/cases?player=${seat.id}`)
      yield* staff("PATCH", `/cases/${found.id}`, { status: "in_progress" })
      yield* staff("PATCH", `/cases/${found.id}`, { status: "decided", decision: "no_action" })
      dataOf(yield* seat.bet(10))
      dataOf(yield* casino.deposit(seat.id, 100), 201)
      const [obligation] = dataOf(yield* casino.get(`/players/${seat.id}/obligations`))
      assert.deepInclude(obligation, { kind: "screening", state: "waived" })
      assert.strictEqual((yield* casino.withdraw(seat.id, 100)).code, "PLAYER_RESTRICTED")
      yield* staff("PATCH", `/cases/${found.id}`, { status: "closed" })
      dataOf(yield* casino.withdraw(seat.id, 100), 201)
    }))

  it.effect("9.5: a sanction case that is taken up again stops play and deposits again until it is decided again", () =>
    Effect.gen(function*() {
      const { casino, seat } = yield* sanctioned
      const [found] = yield* staff("GET", `/cases?player=${seat.id}`)
      const move = (body: object) => staff("PATCH", `/cases/${found.id}`, { ...body })
      yield* move({ status: "in_progress" })
      yield* move({ status: "decided", decision: "no_action" })
      dataOf(yield* seat.bet(10))
      yield* move({ status: "in_progress" })
      assert.deepInclude((yield* seat.bet(10)).details, gate)
      assert.deepInclude((yield* casino.deposit(seat.id, 100)).details, gate)
      const [obligation] = dataOf(yield* casino.get(`/players/${seat.id}/obligations`))
      assert.deepInclude(obligation, { kind: "screening", state: "open" })
      yield* move({ status: "decided", decision: "no_action" })
      dataOf(yield* seat.bet(10))
    }))

  it.effect("9.5: of two sanction cases the last one decided lets the player continue, in either order", () =>
    Effect.gen(function*() {
      for (const first of [0, 1]) {
        const { casino, fake } = yield* screened
        const [name, other] = [fresh("Oligarch"), fresh("Oligarch")]
        const seat = yield* casino.sit(1000, { ...named, last_name: name })
        fake.know([hitOn(name, "sanction"), hitOn(other, "sanction")])
        yield* rounds
        dataOf(yield* casino.send(`/players/${seat.id}`, { method: "PATCH", body: { last_name: other } }))
        yield* rounds
        const cases = yield* staff("GET", `/cases?player=${seat.id}`)
        assert.lengthOf(cases, 2)
        const decide = Effect.fnUntraced(function*(id: number) {
          yield* staff("PATCH", `/cases/${id}`, { status: "in_progress" })
          yield* staff("PATCH", `/cases/${id}`, { status: "decided", decision: "no_action" })
        })
        yield* decide(cases[first].id)
        assert.deepInclude((yield* seat.bet(10)).details, { reason: "obligation", obligations: ["screening"] })
        yield* decide(cases[1 - first].id)
        dataOf(yield* seat.bet(10))
      }
    }))

  it.effect("9.5: a job screens players registered before the screening was connected, and a disabled screening queries nothing", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      yield* casino.register()
      yield* rounds
      const fake = yield* makeFakeRegister({ kind: "screening" })
      const { id } = yield* made("/screenings", { operator: casino.slug, ...fake.settings })
      yield* staff("PATCH", `/screenings/${id}`, { active: false })
      yield* (yield* Screenings).findKnown
      yield* rounds
      assert.deepStrictEqual(fake.asked, [])
      yield* staff("PATCH", `/screenings/${id}`, { active: true })
      yield* (yield* Screenings).findKnown
      yield* rounds
      assert.lengthOf(fake.asked, 1)
    }))
})
