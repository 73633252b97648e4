/** Staff API handlers for data retention, erasure and data subject requests. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { DataRequests } from "../../features/privacy/DataRequests.ts"
import { Erasures } from "../../features/privacy/Erasures.ts"
import { Retention } from "../../features/privacy/Retention.ts"
import { walked } from "../../http/Page.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const DataHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "data",
  Effect.fnUntraced(function*(handlers) {
    const requests = yield* DataRequests
    const erasures = yield* Erasures
    const retention = yield* Retention
    return handlers
      .handle("retention", ({ query }) => asStaff((actor) => retention.report(actor, query.operator)))
      .handle("erase", ({ params, payload: { dry_run: dryRun = false } }) =>
        asStaff(({ label }) =>
          Effect.map(
            erasures.erase(params.player, { actor: label, dryRun }),
            ({ erased, kept, operatorId }) => ({
              player_id: params.player,
              operator_id: operatorId,
              dry_run: dryRun,
              erased,
              kept
            })
          )
        ))
      .handle("requests", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, operator, per_page: limit, player: playerId, status, type } = query
          return yield* walked(
            limit,
            yield* requests.walk(yield* CurrentStaff, operator, { playerId, type, status, limit, cursor })
          )
        }))
  })
)
