/** Operator API handlers for limits and self-exclusion. */
import { Effect, Exit } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, OperatorApi } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import type { SelfExclusionRequest } from "../../contract/responsibleGaming/Api.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import type { LimitsResource } from "../../domain/limit/LimitUsage.ts"
import { ResponsibleGaming } from "../../features/responsibleGaming/ResponsibleGaming.ts"
import { parseIso } from "../../platform/Time.ts"
import { Endpoints, playerAlone } from "../../http/Endpoints.ts"
import { bodyObject } from "../../http/FormRules.ts"
import { jsonResponse } from "../../http/Refusals.ts"

const render = (resource: LimitsResource) => ({ status: 200, body: JSON.stringify({ data: resource }) })

type Gaming = ResponsibleGaming["Service"]

/** Changes limits by the body of the request; `actor` is the label of who asks. A name that is no limit is refused. */
export const changeLimits = Effect.fnUntraced(
  function*(gaming: Gaming, operator: Operator, playerId: number, actor: string) {
    yield* gaming.get(operator.id, playerId)
    const { limits } = yield* bodyObject
    const changes = readLimitChanges(limits)
    if ("_tag" in changes) return yield* Effect.fail(changes)
    const { applied, coolingOffHours, pending, resource } = yield* gaming.setLimits(operator.id, playerId, {
      changes,
      coolingOffHours: operator.coolingOffHours,
      actor
    })
    return { data: resource, meta: { applied, pending, cooling_off_hours: coolingOffHours } }
  }
)

/** Excludes a player, or prolongs the exclusion. */
export const exclude = Effect.fnUntraced(function*(
  gaming: Gaming,
  operator: Operator,
  playerId: number,
  request: typeof SelfExclusionRequest.Type,
  { actor, source }: { readonly actor: string; readonly source: "operator" | "player" }
) {
  const { period = null, scope, type = null, until } = request
  const resource = yield* gaming.selfExclude(operator.id, playerId, {
    period,
    until: until === undefined ? null : parseIso(until) ?? null,
    type,
    scope,
    source,
    actor
  }, { claim: yield* CurrentClaim, render })
  const { body, status } = render(resource)
  return jsonResponse(status, body)
})

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
          return yield* changeLimits(gaming, operator, params.player, `key:${apiKey.key}`)
        }))
      .handle("selfExclude", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          return yield* exclude(gaming, operator, params.player, payload, {
            actor: `key:${apiKey.key}`,
            source: "operator"
          })
        }))
  })
)
