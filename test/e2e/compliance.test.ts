import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { SqlClient } from "effect/sql"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { alertRules, defaultSettings } from "../../src/domain/compliance/AlertRules.ts"
import { layerWebhooks } from "../../src/service.ts"
import { WebhookSender } from "../../src/features/webhooks/WebhookSender.ts"
import { layerCasinos, runHere } from "../kit/Backoffice.ts"
import {
  assertRefused,
  type Casino,
  dataOf,
  type Fields,
  fresh,
  made,
  move,
  openCasino,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { hourMs, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: actions of operators and players through public endpoints raise exactly the specified alerts, the operator gets each
// once, an alert that holds withdrawals blocks them, and staff control all of it. Method: the service over HTTP on the test's
// calendar; the follower is run by the test, twice each time, since repetition must be harmless.

const live = layerWebhooks.pipe(Layer.provideMerge(layerCasinos))

interface Alert {
  readonly id: number
  readonly rule: string
  readonly severity: string
  readonly status: string
  readonly player_id: number
  readonly payment_id: number | null
  readonly details: Fields
  readonly stops_withdrawals: boolean
  readonly created_at: string
}

/** Judges all pending effects, and runs once more. */
const judge = Effect.gen(function*() {
  const { run } = yield* Compliance
  for (let rounds = 0; rounds < 2; rounds++) {
    while ((yield* run).hasMore) { /* until nothing waits */ }
  }
})

/** Runs a command that must succeed; returns its output. */
const command = Effect.fnUntraced(function*(...words: ReadonlyArray<string | ReadonlyArray<string>>) {
  const { exitCode, stderr, stdout } = yield* runHere(words.flat())
  assert.deepStrictEqual([exitCode, stderr], [0, ""], words.join(" "))
  return JSON.parse(stdout)
})

/** The alerts about a player, oldest first. */
const alertsOf = (playerId: number) =>
  Effect.map(
    Effect.andThen(judge, staff("GET", `/alerts?player=${playerId}`)),
    (data): ReadonlyArray<Alert> => data.toReversed()
  )

/** Their rules. */
const rulesOf = (playerId: number) => Effect.map(alertsOf(playerId), (alerts) => alerts.map(({ rule }) => rule).sort())

/** The only alert of a rule about a player. */
const alertOf = Effect.fnUntraced(function*(playerId: number, rule: string) {
  const found = (yield* alertsOf(playerId)).filter((alert) => alert.rule === rule)
  assert.strictEqual(found.length, 1, `${rule}: ${JSON.stringify(found)}`)
  return found[0] ?? assert.fail(rule)
})

const configure = (casino: Casino, rule: string, terms: Fields) =>
  staff("PATCH", `/alert-rules/${rule}`, { operator: casino.slug, ...terms })

const paid = (casino: Casino, playerId: number, amount: number) =>
  Effect.map(casino.deposit(playerId, amount), (reply) => dataOf(reply, 201))

const requested = (casino: Casino, playerId: number, amount: number) =>
  Effect.map(casino.withdraw(playerId, amount), (reply) => dataOf(reply, 201))

const verify = Effect.fnUntraced(function*(playerId: number) {
  yield* staff("POST", `/players/${playerId}/kyc`, { status: "pending_review" })
  yield* staff("POST", `/players/${playerId}/kyc`, { status: "verified" })
})

layer(live, { excludeTestServices: true })("alerts", (it) => {
  it.effect(
    "6.2 each rule raises its alert, and the operator is notified once",
    () =>
      whileTimePasses(Effect.gen(function*() {
        const { code } = yield* made("/profiles", {
          code: fresh("x-watch-"),
          name: "Watched",
          vulnerability: { net_deposits: 15_000, window: "P30D", repeat: "P1Y" }
        })
        const casino = yield* openCasino({ profiles: ["none", code], default_profile: "none" })
        const sink = yield* makeSink()
        const webhook = yield* made("/webhooks", {
          operator: casino.slug,
          url: sink.url,
          events: ["compliance.alert_created"]
        })
        yield* Effect.addFinalizer(() => staffCall("PATCH", `/backoffice/v1/webhooks/${webhook.id}`, { active: false }))
        const scenes = {
          large_deposit: Effect.gen(function*() {
            const { id } = yield* casino.register()
            yield* paid(casino, id, 200_000)
            return id
          }),
          structuring: Effect.gen(function*() {
            const { id } = yield* casino.register()
            for (const amount of [160_000, 165_000, 160_000]) yield* paid(casino, id, amount)
            return id
          }),
          deposit_velocity: Effect.gen(function*() {
            const { id } = yield* casino.register()
            for (let count = 0; count < 10; count++) yield* paid(casino, id, 100)
            return id
          }),
          large_withdrawal: Effect.gen(function*() {
            const { id } = yield* casino.register()
            yield* staff("POST", `/players/${id}/corrections`, { amount: 600_000, reason: "won elsewhere" })
            yield* requested(casino, id, 500_000)
            return id
          }),
          rapid_in_out: Effect.gen(function*() {
            const seat = yield* casino.sit(60_000)
            dataOf(yield* seat.bet(30_000))
            yield* staff("POST", `/players/${seat.id}/corrections`, { amount: 30_000, reason: "won elsewhere" })
            yield* pass(hourMs)
            yield* requested(casino, seat.id, 59_000)
            return seat.id
          }),
          low_play_withdrawal: Effect.gen(function*() {
            const { id } = yield* casino.register()
            yield* paid(casino, id, 60_000)
            yield* requested(casino, id, 1000)
            return id
          }),
          multi_account: Effect.gen(function*() {
            const document = fresh("doc ")
            yield* casino.register({ document_number: document })
            const { id } = yield* casino.register({ document_number: document.toUpperCase().replace(" ", "-") })
            return id
          }),
          country_mismatch: Effect.map(
            casino.register({ phone: "+491701234567", country: "MT" }),
            ({ id }) => Number(id)
          ),
          identity_change: Effect.gen(function*() {
            const { id } = yield* casino.register()
            yield* verify(id)
            yield* pass(minuteMs)
            dataOf(yield* casino.patch(`/players/${id}`, { last_name: "Another", city: "Valletta" }))
            return id
          }),
          large_credit: Effect.gen(function*() {
            const seat = yield* casino.sit()
            const name = fresh("jackpot-")
            const named = { request_id: name, transaction_id: name, player_ref: seat.ref, campaign_id: "c" }
            dataOf(
              yield* casino.callWallet("promo-win", { ...named, amount: 10_000_001, currency: "EUR", kind: "jackpot" })
            )
            return seat.id
          }),
          net_deposits: Effect.gen(function*() {
            const { id } = yield* casino.register({ jurisdiction: code })
            yield* paid(casino, id, 15_001)
            return id
          })
        }
        assert.sameMembers(Object.keys(scenes), [...alertRules])
        // bets create no effects: no table that they write has such a trigger
        const sql = yield* SqlClient.SqlClient
        const noting = yield* sql<
          { readonly table: string }
        >`SELECT DISTINCT tgrelid::regclass::text AS table FROM pg_trigger
          WHERE tgname LIKE 'note!_%' ESCAPE '!' ORDER BY 1`
        assert.deepStrictEqual(noting.map(({ table }) => table), ["game_sessions", "payment_requests", "players"])
        const raised: Array<Alert> = []
        for (const [rule, scene] of Object.entries(scenes)) {
          const playerId = yield* scene
          assert.deepStrictEqual(yield* rulesOf(playerId), [rule])
          raised.push(yield* alertOf(playerId, rule))
        }
        assert.deepStrictEqual(raised.map(({ rule, severity, status }) => [rule, severity, status]), [
          ["large_deposit", "medium", "open"],
          ["structuring", "high", "open"],
          ["deposit_velocity", "medium", "open"],
          ["large_withdrawal", "medium", "open"],
          ["rapid_in_out", "critical", "open"],
          ["low_play_withdrawal", "high", "open"],
          ["multi_account", "critical", "open"],
          ["country_mismatch", "low", "open"],
          ["identity_change", "medium", "open"],
          ["large_credit", "critical", "open"],
          ["net_deposits", "medium", "open"]
        ])

        // an amount of another currency is judged by its rate
        yield* staff("POST", "/rates", { currency: "SEK", base: "EUR", rate: 0.1 })
        const swede = yield* casino.register({ currency: "SEK" })
        yield* paid(casino, swede.id, 1_999_990)
        assert.deepStrictEqual(yield* rulesOf(swede.id), [])
        const stranger = yield* (yield* openCasino()).register()
        assert.deepStrictEqual(yield* rulesOf(stranger.id), [])

        const { flush } = yield* WebhookSender
        yield* judge
        yield* flush
        const told = sink.received.map(({ body }) => JSON.parse(body))
        const byId = (a: { readonly data: { readonly alert: Pick<Alert, "id"> } }, b: typeof a) =>
          a.data.alert.id - b.data.alert.id
        const expected = yield* Effect.forEach(raised, ({ created_at, id, player_id, rule, severity, status }) =>
          Effect.map(casino.get(`/players/${player_id}`), ({ data }) => ({
            type: "compliance.alert_created",
            data: {
              alert: { id, rule, severity, status, created_at },
              player: { id: player_id, external_id: null, username: data.username }
            }
          })))
        assert.deepStrictEqual(
          told.map(({ data, type }) => ({ type, data })).sort(byId),
          expected.toSorted(byId)
        )
        assert.strictEqual(
          new Set(told.map(({ id }) =>
            id
          )).size,
          alertRules.length
        )
      })),
    300_000
  )

  it.effect(
    "4.2 the risk engine finds players who share documents, names, e-mail aliases, addresses, phone numbers or IP addresses",
    () =>
      whileTimePasses(Effect.gen(function*() {
        const casino = yield* openCasino()
        const other = yield* openCasino()
        const shared = (playerId: number) =>
          Effect.map(
            Effect.map(alertsOf(playerId), (alerts) => alerts.filter(({ rule }) => rule === "multi_account")),
            (alerts) => alerts.map(({ details, severity }) => [severity, details["shared"], details["players"]])
          )
        const ada = yield* casino.register({
          first_name: "Zoë",
          last_name: "O'Hara",
          birth_date: "1980-02-03",
          email: "zoe.ohara+bonus@gmail.com",
          phone: "+35699000001",
          address: "12, Harbour St.",
          zip_code: "VLT 1000",
          registration_ip: "81.2.69.160"
        })
        const same = yield* casino.register({ first_name: "zoe", last_name: "OHARA", birth_date: "1980-02-03" })
        assert.deepStrictEqual(yield* shared(same.id), [["high", ["name_and_birth_date"], [ada.id]]])
        const similar = yield* casino.register({ first_name: "Zoë Ann", last_name: "O'Hara", birth_date: "1980-02-03" })
        assert.deepStrictEqual(yield* shared(similar.id), [
          ["medium", ["similar_name_and_birth_date"], [ada.id, same.id]]
        ])
        const alias = yield* casino.register({ email: "zoeohara@googlemail.com" })
        assert.deepStrictEqual(yield* shared(alias.id), [["high", ["email"], [ada.id]]])
        const neighbour = yield* casino.register({ address: "12 harbour st", zip_code: "vlt1000" })
        assert.deepStrictEqual(yield* shared(neighbour.id), [["medium", ["address"], [ada.id]]])
        // a phone number that was given up, and now belongs to another player
        yield* judge
        dataOf(yield* casino.patch(`/players/${ada.id}`, { phone: null }))
        const heir = yield* casino.register({ phone: "+356 9900 0001" })
        assert.deepStrictEqual(yield* shared(heir.id), [["high", ["phone"], [ada.id]]])
        // two players at one address may live together; three raise an alert
        const second = yield* casino.register({ registration_ip: "81.2.69.160" })
        assert.deepStrictEqual(yield* shared(second.id), [])
        const third = yield* casino.register()
        dataOf(yield* casino.launch(third.id, { ip: "81.2.69.160" }))
        assert.deepStrictEqual(yield* shared(third.id), [["low", ["ip"], [ada.id, second.id]]])
        // the first player with the value gets no alert for later ones
        assert.deepStrictEqual(yield* shared(ada.id), [])
        // other operators' players are not compared
        const stranger = yield* other.register({ first_name: "Zoë", last_name: "O'Hara", birth_date: "1980-02-03" })
        assert.deepStrictEqual(yield* shared(stranger.id), [])
        // no personal data in the responses to staff and operators, or in the facts
        const sql = yield* SqlClient.SqlClient
        const facts = yield* sql`SELECT kind, encode(digest, 'escape') AS digest FROM player_facts`
        const listed = yield* staff("GET", `/alerts?operator=${casino.slug}`)
        assert.notMatch(JSON.stringify([facts, listed]), /hara|harbour|81\.2|9900/i)
      })),
    300_000
  )

  it.effect(
    "7 PLAYER_RESTRICTED: an alert that stops withdrawals holds open and new ones until it is closed",
    () =>
      whileTimePasses(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const casino = yield* openCasino()
        yield* configure(casino, "large_withdrawal", { threshold: 1000, stop_withdrawals: true })
        yield* configure(casino, "large_deposit", { threshold: 5000, stop_withdrawals: true })
        yield* configure(casino, "low_play_withdrawal", { enabled: false })
        yield* configure(casino, "rapid_in_out", { enabled: false })
        const mayWithdraw = (playerId: number) =>
          Effect.map(casino.get(`/players/${playerId}`), ({ data }) => data.restrictions.can_withdraw)
        const held = { reason: "compliance_hold" }
        const { id } = yield* casino.register()
        yield* paid(casino, id, 4000)
        const allowed = yield* requested(casino, id, 10)
        // withdrawals with unjudged effects are not approved; money may always be returned
        const waits = (paymentId: number, name: string) =>
          Effect.map(move(paymentId, name), ({ code, status }) =>
            assert.deepStrictEqual([status, code], [503, "TRY_AGAIN"]))
        yield* waits(allowed.id, "approve")
        const unjudged = yield* requested(casino, id, 10)
        assert.strictEqual((yield* move(unjudged.id, "reject")).data.status, "rejected")
        yield* judge
        assert.strictEqual((yield* move(allowed.id, "approve")).data.status, "allowed")
        const large = yield* requested(casino, id, 1000)

        // the alert is committed, and the process that should place its hold has died
        yield* sql`ALTER TABLE players RENAME COLUMN withdrawal_holds TO hidden`
        const { run } = yield* Compliance
        yield* Effect.ignoreCause(run)
        yield* sql`ALTER TABLE players RENAME COLUMN hidden TO withdrawal_holds`
        const [waiting] = yield* sql<
          { readonly hold: string }
        >`SELECT hold FROM compliance_alerts WHERE player_id = ${id}`
        assert.strictEqual(waiting?.hold, "wanted")
        // judged, but the hold has not reached the player yet: blocks earlier approved withdrawals too
        yield* waits(large.id, "approve")
        yield* waits(allowed.id, "pay")
        const alert = yield* alertOf(id, "large_withdrawal")
        assert.deepInclude(alert, { stops_withdrawals: true, payment_id: large.id })

        assert.isFalse(yield* mayWithdraw(id))
        assertRefused(yield* casino.withdraw(id, 10), 422, "PLAYER_RESTRICTED", held)
        for (const [payment, name] of [[large.id, "approve"], [allowed.id, "pay"]] as const) {
          const answer = yield* move(payment, name)
          assert.deepStrictEqual([answer.status, answer.code, answer.details], [422, "PLAYER_RESTRICTED", held])
        }
        // deposits and play go on
        yield* paid(casino, id, 10)

        // a restriction set by staff outlives the alert
        yield* staff("PATCH", `/players/${id}/restrictions`, { can_withdraw: false })
        yield* staff("PATCH", `/alerts/${alert.id}`, { status: "closed", note: "a win, seen on the papers" })
        assert.isFalse(yield* mayWithdraw(id))
        assertRefused(yield* casino.withdraw(id, 10), 422, "PLAYER_RESTRICTED", { reason: "can_withdraw" })
        yield* staff("PATCH", `/players/${id}/restrictions`, { can_withdraw: true })
        assert.strictEqual((yield* move(allowed.id, "pay")).data.status, "paid")
        assert.strictEqual((yield* move(large.id, "approve")).data.status, "allowed")

        // two alerts, one closed: the hold of the other one remains
        yield* paid(casino, id, 5000)
        const deposit = yield* alertOf(id, "large_deposit")
        yield* paid(casino, id, 6000)
        const [, again] = (yield* alertsOf(id)).filter(({ rule }) =>
          rule === "large_deposit"
        )
        yield* staff("PATCH", `/alerts/${deposit.id}`, { status: "closed" })
        assert.isFalse(yield* mayWithdraw(id))
        // staff who may not close alerts may release none of their holds
        const { token } = yield* made("/staff", { name: "Sue", role: "support" })
        const lifted = yield* staffCall("PATCH", `/backoffice/v1/players/${id}/restrictions`, { can_withdraw: true }, {
          authorization: `Bearer ${token}`
        })
        assert.deepStrictEqual([lifted.status, lifted.code, lifted.details], [403, "INSUFFICIENT_SCOPE", {
          required_roles: ["admin", "compliance"]
        }])
        assert.isFalse(yield* mayWithdraw(id))
        // staff release the player: for good, and for open withdrawals
        yield* staff("PATCH", `/players/${id}/restrictions`, { can_withdraw: true })
        yield* judge
        assert.isTrue(yield* mayWithdraw(id))
        assert.deepInclude(yield* staff("GET", `/alerts/${again?.id}`), { status: "open", stops_withdrawals: false })
        yield* requested(casino, id, 10)

        // an alert closed before its hold was placed, and one whose hold remained
        yield* paid(casino, id, 7000)
        const late = (yield* alertsOf(id)).at(-1)
        yield* sql`UPDATE compliance_alerts SET status = 'closed', closed_at = now() WHERE id = ${late?.id ?? 0}`
        yield* sql`UPDATE compliance_alerts SET hold = 'wanted' WHERE id = ${late?.id ?? 0}`
        assert.isFalse(yield* mayWithdraw(id))
        yield* judge
        assert.isTrue(yield* mayWithdraw(id))

        const lines = yield* staff("GET", `/audit?player=${id}&action=player.hold&per_page=100`)
        assert.deepStrictEqual(lines.toReversed().map((line: Fields) => [line["actor"], line["reason"]]), [
          ["compliance", `alert ${alert.id}: large_withdrawal`],
          ["staff:bootstrap", `alert ${alert.id} holds no more`],
          ["compliance", `alert ${deposit.id}: large_deposit`],
          ["compliance", `alert ${again?.id}: large_deposit`],
          ["staff:bootstrap", `alert ${deposit.id} holds no more`],
          ["compliance", `alert ${late?.id}: large_deposit`],
          ["compliance", `alert ${late?.id} holds no more`]
        ])
      })),
    300_000
  )

  // Goal: docs/alerts.md is right. Method: read it; its table has the actual defaults, its examples are run in their order.
  it.effect(
    "show current evidence: counted and later payments, other alerts, and players with the same IP address",
    () =>
      whileTimePasses(Effect.gen(function*() {
        const casino = yield* openCasino()
        yield* configure(casino, "structuring", { threshold: 1000, percent: 20, count: 2, window_hours: 24 })
        const other = yield* casino.register({ registration_ip: "81.2.69.161", first_name: "Bea", last_name: "Lux" })
        yield* paid(casino, other.id, 200_000)
        const earlier = yield* alertOf(other.id, "large_deposit")
        const { id } = yield* casino.register({ registration_ip: "81.2.69.161" })
        for (const amount of [50, 900, 950]) {
          yield* pass(minuteMs)
          yield* paid(casino, id, amount)
        }
        const alert = yield* alertOf(id, "structuring")
        yield* pass(minuteMs)
        yield* paid(casino, id, 960)
        yield* requested(casino, id, 300)
        const evidence = yield* staff("GET", `/alerts/${alert.id}/evidence`)
        assert.deepInclude(evidence.player, { id, balance: 2560, currency: "EUR" })
        assert.deepStrictEqual(evidence.figures, [
          { figure: "deposits", raised: 1850, now: 2810, raised_count: 2, now_count: 3 },
          { figure: "withdrawals", raised: 0, now: 300, raised_count: 0, now_count: 1 }
        ])
        assert.deepStrictEqual(
          evidence.payments.map((payment: Fields) => [
            payment["amount"],
            payment["is_counted"],
            payment["is_later"]
          ]).toSorted((one: ReadonlyArray<number>, two: ReadonlyArray<number>) => (one[0] ?? 0) - (two[0] ?? 0)),
          [[50, false, false], [300, false, true], [900, true, false], [950, true, false], [960, true, true]]
        )
        assert.deepStrictEqual(evidence.related, [{ player_id: other.id, player_name: "Bea Lux", shares: ["ip"] }])
        const [found] = evidence.alerts.filter((one: Fields) => one["id"] === earlier.id)
        assert.deepInclude(found, { player_name: "Bea Lux", rule: "large_deposit", shares: ["ip"] })
      })),
    120_000
  )

  it.effect(
    "CONTRACT 3 the documentation page about alerts lists every rule with its defaults, and its examples work",
    () =>
      whileTimePasses(Effect.gen(function*() {
        const page = Fs.readFileSync(Path.join(import.meta.dirname, "..", "..", "docs", "alerts.md"), "utf8")
        const names: { readonly [word: string]: string } = {
          "window-hours": "windowHours",
          "stop-withdrawals": "stopWithdrawals"
        }
        const table = [...page.matchAll(/^\| `(\w+)` +\| ([^|]+)\| ([^|]*)\| ([^|]*)\|$/gm)].filter(([, rule]) =>
          alertRules.some((known) => known === rule)
        )
        assert.deepStrictEqual(table.map(([, rule]) => rule), [...alertRules])
        const said = Object.fromEntries(table.map(([, rule = "", , terms = "", severity = ""]) => [rule, {
          enabled: true,
          stopWithdrawals: false,
          severity: severity.split(/[;\s]/)[0],
          ...Object.fromEntries(
            terms.trim().split(", ").filter((term) => term !== "").map((term) => {
              const [name = "", value] = term.split(" ")
              return [names[name] ?? name, value === "true" ? true : Number(value)]
            })
          )
        }]))
        assert.deepStrictEqual<unknown>(said, defaultSettings)

        const casino = yield* openCasino()
        const { id } = yield* casino.register()
        yield* paid(casino, id, 200_000)
        const alert = yield* alertOf(id, "large_deposit")
        const examples = [...page.matchAll(/^pitboss (.*)$/gm)].map(([, line = ""]) =>
          [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = ""]) =>
            quoted ?? ({ lucky: casino.slug, "9001": String(alert.id), "4711": String(id) }[word] ?? word)
          )
        )
        assert.sameMembers(
          [...new Set(examples.map(([noun, verb]) => `${noun} ${verb}`))],
          ["list", "show", "evidence", "update", "assign", "hold", "release", "rules", "configure"].map((verb) =>
            `alert ${verb}`
          )
        )
        for (const words of examples) yield* command(words)
        assert.deepInclude(yield* staff("GET", `/alerts/${alert.id}`), { status: "closed" })
      })),
    300_000
  )
})
