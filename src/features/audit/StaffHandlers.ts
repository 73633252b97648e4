/** Handlers of the audit log. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi, CurrentStaff } from "../../contract/StaffApi.ts"
import { AuditLog } from "./AuditLog.ts"
import { Operators } from "../operators/Operators.ts"
import { parseIso } from "../../platform/Time.ts"
import { paginatedWithCursor, walked } from "../../http/Page.ts"

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
          from: query.from === undefined ? undefined : parseIso(query.from),
          to: query.to === undefined ? undefined : parseIso(query.to)
        }
        const perPage = query.per_page
        if (query.cursor !== undefined) {
          const below = query.cursor === "" ? undefined : Number(query.cursor)
          const { items, next } = yield* auditLog.walk({ ...filters, below, perPage })
          return yield* walked(perPage, items, next === undefined ? undefined : String(next))
        }
        const { items, more, total } = yield* auditLog.list({ ...filters, page: query.page, perPage })
        const last = items.at(-1)
        return yield* paginatedWithCursor(query, total, items, last === undefined ? undefined : String(last.id), more)
      }))
  })
)
