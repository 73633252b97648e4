/** Launch of a game: checks, and the wallet session created (SPEC section 4.5). */
import { noChange } from "../state/Change.ts"
import type { BetSession } from "../state/Messages.ts"
import { answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { bindingLimits, recordPlay, refusePlay } from "../state/Limits.ts"
import {
  endedSessionsCarried,
  isWalletSessionEnded,
  type OpenSession,
  openSessionsCarried,
  type Player,
  sessionStart
} from "../state/Player.ts"
import { continuedSession } from "../state/PlaySession.ts"
import { noteObligations } from "../obligation/Obligations.ts"
import { refuseAccountAt } from "../player/RefuseAccount.ts"
import { type AskedRegisters, nobodyAsked } from "../player/RegisterAdmission.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** Lifetime of a real-mode wallet session. */
const sessionMs = 12 * 60 * 60_000

/** True when a wallet session is valid at `now`: not expired, and not ended with all sessions of the player. */
export const isSessionRunning = (player: Player, expiresAt: number, now: number): boolean =>
  now < expiresAt && !isWalletSessionEnded(player, expiresAt - sessionMs)

/**
 * True when a session was exchanged for another or its launch failed. Once more have ended than are carried, all sessions older than the carried ones
 * count as ended: an old one must not become valid again.
 */
export const isSessionGivenUp = ({ endedSessions }: Player, id: number): boolean =>
  endedSessions.some((ended) => ended.id === id) ||
  (endedSessions.length >= endedSessionsCarried && endedSessions.every((ended) => ended.id > id))

/**
 * True when the player may bet at a provider whose calls name no session: a launch there that did not fail has not expired, and was not ended with all
 * sessions.
 */
export const mayPlayAt = (player: Player, providerId: number, now: number): boolean =>
  player.openSessions.some((open) => open.providerId === providerId && isSessionRunning(player, open.expiresAt, now))

/** Open sessions with one more. Expired ones are dropped, and the oldest of the provider beyond those that are carried. */
const withOpen = (sessions: Player["openSessions"], opened: OpenSession, now: number): Player["openSessions"] => {
  const running = sessions.filter(({ expiresAt }) => now < expiresAt)
  const ofProvider = running.filter(({ providerId }) => providerId === opened.providerId)
  const oldest = ofProvider.length < openSessionsCarried ? undefined : ofProvider[0]
  return [...running.filter((open) => open !== oldest), opened]
}

const withoutOpen = (player: Player, id: number): Player["openSessions"] =>
  player.openSessions.filter((open) => open.id !== id)

export interface Launch {
  readonly gameId: number
  readonly providerId: number
  readonly mode: "real" | "demo"
  readonly platform: string | null
  readonly ip: string | null
}

export interface LaunchedSession {
  readonly sessionId: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

export const invalidSession = refuse(
  "INVALID_SESSION",
  "The wallet session is unknown or over. Launch the game again."
)

export type LaunchRefusal = Refusal<"PLAYER_RESTRICTED" | "LIMIT_EXCEEDED" | "TRY_AGAIN">

const refuseRealPlay = (player: Player, asked: AskedRegisters, now: number): LaunchRefusal | undefined =>
  refuseAccountAt(player, "canBet", { event: "play", asked }, now) ??
    refusePlay(bindingLimits(player, now), player.counters, now)

/** Opens a session. Real mode checks the account, its exclusion and the session limit; a demo moves no money. */
export const launchStep =
  (launch: Launch, asked: AskedRegisters = nobodyAsked) =>
  (player: Player, context: Context): Decision<LaunchedSession, LaunchRefusal> => {
    const { firstId: sessionId, now } = context
    const isReal = launch.mode === "real"
    const refusal = isReal ? refuseRealPlay(player, asked, now) : undefined
    if (refusal !== undefined) return refused(refusal)
    const openedAt = sessionStart(player, now)
    const expiresAt = openedAt + sessionMs
    // what has fallen due by time is written with the session, whose id is the first
    const noted = isReal ? noteObligations(player, { ...context, firstId: sessionId + 1 }) : answer(player, player)
    return {
      _tag: "Accept",
      state: isReal
        ? {
          ...noted.state,
          counters: recordPlay(player.counters, now, false),
          session: continuedSession(player, now),
          providerIds: player.providerIds.includes(launch.providerId)
            ? player.providerIds
            // without spare room, as every player carries it
            : player.providerIds.concat([launch.providerId]),
          openSessions: withOpen(player.openSessions, { id: sessionId, providerId: launch.providerId, expiresAt }, now)
        }
        : player,
      reply: { sessionId, expiresAt },
      change: {
        ...noted.change ?? noChange,
        sessions: [{
          id: sessionId,
          playerId: player.id,
          gameId: launch.gameId,
          mode: launch.mode,
          platform: launch.platform,
          ip: launch.ip,
          openedAt,
          expiresAt
        }]
      },
      idsUsed: 1 + noted.idsUsed
    }
  }

/** The player with a session ended. Expired ones are dropped. */
const withEnded = (
  player: Player,
  { expiresAt, id }: BetSession,
  exchanged: boolean,
  now: number
): Player["endedSessions"] =>
  [...player.endedSessions.filter((ended) => ended.id !== id && now < ended.expiresAt), { id, expiresAt, exchanged }]
    .sort((a, b) => a.id - b.id).slice(-endedSessionsCarried)

const isExchanged = ({ endedSessions }: Player, id: number): boolean =>
  endedSessions.some((ended) => ended.id === id && ended.exchanged)

/** Real-mode session of the player, decoded from its token. */
export interface ExchangedSession extends BetSession {
  readonly gameId: number
  readonly providerId: number
  readonly platform: string | null
  readonly ip: string | null
}

/**
 * Replaces a session by a new one of the same game and expiry; the old one takes no more bets. A repeated request after a lost answer gets another
 * one.
 */
export const exchangeSession =
  (session: ExchangedSession) =>
  (player: Player, context: Context): Decision<LaunchedSession, Refusal<"INVALID_SESSION">> => {
    const { firstId: sessionId, now } = context
    const { expiresAt, gameId, id, ip, platform, providerId } = session
    if (!isSessionRunning(player, expiresAt, now)) return refused(invalidSession)
    const isGivenUp = isSessionGivenUp(player, id)
    // a session whose launch failed cannot be exchanged
    if (isGivenUp && !isExchanged(player, id)) return refused(invalidSession)
    return {
      _tag: "Accept",
      state: {
        ...player,
        endedSessions: isGivenUp ? player.endedSessions : withEnded(player, session, true, now),
        openSessions: withOpen(withoutOpen(player, id), { id: sessionId, providerId, expiresAt }, now)
      },
      reply: { sessionId, expiresAt },
      change: {
        ...noChange,
        sessions: [
          { id: sessionId, playerId: player.id, gameId, mode: "real", platform, ip, openedAt: now, expiresAt }
        ],
        endedSessions: isGivenUp ? noChange.endedSessions : [{ id, playerId: player.id, endedAt: now, exchanged: true }]
      },
      idsUsed: 1
    }
  }

/** Ends a session whose launch failed. One that was exchanged meanwhile cannot be exchanged again. */
export const endSession = (session: BetSession) => (player: Player, { now }: Context): Decision<undefined, never> =>
  now >= session.expiresAt || (isSessionGivenUp(player, session.id) && !isExchanged(player, session.id))
    ? answer(player, undefined)
    : {
      _tag: "Accept",
      state: {
        ...player,
        endedSessions: withEnded(player, session, false, now),
        openSessions: withoutOpen(player, session.id)
      },
      reply: undefined,
      change: { ...noChange, endedSessions: [{ id: session.id, playerId: player.id, endedAt: now, exchanged: false }] },
      idsUsed: 0
    }
