/** Rate-limit headers and refusals, and the check of the operator's features, for operator and player requests alike. */
import { HttpServerResponse } from "effect/http"
import type { RateLimiter, RateLimitStatus } from "../auth/RateLimiter.ts"
import { type ApiKey, type Feature, missingFeature, type Operator } from "../domain/state/Operator.ts"
import { refuse } from "../domain/Refusal.ts"

const secondsTo = (at: number, now: number): number => Math.max(1, Math.ceil((at - now) / 1000))

export const rateLimited = ({ limit, resetsAt }: RateLimitStatus, now: number) =>
  refuse("RATE_LIMITED", `The key has used its ${limit} requests per minute.`, {
    retry_after_seconds: secondsTo(resetsAt, now)
  })

export const playerRateLimited = ({ limit, resetsAt }: RateLimitStatus, now: number) =>
  refuse("RATE_LIMITED", `The player has used the ${limit} requests per minute that one player may send.`, {
    retry_after_seconds: secondsTo(resetsAt, now)
  })

export const refuseFeature = (operator: Operator, required: Feature | undefined) => {
  const feature = required === undefined ? undefined : missingFeature(operator, required)
  return feature === undefined
    ? undefined
    : refuse("FEATURE_NOT_AVAILABLE", `The feature ${feature} is not available for this operator.`, { feature })
}

/** Adds a limit, its remainder, and when a request that it refused may be sent again. */
export const withRateLimit = (
  response: HttpServerResponse.HttpServerResponse,
  { limit, remaining, resetsAt }: RateLimitStatus,
  now: number
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    ...(response.status === 429 && response.headers["retry-after"] === undefined
      ? { "retry-after": String(secondsTo(resetsAt, now)) }
      : {})
  })

/** Adds the key's rate limit, unless another one has refused the request. */
export const withRateLimitHeaders = (
  limiter: RateLimiter["Service"],
  response: HttpServerResponse.HttpServerResponse,
  apiKey: ApiKey,
  now: number
): HttpServerResponse.HttpServerResponse =>
  response.headers["x-ratelimit-limit"] === undefined
    ? withRateLimit(response, limiter.peek(apiKey.id, apiKey.rateLimitPerMinute, now), now)
    : response

/** The same as header lines, for answers other than refusals. */
export const rateLimitLines = (limiter: RateLimiter["Service"], apiKey: ApiKey, now: number): string => {
  const { limit, remaining } = limiter.peek(apiKey.id, apiKey.rateLimitPerMinute, now)
  return `x-ratelimit-limit: ${limit}\r\nx-ratelimit-remaining: ${remaining}\r\n`
}
