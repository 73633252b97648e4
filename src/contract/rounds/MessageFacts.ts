/** Builds the plain-language description of a provider message from its details, for the service, the command line and the pages. */
import { type MessageFacts, messageStory, type Texts } from "../../domain/settlement/MessageStory.ts"
import type { MessageDetails } from "./StaffApi.ts"

type Details = Omit<typeof MessageDetails.Type, "story">

export const messageFacts = (details: Details): MessageFacts => {
  const { calls, game, message, player, provider, related, round, round_id: roundId, transaction_id: id } = details
  const rollback = message?.kind === "tombstone"
    ? related.find(({ kind, target_transaction_id: target }) => kind === "rollback" && target === id)
    : related.find(({ transaction_id: by }) => by === message?.rolled_back_by)
  return {
    id,
    provider: provider.name,
    player: player?.username ?? null,
    game: game?.name ?? null,
    roundId,
    round: round === null ? null : {
      state: round.state,
      stake: round.real_stake + round.bonus_stake,
      wins: round.wins,
      paidWins: round.paid_wins,
      takenBack: round.taken_back
    },
    message: message === null ? null : {
      kind: message.kind,
      status: message.status,
      amount: message.amount,
      realAmount: message.real_amount,
      bonusAmount: message.bonus_amount,
      targetId: message.target_transaction_id,
      detail: message.detail,
      at: message.at
    },
    takenBackBy: rollback === undefined ? null : { id: rollback.transaction_id, at: rollback.at },
    targetKind: message?.kind === "rollback"
      ? related.find(({ transaction_id: target }) => target === message.target_transaction_id)?.kind ?? null
      : null,
    calls: calls.filter(({ transaction_id: of }) => of === id).map((
      { amount, at, code, currency, kind, reason, result }
    ) => ({
      kind,
      result,
      code,
      reason,
      amount: amount === null || currency === null ? null : `${amount.replace("-", "")} ${currency}`,
      at
    }))
  }
}

/** What became of a message, with amounts and instants as `texts` writes them. */
export const storyOf = (details: Details, texts: Texts): string => messageStory(messageFacts(details), texts)
