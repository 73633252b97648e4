/** Staff management of operators' webhook endpoints: addresses, secrets and test events. */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type EventType, eventTypes, pingType } from "../../domain/state/Events.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { Ids } from "../../platform/Ids.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso, isoOrNull, toDate } from "../../platform/Time.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Attempts, webhookPurpose } from "./Attempts.ts"
import { secretBytes, standardSecret } from "./StandardWebhooks.ts"
import { targetProblem } from "../../platform/Targets.ts"
import type { WithSecret } from "../keys/ApiKeys.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { makeReferences } from "../../office/References.ts"
import type { Actor } from "../../office/Actor.ts"
import { type Delivery, Webhook, type WebhookInput, type WebhookUpdate } from "../../contract/webhooks/StaffApi.ts"

/** Maximum number of endpoints of an operator, and so of deliveries of an event. */
const maxEndpoints = 20

/** Time after a rotation during which the previous secret still signs. */
const overlapMs = 24 * 60 * 60_000

/** Table row; null `events` means all event types. */
const EndpointRow = Schema.Struct({
  ...Webhook.fields,
  events: Schema.NullOr(Schema.Array(Schema.Literals(eventTypes)))
})

const shown = (row: typeof EndpointRow.Type) => ({ ...row, events: row.events ?? eventTypes })

type Endpoint = ReturnType<typeof shown>
type Delivery = typeof Delivery.Type

const secretRows = rowsOf(Schema.Struct({
  operator_id: Schema.Number,
  url: Schema.String,
  secret_sealed: Schema.Uint8Array,
  previous_secret_sealed: Schema.NullOr(Schema.Uint8Array),
  previous_secret_until: Schema.NullOr(Schema.Date)
}))
const sealedRows = rowsOf(Schema.Struct({ secret_sealed: Schema.Uint8Array }))
const counts = rowsOf(Schema.Struct({ total: Schema.Number }))

const notFound = refuse("NOT_FOUND", "There is no such webhook.")
const tooMany = refuse("INVALID_REQUEST", `An operator can have ${maxEndpoints} webhooks. Change one of them.`, {
  max_webhooks: maxEndpoints
})

/** Secret of 256 bits in the form of Standard Webhooks. */
const newSecret = (entropy: Entropy["Service"]): string => standardSecret(entropy.bytes(secretBytes))

/** Stored form of event types: null for all types, which includes future ones. */
const stored = (events: ReadonlyArray<EventType>): ReadonlyArray<EventType> | null =>
  eventTypes.every((type) => events.includes(type)) ? null : events

type Unavailable = Refusal<"TRY_AGAIN">
type Invalid = Refusal<"VALIDATION_FAILED">

