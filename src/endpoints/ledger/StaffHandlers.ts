/** Staff API handlers for the ledger: entries, verification, export, and acceptance of a restored backup. */
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { cursorPaged } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { periodOf } from "../../platform/Time.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { LedgerAudit } from "../../features/ledger/LedgerAudit.ts"
import { LedgerEntries } from "../../features/ledger/LedgerEntries.ts"
import { LedgerRestores } from "../../features/ledger/LedgerRestores.ts"

export const LedgerHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "ledger",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* LedgerAudit
    const operators = yield* Operators
    const entries = yield* LedgerEntries
    const restores = yield* LedgerRestores
    const resolve = (operator: string | undefined) =>
      operator === undefined ? Effect.undefined : operators.resolve(operator)
    return handlers.handle("entries", ({ query }) =>
      Effect.gen(function*() {
        const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
        const { cursor, limit, provider, round, transaction, type, wallet } = query
        const page = yield* entries.list({
          scope,
          playerId: query.player,
          wallet,
          type,
          transaction,
          provider,
          round,
          currency: query.currency,
          minAmount: query.min_amount,
          maxAmount: query.max_amount,
          ...periodOf(query),
          limit,
          cursor
        })
        return cursorPaged(limit, page)
      })).handle(
        "export",
        ({ query }) => Effect.map(Effect.flatMap(resolve(query.operator), audit.exported), Stream.encodeText)
      ).handle("accept_restore", ({ payload }) => asStaff((actor) => restores.accept(actor, payload.reason))).handle(
        "verify",
        ({ query }) =>
          enveloped(Effect.gen(function*() {
            return yield* audit.verify(yield* resolve(query.operator), query.all === undefined ? "new" : "everything")
          }))
      )
  })
)
