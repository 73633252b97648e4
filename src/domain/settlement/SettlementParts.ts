/** Shared steps of settlement: lookup of ids, replies. */
import { bonusStatusOf } from "../bonus/BonusMoney.ts"
import { type Knowledge, type Missing, missing } from "../state/Decision.ts"
import type { Draft } from "../state/Draft.ts"
import type { Settlement, SettlementCode, SettlementPolicy } from "../state/Messages.ts"
import type { Player } from "../state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"
import {
  indexOfRound,
  indexOfTransaction,
  type Round,
  roundKey,
  type Transaction,
  type TransactionKind
} from "../state/Rounds.ts"

/** Result of a step within a decision: settlement, refusal, or ids to look up first. */
export type Outcome<Code extends SettlementCode> = Settlement | Refusal<Code> | Missing

export const isSettlement = (outcome: Settlement | { readonly _tag: string }): outcome is Settlement =>
  !("_tag" in outcome)

export const findTransaction = (
  draft: Draft,
  known: Knowledge | undefined,
  providerId: number,
  transactionId: string
): Transaction | null | undefined => {
  const index = indexOfTransaction(draft.transactions, providerId, transactionId)
  return index >= 0 ? draft.transactions.items[index] : known?.transactions.get(transactionId)
}

export const findRound = (
  draft: Draft,
  known: Knowledge | undefined,
  gameId: number,
  roundId: string
): Round | null | undefined => {
  const index = indexOfRound(draft.rounds, gameId, roundId)
  return index >= 0 ? draft.rounds.items[index] : known?.rounds.get(roundKey(gameId, roundId))
}

/** True when the bonus with a stake in the round has to be looked up. */
export const isBonusUnknown = (draft: Draft, round: Round | null): boolean =>
  round !== null && round.bonusStake > 0 && round.bonusId !== null && bonusStatusOf(draft, round.bonusId) === undefined

export const noSuchGame = refuse("NOT_FOUND", "This provider has no such game, or it is switched off.")

export const settlement = (
  draft: Draft,
  transactionId: string | null,
  status: Settlement["status"],
  roundState: Settlement["roundState"],
  /** Stored transaction of the message, if any. */
  kept?: Transaction
): Settlement => {
  draft.completeAction()
  return {
    transactionId,
    status,
    first: kept?.status ?? (status === "ignored" ? "ignored" : "processed"),
    settledAt: kept?.createdAt ?? draft.now,
    entryIds: kept?.entryIds ?? [],
    realAmount: kept?.realAmount ?? 0,
    bonusAmount: kept?.bonusAmount ?? 0,
    balance: draft.real,
    bonusBalance: draft.bonus,
    currency: draft.player.currency,
    walletSeq: draft.walletSeq,
    roundState
  }
}

const duplicate = ({ kind, status, transactionId }: Transaction) =>
  refuse("DUPLICATE_TRANSACTION", `The transaction id ${transactionId} was already used for another message.`, {
    transaction_id: transactionId,
    earlier: { kind, status }
  })

/** Refusal for a rolled back message; for a tombstone, the bet itself never arrived. */
export const rolledBack = ({ kind, transactionId }: Pick<Transaction, "kind" | "transactionId">) =>
  refuse("BET_ROLLED_BACK", `The transaction ${transactionId} was rolled back.`, {
    transaction_id: transactionId,
    tombstone: kind === "tombstone"
  })

/** Match of a message with the earlier one of its id, by each measure of a policy. */
export interface Agreement {
  readonly kind: TransactionKind
  /** Whether all fields match. */
  readonly content: boolean
  readonly round: boolean
}

/** Whether a message with a known id is the same message. The player is compared separately. */
const agrees = (
  earlier: Transaction,
  { sameMessage }: SettlementPolicy,
  { content, kind, round }: Agreement
): boolean => earlier.kind === kind && (sameMessage === "content" ? content : sameMessage === "kind" || round)

/** Like {@link replay}, for ids that may have a tombstone: a message rolled back before it arrived is refused or ignored, by policy. */
export const replayUnlessRolledBack = (
  draft: Draft,
  known: Knowledge | undefined,
  earlier: Transaction,
  policy: SettlementPolicy,
  agreement: Agreement
): Outcome<"DUPLICATE_TRANSACTION" | "BET_ROLLED_BACK"> => {
  if (earlier.kind !== "tombstone") return replay(draft, known, earlier, policy, agreement)
  if (policy.afterTombstone === "refuse") return rolledBack(earlier)
  if (earlier.playerId !== draft.player.id) return duplicate(earlier)
  draft.recall(earlier, null)
  return settlement(draft, earlier.transactionId, "ignored", "closed", { ...earlier, status: "ignored" })
}

/** Answers a message with a known id: as the first time when it is the same, with current balances. */
export const replay = (
  draft: Draft,
  known: Knowledge | undefined,
  earlier: Transaction,
  policy: SettlementPolicy,
  agreement: Agreement
): Outcome<"DUPLICATE_TRANSACTION"> => {
  if (!agrees(earlier, policy, agreement) || earlier.playerId !== draft.player.id) return duplicate(earlier)
  if (earlier.gameId === null || earlier.roundId === null) {
    draft.recall(earlier, null)
    return settlement(draft, earlier.transactionId, "replayed", "closed", earlier)
  }
  const round = findRound(draft, known, earlier.gameId, earlier.roundId)
  if (round === undefined) {
    return missing({
      providerId: earlier.providerId,
      transactionIds: [earlier.transactionId],
      rounds: [{ gameId: earlier.gameId, roundId: earlier.roundId }]
    })
  }
  draft.recall(earlier, round)
  const roundState = round?.closed === false ? "open" : "closed"
  const settled = settlement(draft, earlier.transactionId, "replayed", roundState, earlier)
  return earlier.rolledBack ? { ...settled, rolledBack: true } : settled
}

export const validation = (field: string, message: string) => refuseFields({ [field]: [message] })

export const currencyRefusal = (player: Player) =>
  validation("currency", `must be the player's currency ${player.currency}`)

/** True when the player ever had a session with the provider. */
export const knowsProvider = (player: Player, providerId: number): boolean => player.providerIds.includes(providerId)

export const playerUnknownToProvider = refuse("NOT_FOUND", "This provider has no such player.")

export const newTransaction = (
  draft: Draft,
  kind: TransactionKind,
  message: { readonly providerId: number; readonly transactionId: string },
  fields: Partial<Transaction>
): Transaction => ({
  providerId: message.providerId,
  transactionId: message.transactionId,
  playerId: draft.player.id,
  kind,
  status: "processed",
  amount: 0,
  gameId: null,
  roundId: null,
  targetId: null,
  detail: null,
  realAmount: 0,
  bonusAmount: 0,
  entryIds: [],
  bonusId: null,
  wagered: 0,
  createdAt: draft.now,
  rolledBack: false,
  reinstated: 0,
  ...fields
})

/** Round without a bet. */
export const emptyRound = (draft: Draft, gameId: number, roundId: string): Round => ({
  gameId,
  roundId,
  realStake: 0,
  bonusStake: 0,
  paidWins: 0,
  won: 0,
  takenBack: 0,
  openBets: 0,
  bonusId: null,
  closed: false,
  isLive: null,
  openedAt: draft.now
})
