// Generated from src/contract by scripts/package/ClientContract.ts; `npx vitest run test/api -u` writes it anew.
import type { List } from "../Lists.ts"
import type { CallOptions } from "../Transport.ts"

/** Codes of errors. */
export type ErrorCode = "API_KEY_INACTIVE" | "BET_ALREADY_SETTLED" | "BET_NOT_FOUND" | "BET_ROLLED_BACK" | "BONUS_INVALID" | "DUPLICATE_TRANSACTION" | "FEATURE_NOT_AVAILABLE" | "GAME_UNAVAILABLE" | "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_KEY_REUSED" | "INSUFFICIENT_FUNDS" | "INSUFFICIENT_SCOPE" | "INVALID_API_KEY" | "INVALID_IDEMPOTENCY_KEY" | "INVALID_NONCE" | "INVALID_PLAYER_TOKEN" | "INVALID_REQUEST" | "INVALID_SESSION" | "INVALID_SIGNATURE" | "IP_NOT_ALLOWED" | "KYC_REQUIRED" | "LIMIT_EXCEEDED" | "MISSING_CREDENTIALS" | "NOT_AN_ORIGINAL" | "NOT_FOUND" | "PAYMENT_REQUEST_INVALID" | "PLAYER_RESTRICTED" | "PROMO_CODE_INVALID" | "RATE_LIMITED" | "REPLAYED_REQUEST" | "RESPONSIBLE_GAMING_RULE" | "ROLLBACK_NOT_ALLOWED" | "ROUND_CLOSED" | "SELF_EXCLUDED_IDENTITY" | "SERVER_ERROR" | "TIMESTAMP_OUT_OF_RANGE" | "TRY_AGAIN" | "VALIDATION_FAILED"

/** Types of events. */
export type EventType = "player.registered" | "deposit.paid" | "withdrawal.requested" | "withdrawal.paid" | "withdrawal.rejected" | "bonus.granted" | "bonus.completed" | "kyc.status_changed" | "player.self_excluded" | "player.register_excluded" | "player.register_cleared" | "obligation.created" | "obligation.met" | "limit.raise_confirmable" | "reality_check.due" | "player.dormant" | "compliance.alert_created" | "compliance.case_opened" | "compliance.case_closed" | "data_request.completed"

export type ProviderTransactionStatus = {
  readonly transaction_id: string
  readonly status: "unknown" | "processed" | "rolled_back" | "tombstone"
}

export type Settlement = {
  readonly request_id: string | null
  readonly transaction_id: string | null
  readonly status: "processed" | "replayed" | "ignored"
  readonly wallet_transaction_ids: ReadonlyArray<number>
  /** Minor units. */
  readonly real_amount: number
  /** Minor units. */
  readonly bonus_amount: number
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  /** ISO 4217. */
  readonly currency: string
  /** Rises by one with every action that moves the player's money. */
  readonly wallet_seq: number
  readonly round_state: "open" | "closed"
}

export type PromoWin = {
  readonly request_id: string
  readonly transaction_id: string
  readonly player_ref: string
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  readonly kind: "jackpot" | "tournament" | "free_rounds" | "cash_drop"
  readonly campaign_id: string
}

export type CloseRound = {
  readonly request_id?: string | undefined
  readonly player_ref: string
  readonly game_id: string
  readonly round_id: string
}

export type Rollback = {
  readonly request_id: string
  readonly transaction_id: string
  readonly player_ref: string
  readonly target_transaction_id: string
}

export type SettledBatch = {
  readonly request_id: string | null
  readonly results: ReadonlyArray<Settlement>
}

export type Batch = {
  readonly request_id?: string | undefined
  readonly actions: ReadonlyArray<{
    readonly action: "bet"
    readonly request_id?: string | undefined
    readonly transaction_id: string
    readonly session_token: string
    readonly game_id: string
    readonly round_id: string
    /** Minor units. */
    readonly amount: number
    readonly currency: string
    readonly is_free?: boolean | undefined
    readonly campaign_id?: string | undefined
    readonly round_closed?: boolean | undefined
  } | {
    readonly action: "win"
    readonly request_id?: string | undefined
    readonly transaction_id: string
    readonly player_ref: string
    readonly game_id: string
    readonly round_id: string
    readonly bet_transaction_id: string
    /** Minor units. */
    readonly amount: number
    readonly currency: string
    readonly round_closed?: boolean | undefined
  } | {
    readonly action: "rollback"
    readonly request_id?: string | undefined
    readonly transaction_id: string
    readonly player_ref: string
    readonly target_transaction_id: string
  }>
}

export type BetWin = {
  readonly request_id: string
  readonly transaction_id: string
  readonly session_token: string
  readonly game_id: string
  readonly round_id: string
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  readonly is_free?: boolean | undefined
  readonly campaign_id?: string | undefined
  readonly round_closed?: boolean | undefined
  readonly win: {
    readonly transaction_id: string
    /** Minor units. */
    readonly amount: number
  }
}

export type Win = {
  readonly request_id: string
  readonly transaction_id: string
  readonly player_ref: string
  readonly game_id: string
  readonly round_id: string
  readonly bet_transaction_id: string
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  readonly round_closed?: boolean | undefined
}

export type Bet = {
  readonly request_id: string
  readonly transaction_id: string
  readonly session_token: string
  readonly game_id: string
  readonly round_id: string
  /** Minor units. */
  readonly amount: number
  readonly currency: string
  readonly is_free?: boolean | undefined
  readonly campaign_id?: string | undefined
  readonly round_closed?: boolean | undefined
}

export type ProviderBalance = {
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  /** ISO 4217. */
  readonly currency: string
}

export type WalletSession = {
  readonly player_ref: string
  /** ISO 4217. */
  readonly currency: string
  readonly country: string
  readonly language: string
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  readonly session_expires_at: string
}

export type RoundProof = {
  /** Also the `game_round_id` of the ledger entries. */
  readonly round_id: string
  readonly game_id: number
  /** The built-in game. */
  readonly original: string
  /** Minor units. */
  readonly stake: number
  /** Minor units. */
  readonly payout: number
  /** What the stake was multiplied by: four decimals, 0 when the bet is lost. */
  readonly multiplier: number
  /** What the game lets the player choose. */
  readonly params: { readonly [name: string]: unknown }
  /** The choice, and what chance made of it. */
  readonly outcome: { readonly [name: string]: unknown }
  /** ISO 4217. */
  readonly currency: string
  readonly created_at: string
  readonly fairness: {
    /** SHA-256 of the server seed, which decides the rounds and is shown when it is retired. */
    readonly server_seed_hash: string
    readonly client_seed: string
    /** Counts the rounds under a server seed, from 0. */
    readonly nonce: number
    /** Null until a rotation retires it. */
    readonly server_seed: string | null
  }
  /** How to make hash and outcome again. */
  readonly verification: {
    /** What the hash is made of. */
    readonly hash: string
    /** What the numbers of the round are made of, cursor 0, 1, 2, … */
    readonly block: string
  }
}

export type Acknowledgement = {
  readonly id: number
  readonly kind: "limit_prompt" | "limit_raise" | "return_to_play" | "terms" | "limit_review" | "funds_notice" | "reality_check" | "consent"
  readonly answer: "accept" | "decline" | "continue" | "stop"
  /** The limit of a raise; channel and product of a consent (`email.casino`, `*` for all), null where all were withdrawn. */
  readonly field: string | null
  readonly obligation_id: number | null
  readonly text_version: string | null
  readonly channel: "web" | "app" | "phone" | "mail" | null
  readonly by: "player" | "operator" | "staff"
  readonly at: string
}

export type AcknowledgementRequest = {
  readonly kind: "limit_prompt" | "limit_raise" | "return_to_play" | "terms" | "limit_review" | "funds_notice" | "reality_check" | "consent"
  readonly answer: "accept" | "decline" | "continue" | "stop"
  readonly field?: "max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes" | undefined
  readonly obligation_id?: number | undefined
  readonly text_version?: string | undefined
  readonly channel?: "web" | "app" | "phone" | "mail" | undefined
}

export type Obligation = {
  readonly id: number
  readonly kind: "required_limits" | "limit_prompt" | "terms" | "limit_review" | "funds_notice" | "reality_check" | "source_of_funds" | "screening" | "vulnerability_check"
  readonly state: "open" | "met" | "waived"
  /** What is refused while it is open. */
  readonly gates: ReadonlyArray<"play" | "deposit">
  readonly due_at: string | null
  readonly created_at: string
  readonly met_at: string | null
  readonly details: { readonly [name: string]: unknown }
}

export type RealityCheck = {
  /** The player's own, or that of the jurisdiction; null: none. */
  readonly interval: string | null
  /** Since the session began or the last one was acknowledged; 0 without a session. */
  readonly elapsed_seconds: number
  /** When the next one falls due, or the one that is open did; null without a session or an interval. */
  readonly due_at: string | null
  readonly session: PlaySession
}

export type PlaySession = {
  /** The first bet or launch after 15 minutes without a bet; null: no session runs. */
  readonly since: string | null
  readonly elapsed_seconds: number
  /** Minor units. */
  readonly staked: number
  /** Minor units. */
  readonly won: number
  /** Won less staked. */
  readonly net: number
}

export type RealityCheckRequest = {
  /** ISO 8601, within the bounds of the jurisdiction; null removes the player's own. */
  readonly interval: string | null
}

export type Position = {
  /** ISO 4217. */
  readonly currency: string
  readonly session: PlaySession
  readonly day: Turnover
  readonly rolling_30_days: Turnover_1
  readonly lifetime: {
    /** Without those that were charged back. */
    readonly deposits: number
    /** Requested, and neither rejected nor cancelled. */
    readonly withdrawals: number
    /** Deposits less withdrawals. */
    readonly net_deposits: number
  }
}

