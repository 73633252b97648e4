/** All modules of the clients under their names: what `pitboss-client/effect` exports. */
export * as Errors from "./Errors.ts"
export * as Lists from "./Lists.ts"
export * as OperatorClient from "./OperatorClient.ts"
export * as PlayerClient from "./PlayerClient.ts"
export * as ProviderClient from "./ProviderClient.ts"
export * as Services from "./Services.ts"
export * as Webhooks from "./Webhooks.ts"
