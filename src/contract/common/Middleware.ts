/**
 * API middleware as declared in the contract: authentication, and processing around every handler, with the refusals and services that each adds.
 * Implemented in `src/http`.
 */
import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type { IdempotencyClaim } from "../../domain/state/Idempotency.ts"
import type { ApiKey, Operator } from "../../domain/state/Operator.ts"
import { refusals } from "./Errors.ts"

/** Operator whose key signed the request, and that key. */
export class CurrentOperator extends Context.Service<CurrentOperator, {
  readonly operator: Operator
  readonly apiKey: ApiKey
}>()("pitboss/contract/CurrentOperator") {}

/** Player of the request's session token, and the operator whose key issued it. */
export class CurrentPlayer extends Context.Service<CurrentPlayer, {
  readonly playerId: number
  readonly operator: Operator
}>()("pitboss/contract/CurrentPlayer") {}

/** Idempotency key claimed by this request; undefined without one. */
export const CurrentClaim = Context.Reference<IdempotencyClaim | undefined>("pitboss/contract/CurrentClaim", {
  defaultValue: () => undefined
})

/** Turns malformed requests into refusals. */
export class RequestRules
  extends HttpApiMiddleware.Service<RequestRules, { requires: CurrentOperator }>()("pitboss/contract/RequestRules", {
    error: refusals("NOT_FOUND", "INVALID_REQUEST", "VALIDATION_FAILED", "TRY_AGAIN")
  })
{}

/** Refusals of a POST by its `Idempotency-Key`, for operators, players and staff. */
export const idempotencyRefusals = refusals(
  "INVALID_IDEMPOTENCY_KEY",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_IN_PROGRESS",
  "INVALID_REQUEST",
  "TRY_AGAIN"
)

/** Runs a POST with an `Idempotency-Key` once and replays the first answer to every retry. */
export class IdempotentPost extends HttpApiMiddleware.Service<IdempotentPost, { requires: CurrentOperator }>()(
  "pitboss/contract/IdempotentPost",
  {
    error: idempotencyRefusals
  }
) {}

/** Like {@link RequestRules}, for requests with a player's token. */
export class PlayerRequestRules extends HttpApiMiddleware.Service<PlayerRequestRules, { requires: CurrentPlayer }>()(
  "pitboss/contract/PlayerRequestRules",
  {
    error: refusals("NOT_FOUND", "INVALID_REQUEST", "VALIDATION_FAILED", "TRY_AGAIN")
  }
) {}

/** Like {@link IdempotentPost}, with keys scoped to the player. */
export class PlayerIdempotentPost
  extends HttpApiMiddleware.Service<PlayerIdempotentPost, { requires: CurrentPlayer }>()(
    "pitboss/contract/PlayerIdempotentPost",
    {
      error: idempotencyRefusals
    }
  )
{}

/** Authenticates requests by a valid player session token (`Authorization: Bearer …`). */
export class PlayerAuth extends HttpApiMiddleware.Service<PlayerAuth, { provides: CurrentPlayer }>()(
  "pitboss/contract/PlayerAuth",
  { error: refusals("INVALID_PLAYER_TOKEN", "RATE_LIMITED", "FEATURE_NOT_AVAILABLE", "SERVER_ERROR", "TRY_AGAIN") }
) {}

/** Authenticates signed requests of operators, and enforces their key's IP allowlist, rate limit, scopes and features. */
export class OperatorAuth extends HttpApiMiddleware.Service<OperatorAuth, { provides: CurrentOperator }>()(
  "pitboss/contract/OperatorAuth",
  {
    error: refusals(
      "MISSING_CREDENTIALS",
      "INVALID_API_KEY",
      "API_KEY_INACTIVE",
      "TIMESTAMP_OUT_OF_RANGE",
      "INVALID_NONCE",
      "INVALID_SIGNATURE",
      "REPLAYED_REQUEST",
      "IP_NOT_ALLOWED",
      "RATE_LIMITED",
      "INSUFFICIENT_SCOPE",
      "FEATURE_NOT_AVAILABLE",
      "SERVER_ERROR",
      "TRY_AGAIN"
    )
  }
) {}

/** Authenticates signed requests of game providers; part of their lane, outside the router. */
export class ProviderAuth extends HttpApiMiddleware.Service<ProviderAuth>()(
  "pitboss/contract/ProviderAuth",
  {
    error: refusals(
      "MISSING_CREDENTIALS",
      "INVALID_API_KEY",
      "TIMESTAMP_OUT_OF_RANGE",
      "INVALID_NONCE",
      "INVALID_SIGNATURE",
      "IP_NOT_ALLOWED",
      "RATE_LIMITED",
      "NOT_FOUND",
      "INVALID_REQUEST",
      "VALIDATION_FAILED",
      "SERVER_ERROR",
      "TRY_AGAIN"
    )
  }
) {}
