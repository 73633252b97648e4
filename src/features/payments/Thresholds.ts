/** Thresholds of an operator converted to a player's currency (`docs/decisions/0021-back-office-rules.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Factor, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { makeFactorOf } from "../exchangeRates/ExchangeRates.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const settings = rowsOf(Schema.Struct({ threshold: Schema.NullOr(Schema.Number), base: Schema.String }))

export class Thresholds extends Context.Service<Thresholds, {
  /**
   * Converts a threshold in minor units of `base` to the largest amount in minor units of `currency` not above it, at the current
   * rate. Null (no threshold) stays null. 0 without a rate: no amount is known to be small enough.
   */
  readonly convert: (
    threshold: number | null,
    to: { readonly currency: string; readonly base: string }
  ) => Effect.Effect<number | null, Refusal<"TRY_AGAIN">>
  /** The current rate from `base` to `currency`; undefined without one. */
  readonly factor: (
    to: { readonly currency: string; readonly base: string }
  ) => Effect.Effect<Factor | undefined, Refusal<"TRY_AGAIN">>
  /** Current maximum total of withdrawals of an operator's unverified player, in minor units of `currency`. */
  readonly kyc: (operatorId: number, currency: string) => Effect.Effect<number | null, Refusal<"TRY_AGAIN">>
}>()("pitboss/payments/Thresholds") {
  static readonly layer = Layer.effect(
    Thresholds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const factorOf = yield* makeFactorOf
      // called by reads and deposits, mostly without a conversion
      const convert: Thresholds["Service"]["convert"] = (threshold, to) =>
        threshold === null ? Effect.succeed(null) : Effect.map(factorOf(to), (factor) => thresholdIn(threshold, factor))
      const kyc = Effect.fn("Thresholds.kyc")(function*(operatorId: number, currency: string) {
        const row = yield* orTryAgain(oneOf(settings(
          sql`SELECT kyc_withdrawal_threshold AS threshold, currency AS base FROM operators WHERE id = ${operatorId}`
        )))
        return row === undefined ? null : yield* convert(row.threshold, { currency, base: row.base })
      })
      return Thresholds.of({ factor: factorOf, convert, kyc })
    })
  )
}
