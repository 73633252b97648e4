/** Operator API handler for `GET /me`: the calling key, its scopes and its operator. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { iso, isoOrNull } from "../../platform/Time.ts"

export const AccountHandlers = HttpApiBuilder.group(
  Api,
  "account",
  (handlers) =>
    handlers.handle("me", () =>
      Effect.gen(function*() {
        const { apiKey, operator } = yield* CurrentOperator
        return {
          data: {
            api_key: {
              key: apiKey.key,
              name: apiKey.name,
              scopes: apiKey.scopes,
              rate_limit_per_minute: apiKey.rateLimitPerMinute,
              expires_at: isoOrNull(apiKey.expiresAt)
            },
            operator: {
              id: operator.id,
              slug: operator.slug,
              name: operator.name,
              currency: operator.currency,
              cooperation_model: operator.cooperationModel,
              is_sandbox: operator.isSandbox
            },
            server_time: iso(yield* Clock.currentTimeMillis)
          }
        }
      }))
)
