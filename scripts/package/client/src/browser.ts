/** Client of a player's session: what `pitboss-client/player` exports. */
export * from "./Errors.ts"
export type * from "./generated/Contract.ts"
export type { List } from "./Lists.ts"
export { createPlayerClient, type PlayerClient, type PlayerClientOptions } from "./Player.ts"
export type { CallOptions, ConnectionOptions } from "./Transport.ts"
