/** Operator API handlers for a sandbox, an operator for tests: clock, reset and simulated actions. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../contract/Api.ts"
import { CurrentClaim, CurrentOperator } from "../../contract/common/Middleware.ts"
import { paymentFields } from "../../domain/payment/Payments.ts"
import type { PaymentTransitionName } from "../../domain/payment/PaymentTransitions.ts"
import type { PaymentType } from "../../domain/state/Change.ts"
import { Players } from "../../features/players/Players.ts"
import { SandboxClock } from "../../features/sandbox/SandboxClock.ts"
import { SandboxReset } from "../../features/sandbox/SandboxReset.ts"
import { Sandbox } from "../../features/sandbox/Sandbox.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { parseIso } from "../../platform/Time.ts"
import { dayAfter } from "../players/StaffHandlers.ts"

export const SandboxHandlers = HttpApiBuilder.group(
  Api,
  "sandbox",
  Effect.fnUntraced(function*(handlers) {
    const sandbox = yield* Sandbox
    const players = yield* Players
    const clock = yield* SandboxClock
    const resets = yield* SandboxReset

    const move =
      (type: PaymentType, transition: PaymentTransitionName) =>
      ({ params }: { readonly params: { readonly payment: number } }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const payment = { id: params.payment, type }
          return {
            data: paymentFields(
              yield* sandbox.movePayment(operator.id, payment, transition, `key:${apiKey.key}`)
            )
          }
        })

    return handlers
      .handle("clock", () =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* clock.show(operator.id) }
        }))
      .handle("advanceClock", ({ payload: { seconds, to } }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          const by = { seconds, to: to === undefined ? undefined : parseIso(to) }
          const data = yield* clock.advance(operator.id, by)
          const response = jsonResponse(data.advancing ? 202 : 200, JSON.stringify({ data }))
          return data.advancing
            ? HttpServerResponse.setHeader(response, "location", "/api/v1/operator/sandbox/clock")
            : response
        }), { uninterruptible: true })
      .handle("reset", () =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          const { body, status } = yield* resets.reset(operator.id, { label: `key:${apiKey.key}` }, {
            claim: yield* CurrentClaim,
            render: (successor) => ({
              status: 200,
              body: JSON.stringify({ data: { operator_id: successor, archived_operator_id: operator.id } })
            })
          })
          return jsonResponse(status, body)
        }), { uninterruptible: true })
      .handle("playRound", ({ params, payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* sandbox.playRound(operator.id, params.player, payload) }
        }), { uninterruptible: true })
      .handle("approve", move("withdrawal", "approve"), { uninterruptible: true })
      .handle("pay", move("withdrawal", "pay"), { uninterruptible: true })
      .handle("reject", move("withdrawal", "reject"), { uninterruptible: true })
      .handle("chargeback", move("deposit", "chargeback"), { uninterruptible: true })
      .handle("moveKyc", ({ params, payload }) =>
        Effect.gen(function*() {
          const { apiKey, operator } = yield* CurrentOperator
          yield* sandbox.moveKyc(operator.id, params.player, {
            status: payload.status,
            documentExpiresAt: dayAfter(payload.document_expires_on ?? null),
            reason: null,
            actor: `key:${apiKey.key}`
          })
          return { data: yield* players.get(operator.id, params.player) }
        }), { uninterruptible: true })
      .handle("raiseAlert", ({ payload }) =>
        Effect.gen(function*() {
          const { operator } = yield* CurrentOperator
          return { data: yield* sandbox.raiseAlert(operator.id, payload) }
        }), { uninterruptible: true })
  })
)