/** The last 30 times 24 hours. */
export type Turnover_1 = {
  /** Without those that were charged back. */
  readonly deposits: number
  /** Requested, and neither rejected nor cancelled. */
  readonly withdrawals: number
  /** Deposits less withdrawals. */
  readonly net_deposits: number
  /** Minor units. */
  readonly staked: number
  /** Minor units. */
  readonly won: number
  /** Won less staked. */
  readonly net: number
}

/** Since midnight UTC. */
export type Turnover = {
  /** Without those that were charged back. */
  readonly deposits: number
  /** Requested, and neither rejected nor cancelled. */
  readonly withdrawals: number
  /** Deposits less withdrawals. */
  readonly net_deposits: number
  /** Minor units. */
  readonly staked: number
  /** Minor units. */
  readonly won: number
  /** Won less staked. */
  readonly net: number
}

export type Limits = {
  readonly player_id: number
  /** ISO 4217. */
  readonly currency: string
  /** Minor units, minutes for max_session_minutes; null means no limit. */
  readonly limits: {
    readonly max_single_bet: number | null
    readonly max_daily_bet: number | null
    readonly max_weekly_bet: number | null
    readonly max_monthly_bet: number | null
    readonly casino_max_single_bet: number | null
    readonly casino_max_daily_bet: number | null
    readonly max_daily_loss: number | null
    readonly max_weekly_loss: number | null
    readonly max_monthly_loss: number | null
    readonly max_single_deposit: number | null
    readonly max_daily_deposit: number | null
    readonly max_weekly_deposit: number | null
    readonly max_monthly_deposit: number | null
    readonly max_yearly_deposit: number | null
    readonly max_balance: number | null
    readonly max_session_minutes: number | null
  }
  readonly pending_changes: ReadonlyArray<{
    readonly field: "max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes"
    readonly current_value: number | null
    readonly requested_value: number | null
    readonly effective_at: string
    /** With a raise that has to be confirmed, which is never in force by itself. */
    readonly confirm_from?: string | undefined
    readonly confirm_until?: string | undefined
  }>
  readonly self_exclusion: SelfExclusion | null
  readonly usage: {
    readonly max_single_bet: LimitUsage
    readonly max_daily_bet: LimitUsage
    readonly max_weekly_bet: LimitUsage
    readonly max_monthly_bet: LimitUsage
    readonly casino_max_single_bet: LimitUsage
    readonly casino_max_daily_bet: LimitUsage
    readonly max_daily_loss: LimitUsage
    readonly max_weekly_loss: LimitUsage
    readonly max_monthly_loss: LimitUsage
    readonly max_single_deposit: LimitUsage
    readonly max_daily_deposit: LimitUsage
    readonly max_weekly_deposit: LimitUsage
    readonly max_monthly_deposit: LimitUsage
    readonly max_yearly_deposit: LimitUsage
    readonly max_balance: LimitUsage
    readonly max_session_minutes: LimitUsage
  }
}

export type LimitUsage = {
  /** Below zero for a loss limit while the player is ahead. */
  readonly used: number
  /** Null where there is no limit. */
  readonly remaining: number | null
  /** When `used` begins anew. */
  readonly resets_at: string | null
}

export type SelfExclusion = {
  readonly type: "self_exclusion" | "time_out" | "self_closure"
  readonly since: string
  /** Null means without end. */
  readonly until: string | null
  /** `on_request`: it stands after `until` as well, until the player asks to return. */
  readonly ends: "by_itself" | "on_request"
  /** With `on_request`: when the player returns; null until the player has asked. */
  readonly return_at: string | null
  /** Who asked for it. */
  readonly source: "player" | "operator" | "staff" | "licensee"
}

export type SelfExclusionRequest = {
  readonly period?: "24_hours" | "7_days" | "30_days" | "1_month" | "6_weeks" | "2_months" | "3_months" | "6_months" | "12_months" | "5_years" | "indefinite" | undefined
  readonly until?: string | undefined
  readonly type?: "self_exclusion" | "time_out" | "self_closure" | undefined
  /** Where it holds: a must where the player's jurisdiction asks, else what the jurisdiction says. */
  readonly scope?: "operator" | "licensee" | undefined
}

export type LimitsRequest = {
  readonly limits: {
    readonly max_single_bet?: number | null | undefined
    readonly max_daily_bet?: number | null | undefined
    readonly max_weekly_bet?: number | null | undefined
    readonly max_monthly_bet?: number | null | undefined
    readonly casino_max_single_bet?: number | null | undefined
    readonly casino_max_daily_bet?: number | null | undefined
    readonly max_daily_loss?: number | null | undefined
    readonly max_weekly_loss?: number | null | undefined
    readonly max_monthly_loss?: number | null | undefined
    readonly max_single_deposit?: number | null | undefined
    readonly max_daily_deposit?: number | null | undefined
    readonly max_weekly_deposit?: number | null | undefined
    readonly max_monthly_deposit?: number | null | undefined
    readonly max_yearly_deposit?: number | null | undefined
    readonly max_balance?: number | null | undefined
    readonly max_session_minutes?: number | null | undefined
  }
}

export type RotatedFairness = {
  /** SHA-256 of the server seed, which decides the rounds and is shown when it is retired. */
  readonly server_seed_hash: string
  /** Of the server seed that the next rotation takes into use. */
  readonly next_server_seed_hash: string
  readonly client_seed: string
  /** Of the next round. */
  readonly nonce: number
  readonly retired: {
    readonly server_seed: string
    /** SHA-256 of the server seed, which decides the rounds and is shown when it is retired. */
    readonly server_seed_hash: string
    /** How many rounds it decided: those with nonce 0 to this less one. */
    readonly rounds: number
  }
}

export type Fairness = {
  /** SHA-256 of the server seed, which decides the rounds and is shown when it is retired. */
  readonly server_seed_hash: string
  /** Of the server seed that the next rotation takes into use. */
  readonly next_server_seed_hash: string
  readonly client_seed: string
  /** Of the next round. */
  readonly nonce: number
}

export type PlayedRound = {
  /** Also the `game_round_id` of the ledger entries. */
  readonly round_id: string
  readonly game_id: number
  /** The built-in game. */
  readonly original: string
  /** Minor units. */
  readonly stake: number
  /** Minor units. */
  readonly payout: number
  /** What the stake was multiplied by: four decimals, 0 when the bet is lost. */
  readonly multiplier: number
  /** The choice, and what chance made of it. */
  readonly outcome: { readonly [name: string]: unknown }
  /** ISO 4217. */
  readonly currency: string
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  /** Rises by one with every action that moves the player's money. */
  readonly wallet_seq: number
  /** All that the play wrote to the ledger, what became of a bonus with it included. */
  readonly transactions: ReadonlyArray<Transaction>
  readonly fairness: {
    /** SHA-256 of the server seed, which decides the rounds and is shown when it is retired. */
    readonly server_seed_hash: string
    readonly client_seed: string
    /** Counts the rounds under a server seed, from 0. */
    readonly nonce: number
  }
  readonly created_at: string
}

export type Transaction = {
  readonly id: number
  readonly player_id: number
  readonly wallet: "real" | "bonus"
  readonly type: "deposit" | "withdrawal" | "withdrawal_rejection" | "correction_up" | "correction_down" | "bonus_correction_up" | "bonus_correction_down" | "bonus_conversion" | "casino_bet" | "casino_win" | "casino_rollback" | "loyalty_exchange" | "tournament_prize" | "chargeback"
  /** Minor units. */
  readonly amount: number
  /** Minor units. */
  readonly balance_after: number
  /** ISO 4217. */
  readonly currency: string
  readonly payment_request_id: number | null
  readonly game_id: number | null
  readonly game_round_id: string | null
  readonly player_bonus_id: number | null
  readonly created_at: string
}

export type LaunchedGame = {
  readonly mode: "real" | "demo"
  readonly game_id: number
  /** Null for a platform original. */
  readonly launch_url: string | null
  readonly session_token: string
  readonly expires_at: string
  readonly is_original: boolean
}

export type Consent = {
  readonly channel: string
  readonly product: string
  readonly granted: boolean
  /** When it was last said; null: never, and so not granted. */
  readonly at: string | null
  /** Who said it; `exclusion`: a self-exclusion has withdrawn all. */
  readonly source: "registration" | "player" | "operator" | "staff" | "exclusion" | null
  readonly text_version: string | null
}

export type ConsentsRequest = {
  readonly consents: ReadonlyArray<{
    /** One of the player's jurisdiction. */
    readonly channel: string
    /** One of the player's jurisdiction; absent: all of them. */
    readonly product?: string | undefined
    /** Whether it is granted from now on. */
    readonly granted: boolean
    /** Version of the text that was consented to. */
    readonly text_version?: string | undefined
  }>
}

export type Statement = {
  readonly player_id: number
  /** ISO 4217. */
  readonly currency: string
  readonly from: string
  readonly to: string
  readonly generated_at: string
  /** Balances at the beginning of `from`. */
  readonly opening: {
    /** Minor units. */
    readonly real: number
    /** Minor units. */
    readonly bonus: number
  }
  /** Balances at the end of `to`, or now: `opening` and the amounts of all entries of the wallet. */
  readonly closing: {
    /** Minor units. */
    readonly real: number
    /** Minor units. */
    readonly bonus: number
  }
  readonly totals: {
    /** Less what was charged back. */
    readonly deposits: number
    /** Requested, less what was rejected or cancelled. */
    readonly withdrawals: number
    /** Real and bonus money, less bets that were taken back. */
    readonly staked: number
    /** Real and bonus money, less wins that were taken back. */
    readonly won: number
    /** Granted less taken away. */
    readonly bonuses: number
    /** Minor units. */
    readonly corrections: number
    /** `won` less `staked`. */
    readonly net: number
  }
  /** Deposits less withdrawals since the account was opened, until the end of `to`. */
  readonly net_deposits_lifetime: number
  /** Play for real money: from a launch or bet to the last bet before a break of 15 minutes. */
  readonly sessions: {
    readonly count: number
    readonly seconds: number
  }
  /** Oldest first. */
  readonly entries: ReadonlyArray<Transaction>
}

