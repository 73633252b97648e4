/** Operator API endpoints for limits and self-exclusion. */
import { Schema } from "effect"
import { exclusionPeriods, exclusionScopes, exclusionTypes } from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, EitherOf, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { instant, oneOf, pathId } from "../common/Fields.ts"
import { LimitChanges, limitName, Limits } from "./LimitsResource.ts"
import { single } from "../common/Pagination.ts"

/** The limits after a change, and what became of each that was sent. */
export const ChangedLimits = Schema.Struct({
  data: Limits,
  meta: Schema.Struct({
    applied: Schema.Array(limitName).annotate({ description: "The limits sent that are in force as sent." }),
    pending: Schema.Array(limitName).annotate({ description: "The limits sent that wait for the cooling-off." }),
    cooling_off_hours: Schema.Int
  })
})

/** New values by limit. */
export const LimitsRequest = Schema.Struct({ limits: LimitChanges }).annotate({
  identifier: "LimitsRequest",
  examples: [{ limits: { max_daily_deposit: 10_000, max_single_bet: null } }]
})

/** Exactly one of `period` and `until`. */
export const SelfExclusionRequest = Schema.Struct({
  period: Schema.optionalKey(oneOf(exclusionPeriods)),
  until: Schema.optionalKey(instant),
  type: Schema.optionalKey(oneOf(exclusionTypes)),
  scope: Schema.optionalKey(
    oneOf(exclusionScopes).annotate({
      description: "Where it holds: a must where the player's jurisdiction asks, else what the jurisdiction says."
    })
  )
}).annotate({ identifier: "SelfExclusionRequest", examples: [{ period: "7_days" }] })

export const ResponsibleGamingGroup = HttpApiGroup.make("responsible_gaming")
  .add(
    HttpApiEndpoint.get("limits", "/players/:player/limits", { params: { player: pathId }, success: single(Limits) })
      .annotate(RequiredScope, "players:read")
      .annotateMerge(about(
        "A player's limits, what waits and what was used",
        "`pending_changes` are raises within their cooling-off period. `usage` says of each limit what counts against it now and when it " +
          "begins anew; days, ISO weeks, months and years are those of UTC."
      )),
    HttpApiEndpoint.put("setLimits", "/players/:player/limits", {
      params: { player: pathId },
      payload: LimitsRequest,
      success: ChangedLimits,
      error: refusals("RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredScope, "limits:write")
      .annotateMerge(about(
        "Change limits",
        "Only the limits sent change. A new or lower one applies at once; a higher one, or null, after the cooling-off period."
      )),
    HttpApiEndpoint.post("selfExclude", "/players/:player/self-exclusion", {
      params: { player: pathId },
      payload: SelfExclusionRequest,
      success: single(Limits),
      error: refusals("RESPONSIBLE_GAMING_RULE")
    })
      .annotate(RequiredScope, "limits:write")
      .annotate(EitherOf, ["period", "until"])
      .annotateMerge(about("Exclude a player from play", "Can be prolonged, never shortened or lifted."))
  )
  .annotate(RequiredFeature, "responsible_gaming")
  .annotateMerge(OpenApi.annotations({
    title: "Responsible gaming",
    description:
      "Limits and self-exclusion. What protects the player applies at once, what loosens it waits or is refused."
  }))
