/**
 * Labels of the contract's fields, in forms, tables and facts: the name in words, unless listed here. A page with another meaning of a field gives
 * its own label.
 */
import { asHeading } from "./Values.tsx"

const labels: Readonly<Record<string, string>> = {
  birth_date: "Born",
  bonus_id: "Bonus",
  can_bet: "May bet",
  can_deposit: "May deposit",
  can_login: "May sign in",
  can_withdraw: "May withdraw",
  cooling_off_hours: "Cooling-off hours",
  cooperation_model: "Model",
  document_expires_on: "Document valid until",
  document_number: "Document",
  email: "E-mail",
  excluded_from_bonuses: "Gets no bonuses",
  external_reference: "Reference",
  forfeit_bonus_on_withdrawal: "A withdrawal ends a running bonus",
  disabled_features: "Features that are off",
  ip: "From address",
  ip_allowlist: "Addresses",
  kyc_status: "KYC",
  kyc_withdrawal_threshold: "KYC threshold",
  last_login_at: "Last sign-in",
  dormant_since: "Dormant since",
  max_bet: "Largest stake",
  max_deposit: "Largest deposit",
  max_redemptions: "Redemptions at most",
  max_withdrawal: "Largest withdrawal",
  min_deposit: "Smallest deposit",
  min_withdrawal: "Smallest withdrawal",
  operator_id: "Operator",
  original_max_payout: "Maximum payout of an original",
  original_max_stake: "Maximum stake of an original",
  payment_method: "Method",
  player_id: "Player",
  rate_limit_per_minute: "Requests per minute",
  report_offset_hours: "Hours ahead of UTC in local reports",
  risk_level: "Risk",
  rtp: "RTP",
  thumbnail_url: "Address of its picture",
  updated_at: "Changed",
  url: "Address",
  valid_days: "Days that it runs",
  window_hours: "Window (hours)",
  withdrawal_second_approval_above: "Second approval above"
}

/** Label of a field; of one in an object, by its own name. `paid_at` is Paid, `is_test` is Test. */
export const labelOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf(".") + 1)
  const own = name.replace(/^(?:is|has|supports)_|_at$/gu, "")
  return labels[name] ?? asHeading(own).replaceAll(/\b(kyc|url|ip)\b/giu, (word) => word.toUpperCase())
}
