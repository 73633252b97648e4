/** Signs and sends one delivery attempt of a webhook event (SPEC section 6.1). */
import { Clock, Context, Effect, Layer, Option } from "effect"
import * as Crypto from "node:crypto"
import { envelope } from "../../domain/state/Events.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { makeLogThrottle } from "../../platform/LogThrottle.ts"
import { standardHeaders } from "./StandardWebhooks.ts"
import { type Outcome, Transport } from "./Transport.ts"

/** Purpose of an endpoint's sealed secrets. */
export const webhookPurpose = (endpointId: number): string => `webhook:${endpointId}`

/** Lower-case hex HMAC-SHA256 of the timestamp, a dot and the body. */
export const webhookSignature = (secret: string, timestamp: string, body: string): string =>
  Crypto.createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")

/** Headers of a message except timestamp and signatures. */
export const plainHeaders = (of: { readonly deliveryId: number; readonly eventId: number; readonly type: string }) => ({
  "user-agent": "Pitboss-Webhooks/1",
  "x-service-event": of.type,
  "x-service-event-id": String(of.eventId),
  "x-service-delivery": String(of.deliveryId)
})

export interface AttemptedDelivery {
  readonly id: number
  readonly endpoint: {
    readonly id: number
    readonly url: string
    readonly secret: Uint8Array
    /** Previous secret, which also signs until `until` (epoch milliseconds). */
    readonly previous: { readonly secret: Uint8Array; readonly until: number } | null
  }
  /** `data` is JSON, `createdAt` the instant in wire format. */
  readonly event: {
    readonly id: number
    readonly type: string
    readonly createdAt: string
    readonly playerSequence: number | null
    readonly data: string
  }
}

export class Attempts extends Context.Service<Attempts, {
  /** Sends a delivery once. */
  readonly attempt: (delivery: AttemptedDelivery) => Effect.Effect<Outcome>
}>()("pitboss/webhooks/Attempts") {
  static readonly layer = Layer.effect(
    Attempts,
    Effect.gen(function*() {
      const secrets = yield* Secrets
      const { post } = yield* Transport
      const throttle = yield* makeLogThrottle(5000)

      /** Signing secrets: the current one and, during the overlap after a rotation, the previous one. */
      const keysOf = Effect.fnUntraced(function*({ id, previous, secret }: AttemptedDelivery["endpoint"], now: number) {
        const open = (sealed: Uint8Array) => secrets.openText(webhookPurpose(id), sealed)
        const current = yield* open(secret)
        if (previous === null || previous.until <= now) return { current, previous: undefined }
        // an unreadable previous secret must not prevent signing with the current one
        return { current, previous: Option.getOrUndefined(yield* Effect.option(open(previous.secret))) }
      })

      const attempt = Effect.fnUntraced(
        function*({ endpoint, event, id }: AttemptedDelivery) {
          const now = yield* Clock.currentTimeMillis
          const keys = yield* keysOf(endpoint, now)
          const body = envelope(event)
          const timestamp = String(Math.floor(now / 1000))
          return yield* post({
            url: endpoint.url,
            headers: {
              ...plainHeaders({ deliveryId: id, eventId: event.id, type: event.type }),
              "x-service-timestamp": timestamp,
              // single value: receivers compare the whole header (SPEC section 6.1)
              "x-service-signature": webhookSignature(keys.current, timestamp, body),
              ...(keys.previous === undefined
                ? {}
                : { "x-service-signature-previous": webhookSignature(keys.previous, timestamp, body) }),
              ...standardHeaders({ id: String(event.id), timestamp, body }, [
                keys.current,
                ...(keys.previous === undefined ? [] : [keys.previous])
              ])
            },
            body
          })
        },
        (attempted, { endpoint }) =>
          Effect.catchTag(attempted, "SecretUnreadable", () =>
            Effect.as(
              throttle((others) =>
                Effect.logError("webhook secret cannot be decrypted with this MASTER_KEY").pipe(
                  Effect.annotateLogs({ webhook_id: endpoint.id, others })
                )
              ),
              { status: null, error: "secret_unreadable", body: null } satisfies Outcome
            ))
      )

      return Attempts.of({ attempt })
    })
  )
}
