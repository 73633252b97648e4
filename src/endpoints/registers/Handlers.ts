/** Operator API handler for a player's checks at exclusion registers. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { RegisterChecks } from "../../features/registers/RegisterChecks.ts"
import { paginated } from "../../http/Page.ts"

export const RegistersHandlers = HttpApiBuilder.group(
  Api,
  "registers",
  Effect.fnUntraced(function*(handlers) {
    const checks = yield* RegisterChecks
    return handlers.handle("checks", ({ params, query }) =>
      Effect.gen(function*() {
        const { operator } = yield* CurrentOperator
        const { page, per_page: perPage } = query
        const { items, total } = yield* checks.of(operator.id, params.player, { page, perPage })
        return yield* paginated(query, total, items)
      }))
  })
)
