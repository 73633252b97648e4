/**
 * The API of players, typed: what a browser or an app calls with a session token, which the operator's server gets from
 * `players.issueToken`. A token that is over answers `INVALID_PLAYER_TOKEN`; then the server issues another one.
 *
 *     const player = yield* PlayerClient.make({ baseUrl: "https://pitboss.example", token: Redacted.make("pbt_…") })
 *     const { data: wallet } = yield* player.player_session.wallet()
 */
import { Effect, type Redacted } from "effect"
import { HttpClient } from "effect/http"
import { PlayerApi } from "../contract/Api.ts"
import { makeCalls } from "./internal/Calls.ts"
import { bearing } from "./internal/Signing.ts"
import { type Patience, transportOver } from "./internal/Transport.ts"

export interface Options extends Patience {
  /** Where the service is, without `/api/v1`. */
  readonly baseUrl: string | URL
  /** A player session token. */
  readonly token: Redacted.Redacted
}

/** Makes a client for the token's player. Needs {@link Services.layer} or the like. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const transport = transportOver(yield* HttpClient.HttpClient, {
    baseUrl: new URL(options.baseUrl),
    authorise: bearing(options.token),
    patience: options
  })
  return yield* makeCalls(PlayerApi, { transport, isIdempotent: true })
})

/** What {@link make} gives. */
export type PlayerClient = Effect.Success<ReturnType<typeof make>>
