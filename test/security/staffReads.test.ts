import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as Http from "node:http"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { staffReadTerms } from "../../src/http/StaffReadTerms.ts"
import { layerBothServersOn } from "../kit/Backoffice.ts"
import { BothServers, dataOf, made, openCasino, staffCall } from "../kit/Casino.ts"
import { Calendar, pass } from "../kit/Calendar.ts"

// Goal: who of the staff looked at whom is in the log, without what was searched for, and the log does not grow with every look. Method:
// a member of staff who reads, and the lines of the log.

// what a process remembers for an hour is of a node: on several, each would leave its line
layer(Layer.provideMerge(layerBothServersOn([]), Calendar.layer), { excludeTestServices: true })(
  "staff reads of personal data",
  (it) => {
    it.effect("leave a line in the audit log, one an hour for the same subject", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const casino = yield* openCasino()
        const [one, two] = [(yield* casino.register()).id, (yield* casino.register()).id]
        const { id, token } = yield* made("/staff", { name: "Nosy", role: "compliance" })
        const read = (path: string) =>
          Effect.map(
            staffCall("GET", `/backoffice/v1${path}`, undefined, { authorization: `Bearer ${token}` }),
            ({ status }) => status
          )
        const lines = Effect.map(
          sql<
            { readonly action: string; readonly subject: string; readonly after: unknown; readonly of: number | null }
          >`
          SELECT action, subject, after, player_id::float8 AS of FROM audit_log WHERE actor = ${`staff:${id}`}`,
          (found) => found.map(({ action, of, subject }) => `${action} ${subject} ${of}`).toSorted()
        )
        for (let turn = 0; turn < 3; turn++) {
          assert.strictEqual(yield* read(`/players/${one}`), 200)
          // however the path is written
          assert.strictEqual(yield* read(`/players/${two}`), 200)
          assert.strictEqual(yield* read(`/%70layers/${String(two).replaceAll(/\d/g, "%3$&")}`), 200)
          assert.strictEqual(yield* read(`/players/${one}/notes`), 200)
          assert.strictEqual(yield* read("/players?search=Lovelace"), 200)
          assert.strictEqual(yield* read(`/audit?player=${one}`), 200)
          // what shows nobody, and what was refused
          assert.strictEqual(yield* read("/games"), 200)
          assert.strictEqual(yield* read("/players/999999999"), 404)
          assert.strictEqual(yield* read("/staff"), 403)
        }
        const expected = [
          "audit.list list:audit.list null",
          "player.list list:player.list null",
          `player.notes player:${one} ${one}`,
          `player.show player:${one} ${one}`,
          `player.show player:${two} ${two}`
        ].toSorted()
        assert.deepStrictEqual(yield* lines, expected)
        const written = yield* sql`SELECT * FROM audit_log WHERE actor = ${`staff:${id}`}`
        assert.notInclude(
          JSON.stringify(written, (_, value) => typeof value === "bigint" ? String(value) : value),
          "Lovelace"
        )
        yield* pass(3_600_000)
        assert.strictEqual(yield* read(`/players/${one}`), 200)
        assert.deepStrictEqual(yield* lines, [...expected, `player.show player:${one} ${one}`].toSorted())
      }))

    it.effect("leave a line for every answer that shows a player", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const casino = yield* openCasino()
        const { bet, id: player } = yield* casino.sit()
        const round = dataOf(yield* bet(100)).transaction_id
        const other = yield* casino.sit()
        const [deposit] = dataOf(yield* casino.get(`/payments?player_id=${player}`))
        const payment = Number(deposit.id)
        const alert = Number(casino.id) * 10 + 1
        yield* sql`INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold,
            created_at, updated_at)
          VALUES (${alert}, ${casino.id}, ${player}, 'large_deposit', ${`test:${alert}`}, 'low', 'open', '{}', 'none', now(), now())`
        const { id, token } = yield* made("/staff", { name: "Curious", role: "compliance" })
        const cases: ReadonlyArray<readonly [path: string, line: string | undefined]> = [
          [`/payments/${payment}`, `payment.show payment:${payment} ${player}`],
          [`/payments?operator=${casino.slug}`, "payment.list list:payment.list null"],
          [`/payments?player=${player}`, `payment.list player:${player} ${player}`],
          [`/payments?id=${payment}`, `payment.list payment:${payment} ${player}`],
          [`/alerts/${alert}`, `alert.show alert:${alert} ${player}`],
          ["/alerts", "alert.list list:alert.list null"],
          [`/ledger/entries?player=${player}`, `ledger.entries player:${player} ${player}`],
          [`/ledger/entries?player=${other.id}`, `ledger.entries player:${other.id} ${other.id}`],
          [`/rounds?operator=${casino.slug}`, "round.search list:round.search null"],
          [
            `/rounds/${casino.studio.slug}/slots/${round}`,
            `round.show round:${casino.studio.slug}/slots/${round} null`
          ],
          // a player's part of it
          [
            `/rounds/${casino.studio.slug}/slots/${round}?player=${player}`,
            `round.show round:${casino.studio.slug}/slots/${round} ${player}`
          ],
          [`/players/${player}/wallet`, `player.wallet player:${player} ${player}`],
          [`/players/${player}/timeline`, `player.timeline player:${player} ${player}`],
          [`/search?q=${player}`, "search.find list:search.find null"],
          // the same list, with what a link added
          [`/payments?operator=${casino.slug}&utm_player=${player}&_player=${player}`, undefined],
          // what tells of nobody
          [`/operators`, undefined],
          [`/bonuses?operator=${casino.slug}`, undefined]
        ]
        const lines = Effect.map(
          sql<{ readonly action: string; readonly subject: string; readonly of: number | null }>`
            SELECT action, subject, player_id::float8 AS of FROM audit_log WHERE actor = ${`staff:${id}`} ORDER BY id`,
          (found) => found.map(({ action, of, subject }) => `${action} ${subject} ${of}`)
        )
        for (const [path, line] of cases) {
          const before = yield* lines
          for (let turn = 0; turn < 2; turn++) {
            const { status } = yield* staffCall("GET", `/backoffice/v1${path}`, undefined, {
              authorization: `Bearer ${token}`
            })
            assert.strictEqual(status, 200, path)
          }
          assert.deepStrictEqual((yield* lines).slice(before.length), line === undefined ? [] : [line], path)
        }
        const timeline = dataOf(yield* staffCall("GET", `/backoffice/v1/players/${player}/timeline?kind=audit`))
        assert.notInclude(JSON.stringify(timeline), "payment.show")
      }))

    it.effect("leave a line for a record returned by a change, also when nothing was changed", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const casino = yield* openCasino()
        const { id: player } = yield* casino.register()
        const alert = Number(casino.id) * 10 + 1
        yield* sql`INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold,
            created_at, updated_at)
          VALUES (${alert}, ${casino.id}, ${player}, 'large_deposit', ${`test:${alert}`}, 'low', 'open', '{}', 'none', now(), now())`
        const cases: ReadonlyArray<readonly [method: "POST" | "PATCH", path: string, body: unknown, line: string]> = [
          ["POST", `/players/${player}/status`, { status: "active" }, `player.show player:${player}`],
          ["PATCH", `/players/${player}/restrictions`, {}, `player.show player:${player}`],
          ["PATCH", `/players/${player}/restrictions`, { can_bet: true }, `player.show player:${player}`],
          ["PATCH", `/alerts/${alert}`, { status: "open" }, `alert.show alert:${alert}`]
        ]
        for (const [method, path, body, line] of cases) {
          const { id, token } = yield* made("/staff", { name: "Curious", role: "compliance" })
          for (let turn = 0; turn < 2; turn++) {
            const authorization = { authorization: `Bearer ${token}` }
            const { status } = yield* staffCall(method, `/backoffice/v1${path}`, body, authorization)
            assert.strictEqual(status, 200, path)
          }
          const lines = yield* sql<{ readonly action: string; readonly subject: string; readonly of: number | null }>`
            SELECT action, subject, player_id::float8 AS of FROM audit_log WHERE actor = ${`staff:${id}`}`
          assert.deepStrictEqual(lines.map(({ action, of, subject }) => `${action} ${subject} ${of}`), [
            `${line} ${player}`
          ])
        }
        const { id: other } = yield* casino.register()
        const { id, token } = yield* made("/staff", { name: "Curious", role: "payments" })
        const { status } = yield* staffCall("POST", `/backoffice/v1/players/${other}/status`, { status: "active" }, {
          authorization: `Bearer ${token}`
        })
        assert.strictEqual(status, 403)
        assert.deepStrictEqual(yield* sql`SELECT action FROM audit_log WHERE actor = ${`staff:${id}`}`, [])
      }))

    it.effect("write one audit line per document read, and one per event stream opened", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { backofficePort } = yield* BothServers
        const casino = yield* openCasino()
        const { id: player } = yield* casino.register()
        const { id, token } = yield* made("/staff", { name: "Reader", role: "admin" })
        const streams: Array<{ readonly action: string; readonly path: string }> = []
        HttpApi.reflect(BackofficeApi, {
          onGroup: () => {},
          onEndpoint: ({ endpoint, group }) => {
            const action = `${group.identifier}.${endpoint.identifier}`
            const kind = staffReadTerms.get(action)?.kind
            if (kind === "document" || kind === "events") streams.push({ action, path: endpoint.path })
          }
        })
        assert.sameMembers(streams.map(({ action }) => action), [
          "ledger.export",
          "figures.live",
          "player.statement"
        ])
        const day = (yield* DateTime.nowAsDate).toISOString().slice(0, 10)
        const opened = (path: string) =>
          Effect.callback<number | undefined>((resume) => {
            const request = Http.get(
              { port: backofficePort, path, headers: { authorization: `Bearer ${token}` } },
              ({ statusCode }) => {
                request.destroy()
                resume(Effect.succeed(statusCode))
              }
            )
          })
        for (const { path } of streams) {
          const asked = path.includes(":player")
            ? `${path.replace(":player", String(player))}?from=${day}&to=${day}`
            : `${path}?operator=${casino.slug}`
          for (let turn = 0; turn < 2; turn++) assert.strictEqual(yield* opened(asked), 200, path)
        }
        const lines =
          yield* sql`SELECT action, subject, after FROM audit_log WHERE actor = ${`staff:${id}`} ORDER BY id`
        assert.sameDeepMembers(lines.map(({ subject }) => subject), [
          "export:ledger.export",
          "export:ledger.export",
          "stream:figures.live",
          `player:${player}`,
          `player:${player}`
        ])
        for (const { after, subject } of lines) {
          assert.deepStrictEqual(after, String(subject).startsWith("player:") ? null : { filters: ["operator"] })
        }
      }))
  }
)
