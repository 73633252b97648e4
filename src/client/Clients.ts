/** All client modules by name, as `pitboss-client/effect` exports them. */
export * as Errors from "./Errors.ts"
export * as Lists from "./Lists.ts"
export * as OperatorClient from "./OperatorClient.ts"
export * as PlayerClient from "./PlayerClient.ts"
export * as ProviderClient from "./ProviderClient.ts"
export * as Services from "./Services.ts"
export * as Webhooks from "./Webhooks.ts"
