/** Initial limits of a new player (SPEC section 4.2; `docs/decisions/0008-responsible-gaming.md`). */
import { type Factor, thresholdIn } from "../CurrencyConversion.ts"
import { type LimitField, limitFields } from "../LimitFields.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import type { Refusal } from "../Refusal.ts"
import { limitBit, type Limits } from "../state/Limits.ts"
import { type LimitChanges, refuseCapped } from "./LimitChanges.ts"

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

/**
 * Limits of a new player: those that were chosen, and the operator's, the lower of both; with the set of the chosen ones. One above the cap of the
 * jurisdiction is refused.
 */
export const initialLimits = (
  defaults: Limits,
  chosen: LimitChanges,
  { limits: { caps } }: Pick<Rules, "limits">
): { readonly limits: Limits; readonly limitsSet: number } | Refusal<"VALIDATION_FAILED"> => {
  const limits: { [field in LimitField]?: number } = { ...defaults }
  let limitsSet = 0
  for (const [field, value] of chosen) {
    if (value === null) continue
    const cap = caps[field]
    if (cap !== undefined && value > cap) return refuseCapped(field, cap)
    limits[field] = Math.min(value, limits[field] ?? value)
    limitsSet |= limitBit(field)
  }
  return { limits, limitsSet }
}
