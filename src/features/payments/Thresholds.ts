/** Converts an operator's thresholds to a player's currency (`docs/decisions/0021-staff.md`). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Factor, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { StandingTerms } from "../../domain/standing/Standing.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { makeFactorOf } from "../exchangeRates/CurrentRate.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const settings = rowsOf(Schema.Struct({
  base: Schema.String,
  kyc: Schema.NullOr(Schema.Number),
  deposits: Schema.NullOr(Schema.Number),
  withdrawals: Schema.NullOr(Schema.Number)
}))

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
  /** Current caps of an operator on its players, in minor units of `currency`; the KYC threshold caps the withdrawals of an unverified one. */
  readonly caps: (operatorId: number, currency: string) => Effect.Effect<StandingTerms, Refusal<"TRY_AGAIN">>
}>()("pitboss/payments/Thresholds") {
  static readonly layer = Layer.effect(
    Thresholds,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const factorOf = yield* makeFactorOf
      // called by reads and deposits, mostly without a conversion
      const convert: Thresholds["Service"]["convert"] = (threshold, to) =>
        threshold === null ? Effect.succeed(null) : Effect.map(factorOf(to), (factor) => thresholdIn(threshold, factor))
      const caps = Effect.fn("Thresholds.caps")(function*(operatorId: number, currency: string) {
        const row = yield* orTryAgain(oneOf(settings(
          sql`SELECT currency AS base, kyc_withdrawal_threshold AS kyc, daily_deposit_cap AS deposits, daily_withdrawal_cap AS withdrawals
            FROM operators WHERE id = ${operatorId}`
        )))
        const inCurrency = (cap: number | null) =>
          row === undefined ? Effect.succeed(null) : convert(cap, { currency, base: row.base })
        return yield* Effect.all({
          kycThreshold: inCurrency(row?.kyc ?? null),
          dailyDepositCap: inCurrency(row?.deposits ?? null),
          dailyWithdrawalCap: inCurrency(row?.withdrawals ?? null)
        })
      })
      return Thresholds.of({ factor: factorOf, convert, caps })
    })
  )
}