export type WalkLinks = {
  readonly next: string | null
}

/** Relative to the base URL. */
export type PageLinks = {
  readonly first: string
  readonly last: string
  readonly prev: string | null
  readonly next: string | null
}

export type WalkMeta = {
  readonly per_page: number
  /** Null on the last page. */
  readonly next_cursor: string | null
}

export type PageMetaWithCursor = {
  readonly current_page: number
  readonly per_page: number
  readonly total: number
  readonly last_page: number
  /** Position of the first item of the page, 0 when it is empty. */
  readonly from: number
  /** Position of the last item of the page, 0 when it is empty. */
  readonly to: number
  /** True when there are more than total: among very many players a search counts only so far. */
  readonly total_is_lower_bound?: boolean | undefined
  /** Null on the last page. */
  readonly next_cursor: string | null
}

export type PlayerWallet = {
  readonly player_id: number
  /** ISO 4217. */
  readonly currency: string
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
}

export type EndedSessions = {
  readonly player_id: number
  /** Tokens issued then or before have stopped working. */
  readonly sessions_ended_at: string
}

export type Player = {
  readonly id: number
  readonly external_id: string | null
  readonly username: string
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly middle_name: string | null
  readonly gender: "male" | "female" | "other" | null
  readonly birth_date: string
  readonly country: string
  readonly city: string | null
  readonly address: string | null
  readonly zip_code: string | null
  readonly phone: string | null
  readonly personal_id: string | null
  readonly document_number: string | null
  readonly birth_name: string | null
  readonly birth_place: string | null
  readonly last_name_prefix: string | null
  readonly language: string
  /** ISO 4217. */
  readonly currency: string
  readonly status: "active" | "locked" | "closed"
  readonly category: string
  readonly kyc_status: "not_started" | "pending_review" | "verified" | "rejected" | "expired"
  readonly is_verified: boolean
  readonly risk_level: string
  readonly is_test: boolean
  /** Code of the profile whose rules the player is under. */
  readonly jurisdiction: string
  /** Newest proper answer of a national register of excluded players; null where none was asked. */
  readonly register: {
    readonly kind: "gamstop" | "spelpaus" | "rofus" | "cruks" | "oasis" | "generic"
    readonly verdict: "clear" | "excluded" | "previous"
    readonly checked_at: string
  } | null
  readonly restrictions: {
    readonly can_login: boolean
    readonly can_deposit: boolean
    readonly can_withdraw: boolean
    readonly can_bet: boolean
    readonly excluded_from_bonuses: boolean
  }
  readonly self_exclusion: SelfExclusion | null
  readonly marketing: {
    readonly email: boolean
    readonly sms: boolean
    readonly newsletter: boolean
  }
  readonly registration: {
    readonly source: string
    readonly ip: string | null
    readonly promo_code: string | null
    readonly affiliate_id: string | null
    readonly btag: string | null
  }
  /** When a session token was last issued, to the minute; null until the first. */
  readonly last_login_at: string | null
  /** When the account was marked as dormant: neither a sign-in, a bet nor a deposit for as long as the jurisdiction says; null: it is in use. */
  readonly dormant_since: string | null
  readonly created_at: string
  readonly updated_at: string
}

export type RaisedAlert = {
  readonly id: number
  readonly player_id: number
  readonly rule: "structuring" | "rapid_in_out" | "deposit_velocity" | "large_deposit" | "large_withdrawal" | "low_play_withdrawal" | "multi_account" | "country_mismatch" | "identity_change" | "large_credit" | "net_deposits"
  readonly severity: "low" | "medium" | "high" | "critical"
  readonly status: "open" | "in_review" | "escalated" | "closed"
  readonly created_at: string
}

export type SandboxAlert = {
  readonly player_id: number
  /** large_deposit when absent. */
  readonly rule?: "structuring" | "rapid_in_out" | "deposit_velocity" | "large_deposit" | "large_withdrawal" | "low_play_withdrawal" | "multi_account" | "country_mismatch" | "identity_change" | "large_credit" | "net_deposits" | undefined
  /** medium when absent. */
  readonly severity?: "low" | "medium" | "high" | "critical" | undefined
}

export type SandboxKyc = {
  readonly status: "not_started" | "pending_review" | "verified" | "rejected" | "expired"
  /** With verified: the last day on which the document is valid, like 2031-05-31. */
  readonly document_expires_on?: string | null | undefined
}

export type PaymentRequest = {
  readonly id: number
  readonly type: "deposit" | "withdrawal"
  readonly status: "new" | "allowed" | "paid" | "rejected" | "cancelled"
  readonly player_id: number
  /** Minor units. */
  readonly amount: number
  /** ISO 4217. */
  readonly currency: string
  readonly payment_method: string | null
  readonly external_reference: string | null
  readonly info: string | null
  readonly reject_reason: string | null
  readonly is_reversed: boolean
  readonly created_at: string
  readonly paid_at: string | null
  readonly rejected_at: string | null
  readonly cancelled_at: string | null
  readonly updated_at: string
}

export type SandboxMessages = {
  readonly messages: ReadonlyArray<{
    readonly path: string
    readonly request: { readonly [name: string]: unknown }
    readonly status: number
    readonly answer: { readonly [name: string]: unknown }
  }>
}

export type SandboxRound = {
  /** Id in the catalogue; none of an original. */
  readonly game_id: number
  /** Minor units. */
  readonly bet: number
  /** Minor units. */
  readonly win?: number | undefined
  /** Whether the provider rolls the bet back (false). */
  readonly rollback?: boolean | undefined
  /** How many times each message is sent again (0). */
  readonly duplicates?: number | undefined
  /** `crossed`: what follows the bet arrives before it, and a win that is refused is sent again (normal). */
  readonly order?: "normal" | "crossed" | undefined
}

export type ResetSandbox = {
  /** Id of the successor, which has the slug and the keys. */
  readonly operator_id: number
  /** Id of the operator whose players and ledger these were. */
  readonly archived_operator_id: number
}

export type SandboxClock = {
  readonly now: string
  readonly advancing: boolean
  /** Where the clock is to come; null while it goes on. */
  readonly target: string | null
}

export type ClockAdvance = {
  readonly to?: string | undefined
  readonly seconds?: number | undefined
}

/** Amounts are minor units of the operator's currency; players are different ones over the whole range. */
export type GgrReport = {
  readonly from: string
  readonly to: string
  /** ISO 4217. */
  readonly currency: string
  readonly include_test_players: boolean
  readonly casino: {
    /** Minor units. */
    readonly bets: number
    /** Minor units. */
    readonly wins: number
    /** Minor units. */
    readonly ggr: number
    readonly rounds: number
    readonly players: number
    readonly by_type: {
      readonly rng: GgrOfType
      readonly live: GgrOfType
    }
    readonly by_provider: ReadonlyArray<GgrOfProvider>
  }
  /** Minor units. */
  readonly bonus_conversions: number
  /** `casino.ggr` less `bonus_conversions`. */
  readonly net_gaming_revenue: number
  readonly payments: {
    /** Paid deposits less `chargebacks`. */
    readonly deposits: number
    readonly depositing_players: number
    /** By the day they were paid out. */
    readonly withdrawals: number
    readonly withdrawing_players: number
    /** Minor units. */
    readonly net_deposits: number
    /** Deposits charged back, by the day of the chargeback. */
    readonly chargebacks: number
  }
  readonly players: {
    readonly registered: number
  }
  /** What no figure above holds, because there was no exchange rate when it was written: in its own currency. */
  readonly unconverted: ReadonlyArray<GgrUnconverted>
}

export type GgrUnconverted = {
  /** ISO 4217. */
  readonly currency: string
  readonly entries: number
  /** Minor units. */
  readonly bets: number
  /** Minor units. */
  readonly wins: number
  /** Minor units. */
  readonly bonus_bets: number
  /** Minor units. */
  readonly bonus_conversions: number
  /** Minor units. */
  readonly deposits: number
  /** Minor units. */
  readonly chargebacks: number
  /** Minor units. */
  readonly withdrawals: number
}

export type GgrOfProvider = {
  readonly provider_id: number
  /** Its name. */
  readonly provider: string
  /** Minor units. */
  readonly bets: number
  /** Minor units. */
  readonly wins: number
  /** Minor units. */
  readonly ggr: number
  /** The part of `bets` that was bonus money. */
  readonly bonus_bets: number
  readonly rounds: number
}

export type GgrOfType = {
  /** Minor units. */
  readonly bets: number
  /** Minor units. */
  readonly wins: number
  /** Minor units. */
  readonly ggr: number
  readonly rounds: number
  readonly players: number
}

export type Event = {
  readonly id: string
  readonly type: string
  readonly api_version: "v1"
  readonly created_at: string
  /** Number among the player's events, rising by one with each; absent where no player is concerned. */
  readonly player_sequence?: number | undefined
  readonly data: { readonly [name: string]: unknown }
}

export type FeedMeta = {
  readonly per_page: number
  /** Asked again, it gives what has come since; there is always one. */
  readonly next_cursor: string
}

export type Audience = {
  /** Those who may be addressed now, in the order sent. */
  readonly allowed: ReadonlyArray<number>
  readonly refused: ReadonlyArray<{
    readonly player_id: number
    readonly reason: "no_consent" | "excluded" | "register_excluded" | "register_unavailable" | "restricted" | "not_found"
  }>
}

export type AudienceRequest = {
  readonly channel: string
  readonly product: string
  readonly player_ids: ReadonlyArray<number>
}

export type PageMeta = {
  readonly current_page: number
  readonly per_page: number
  readonly total: number
  readonly last_page: number
  /** Position of the first item of the page, 0 when it is empty. */
  readonly from: number
  /** Position of the last item of the page, 0 when it is empty. */
  readonly to: number
}

