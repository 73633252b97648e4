/** Handlers of the verification and export of the ledger. */
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { enveloped } from "../../http/StaffEnvelope.ts"
import { Operators } from "../operators/Operators.ts"
import { LedgerAudit } from "./LedgerAudit.ts"

export const LedgerHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "ledger",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* LedgerAudit
    const operators = yield* Operators
    const resolve = (operator: string | undefined) =>
      operator === undefined ? Effect.undefined : operators.resolve(operator)
    return handlers.handle(
      "export",
      ({ query }) => Effect.map(Effect.flatMap(resolve(query.operator), audit.exported), Stream.encodeText)
    ).handle("verify", ({ query }) =>
      enveloped(Effect.gen(function*() {
        return yield* audit.verify(yield* resolve(query.operator))
      })))
  })
)
