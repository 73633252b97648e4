/** Staff API handlers for player imports and exports. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { Exports } from "../../features/moving/Exports.ts"
import { ImportRuns } from "../../features/moving/ImportRuns.ts"
import { Imports } from "../../features/moving/Imports.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { walked } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

export const ImportHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "import_run",
  Effect.fnUntraced(function*(handlers) {
    const runs = yield* ImportRuns
    const imports = yield* Imports
    const exports = yield* Exports
    const operators = yield* Operators
    return handlers
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const { cursor, per_page: limit, status } = query
          return yield* walked(limit, yield* runs.list({ cursor, limit, scope, status }))
        }))
      .handle("show", ({ params }) => enveloped(runs.show(params.run)))
      .handle("approve", ({ params }) => asStaff((actor) => runs.approve(actor, params.run)))
      .handle(
        "reject",
        ({ params, payload }) => asStaff((actor) => runs.reject(actor, params.run, payload.reason ?? null))
      )
      .handle("open", ({ payload }) => asStaff((actor) => runs.open(actor, payload)))
      .handle("chunks", ({ params, query }) => enveloped(imports.chunks(params.run, query.after ?? -1)))
      .handle("put", ({ params, payload }) => asStaff((actor) => imports.put(actor, params.run, payload)))
      .handle("propose", ({ params, payload }) => asStaff((actor) => runs.propose(actor, params.run, payload.chunks)))
      .handle("check", ({ payload }) => asStaff((actor) => imports.check(actor, payload.operator, payload)))
      .handle("export", ({ query }) => asStaff((actor) => exports.part(actor, query.operator, query.after)))
  })
)
