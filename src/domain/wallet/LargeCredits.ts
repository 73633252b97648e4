/**
 * Provider credits out of proportion: settled, and held from withdrawal in the same commit until staff decide
 * (`docs/decisions/0032-large-credits.md`).
 */
import type { AlertRule, Severity } from "../compliance/AlertRules.ts"
import { settingsOf } from "../player/AccountStatus.ts"
import type { AuditRecord, Event } from "../Change.ts"
import type { Context, Decision } from "../Decision.ts"
import { countCredit, roll } from "../limit/Limits.ts"
import { heldBy, type Player, type WithdrawalHold } from "../player/Player.ts"
import type { Transaction } from "../settlement/Rounds.ts"
import { withHold } from "../payment/WithdrawalHolds.ts"

const rule: AlertRule = "large_credit"

/** What the action of the audit log is called; the alert itself is written where such a line is (`migrations`). */
const action = "player.credit_alert"

/** Credits of no more are never looked at, in minor units of whatever currency: settling one reads nothing. A threshold below has no effect. */
export const neverLookedAt = 100_000

/** Whether a credit may be large, or part of what is: only then something is read before it is settled. */
export const isLooked = (amount: number): boolean => amount > neverLookedAt

/** The terms of the rule for one player. */
export interface CreditTerms {
  /** Minor units of the player's currency; a larger credit raises the alert, and so do smaller ones of a day each time that they come to so much. */
  readonly above: number
  readonly severity: Severity
  readonly stopsWithdrawals: boolean
}

const isCounted = ({ amount, kind }: Transaction): boolean =>
  (kind === "win" || kind === "promo_win" || kind === "adjustment") && isLooked(amount)

/** Whether a credit is out of proportion, alone or with those of the day before it: the sum reaches into the next multiple of the bound. */
const isLarge = (amount: number, before: number, { above }: CreditTerms): boolean =>
  amount > above || Math.ceil((before + amount) / above) > Math.max(1, Math.ceil(before / above))

/** An alert about one credit, and the holds after it. */
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
          credited_today: creditedToday,
          currency: player.currency,
          above: terms.above
        }
      },
      reason: null
    }
  }
}

/** Adds to an accepted settlement what its large credits ask for: alert, event, hold and line of the log. Null: the rule is off. */
export const watchCredits = <Reply, Error>(
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
