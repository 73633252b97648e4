/** Operators with webhooks, and events for them. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { WebhookUpdate } from "../../src/contract/webhooks/StaffApi.ts"
import { WebhookEndpoints } from "../../src/features/webhooks/WebhookEndpoints.ts"
import type { EventType } from "../../src/domain/state/Events.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { addOperator, addPlayer } from "./TestService.ts"

export const someStaff = { id: null, name: "test", role: "admin", operators: null, label: "staff:test" } as const

/** An operator with a player; its webhooks are paused at the end of the test. */
export const addListener = Effect.fnUntraced(function*(slug: string) {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Ids
  const outbox = yield* Outbox
  const endpoints = yield* WebhookEndpoints
  const operator = yield* addOperator(slug)
  const playerId = yield* addPlayer(operator, `${slug}-player`)
  yield* Effect.addFinalizer(() =>
    Effect.orDie(sql`UPDATE webhook_endpoints SET active = false WHERE operator_id = ${operator.id}`)
  )
  const insert = Effect.fnUntraced(function*(type: EventType = "deposit.paid") {
    const id = yield* ids.reserve(1)
    const createdAt = yield* Clock.currentTimeMillis
    const data = { payment: { amount: id } }
    yield* outbox.insert([{ id, operatorId: operator.id, playerId, type, data, createdAt }])
    return id
  })
  return {
    operator,
    playerId,
    /** Writes an event in the transaction that is open; gives its id. */
    insert,
    /** Commits an event; gives its id. */
    emit: (type?: EventType) => sql.withTransaction(insert(type)),
    /** Commits so many at once. */
    emitMany: (count: number) =>
      sql.withTransaction(Effect.forEach(Array.from({ length: count }), () => insert(), { discard: true })),
    listenAt: (url: string, more: WebhookUpdate = {}) => endpoints.create(someStaff, { operator: slug, url, ...more })
  }
})
