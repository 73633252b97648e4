import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { DueObligations } from "../../src/features/obligations/DueObligations.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dayMs, hourMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { casinoUnder, dataOf, type Fields, fresh, staff } from "../kit/Casino.ts"
import { raisedAlert } from "../kit/commands/Scene.ts"

// Goal: 2.4: jobs and checks outside a player's actor keep to the stricter rules of the jurisdiction left, too, until what is looser may count. Method:
// players are moved to `none`; the jobs are run by hand.

const judge = Effect.flatMap(Compliance, ({ run }) => Effect.repeat(run, { while: ({ hasMore }) => hasMore }))

const typesOf = (player: number) =>
  Effect.map(
    Effect.andThen(judge, staff("GET", `/cases?player=${player}`)),
    (cases) => cases.map(({ type }: { readonly type: string }) => type)
  )

const move = Effect.fnUntraced(function*(player: number, to = "none") {
  const { jurisdiction } = yield* staff("POST", `/players/${player}/jurisdiction`, { to, reason: "moved house" })
  assert.deepInclude(jurisdiction, { code: to })
})

/** A casino under these rules and under `none`. */
const casinoOf = Effect.fnUntraced(function*(rules: Fields) {
  const casino = yield* casinoUnder(rules)
  yield* staff("PATCH", `/operators/${casino.slug}`, { profiles: [casino.profile, "none"] })
  return casino
})

layer(layerCasinos, { excludeTestServices: true })("2.4 a player who was moved", (it) => {
  it.effect("is the subject of a vulnerability case by the threshold of the jurisdiction left, until its rules no longer apply", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* casinoOf({ vulnerability: { net_deposits: 15_000, window: "P30D", repeat: "P1Y" } })
      const [early, late] = [yield* casino.register(), yield* casino.register()]
      yield* move(early.id)
      yield* move(late.id)
      dataOf(yield* casino.deposit(early.id, 16_000), 201)
      assert.deepStrictEqual(yield* typesOf(early.id), ["vulnerability"])
      yield* pass(2 * dayMs)
      dataOf(yield* casino.deposit(late.id, 16_000), 201)
      assert.deepStrictEqual(yield* typesOf(late.id), [])
    })))

  it.effect("is the subject of a contact case by the amount of the jurisdiction left", () =>
    Effect.gen(function*() {
      const casino = yield* casinoOf({ limits: { contact_above: { max_monthly_deposit: 1000 } } })
      const { id } = yield* casino.register()
      yield* judge
      yield* move(id)
      dataOf(yield* casino.put(`/players/${id}/limits`, { limits: { max_monthly_deposit: 1001 } }))
      assert.deepStrictEqual(yield* typesOf(id), ["contact"])
    }))

  it.effect("is the subject of a case for a critical alert, as in the jurisdiction left", () =>
    Effect.gen(function*() {
      const { player } = yield* raisedAlert(yield* casinoOf({ minimum_age: 20 }))
      yield* move(player)
      assert.deepStrictEqual(yield* typesOf(player), ["aml"])
    }))

  it.effect("is asked about by the nightly refresh of the register of the jurisdiction left", () =>
    Effect.gen(function*() {
      const fake = yield* makeFakeRegister({ kind: "generic" })
      const on = { registration: { max_age: "PT0S", unavailable: "refuse" } }
      const casino = yield* casinoOf({ registers: [{ kind: "generic", on }] })
      yield* staff("POST", "/registers", { operator: casino.slug, kind: "generic", settings: fake.settings })
      const { id } = yield* casino.register()
      yield* move(id)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE players SET registers = jsonb_set(registers, '{0,at}', '0') WHERE operator_id = ${casino.id}`
      const refreshed = yield* staff("POST", "/registers/refresh", { kind: "generic", operator: casino.slug })
      assert.deepInclude(refreshed, { asked: 1 })
      const [check] = dataOf(yield* casino.get(`/players/${id}/register-checks`))
      assert.deepInclude(check, { event: "refresh", verdict: "clear", profile: "none" })
    }))

  it.effect("and whom the register of the jurisdiction left excludes is asked about at each sign-in, and admitted once it clears the player", () =>
    whileTimePasses(Effect.gen(function*() {
      const fake = yield* makeFakeRegister({ kind: "generic" })
      const on = { login: { max_age: "PT0S", unavailable: "refuse" } }
      const casino = yield* casinoOf({ registers: [{ kind: "generic", on }] })
      yield* staff("POST", "/registers", { operator: casino.slug, kind: "generic", settings: fake.settings })
      const person = { first_name: "Ada", last_name: fresh("Lovelace"), birth_date: "1980-01-01" }
      const { id } = yield* casino.register(person)
      const signIn = casino.post(`/players/${id}/session-tokens`)
      fake.know([{ ...person, verdict: "excluded" }])
      const excluded = { code: "PLAYER_RESTRICTED", details: { reason: "register_excluded" } }
      assert.deepInclude(yield* signIn, excluded)
      yield* move(id)
      yield* pass(2 * dayMs)
      assert.deepInclude(yield* signIn, excluded)
      fake.setMode("down")
      assert.deepInclude(yield* signIn, excluded)
      fake.setMode("ok")
      fake.know([{ ...person, verdict: "clear" }])
      assert.deepInclude(yield* casino.deposit(id, 100), excluded)
      dataOf(yield* signIn, 201)
      dataOf(yield* casino.deposit(id, 100), 201)
    })))

  it.effect("owes, found by a job, what falls due under the jurisdiction left, until its rules no longer apply", () =>
    whileTimePasses(Effect.gen(function*() {
      const { run } = yield* DueObligations
      const casino = yield* casinoOf({ reviews: { funds_notice: "P30D" } })
      const [early, late] = [yield* casino.register(), yield* casino.register()]
      yield* move(early.id)
      yield* pass(29 * dayMs + 12 * hourMs)
      yield* move(late.id)
      yield* pass(12 * hourMs)
      yield* run
      const sql = yield* SqlClient.SqlClient
      const owed = yield* sql`SELECT player_id::float8 AS id, kind FROM obligations WHERE operator_id = ${casino.id}`
      assert.deepStrictEqual(owed.map((row) => ({ ...row })), [{ id: late.id, kind: "funds_notice" }])
    })))

  it.effect("cannot change the birth date to one below the minimum age of the jurisdiction left", () =>
    Effect.gen(function*() {
      const casino = yield* casinoOf({ minimum_age: 21 })
      const { id } = yield* casino.register()
      yield* move(id)
      const { details } = yield* casino.patch(`/players/${id}`, {
        birth_date: `${new Date().getUTCFullYear() - 20}-01-01`
      })
      assert.deepStrictEqual(details, { birth_date: ["must be at least 21 years ago"] })
    }))
})
