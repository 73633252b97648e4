import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister, type Mode } from "../../scripts/registers/FakeRegister.ts"
import type { Rules } from "../../src/domain/jurisdiction/Rules.ts"
import { type RegisterKind, registerKinds } from "../../src/domain/register/Register.ts"
import { RegisterRefresh } from "../../src/features/registers/RegisterRefresh.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import { pass } from "../kit/Calendar.ts"
import { browserCall } from "../kit/HttpCalls.ts"
import { casinoUnder, dataOf, fresh, outcomeOf, registration, staff, staffCall } from "../kit/Casino.ts"

// Goal: nobody is let in whom a register excludes, or about whom it did not properly answer where the rules want an answer. Method: each register's fake over
// its own wire, with mutual TLS where it has that; what is asked is counted at the fake.

type Use = Rules["registers"][number]["on"]

const always = { max_age: "PT0S", unavailable: "refuse" } as const

const everywhere: Use = { registration: always, login: always, play: always, deposit: always }

const numbers: { readonly [kind in RegisterKind]: string | undefined } = {
  gamstop: undefined,
  spelpaus: "19800101-9879",
  rofus: "010180-1234",
  cruks: "123456782",
  oasis: undefined,
  generic: undefined
}

/** A casino under rules that have a register asked, connected to its fake. */
const casinoWith = Effect.fnUntraced(
  function*(kind: RegisterKind, on: Use = everywhere, more: { readonly last_good_max_age?: string } = {}) {
    const fake = yield* makeFakeRegister({ kind })
    const casino = yield* casinoUnder({ registers: [{ kind, on, last_good_max_age: null, ...more }] })
    const register = yield* staff("POST", "/registers", { operator: casino.slug, kind, settings: fake.settings })
    const personal_id = numbers[kind]
    const person = (lastName: string) => ({
      ...registration(fresh("p-")),
      last_name: lastName,
      birth_date: "1980-01-01",
      zip_code: "SW1A 1AA",
      ...(personal_id === undefined ? {} : { personal_id })
    })
    /** Everybody of the name. */
    const say = (lastName: string, verdict: "excluded" | "clear" | "previous") =>
      fake.know([{
        ...(personal_id === undefined ? {} : { personal_id }),
        first_name: "Ada",
        last_name: lastName,
        birth_date: "1980-01-01",
        verdict
      }])
    const checks = (id: number) => Effect.map(casino.get(`/players/${id}/register-checks`), (reply) => dataOf(reply))
    return { ...casino, fake, register, person, say, checks }
  }
)

