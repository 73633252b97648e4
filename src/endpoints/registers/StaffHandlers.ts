/** Staff API handlers for exclusion registers and screenings. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { RegisterChecks } from "../../features/registers/RegisterChecks.ts"
import { RegisterSetup } from "../../features/registers/RegisterSetup.ts"
import { walked } from "../../http/Page.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

export const RegisterHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "register",
  Effect.fnUntraced(function*(handlers) {
    const setup = yield* RegisterSetup
    const checks = yield* RegisterChecks
    return handlers
      .handle("create", ({ payload }) => asStaff((actor) => setup.create(actor, payload)))
      .handle("update", ({ params, payload }) => asStaff((actor) => setup.update(actor, params.register, payload)))
      .handle("show", ({ params }) => enveloped(setup.show(params.register)))
      .handle("list", ({ query }) => asStaff((actor) => setup.list(actor, query.operator)))
      .handle("test", ({ params, payload }) => asStaff((actor) => setup.test(actor, params.register, payload.player)))
      .handle("refresh", ({ payload }) => asStaff((actor) => setup.refresh(actor, payload.operator, payload.kind)))
      .handle("checks", ({ query }) =>
        Effect.gen(function*() {
          const { cursor, event, operator, per_page: limit, player: playerId, verdict } = query
          const filters = { playerId, verdict, event, cursor, limit }
          return yield* walked(limit, yield* checks.walk(yield* CurrentStaff, operator, filters))
        }))
  })
)

export const ScreeningHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "screening",
  Effect.fnUntraced(function*(handlers) {
    const setup = yield* RegisterSetup
    return handlers
      .handle(
        "create",
        ({ payload: { operator, ...settings } }) =>
          asStaff((actor) => setup.create(actor, { operator, kind: "screening", settings }))
      )
      .handle(
        "update",
        ({ params, payload: { active, ...settings } }) =>
          asStaff((actor) =>
            setup.update(actor, params.screening, {
              ...(active === undefined ? {} : { active }),
              ...(Object.keys(settings).length === 0 ? {} : { settings })
            }, "screening")
          )
      )
  })
)
