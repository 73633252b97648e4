/** Balance corrections by staff, with a reason, posted as ledger entries (CONTRACT `player correct`). */
import type { Entry, WalletKind } from "../state/Change.ts"
import { type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import { isBalance, maxBalance } from "../Money.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuseFields } from "../Refusal.ts"

export interface Correction {
  readonly wallet: WalletKind
  /** Signed minor units, not zero. */
  readonly amount: number
  readonly reason: string
  /** Audit log label of the actor. */
  readonly actor: string
  /** Request that the actor approves; absent when the actor acts alone. */
  readonly approval?: { readonly requestId: number; readonly requestedBy: string }
}

/** Audit log subject of a correction request. */
export const correctionSubject = (requestId: number): string => `correction:${requestId}`

/**
 * Posts a correction. A debit may make the real balance negative, since an error in the player's favour is still one; the bonus balance never becomes
 * negative. Bonus money credited while no bonus runs can only be debited again: it is forfeited when a bonus begins, which would otherwise convert
 * it.
 */
export const correctionStep =
  (correction: Correction) => (player: Player, context: Context): Decision<Entry, Refusal<"VALIDATION_FAILED">> => {
    const { amount, approval, wallet } = correction
    const draft = new Draft(player, context)
    const before = wallet === "real" ? draft.real : draft.bonus
    if (amount === 0) return refused(refuseFields({ amount: ["must not be zero"] }))
    if (!isBalance(before + amount)) {
      return refused(refuseFields({ amount: [`must keep the balance between -${maxBalance} and ${maxBalance}`] }))
    }
    if (wallet === "bonus" && before + amount < 0) {
      return refused(refuseFields({ amount: [`must not take more than the bonus balance of ${before}`] }))
    }
    const up = amount > 0
    const type = wallet === "real"
      ? up ? "correction_up" : "correction_down"
      : up
      ? "bonus_correction_up"
      : "bonus_correction_down"
    const id = draft.post(wallet, type, amount, {})
    draft.walletSeq++
    const audit = {
      id: draft.takeId(),
      at: context.now,
      actor: correction.actor,
      action: approval === undefined ? "player.correct" : "correction.approve",
      operatorId: player.operatorId,
      playerId: player.id,
      subject: approval === undefined ? `player:${player.id}` : correctionSubject(approval.requestId),
      before: { wallet, balance: before },
      after: {
        wallet,
        balance: before + amount,
        ...(approval === undefined ? {} : { transaction_id: id, requested_by: approval.requestedBy })
      },
      reason: correction.reason
    }
    const decision = draft.accept(undefined, { audit: [audit] })
    const entry = decision.change?.entries.find((posted) => posted.id === id)
    return entry === undefined ? refused(refuseFields({ amount: ["must not be zero"] })) : { ...decision, reply: entry }
  }
