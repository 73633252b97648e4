/** Staff API handler for the audit log. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { periodOf } from "../../platform/Time.ts"
import { walked } from "../../http/Page.ts"

export const AuditHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "audit",
  Effect.fnUntraced(function*(handlers) {
    const auditLog = yield* AuditLog
    const operators = yield* Operators
    return handlers.handle("list", ({ query }) =>
      Effect.gen(function*() {
        const filters = {
          scope: yield* operators.scope(yield* CurrentStaff, query.operator),
          playerId: query.player,
          actor: query.staff === undefined ? undefined : `staff:${query.staff}`,
          action: query.action,
          ...periodOf(query)
        }
        const { cursor, per_page: limit } = query
        return yield* walked(limit, yield* auditLog.list({ ...filters, cursor, limit }))
      }))
  })
)
