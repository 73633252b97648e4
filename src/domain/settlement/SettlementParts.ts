/** Shared steps of settlement: looking up ids, answering. */
import { type Knowledge, type Missing, missing } from "../Decision.ts"
import type { Draft } from "../Draft.ts"
import type { Settlement, SettlementCode } from "../Messages.ts"
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
  moved?: Pick<Transaction, "entryIds" | "realAmount" | "bonusAmount">
): Settlement => {
  draft.countAction()
  return {
    transactionId,
    status,
    entryIds: moved?.entryIds ?? [],
    realAmount: moved?.realAmount ?? 0,
    bonusAmount: moved?.bonusAmount ?? 0,
    balance: draft.real,
    bonusBalance: draft.bonus,
    currency: draft.player.currency,
    walletSeq: draft.walletSeq,
    roundState
  }
}

const duplicate = (transactionId: string) =>
  refuse("DUPLICATE_TRANSACTION", `The transaction ${transactionId} was used for something else.`, {
    transaction_id: transactionId
  })

export const rolledBack = (transactionId: string) =>
  refuse("BET_ROLLED_BACK", `The transaction ${transactionId} was rolled back.`, { transaction_id: transactionId })

/** Answers a message whose id is known: as the first time when it says the same, with today's balances. */
export const replay = (
  draft: Draft,
  known: Knowledge | undefined,
  earlier: Transaction,
  same: boolean
): Outcome<"DUPLICATE_TRANSACTION"> => {
  if (!same || earlier.playerId !== draft.player.id) return duplicate(earlier.transactionId)
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
  return settlement(draft, earlier.transactionId, "replayed", round?.closed === false ? "open" : "closed", earlier)
}

export const validation = (field: string, message: string) => refuseFields({ [field]: [message] })

export const currencyRefusal = (player: Player) =>
  validation("currency", `must be the player's currency ${player.currency}`)

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
  ...fields
})

/** The ids of what was posted, at most two entries. No `filter`: its result keeps room for sixteen more, and players carry these. */
export const ids = (first: number | undefined, second?: number): ReadonlyArray<number> =>
  first === undefined ? (second === undefined ? [] : [second]) : second === undefined ? [first] : [first, second]
