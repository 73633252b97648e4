/** Operator API handlers for jurisdiction profiles. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentOperator } from "../../contract/common/Middleware.ts"
import { OperatorProfiles } from "../../features/profiles/OperatorProfiles.ts"

export const ProfilesHandlers = HttpApiBuilder.group(
  Api,
  "profiles",
  Effect.fnUntraced(function*(handlers) {
    const profiles = yield* OperatorProfiles
    return handlers
      .handle("list", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* profiles.list(operator) }
        }))
      .handle("get", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* profiles.get(operator, params.code) }
        }))
  })
)
