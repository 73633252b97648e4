import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import { BothServers, type Casino, dataOf, type Fields, fresh, made, casinoUnder, staffCall } from "../kit/Casino.ts"
import { type Reply, send } from "../kit/HttpCalls.ts"
import { concernOf } from "../../src/office/Authorisation.ts"
import { type Target, targetOf, withoutTarget } from "../../src/office/OperatorTargets.ts"
import { proposedImport } from "../kit/ProposedImport.ts"

// Goal: staff bound to an operator can read and change no data of another one, through any endpoint of the staff API. Method: two operators with
// one resource of each kind; every operation of the served document with each parameter that names a resource, as staff bound to one of them.
// Vacuous cases are detected: the same lists and resources are requested as unbound staff.

const api = "/backoffice/v1"

interface Parameter {
  readonly in: "path" | "query" | "body"
  readonly name: string
  readonly isRequired: boolean
}

interface Operation {
  readonly action: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
}

const array = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** Every operation of the document with its parameters, including the fields of its body. */
const operations = Effect.gen(function*() {
  const { backofficePort } = yield* BothServers
  const { json } = yield* send(backofficePort, "/openapi.json")
  const { components, paths } = Object(json)
  const resolve = (schema: unknown): Fields => {
    const ref: unknown = Object(schema).$ref
    return typeof ref === "string" ? Object(components.schemas[ref.split("/").at(-1) ?? ""]) : Object(schema)
  }
  return Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(([method, described]): Operation => {
      const { operationId, parameters, requestBody } = Object(described)
      const body = resolve(Object(requestBody).content?.["application/json"]?.schema)
      return {
        action: String(operationId),
        method: method.toUpperCase(),
        path,
        parameters: [
          ...array(parameters).map(Object).filter((one) => one.in !== "header").map((one) => ({
            in: one.in,
            name: String(one.name),
            isRequired: one.required === true
          })),
          ...Object.keys(Object(body["properties"])).map((name) => ({ in: "body" as const, name, isRequired: false }))
        ]
      }
    })
  )
})

/** Inserts resources that no endpoint creates, or only time does. */
const insertRest = Effect.fnUntraced(function*(casino: Casino, playerId: number, webhookId: number) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date()
  const id = Number(casino.id) * 10
  const alert = id + 1
  yield* sql`INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold,
      created_at, updated_at)
    VALUES (${alert}, ${casino.id}, ${playerId}, 'large_deposit', ${`test:${id}`}, 'low', 'open', '{}', 'none', ${now}, ${now})`
  const freeRounds = id + 2
  yield* sql`INSERT INTO free_rounds (id, operator_id, player_id, provider_id, game_id, reference, rounds, stake, currency, status,
      valid_until, created_by, created_at, updated_at)
    VALUES (${freeRounds}, ${casino.id}, ${playerId}, ${casino.studio.id}, ${casino.slots.id}, ${`free-${id}`}, 5, 10, 'EUR', 'issued',
      ${now}, 'test', ${now}, ${now})`
  yield* sql`INSERT INTO stale_rounds (player_id, game_id, round_id, operator_id, opened_at)
    SELECT r.player_id, r.game_id, r.round_id, ${casino.id}, now() - interval '90 days' FROM rounds r WHERE r.player_id = ${playerId}`
  yield* sql`INSERT INTO figure_funds (operator_id, currency, wallet, amount, players, at)
    VALUES (${casino.id}, 'EUR', 'real', 4850, 1, ${now})`
  const [delivery] = yield* sql<
    { readonly id: number }
  >`INSERT INTO webhook_deliveries (id, endpoint_id, event_id, operator_id, status,
      attempts, created_at, updated_at)
    SELECT ${
    id + 3
  }, ${webhookId}, e.id, ${casino.id}, 'failed', 8, ${now}, ${now} FROM events e WHERE e.operator_id = ${casino.id}
    ORDER BY e.id LIMIT 1 RETURNING id::float8 AS id`
  const obligation = id + 4
  yield* sql`UPDATE players SET dormant_since = now() WHERE id = ${playerId}`
  yield* sql`INSERT INTO obligations (id, operator_id, player_id, kind, gates, state, created_at)
    VALUES (${obligation}, ${casino.id}, ${playerId}, 'limit_prompt', '{deposit}', 'open', ${now})`
  return { alert, freeRounds, obligation, delivery: delivery?.id }
})

