/**
 * Reads the terms of the `large_credit` alert for credits by game providers: the threshold in the player's currency, the severity, and whether
 * withdrawals stop.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { settingsWith } from "../../domain/compliance/AlertRules.ts"
import { oneForOne, parseFactor, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { CreditTerms } from "../../domain/wallet/LargeCredits.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { Overrides } from "./RuleBook.ts"

const rows = rowsOf(Schema.Struct({
  settings: Schema.NullOr(Overrides),
  isBase: Schema.Boolean,
  factor: Schema.NullOr(Schema.String)
}))

/** Over the client that serves settlements. */
export const makeCreditTerms = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function*(playerId: number) {
    const row = yield* oneOf(rows(
      sql`SELECT s.settings, p.currency = o.currency AS "isBase",
          (SELECT r.factor::text FROM exchange_rates r WHERE r.currency = p.currency AND r.base = o.currency
            ORDER BY r.id DESC LIMIT 1) AS factor
        FROM players p JOIN operators o ON o.id = p.operator_id
        LEFT JOIN compliance_settings s ON s.operator_id = o.id AND s.rule = 'large_credit'
        WHERE p.id = ${playerId}::float8::bigint`
    ))
    const { large_credit: rule } = settingsWith(row?.settings ? { large_credit: row.settings } : {})
    if (!rule.enabled) return null
    // without a rate compared as it is, as every rule does
    const factor = row === undefined || row.isBase || row.factor === null
      ? oneForOne
      : parseFactor(row.factor) ?? oneForOne
    const above = thresholdIn(rule.threshold, factor) ?? rule.threshold
    return { above, severity: rule.severity, stopsWithdrawals: rule.stopWithdrawals } satisfies CreditTerms
  }, orTryAgain)
