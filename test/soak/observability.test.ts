import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { deposit } from "../kit/Casino.ts"
import { callerOf, exchange, makeAgent } from "../kit/HttpCalls.ts"
import { environmentAt, freeAddress, operatorOf, playCasino, staffToken } from "../kit/PlayedService.ts"
import { parseMetrics } from "../kit/Metrics.ts"
import { startService } from "../kit/ServiceProcess.ts"
import { eventually, makeSink } from "../kit/WebhookSink.ts"

// Goal: metrics are right and logs are machine-readable, and neither contains
// secrets or personal data. Method: the service as a process at LOG_LEVEL=debug; a casino plays, a player registers, requests are
// refused, a statement fails in the middle of a request with the row in its message; then all output is searched, and the
// metrics are compared with the requests sent.

const masterKey = Buffer.alloc(32, 9).toString("base64")

const person = {
  username: "zebulon61",
  email: "zebulon.quartermaine@example.com",
  password: "Tr0ubadour-and-3",
  first_name: "Zebulon",
  last_name: "Quartermaine",
  birth_date: "1961-07-23",
  country: "MT",
  city: "Birkirkara",
  address: "12 Thornfield Lane",
  phone: "+35699123456",
  personal_id: "PID-77881234",
  document_number: "DOC-55443322",
  terms_accepted: true
}

const players = "/api/v1/operator/players"
const wallet = "/api/v1/provider/wallet"