export type RegisterCheck = {
  readonly id: number
  readonly kind: "gamstop" | "spelpaus" | "rofus" | "cruks" | "oasis" | "generic" | "screening"
  /** `refresh`: in the background. Of a screening `registration`, `identity` or `rescreen`. */
  readonly event: "registration" | "login" | "play" | "deposit" | "marketing" | "refresh" | "identity" | "rescreen"
  /** `previous`: was excluded before, and may play. `unavailable`: no proper answer. `hit`: a screening found somebody. */
  readonly verdict: "clear" | "excluded" | "previous" | "unavailable" | "hit"
  readonly asked_at: string
  readonly answered_at: string
  readonly request_id: string
  /** The register's; null where it gives none. */
  readonly response_id: string | null
  /** HTTP status of the answer. */
  readonly status: number | null
  /** Why there is no proper answer. */
  readonly fault: string | null
  /** Profile whose rule counted. */
  readonly profile: string
  readonly profile_version: number
}

export type Profile = {
  readonly code: string
  readonly name: string
  readonly currency: string
  readonly minimum_age: number
  readonly breaks: {
    readonly periods: {
      readonly "24_hours"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "7_days"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "30_days"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "1_month"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "6_weeks"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "2_months"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "3_months"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "6_months"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "12_months"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly "5_years"?: "self_exclusion" | "time_out" | "self_closure" | undefined
      readonly indefinite?: "self_exclusion" | "time_out" | "self_closure" | undefined
    }
    readonly time_out: {
      readonly min: string | null
      readonly max: string | null
    }
    readonly self_exclusion: {
      readonly min: string | null
      readonly max: string | null
    }
    readonly ends: "by_itself" | "on_request"
    readonly return_wait: string | null
    readonly scope: "operator" | "licensee" | "ask"
  }
  readonly limits: {
    readonly required: ReadonlyArray<ReadonlyArray<"max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes">>
    readonly required_before: "play" | "deposit"
    readonly prompt: boolean
    readonly caps: {
      readonly max_single_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly casino_max_single_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly casino_max_daily_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_single_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_yearly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_balance?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_session_minutes?: number | "Infinity" | "-Infinity" | "NaN" | undefined
    }
    readonly contact_above: {
      readonly max_single_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly casino_max_single_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly casino_max_daily_bet?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_loss?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_single_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_daily_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_weekly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_monthly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_yearly_deposit?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_balance?: number | "Infinity" | "-Infinity" | "NaN" | undefined
      readonly max_session_minutes?: number | "Infinity" | "-Infinity" | "NaN" | undefined
    }
    readonly raise: {
      readonly wait: string | null
      readonly until_period_ends: boolean
      readonly confirm: boolean
      readonly confirm_within: string
    }
  }
  readonly deposits: {
    readonly net_cap: {
      readonly amount: number | "Infinity" | "-Infinity" | "NaN"
      readonly under_age: number | null
      readonly amount_under: number | "Infinity" | "-Infinity" | "NaN" | null
    } | null
  }
  readonly stakes: ReadonlyArray<{
    readonly categories: ReadonlyArray<string>
    readonly amount: number | "Infinity" | "-Infinity" | "NaN"
    readonly under_age: number | null
    readonly amount_under: number | "Infinity" | "-Infinity" | "NaN" | null
  }>
  readonly bonuses: {
    readonly max_wagering_multiplier: number | null
    readonly max_amount: number | "Infinity" | "-Infinity" | "NaN" | null
    readonly min_valid_days: number | null
    readonly minimum_age: number | null
    readonly first_only: boolean
  }
  readonly reality_check: {
    readonly default: string | null
    readonly min: string
    readonly max: string
    readonly grace: string
  }
  readonly registers: ReadonlyArray<{
    readonly kind: "gamstop" | "spelpaus" | "rofus" | "cruks" | "oasis" | "generic"
    readonly on: {
      readonly registration?: {
        readonly max_age: string
        readonly unavailable: "refuse" | "last_good" | "allow"
      } | undefined
      readonly login?: {
        readonly max_age: string
        readonly unavailable: "refuse" | "last_good" | "allow"
      } | undefined
      readonly play?: {
        readonly max_age: string
        readonly unavailable: "refuse" | "last_good" | "allow"
      } | undefined
      readonly deposit?: {
        readonly max_age: string
        readonly unavailable: "refuse" | "last_good" | "allow"
      } | undefined
      readonly marketing?: {
        readonly max_age: string
        readonly unavailable: "refuse" | "last_good" | "allow"
      } | undefined
    }
    readonly last_good_max_age: string | null
  }>
  readonly vulnerability: {
    readonly net_deposits: number | "Infinity" | "-Infinity" | "NaN"
    readonly window: string
    readonly repeat: string
  } | null
  readonly reviews: {
    readonly limits: string | null
    readonly no_limits: string | null
    readonly funds_notice: string | null
  }
  readonly consents: {
    readonly channels: ReadonlyArray<string>
    readonly products: ReadonlyArray<string>
    readonly reset_on_exclusion: boolean
  }
  readonly dormant: {
    readonly after: string | null
  }
  readonly retention: {
    readonly identity?: string | undefined
    readonly payments?: string | undefined
    readonly gambling?: string | undefined
    readonly aml?: string | undefined
    readonly exclusion?: string | undefined
    readonly checks?: string | undefined
    readonly consents?: string | undefined
    readonly security?: string | undefined
    readonly marketing?: string | undefined
  } | null
  readonly sources: { readonly [name: string]: {
    readonly confidence: "A" | "B" | "C" | "D"
    readonly source: string
  } }
  /** Versions of a code are numbered from 1 and never change. */
  readonly version: number
  /** From then on it counts. */
  readonly valid_from: string
}

export type ProfileSummary = {
  readonly code: string
  readonly name: string
  /** Versions of a code are numbered from 1 and never change. */
  readonly version: number
  /** From then on it counts. */
  readonly valid_from: string
  /** Whether a registration without a jurisdiction gets it. */
  readonly is_default: boolean
}

export type FreeRounds = {
  readonly id: number
  readonly player_id: number
  readonly game_id: number
  /** The provider's slug. */
  readonly provider: string
  /** What the vendor was told. */
  readonly reference: string
  /** What the vendor calls them. */
  readonly vendor_reference: string | null
  readonly rounds: number
  /** Of each round, minor units. */
  readonly stake: number
  /** ISO 4217. */
  readonly currency: string
  /** `failed`: the vendor did not confirm them. */
  readonly status: "issued" | "finished" | "cancelled" | "failed"
  readonly valid_until: string
  /** Minor units; null until the vendor says that they are over. */
  readonly won: number | null
  readonly created_at: string
  readonly updated_at: string
}

export type FreeRoundsIssue = {
  readonly game_id: number
  /** Number of rounds. */
  readonly rounds: number
  /** Minor units. */
  readonly stake: number
  /** Days in which they can be played. */
  readonly valid_days: number
}

export type PromoRedemption = {
  readonly redemption_id: number
  readonly code: string
  readonly bonus: PlayerBonus
}

export type PlayerBonus = {
  readonly id: number
  readonly player_id: number
  readonly bonus_id: number
  readonly name: string
  /** Its kind. A `deposit_match` has a fixed amount, given for a deposit, whatever was deposited. */
  readonly type: "deposit_match" | "no_deposit" | "free_spins" | "cashback" | "cash"
  readonly state: "pending" | "activated" | "finished"
  /** How it ended; null until it has. */
  readonly result: "converted" | "lost" | "expired" | "cancelled" | null
  /** Minor units. */
  readonly amount: number
  /** ISO 4217. */
  readonly currency: string
  /** Minor units. */
  readonly wager_requirement: number
  /** Minor units. */
  readonly wagered_amount: number
  /** Percent of the requirement, rounded down. */
  readonly wagering_progress: number
  /** Minor units. */
  readonly converted_amount: number
  /** Minor units. */
  readonly forfeited_amount: number
  /** Minor units. */
  readonly max_bet: number
  /** Null while it waits. */
  readonly started_at: string | null
  /** Null while it waits, and where nothing has to be wagered. */
  readonly expires_at: string | null
  readonly finished_at: string | null
  readonly created_at: string
}

export type PromoCode = {
  /** In any case of its letters. */
  readonly code: string
}

export type BonusGrant = {
  readonly bonus_id: number
  /** Minor units; the bonus's own amount when left out. */
  readonly amount?: number | undefined
  readonly note?: string | undefined
}

export type Bonus = {
  readonly id: number
  readonly name: string
  readonly description: string
  /** Its kind. A `deposit_match` has a fixed amount, given for a deposit, whatever was deposited. */
  readonly type: "deposit_match" | "no_deposit" | "free_spins" | "cashback" | "cash"
  /** Minor units. */
  readonly default_amount: number
  readonly wagering_multiplier: number
  readonly valid_days: number
  /** The largest stake while it runs; 0 means no cap. */
  readonly max_bet: number
  /** Times the amount; 0 means no cap. */
  readonly max_conversion_multiplier: number
  /** 0 means no cap. */
  readonly max_grants_per_player: number
  readonly is_active: boolean
}

export type Game = {
  readonly id: number
  /** The provider's own id. */
  readonly external_id: string
  readonly name: string
  readonly type: "rng" | "live"
  readonly category: string
  /** Return to player in percent. */
  readonly rtp: number | null
  readonly thumbnail_url: string | null
  readonly is_original: boolean
  readonly provider: {
    readonly id: number
    readonly slug: string
    readonly name: string
  }
}

export type GameCategory = {
  readonly category: string
  readonly games_count: number
}

export type GameProvider = {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly games_count: number
}

export type Withdrawal = {
  /** Minor units. */
  readonly amount: number
  /** The code of a payment method. */
  readonly payment_method: string
  /** The operator's own reference, unique. */
  readonly external_reference?: string | undefined
  /** Payout details, shown to staff. */
  readonly info?: string | undefined
  readonly bank_name?: string | undefined
  /** An internal note. */
  readonly notes?: string | undefined
}

