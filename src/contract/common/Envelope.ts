/** Error envelope of Pitboss's own APIs (SPEC section 7), body size limits, and the retry advice to a game provider after a refusal. */
import { type Refusal, refuse, statusByCode } from "../../domain/Refusal.ts"

/** Maximum length of a request body. */
export const maxBodyBytes = 256 * 1024

export const bodyTooLarge = refuse("INVALID_REQUEST", "The body is larger than 256 KiB.", { max_bytes: maxBodyBytes })

/** Maximum length of a body from a player, or from somebody who signs in. */
export const maxSmallBodyBytes = 4096

export const smallBodyTooLarge = refuse("INVALID_REQUEST", "The body is larger than 4 KiB.", {
  max_bytes: maxSmallBodyBytes
})

export const serverError = refuse(
  "SERVER_ERROR",
  "Something went wrong on our side. Send the same request again, with the same idempotency key."
)

export const draining = refuse("TRY_AGAIN", "The service is restarting. Send the same request again.")

/** HTTP status of a refusal: 413 for a body that is too large. */
export const statusOf = (refusal: Refusal): number =>
  refusal === bodyTooLarge || refusal === smallBodyTooLarge ? 413 : statusByCode[refusal.code]

/** Retry advice to a provider after a refusal. */
export type Retry = "never" | "same_request" | "rollback"

/** Only temporary refusals and unknown outcomes are retried. */
export const retryOf = (refusal: Refusal, onFailure: Retry): Retry =>
  statusByCode[refusal.code] >= 500
    ? onFailure
    : refusal.code === "RATE_LIMITED"
    ? "same_request"
    : "never"

/** Response body of a refusal. */
export const refusalBody = ({ code, details, message }: Refusal): string =>
  JSON.stringify({ error: { code, message, details } })

/** `Retry-After` of a temporary refusal in seconds; undefined for others, and for requests that must not be sent again. */
export const retryAfterOf = ({ code, details }: Refusal): string | undefined => {
  const { retry_after_seconds: seconds } = details
  return code === "RATE_LIMITED" && typeof seconds === "number"
    ? String(seconds)
    : code === "TRY_AGAIN" && details["retry"] !== "never"
    ? "1"
    : undefined
}

/** The refusal with the retry advice to the provider. */
export const withRetry = (refusal: Refusal, retry: Retry): Refusal => ({
  ...refusal,
  details: { ...refusal.details, retry }
})
