/**
 * Typed client of the operator API, derived from the service's contract.
 *
 * Every request is signed anew, every POST carries an idempotency key, and transient failures (an exhausted rate limit, a restart, a lost connection)
 * are retried within bounds.
 *
 *     const operator = yield* OperatorClient.make({
 *       baseUrl: "https://pitboss.example",
 *       key: "pk_live_…",
 *       secret: Redacted.make("sk_live_…")
 *     })
 *     const { data: player } = yield* operator.players.register({ payload: { username: "ada", … } })
 *     const { data: payment } = yield* operator.payments.deposit({
 *       params: { player: player.id },
 *       payload: { amount: 5000, external_reference: "psp-88213" }
 *     })
 *
 * Use it on a server only: the secret signs for the whole operator.
 */
import { Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { OperatorApi } from "../contract/Api.ts"
import { makeCalls } from "./internal/Calls.ts"
import { signingWith } from "./internal/Signing.ts"
import { type RetryPolicy, transportOver } from "./internal/Transport.ts"

export interface Options extends RetryPolicy {
  /** Base address of the service, without `/api/v1`. A path in front of it is kept and not signed. */
  readonly baseUrl: string | URL
  /** The public key id. */
  readonly key: string
  /** Secret of the key, shown once at its creation. */
  readonly secret: Redacted.Redacted
}

/** Makes a client. Needs {@link Services.layer} or an equivalent. Fails when the secret is empty. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const authorise = yield* signingWith("X-Api-Key", options.key, options.secret)
  const transport = transportOver(yield* HttpClient.HttpClient, {
    baseUrl: new URL(options.baseUrl),
    authorise,
    patience: options
  })
  return yield* makeCalls(OperatorApi, { transport, isIdempotent: true })
})

/** A function per endpoint, in its group. */
export type OperatorClient = Effect.Success<ReturnType<typeof make>>
