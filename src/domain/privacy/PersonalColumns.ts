/**
 * Columns of the database with personal data of players, each with its retention class (docs/decisions/0064-retention.md). A test compares this with
 * the tables: a column of text, bytes, JSON or dates is in one class, or is named as not personal with its reason.
 *
 * Ids, amounts, counts, flags and instants are not listed: they say something about a person only beside a row that names the person, and reports,
 * the ledger and the proofs are made of them.
 */
import type { RetentionClass } from "../jurisdiction/Profile.ts"

type Columns = { readonly [name in RetentionClass]?: string }

/** Personal columns of a table by class, names separated by spaces. */
export const personalColumns: { readonly [table: string]: Columns } = {
  acknowledgements: { consents: "channel" },
  audit_log: { identity: "before after reason salt" },
  case_evidence: { aml: "reference sha256" },
  case_notes: { aml: "note" },
  case_reports: { aml: "reference" },
  cases: { aml: "details" },
  compliance_alerts: { aml: "details notes" },
  corrections: { payments: "reason reject_reason" },
  events: { identity: "data" },
  former_identities: { identity: "first_name last_name birth_date" },
  game_sessions: { security: "ip platform" },
  idempotency_keys: { identity: "body body_sealed" },
  imported_players: { identity: "line_digest password_sealed" },
  obligations: { aml: "details" },
  payment_requests: { payments: "details_sealed reject_reason" },
  player_bonuses: { gambling: "note" },
  player_facts: { exclusion: "digest" },
  player_notes: { identity: "text" },
  players: {
    identity:
      "external_id username email password_hash first_name last_name middle_name gender birth_date city address zip_code " +
      "phone search_text numbers_sealed words birth_name birth_place last_name_prefix",
    exclusion: "personal_id_digest document_number_digest",
    checks: "registers",
    security: "registration_ip",
    marketing: "registration_btag registration_affiliate_id consents"
  },
  register_checks: { checks: "person_digest" },
  register_codes: { checks: "code_sealed" },
  webhook_deliveries: { identity: "error response_body" }
}

/** Why a column holds nothing personal of a player. */
const reasons = {
  word: "a word, code or number of a list or a rule",
  staff: "says which account of staff or which key acted, kept with what was done",
  setting: "a setting or a secret of the service or an operator",
  vendor: "what a game provider names its rounds, messages and games by",
  reference: "what an operator names its own request by",
  proof: "a digest or a signature that proves something and leads to no value",
  fairness: "the proof of a round of an original, which has to be computed again",
  figure: "sums and days of reports, of many players"
} as const

type Reason = keyof typeof reasons

