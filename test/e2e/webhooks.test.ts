import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { eventTypes } from "../../src/domain/state/Events.ts"
import { DormantAccounts } from "../../src/features/position/DormantAccounts.ts"
import { DueAccountChanges } from "../../src/features/players/DueAccountChanges.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { layerWebhooks } from "../../src/service.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { command, layerBothServers, runCommand } from "../kit/Backoffice.ts"
import { BothServers, made, registration, staffCall } from "../kit/Casino.ts"
import { operatorWith, type Reply } from "../kit/HttpCalls.ts"
import { ServiceSql } from "../kit/TestService.ts"
import { expectedSignature, makeSink, type Received } from "../kit/WebhookSink.ts"

// Goal: an operator receives every event of the account, of any origin, in full. Method: the service over HTTP and the command
// line, a sink of the test's own, the real clock; each event is compared with the API's answer about the same resource.

const live = layerWebhooks.pipe(Layer.provideMerge(layerBothServers))

/** Data of a successful answer. */
const dataIn = ({ data, status, text }: Reply) => {
  assert.isBelow(status, 300, text)
  return data
}

/** An operator with a key and a webhook, at a sink. */
const addAccount = Effect.fnUntraced(function*(slug: string) {
  yield* made("/operators", { slug, name: slug, currency: "EUR" })
  const key = yield* made("/keys", { operator: slug, rate_limit_per_minute: 10_000 })
  const sink = yield* makeSink()
  const webhook = yield* made("/webhooks", { operator: slug, url: sink.url })
  yield* Effect.addFinalizer(() => staffCall("PATCH", `/backoffice/v1/webhooks/${webhook.id}`, { active: false }))
  const { flush } = yield* WebhookSender
  const { get, post, put } = operatorWith(key)
  const call = (path: string, body?: unknown) => Effect.map(body === undefined ? get(path) : post(path, body), dataIn)
  /** Number of events read so far; `told` returns the later ones in order. */
  let seen = 0
  const told = Effect.map(flush, () => {
    const fresh = sink.received.slice(seen).map((received) => {
      assert.strictEqual(received.headers["x-service-signature"], expectedSignature(webhook.secret, received))
      return JSON.parse(received.body)
    })
    seen = sink.received.length
    return fresh.sort((a, b) => Number(a.id) - Number(b.id)).map(({ data, type }) => ({ type, data }))
  })
  return { key, post, put, sink, webhook, call, told }
})

const headersOf = ({ headers }: Received, name: string) => String(headers[name])

