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
import { eventually, makeSink } from "../kit/WebhookSink.ts"

// Goal: killed services miss no alert, raise none twice, and place every hold, wherever and however often they die.
// Method: two services as processes on one database, both following; one is killed with SIGKILL again and again while deposits come
// in through both. Every committed large deposit must have its alert, its event and its hold, and no other may have one.

const kills = 3
const players = 12
const large = 200_000

layer(layerOwnDatabase, { excludeTestServices: true })("services that are killed while they raise alerts", (it) => {
  it.effect("raise each alert once, and place each hold", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* Secrets
      const url = yield* databaseUrl
      const [port, otherPort] = [yield* freePort, yield* freePort]
      const agent = yield* makeAgent()
      const start = (port: number) =>
        startService({
          port,
          databaseUrl: url,
          environment: { LOG_LEVEL: "error", WEBHOOK_ALLOW_INSECURE: "on" }
        })
      let service = yield* start(port)
      yield* start(otherPort)
      const { call, operator } = yield* addTenant(agent, port, "acme")
      const other = yield* addTenant(agent, otherPort, "other")
      yield* sql`INSERT INTO compliance_settings (operator_id, rule, settings, updated_at)
        VALUES (${operator.id}, 'large_deposit', '{"stopWithdrawals": true}', now()),
          (${operator.id}, 'deposit_velocity', '{"enabled": false}', now())`
      const sink = yield* makeSink()
      const endpointId = yield* (yield* Ids).reserve(1)
      yield* sql`INSERT INTO webhook_endpoints (id, operator_id, url, events, secret_sealed, created_at, updated_at)
        VALUES (${endpointId}, ${operator.id}, ${sink.url}, ARRAY['compliance.alert_created'],
          ${secrets.seal(webhookPurpose(endpointId), "whsec_of_the_test")}, now(), now())`
      yield* register(other.call, "bystander")
      const playerIds = yield* Effect.forEach(
        Array.from({ length: players }, (_, index) => index),
        (index) => register(call, `player${index}`)
      )

      let number = 0
      for (let kill = 0; kill < kills; kill++) {
        // killed once alerts begin to arrive: some are being judged then, some only written
        const before = sink.received.length
        sink.answer = (_, index) => {
          if (index === before) service.kill("SIGKILL")
          return 200
        }
        yield* Effect.forEach(
          Array.from({ length: 60 }),
          () =>
            Effect.suspend(() => {
              const playerId = playerIds[number % players] ?? 0
              const amount = number % 2 === 0 ? large : 100
              return Effect.ignore(deposit(call, playerId, amount, `d${number++}`))
            }),
          { concurrency: 6, discard: true }
        )
        yield* eventually(
          Effect.sync(() => service.hasExited()),
          (hasExited) => hasExited
        )
        service = yield* start(port)
      }
      sink.answer = () => 200

      const left = sql<{ readonly left: number }>`SELECT ((SELECT count(*) FROM compliance_effects)
        + (SELECT count(*) FROM compliance_alerts WHERE hold = 'wanted')
        + (SELECT count(*) FROM events WHERE type = 'compliance.alert_created' AND NOT fanned_out))::float8 AS left`
      yield* eventually(left, ([row]) => row?.left === 0)

      const expected = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM payment_requests
        WHERE operator_id = ${operator.id} AND amount = ${large} ORDER BY id`
      assert.isAbove(expected.length, kills * 2)
      const raised = yield* sql<{ readonly id: number; readonly payment: number }>`
        SELECT id::float8 AS id, payment_request_id::float8 AS payment FROM compliance_alerts ORDER BY payment_request_id`
      assert.deepStrictEqual(raised.map(({ payment }) => payment), expected.map(({ id }) => id))
      const events = yield* sql<
        { readonly alert: number }
      >`SELECT (data -> 'alert' ->> 'id')::float8 AS alert FROM events
        WHERE type = 'compliance.alert_created' ORDER BY alert`
      const ids = raised.map(({ id }) => id).toSorted((a, b) => a - b)
      assert.deepStrictEqual(events.map(({ alert }) => alert), ids)
      const held = yield* sql<{ readonly alert: number }>`SELECT (h ->> 'alertId')::float8 AS alert
        FROM players CROSS JOIN LATERAL jsonb_array_elements(withdrawal_holds) AS h ORDER BY alert`
      assert.deepStrictEqual(held.map(({ alert }) => alert), ids)

      // deliveries claimed by the killed sender are released only later: here at once
      yield* sql`UPDATE webhook_deliveries SET claimed_until = now() WHERE claimed_until IS NOT NULL AND status = 'pending'`
      const pending = sql<{ readonly left: number }>`SELECT count(*)::float8 AS left FROM webhook_deliveries
        WHERE status <> 'delivered'`
      yield* eventually(pending, ([row]) => row?.left === 0)
      const told = new Set(sink.received.map(({ body }): number => JSON.parse(body).data.alert.id))
      assert.deepStrictEqual([...told].sort((a, b) => a - b), ids)
    }), 300_000)
})
