import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { RequiredFeature, RequiredScope } from "../Annotations.ts"
import { refusals } from "../Errors.ts"
import { amountFrom, lines, pathId, text } from "../Fields.ts"
import { list, single } from "../Pagination.ts"
import { PaymentMethod, PaymentRequest } from "../Payment.ts"

/** A deposit that the operator's own payment provider has collected (SPEC section 4.4). */
const Deposit = Schema.Struct({
  amount: amountFrom(1),
  external_reference: text(128, { description: "The operator's own reference, unique.", examples: ["psp-88213"] }),
  payment_method: Schema.optionalKey(text(64)),
  info: Schema.optionalKey(lines(1000, { description: "Shown to staff." })),
  notes: Schema.optionalKey(lines(2000, { description: "An internal note." }))
}).annotate({ identifier: "Deposit" })

export const PaymentsGroup = HttpApiGroup.make("payments")
  .add(
    HttpApiEndpoint.get("methods", "/payment-methods", { success: list(PaymentMethod) })
      .annotate(RequiredScope, "payments:read")
      .annotate(OpenApi.Summary, "Active payment methods for the operator's currency"),
    HttpApiEndpoint.post("deposit", "/players/:player/deposits", {
      params: { player: pathId },
      payload: Deposit,
      success: [
        single(PaymentRequest).pipe(HttpApiSchema.status(201)),
        single(PaymentRequest).annotate({ description: "The reference was known: the deposit that it names" })
      ],
      error: refusals("DUPLICATE_TRANSACTION", "PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "PAYMENT_REQUEST_INVALID")
    })
      .annotate(RequiredScope, "payments:write")
      .annotate(OpenApi.Summary, "Record a paid deposit")
      .annotate(
        OpenApi.Description,
        "Credits the real wallet at once. Repeating an `external_reference` answers 200 with the original deposit."
      )
  )
  .annotate(RequiredFeature, "payments")
  .annotate(OpenApi.Title, "Payments")