export class WebhookEndpoints extends Context.Service<WebhookEndpoints, {
  /** Creates an endpoint. The secret is returned only here. */
  readonly create: (
    actor: Actor,
    input: WebhookInput
  ) => Effect.Effect<Endpoint & WithSecret, Refusal<"NOT_FOUND" | "INVALID_REQUEST"> | Invalid | Unavailable>
  /**
   * Rotates an endpoint's secret. The previous one, if it can still be opened, signs in a separate header until
   * `previous_secret_until`. With `endsOverlap` a running overlap ends and the secret is kept; without one, none begins.
   */
  readonly rotate: (
    actor: Actor,
    id: number,
    operator?: string,
    endsOverlap?: boolean
  ) => Effect.Effect<Endpoint & Partial<WithSecret>, Refusal<"NOT_FOUND"> | Unavailable>
  /** Changes an endpoint. Deliveries to an inactive endpoint stay pending until it is active again. */
  readonly update: (
    actor: Actor,
    id: number,
    input: WebhookUpdate,
    operator?: string
  ) => Effect.Effect<Endpoint, Refusal<"NOT_FOUND"> | Invalid | Unavailable>
  /** Sends a test event at once, also to an inactive endpoint, and returns the outcome. */
  readonly ping: (
    actor: Actor,
    id: number,
    operator?: string
  ) => Effect.Effect<Delivery, Refusal<"NOT_FOUND"> | Unavailable>
  /** Endpoints of one operator or, with undefined, of all operators visible to the actor; newest first. */
  readonly list: (actor: Actor, operator: string | undefined) => Effect.Effect<
    ReadonlyArray<Endpoint>,
    Refusal<"NOT_FOUND"> | Unavailable
  >
}>()("pitboss/webhooks/WebhookEndpoints") {
  static readonly layer = Layer.effect(
    WebhookEndpoints,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { webhookAllowInsecure } = yield* Settings
      const auditLog = yield* AuditLog
      const attempts = yield* Attempts
      const secrets = yield* Secrets
      const entropy = yield* Entropy
      const ids = yield* Ids
      const references = yield* makeReferences
      const endpoints = yield* recordsOf("webhook_endpoints", EndpointRow, {
        // every secret is of their form
        computed: { standard_webhooks: "true" }
      })

      const refuseInput = ({ events, url }: WebhookUpdate): Effect.Effect<void, Invalid> => {
        const problem = url === undefined ? undefined : targetProblem(url, webhookAllowInsecure)
        const fields = {
          ...(problem === undefined ? {} : { url: [problem] }),
          ...(events?.length === 0 ? { events: ["must name at least one"] } : {})
        }
        return Object.keys(fields).length === 0 ? Effect.void : Effect.fail(refuseFields(fields))
      }

      const create = Effect.fn("WebhookEndpoints.create")(function*(actor: Actor, input: WebhookInput) {
        const secret = newSecret(entropy)
        yield* refuseInput(input)
        const fields = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            // concurrent creations must not exceed the maximum
            yield* sql`SELECT 1 FROM operators WHERE id = ${operatorId} FOR NO KEY UPDATE`
            const [counted] = yield* counts(
              sql`SELECT count(*) AS total FROM webhook_endpoints WHERE operator_id = ${operatorId}`
            )
            if ((counted?.total ?? 0) >= maxEndpoints) return yield* Effect.fail(tooMany)
            const events = stored(input.events ?? eventTypes)
            const row = {
              id: newId,
              operator_id: operatorId,
              url: input.url,
              events,
              active: input.active ?? true,
              previous_secret_until: null,
              standard_webhooks: true,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* endpoints.insert(row, { secret_sealed: secrets.seal(webhookPurpose(newId), secret) })
            return yield* recordChange("webhook.create", null, shown(row))
          }))
        return { ...fields, secret }
      })

      const locked = Effect.fnUntraced(function*(id: number, operator: string | undefined) {
        const row = yield* endpoints.find(sql`id = ${id} FOR NO KEY UPDATE`)
        if (row === undefined) return yield* Effect.fail(notFound)
        yield* references.refuseForeign(row.operator_id, operator, notFound)
        return shown(row)
      })

      const rotate = Effect.fn("WebhookEndpoints.rotate")((
        actor: Actor,
        id: number,
        operator?: string,
        endsOverlap = false
      ) => {
        const secret = newSecret(entropy)
        return auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* locked(id, operator)
            const isOverlapping = before.previous_secret_until !== null &&
              Date.parse(before.previous_secret_until) > now
            // the receiver has switched to the current secret and would not know a further one
            if (endsOverlap && isOverlapping) {
              const after = { ...before, previous_secret_until: null, updated_at: iso(now) }
              yield* sql`UPDATE webhook_endpoints SET previous_secret_sealed = NULL, previous_secret_until = NULL,
                  updated_at = ${toDate(now)} WHERE id = ${id}`
              return yield* recordChange("webhook.rotate", before, after)
            }
            const old = yield* oneOf(sealedRows(sql`SELECT secret_sealed FROM webhook_endpoints WHERE id = ${id}`))
            const isOpen = old !== undefined && !endsOverlap &&
              Option.isSome(yield* Effect.option(secrets.open(webhookPurpose(id), old.secret_sealed)))
            const until = isOpen ? now + overlapMs : null
            const after = {
              ...before,
              previous_secret_until: isoOrNull(until),
              updated_at: iso(now)
            }
            yield* sql`UPDATE webhook_endpoints SET
                previous_secret_sealed = CASE WHEN ${isOpen} THEN secret_sealed END,
                previous_secret_until = ${until === null ? null : toDate(until)},
                secret_sealed = ${secrets.seal(webhookPurpose(id), secret)}, updated_at = ${toDate(now)}
              WHERE id = ${id}`
            yield* recordChange("webhook.rotate", before, after)
            return { ...after, secret }
          }))
      })

      const update = Effect.fn("WebhookEndpoints.update")(function*(
        actor: Actor,
        id: number,
        input: WebhookUpdate,
        operator?: string
      ) {
        yield* refuseInput(input)
        return yield* auditLog.change(actor, ({ now, recordChange }) =>
          Effect.gen(function*() {
            const before = yield* locked(id, operator)
            const different = applyUpdate<Endpoint, WebhookUpdate>(before, input)
            if (different === before) return before
            const after = { ...different, updated_at: iso(now) }
            yield* endpoints.update({ ...before, events: stored(before.events) }, {
              ...after,
              events: stored(after.events)
            })
            return yield* recordChange("webhook.update", before, after)
          }))
      })

      const ping = Effect.fn("WebhookEndpoints.ping")(function*(actor: Actor, id: number, operator?: string) {
        const row = yield* orTryAgain(oneOf(secretRows(
          sql`SELECT operator_id, url, secret_sealed, previous_secret_sealed, previous_secret_until
            FROM webhook_endpoints WHERE id = ${id}`
        )))
        if (row === undefined) return yield* Effect.fail(notFound)
        yield* orTryAgain(references.refuseForeign(row.operator_id, operator, notFound))
        // ids of the event and the delivery
        const eventId = yield* ids.reserve(2).pipe(
          Effect.tapError(({ reason }) =>
            Effect.annotateLogs(Effect.logWarning("webhook ping id allocation failed"), { reason })
          ),
          Effect.mapError(() => temporarilyUnavailable)
        )
        const sentAt = yield* Clock.currentTimeMillis
        const event = {
          id: eventId,
          type: pingType,
          createdAt: iso(sentAt),
          playerSequence: null,
          data: JSON.stringify({ endpoint_id: id, message: "This is a test." })
        }
        const { operator_id: operatorId, previous_secret_sealed: previous, previous_secret_until: until } = row
        const outcome = yield* attempts.attempt({
          id: eventId + 1,
          endpoint: {
            id,
            url: row.url,
            secret: row.secret_sealed,
            previous: previous === null || until === null ? null : { secret: previous, until: until.getTime() }
          },
          event
        })
        // recorded after the attempt: a ping interrupted by a shutdown leaves no rows
        return yield* auditLog.change(actor, ({ now, record }) =>
          Effect.gen(function*() {
            const fields: Delivery = {
              id: eventId + 1,
              operator_id: operatorId,
              webhook_id: id,
              event_id: String(eventId),
              type: pingType,
              status: outcome.error === null ? "delivered" : "failed",
              attempts: 1,
              next_attempt_at: null,
              response_status: outcome.status,
              error: outcome.error,
              created_at: iso(sentAt),
              updated_at: iso(now)
            }
            yield* sql`INSERT INTO events (id, operator_id, type, data, created_at, fanned_out)
              VALUES (${eventId}, ${operatorId}, ${pingType}, ${event.data}::jsonb, ${toDate(sentAt)}, true)`
            yield* sql`INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, attempts,
                response_status, error, response_body, sent_at, created_at, updated_at)
              VALUES (${fields.id}, ${eventId}, ${id}, ${operatorId}, ${fields.status}, 1, ${fields.response_status},
                ${fields.error}, ${outcome.body}, ${toDate(sentAt)}, ${toDate(sentAt)}, ${toDate(now)})`
            yield* record({
              action: "webhook.ping",
              operatorId,
              subject: `webhook:${id}`,
              before: null,
              after: { status: fields.status, response_status: fields.response_status, error: fields.error }
            })
            return fields
          }))
      })

      const list = Effect.fn("WebhookEndpoints.list")(function*(actor: Actor, operator: string | undefined) {
        const rows = yield* endpoints.all(
          sql`${yield* references.ofScope(actor, operator)} ORDER BY webhook_endpoints.created_at DESC, id DESC`
        )
        return rows.map(shown)
      }, orTryAgain)

      return WebhookEndpoints.of({ create, rotate, update, ping, list })
    })
  ).pipe(Layer.provide(Entropy.layer))
}