const furnished = Effect.gen(function*() {
  const casino = yield* casinoUnder({ retention: { payments: "P1Y" } }, { withdrawal_second_approval_above: 100 })
  const player = yield* casino.sit(5000)
  const round = fresh("round-")
  const { transaction_id: bet } = dataOf(yield* player.bet(100, { round_id: round }))
  assert.strictEqual((yield* player.bet(9000, { round_id: round })).code, "INSUFFICIENT_FUNDS")
  const payment = dataOf(yield* casino.withdraw(player.id, 50), 201)
  const bonus = yield* casino.newBonus()
  const granted = dataOf(yield* casino.grant(player.id, bonus.id), 201)
  const promo = yield* made("/promo-codes", { operator: casino.slug, code: fresh("CODE"), bonus: bonus.id })
  const webhook = yield* made("/webhooks", { operator: casino.slug, url: "https://hooks.example/", active: false })
  const correction = yield* staffCall("POST", `${api}/players/${player.id}/corrections`, {
    amount: 500,
    reason: "test"
  })
  assert.strictEqual(correction.status, 202)
  const methods = yield* staffCall("GET", `${api}/payment-methods?operator=${casino.slug}`)
  yield* staffCall("POST", `${api}/players/${player.id}/notes`, { text: "a note" })
  const register = yield* made("/registers", {
    operator: casino.slug,
    kind: "generic",
    settings: { url: "http://127.0.0.1:9/", api_key: "secret" }
  })
  const screening = yield* made("/screenings", {
    operator: casino.slug,
    url: "http://127.0.0.1:9/",
    api_key: "secret"
  })
  // of which nothing comes but a check
  yield* staffCall("POST", `${api}/registers/${register.id}/test`, { player: player.id })
  const opened = yield* made("/cases", { type: "aml", player: player.id })
  dataOf(yield* casino.post(`/players/${player.id}/data-requests`, { type: "access" }), 201)
  const { alert, delivery, freeRounds, obligation } = yield* insertRest(casino, player.id, webhook.id)
  const named = {
    operator: casino.slug,
    player: player.id,
    payment: payment.id,
    method: methods.data[0].id,
    alert,
    bonus: bonus.id,
    player_bonus: granted.id,
    promo: promo.id,
    free_rounds: freeRounds,
    correction: correction.data.id,
    run: (yield* proposedImport(casino)).id,
    obligation,
    case: opened.id,
    register: register.id,
    screening: screening.id,
    webhook: webhook.id,
    delivery,
    key: casino.key.key
  }
  const things = Object.fromEntries(Object.entries(named).map(([target, value]) => [target, String(value)]))
  return {
    casino,
    playerId: player.id,
    bonusId: bonus.id,
    round,
    bet: String(bet),
    thing: (target: Target): string => things[target] ?? assert.fail(target),
    /** Values that must not appear in answers to staff of another operator. */
    marks: new Set<unknown>([casino.id, ...Object.values(named), player.player.username, casino.key.id])
  }
})

type Furnished = Effect.Success<typeof furnished>

/** Message of a refusal. */
const wordsOf = ({ json }: { readonly json: unknown }): string => String(Object(Object(json).error).message)

/** All values in an answer. */
const valuesIn = (value: unknown): ReadonlyArray<unknown> =>
  value !== null && typeof value === "object" ? Object.values(value).flatMap(valuesIn) : [value]

const marksIn = (answer: unknown, { marks }: Furnished): ReadonlyArray<unknown> =>
  valuesIn(answer).filter((value) => marks.has(value))

/** Values of required parameters that name no operator's resource. */
const samples: { readonly [name: string]: string } = {
  rule: "large_deposit",
  date: "2026-01-01",
  from: "2026-01-01",
  to: "2026-01-02",
  node: "none",
  metric: "bets",
  step: "day",
  by: "provider",
  staff: "1",
  code: "se"
}

/** Actions with endless answers: only named resources are requested. */
const streams: ReadonlySet<string> = new Set(["figures.live"])

/** Sums over the operators that the actor is bound to. */
const sums: ReadonlySet<string> = new Set(["data.retention", "figures.overview"])

/** An id of no resource. */
const noThing = "999999999"

