/** Shared steps of settlement: looking up ids, answering. */
import { type Knowledge, type Missing, missing } from "../Decision.ts"
import type { Draft } from "../Draft.ts"
import type { Settlement, SettlementCode, SettlementPolicy } from "../Messages.ts"
import type { Player } from "../player/Player.ts"
import { type Refusal, refuse, refuseFields } from "../Refusal.ts"
import {
  placeOfRound,
  placeOfTransaction,
  type Round,
  roundKey,
  type Transaction,
  type TransactionKind
} from "./Rounds.ts"

/** A step inside a decision: what it answers, why it cannot be, or what has to be looked up first. */
export type Outcome<Code extends SettlementCode> = Settlement | Refusal<Code> | Missing

export const isSettlement = (outcome: Settlement | { readonly _tag: string }): outcome is Settlement =>
  !("_tag" in outcome)

export const findTransaction = (
  draft: Draft,
  known: Knowledge | undefined,
  providerId: number,
  transactionId: string
): Transaction | null | undefined => {
  const place = placeOfTransaction(draft.transactions, providerId, transactionId)
  return place >= 0 ? draft.transactions.items[place] : known?.transactions.get(transactionId)
}

export const findRound = (
  draft: Draft,
  known: Knowledge | undefined,
  gameId: number,
  roundId: string
): Round | null | undefined => {
  const place = placeOfRound(draft.rounds, gameId, roundId)
  return place >= 0 ? draft.rounds.items[place] : known?.rounds.get(roundKey(gameId, roundId))
}

/** State of the bonus of an earlier stake: running, or its result; undefined when the store has to be asked. */
export const bonusStanding = (
  draft: Draft,
  known: Knowledge | undefined,
  bonusId: number
): "running" | "converted" | "over" | undefined => {
  if (draft.activeBonus?.id === bonusId) return "running"
  const result = draft.endedHere(bonusId) ??
    (known?.bonuses.has(bonusId) === true ? known.bonuses.get(bonusId)?.result ?? null : undefined)
  return result === undefined ? undefined : result === "converted" ? "converted" : "over"
}

export const noSuchGame = refuse("NOT_FOUND", "This provider has no such game, or it is switched off.")

export const settlement = (
  draft: Draft,
  transactionId: string | null,
  status: Settlement["status"],
  roundState: Settlement["roundState"],
  /** What is kept of the message; none where nothing is. */
  kept?: Transaction
): Settlement => {
  draft.countAction()
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
  refuse("DUPLICATE_TRANSACTION", `The transaction ${transactionId} was used for something else.`, {
    transaction_id: transactionId,
    earlier: { kind, status }
  })

/** Refuses what was rolled back; of a tombstone the bet itself never came. */
export const rolledBack = ({ kind, transactionId }: Pick<Transaction, "kind" | "transactionId">) =>
  refuse("BET_ROLLED_BACK", `The transaction ${transactionId} was rolled back.`, {
    transaction_id: transactionId,
    tombstone: kind === "tombstone"
  })

/** What of a message has to agree with the earlier one of its id, by each measure of a policy. */
export interface Agreement {
  readonly kind: TransactionKind
  /** Whether all that the message says agrees. */
  readonly content: boolean
  readonly round: boolean
}

/** Whether a message with the id of an earlier one is the same message. Its player is judged apart. */
const agrees = (
  earlier: Transaction,
  { sameMessage }: SettlementPolicy,
  { content, kind, round }: Agreement
): boolean => earlier.kind === kind && (sameMessage === "content" ? content : sameMessage === "kind" || round)

/** As {@link replay}, where the id may have a tombstone: what was rolled back before it came is refused or ignored, as the policy says. */
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

/** Answers a message whose id is known: as the first time when it says the same, with today's balances. */
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

/** Whether the player ever had a session with a provider. */
export const knowsProvider = (player: Player, providerId: number): boolean => player.providerIds.includes(providerId)

export const neverPlayedHere = refuse("NOT_FOUND", "This provider has no such player.")

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
  lost: 0,
  ...fields
})

/** A round that no bet has opened. */
export const emptyRound = (draft: Draft, gameId: number, roundId: string): Round => ({
  gameId,
  roundId,
  realStake: 0,
  bonusStake: 0,
  paidWins: 0,
  openBets: 0,
  bonusId: null,
  closed: false,
  isLive: null,
  openedAt: draft.now
})

/** The ids of what was posted, at most two entries. No `filter`: its result keeps room for sixteen more, and players carry these. */
export const ids = (first: number | undefined, second?: number): ReadonlyArray<number> =>
  first === undefined ? (second === undefined ? [] : [second]) : second === undefined ? [first] : [first, second]
