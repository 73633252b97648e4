import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type DeliveryQuery, WebhookDeliveries } from "../../../src/features/webhooks/WebhookDeliveries.ts"
import { layerBackoffice } from "../../../src/servers/Backoffice.ts"
import { rowsRead } from "../../kit/RowsRead.ts"
import { layerTestService } from "../../kit/TestService.ts"
import { addListener } from "../../kit/Webhooks.ts"

// Goal: a list of deliveries shows each match of its filters once, newest first, and reads few rows per page however many there are. Method:
// thousands of deliveries of three endpoints, thirty to a millisecond, every filter against the same in memory; PostgreSQL counts the rows read.

const count = 6000

/** Newest first, by both ids and times. */
const statusOf = (number: number) => number > 4800 ? "failed" : number % 200 === 0 ? "pending" : "delivered"

layer(layerBackoffice.pipe(Layer.provideMerge(layerTestService())))("webhook deliveries", (it) => {
  it.effect("are listed by any filter, each once, and a page reads a bounded number of rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deliveries = yield* WebhookDeliveries
      const [one, two] = [yield* addListener("list-one"), yield* addListener("list-two")]
      const endpoints = [
        yield* one.listenAt("https://one.example/a"),
        yield* one.listenAt("https://one.example/b"),
        yield* two.listenAt("https://two.example")
      ]
      const rows = Array.from({ length: count }, (_, index) => {
        const number = index + 1
        const endpoint = endpoints[number % 3]
        return {
          id: 8_000_000_000 + number,
          webhook: endpoint?.id ?? 0,
          operator: endpoint?.operator_id ?? 0,
          status: statusOf(number)
        }
      })
      const text = JSON.stringify(rows)
      yield* sql`INSERT INTO events (id, operator_id, player_id, type, data, created_at, fanned_out)
        SELECT r.id, r.operator, NULL, 'deposit.paid', '{}', now(), true
        FROM jsonb_to_recordset(${text}::text::jsonb) AS r (id bigint, operator bigint)`
      yield* sql`INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, next_attempt_at, created_at, updated_at)
        SELECT r.id, r.id, r.webhook, r.operator, r.status, CASE r.status WHEN 'pending' THEN now() END,
          timestamptz '2026-11-20Z' + ((r.id - 8000000000) / 30) * interval '1 millisecond', now()
        FROM jsonb_to_recordset(${text}::text::jsonb) AS r (id bigint, webhook bigint, operator bigint, status text)`
      yield* sql`VACUUM ANALYZE webhook_deliveries`

      const scopes = [null, [one.operator.id], [one.operator.id, two.operator.id], []]
      const [first] = endpoints
      const queries = scopes.flatMap((scope) =>
        [undefined, first?.id, 999_999_999].flatMap((webhookId) =>
          ([undefined, "pending", "delivered", "failed"] as const).map((status) => ({ scope, webhookId, status }))
        )
      )
      for (const query of queries) {
        const { scope, status, webhookId } = query
        const expected = rows.filter((row) =>
          (scope === null || scope.includes(row.operator)) && (webhookId === undefined || row.webhook === webhookId) &&
          (status === undefined || row.status === status)
        ).map(({ id }) => id).reverse()
        const found: Array<number> = []
        let parts = 0
        for (let cursor: string | null = ""; cursor !== null; parts++) {
          const asked: DeliveryQuery = { ...query, limit: 100, cursor }
          const part: Effect.Success<ReturnType<typeof deliveries.list>> = yield* deliveries.list(asked)
          found.push(...part.items.map(({ id }) => id))
          cursor = part.next
        }
        const what = JSON.stringify(query)
        assert.deepStrictEqual(found, expected, what)
        // `delivered` is filtered row by row: a page may be empty, but the list still ends
        assert.isAtMost(parts, 1 + Math.ceil(expected.length / 100) + (status === "delivered" ? 2 : 0), what)
        const most = status === "delivered" ? 4100 : 300
        assert.isBelow(yield* rowsRead("webhook_deliveries", deliveries.list({ ...query, limit: 25 })), most, what)
      }
    }))
})
