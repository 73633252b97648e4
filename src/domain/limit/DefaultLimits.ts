/** Initial limits of a new player (SPEC section 4.2; `docs/decisions/0008-responsible-gaming.md`). */
import { type Factor, thresholdIn } from "../CurrencyConversion.ts"
import { type LimitField, limitFields } from "../LimitFields.ts"
import type { Limits } from "../state/Limits.ts"

const isAmount = (field: LimitField): boolean => field !== "max_session_minutes"

/**
 * Converts an operator's limits to a player's currency: the largest amounts of no greater value. Minutes are unchanged. Null when an amount needs
 * converting and there is no rate.
 */
export const limitsIn = (limits: Limits, factor: Factor | undefined): Limits | null => {
  const converted: { [field in LimitField]?: number } = {}
  for (const field of limitFields) {
    const value = limits[field]
    if (value === undefined) continue
    if (factor === undefined && isAmount(field)) return null
    converted[field] = isAmount(field) ? thresholdIn(value, factor) ?? 0 : value
  }
  return converted
}
