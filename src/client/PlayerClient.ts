/**
 * Typed client of the player API, for a browser or an app with a session token from the operator's server (`players.issueToken`). Calls with an
 * ended token fail with `INVALID_PLAYER_TOKEN`; the server then issues another one.
 *
 *     const player = yield* PlayerClient.make({ baseUrl: "https://pitboss.example", token: Redacted.make("pbt_…") })
 *     const { data: wallet } = yield* player.player_session.wallet()
 */
import { Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { PlayerApi } from "../contract/Api.ts"
import { makeCalls } from "./internal/Calls.ts"
import { bearing } from "./internal/Signing.ts"
import { type RetryPolicy, transportOver } from "./internal/Transport.ts"

export interface Options extends RetryPolicy {
  /** Base address of the service, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** A player session token. */
  readonly token: Redacted.Redacted
}

/** Makes a client for the token's player. Needs {@link Services.layer} or an equivalent. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const transport = transportOver(yield* HttpClient.HttpClient, {
    baseUrl: new URL(options.baseUrl),
    authorise: bearing(options.token),
    patience: options
  })
  return yield* makeCalls(PlayerApi, { transport, isIdempotent: true })
})

export type PlayerClient = Effect.Success<ReturnType<typeof make>>
