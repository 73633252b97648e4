/** Client of a Pitboss service for operators' servers; the player's part and the verification of webhooks included. */
export * from "./Errors.ts"
export type { EventFeed, FollowQuery } from "./Events.ts"
export type * from "./generated/Contract.ts"
export type { List } from "./Lists.ts"
export { type ClientOptions, createClient, type OperatorClient } from "./Operator.ts"
export { createPlayerClient, type PlayerClient, type PlayerClientOptions } from "./Player.ts"
export type { CallOptions, ConnectionOptions } from "./Transport.ts"
export { type Delivery, verifyWebhook, WebhookError } from "./Webhooks.ts"
