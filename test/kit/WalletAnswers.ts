/** Answers of the wallet API in the form of the settlement model's. */
import { Schema } from "effect"
import type { ModelAnswer } from "./SettlementModel.ts"
import { Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"

export const SettledBatch = Schema.Struct({ results: Schema.Array(Settlement) })

/** An answer as the model gives it. */
export const heard = (data: Settlement) => ({
  status: data.status,
  real: data.real_amount,
  bonus: data.bonus_amount,
  balance: data.balance,
  bonusBalance: data.bonus_balance,
  walletSeq: data.wallet_seq,
  round: data.round_state
})

/** The part of the model's answer that is on the wire. */
export const answered = (answer: ModelAnswer) => {
  if (typeof answer === "string") return answer
  const { first: _, ...told } = answer
  return told
}
