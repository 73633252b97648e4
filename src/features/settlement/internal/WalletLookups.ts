/** Resolves the players, games and sessions that a provider call names from memory, and provides the lookups for those not in memory. */
import { Effect } from "effect"
import type { Step } from "../../../domain/state/Decision.ts"
import { cappedCategory } from "../../../domain/jurisdiction/GameCategories.ts"
import type { Player } from "../../../domain/state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../../../domain/Refusal.ts"
import { stakeableBonus } from "../../../domain/settlement/Bets.ts"
import { type SettledGame, unknownGame } from "../../../domain/settlement/Settlement.ts"
import type { CreditTerms } from "../../../domain/wallet/LargeCredits.ts"
import type { Funds, PlayerName, SettleCall, WalletCall, WalletOutcome } from "../../../protocols/Protocol.ts"
import type { Lacking as LackingOf } from "../../../store/Planned.ts"
import { PlayerActors } from "../../../store/PlayerActors.ts"
import { FreeRounds, type IssuedFreeRounds } from "../../freeRounds/FreeRounds.ts"
import type { Game } from "../../games/Game.ts"
import { Games } from "../../games/Games.ts"
import { PlayerRefs } from "../../games/PlayerRefs.ts"
import { SessionTokens, type WalletSession } from "../../games/SessionTokens.ts"
import { type VendorPlayer, VendorPlayers } from "../../integrations/VendorPlayers.ts"
import { findGameOfRound, inRoundOfBet } from "../RoundOfBet.ts"
import { ProviderTransactions, type StoredTransaction } from "../ProviderTransactions.ts"

export type CallOf<K extends WalletCall["kind"]> = Extract<WalletCall, { readonly kind: K }>

/** A refusal of a known player. */
export type RefusedPlayer = Refusal & { readonly funds?: Funds }

/** Player and session of a call. */
export interface Named {
  readonly playerId: number
  /** Session of the call's token; undefined without one, or for one of another player. */
  readonly session: WalletSession | undefined
}

/** What was looked up for a call; null where there is nothing, undefined where it was not looked up. */
export interface Known {
  readonly games: ReadonlyMap<string, SettledGame> | undefined
  readonly transactions: ReadonlyMap<string, StoredTransaction | null> | undefined
  readonly terms: CreditTerms | null | undefined
  readonly grant: IssuedFreeRounds | null | undefined
  /** The call about the round that its bet stands in. */
  readonly inRound: SettleCall | undefined
  /** The game of the open round that the call closes without naming it. */
  readonly gameOfRound: SettledGame | null | undefined
  readonly player: Player | undefined
  readonly profile: VendorPlayer | undefined
}

export const nothing: Known = {
  games: undefined,
  transactions: undefined,
  terms: undefined,
  grant: undefined,
  inRound: undefined,
  gameOfRound: undefined,
  player: undefined,
  profile: undefined
}

/** Something has to be looked up before the call can be planned. */
export type Lacking = LackingOf<Known, Refusal>

/** The outcome is decided by the player's actor. */
export interface Asking {
  readonly _tag: "Asking"
  readonly name: PlayerName
  readonly named: Named
  readonly step: Step<WalletOutcome, RefusedPlayer>
  /** Recorded after the outcome. A call with it has something to look up. */
  readonly after?: (outcome: WalletOutcome) => Effect.Effect<void, Refusal>
}

export type Plan = Lacking | Asking | WalletOutcome

/** Name of the player of a call that names none. */
export const nobody: PlayerName = { ref: null, token: null, transactionId: null }

export const otherCurrency = (currency: string) =>
  refuseFields({ currency: [`must be the player's currency ${currency}`] })

export const noSuchPlayer = refuse("NOT_FOUND", "This provider has no such player.")

/** `over`: it was one of ours. */
export const invalidSession = (session: "unknown" | "over") =>
  refuse("INVALID_SESSION", "The wallet session is unknown or over. Launch the game again.", { session })

const noSuchTransaction = refuse("BET_NOT_FOUND", "There is no such transaction, and no other field names the player.")

const usedOtherwise = (transactionId: string) =>
  refuse("DUPLICATE_TRANSACTION", `The transaction id ${transactionId} was already used for another message.`, {
    transaction_id: transactionId
  })

/** The wallets as they are, whatever may be staked. */
export const walletsOf = ({ bonus, currency, real }: Player): Funds => ({ currency, real, bonus })

/** Funds available for the game; without one, including money of the running bonus, whatever its games. */
export const fundsOf = (player: Player, game: SettledGame | undefined): Funds => {
  const wallets = walletsOf(player)
  if (game !== undefined) return { ...wallets, bonus: stakeableBonus(player, game) }
  return player.activeBonus === null ? { ...wallets, bonus: 0 } : wallets
}

/** An original takes no bets from outside: its rounds are decided here. */
const toSettled = (game: Game | undefined): SettledGame =>
  game === undefined ? unknownGame : {
    id: game.id,
    providerId: game.provider.id,
    type: game.type,
    category: cappedCategory(game.type, game.category),
    active: game.active && game.original === null
  }