/** A call of an operation with a value for each required parameter; `named` sets the resources. */
const callOf = (
  { action, method, parameters, path }: Operation,
  things: Furnished,
  named: { readonly name?: string; readonly value?: string } = {}
) => {
  const valueOf = ({ name }: Parameter): string => {
    if (name === named.name) return named.value ?? ""
    const target = targetOf(action, name)
    if (target !== undefined) return things.thing(target)
    if (name === "q") return things.thing("player")
    if (name === "round") return things.round
    if (name === "transaction") return things.bet
    if (name === "provider") return things.casino.studio.slug
    return name === "game" ? String(things.casino.slots.id) : samples[name] ?? "1"
  }
  const filled = parameters.filter((one) => one.in === "path")
    .reduce((text, one) => text.replace(`{${one.name}}`, valueOf(one)), path)
  const query = parameters.filter((one) => one.in === "query" && (one.isRequired || one.name === named.name))
    .map((one) => `${one.name}=${valueOf(one)}`)
  const body = Object.fromEntries(
    parameters.filter((one) => one.in === "body" && targetOf(action, one.name) !== undefined && one.name !== "bonus")
      .map((one) => [one.name, one.name === "player" ? Number(valueOf(one)) : valueOf(one)])
  )
  return { method, path: `${filled}?${query.join("&")}`, body: method === "GET" ? undefined : body }
}

