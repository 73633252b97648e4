/** Staff API handlers for the key figures on the home page of the back office, which are updated live. */
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { Drain } from "../../http/Drain.ts"
import { enveloped } from "../../http/StaffEnvelope.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { CurrentAuthentication } from "../../office/CurrentAuthentication.ts"
import { LiveStreams } from "../../features/figures/LiveStreams.ts"
import { overviewFor, Overviews } from "../../features/figures/Overviews.ts"

export const FiguresHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "figures",
  Effect.fnUntraced(function*(handlers) {
    const overviews = yield* Overviews
    const streams = yield* LiveStreams
    const operators = yield* Operators
    const drain = yield* Drain
    return handlers
      .handle("overview", ({ query }) =>
        enveloped(Effect.gen(function*() {
          const actor = yield* CurrentStaff
          const scope = yield* operators.scope(actor, query.operator)
          return overviewFor(actor.role, (yield* overviews.read(scope)).overview)
        })))
      .handle("live", ({ query }) =>
        Effect.gen(function*() {
          const actor = yield* CurrentStaff
          const scope = yield* operators.scope(actor, query.operator)
          return Stream.encodeText(yield* streams.open(actor, scope, yield* CurrentAuthentication, drain.isDraining))
        }))
  })
)
