/** Plans the provider calls that move no money: identification, session, balance and transaction status. */
import { Clock, Effect } from "effect"
import type { Step } from "../../../domain/state/Decision.ts"
import type { Player } from "../../../domain/state/Player.ts"
import type { Refusal } from "../../../domain/Refusal.ts"
import { exchangeSession, isSessionGivenUp, isSessionRunning } from "../../../domain/settlement/Launch.ts"
import type { Funds, Identified, PlayerName, WalletOutcome } from "../../../protocols/Protocol.ts"
import { OperatorClocks } from "../../../store/OperatorClocks.ts"
import { PlayerActors } from "../../../store/PlayerActors.ts"
import { OpeningSessions } from "../../games/OpeningSessions.ts"
import { SessionTokens, type WalletSession } from "../../games/SessionTokens.ts"
import { ActiveOperators } from "../../operators/ActiveOperators.ts"
import type { CallingProvider } from "../WalletActions.ts"
import {
  type CallOf,
  fundsOf,
  invalidSession,
  type Known,
  type Lacking,
  type Named,
  noSuchPlayer,
  otherCurrency,
  type Plan,
  type RefusedPlayer,
  type WalletLookups,
  walletsOf
} from "./WalletLookups.ts"

export const makePlayerPlans = Effect.fnUntraced(function*(lookups: WalletLookups) {
  const actors = yield* PlayerActors
  const sessions = yield* SessionTokens
  const operators = yield* ActiveOperators
  const clock = yield* Clock.Clock
  const clocks = yield* OperatorClocks
  const openings = yield* OpeningSessions
  const { gameOf, lackingPlayer, lackingProfile, lackingTransaction, refOf, refused, resolve } = lookups

  /** The player of a call that settles nothing: under a token that runs, or by a reference that this provider was given. */
  const presentPlayer = (
    providerId: number,
    name: PlayerName,
    known: Known,
    { mayBeExchanged = false, mayBeOver = false } = {}
  ): { readonly named: Named; readonly player: Player } | Refusal | Lacking => {
    const named = resolve(providerId, name, undefined, known)
    if ("_tag" in named) return named
    const { playerId, session } = named
    const player = actors.peek(null, playerId) ?? known.player
    if (player === undefined) return lackingPlayer(playerId)
    if (name.token === null) return player.providerIds.includes(providerId) ? { named, player } : noSuchPlayer
    if (session === undefined) return invalidSession("unknown")
    const isRunning = mayBeOver ||
      operators.isActive(session.operatorId) &&
        isSessionRunning(
          player,
          session.expiresAt,
          clocks.at(player.operatorId, clock.currentTimeMillisUnsafe())
        ) &&
        (mayBeExchanged || !isSessionGivenUp(player, session.sessionId))
    return isRunning ? { named, player } : invalidSession("over")
  }

  /** Replaces the session of a player who is identified. */
  const exchangeStep = (
    session: WalletSession,
    identified: Extract<WalletOutcome, { readonly _tag: "Identified" }>
  ): Step<WalletOutcome, RefusedPlayer> => {
    const { gameId, providerId, expiresAt, sessionId: id } = session
    const exchange = exchangeSession({ id, gameId, providerId, expiresAt, platform: null, ip: null })
    return (player, context) => {
      const decision = exchange(player, context)
      return decision._tag !== "Accept" ? decision : {
        ...decision,
        reply: {
          ...identified,
          player: { ...identified.player, token: sessions.issue({ ...session, ...decision.reply }) }
        }
      }
    }
  }

  const noteExchanged = (session: WalletSession, outcome: WalletOutcome): void => {
    const token = outcome._tag === "Identified" ? outcome.player.token : null
    const by = token === null ? undefined : sessions.verify(token)
    if (by !== undefined) openings.exchange(session.sessionId, { id: by.sessionId, expiresAt: by.expiresAt })
  }

  const planIdentify = ({ providerId }: CallingProvider, call: CallOf<"identify">, known: Known): Plan => {
    const present = presentPlayer(providerId, call.player, known, { mayBeExchanged: call.exchange })
    if ("_tag" in present) return present._tag === "Lacking" ? present : refused(present, providerId, call.player)
    const { named, player } = present
    if (known.profile === undefined) return lackingProfile(player.id)
    const game = gameOf(providerId, call.gameId, known)
    if ("_tag" in game) return game
    const identified: Identified = {
      ...known.profile,
      playerRef: refOf(providerId, named, call.player),
      token: call.player.token,
      country: player.country,
      language: player.language
    }
    const outcome = {
      _tag: "Identified",
      player: identified,
      funds: fundsOf(player, call.gameId === null ? undefined : game)
    } as const
    const { session } = named
    return call.exchange && session?.mode === "real"
      ? {
        _tag: "Asking",
        name: call.player,
        named,
        step: exchangeStep(session, outcome),
        after: (exchanged) => Effect.sync(() => noteExchanged(session, exchanged))
      }
      : outcome
  }

  const planBalance = ({ providerId }: CallingProvider, call: CallOf<"balance">, known: Known): Plan => {
    const present = presentPlayer(providerId, call.player, known, call)
    if ("_tag" in present) return present._tag === "Lacking" ? present : refused(present, providerId, call.player)
    const { named, player } = present
    const game = gameOf(providerId, call.gameId, known)
    if ("_tag" in game) return game
    const funds = call.ofWallets === true
      ? walletsOf(player)
      : fundsOf(player, call.gameId === null ? undefined : game)
    return call.currency !== null && call.currency !== player.currency
      ? refused({ ...otherCurrency(player.currency), funds }, providerId, call.player)
      : { _tag: "Balance", playerRef: refOf(providerId, named, call.player), funds }
  }

  const planBalances = ({ providerId }: CallingProvider, call: CallOf<"balances">, known: Known): Plan => {
    const present = presentPlayer(providerId, call.player, known)
    if ("_tag" in present) return present._tag === "Lacking" ? present : refused(present, providerId, call.player)
    const { named, player } = present
    const funds: Array<Funds> = []
    for (const gameId of call.gameIds) {
      const game = gameOf(providerId, gameId, known)
      if ("_tag" in game) return game
      funds.push(fundsOf(player, game))
    }
    return { _tag: "Balances", playerRef: refOf(providerId, named, call.player), funds }
  }

  const planSession = ({ providerId }: CallingProvider, call: CallOf<"session">, known: Known): Plan => {
    const present = presentPlayer(providerId, call.player, known)
    if ("_tag" in present) return present._tag === "Lacking" ? present : refused(present, providerId, call.player)
    const { named, player } = present
    const { session } = named
    return session === undefined ? refused(invalidSession("unknown"), providerId, call.player) : {
      _tag: "Session",
      playerRef: refOf(providerId, named, call.player),
      country: player.country,
      language: player.language,
      expiresAt: session.expiresAt,
      funds: walletsOf(player)
    }
  }

  const planStatus = ({ providerId }: CallingProvider, { transactionId }: CallOf<"status">, known: Known): Plan => {
    const found = known.transactions?.get(transactionId)
    if (found === undefined) return lackingTransaction(providerId, transactionId)
    const status = found === null
      ? "unknown"
      : found.kind === "tombstone"
      ? "tombstone"
      : found.rolledBack
      ? "rolled_back"
      : "processed"
    return { _tag: "Status", transactionId, status }
  }

  return { planBalance, planBalances, planIdentify, planSession, planStatus }
})
