/** How a key stands, whoever calls with it: what is left of its rate, and what its operator has. */
import { HttpServerResponse } from "effect/http"
import type { RateLimiter, Standing } from "../auth/RateLimiter.ts"
import { type ApiKey, type Feature, missingFeature, type Operator } from "../domain/Operator.ts"
import { refuse } from "../domain/Refusal.ts"

const secondsTo = (at: number, now: number): number => Math.max(1, Math.ceil((at - now) / 1000))

export const rateLimited = ({ limit, resetsAt }: Standing, now: number) =>
  refuse("RATE_LIMITED", `The key has used its ${limit} requests per minute.`, {
    retry_after_seconds: secondsTo(resetsAt, now)
  })

export const playerRateLimited = ({ limit, resetsAt }: Standing, now: number) =>
  refuse("RATE_LIMITED", `The player has used ${limit} requests per minute, which is what one player may.`, {
    retry_after_seconds: secondsTo(resetsAt, now)
  })

export const refuseFeature = (operator: Operator, required: Feature | undefined) => {
  const feature = required === undefined ? undefined : missingFeature(operator, required)
  return feature === undefined
    ? undefined
    : refuse("FEATURE_NOT_AVAILABLE", `The feature ${feature} is not available for this operator.`, { feature })
}

/** Adds the headers that tell what is left of the key's rate. */
export const withStanding = (
  limiter: RateLimiter["Service"],
  response: HttpServerResponse.HttpServerResponse,
  apiKey: ApiKey,
  now: number
): HttpServerResponse.HttpServerResponse => {
  const { limit, remaining, resetsAt } = limiter.look(apiKey.id, apiKey.rateLimitPerMinute, now)
  return HttpServerResponse.setHeaders(response, {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    ...(response.status === 429 && response.headers["retry-after"] === undefined
      ? { "retry-after": String(secondsTo(resetsAt, now)) }
      : {})
  })
}
