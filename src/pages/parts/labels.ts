/**
 * Labels of the contract's fields, in forms, tables and facts: the name in words, unless it stands here. A page that means something else by a field
 * says so where it shows it.
 */
import { asHeading } from "./Values.tsx"

const labels: Readonly<Record<string, string>> = {
  birth_date: "Born",
  bonus_id: "Bonus",
  document_number: "Document",
  email: "E-mail",
  external_id: "External id",
  external_reference: "Reference",
  ip: "From address",
  ip_allowlist: "Addresses",
  kyc_status: "KYC",
  last_login_at: "Last sign-in",
  max_deposit: "Largest deposit",
  max_withdrawal: "Largest withdrawal",
  min_deposit: "Smallest deposit",
  min_withdrawal: "Smallest withdrawal",
  operator_id: "Operator",
  payment_method: "Method",
  player_id: "Player",
  risk_level: "Risk",
  rtp: "RTP",
  updated_at: "Changed",
  url: "Address"
}

/** Label of a field; of one in an object, by its own name. `paid_at` is Paid, `is_test` is Test. */
export const labelOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf(".") + 1)
  const own = name.replace(/^(?:is|has|supports)_|_at$/gu, "")
  return labels[name] ?? asHeading(own).replaceAll(/\b(kyc|url|ip)\b/giu, (word) => word.toUpperCase())
}