export const makeWalletLookups = Effect.gen(function*() {
  const actors = yield* PlayerActors
  const games = yield* Games
  const sessions = yield* SessionTokens
  const refs = yield* PlayerRefs
  const players = yield* VendorPlayers
  const freeRounds = yield* FreeRounds
  const transactions = yield* ProviderTransactions
  const { creditTerms, find: findTransaction } = transactions

  const lackingGame = (providerId: number, gameId: string): Lacking => ({
    _tag: "Lacking",
    lookUp: (known) =>
      Effect.map(
        games.findByExternalId(providerId, gameId),
        (game) => ({ games: new Map(known.games).set(gameId, toSettled(game)) })
      )
  })

  const lackingTransaction = (providerId: number, transactionId: string): Lacking => ({
    _tag: "Lacking",
    lookUp: (known) =>
      Effect.map(
        findTransaction(providerId, transactionId),
        (found) => ({ transactions: new Map(known.transactions).set(transactionId, found ?? null) })
      )
  })

  const lackingTerms = (playerId: number): Lacking => ({
    _tag: "Lacking",
    lookUp: () => Effect.map(creditTerms(playerId), (terms) => ({ terms }))
  })

  const lackingGrant = (providerId: number, reference: string): Lacking => ({
    _tag: "Lacking",
    lookUp: () => Effect.map(freeRounds.find(providerId, reference), (found) => ({ grant: found ?? null }))
  })

  const lackingRound = (providerId: number, playerId: number, call: SettleCall): Lacking => ({
    _tag: "Lacking",
    // first of all the player: on a node that it is not of, nothing is looked up
    lookUp: () =>
      actors.read(null, playerId).pipe(
        Effect.flatMap((player) => inRoundOfBet(transactions, player, providerId, call)),
        Effect.map((inRound) => ({ inRound }))
      )
  })

  const lackingGameOfRound = (providerId: number, playerId: number, call: SettleCall): Lacking => ({
    _tag: "Lacking",
    lookUp: () =>
      actors.read(null, playerId).pipe(
        Effect.flatMap((player) => findGameOfRound(transactions, player, providerId, call)),
        Effect.map((game) => ({ gameOfRound: game ?? null }))
      )
  })

  const lackingPlayer = (playerId: number): Lacking => ({
    _tag: "Lacking",
    lookUp: () => Effect.map(actors.read(null, playerId), (player) => ({ player }))
  })

  const lackingProfile = (playerId: number): Lacking => ({
    _tag: "Lacking",
    lookUp: () => Effect.map(players.find(playerId), (profile) => ({ profile }))
  })

  /** The game of a call; `unknownGame` where it names none, or one that the provider does not have. */
  const gameOf = (providerId: number, gameId: string | null, known: Known): SettledGame | Lacking => {
    if (gameId === null) return unknownGame
    const warm = games.findByExternalIdUnsafe(providerId, gameId)
    return warm !== undefined ? toSettled(warm) : known.games?.get(gameId) ?? lackingGame(providerId, gameId)
  }

  /** Resolves a player's name by its reference and token. */
  const nameOf = (providerId: number, { ref, token, transactionId }: PlayerName): Named | Refusal => {
    const verified = token === null ? undefined : sessions.verify(token)
    const session = verified?.providerId === providerId ? verified : undefined
    if (ref !== null) {
      const playerId = refs.parse(providerId, ref)
      if (playerId === undefined) return token === null ? noSuchPlayer : invalidSession("unknown")
      return session !== undefined && session.playerId !== playerId
        ? invalidSession("unknown")
        : { playerId, session }
    }
    if (session !== undefined) return { playerId: session.playerId, session }
    return transactionId === null ? invalidSession("unknown") : noSuchTransaction
  }

  /**
   * Player of a name. One that leads nowhere is that of the transaction which the name holds or, for a message, of the message itself, when its
   * id is known. A reference beside another player's token stays refused, also for a known message.
   */
  const resolve = (
    providerId: number,
    name: PlayerName,
    messageId: string | undefined,
    known: Known
  ): Named | Refusal | Lacking => {
    const named = nameOf(providerId, name)
    if (!("_tag" in named) || (name.ref !== null && refs.parse(providerId, name.ref) !== undefined)) return named
    const id = name.ref === null && name.transactionId !== null ? name.transactionId : messageId
    if (id === undefined) return named
    const found = known.transactions?.get(id)
    if (found === undefined) return lackingTransaction(providerId, id)
    if (found === null) return named
    return name.ref === null ? { playerId: found.playerId, session: undefined } : usedOtherwise(id)
  }

  const refOf = (providerId: number, { playerId, session }: Named, { ref }: PlayerName): string =>
    ref ?? (session === undefined ? refs.playerRef(providerId, playerId) : refs.refOfSession(session))

  /** `named`: the player was found, who may be another node's. */
  const refused = (
    refusal: RefusedPlayer,
    providerId: number,
    name: PlayerName,
    named?: Named
  ): Extract<WalletOutcome, { readonly _tag: "Refused" }> => ({
    _tag: "Refused",
    // tells a session that is over from one that never was
    refusal: refusal.code === "INVALID_SESSION" && named?.session !== undefined ? invalidSession("over") : refusal,
    playerRef: named === undefined ? name.ref : refOf(providerId, named, name),
    funds: refusal.funds ?? null
  })

  return {
    gameOf,
    lackingGameOfRound,
    lackingGrant,
    lackingPlayer,
    lackingProfile,
    lackingRound,
    lackingTerms,
    lackingTransaction,
    nameOf,
    refOf,
    refused,
    resolve
  }
})

export type WalletLookups = Effect.Success<typeof makeWalletLookups>
