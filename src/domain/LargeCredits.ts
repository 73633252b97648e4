/**
 * Credits of game providers that are out of proportion: settled as any other, and held back from withdrawal in the same commit until
 * staff have looked (`docs/decisions/0032-large-credits.md`).
 */
import type { AlertRule, Severity } from "./AlertRules.ts"
import { settingsOf } from "./AccountStatus.ts"
import type { AuditRecord, Event } from "./Change.ts"
import type { Context, Decision } from "./Decision.ts"
import { heldBy, type Player, type WithdrawalHold } from "./Player.ts"
import type { Transaction } from "./Rounds.ts"
import { withHold } from "./WithdrawalHolds.ts"

const rule: AlertRule = "large_credit"

/** What the action of the audit log is called; the alert itself is written where such a line is (`migrations`). */
const action = "player.credit_alert"

/** The terms of the rule for one player. */
export interface CreditTerms {
  /** Minor units of the player's currency; a larger credit raises the alert. */
  readonly above: number
  readonly severity: Severity
  readonly stopsWithdrawals: boolean
}

const isLarge = ({ amount, kind }: Transaction, { above }: CreditTerms): boolean =>
  (kind === "win" || kind === "promo_win") && amount > above

/** An alert about one credit, and the holds after it. */
const alertOf = (
  transaction: Transaction,
  holds: ReadonlyArray<WithdrawalHold>,
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
      before: { withdrawal_holds: heldBy(holds) },
      after: {
        withdrawal_holds: heldBy(after),
        alert_id: alertId,
        rule,
        severity,
        // where there is no room the player is held by others, and this one follows when there is
        hold: stopsWithdrawals ? (held === undefined ? "wanted" : "placed") : "none",
        details: {
          provider_id: transaction.providerId,
          transaction_id: transaction.transactionId,
          amount: transaction.amount,
          currency: player.currency,
          above: terms.above
        }
      },
      reason: null
    }
  }
}

/** Adds to an accepted settlement what its large credits ask for: alert, event, hold and line of the log. Null: nothing is large. */
export const watchCredits = <Reply, Error>(
  decision: Decision<Reply, Error>,
  context: Context,
  terms: CreditTerms | null
): Decision<Reply, Error> => {
  if (terms === null || decision._tag !== "Accept" || decision.change === null) return decision
  const large = decision.change.transactions.filter((transaction) => isLarge(transaction, terms))
  if (large.length === 0) return decision
  const { change, state } = decision
  let { idsUsed } = decision
  let holds = state.withdrawalHolds
  const audit = [...change.audit]
  const events = [...change.events]
  for (const transaction of large) {
    const alert = alertOf(transaction, holds, state, context, terms, context.firstId + idsUsed)
    idsUsed += 3
    holds = alert.holds
    audit.push(alert.audit)
    events.push(alert.event)
  }
  const player = { ...state, withdrawalHolds: holds }
  const settings = settingsOf(player, context.now)
  return { ...decision, state: player, change: { ...change, audit, events, settings }, idsUsed }
}