layer(layerCasinos, { excludeTestServices: true })("staff bound to operators", (it) => {
  it.effect("see and touch nothing of another operator, through any endpoint", () =>
    Effect.gen(function*() {
      const mine = yield* furnished
      const other = yield* furnished
      const { token } = yield* made("/staff", {
        name: "Bound",
        role: "admin",
        operators: [mine.casino.slug],
        daily_budget: null
      })
      const free = yield* made("/staff", { name: "Free", role: "admin", daily_budget: null })
      const ask = (call: ReturnType<typeof callOf>, as: string) =>
        staffCall(call.method, call.path, call.body, { authorization: `Bearer ${as}` })
      const problems: Array<string> = []
      const check = (isRight: boolean, problem: string) => {
        if (!isRight) problems.push(problem)
      }

      for (const operation of yield* operations) {
        const { action, method, parameters } = operation
        // for callers without a session
        if (action.startsWith("sign_in.")) continue
        const concern = concernOf(action)
        if (concern === "self") continue
        if (concern === "installation") {
          const answer = yield* ask(callOf(operation, mine), token)
          check(
            answer.code === "INSUFFICIENT_SCOPE" && answer.details["reason"] === "bound_to_operators",
            `${action}: is of the installation, but answers ${answer.status}`
          )
          continue
        }
        if (concern === "catalogue") {
          check(method === "GET", `${action}: changes what operators share`)
          check((yield* ask(callOf(operation, mine), token)).status === 200, `${action}: is not shown`)
          continue
        }
        const targets = parameters.filter((one) => targetOf(action, one.name) !== undefined)
        for (const { name, in: place } of parameters) {
          check(
            place === "body" || targetOf(action, name) !== undefined || withoutTarget.has(name),
            `${action}: the tables do not know what ${name} names`
          )
        }
        for (const { name, in: place } of targets) {
          // a bonus in a body is looked up among those of the operator in the body or the path: below
          if (place === "body" && name === "bonus") continue
          const target = targetOf(action, name) ?? assert.fail()
          const foreign = yield* ask(callOf(operation, mine, { name, value: other.thing(target) }), token)
          const missing = yield* ask(
            callOf(operation, mine, { name, value: target === "operator" ? "nobody" : noThing }),
            token
          )
          check(
            foreign.status === 404 && foreign.code === "NOT_FOUND",
            `${action}: the ${name} of another operator answers ${foreign.status} ${foreign.code}`
          )
          check(
            wordsOf(foreign) === wordsOf(missing) && foreign.code === missing.code,
            `${action}: "${wordsOf(foreign)}" for a ${name} of another operator, "${wordsOf(missing)}" for none`
          )
        }
        if (method !== "GET" || streams.has(action)) continue
        if (concern === "one_operator") {
          check(
            (yield* ask(callOf(operation, mine), token)).code === "INSUFFICIENT_SCOPE",
            `${action}: shows all operators to bound staff`
          )
          continue
        }
        if (sums.has(action)) {
          const [ofMine, ofBound, ofAll] = yield* Effect.all([
            ask(callOf(operation, mine, { name: "operator", value: mine.casino.slug }), free.token),
            ask(callOf(operation, mine), token),
            ask(callOf(operation, mine), free.token)
          ], { concurrency: 1 })
          const textOf = (answer: Reply) => JSON.stringify({ ...answer.data, at: null })
          check(textOf(ofBound) === textOf(ofMine), `${action}: is not of the operator alone`)
          check(textOf(ofBound) !== textOf(ofAll), `${action}: proves nothing, the other operator adds nothing`)
          continue
        }
        const foreign = yield* ask(callOf(operation, other), token)
        if (targets.length === 0) {
          check(
            marksIn(foreign.data, other).length === 0,
            `${action}: finds ${String(marksIn(foreign.data, other))} of another operator`
          )
          if (operation.path.includes("{")) check(foreign.status === 404, `${action}: finds another operator's`)
        }
        const own = yield* ask(callOf(operation, mine), token)
        check(own.status === 200, `${action}: own things answer ${own.status} ${own.code}`)
        check(
          marksIn(own.data, other).length === 0,
          `${action}: shows ${String(marksIn(own.data, other))} of another operator`
        )
        const all = yield* ask(callOf(operation, other), free.token)
        check(all.status === 200, `${action}: proves nothing, ${all.status} ${all.code}`)
        const isList = !operation.path.includes("{") &&
          !parameters.some((one) => one.isRequired && targetOf(action, one.name) !== undefined)
        check(!isList || marksIn(all.data, other).length > 0, `${action}: proves nothing, no row is the other's`)
        check(!isList || marksIn(own.data, mine).length > 0, `${action}: hides the operator's own rows`)
      }
      assert.deepStrictEqual(problems, [])
    }), 240_000)

  it.effect("work on their own operators, also by the command line, and cannot give their players another operator's bonus", () =>
    Effect.gen(function*() {
      const mine = yield* furnished
      const second = yield* furnished
      const other = yield* furnished
      const { token } = yield* made("/staff", {
        name: "Two",
        role: "admin",
        operators: [mine.casino.slug, second.casino.slug],
        daily_budget: null
      })
      const call = (method: string, path: string, body?: Fields) =>
        staffCall(method, `${api}${path}`, body, { authorization: `Bearer ${token}` })
      for (const { casino, playerId } of [mine, second]) {
        assert.strictEqual((yield* call("POST", "/keys", { operator: casino.slug })).status, 201)
        assert.strictEqual((yield* call("PATCH", `/operators/${casino.id}`, { name: "Renamed" })).status, 200)
        assert.strictEqual((yield* call("POST", `/players/${playerId}/notes`, { text: "seen" })).status, 201)
      }
      // metrics of all operators are refused to them; a forwarded request does not count as a local one
      const { backofficePort } = yield* BothServers
      for (const [path, status] of [["/metrics", 403], ["/metrics?x", 403], ["/openapi.json", 200]] as const) {
        const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "192.0.2.1" }
        assert.strictEqual((yield* send(backofficePort, path, { headers })).status, status, path)
      }
      const listed = yield* call("GET", "/operators")
      const operators: ReadonlyArray<Fields> = listed.data
      assert.sameMembers(operators.map(({ slug }) => slug), [mine.casino.slug, second.casino.slug])
      const players = yield* call("GET", "/players")
      assert.sameMembers(array(players.data).map((player) => Object(player).id), [mine.playerId, second.playerId])
      assert.isNull(players.meta.next_cursor)

      const given = yield* call("POST", `/players/${mine.playerId}/bonuses`, { bonus: other.bonusId })
      const missing = yield* call("POST", `/players/${mine.playerId}/bonuses`, { bonus: 999_999_999 })
      assert.deepStrictEqual([given.status, given.code, wordsOf(given)], [
        missing.status,
        missing.code,
        wordsOf(missing)
      ])
      assert.isAtLeast(given.status, 400)
      const promo = yield* call("POST", "/promo-codes", {
        operator: mine.casino.slug,
        code: "MINE",
        bonus: other.bonusId
      })
      assert.isAtLeast(promo.status, 400)
      // given twice, or in its other form, it is still the other operator's
      const twice = yield* call("GET", `/players?operator=${mine.casino.slug}&operator=${other.casino.slug}`)
      assert.strictEqual(twice.code, "NOT_FOUND")
      assert.strictEqual((yield* call("GET", `/players?operator=${other.casino.id}`)).code, "NOT_FOUND")
      assert.strictEqual((yield* call("POST", `/keys/${other.casino.key.id}/revoke`)).code, "NOT_FOUND")

      // an unbound account would bypass the bounds
      const free = yield* made("/staff", { name: "Unbound" })
      assert.strictEqual((yield* call("POST", "/staff/tickets", { staff: free.id })).code, "INSUFFICIENT_SCOPE")

      const shown = yield* runHere(["player", "show", String(mine.playerId)], { token })
      assert.strictEqual(shown.exitCode, 0, shown.stderr)
      const refused = yield* runHere(["player", "show", String(other.playerId)], { token })
      assert.notStrictEqual(refused.exitCode, 0)
      assert.include(refused.stderr, "There is no such player.")
    }))
})
