/** Looks up the terms of a payment request: its payment method, and caps and bounds in the player's currency. */
import { Effect } from "effect"
import { areOpen, type Bounds, boundsIn, type Factor, oneForOne, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import type { Lacking } from "../../store/Planned.ts"
import { type PaymentMethod, PaymentMethods } from "./Methods.ts"
import { Thresholds } from "./Thresholds.ts"

/** What was looked up; null where there is nothing, undefined where it was not looked up. */
export interface KnownTerms {
  readonly method: PaymentMethod | null | undefined
  readonly currency: string | undefined
  readonly factor: Factor | null | undefined
}

export const noTerms: KnownTerms = { method: undefined, currency: undefined, factor: undefined }

/** A request, with the operator's caps in the operator's currency. */
interface PlannedPayment {
  readonly operator: Operator
  readonly playerId: number
  readonly methodCode: string | null
  readonly boundsOf: (method: PaymentMethod) => Bounds
  readonly caps: ReadonlyArray<number | null>
}

interface PaymentTerms {
  /** Null without a method, or for one that there is not. */
  readonly method: PaymentMethod | null
  /** Null without a method, and where a rate is needed and missing. */
  readonly bounds: Bounds | null
  readonly inCurrency: (cap: number | null) => number | null
}

type PlanTerms = (
  payment: PlannedPayment,
  known: KnownTerms
) => PaymentTerms | Lacking<KnownTerms, ActorRefusal>

/** Plans the terms of payments from the methods, players and rates in memory. */
export const makePlanTerms: Effect.Effect<PlanTerms, never, PaymentMethods | PlayerActors | Thresholds> = Effect.gen(
  function*() {
    const actors = yield* PlayerActors
    const methods = yield* PaymentMethods
    const thresholds = yield* Thresholds

    const lackingMethod = (operatorId: number, code: string): Lacking<KnownTerms, ActorRefusal> => ({
      _tag: "Lacking",
      lookUp: () => Effect.map(methods.find(operatorId, code), (method) => ({ method: method ?? null }))
    })
    const lackingCurrency = (operatorId: number, playerId: number): Lacking<KnownTerms, ActorRefusal> => ({
      _tag: "Lacking",
      lookUp: () => Effect.map(actors.read(operatorId, playerId), ({ currency }) => ({ currency }))
    })
    const lackingFactor = (currency: string, base: string): Lacking<KnownTerms, ActorRefusal> => ({
      _tag: "Lacking",
      lookUp: () => Effect.map(thresholds.factor({ currency, base }), (factor) => ({ factor: factor ?? null }))
    })

    const termsAt = (
      method: PaymentMethod | null,
      bounds: Bounds | null,
      factor: Factor | undefined
    ): PaymentTerms => ({
      method,
      bounds: bounds && boundsIn(bounds, factor),
      inCurrency: (cap) => thresholdIn(cap, factor)
    })

    return ({ boundsOf, caps, methodCode, operator, playerId }, known) => {
      const method = methodCode === null ? null : methods.findUnsafe(operator.id, methodCode) ?? known.method
      if (method === undefined) return lackingMethod(operator.id, methodCode ?? "")
      const bounds = method && boundsOf(method)
      // nothing is an amount of the operator's currency
      if (caps.every((cap) => cap === null) && (bounds === null || areOpen(bounds))) {
        return termsAt(method, bounds, oneForOne)
      }
      const currency = actors.peek(operator.id, playerId)?.currency ?? known.currency
      if (currency === undefined) return lackingCurrency(operator.id, playerId)
      if (currency === operator.currency) return termsAt(method, bounds, oneForOne)
      return known.factor === undefined
        ? lackingFactor(currency, operator.currency)
        : termsAt(method, bounds, known.factor ?? undefined)
    }
  }
)
