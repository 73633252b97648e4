/** Handlers of limits and self-exclusion for operators. */
import { Effect, Exit } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import type { LimitsResource } from "../../domain/limit/LimitUsage.ts"
import { ResponsibleGaming } from "../../features/responsibleGaming/ResponsibleGaming.ts"
import { parseIso } from "../../platform/Time.ts"
import { Endpoints, playerAlone } from "../../http/Endpoints.ts"
import { bodyObject } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"

const render = (resource: LimitsResource) => ({ status: 200, body: JSON.stringify({ data: resource }) })

export const ResponsibleGamingHandlers = HttpApiBuilder.group(
  Api,
  "responsible_gaming",
  Effect.fnUntraced(function*(handlers) {
    const gaming = yield* ResponsibleGaming
    const endpoints = yield* Endpoints
    endpoints.addRead(
      OperatorApi.groups.responsible_gaming.endpoints.limits,
      ({ operator }, found) => {
        const playerId = playerAlone(found)
        const resource = playerId === undefined ? undefined : gaming.getAtOnce(operator.id, playerId)
        return resource === undefined ? undefined : (done) => done(Exit.succeed(resource))
      },
      (data) => ({ data })
    )
    return handlers
      .handle("limits", ({ params }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* gaming.get(operator.id, params.player) }
        }))
      // Taken as it came: a name that is no limit must be refused, and a schema would leave it out.
      .handleRaw("setLimits", ({ params }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          yield* gaming.get(operator.id, params.player)
          const { limits } = yield* bodyObject
          const changes = readLimitChanges(limits)
          if ("_tag" in changes) return yield* Effect.fail(changes)
          const { applied, coolingOffHours, pending, resource } = yield* gaming.setLimits(operator.id, params.player, {
            changes,
            coolingOffHours: operator.coolingOffHours,
            actor: `key:${apiKey.key}`
          })
          return { data: resource, meta: { applied, pending, cooling_off_hours: coolingOffHours } }
        }))
      .handle("selfExclude", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const { period = null, type = null, until } = payload
          const resource = yield* gaming.selfExclude(operator.id, params.player, {
            period,
            until: until === undefined ? null : parseIso(until) ?? null,
            type,
            actor: `key:${apiKey.key}`
          }, { claim: yield* CurrentClaim, render })
          const { body, status } = render(resource)
          return jsonResponse(status, body)
        }))
  })
)