layer(layerCasinos, { excludeTestServices: true, timeout: 60_000 })("national registers", (it) => {
  for (const kind of registerKinds) {
    it.effect(`5.2, 5.5: ${kind}: the answer excluded stops registration, sign-in, launch, deposit and bet until the answer is clear again`, () =>
      Effect.gen(function*() {
        const casino = yield* casinoWith(kind)
        const name = fresh("Lovelace")
        const { id, register } = dataOf(yield* casino.post("/players", casino.person(name)), 201)
        assert.deepInclude(register, { kind, verdict: "clear" })
        // before the next check, whichever node's ids they have
        yield* pass(1)
        const tokens = casino.post(`/players/${id}/session-tokens`)
        const launch = casino.post(`/players/${id}/games/${casino.slots.id}/launch`, {})
        const { token } = dataOf(yield* tokens, 201)
        dataOf(yield* casino.deposit(id, 500), 201)
        const session = dataOf(yield* launch).session_token
        assert.deepStrictEqual(
          (yield* casino.checks(id)).map(({ event, verdict }: { event: string; verdict: string }) => [event, verdict]),
          [["play", "clear"], ["deposit", "clear"], ["login", "clear"], ["registration", "clear"]]
        )

        casino.say(name, "excluded")
        const excluded = { status: 422, code: "PLAYER_RESTRICTED", details: { reason: "register_excluded" } }
        assert.deepInclude(yield* tokens, excluded)
        assert.deepInclude(yield* casino.deposit(id, 500), excluded)
        assert.deepInclude(yield* launch, excluded)
        assert.strictEqual((yield* browserCall(token, "/me")).code, "INVALID_PLAYER_TOKEN")
        const bet = casino.playOf(session, "").bet(10)
        assert.deepInclude((yield* bet).details, excluded.details)
        const asked = casino.fake.asked.length
        dataOf(yield* casino.withdraw(id, 100), 201)
        assert.strictEqual(casino.fake.asked.length, asked)
        assert.deepInclude(dataOf(yield* casino.get(`/players/${id}`)).register, { kind, verdict: "excluded" })

        const again = yield* casino.post("/players", { ...casino.person(name), username: fresh("again-") })
        assert.deepInclude(again, { status: 422, code: "SELF_EXCLUDED_IDENTITY", details: { source: "register" } })

        casino.say(name, "clear")
        dataOf(yield* tokens, 201)
        dataOf(yield* casino.deposit(id, 500), 201)
        dataOf(yield* casino.playOf(dataOf(yield* launch).session_token, "").bet(10))
        dataOf(yield* casino.post("/players", { ...casino.person(name), username: fresh("again-") }), 201)
      }))
  }

  it.effect("5.3: a person whose register verdict is `previous` can register and sign in, and the player resource shows the verdict", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("gamstop")
      const name = fresh("Lovelace")
      casino.say(name, "previous")
      const { id, register } = dataOf(yield* casino.post("/players", casino.person(name)), 201)
      assert.deepInclude(register, { verdict: "previous" })
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
    }))

  it.effect("5.4: a registration without a valid register answer is refused and reserves no username; its idempotency key works later", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      const body = casino.person(fresh("Lovelace"))
      const headers = { "idempotency-key": fresh("key-") }
      const modes: ReadonlyArray<Mode> = ["down", "garbage", "half", "wrong_type", "wrong_request", "redirect", "huge"]
      for (const mode of modes) {
        casino.fake.setMode(mode)
        const refused = yield* casino.send("/players", { method: "POST", body, headers })
        assert.deepInclude(refused, { status: 503, code: "TRY_AGAIN" }, mode)
        assert.strictEqual(refused.details.reason, "register_unavailable", mode)
        // the breaker would answer for the next mode
        casino.fake.setMode("ok")
        yield* staff("POST", `/registers/${casino.register.id}/test`, { player: (yield* someone(casino)).id })
      }
      const registered = yield* casino.send("/players", { method: "POST", body, headers })
      const { id } = dataOf(registered, 201)
      const replayed = yield* casino.send("/players", { method: "POST", body, headers })
      assert.strictEqual(dataOf(replayed, 201).id, id)
      const checks = yield* staff(
        "GET",
        `/register-checks?operator=${casino.slug}&verdict=unavailable&event=registration`
      )
      assert.isTrue(checks.every(({ player_id: player }: { player_id: unknown }) => player === null))
      assert.strictEqual(checks.length, modes.length)
    }))

  it.effect("5.4: while the register is down, `last_good` admits a player by the last good answer, and `refuse` does not", () =>
    Effect.gen(function*() {
      const lenient = { max_age: "PT0S", unavailable: "last_good" } as const
      const casino = yield* casinoWith("spelpaus", { registration: always, login: lenient, deposit: always })
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      casino.fake.setMode("down")
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      const refused = yield* casino.deposit(id, 100)
      assert.deepInclude(refused, { status: 503, code: "TRY_AGAIN" })
      casino.fake.setMode("ok")
      dataOf(yield* casino.deposit(id, 100), 201)
    }))

  it.effect("5.4: a player who was admitted without a register answer is checked again every five minutes until there is one", () =>
    Effect.gen(function*() {
      const { again } = yield* RegisterRefresh
      const lenient = { max_age: "PT0S", unavailable: "last_good" } as const
      const casino = yield* casinoWith("spelpaus", { registration: always, login: lenient })
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      // at one instant the ids of two nodes would say which check is the later one
      yield* pass(1)
      casino.fake.setMode("down")
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      const asked = () => casino.fake.asked.length
      let before = asked()
      yield* again
      assert.strictEqual(asked(), before)
      yield* pass(5 * 60_000)
      yield* again
      assert.isAbove(asked(), before)
      // that one was not answered either
      before = asked()
      yield* again
      assert.strictEqual(asked(), before)
      casino.fake.setMode("ok")
      yield* pass(5 * 60_000)
      yield* again
      assert.deepInclude((yield* casino.checks(id))[0], { event: "refresh", verdict: "clear" })
      before = asked()
      yield* pass(5 * 60_000)
      yield* again
      assert.strictEqual(asked(), before)
    }))

  it.effect("5.4: a repeated deposit is still replayed while the register is down", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      const body = { amount: 500, external_reference: fresh("d-") }
      const first = dataOf(yield* casino.post(`/players/${id}/deposits`, body), 201)
      casino.fake.setMode("down")
      const asked = casino.fake.asked.length
      assert.strictEqual(dataOf(yield* casino.post(`/players/${id}/deposits`, body)).id, first.id)
      assert.strictEqual(casino.fake.asked.length, asked)
    }))

  it.effect("5.2: simultaneous checks of one player share one query, and while its answer is recent no check needs another query", () =>
    Effect.gen(function*() {
      const fresh24 = { max_age: "PT24H", unavailable: "refuse" } as const
      const casino = yield* casinoWith("spelpaus", { registration: always, login: always, deposit: fresh24 })
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      casino.fake.setMode("slow", 300)
      const before = casino.fake.asked.length
      const tokens = yield* Effect.forEach(
        Array.from({ length: 5 }),
        () => casino.post(`/players/${id}/session-tokens`),
        { concurrency: 5 }
      )
      assert.deepStrictEqual(tokens.map(outcomeOf), [201, 201, 201, 201, 201])
      assert.strictEqual(casino.fake.asked.length, before + 1)
      dataOf(yield* casino.deposit(id, 100), 201)
      assert.strictEqual(casino.fake.asked.length, before + 1)
    }))

  it.effect("5.2: a register that has failed five times in a row is not queried for a while", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("gamstop")
      casino.fake.setMode("down")
      for (let count = 0; count < 10 * nodesOfRun; count++) {
        assert.strictEqual((yield* casino.post("/players", casino.person(fresh("Lovelace")))).code, "TRY_AGAIN")
      }
      // each node has a breaker of its own
      assert.isAtMost(casino.fake.asked.length, 5 * nodesOfRun)
    }))

  it.effect("5.2, 12.5: a register that hangs delays a registration that needs its answer, but no bet", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("gamstop")
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      dataOf(yield* casino.deposit(id, 500), 201)
      const session = dataOf(yield* casino.launch(id)).session_token
      // longer than the test may last
      casino.fake.setMode("slow", 600_000)
      const waiting = yield* Effect.forkChild(casino.post("/players", casino.person(fresh("Lovelace"))))
      yield* Effect.sleep("10 millis").pipe(
        Effect.repeat({ until: () => casino.fake.asked.length === 4 })
      )
      assert.strictEqual((yield* casino.playOf(session, "").bet(10)).status, 200)
      assert.isUndefined(waiting.pollUnsafe())
      // the open questions break off
      casino.fake.setMode("down")
      assert.strictEqual((yield* Fiber.join(waiting)).code, "TRY_AGAIN")
    }))

  it.effect("5.7: of two simultaneous registrations under one username, the register check of the refused one is stored as well", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      casino.fake.setMode("slow", 300)
      const register = casino.post("/players", casino.person(fresh("Lovelace")))
      const both = yield* Effect.all([register, register], { concurrency: 2 })
      assert.sameMembers(both.map(outcomeOf), [201, "VALIDATION_FAILED"])
      const checks = yield* staff("GET", `/register-checks?operator=${casino.slug}`)
      assert.strictEqual(casino.fake.asked.length, 2)
      assert.strictEqual(checks.length, 2)
      assert.strictEqual(checks.filter(({ player_id: player }: { player_id: unknown }) => player === null).length, 1)
    }))

  it.effect("1.6, 5.2: a person who is excluded while the register is queried cannot register again", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      const name = fresh("Lovelace")
      const { id } = dataOf(yield* casino.post("/players", casino.person(name)), 201)
      // longer than the test may last
      casino.fake.setMode("slow", 600_000)
      const again = yield* Effect.forkChild(
        casino.post("/players", { ...casino.person(name), username: fresh("again-") })
      )
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => casino.fake.asked.length === 2 }))
      dataOf(yield* casino.post(`/players/${id}/self-exclusion`, { period: "6_months" }))
      // the open question breaks off, and is asked once more
      casino.fake.setMode("ok")
      assert.deepInclude(yield* Fiber.join(again), { status: 422, code: "SELF_EXCLUDED_IDENTITY" })
    }))

  it.effect("5.4: a failed query is repeated later if one request admitted its player without the answer, whichever request sent the query", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const lenient = { max_age: "PT0S", unavailable: "last_good" } as const
      const casino = yield* casinoWith("spelpaus", { registration: always, login: lenient, deposit: always })
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      // longer than the test may last
      casino.fake.setMode("slow", 600_000)
      const deposit = yield* Effect.forkChild(casino.deposit(id, 100))
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => casino.fake.asked.length === 2 }))
      const token = yield* Effect.forkChild(casino.post(`/players/${id}/session-tokens`))
      yield* Effect.sleep("300 millis")
      // the open question breaks off
      casino.fake.setMode("down")
      assert.strictEqual((yield* Fiber.join(deposit)).code, "TRY_AGAIN")
      dataOf(yield* Fiber.join(token), 201)
      const again = yield* sql`SELECT ask_again FROM register_checks WHERE player_id = ${id} ORDER BY id DESC LIMIT 1`
      assert.deepStrictEqual(again, [{ ask_again: true }])
    }))

  it.effect("5.2: after a change of name a clear answer no longer counts; an exclusion counts until the next answer", () =>
    Effect.gen(function*() {
      const daily = { max_age: "PT24H", unavailable: "refuse" } as const
      const casino = yield* casinoWith("gamstop", { registration: always, login: always, deposit: daily })
      const name = fresh("Lovelace")
      casino.say(name, "excluded")
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Byron"))), 201)
      const rename = (last_name: string) => casino.send(`/players/${id}`, { method: "PATCH", body: { last_name } })
      assert.isNull(dataOf(yield* rename(name)).register)
      assert.deepInclude(yield* casino.deposit(id, 100), { status: 422, code: "PLAYER_RESTRICTED" })
      // what excludes stays until the register says otherwise
      assert.deepInclude(dataOf(yield* rename(fresh("Byron"))).register, { verdict: "excluded" })
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
    }))

  it.effect("5.2: an answer about a name that is changed during the query admits nobody", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("gamstop")
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Byron"))), 201)
      // longer than the test may last
      casino.fake.setMode("slow", 600_000)
      const token = yield* Effect.forkChild(casino.post(`/players/${id}/session-tokens`))
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => casino.fake.asked.length === 2 }))
      dataOf(yield* casino.send(`/players/${id}`, { method: "PATCH", body: { last_name: fresh("Lovelace") } }))
      // the open question breaks off, and is asked once more about the former name
      casino.fake.setMode("ok")
      assert.strictEqual((yield* Fiber.join(token)).code, "TRY_AGAIN")
      yield* pass(1)
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
    }))

  it.effect("5.1: a register without an active connection counts as unavailable", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      yield* staff("PATCH", `/registers/${casino.register.id}`, { active: false })
      const body = casino.person(fresh("Lovelace"))
      assert.strictEqual((yield* casino.post("/players", body)).code, "TRY_AGAIN")
      yield* staff("PATCH", `/registers/${casino.register.id}`, { active: true })
      dataOf(yield* casino.post("/players", body), 201)
    }))

  it.effect("5.10: an invalid personal number is refused before the register is queried", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("spelpaus")
      for (const personal_id of ["19800101-9870", "19800102-9879", "1980", "none"]) {
        const refused = yield* casino.post("/players", { ...casino.person(fresh("L")), personal_id })
        assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["personal_id"]])
      }
      assert.strictEqual(casino.fake.asked.length, 0)
    }))

  it.effect("5.7: stored checks and connections contain no secret and no personal number", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoWith("spelpaus")
      const { id } = dataOf(yield* casino.post("/players", casino.person(fresh("Lovelace"))), 201)
      dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      const stored = JSON.stringify([
        yield* sql`SELECT * FROM register_checks WHERE operator_id = ${casino.id}`,
        yield* sql`SELECT * FROM register_connections WHERE operator_id = ${casino.id}`,
        yield* sql`SELECT * FROM audit_log WHERE operator_id = ${casino.id}`
      ])
      const apiKey = String(casino.fake.settings["api_key"])
      for (const secret of ["9879", apiKey]) assert.notInclude(stored, secret)
      const shown = yield* staff("GET", `/registers/${casino.register.id}`)
      assert.notInclude(JSON.stringify(shown), apiKey)
      assert.include(shown.secret_settings, "api_key")
      assert.deepInclude(shown.last_check, { verdict: "clear", fault: null })
    }))

  it.effect("5.9: settings that cannot be stored are refused by name", () =>
    Effect.gen(function*() {
      const casino = yield* casinoWith("oasis")
      const { ca, url } = casino.fake.settings
      const bad: ReadonlyArray<readonly [string, unknown]> = [
        ["ca", `\0${ca}`],
        ["url", `${url}/\0`],
        ["url", `${url}/\ud800`],
        ["excluded", ["GESPERRT", "\0"]]
      ]
      for (const [name, value] of bad) {
        const reply = yield* staffCall("PATCH", `/backoffice/v1/registers/${casino.register.id}`, {
          settings: { ...casino.fake.settings, [name]: value }
        })
        assert.deepStrictEqual([reply.code, Object.keys(reply.details)], ["VALIDATION_FAILED", [`settings.${name}`]])
      }
    }))

  it.effect("5.4: a player who was admitted without a register answer is checked again, even if an earlier check has a higher id", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { again } = yield* RegisterRefresh
      const lenient = { max_age: "PT0S", unavailable: "last_good" } as const
      const casino = yield* casinoWith("spelpaus", { registration: always, login: lenient })
      const name = fresh("Lovelace")
      const { id } = dataOf(yield* casino.post("/players", casino.person(name)), 201)
      yield* pass(1)
      casino.fake.setMode("down")
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
      // an earlier answer from a node whose ids are ahead
      yield* sql`INSERT INTO register_checks SELECT id + 1000000000000, operator_id, player_id, kind, event, verdict, asked_at - interval '1 minute',
        answered_at, request_id, response_id, status, fault, profile, profile_version, person_digest, ask_again
        FROM register_checks WHERE player_id = ${id} AND event = 'registration'`
      casino.fake.setMode("ok")
      casino.say(name, "excluded")
      yield* pass(5 * 60_000)
      yield* again
      assert.deepInclude(dataOf(yield* casino.get(`/players/${id}`)).register, { verdict: "excluded" })
      assert.strictEqual((yield* browserCall(token, "/me")).code, "INVALID_PLAYER_TOKEN")
      const asked = casino.fake.asked.length
      yield* again
      assert.strictEqual(casino.fake.asked.length, asked)
    }))

  it.effect("5.8: the refresh job queries the players whose answer is older than a day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoWith("generic")
      const name = fresh("Lovelace")
      const people = yield* Effect.forEach(Array.from({ length: 3 }), () =>
        Effect.map(casino.post("/players", casino.person(name)), (reply) => dataOf(reply, 201)))
      const refresh = staff("POST", "/registers/refresh", { kind: "generic", operator: casino.slug })
      assert.deepStrictEqual(yield* refresh, { asked: 0, excluded: 0, unavailable: 0, has_more: false })
      yield* sql`UPDATE players SET registers = jsonb_set(registers, '{0,at}', '0') WHERE operator_id = ${casino.id}`
      casino.say(name, "excluded")
      assert.deepStrictEqual(yield* refresh, { asked: 3, excluded: 3, unavailable: 0, has_more: false })
      assert.deepInclude(dataOf(yield* casino.get(`/players/${people[0]?.id}`)).register, { verdict: "excluded" })
    }))

  it.effect("5.8: a player about whom GAMSTOP cannot be queried does not fail the others of the batch", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* casinoWith("gamstop")
      const name = fresh("Lovelace")
      const people = yield* Effect.forEach(
        Array.from({ length: 3 }),
        () => Effect.map(casino.post("/players", casino.person(name)), (reply) => dataOf(reply, 201))
      )
      yield* sql`UPDATE players SET registers = jsonb_set(registers, '{0,at}', '0') WHERE operator_id = ${casino.id}`
      yield* sql`UPDATE players SET zip_code = NULL WHERE id = ${people[1]?.id}`
      casino.say(name, "excluded")
      yield* pass(1)
      const refresh = yield* staff("POST", "/registers/refresh", { kind: "gamstop", operator: casino.slug })
      assert.deepInclude(refresh, { asked: 3, excluded: 2, unavailable: 1 })
      const [batch, ...others] = casino.fake.asked.slice(3)
      assert.deepStrictEqual([batch?.path, others.length], ["/batch/v2", 0])
      const [check] = yield* casino.checks(people[1]?.id)
      assert.deepInclude(check, { verdict: "unavailable", fault: "missing or malformed for the register: zip_code" })
    }))
})

const someone = Effect.fnUntraced(function*(casino: Effect.Success<ReturnType<typeof casinoWith>>) {
  return dataOf(yield* casino.post("/players", casino.person(fresh("Other"))), 201)
})
