/** CTEs of the commit statement that write players' settings. */
import type { PlayerSettings } from "../../domain/state/Change.ts"
import { standingsOf } from "../../domain/register/Register.ts"
import type { Restrictions } from "../../domain/state/Player.ts"
import { columnsOf, flag, number, text, time, update } from "./StatementSections.ts"

export interface SettingsRow extends PlayerSettings {
  readonly playerId: number
  readonly operatorId: number
}

const restrictionColumns = columnsOf<Restrictions, SettingsRow>({
  canLogin: flag("can_login", (row) => row.restrictions.canLogin),
  canDeposit: flag("can_deposit", (row) => row.restrictions.canDeposit),
  canWithdraw: flag("can_withdraw", (row) => row.restrictions.canWithdraw),
  canBet: flag("can_bet", (row) => row.restrictions.canBet),
  excludedFromBonuses: flag("excluded_from_bonuses", (row) => row.restrictions.excludedFromBonuses)
})

export const settingsColumns = columnsOf<SettingsRow, SettingsRow>({
  playerId: number("id", (row) => row.playerId),
  operatorId: number("operator_id", (row) => row.operatorId),
  status: text("status", (row) => row.status),
  kycStatus: text("kyc_status", (row) => row.kycStatus),
  documentExpiresAt: time("document_expires_at", (row) => row.documentExpiresAt),
  restrictions: restrictionColumns,
  withdrawalHolds: text("withdrawal_holds", (row) => JSON.stringify(row.withdrawalHolds), "jsonb"),
  exclusion: [
    text("exclusion_type", (row) => row.exclusion?.type ?? null),
    time("exclusion_since", (row) => row.exclusion?.since ?? null),
    time("exclusion_until", (row) => row.exclusion?.until ?? null),
    time("exclusion_return_from", (row) => row.exclusion?.onRequest?.returnFrom ?? null),
    time("exclusion_return_at", (row) => row.exclusion?.onRequest?.returnAt ?? null),
    text("exclusion_return_wait", (row) => row.exclusion?.onRequest?.wait ?? null),
    text("exclusion_source", (row) => row.exclusion?.source ?? null),
    text("exclusion_scope", (row) => row.exclusion?.scope ?? null)
  ],
  sessionsEndedAt: time("sessions_ended_at", (row) => row.sessionsEndedAt),
  limits: text("limits", (row) => JSON.stringify(row.limits), "jsonb"),
  pendingLimits: text("pending_limits", (row) => JSON.stringify(row.pendingLimits), "jsonb"),
  limitsSet: { ...number("limits_set", (row: SettingsRow) => row.limitsSet), type: "integer" },
  rules: [
    text("jurisdiction", (row) => row.rules.code),
    text("moved_from", (row) => row.rules.moved?.from ?? null),
    time("looser_from", (row) => row.rules.moved?.until ?? null)
  ],
  termsVersion: text("terms_version", (row) => row.termsVersion),
  limitsReviewed: time("limits_reviewed_at", (row) => row.limitsReviewed * 1000),
  fundsNoticed: time("funds_noticed_at", (row) => row.fundsNoticed * 1000),
  registers: text("registers", (row) => JSON.stringify(standingsOf(row.registers)), "jsonb"),
  netDepositCap: number("net_deposit_cap", (row) => row.netDepositCap),
  extras: [
    text("reality_check", (row) => row.extras?.realityCheck ?? null),
    time("wallet_sessions_ended_at", (row) => row.extras?.walletSessionsEndedAt ?? null),
    time("dormant_since", (row) => row.extras?.dormantSince ?? null)
  ],
  updatedAt: time("updated_at", (row) => row.updatedAt)
})

export const settings = update("players", settingsColumns, {
  keys: ["id", "operator_id"],
  set: settingsColumns.slice(2).map(({ name }) => name)
})
