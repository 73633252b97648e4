/**
 * The wallet API of game providers, typed: for studios, and for operators who test against a provider of their own. Messages are
 * made harmless by their `transaction_id`, so what gets no answer is sent again; except a bet, which is then taken back with
 * `rollback`, as `details.retry` says.
 */
import { Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { ProviderApi } from "../contract/Api.ts"
import { makeCalls } from "./internal/Calls.ts"
import { signingWith } from "./internal/Signing.ts"
import { type Patience, transportOver } from "./internal/Transport.ts"

export interface Options extends Patience {
  /** Where the service is, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** The provider's public key id. */
  readonly key: string
  /** The provider's secret. */
  readonly secret: Redacted.Redacted
}

/** Makes a client. Needs {@link Services.layer} or the like. Fails when the secret is empty. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const authorise = yield* signingWith("X-Provider-Key", options.key, options.secret)
  const transport = transportOver(yield* HttpClient.HttpClient, {
    baseUrl: new URL(options.baseUrl),
    authorise,
    patience: options
  })
  return yield* makeCalls(ProviderApi, { transport, isIdempotent: false })
})

/** What {@link make} gives. */
export type ProviderClient = Effect.Success<ReturnType<typeof make>>