layer(layerOwnDatabase, { excludeTestServices: true })("metrics and logs", (it) => {
  it.effect("cover every request and commit, and contain no secret", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const agent = yield* makeAgent()
      const sink = yield* makeSink()
      const address = yield* freeAddress
      const service = yield* startService({
        port: address.port,
        databaseUrl: yield* databaseUrl,
        environment: { ...environmentAt(address), MASTER_KEY: masterKey, LOG_LEVEL: "debug" }
      })
      const casino = yield* playCasino(agent, address, sink)
      const operator = operatorOf(agent, address, casino)

      // personal data, and refusals
      assert.strictEqual((yield* operator.post(players, person)).status, 201)
      assert.strictEqual((yield* operator.post(players, { ...person, password: "short" })).code, "VALIDATION_FAILED")
      const forged = callerOf(agent, address.port, { ...operator.signer, secret: "forged-secret-0123456789" })
      assert.strictEqual((yield* forged.get(players)).code, "INVALID_SIGNATURE")
      assert.strictEqual((yield* operator.get(`${players}?email=${encodeURIComponent(person.email)}`)).status, 200)
      for (const path of ["/nowhere/at/all", `/api/v1/operator/${person.email}`, "/api/v1/operator/me/x"]) {
        assert.strictEqual((yield* exchange(agent, address.port, path)).status, 404)
      }
      const strange = callerOf(agent, address.port, {
        header: "X-Provider-Key",
        key: casino.provider.key,
        secret: "another-forged-secret-1"
      })
      const bet = { session_token: casino.seated[0]?.session ?? "" }
      assert.strictEqual((yield* strange.post(`${wallet}/bet`, bet)).code, "INVALID_SIGNATURE")

      // defects: a value that the database quotes, and a row that a trigger quotes
      yield* sql.unsafe(`CREATE FUNCTION quote_it() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no such row: %', NEW; END $$`)
      yield* sql.unsafe("CREATE TRIGGER quote_it BEFORE INSERT ON players FOR EACH ROW EXECUTE FUNCTION quote_it()")
      const another = { username: "again", email: "again.q@example.com", phone: "+35699123457", personal_id: "PID-2" }
      const broken = yield* operator.post(players, { ...person, ...another, document_number: "DOC-2" }, {
        "x-request-id": "the-broken-one"
      })
      assert.strictEqual(broken.status, 500, broken.text)
      const { playerId, playerToken } = casino.seated[0] ?? assert.fail("nobody plays")
      yield* sql.unsafe("ALTER TABLE player_bonuses RENAME TO gone")
      const unlisted = yield* operator.send(`${players}/${playerId}/bonuses`, {
        headers: { "x-request-id": "of-a-player" }
      })
      assert.strictEqual(unlisted.status, 500, unlisted.text)
      yield* sql.unsafe("ALTER TABLE gone RENAME TO player_bonuses")

      // writes that fail
      yield* sql.unsafe("ALTER TABLE game_sessions RENAME TO gone")
      const { playerId: stuck } = casino.seated[1] ?? assert.fail("nobody plays")
      for (let times = 0; times < 3; times++) {
        const unopened = yield* operator.post(`${players}/${stuck}/games/${casino.original.id}/launch`, {
          mode: "real"
        })
        assert.strictEqual(unopened.status, 503, unopened.text)
      }
      yield* sql.unsafe("ALTER TABLE gone RENAME TO game_sessions")
      yield* deposit(operator, stuck, 1, "written-again")

      // the metrics
      const scrape = Effect.gen(function*() {
        const reply = yield* exchange(agent, address.backofficePort, "/metrics")
        assert.match(reply.headers["content-type"] ?? "", /^text\/plain; version=0\.0\.4/)
        return parseMetrics(reply.text)
      })
      const metrics = yield* eventually(
        scrape,
        (now) =>
          now.value("pitboss_webhook_deliveries_total", { result: "delivered" }) === sink.received.length &&
          now.series("pitboss_scheduler_last_success_timestamp_seconds").length >= 6
      )
      const answered = (method: string, route: string, status: number) =>
        metrics.value("pitboss_http_request_duration_seconds_count", { method, route, status: String(status) })
      const seats = casino.seated.length
      assert.deepStrictEqual(
        {
          bets: answered("POST", `${wallet}/bet`, 200),
          wins: answered("POST", `${wallet}/win`, 200),
          rollbacks: answered("POST", `${wallet}/rollback`, 200),
          forged: answered("POST", `${wallet}/bet`, 401),
          deposits: answered("POST", `${players}/:player/deposits`, 201),
          registrations: answered("POST", players, 201),
          refused: answered("POST", players, 422),
          broken: answered("POST", players, 500),
          unsigned: answered("GET", players, 401),
          unknown: answered("GET", "none", 404),
          plays: answered("POST", "/api/v1/player/games/:game/play", 200),
          staff: answered("POST", "/backoffice/v1/operators", 201)
        },
        {
          bets: seats * 3,
          wins: seats,
          rollbacks: seats,
          forged: 1,
          deposits: seats + 1,
          registrations: seats + 1,
          refused: 1,
          broken: 1,
          unsigned: 1,
          unknown: 3,
          plays: seats * 3,
          staff: 1
        }
      )
      assert.strictEqual(metrics.value("pitboss_actors_resident"), seats)
      assert.strictEqual(metrics.value("pitboss_actors_loads_total"), seats)
      assert.strictEqual(metrics.value("pitboss_actors_commands_waiting"), 0)
      assert.strictEqual(metrics.value("pitboss_actors_refused_total"), 0)
      assert.strictEqual(metrics.value("pitboss_journal_stalled_seconds"), 0)
      const commits = metrics.value("pitboss_journal_commit_seconds_count") ?? 0
      assert.isAtLeast(commits, seats * 10)
      assert.strictEqual(metrics.value("pitboss_journal_batch_units_count"), commits)
      assert.isAtLeast(metrics.value("pitboss_journal_batch_units_sum") ?? 0, commits)
      assert.deepStrictEqual(
        [metrics.value("pitboss_webhook_outbox_pending"), metrics.value("pitboss_webhook_deliveries_pending")],
        [0, 0]
      )
      assert.strictEqual(metrics.value("pitboss_ready", { reason: "ready" }), 1)
      assert.strictEqual(metrics.value("pitboss_database_up"), 1)
      assert.isAbove(metrics.series("pitboss_database_connections").length, 0)
      assert.strictEqual(metrics.series("pitboss_build_info").length, 1)
      for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"]) {
        assert.isAbove(metrics.value(name) ?? 0, 0, name)
      }
      assert.strictEqual(metrics.series("nodejs_eventloop_lag_seconds").length, 3)
      assert.notInclude(metrics.text, "quartermaine")
      const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "operations.md"), "utf8")
      for (const name of metrics.names) assert.include(page, `| \`${name}\` `)

      // the log lines
      service.kill("SIGTERM")
      yield* service.exited
      const output = service.output()
      const lines = output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
      assert.isAbove(lines.length, 0)
      for (const line of lines) assert.containsAllKeys(line, ["timestamp", "level", "message"])
      const failed = lines.find(({ request_id: id }) => id === "the-broken-one")
      assert.deepInclude(failed, {
        level: "error",
        message: "request failed",
        method: "POST",
        path: players,
        operator_id: casino.operatorId
      })
      assert.deepInclude(lines.find(({ request_id: id }) => id === "of-a-player"), {
        player_id: playerId,
        operator_id: casino.operatorId
      })
      assert.match(failed.cause, /SQLSTATE P0001/)
      assert.match(failed.cause, /\n {4}at /)
      const unwritten = lines.filter(({ message }) => message === "commit failed")
      assert.deepInclude(unwritten[0], { level: "warn", player_ids: [stuck], others: 0 })
      assert.include(unwritten[0].reason, "game_sessions")
      assert.isBelow(unwritten.length, 3, "a line for all of them, not for each")
      const perRequest = lines.filter(({ level, request_id: id }) => level === "info" && id !== undefined)
      assert.deepStrictEqual(perRequest, [], "nothing is logged per request at info")

      const secrets = {
        ...person,
        masterKey,
        staffToken,
        playerToken,
        again: "again.q@example.com",
        apiSecret: casino.key.secret,
        providerSecret: casino.provider.secret,
        forged: forged.signer.secret,
        strange: strange.signer.secret,
        session: casino.seated[0]?.session ?? "",
        ...Object.fromEntries(casino.webhookSecrets.map((secret, index) => [`webhook${index}`, secret]))
      }
      for (const [name, value] of Object.entries(secrets)) {
        if (typeof value !== "string" || name === "country") continue
        assert.notInclude(output, value, name)
      }
    }), 300_000)
})
