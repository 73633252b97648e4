/** Staff API endpoints for obligations: what players have to do before they may play or deposit, such as a limit review. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { refusals } from "../common/Errors.ts"
import { oneOf, pathId } from "../common/Fields.ts"
import { part, partQuery, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { action } from "../common/StaffAction.ts"
import { auditReason } from "../common/StaffFields.ts"
import { obligationKinds, obligationStates } from "../../domain/state/Obligation.ts"
import { RegisterStanding } from "../registers/RegisterResource.ts"
import { Limits } from "../responsibleGaming/LimitsResource.ts"
import { RealityCheck } from "../position/PositionResource.ts"
import { Obligation } from "./ObligationResource.ts"

/** An obligation, and whose it is. */
export const StaffObligation = Schema.Struct({ player_id: id, operator_id: id, ...Obligation.fields })

export type StaffObligation = typeof StaffObligation.Type

/** What the rules of a jurisdiction make of one player. */
export const PlayerCompliance = Schema.Struct({
  player_id: id,
  operator_id: id,
  jurisdiction: Schema.Struct({
    code: Schema.String,
    name: Schema.String,
    version: Schema.Int.annotate({ description: "The version that counts." }),
    moved_from: Schema.NullOr(Schema.String).annotate({
      description: "The jurisdiction whose stricter rules count as well, after a move; null: none."
    }),
    looser_from: Schema.NullOr(timestamp).annotate({ description: "From when the others count alone." })
  }),
  terms: Schema.Struct({
    required: Schema.NullOr(Schema.String).annotate({ description: "The operator's version; null: any." }),
    accepted: Schema.NullOr(Schema.String)
  }),
  registers: Schema.Array(RegisterStanding).annotate({
    description: "The last proper answer of each register that was asked."
  }),
  obligations: Schema.Array(Obligation).annotate({ description: "Those that are open, newest first." }),
  gates: Schema.Struct({
    play: Schema.Array(Schema.Literals(obligationKinds)).annotate({ description: "What stops play now." }),
    deposit: Schema.Array(Schema.Literals(obligationKinds)).annotate({ description: "What stops deposits now." })
  }),
  reality_check: Schema.Struct({
    own_interval: RealityCheck.fields.interval.annotate({
      description: "The player's own; null: that of the jurisdiction."
    }),
    ...RealityCheck.fields
  }),
  pending_changes: Limits.fields.pending_changes,
  self_exclusion: Limits.fields.self_exclusion
})

export type PlayerCompliance = typeof PlayerCompliance.Type

export const ObligationGroup = HttpApiGroup.make("obligation").annotate(
  OpenApi.Description,
  "What jurisdictions ask of players"
).add(
  HttpApiEndpoint.get("list", "/obligations", {
    query: {
      ...partQuery,
      player: pathId.annotate({ description: "Id of the player." }),
      state: Schema.optionalKey(oneOf(obligationStates).annotate({ description: "Filter by state." }))
    },
    success: part(StaffObligation)
  }).annotateMerge(
    action("A player's obligations, newest first", { roles: ["compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.post("waive", "/obligations/:obligation/waive", {
    params: { obligation: pathId },
    payload: Schema.Struct({ reason: auditReason }),
    success: single(StaffObligation),
    error: refusals("RESPONSIBLE_GAMING_RULE")
  }).annotateMerge(
    action("Open a gate without the player's answer; required limits cannot be waived", {
      roles: ["compliance"],
      concern: "operator"
    })
  )
)
