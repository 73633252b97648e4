/** Whose session a token is, and a player's balances, for game providers: reads of the committed state. */
import { Clock, Effect } from "effect"
import type { Provider } from "../../domain/state/Operator.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { isSessionRunning } from "../../domain/settlement/Launch.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { SessionTokens, type WalletSession } from "../games/SessionTokens.ts"
import { ActiveOperators } from "../operators/ActiveOperators.ts"

export interface Balances {
  readonly currency: string
  readonly balance: number
  readonly bonusBalance: number
}

export interface Authenticated extends Balances {
  readonly playerRef: string
  readonly country: string
  readonly language: string
  /** Epoch milliseconds. */
  readonly sessionExpiresAt: number
}

type BalanceOf = { readonly sessionToken: string } | { readonly playerRef: string }

export interface PlayerBalances {
  readonly authenticate: (
    provider: Provider,
    sessionToken: string
  ) => Effect.Effect<Authenticated, Refusal<"INVALID_SESSION"> | ActorRefusal>
  readonly balance: (
    provider: Provider,
    by: BalanceOf
  ) => Effect.Effect<Balances, Refusal<"INVALID_SESSION"> | ActorRefusal>
  /** Like the calls of these names, of a player in memory; undefined when they would have to wait, or be refused. */
  readonly peek: {
    readonly authenticate: (provider: Provider, sessionToken: string) => Authenticated | undefined
    readonly balance: (provider: Provider, by: BalanceOf) => Balances | undefined
  }
}

export const invalidSession = refuse(
  "INVALID_SESSION",
  "The wallet session is unknown or over. Launch the game again."
)

export const noSuchPlayer = refuse("NOT_FOUND", "This provider has no such player.")

const toBalances = (player: Player): Balances => ({
  currency: player.currency,
  balance: player.real,
  bonusBalance: player.bonus
})

export const makePlayerBalances = Effect.gen(function*() {
  const actors = yield* PlayerActors
  const sessions = yield* SessionTokens
  const operators = yield* ActiveOperators
  const refs = yield* PlayerRefs
  const clock = yield* Clock.Clock

  /** The session under a token, when it is this provider's. */
  const findSession = (provider: Provider, token: string): WalletSession | undefined => {
    const session = sessions.verify(token)
    return session?.providerId === provider.id ? session : undefined
  }

  const isRunning = (player: Player, session: WalletSession, now: number): boolean =>
    operators.isActive(session.operatorId) && isSessionRunning(player, session.expiresAt, now)

  /** The session under a token until it expires; it may have been ended before. */
  const unexpiredSession = (provider: Provider, token: string, now: number): WalletSession | undefined => {
    const session = findSession(provider, token)
    return session === undefined || now >= session.expiresAt ? undefined : session
  }

  const toAuthenticated = (provider: Provider, player: Player, session: WalletSession): Authenticated => ({
    playerRef: refs.playerRef(provider.id, player.id),
    country: player.country,
    language: player.language,
    sessionExpiresAt: session.expiresAt,
    ...toBalances(player)
  })

  /** The player of a session that runs, and the session. */
  const runningSession = Effect.fnUntraced(function*(provider: Provider, token: string) {
    const now = clock.currentTimeMillisUnsafe()
    const session = unexpiredSession(provider, token, now)
    if (session === undefined) return yield* Effect.fail(invalidSession)
    const player = yield* actors.read(null, session.playerId)
    return isRunning(player, session, now) ? { player, session } : yield* Effect.fail(invalidSession)
  })

  const peekSession = (provider: Provider, token: string) => {
    const now = clock.currentTimeMillisUnsafe()
    const session = unexpiredSession(provider, token, now)
    if (session === undefined) return undefined
    const player = actors.peek(null, session.playerId)
    return player !== undefined && isRunning(player, session, now) ? { player, session } : undefined
  }

  const authenticate: PlayerBalances["authenticate"] = Effect.fn("ProviderWallet.authenticate")(
    function*(provider, token) {
      const { player, session } = yield* runningSession(provider, token)
      return toAuthenticated(provider, player, session)
    }
  )

  const balance: PlayerBalances["balance"] = Effect.fn("ProviderWallet.balance")(
    function*(provider, by) {
      if ("sessionToken" in by) return toBalances((yield* runningSession(provider, by.sessionToken)).player)
      const playerId = refs.parse(provider.id, by.playerRef)
      if (playerId === undefined) return yield* Effect.fail(noSuchPlayer)
      const player = yield* actors.read(null, playerId)
      return player.providerIds.includes(provider.id) ? toBalances(player) : yield* Effect.fail(noSuchPlayer)
    }
  )

  const peek: PlayerBalances["peek"] = {
    authenticate: (provider, token) => {
      const found = peekSession(provider, token)
      return found && toAuthenticated(provider, found.player, found.session)
    },
    balance: (provider, by) => {
      if ("sessionToken" in by) {
        const found = peekSession(provider, by.sessionToken)
        return found && toBalances(found.player)
      }
      const playerId = refs.parse(provider.id, by.playerRef)
      const player = playerId === undefined ? undefined : actors.peek(null, playerId)
      return player?.providerIds.includes(provider.id) === true ? toBalances(player) : undefined
    }
  }

  return { authenticate, balance, findSession, peek }
})
