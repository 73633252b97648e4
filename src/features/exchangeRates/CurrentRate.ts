/** Reads the current exchange rate between two currencies. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { oneForOne, parseFactor } from "../../domain/CurrencyConversion.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

const factors = rowsOf(Schema.Struct({ factor: Schema.String }))

/** Factor from minor units of a currency to those of another; undefined without a rate. */
export const makeFactorOf = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    // read from the table: a rate that staff set a moment ago counts
    Effect.fnUntraced(function*({ base, currency }: { readonly currency: string; readonly base: string }) {
      if (currency === base) return oneForOne
      const row = yield* oneOf(factors(
        sql`SELECT factor::text AS factor FROM exchange_rates WHERE currency = ${currency} AND base = ${base}
          ORDER BY id DESC LIMIT 1`
      ))
      return row === undefined ? undefined : parseFactor(row.factor)
    }, orTryAgain)
)
