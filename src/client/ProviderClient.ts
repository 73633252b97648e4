/**
 * Typed client of the provider wallet API, for studios, and for operators who test with a provider of their own. A win or rollback without an answer
 * is sent again, idempotent by its `transaction_id`. A bet is not: its outcome is unknown, and the caller has to roll it back.
 */
import { Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { ProviderApi } from "../contract/Api.ts"
import { makeCalls } from "./internal/Calls.ts"
import { signingWith } from "./internal/Signing.ts"
import { type RetryPolicy, transportOver } from "./internal/Transport.ts"

export interface Options extends RetryPolicy {
  /** Base address of the service, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** The provider's public key id. */
  readonly key: string
  /** The provider's secret. */
  readonly secret: Redacted.Redacted
}

/** Makes a client. Needs {@link Services.layer} or an equivalent. Fails when the secret is empty. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const authorise = yield* signingWith("X-Provider-Key", options.key, options.secret)
  const transport = transportOver(yield* HttpClient.HttpClient, {
    baseUrl: new URL(options.baseUrl),
    authorise,
    patience: options
  })
  return yield* makeCalls(ProviderApi, { transport, isIdempotent: false })
})

export type ProviderClient = Effect.Success<ReturnType<typeof make>>
