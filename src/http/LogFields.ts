/** Log fields of a request and its caller, read from the context of the fiber that logs. */
import { Context } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { CurrentOperator, CurrentPlayer } from "../contract/common/Middleware.ts"
import type { LogFields } from "../platform/Logging.ts"
import { type Named, RequestIds } from "./RequestIds.ts"

/** A request of the providers' lane, outside the router. */
export interface LaneRequest {
  readonly id: () => string
  readonly method: string
  readonly path: string
  readonly providerId: number
}

/** Request of the current fiber of the providers' lane. */
export const CurrentLaneRequest = Context.Reference<LaneRequest | undefined>("pitboss/http/CurrentLaneRequest", {
  defaultValue: () => undefined
})

const idForm = /^[0-9]{1,16}$/

const idOf = (context: Context.Context<never>, request: Named): string | undefined =>
  Context.getOrUndefined(context, RequestIds)?.of(request)

/** Ids and path templates; no text of callers. */
export const logFields: LogFields = (context) => {
  const lane = Context.get(context, CurrentLaneRequest)
  if (lane !== undefined) {
    return { request_id: lane.id(), method: lane.method, path: lane.path, provider_id: lane.providerId }
  }
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  if (request === undefined) return {}
  const route = Context.getOrUndefined(context, HttpRouter.RouteContext)
  const caller = Context.getOrUndefined(context, CurrentOperator)
  const player = Context.getOrUndefined(context, CurrentPlayer)
  const named = route?.params["player"]
  const playerId = player?.playerId ?? (named !== undefined && idForm.test(named) ? Number(named) : undefined)
  return {
    request_id: idOf(context, request),
    method: request.method,
    path: route?.route.path,
    operator_id: caller?.operator.id ?? player?.operator.id,
    player_id: playerId
  }
}
