/** Renders wallet outcomes as answers of Pitboss's own protocol (`src/contract/settlement`). */
import {
  refusalBody,
  type Retry,
  retryAfterOf,
  retryOf,
  serverError,
  statusOf,
  withRetry
} from "../../contract/common/Envelope.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Settlement } from "../../domain/settlement/Settlement.ts"
import { iso } from "../../platform/Time.ts"
import type { Granted, VendorAnswer, WalletOutcome } from "../Protocol.ts"

const settlementFields = (requestId: string | undefined, settlement: Settlement) => ({
  request_id: requestId ?? null,
  transaction_id: settlement.transactionId,
  status: settlement.status,
  wallet_transaction_ids: settlement.entryIds,
  real_amount: settlement.realAmount,
  bonus_amount: settlement.bonusAmount,
  balance: settlement.balance,
  bonus_balance: settlement.bonusBalance,
  currency: settlement.currency,
  wallet_seq: settlement.walletSeq,
  round_state: settlement.roundState
})

/** Ids that a body gives its request and, in a batch, its actions. */
export interface Requested {
  readonly request_id?: string
  readonly actions?: ReadonlyArray<{ readonly request_id?: string }>
}

/** Data of an answer; undefined for an outcome that none of the calls asks for. */
const dataOf = ({ actions, request_id: requestId }: Requested, outcome: Granted): object | undefined => {
  switch (outcome._tag) {
    case "Settled": {
      const [first] = outcome.settlements
      return actions === undefined ? first && settlementFields(requestId, first) : {
        request_id: requestId ?? null,
        results: outcome.settlements.map((settlement, index) =>
          settlementFields(actions[index]?.request_id ?? requestId, settlement)
        )
      }
    }
    case "Session": {
      const { country, expiresAt, funds, language, playerRef } = outcome
      return {
        player_ref: playerRef,
        currency: funds.currency,
        country,
        language,
        balance: funds.real,
        bonus_balance: funds.bonus,
        session_expires_at: iso(expiresAt)
      }
    }
    case "Balance": {
      const { funds } = outcome
      return { balance: funds.real, bonus_balance: funds.bonus, currency: funds.currency }
    }
    case "Status":
      return { transaction_id: outcome.transactionId, status: outcome.status }
    case "Identified":
    case "Balances":
      return undefined
  }
}

/** Answer to a refusal in the envelope of Pitboss's APIs; without `onFailure`, without advice. */
export const refusalAnswer = (refusal: Refusal, onFailure?: Retry): VendorAnswer => {
  const retryAfter = retryAfterOf(refusal)
  return {
    status: statusOf(refusal),
    body: refusalBody(onFailure === undefined ? refusal : withRetry(refusal, retryOf(refusal, onFailure))),
    ...retryAfter !== undefined && { headers: { "retry-after": retryAfter } }
  }
}

/** Answer to an outcome of the wallet. */
export const answerTo = (requested: Requested, onFailure: Retry, outcome: WalletOutcome): VendorAnswer => {
  if (outcome._tag === "Refused") return refusalAnswer(outcome.refusal, onFailure)
  const data = dataOf(requested, outcome)
  return data === undefined
    ? refusalAnswer(serverError, onFailure)
    : { status: 200, body: JSON.stringify({ data }) }
}
