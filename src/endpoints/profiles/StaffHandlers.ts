/** Staff API handlers for jurisdiction profiles. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { ProfileVersions } from "../../features/profiles/ProfileVersions.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"

export const ProfileHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "profile",
  Effect.fnUntraced(function*(handlers) {
    const profiles = yield* ProfileVersions
    return handlers
      .handle("list", () => Effect.map(profiles.list, (data) => ({ data })))
      .handle(
        "show",
        ({ params, query }) => Effect.map(profiles.show(params.code, query.version), (data) => ({ data }))
      )
      .handle("import", ({ payload }) => asStaff((actor) => profiles.add(actor, payload)))
      .handle("approve", ({ params }) => asStaff((actor) => profiles.approve(actor, params.code, params.version)))
  })
)
