import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Ids } from "../../src/platform/Ids.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { webhookPurpose } from "../../src/features/webhooks/Attempts.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addTenant, deposit, register } from "../kit/Casino.ts"
import { makeAgent } from "../kit/HttpCalls.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"
import { eventually, expectedSignature, makeSink, soon } from "../kit/WebhookSink.ts"

// Goal: a service killed while it fans out, claims, sends or records events loses none, and a
// stopped one finishes its deliveries in flight. Method: the service as a process, killed with SIGKILL while events are written and sent, again
// and again; its claims are released at once, since the test does not wait for their leases.

const kills = 4

layer(layerOwnDatabase, { excludeTestServices: true })("webhooks of a service that is killed", (it) => {
  it.effect("are all delivered", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* Secrets
      const url = yield* databaseUrl
      const port = yield* freePort
      const agent = yield* makeAgent()
      const start = startService({
        port,
        databaseUrl: url,
        environment: { LOG_LEVEL: "error", WEBHOOK_ALLOW_INSECURE: "on" }
      })
      let service = yield* start
      const { call, operator } = yield* addTenant(agent, port, "acme")
      const sink = yield* makeSink()
      const endpointId = yield* (yield* Ids).reserve(1)
      const secret = "whsec_of_the_test"
      yield* sql`INSERT INTO webhook_endpoints (id, operator_id, url, secret_sealed, created_at, updated_at)
        VALUES (${endpointId}, ${operator.id}, ${sink.url}, ${
        secrets.seal(webhookPurpose(endpointId), secret)
      }, now(), now())`

      const playerId = yield* register(call, "ada")
      const acknowledged = new Set<string>()
      let number = 0
      for (let kill = 0; kill < kills; kill++) {
        // killed at an arrival: some are in flight then, some only written, some answered and not recorded
        const before = sink.received.length
        sink.answer = (_, index) => {
          if (index === before + 20) service.kill("SIGKILL")
          return 200
        }
        const makeOne = Effect.gen(function*() {
          const reference = `d${number++}`
          yield* deposit(call, playerId, 100, reference)
          acknowledged.add(reference)
        })
        yield* Effect.forEach(
          Array.from({ length: 60 }),
          () => Effect.ignore(makeOne),
          { concurrency: 6, discard: true }
        )
        if (!service.hasExited()) yield* sink.arrived(before + 21)
        yield* service.exited
        service = yield* start
      }
      sink.answer = () => 200
      yield* sql`UPDATE webhook_deliveries SET claimed_until = now() WHERE claimed_until IS NOT NULL AND status = 'pending'`

      const left = sql<{ readonly left: number }>`SELECT
          ((SELECT count(*) FROM events WHERE NOT fanned_out) +
          (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered'))::float8 AS left`
      yield* eventually(left, ([row]) => row?.left === 0)

      const references = new Set<string>()
      for (const received of sink.received) {
        assert.strictEqual(received.headers["x-service-signature"], expectedSignature(secret, received))
        const { data, type } = JSON.parse(received.body)
        if (type === "deposit.paid") references.add(data.payment.external_reference)
      }
      for (const reference of acknowledged) assert.isTrue(references.has(reference), reference)
      // a deposit without an answer has an event exactly when it was committed
      const standing = yield* sql<{ readonly reference: string }>`SELECT external_reference AS reference
        FROM payment_requests`
      assert.deepStrictEqual([...references].sort(), standing.map(({ reference }) => reference).sort())
      const events = yield* sql<{ readonly id: string }>`SELECT id::text AS id FROM events`
      assert.deepStrictEqual(
        [...new Set(sink.received.map(({ headers }) => String(headers["x-service-event-id"])))].sort(),
        events.map(({ id }) => id).sort()
      )

      // stopped with one in flight: it ends, and is recorded
      let isAnswered = false
      const held = sink.received.length
      sink.answer = () => (response) => {
        service.kill("SIGTERM")
        setTimeout(() => {
          isAnswered = true
          response.writeHead(200).end()
        }, 500)
      }
      yield* deposit(call, playerId, 100, "last")
      yield* sink.arrived(held + 1)
      assert.deepStrictEqual(yield* service.exited, { code: 0, signal: null }, service.output())
      yield* soon(() => isAnswered)
      const [last] = yield* sql<{ readonly status: string }>`SELECT d.status FROM webhook_deliveries d
        ORDER BY d.id DESC LIMIT 1`
      assert.strictEqual(last?.status, "delivered")
    }), 300_000)
})
