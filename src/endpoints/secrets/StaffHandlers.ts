/** Staff API handlers for the inventory and re-encryption of encrypted columns. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { SealedSecrets } from "../../auth/SealedSecrets.ts"
import { AuditLog } from "../../office/AuditLog.ts"

export const SecretHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "secret",
  Effect.fnUntraced(function*(handlers) {
    const secrets = yield* SealedSecrets
    const audit = yield* AuditLog
    return handlers
      .handle("list", () => Effect.map(secrets.survey, (data) => ({ data })))
      .handle("reseal", () =>
        Effect.gen(function*() {
          const actor = yield* CurrentStaff
          const data = yield* secrets.reseal
          yield* audit.change(actor, ({ record }) =>
            record({ action: "secret.reseal", subject: "secrets", before: null, after: data }))
          return { data }
        }))
  })
)
