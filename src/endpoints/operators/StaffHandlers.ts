/** Staff API handlers for operators and licensees. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"
import { Licensees } from "../../features/operators/Licensees.ts"
import { Operators } from "../../features/operators/Operators.ts"

export const OperatorHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "operator",
  Effect.fnUntraced(function*(handlers) {
    const operators = yield* Operators
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => operators.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => operators.update(actor, params.operator, payload)))
      .handle("setup", ({ params }) => asStaff((actor) => operators.setup(actor, params.operator)))
      .handle("list", () => asStaff(operators.list))
  })
)

export const LicenseeHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "licensee",
  Effect.fnUntraced(function*(handlers) {
    const licensees = yield* Licensees
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => licensees.create(actor, payload)))
      .handle("list", () => enveloped(licensees.list))
  })
)