layer(live, { excludeTestServices: true })("webhooks", (it) => {
  it.effect("deliver every event type in full, whatever its origin", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { call, key, post, put, sink, told } = yield* addAccount("told")
      yield* made("/payment-methods", { operator: "told", code: "bank", currencies: ["EUR"] })
      const bonus = yield* made("/bonuses", {
        operator: "told",
        name: "Welcome",
        type: "no_deposit",
        default_amount: 1000,
        wagering_multiplier: 5,
        max_grants_per_player: 0
      })
      const expected: Array<string> = []

      const player = yield* call("/players", { ...registration("ada"), external_id: "x-1", personal_id: "P 1" })
      const short = { id: player.id, external_id: "x-1", username: "ada" }
      assert.deepStrictEqual(yield* told, [{ type: "player.registered", data: { player } }])
      const [first] = sink.received
      assert(first !== undefined)
      const body = JSON.parse(first.body)
      assert.deepInclude(body, { type: "player.registered", api_version: "v1" })
      assert.isString(body.id)
      assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual(headersOf(first, "x-service-event"), body.type)
      assert.strictEqual(headersOf(first, "x-service-event-id"), body.id)
      assert.match(headersOf(first, "x-service-delivery"), /^\d+$/)
      assert.isAtMost(
        Math.abs(Number(headersOf(first, "x-service-timestamp")) - Date.parse(body.created_at) / 1000),
        300
      )
      expected.push("player.registered")

      const deposit = yield* call(`/players/${player.id}/deposits`, { amount: 50_000, external_reference: "d1" })
      assert.deepStrictEqual(yield* told, [{ type: "deposit.paid", data: { payment: deposit, player: short } }])
      // a repeated deposit has no second event, and a refused one has none
      yield* call(`/players/${player.id}/deposits`, { amount: 50_000, external_reference: "d1" })
      const clash = { amount: 1, external_reference: "d1" }
      assert.strictEqual((yield* post(`/players/${player.id}/deposits`, clash)).status, 409)
      assert.strictEqual((yield* post("/players", registration("ada"))).status, 422)
      assert.deepStrictEqual(yield* told, [])
      expected.push("deposit.paid")

      const withdraw = (reference: string) =>
        call(`/players/${player.id}/withdrawals`, {
          amount: 700,
          payment_method: "bank",
          external_reference: reference
        })
      const payment = (id: number) => Effect.map(call(`/payments/${id}`), (data) => ({ payment: data, player: short }))
      const paid = yield* withdraw("w1")
      assert.deepStrictEqual(yield* told, [{ type: "withdrawal.requested", data: { payment: paid, player: short } }])
      yield* command("payment", "approve", String(paid.id))
      assert.deepStrictEqual(yield* told, [])
      yield* command("payment", "pay", String(paid.id))
      assert.deepStrictEqual(yield* told, [{ type: "withdrawal.paid", data: yield* payment(paid.id) }])
      const rejected = yield* withdraw("w2")
      yield* command("payment", "reject", String(rejected.id), "--reason", "papers are missing")
      const [requested, refusal] = yield* told
      assert.strictEqual(requested?.type, "withdrawal.requested")
      assert.deepStrictEqual(refusal, { type: "withdrawal.rejected", data: yield* payment(rejected.id) })
      assert.strictEqual(refusal?.data.payment.reject_reason, "papers are missing")
      expected.push("withdrawal.requested", "withdrawal.paid", "withdrawal.rejected")
      const cancelled = yield* withdraw("w3")
      yield* command("payment", "cancel", String(cancelled.id))
      assert.deepStrictEqual((yield* told).map(({ type }) => type), ["withdrawal.requested"])

      const bonuses = call(`/players/${player.id}/bonuses`)
      yield* call(`/players/${player.id}/bonuses`, { bonus_id: bonus.id })
      const [granted] = yield* bonuses
      assert.deepStrictEqual(yield* told, [{ type: "bonus.granted", data: { bonus: granted, player: short } }])
      yield* command("bonus", "cancel", String(granted.id), "--reason", "by mistake")
      const [ended] = yield* bonuses
      assert.deepInclude(ended, { id: granted.id, state: "finished", result: "cancelled" })
      assert.deepStrictEqual(yield* told, [{ type: "bonus.completed", data: { bonus: ended, player: short } }])
      expected.push("bonus.granted", "bonus.completed")
      // a bonus that expires: noticed by the next command of the player
      yield* call(`/players/${player.id}/bonuses`, { bonus_id: bonus.id })
      yield* told
      yield* sql`UPDATE player_bonuses SET expires_at = now() - interval '1 second' WHERE player_id = ${player.id}
        AND state = 'activated'`
      // an actor reloads when another writer has raised the version
      yield* sql`UPDATE accounts SET version = version + 1 WHERE player_id = ${player.id}`
      yield* command("player", "correct", String(player.id), "--amount", "1", "--reason", "look again")
      const [expired] = yield* bonuses
      assert.deepInclude(expired, { state: "finished", result: "expired" })
      assert.deepStrictEqual(yield* told, [{ type: "bonus.completed", data: { bonus: expired, player: short } }])

      yield* command("player", "kyc", String(player.id), "--status", "pending_review")
      yield* command("player", "kyc", String(player.id), "--status", "verified")
      const change = (previous: string, status: string) => ({
        type: "kyc.status_changed",
        data: { player: short, previous_status: previous, status, is_verified: status === "verified" }
      })
      assert.deepStrictEqual(yield* told, [
        change("not_started", "pending_review"),
        change("pending_review", "verified")
      ])
      assert.strictEqual((yield* runCommand(["player", "kyc", String(player.id), "--status", "rejected"])).exitCode, 1)
      assert.deepStrictEqual(yield* told, [])
      expected.push("kyc.status_changed")

      // events outside a player's own commit: in the transaction that raises an alert
      const outbox = yield* Outbox
      const eventId = yield* (yield* Ids).reserve(1)
      const at = Date.parse(player.created_at)
      const alert = { id: 7, rule: "structuring", severity: "high", status: "open", created_at: player.created_at }
      const event = {
        id: eventId,
        operatorId: key.operator_id,
        playerId: player.id,
        type: "compliance.alert_created",
        data: { alert },
        createdAt: at
      } as const
      const service = yield* ServiceSql
      yield* Effect.ignore(
        service.withTransaction(Effect.andThen(outbox.insert([event]), Effect.fail("no alert after all")))
      )
      assert.deepStrictEqual(yield* told, [])
      yield* outbox.insert([event])
      assert.deepStrictEqual(yield* told, [{ type: event.type, data: { alert, player: short } }])
      expected.push("compliance.alert_created")

      yield* made("/cases", { type: "aml", player: player.id })
      const opened = yield* made("/cases", { type: "contact", player: player.id, note: "rings on Monday" })
      const about = { case: { id: opened.id, type: "contact", status: "open" }, player: short }
      assert.deepStrictEqual(yield* told, [{ type: "compliance.case_opened", data: about }])
      for (const status of ["in_progress", "decided", "closed"]) {
        yield* command(
          "case",
          "update",
          String(opened.id),
          "--status",
          status,
          ...(status === "decided" ? ["--decision", "monitor"] : [])
        )
      }
      const closed = { case: { ...about.case, status: "closed" }, player: short }
      assert.deepStrictEqual(yield* told, [{ type: "compliance.case_closed", data: closed }])
      expected.push("compliance.case_opened", "compliance.case_closed")

      const request = yield* call(`/players/${player.id}/data-requests`, { type: "access" })
      assert.deepStrictEqual((yield* told).map(({ type }) => type), ["compliance.case_opened"])
      yield* call(`/players/${player.id}/data-requests/${request.id}/document`)
      const completed = { data_request: { id: request.id, type: "access", status: "completed" }, player: short }
      const [done, closing] = yield* told
      assert.deepStrictEqual([done, closing?.type], [
        { type: "data_request.completed", data: completed },
        "compliance.case_closed"
      ])
      expected.push("data_request.completed")

      const jurisdiction = "x-told"
      yield* made("/profiles", {
        code: "x-played",
        name: "Played",
        reality_check: { default: "PT0S", min: "PT0S", max: "PT1H" },
        dormant: { after: "PT12H" }
      })
      const limits = { required: [["max_balance"]], raise: { confirm: true } }
      yield* made("/profiles", { code: jurisdiction, name: "Told", limits })
      yield* staffCall("PATCH", "/backoffice/v1/operators/told", {
        profiles: ["none", jurisdiction, "x-played"],
        cooling_off_hours: 0
      })
      const other = yield* call("/players", { ...registration("bea"), jurisdiction })
      yield* told
      const ofOther = { id: other.id, external_id: null, username: "bea" }
      const [open] = yield* call(`/players/${other.id}/obligations`)
      const obligation = { id: open.id, kind: "required_limits", gates: ["play"], state: "open" }
      assert.deepStrictEqual(yield* told, [{ type: "obligation.created", data: { obligation, player: ofOther } }])
      yield* put(`/players/${other.id}/limits`, { limits: { max_balance: 5000 } })
      const met = { ...obligation, state: "met" }
      assert.deepStrictEqual(yield* told, [{ type: "obligation.met", data: { obligation: met, player: ofOther } }])
      expected.push("obligation.created", "obligation.met")

      const fake = yield* makeFakeRegister({ kind: "generic" })
      const { id: register } = yield* made("/registers", { operator: "told", kind: "generic", settings: fake.settings })
      const said = Effect.fnUntraced(function*(verdict: "excluded" | "clear") {
        fake.know([{ first_name: other.first_name, last_name: other.last_name, birth_date: other.birth_date, verdict }])
        const check = yield* staffCall("POST", `/backoffice/v1/registers/${register}/test`, { player: other.id })
        return { register: { kind: "generic", verdict, checked_at: check.data.answered_at }, player: ofOther }
      })
      const byRegister = yield* said("excluded")
      assert.deepStrictEqual(yield* told, [{ type: "player.register_excluded", data: byRegister }])
      const cleared = yield* said("clear")
      assert.deepStrictEqual(yield* told, [{ type: "player.register_cleared", data: cleared }])
      expected.push("player.register_excluded", "player.register_cleared")
      const { data: compliance } = yield* staffCall("GET", `/backoffice/v1/players/${other.id}/compliance`)
      assert.deepStrictEqual(compliance.registers, [cleared.register])

      const raised = yield* put(`/players/${other.id}/limits`, { limits: { max_balance: 6000 } })
      const { confirm_from, confirm_until, field } = raised.data.pending_changes[0]
      yield* (yield* DueAccountChanges).run
      const confirmable = { field, confirm_from, confirm_until, player: ofOther }
      assert.deepStrictEqual(yield* told, [{ type: "limit.raise_confirmable", data: confirmable }])
      expected.push("limit.raise_confirmable")

      const { self_exclusion } = yield* call(`/players/${other.id}/self-exclusion`, { period: "7_days" })
      const excluded = { self_exclusion, player: ofOther }
      assert.deepStrictEqual(yield* told, [{ type: "player.self_excluded", data: excluded }])
      expected.push("player.self_excluded")

      const played = yield* call("/players", { ...registration("cleo"), jurisdiction: "x-played" })
      yield* told
      const ofPlayed = { id: played.id, external_id: null, username: "cleo" }
      const studio = yield* made("/providers", {
        slug: "told-studio",
        name: "Studio",
        launch_url: "https://play.example/?t={token}&g={game}&m={mode}"
      })
      const slots = yield* made("/games", { provider: studio.slug, external_id: "slots", name: "Slots" })
      yield* call(`/players/${played.id}/games/${slots.id}/launch`, {})
      const [check] = yield* call(`/players/${played.id}/obligations`)
      const twice = yield* told
      const asked = { id: check.id, kind: "reality_check", gates: ["play"], state: "open" }
      assert.deepStrictEqual(twice[0], { type: "obligation.created", data: { obligation: asked, player: ofPlayed } })
      assert.strictEqual(twice[1]?.type, "reality_check.due")
      assert.deepInclude(twice[1]?.data, { player: ofPlayed })
      assert.deepInclude(twice[1]?.data.session, { since: check.due_at, staked: 0, won: 0, net: 0 })
      expected.push("reality_check.due")

      yield* sql`UPDATE players SET created_at = created_at - interval '1 day' WHERE id = ${played.id}`
      yield* (yield* DormantAccounts).run
      const { dormant_since } = yield* call(`/players/${played.id}`)
      assert.deepStrictEqual(yield* told, [{ type: "player.dormant", data: { dormant_since, player: ofPlayed } }])
      expected.push("player.dormant")

      assert.sameMembers(expected, [...eventTypes])
      // none of it is in the logs
      const { logged } = yield* BothServers
      assert.notInclude(logged.join("\n"), "ada@example.com")
      assert.notInclude(logged.join("\n"), "whsec_")
    }), 300_000)

  it.effect("refuse invalid URLs, unknown event types and a twenty-first endpoint", () =>
    Effect.gen(function*() {
      yield* made("/operators", { slug: "refused", name: "Refused", currency: "EUR" })
      const create = (url: string, more: object = {}) =>
        staffCall("POST", "/backoffice/v1/webhooks", { operator: "refused", url, ...more })
      for (
        const url of ["https://user:pass@hooks.example.com/", "ftp://hooks.example.com/", "hooks", "https://x.com/#f"]
      ) {
        const answer = yield* create(url)
        assert.deepStrictEqual([answer.status, Object.keys(answer.details)], [422, ["url"]], url)
      }
      const none = yield* create("https://hooks.example.com/", { events: [] })
      assert.deepStrictEqual([none.code, Object.keys(none.details)], ["VALIDATION_FAILED", ["events"]])
      assert.strictEqual((yield* create("https://hooks.example.com/", { events: ["ping"] })).code, "VALIDATION_FAILED")
      const twenty = yield* Effect.forEach(
        Array.from({ length: 25 }),
        () => create("https://hooks.example.com/", { active: false }),
        { concurrency: 5 }
      )
      assert.strictEqual(twenty.filter(({ status }) => status === 201).length, 20)
      assert.strictEqual(twenty.filter(({ code }) => code === "INVALID_REQUEST").length, 5)
    }), 300_000)
})
