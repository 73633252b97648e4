/** Client of the player's session: for browsers, apps and servers. */
import { makeCalls } from "./Calls.ts"
import type { PlayerCalls } from "./generated/Contract.ts"
import { playerEndpoints } from "./generated/PlayerEndpoints.ts"
import { bearing } from "./Signing.ts"
import { type ConnectionOptions, makeSend } from "./Transport.ts"

export interface PlayerClientOptions extends ConnectionOptions {
  /** A session token of the player, from `players.createSessionToken`; or a function that gives the current one for each request. */
  readonly token: string | (() => string | Promise<string>)
}

export type PlayerClient = PlayerCalls

/** Makes a client for the token's player. An ended token fails with the code `INVALID_PLAYER_TOKEN`. */
export const createPlayerClient = (options: PlayerClientOptions): PlayerClient =>
  makeCalls<PlayerCalls>(makeSend(options, bearing(options.token)), playerEndpoints)
