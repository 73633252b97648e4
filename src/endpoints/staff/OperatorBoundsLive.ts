/**
 * Operator check for staff bound to operators, before the handler of every action (`docs/decisions/0021-staff.md`): records named in path, query or
 * body must belong to one of their operators, and are answered as not found otherwise.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { parseObject } from "../../contract/common/FormErrors.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { bytesOrNone } from "../../http/RequestBytes.ts"
import { routedValues } from "../../http/RequestTarget.ts"
import { refuseOverfull } from "../../protocols/ApiBodies.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { concernOf } from "../../office/Authorisation.ts"
import { isWithin, type Scope } from "../../store/OperatorScope.ts"
import { makeOwners, missing, targetOf } from "../../office/OperatorTargets.ts"

/** Refusal of installation-wide actions to bound staff. */
export const wholeInstallation = refuse(
  "INSUFFICIENT_SCOPE",
  "This action covers the whole installation: it requires an account that is not bound to operators.",
  { reason: "bound_to_operators" }
)

const nameOne = refuse(
  "INSUFFICIENT_SCOPE",
  "This action covers all operators. Name one that your account may access.",
  { reason: "bound_to_operators" }
)

/** Values of path and query by their names; of a repeated query parameter, each. */
const targetValues = Effect.map(routedValues, ({ params, query }) => [
  ...Object.entries(params),
  ...Object.entries(query).flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const))
])

/** Values of a request under their names, those of a body that is an object as well. */
const namedIn = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const inTarget = yield* targetValues
  if (request.method === "GET" || request.method === "HEAD") return inTarget
  // one with too many values is refused by the form rules, unread
  const isOverfull = refuseOverfull(yield* bytesOrNone(request)) !== undefined
  const body = isOverfull ? undefined : parseObject(yield* Effect.orElseSucceed(request.text, () => ""))
  return [...inTarget, ...Object.entries(body ?? {})]
})

export class OperatorCheck extends Context.Service<OperatorCheck, {
  /** Refuses an action that is not for staff bound to operators, and one that names a record of another operator. Null: not bound, no check. */
  readonly refuseForeign: (
    operators: Scope,
    action: string
  ) => Effect.Effect<
    void,
    Refusal<"INSUFFICIENT_SCOPE" | "NOT_FOUND" | "TRY_AGAIN">,
    HttpServerRequest.HttpServerRequest
  >
}>()("pitboss/staff/OperatorCheck") {
  static readonly layer = Layer.effect(
    OperatorCheck,
    Effect.gen(function*() {
      const ownerOf = yield* makeOwners

      const refuseForeign: OperatorCheck["Service"]["refuseForeign"] = Effect.fn("OperatorCheck.refuseForeign")(
        function*(operators, action) {
          if (operators === null) return
          const concern = concernOf(action)
          if (concern === "self" || concern === "catalogue") return
          if (concern === "installation") return yield* Effect.fail(wholeInstallation)
          const named = yield* namedIn(yield* HttpServerRequest.HttpServerRequest)
          if (concern === "one_operator" && !named.some(([name]) => name === "operator")) {
            return yield* Effect.fail(nameOne)
          }
          for (const [name, value] of named) {
            const target = targetOf(action, name)
            if (target === undefined || (typeof value !== "string" && typeof value !== "number")) continue
            const owner = yield* orTryAgain(ownerOf(target, String(value)))
            if (owner !== undefined && !isWithin(operators, owner)) return yield* Effect.fail(missing(target))
          }
        }
      )

      return OperatorCheck.of({ refuseForeign })
    })
  )
}
