/**
 * Unusually large provider credits: settled, with withdrawals held in the same commit until staff decide (`docs/decisions/0032-large-credits.md`).
 */
import type { AlertRule, Severity } from "../compliance/AlertRules.ts"
import { settingsOf } from "../state/Change.ts"
import type { AuditRecord, Event } from "../state/Change.ts"
import type { Context, Decision } from "../state/Decision.ts"
import { countCredit, roll } from "../state/Limits.ts"
import { activeHoldIds, type Player, type WithdrawalHold } from "../state/Player.ts"
import type { Transaction } from "../state/Rounds.ts"
import { withHold } from "../payment/WithdrawalHolds.ts"

const rule: AlertRule = "large_credit"

/** Audit log action; the trigger on its lines writes the alert itself (`raise_credit_alert`). */
const action = "player.credit_alert"

/** Credits up to this amount are never examined, in minor units of any currency: settling one reads nothing. A lower threshold has no effect. */
export const examinedAbove = 100_000

/** True for a credit that may be large or part of a large sum: only then is anything read before settlement. */
export const isExamined = (amount: number): boolean => amount > examinedAbove

/** Terms of the rule for one player. */
export interface CreditTerms {
  /** Minor units of the player's currency; raises an alert for a larger credit, and whenever the sum of a day exceeds another multiple of it. */
  readonly above: number
  readonly severity: Severity
  readonly stopsWithdrawals: boolean
}

const isCounted = ({ amount, kind }: Transaction): boolean =>
  (kind === "win" || kind === "promo_win" || kind === "adjustment") && isExamined(amount)

/** True when a credit exceeds the bound, or the day's sum with it exceeds the next multiple of the bound. */
const isLarge = (amount: number, before: number, { above }: CreditTerms): boolean =>
  amount > above || Math.ceil((before + amount) / above) > Math.max(1, Math.ceil(before / above))

/** Alert on one credit, and the resulting holds. */
const alertOf = (
  transaction: Transaction,
  holds: ReadonlyArray<WithdrawalHold>,
  creditedToday: number,
  player: Player,
  { now }: Context,
  terms: CreditTerms,
  firstId: number
): { readonly audit: AuditRecord; readonly event: Event; readonly holds: ReadonlyArray<WithdrawalHold> } => {
  const { severity, stopsWithdrawals } = terms
  const alertId = firstId
  const held = stopsWithdrawals ? withHold(holds, alertId) : undefined
  const after = held ?? holds
  const owner = { operatorId: player.operatorId, playerId: player.id }
  return {
    holds: after,
    event: {
      id: firstId + 1,
      ...owner,
      type: "compliance.alert_created",
      data: { alert: { id: alertId, rule, severity, status: "open", created_at: new Date(now).toISOString() } },
      createdAt: now
    },
    audit: {
      id: firstId + 2,
      at: now,
      actor: "compliance",
      action,
      ...owner,
      subject: `alert:${alertId}`,
      before: { withdrawal_holds: activeHoldIds(holds) },
      after: {
        withdrawal_holds: activeHoldIds(after),
        alert_id: alertId,
        rule,
        severity,
        // without room the player is already held by others; this one is placed once there is room
        hold: stopsWithdrawals ? (held === undefined ? "wanted" : "placed") : "none",
        details: {
          provider_id: transaction.providerId,
          transaction_id: transaction.transactionId,
          amount: transaction.amount,
          credited_today: creditedToday,
          currency: player.currency,
          above: terms.above
        }
      },
      reason: null
    }
  }
}

/** Adds the effects of large credits to an accepted settlement: alert, event, hold and audit log line. Null: the rule is disabled. */
export const flagLargeCredits = <Reply, Error>(
  decision: Decision<Reply, Error>,
  context: Context,
  terms: CreditTerms | null
): Decision<Reply, Error> => {
  if (terms === null || decision._tag !== "Accept" || decision.change === null) return decision
  const counted = decision.change.transactions.filter(isCounted)
  if (counted.length === 0) return decision
  const { change } = decision
  let { idsUsed } = decision
  let { counters, withdrawalHolds: holds } = decision.state
  const audit = [...change.audit]
  const events = [...change.events]
  for (const transaction of counted) {
    const before = roll(counters, context.now).creditDay
    counters = countCredit(counters, context.now, transaction.amount)
    if (!isLarge(transaction.amount, before, terms)) continue
    const alert = alertOf(
      transaction,
      holds,
      counters.creditDay,
      decision.state,
      context,
      terms,
      context.firstId + idsUsed
    )
    idsUsed += 3
    holds = alert.holds
    audit.push(alert.audit)
    events.push(alert.event)
  }
  const player = { ...decision.state, counters, withdrawalHolds: holds }
  if (idsUsed === decision.idsUsed) return { ...decision, state: player }
  const settings = settingsOf(player, context.now)
  return { ...decision, state: player, change: { ...change, audit, events, settings }, idsUsed }
}