/** Columns that are not personal, by reason. */
export const otherColumns: { readonly [table: string]: { readonly [reason in Reason]?: string } } = {
  accepted_signatures: { proof: "signature process" },
  accounts: { figure: "counters activity" },
  acknowledgements: { word: "kind answer field text_version", staff: "by" },
  api_keys: { setting: "key name secret_sealed scopes ip_allowlist" },
  audit_log: { word: "action subject", staff: "actor", proof: "values_digest" },
  bonus_cost_changes: { figure: "day currency" },
  bonus_costs: { figure: "day currency" },
  bonus_liabilities: { figure: "currency" },
  bonuses: { setting: "name description type contributions" },
  bootstrap_retirement: { staff: "retired_by" },
  case_evidence: { word: "kind", staff: "by" },
  case_notes: { word: "status", staff: "by" },
  case_orders: { word: "order" },
  case_reports: { word: "authority consent" },
  cases: { word: "type status decision occurrence", staff: "opened_by" },
  chain_links: { proof: "hash tag digests" },
  chain_seal_heads: { proof: "hash" },
  chain_seals: { proof: "hash" },
  cluster_runners: { setting: "address runner" },
  cluster_shards: { setting: "owner" },
  compliance_alerts: { word: "rule occurrence severity status hold" },
  compliance_effects: { word: "kind fields" },
  compliance_settings: { setting: "rule settings" },
  corrections: { word: "wallet currency status", staff: "requested_by decided_by" },
  data_requests: { word: "type status result", staff: "created_by" },
  daily_players: { figure: "day previous_day kind" },
  daily_sums: { figure: "day currency" },
  events: { word: "type" },
  exchange_rates: { setting: "currency base" },
  figure_funds: { figure: "currency wallet" },
  free_rounds: { reference: "reference", vendor: "vendor_reference", word: "currency status", staff: "created_by" },
  game_sessions: { word: "mode" },
  game_sums: { figure: "day currency base" },
  game_sums_walk: { figure: "name since" },
  games: { vendor: "external_id name type category thumbnail_url original vendor_category" },
  idempotency_keys: { reference: "scope key", proof: "fingerprint" },
  import_checked_players: { proof: "player_digest", word: "currency" },
  import_chunks: { proof: "lines_sha256", figure: "totals", word: "rejected" },
  import_runs: {
    setting: "name",
    proof: "file_sha256",
    word: "status",
    figure: "totals",
    staff: "proposed_by decided_by"
  },
  jobs: { setting: "name runner last_error" },
  kept_calls: {
    vendor:
      "transaction_id target_transaction_id game_external_id round_id kind method amount currency result code reason answer"
  },
  kept_secrets: { setting: "name sealed" },
  ledger_blocks: { word: "wallet type" },
  ledger_entries: { word: "wallet type", vendor: "game_round_id" },
  ledger_restores: {
    staff: "reason requested_by approved_by",
    proof: "old_hash new_hash tag requested_end request_tag accepted_end"
  },
  ledger_verification: { proof: "seal_hash players_hash tag" },
  licensees: { setting: "name" },
  obligations: { word: "kind gates state" },
  operators: {
    setting:
      "slug name currency cooperation_model disabled_features default_limits profiles default_profile terms_version"
  },
  original_rounds: { fairness: "original client_seed params outcome" },
  payment_counts: { figure: "created_on type status" },
  payment_methods: { setting: "code name currencies" },
  payment_requests: {
    word: "type status currency payment_method",
    reference: "external_reference",
    staff: "first_approved_by second_approved_by"
  },
  player_bonuses: { word: "name type state result contributions" },
  player_counts: { figure: "created_on status kyc_status" },
  player_facts: { word: "kind" },
  player_notes: { staff: "author" },
  players: {
    word:
      "country language currency category risk_level registration_source registration_promo_code terms_version status kyc_status " +
      "exclusion_type erased_classes limits pending_limits withdrawal_holds jurisdiction exclusion_source exclusion_scope exclusion_return_wait " +
      "moved_from reality_check"
  },
  profile_factors: { setting: "code currency" },
  profile_versions: { setting: "code document", staff: "approved_by imported_by" },
  promo_codes: { setting: "code" },
  vendor_tasks: { vendor: "kind" },
  provider_transactions: { vendor: "transaction_id kind status round_id target_transaction_id detail" },
  providers: {
    setting: "slug name key secret_sealed launch_url demo_url ip_allowlist protocol settings settings_sealed"
  },
  register_checks: { word: "kind event verdict fault profile", reference: "request_id response_id" },
  register_codes: { word: "kind" },
  register_connections: { setting: "kind settings settings_sealed" },
  rounds: { vendor: "round_id" },
  schema_migrations: { setting: "name checksum release" },
  screenings: { word: "event" },
  server_seeds: { fairness: "server_seed_hash server_seed_sealed server_seed client_seed" },
  staff: {
    staff: "name role token_hash created_by token_issued_by password_hash totp_sealed totp_pending_sealed oidc_subject"
  },
  staff_attempts: { staff: "subject" },
  staff_recovery_codes: { staff: "code_hash" },
  staff_sessions: { staff: "token_hash method address user_agent of_token" },
  staff_spending: { staff: "staff approved_by", word: "kind" },
  staff_tickets: { staff: "token_hash issued_by of_token" },
  staff_tokens: { staff: "issued_by kind" },
  stale_rounds: { vendor: "round_id" },
  webhook_deliveries: { word: "status" },
  webhook_endpoints: { setting: "url events secret_sealed previous_secret_sealed" }
}
