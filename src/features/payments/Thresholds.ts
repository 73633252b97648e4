/** Thresholds of an operator converted to a player's currency (`docs/decisions/0021-back-office-rules.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { areOpen, type Bounds, boundsIn, thresholdIn } from "../../domain/bonus/Conversion.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { makeFactorOf } from "../exchangeRates/ExchangeRates.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const settings = rowsOf(Schema.Struct({ threshold: Schema.NullOr(Schema.Number), base: Schema.String }))

export class Thresholds extends Context.Service<Thresholds, {
  /**
   * A threshold in minor units of `base` as the largest amount in minor units of `currency` that is not above it, at the rate
   * that holds now. Null, no threshold, stays null. Without a rate it is 0: nothing is known to be small enough.
   */
  readonly convert: (
    threshold: number | null,
    to: { readonly currency: string; readonly base: string }
  ) => Effect.Effect<number | null, Refusal<"TRY_AGAIN">>
  /** Bounds in minor units of `base` in minor units of `currency`, at the rate that holds now. Null: they need a rate and there is none. */
  readonly bounds: (
    bounds: Bounds,
    to: { readonly currency: string; readonly base: string }
  ) => Effect.Effect<Bounds | null, Refusal<"TRY_AGAIN">>
  /** What an unverified player of an operator may withdraw in total, in minor units of `currency`, as it is set now. */
  readonly kyc: (operatorId: number, currency: string) => Effect.Effect<number | null, Refusal<"TRY_AGAIN">>
}>()("pitboss/payments/Thresholds") {
  static readonly layer = Layer.effect(
    Thresholds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const factorOf = yield* makeFactorOf
      // asked by reads and deposits, mostly where nothing has to be converted
      const convert: Thresholds["Service"]["convert"] = (threshold, to) =>
        threshold === null ? Effect.succeed(null) : Effect.map(factorOf(to), (factor) => thresholdIn(threshold, factor))
      const bounds: Thresholds["Service"]["bounds"] = (own, to) =>
        areOpen(own) ? Effect.succeed(own) : Effect.map(factorOf(to), (factor) => boundsIn(own, factor))
      const kyc = Effect.fn("Thresholds.kyc")(function*(operatorId: number, currency: string) {
        const row = yield* orTryAgain(oneOf(settings(
          sql`SELECT kyc_withdrawal_threshold AS threshold, currency AS base FROM operators WHERE id = ${operatorId}`
        )))
        return row === undefined ? null : yield* convert(row.threshold, { currency, base: row.base })
      })
      return Thresholds.of({ bounds, convert, kyc })
    })
  )
}