export type Deposit = {
  /** Minor units. */
  readonly amount: number
  /** The operator's own reference, unique. */
  readonly external_reference: string
  readonly payment_method?: string | undefined
  /** Shown to staff. */
  readonly info?: string | undefined
  /** An internal note. */
  readonly notes?: string | undefined
}

/** Bounds are in the operator's currency, and are converted for players with another one. */
export type PaymentMethod = {
  readonly code: string
  readonly name: string
  readonly supports_deposit: boolean
  readonly supports_withdrawal: boolean
  /** Minor units. */
  readonly min_deposit: number
  /** Minor units. */
  readonly max_deposit: number
  /** Minor units. */
  readonly min_withdrawal: number
  /** Minor units. */
  readonly max_withdrawal: number
  readonly currencies: ReadonlyArray<string>
}

export type DataRequest = {
  readonly id: number
  readonly player_id: number
  readonly type: "access" | "erasure"
  readonly status: "open" | "completed" | "refused"
  readonly due_at: string
  readonly created_at: string
  readonly completed_at: string | null
  /** Of an erasure. */
  readonly result: {
    /** Kinds of data of which nothing is left. */
    readonly erased: ReadonlyArray<"identity" | "payments" | "gambling" | "aml" | "exclusion" | "checks" | "consents" | "security" | "marketing">
    /** What has to be kept longer; it is erased by itself when its time is over. */
    readonly kept: ReadonlyArray<{
      readonly class: "identity" | "payments" | "gambling" | "aml" | "exclusion" | "checks" | "consents" | "security" | "marketing"
      /** Null while the moment from which the period counts is not known. */
      readonly until: string | null
      /** The profile with its version, and its period. */
      readonly basis: string
    }>
  } | null
}

export type DataRequestBody = {
  readonly type: "access" | "erasure"
}

export type WalletAtMoment = {
  readonly player_id: number
  /** ISO 4217. */
  readonly currency: string
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  readonly at: string
  readonly wallets: ReadonlyArray<{
    readonly type: "real" | "bonus"
    /** Minor units. */
    readonly balance: number
    /** ISO 4217. */
    readonly currency: string
    readonly updated_at: string
  }>
}

export type Wallet = {
  readonly player_id: number
  /** ISO 4217. */
  readonly currency: string
  /** Minor units. */
  readonly balance: number
  /** Minor units. */
  readonly bonus_balance: number
  /** What can still be withdrawn without verification, in minor units; null means no limit. */
  readonly unverified_withdrawal_allowance: number | null
  readonly wallets: ReadonlyArray<{
    readonly type: "real" | "bonus"
    /** Minor units. */
    readonly balance: number
    /** ISO 4217. */
    readonly currency: string
    readonly updated_at: string
  }>
}

export type SessionToken = {
  /** Sent as `Authorization: Bearer <token>` to the player endpoints. */
  readonly token: string
  readonly token_type: "Bearer"
  readonly player_id: number
  readonly expires_at: string
}

export type ProfileUpdate = {
  readonly email?: string | undefined
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
  readonly birth_date?: string | undefined
  readonly country?: string | undefined
  readonly city?: string | null | undefined
  readonly address?: string | null | undefined
  readonly phone?: string | null | undefined
  readonly external_id?: string | null | undefined
  readonly language?: string | undefined
  readonly marketing?: {
    readonly email?: boolean | undefined
  } | undefined
}

export type Registration = {
  readonly username: string
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly birth_date: string
  readonly country: string
  readonly terms_accepted: true
  readonly external_id?: string | undefined
  readonly password?: string | undefined
  readonly middle_name?: string | undefined
  readonly gender?: "male" | "female" | "other" | undefined
  readonly city?: string | undefined
  readonly address?: string | undefined
  readonly zip_code?: string | undefined
  /** International format. */
  readonly phone?: string | undefined
  readonly personal_id?: string | undefined
  readonly document_number?: string | undefined
  readonly birth_name?: string | undefined
  readonly birth_place?: string | undefined
  readonly last_name_prefix?: string | undefined
  readonly language?: string | undefined
  readonly currency?: string | undefined
  readonly promo_code?: string | undefined
  readonly affiliate_id?: string | undefined
  readonly btag?: string | undefined
  readonly registration_ip?: string | undefined
  readonly terms_version?: string | undefined
  readonly marketing?: {
    readonly email?: boolean | undefined
    readonly sms?: boolean | undefined
    readonly newsletter?: boolean | undefined
  } | undefined
  readonly is_test?: boolean | undefined
  /** Limits that the player begins with, as in a change of limits. */
  readonly limits?: { readonly [name: string]: unknown } | undefined
  /** One of the operator's profiles; without it the default one. */
  readonly jurisdiction?: string | undefined
}

export type Identity = {
  readonly api_key: {
    /** The public key id. */
    readonly key: string
    readonly name: string
    readonly scopes: ReadonlyArray<"players:read" | "players:write" | "limits:write" | "wallet:read" | "payments:read" | "payments:write" | "games:read" | "games:launch" | "bonuses:read" | "bonuses:write" | "reports:read" | "events:read" | "sandbox">
    readonly rate_limit_per_minute: number
    readonly expires_at: string | null
  }
  readonly operator: {
    readonly id: number
    readonly slug: string
    readonly name: string
    /** ISO 4217. */
    readonly currency: string
    readonly cooperation_model: "api" | "turnkey"
    readonly is_sandbox: boolean
  }
  readonly server_time: string
}

