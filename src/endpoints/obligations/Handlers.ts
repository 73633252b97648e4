/**
 * Operator API handlers for obligations, what a player has to accept or do before playing on (new terms, a reality check, questions), and for its
 * acknowledgement.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import type { AcknowledgementRequest } from "../../contract/obligations/ObligationResource.ts"
import type { Acknowledge } from "../../domain/limit/Acknowledgements.ts"
import type { NewAcknowledgement } from "../../domain/state/Obligation.ts"
import { acknowledgementFields, Obligations } from "../../features/obligations/Obligations.ts"
import { paginated } from "../../http/Page.ts"
import { jsonResponse } from "../../http/Refusals.ts"

/** The response to an answer that was taken down. */
export const renderAcknowledgement = (made: NewAcknowledgement) => ({
  status: 201,
  body: JSON.stringify({ data: acknowledgementFields(made) })
})

/** An answer as a command of who took it down. */
export const toAcknowledge = (
  { answer, channel, field, kind, obligation_id: obligationId, text_version: textVersion }:
    typeof AcknowledgementRequest.Type,
  by: Pick<Acknowledge, "actor" | "by">
): Acknowledge => ({
  kind,
  answer,
  field: field ?? null,
  obligationId: obligationId ?? null,
  textVersion: textVersion ?? null,
  channel: channel ?? null,
  ...by
})

export const ObligationsHandlers = HttpApiBuilder.group(
  Api,
  "obligations",
  Effect.fnUntraced(function*(handlers) {
    const obligations = yield* Obligations
    return handlers
      .handle("list", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* obligations.list(operator.id, params.player, query.state) }
        }))
      .handle("acknowledge", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const command = toAcknowledge(payload, { by: "operator", actor: `key:${apiKey.key}` })
          const made = yield* obligations.acknowledge(operator.id, params.player, command, {
            claim: yield* CurrentClaim,
            render: renderAcknowledgement
          })
          const { body, status } = renderAcknowledgement(made)
          return jsonResponse(status, body)
        }))
      .handle("acknowledgements", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const { page, per_page: perPage } = query
          const { items, total } = yield* obligations.acknowledgements(operator.id, params.player, { page, perPage })
          return yield* paginated(query, total, items)
        }))
  })
)
