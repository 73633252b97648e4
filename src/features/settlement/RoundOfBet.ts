/**
 * Completes partial references in provider calls: finds the game of a round that is named without it, and the round that holds the referenced bet.
 */
import { Effect } from "effect"
import type { Refusal } from "../../domain/Refusal.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type SettledGame, unknownGame } from "../../domain/settlement/Settlement.ts"
import { indexOfTransaction } from "../../domain/state/Rounds.ts"
import type { SettleCall } from "../../protocols/Protocol.ts"
import type { ProviderTransactions } from "./ProviderTransactions.ts"

/** The round that a call closes without naming its game. */
const closedRoundOf = ({ actions, gameId, roundId }: SettleCall): string | undefined =>
  gameId === null && actions.some(({ action }) => action === "close_round") ? roundId ?? undefined : undefined

/** False where the game of the round that a call closes has to be looked for. */
export const isGameKnown = (player: Player | undefined, providerId: number, call: SettleCall): boolean => {
  const roundId = closedRoundOf(call)
  return roundId === undefined || (player !== undefined && gameOfRound(player, providerId, roundId) !== undefined)
}

/** The game of the open round that a call closes; undefined where no game or more than one has it. */
export const findGameOfRound = Effect.fnUntraced(function*(
  { findGames }: ProviderTransactions["Service"],
  player: Player,
  providerId: number,
  call: SettleCall
): Effect.fn.Return<SettledGame | undefined, Refusal<"TRY_AGAIN">> {
  const roundId = closedRoundOf(call)
  if (roundId === undefined || isGameKnown(player, providerId, call)) return undefined
  const found = yield* findGames(providerId, player.id, roundId)
  const [id] = found
  return found.length === 1 && id !== undefined ? { ...unknownGame, id, providerId } : undefined
})

/** The game of a round that was named without it; undefined when the player does not carry the round any more. */
export const gameOfRound = (player: Player, providerId: number, roundId: string): SettledGame | undefined => {
  const gameId =
    player.transactions.items.findLast((transaction) =>
      transaction.providerId === providerId && transaction.roundId === roundId
    )?.gameId ?? null
  return gameId === null ? undefined : { ...unknownGame, id: gameId, providerId }
}

/** The bet that a call's first action names; undefined where it names none. */
const betOf = ({ actions: [action] }: SettleCall): string | undefined =>
  action?.action === "rollback"
    ? action.targetTransactionId
    : action?.action === "win"
    ? action.betTransactionId ?? undefined
    : undefined

/** False where another round may have the bet that the call names: it has to be looked for. */
export const isInRoundOfBet = (player: Player | undefined, providerId: number, call: SettleCall): boolean => {
  const bet = betOf(call)
  if (call.inRound === undefined || bet === undefined) return true
  if (player === undefined) return false
  const carried = player.transactions.items[indexOfTransaction(player.transactions, providerId, bet)]
  // the tombstone of a cancel that overtook its bet: meanwhile the bet may have come in another round
  return carried !== undefined && carried.kind !== "tombstone"
}

/** The call about the round that its bet stands in; as it is where it names that round, and where no round or more than one has the bet. */
export const inRoundOfBet = Effect.fnUntraced(function*(
  { find, findRounds }: ProviderTransactions["Service"],
  player: Player,
  providerId: number,
  call: SettleCall
): Effect.fn.Return<SettleCall, Refusal<"TRY_AGAIN">> {
  const { inRound } = call
  const bet = betOf(call)
  if (inRound === undefined || bet === undefined || isInRoundOfBet(player, providerId, call)) return call
  if ((yield* find(providerId, bet))?.kind === "bet") return call
  const found = yield* findRounds(providerId, player.id, (roundId) => betOf(inRound(roundId)) ?? "")
  const [roundId] = found
  return found.length === 1 && roundId !== undefined ? inRound(roundId) : call
})