/** Calls of an operator's server. */
export interface OperatorCalls {
  readonly account: {
    /**
     * The key that signs, its operator and the server's time
     *
     * The first call to make: it tells whether requests are signed as they should be, what the key may do, how many requests a minute it has, and how far your clock is off. It takes no scope.
     */
    readonly me: (options?: CallOptions) => Promise<Identity>
  }
  readonly players: {
    /**
     * Players, newest first
     *
     * All filters given must hold. `email`, `username` and `external_id` are compared exactly; `search` looks for a part, in any case.
     */
    readonly list: (query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
      /** Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. `page` is ignored. */
      readonly cursor?: string | undefined
      /** In this status. */
      readonly status?: "active" | "locked" | "closed" | undefined
      /** Exactly this e-mail address. */
      readonly email?: string | undefined
      /** Exactly this username. */
      readonly username?: string | undefined
      /** Exactly this id of the operator's own. */
      readonly external_id?: string | undefined
      /** In this KYC status. */
      readonly kyc_status?: "not_started" | "pending_review" | "verified" | "rejected" | "expired" | undefined
      /** Part of the username, e-mail or last name. */
      readonly search?: string | undefined
      /** Created at this time or later. */
      readonly created_from?: string | undefined
      /** Created at this time or earlier. */
      readonly created_to?: string | undefined
    }, options?: CallOptions) => List<Player, {
      readonly data: ReadonlyArray<Player>
      readonly meta: PageMetaWithCursor | WalkMeta
      readonly links: PageLinks | WalkLinks
    }>
    /**
     * Register a player
     *
     * Opens the account with a real and a bonus wallet in the player's currency. Username, e-mail, phone and external id are unique within the operator. An adult who has accepted the terms, and who is not excluded from play under another account.
     */
    readonly create: (body: Registration, options?: CallOptions) => Promise<Player>
    /**
     * One player
     *
     * The profile, the status, what staff have restricted and a running self-exclusion.
     */
    readonly get: (player: number, options?: CallOptions) => Promise<Player>
    /**
     * Change a profile
     *
     * Only the fields sent change. Null takes away what a player may be without. A name and birth date of another player, who is excluded from play, are refused as at registration.
     */
    readonly update: (player: number, body: ProfileUpdate, options?: CallOptions) => Promise<Player>
    /**
     * Lock, close or open an account
     *
     * A locked or closed account cannot log in, play or deposit; its open rounds are still settled. Any status may follow any other. Opening an account does not lift a self-exclusion.
     */
    readonly setStatus: (player: number, body: {
      readonly status: "active" | "locked" | "closed"
      /** Kept as a note on the player. */
      readonly reason?: string | undefined
    }, options?: CallOptions) => Promise<Player>
    /**
     * Issue a player session token
     *
     * For the player's browser or app, which sends it to the endpoints under `/api/v1/player`. It serves this player only, until it expires, the key is revoked or rotated, the account is locked, closed or excluded, or the player is signed out. An empty body asks for 30 minutes.
     */
    readonly createSessionToken: (player: number, body?: {
      readonly ttl_minutes?: number | undefined
    }, options?: CallOptions) => Promise<SessionToken>
    /**
     * Sign a player out everywhere
     *
     * Ends every session token and every game session that the player has. New bets with them are refused; open rounds are still settled. Tokens issued afterwards work.
     */
    readonly endSessions: (player: number, options?: CallOptions) => Promise<EndedSessions>
  }
  readonly wallet: {
    /**
     * A player's balances, now or at a moment
     *
     * The real and the bonus wallet as of the last committed action, or with `at` as they stood at that moment.
     */
    readonly get: {
      (player: number, query?: { readonly at?: undefined }, options?: CallOptions): Promise<Wallet>
      (player: number, query: {
      /** A moment of the past: what the balances were then. */
      readonly at?: string | undefined
    } & { readonly at: string }, options?: CallOptions): Promise<WalletAtMoment>
    }
    /**
     * A player's ledger, newest first
     *
     * Every movement of money, never changed and never removed. Credits are positive, debits negative; `balance_after` is the balance of the entry's own wallet.
     */
    readonly transactions: (player: number, query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
      /** Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. `page` is ignored. */
      readonly cursor?: string | undefined
      /** Of this type. */
      readonly type?: "deposit" | "withdrawal" | "withdrawal_rejection" | "correction_up" | "correction_down" | "bonus_correction_up" | "bonus_correction_down" | "bonus_conversion" | "casino_bet" | "casino_win" | "casino_rollback" | "loyalty_exchange" | "tournament_prize" | "chargeback" | undefined
      /** Of this wallet. */
      readonly wallet?: "real" | "bonus" | undefined
      /** Created at this time or later. */
      readonly created_from?: string | undefined
      /** Created at this time or earlier. */
      readonly created_to?: string | undefined
    }, options?: CallOptions) => List<Transaction, {
      readonly data: ReadonlyArray<Transaction>
      readonly meta: PageMetaWithCursor | WalkMeta
      readonly links: PageLinks | WalkLinks
    }>
    /**
     * A player's round of an original with its proof
     *
     * **Verify a round.** The SHA-256 of the server seed's text is the hash that was shown before the bet. Block `cursor` (0, 1, 2, …) of the round is HMAC-SHA256 under the server seed's text of `client_seed:nonce:cursor`. Its bytes are read as words of four, the most significant first. A number below n takes the next word, skips it when it is 2^32 − (2^32 mod n) or more, and is else the word modulo n. `dice`: roll = below(10000) ÷ 100. `limbo`: u = below(2^14) × 2^32 + below(2^32), result = floor(99 × 2^46 ÷ (u + 1)) ÷ 100, from 1 to 1000000. `coin_flip`: heads when below(2) is 0. `plinko`: for each row left when below(2) is 0, else right. `mines`: of the cells 0 to 24 that are left take out number below(how many are left), once per mine.
     */
    readonly round: (player: number, round: number, options?: CallOptions) => Promise<RoundProof>
  }
  readonly statements: {
    /**
     * A player's statement
     *
     * Balances, totals and every entry of a period of days, as far back as the account. A longer or fuller period than one document may have is refused, never shortened. `csv` begins a text that a spreadsheet would take for a formula with an apostrophe; `html` is one page to print.
     */
    readonly get: {
      (player: number, query: {
      /** The first day, in UTC. */
      readonly from: string
      /** The last day, in UTC, included; at most 366 days in all. */
      readonly to: string
      /** A document of the API (json), lines for machines or for a spreadsheet, or a page to print. */
      readonly format?: "json" | "csv" | "spreadsheet" | "html" | undefined
    } & { readonly format?: "json" | undefined }, options?: CallOptions): Promise<Statement>
      (player: number, query: {
      /** The first day, in UTC. */
      readonly from: string
      /** The last day, in UTC, included; at most 366 days in all. */
      readonly to: string
      /** A document of the API (json), lines for machines or for a spreadsheet, or a page to print. */
      readonly format?: "json" | "csv" | "spreadsheet" | "html" | undefined
    } & { readonly format: string }, options?: CallOptions): Promise<string>
    }
  }
  readonly dataRequests: {
    /**
     * Carry a person's request about their data
     *
     * `access`: the document is there from now on, and the request is completed when it was read. `erasure`: what has not to be kept is erased at once, for good, and the rest when its time is over. Refused with `details.blocking` while the account is open (`account_open`), holds money (`balance`), has an open round, payment or case, or an exclusion that runs.
     */
    readonly create: (player: number, body: DataRequestBody, options?: CallOptions) => Promise<DataRequest>
    /**
     * A request about a person's data
     *
     * With what an erasure did, and what is kept until when.
     */
    readonly get: (player: number, request: number, options?: CallOptions) => Promise<DataRequest>
    /**
     * Everything that is known of the person
     *
     * Of a request for `access`: profile and former identities, wallets, ledger, payments, bonuses, limits, exclusions, sessions, acknowledgements, consents, checks, notes and sums, as one JSON document. Without secrets, other people, names of staff, and what must not be told.
     */
    readonly document: (player: number, request: number, options?: CallOptions) => Promise<unknown>
  }
  readonly paymentMethods: {
    /**
     * Active payment methods for the operator's currency
     *
     * The codes are what deposits and withdrawals name as `payment_method`, the bounds what they have to keep to.
     */
    readonly list: (options?: CallOptions) => List<PaymentMethod, {
      readonly data: ReadonlyArray<PaymentMethod>
    }>
  }
  readonly deposits: {
    /**
     * Record a paid deposit
     *
     * Credits the real wallet at once. Repeating an `external_reference` answers 200 with the original deposit.
     */
    readonly create: (player: number, body: Deposit, options?: CallOptions) => Promise<PaymentRequest>
  }
  readonly withdrawals: {
    /**
     * Request a withdrawal
     *
     * Holds the amount on the real wallet until staff pay it out, or refuse and return it. Repeating an `external_reference` answers 200 with the original request.
     */
    readonly create: (player: number, body: Withdrawal, options?: CallOptions) => Promise<PaymentRequest>
  }
  readonly payments: {
    /**
     * Deposits and withdrawals, newest first
     *
     * All filters given must hold.
     */
    readonly list: (query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
      /** Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. `page` is ignored. */
      readonly cursor?: string | undefined
      /** Of this player. */
      readonly player_id?: number | undefined
      /** Of this type. */
      readonly type?: "deposit" | "withdrawal" | undefined
      /** In this status. */
      readonly status?: "new" | "allowed" | "paid" | "rejected" | "cancelled" | undefined
      /** Exactly this reference of the operator's own. */
      readonly external_reference?: string | undefined
      /** Created at this time or later. */
      readonly created_from?: string | undefined
      /** Created at this time or earlier. */
      readonly created_to?: string | undefined
    }, options?: CallOptions) => List<PaymentRequest, {
      readonly data: ReadonlyArray<PaymentRequest>
      readonly meta: PageMetaWithCursor | WalkMeta
      readonly links: PageLinks | WalkLinks
    }>
    /**
     * One deposit or withdrawal
     *
     * A withdrawal is `new` until staff approve it (`allowed`), pay it out (`paid`), refuse it (`rejected`, with `reject_reason`) or cancel it (`cancelled`). A deposit is `paid` from the beginning; `is_reversed` says that it was charged back.
     */
    readonly get: (payment: number, options?: CallOptions) => Promise<PaymentRequest>
  }
  readonly games: {
    /**
     * Active games, by name
     *
     * What can be launched: active games of active providers. All filters given must hold.
     */
    readonly list: (query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
      /** A provider's slug. */
      readonly provider?: string | undefined
      /** Of this category. */
      readonly category?: string | undefined
      /** Of this type. */
      readonly type?: "rng" | "live" | undefined
      /** Part of the name. */
      readonly search?: string | undefined
    }, options?: CallOptions) => List<Game, {
      readonly data: ReadonlyArray<Game>
      readonly meta: PageMeta
      readonly links: PageLinks
    }>
    /**
     * Providers with active games
     *
     * With the number of games each has on offer. The slug is the `provider` filter of the list of games.
     */
    readonly providers: (options?: CallOptions) => List<GameProvider, {
      readonly data: ReadonlyArray<GameProvider>
    }>
    /**
     * Categories with active games
     *
     * With the number of games in each. The name is the `category` filter of the list of games.
     */
    readonly categories: (options?: CallOptions) => List<GameCategory, {
      readonly data: ReadonlyArray<GameCategory>
    }>
    /**
     * One game
     *
     * An active game of the catalogue.
     */
    readonly get: (game: number, options?: CallOptions) => Promise<Game>
    /**
     * Open a game for a player
     *
     * For real money it opens a wallet session of 12 hours, in which the provider settles rounds; the player's status, exclusion and session limit are checked first. `demo` gives the provider's free-play address. A game of the platform's own has no address: it is played with the player session. An empty body opens it for real money. Where the provider is a vendor's, that vendor is asked for the address: one that does not answer in 5 seconds gives TRY_AGAIN, one that refuses GAME_UNAVAILABLE, and no session is left.
     */
    readonly launch: (player: number, game: number, body?: {
      readonly mode?: "real" | "demo" | undefined
      readonly platform?: "desktop" | "mobile" | "web" | "ios" | "android" | undefined
      readonly ip?: string | undefined
    }, options?: CallOptions) => Promise<LaunchedGame>
  }
  readonly bonuses: {
    /**
     * Bonuses on offer
     *
     * Active ones. Amounts are minor units of the operator's currency.
     */
    readonly catalogue: (options?: CallOptions) => List<Bonus, {
      readonly data: ReadonlyArray<Bonus>
    }>
    /**
     * A player's bonuses, newest first
     *
     * Running ones, waiting ones and those that ended, with how far they were wagered.
     */
    readonly list: (player: number, query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
      /** Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. `page` is ignored. */
      readonly cursor?: string | undefined
      /** In this state. */
      readonly state?: "pending" | "activated" | "finished" | undefined
    }, options?: CallOptions) => List<PlayerBonus, {
      readonly data: ReadonlyArray<PlayerBonus>
      readonly meta: PageMetaWithCursor | WalkMeta
      readonly links: PageLinks | WalkLinks
    }>
    /**
     * Grant a bonus
     *
     * Credited at once, or queued while another bonus is wagered; one without wagering is paid to the real wallet.
     */
    readonly grant: (player: number, body: BonusGrant, options?: CallOptions) => Promise<PlayerBonus>
    /**
     * Redeem a promo code
     *
     * Grants the bonus that the code stands for. A player redeems a code once.
     */
    readonly redeem: (player: number, body: PromoCode, options?: CallOptions) => Promise<PromoRedemption>
  }
  readonly freeRounds: {
    /**
     * A player's free rounds, newest first
     *
     * Of all vendors, with what became of them.
     */
    readonly list: (player: number, query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
    }, options?: CallOptions) => List<FreeRounds, {
      readonly data: ReadonlyArray<FreeRounds>
      readonly meta: PageMeta
      readonly links: PageLinks
    }>
    /**
     * Give free rounds
     *
     * At the game's vendor, where its protocol has them: BONUS_INVALID says why it has none, or refuses (`details.vendor`). TRY_AGAIN when it does not answer: send the same request again with the same `Idempotency-Key`, and the vendor hears of the same free rounds. Without a key they may have been granted, and `details.retry` is `never`.
     */
    readonly create: (player: number, body: FreeRoundsIssue, options?: CallOptions) => Promise<FreeRounds>
    /**
     * Take free rounds back
     *
     * Those that were not played. What was won stays the player's.
     */
    readonly cancel: (player: number, free_rounds: number, options?: CallOptions) => Promise<FreeRounds>
  }
  readonly limits: {
    /**
     * A player's limits, what waits and what was used
     *
     * `pending_changes` are raises within their cooling-off period. `usage` says of each limit what counts against it now and when it begins anew; days, ISO weeks, months and years are those of UTC.
     */
    readonly get: (player: number, options?: CallOptions) => Promise<Limits>
    /**
     * Change limits
     *
     * Only the limits sent change. A new or lower one applies at once; a higher one, or null, after the cooling-off period.
     */
    readonly set: (player: number, body: LimitsRequest, options?: CallOptions) => Promise<Limits & {
      readonly meta: {
        /** The limits sent that are in force as sent. */
        readonly applied: ReadonlyArray<"max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes">
        /** The limits sent that wait for the cooling-off. */
        readonly pending: ReadonlyArray<"max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes">
        readonly cooling_off_hours: number
      }
    }>
    /**
     * Exclude a player from play
     *
     * Can be prolonged, never shortened or lifted.
     */
    readonly selfExclude: (player: number, body: SelfExclusionRequest & ({
      readonly period: unknown
    } | {
      readonly until: unknown
    }), options?: CallOptions) => Promise<Limits>
  }
  readonly obligations: {
    /**
     * What a player must do, newest first
     *
     * `required_limits`: the jurisdiction wants limits set. `limit_prompt`: the player is asked for limits before the first deposit, and sets one or declines. `terms`: the operator's terms in the version of `details.text_version` are not accepted. `limit_review`, `funds_notice`: the jurisdiction wants the player to review the limits, and to take notice of how funds are protected, every so often; they stop nothing. `reality_check`: the interval of the running session has passed; it stops play from `details.gates_from` on. While one is open, what its `gates` name is refused with PLAYER_RESTRICTED, `details.reason` `obligation`. 100 at most.
     */
    readonly list: (player: number, query?: {
      /** In this state. */
      readonly state?: "open" | "met" | "waived" | undefined
    }, options?: CallOptions) => List<Obligation, {
      readonly data: ReadonlyArray<Obligation>
    }>
    /**
     * Take down a player's answer
     *
     * `limit_raise` with its `field`: a raise that has to be confirmed is in force with `accept`, and dropped with `decline`. `limit_prompt`: the player declines to set limits. `terms` with `accept` and the `text_version` that counts. `limit_review` with `accept` (they stay) or `decline`, `funds_notice` with `accept`. `reality_check`: play goes on with `continue`; `stop` ends the player's open game sessions. Kept for good.
     */
    readonly acknowledge: (player: number, body: AcknowledgementRequest, options?: CallOptions) => Promise<Acknowledgement>
    /**
     * A player's answers, newest first
     *
     * Of the player, and of others on the player's behalf.
     */
    readonly acknowledgements: (player: number, query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
    }, options?: CallOptions) => List<Acknowledgement, {
      readonly data: ReadonlyArray<Acknowledgement>
      readonly meta: PageMeta
      readonly links: PageLinks
    }>
  }
  readonly position: {
    /**
     * What a player has staked, won, paid in and taken out
     *
     * In the running session, since midnight UTC and in the last 30 days, real and bonus money; deposits and withdrawals ever.
     */
    readonly get: (player: number, options?: CallOptions) => Promise<Position>
    /**
     * A player's reality check
     *
     * The interval that counts, and when the next one falls due in the running session.
     */
    readonly realityCheck: (player: number, options?: CallOptions) => Promise<RealityCheck>
    /**
     * Set a player's interval between reality checks
     *
     * It counts at once, from the last acknowledgement in the running session on. A reality check that is open stays so.
     */
    readonly setRealityCheck: (player: number, body: RealityCheckRequest, options?: CallOptions) => Promise<RealityCheck>
  }
  readonly profiles: {
    /**
     * Jurisdictions of the operator
     *
     * The profiles that players can be registered under, each in the version that counts now.
     */
    readonly list: (options?: CallOptions) => List<ProfileSummary, {
      readonly data: ReadonlyArray<ProfileSummary>
    }>
    /**
     * Rules of a jurisdiction
     *
     * The whole document that counts now: breaks, limits, caps, bonuses, registers and what else the jurisdiction asks for. Amounts are minor units of its currency, durations are ISO 8601.
     */
    readonly get: (code: string, options?: CallOptions) => Promise<Profile>
  }
  readonly registers: {
    /**
     * Questions to national registers about a player, newest first
     *
     * Each with the verdict and the ids of the question and of the answer, as proof that the register was asked.
     */
    readonly checks: (player: number, query?: {
      /** The page, from 1. */
      readonly page?: number | undefined
      /** Items per page. */
      readonly per_page?: number | undefined
    }, options?: CallOptions) => List<RegisterCheck, {
      readonly data: ReadonlyArray<RegisterCheck>
      readonly meta: PageMeta
      readonly links: PageLinks
    }>
  }
  readonly consents: {
    /**
     * A player's consents to marketing
     *
     * Each channel and product of the player's jurisdiction. Nothing is granted until it is said. A profile's `marketing.email` is the consent to e-mail for all products.
     */
    readonly list: (player: number, options?: CallOptions) => List<Consent, {
      readonly data: ReadonlyArray<Consent>
    }>
    /**
     * Grant or withdraw consents
     *
     * Only the consents sent change, all or none of them; without a `product` a channel's consents to all products. Each change is kept as an acknowledgement `consent`.
     */
    readonly change: (player: number, body: ConsentsRequest, options?: CallOptions) => Promise<ReadonlyArray<Consent>>
    /**
     * Who of some players may be addressed
     *
     * 1 to 10,000 players. Refused: `no_consent` to the channel and product; `excluded` for now; `register_excluded` by a national register, which is asked its question for marketing where the jurisdiction has one; `register_unavailable` when it does not answer; `restricted` accounts; `not_found`. Changes nothing.
     */
    readonly audience: (body: AudienceRequest, options?: CallOptions) => Promise<Audience>
  }
  readonly events: {
    /**
     * Events in their order, oldest first
     *
     * Follow next_cursor to miss none: what is not shown yet never appears behind a cursor that was given. Kept for 30 days; an older cursor is refused, so that a gap is never silent. A page may hold fewer than per_page, even none, where a filter finds little: go on.
     */
    readonly list: (query?: {
      /** Items per page. */
      readonly per_page?: number | undefined
      /** Absent or empty for the beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. */
      readonly cursor?: string | undefined
      /** Of this type. */
      readonly type?: "player.registered" | "deposit.paid" | "withdrawal.requested" | "withdrawal.paid" | "withdrawal.rejected" | "bonus.granted" | "bonus.completed" | "kyc.status_changed" | "player.self_excluded" | "player.register_excluded" | "player.register_cleared" | "obligation.created" | "obligation.met" | "limit.raise_confirmable" | "reality_check.due" | "player.dormant" | "compliance.alert_created" | "compliance.case_opened" | "compliance.case_closed" | "data_request.completed" | undefined
      /** Of this player. */
      readonly player_id?: number | undefined
      /** Created at this time or later. */
      readonly created_from?: string | undefined
      /** Created at this time or earlier. */
      readonly created_to?: string | undefined
      /** Seconds that the call is held until there is an event (0). Four calls of a key are held at once; others are answered as with 0. */
      readonly wait?: number | undefined
    }, options?: CallOptions) => List<Event, {
      readonly data: ReadonlyArray<Event>
      readonly meta: FeedMeta
    }>
    /**
     * An event
     *
     * The body that was sent to webhooks. After 30 days NOT_FOUND with `details.reason` `expired`.
     */
    readonly get: (event: number, options?: CallOptions) => Promise<Event>
  }
  readonly reports: {
    /**
     * Gross gaming revenue and payments of a range of days
     *
     * Days are those of UTC, at most 366 of them. The figures are the back office's, in the operator's currency; test accounts are left out unless they are asked for.
     */
    readonly ggr: (query: {
      /** The first day, in UTC. */
      readonly from: string
      /** The last day, in UTC, included; at most 366 days in all. */
      readonly to: string
      /** Whether test accounts count; false when left out. */
      readonly include_test_players?: "true" | "false" | undefined
    }, options?: CallOptions) => Promise<GgrReport>
  }
  readonly sandbox: {
    /**
     * The clock
     *
     * By which everything of the operator goes; real time until it is advanced.
     */
    readonly clock: (options?: CallOptions) => Promise<SandboxClock>
    /**
     * Advance the clock
     *
     * What falls due on the way happens in order, at the time at which it was due, with its events; deliveries that fall due start. Audit lines, signatures, rates, idempotency keys, the retention of events and staff keep real time. The clock is never turned back.
     */
    readonly advanceClock: (body: ClockAdvance, options?: CallOptions) => Promise<SandboxClock>
    /**
     * Begin anew
     *
     * Keys, webhooks, methods, bonuses, registers and settings pass to a successor of the operator without players. The old one is archived; nothing is deleted. The clock is not turned back, player tokens and game sessions are over.
     */
    readonly reset: (options?: CallOptions) => Promise<ResetSandbox>
    /**
     * Play a round as the game's provider would
     *
     * Launches the game, then sends its messages through the wallet: the bet, and a win, a rollback or the end of the round. A refused bet is followed by no win.
     */
    readonly playRound: (player: number, body: SandboxRound, options?: CallOptions) => Promise<SandboxMessages>
    /**
     * Approve a withdrawal
     *
     * As staff would; one approval is enough.
     */
    readonly approve: (payment: number, options?: CallOptions) => Promise<PaymentRequest>
    /**
     * Pay an approved withdrawal out
     *
     * As staff would.
     */
    readonly pay: (payment: number, options?: CallOptions) => Promise<PaymentRequest>
    /**
     * Refuse a withdrawal
     *
     * As staff would: the amount returns to the player.
     */
    readonly reject: (payment: number, options?: CallOptions) => Promise<PaymentRequest>
    /**
     * Charge a deposit back
     *
     * As staff would: the amount leaves the player's balance, below zero if it has to.
     */
    readonly chargeback: (payment: number, options?: CallOptions) => Promise<PaymentRequest>
    /**
     * Say how far a player's identity is known
     *
     * As staff would, through the statuses that lie on the way: each is an event.
     */
    readonly moveKyc: (player: number, body: SandboxKyc, options?: CallOptions) => Promise<Player>
    /**
     * Raise an alert
     *
     * As the rule would; it stops no withdrawal.
     */
    readonly raiseAlert: (body: SandboxAlert, options?: CallOptions) => Promise<RaisedAlert>
  }
}

/** Calls of a player's session. */
export interface PlayerCalls {
  /**
   * The player of the token
   *
   * The same as the operator reads.
   */
  readonly me: (options?: CallOptions) => Promise<Player>
  /**
   * Sign out everywhere
   *
   * Ends every session token of the player, this one included, and every open game session. Open rounds are still settled.
   */
  readonly endSessions: (options?: CallOptions) => Promise<EndedSessions>
  /**
   * The player's ledger, newest first
   *
   * Every movement of money. Credits are positive, debits negative.
   */
  readonly transactions: (query?: {
    /** The page, from 1. */
    readonly page?: number | undefined
    /** Items per page. */
    readonly per_page?: number | undefined
    /** Walks the list instead of paging it: empty for its beginning, then each next_cursor. Nothing is counted, and what is added meanwhile moves nothing. `page` is ignored. */
    readonly cursor?: string | undefined
    /** Of this type. */
    readonly type?: "deposit" | "withdrawal" | "withdrawal_rejection" | "correction_up" | "correction_down" | "bonus_correction_up" | "bonus_correction_down" | "bonus_conversion" | "casino_bet" | "casino_win" | "casino_rollback" | "loyalty_exchange" | "tournament_prize" | "chargeback" | undefined
    /** Of this wallet. */
    readonly wallet?: "real" | "bonus" | undefined
    /** Created at this time or later. */
    readonly created_from?: string | undefined
    /** Created at this time or earlier. */
    readonly created_to?: string | undefined
  }, options?: CallOptions) => List<Transaction, {
    readonly data: ReadonlyArray<Transaction>
    readonly meta: PageMetaWithCursor | WalkMeta
    readonly links: PageLinks | WalkLinks
  }>
  /**
   * Open a game
   *
   * As the operator opens one for the player. An empty body opens it for real money.
   */
  readonly launch: (game: number, body?: {
    readonly mode?: "real" | "demo" | undefined
    readonly platform?: "desktop" | "mobile" | "web" | "ios" | "android" | undefined
  }, options?: CallOptions) => Promise<LaunchedGame>
  /**
   * Play a round of a platform original
   *
   * Bet, outcome and payout in one step. No launch is needed. Params: `dice` has `direction` (under, over) and `target`; `limbo` `target`; `coin_flip` `side` (heads, tails); `plinko` `rows` (8-16) and `risk` (low, medium, high); `mines` `mines` (1-24) and `cells` (numbers 0-24). Send an `Idempotency-Key`: a retry then gets the same round.
   */
  readonly play: (game: number, body: {
    /** Minor units. */
    readonly stake: number
    /** What the game lets the player choose. */
    readonly params: { readonly [name: string]: unknown }
    /** The player's part of chance, 1 to 64 visible ASCII characters; counts from this round on. */
    readonly client_seed?: string | undefined
  }, options?: CallOptions) => Promise<PlayedRound>
  readonly wallet: {
    /**
     * The player's balances
     *
     * As of the last committed action.
     */
    readonly get: (options?: CallOptions) => Promise<PlayerWallet>
  }
  readonly statements: {
    /**
     * The player's statement of a period of days
     *
     * As the operator reads it.
     */
    readonly get: {
      (query: {
      /** The first day, in UTC. */
      readonly from: string
      /** The last day, in UTC, included; at most 366 days in all. */
      readonly to: string
      /** A document of the API (json), lines for machines or for a spreadsheet, or a page to print. */
      readonly format?: "json" | "csv" | "spreadsheet" | "html" | undefined
    } & { readonly format?: "json" | undefined }, options?: CallOptions): Promise<Statement>
      (query: {
      /** The first day, in UTC. */
      readonly from: string
      /** The last day, in UTC, included; at most 366 days in all. */
      readonly to: string
      /** A document of the API (json), lines for machines or for a spreadsheet, or a page to print. */
      readonly format?: "json" | "csv" | "spreadsheet" | "html" | undefined
    } & { readonly format: string }, options?: CallOptions): Promise<string>
    }
  }
  readonly consents: {
    /**
     * The player's consents to marketing
     *
     * As the operator reads them.
     */
    readonly list: (options?: CallOptions) => List<Consent, {
      readonly data: ReadonlyArray<Consent>
    }>
    /**
     * Grant or withdraw consents
     *
     * Only the consents sent change, all or none of them.
     */
    readonly change: (body: ConsentsRequest, options?: CallOptions) => Promise<ReadonlyArray<Consent>>
  }
  readonly fairness: {
    /**
     * The seeds that decide the player's next round
     *
     * Read it before the first round: the hash promises the server seed that will decide it.
     */
    readonly get: (options?: CallOptions) => Promise<Fairness>
    /**
     * Reveal the server seed and go on with the promised one
     *
     * **Verify a round.** The SHA-256 of the server seed's text is the hash that was shown before the bet. Block `cursor` (0, 1, 2, …) of the round is HMAC-SHA256 under the server seed's text of `client_seed:nonce:cursor`. Its bytes are read as words of four, the most significant first. A number below n takes the next word, skips it when it is 2^32 − (2^32 mod n) or more, and is else the word modulo n. `dice`: roll = below(10000) ÷ 100. `limbo`: u = below(2^14) × 2^32 + below(2^32), result = floor(99 × 2^46 ÷ (u + 1)) ÷ 100, from 1 to 1000000. `coin_flip`: heads when below(2) is 0. `plinko`: for each row left when below(2) is 0, else right. `mines`: of the cells 0 to 24 that are left take out number below(how many are left), once per mine.
     */
    readonly rotate: (body?: {
      /** The player's part of chance, 1 to 64 visible ASCII characters; counts from this round on. */
      readonly client_seed?: string | undefined
    }, options?: CallOptions) => Promise<RotatedFairness>
  }
  readonly limits: {
    /**
     * The player's limits, what waits and what was used
     *
     * As the operator reads them.
     */
    readonly get: (options?: CallOptions) => Promise<Limits>
    /**
     * Change the own limits
     *
     * Only the limits sent change. A new or lower one applies at once; a higher one, or null, after the cooling-off period.
     */
    readonly set: (body: LimitsRequest, options?: CallOptions) => Promise<Limits & {
      readonly meta: {
        /** The limits sent that are in force as sent. */
        readonly applied: ReadonlyArray<"max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes">
        /** The limits sent that wait for the cooling-off. */
        readonly pending: ReadonlyArray<"max_single_bet" | "max_daily_bet" | "max_weekly_bet" | "max_monthly_bet" | "casino_max_single_bet" | "casino_max_daily_bet" | "max_daily_loss" | "max_weekly_loss" | "max_monthly_loss" | "max_single_deposit" | "max_daily_deposit" | "max_weekly_deposit" | "max_monthly_deposit" | "max_yearly_deposit" | "max_balance" | "max_session_minutes">
        readonly cooling_off_hours: number
      }
    }>
    /**
     * Exclude oneself from play
     *
     * Can be prolonged, never shortened or lifted. The token stops working with it.
     */
    readonly selfExclude: (body: SelfExclusionRequest & ({
      readonly period: unknown
    } | {
      readonly until: unknown
    }), options?: CallOptions) => Promise<Limits>
  }
  readonly position: {
    /**
     * What the player has staked, won, paid in and taken out
     *
     * As the operator reads it.
     */
    readonly get: (options?: CallOptions) => Promise<Position>
    /**
     * The player's reality check
     *
     * As the operator reads it.
     */
    readonly realityCheck: (options?: CallOptions) => Promise<RealityCheck>
    /**
     * Set the own interval between reality checks
     *
     * It counts at once. A reality check that is open stays so.
     */
    readonly setRealityCheck: (body: RealityCheckRequest, options?: CallOptions) => Promise<RealityCheck>
  }
  readonly obligations: {
    /**
     * What the player must do, newest first
     *
     * As the operator reads them. 100 at most.
     */
    readonly list: (query?: {
      /** In this state. */
      readonly state?: "open" | "met" | "waived" | undefined
    }, options?: CallOptions) => List<Obligation, {
      readonly data: ReadonlyArray<Obligation>
    }>
    /**
     * Answer
     *
     * A raise that has to be confirmed, the question for limits, a reality check: `continue`, or `stop`, which ends the open game sessions.
     */
    readonly acknowledge: (body: AcknowledgementRequest, options?: CallOptions) => Promise<Acknowledgement>
  }
  readonly rounds: {
    /**
     * A round of an original with its proof
     *
     * **Verify a round.** The SHA-256 of the server seed's text is the hash that was shown before the bet. Block `cursor` (0, 1, 2, …) of the round is HMAC-SHA256 under the server seed's text of `client_seed:nonce:cursor`. Its bytes are read as words of four, the most significant first. A number below n takes the next word, skips it when it is 2^32 − (2^32 mod n) or more, and is else the word modulo n. `dice`: roll = below(10000) ÷ 100. `limbo`: u = below(2^14) × 2^32 + below(2^32), result = floor(99 × 2^46 ÷ (u + 1)) ÷ 100, from 1 to 1000000. `coin_flip`: heads when below(2) is 0. `plinko`: for each row left when below(2) is 0, else right. `mines`: of the cells 0 to 24 that are left take out number below(how many are left), once per mine.
     */
    readonly get: (round: number, options?: CallOptions) => Promise<RoundProof>
  }
}
