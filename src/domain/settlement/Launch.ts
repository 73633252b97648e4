/** Opening a game: what a launch checks and what it leaves behind (SPEC section 4.5). */
import { noChange } from "../Change.ts"
import { type Context, type Decision, refused } from "../Decision.ts"
import { effectiveLimits, notePlay, refusePlay } from "../limit/Limits.ts"
import { activeExclusion, isSessionEnded, type Player, sessionStart } from "../player/Player.ts"
import { type Refusal, refuse } from "../Refusal.ts"

/** How long a real-mode wallet session lasts. */
const sessionMs = 12 * 60 * 60_000

/** Whether a wallet session runs at `now`: it has not expired, and was not ended with the others of its player. */
export const isSessionRunning = (player: Player, expiresAt: number, now: number): boolean =>
  now < expiresAt && !isSessionEnded(player, expiresAt - sessionMs)

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

export type LaunchRefusal = Refusal<"PLAYER_RESTRICTED" | "LIMIT_EXCEEDED">

const refuseRealPlay = (player: Player, now: number): LaunchRefusal | undefined => {
  if (player.status !== "active") {
    return refuse("PLAYER_RESTRICTED", `The account is ${player.status}.`, { reason: player.status })
  }
  if (!player.restrictions.canBet) {
    return refuse("PLAYER_RESTRICTED", "Betting is disabled for this player.", { reason: "can_bet" })
  }
  const exclusion = activeExclusion(player, now)
  if (exclusion !== null) {
    return refuse("PLAYER_RESTRICTED", "The player is excluded from play.", { reason: exclusion.type })
  }
  return refusePlay(effectiveLimits(player.limits, player.pendingLimits, now), player.counters, now)
}

/** Opens a session. In real mode the account, its exclusion and the session limit are checked; a demo moves no money. */
export const launchStep =
  (launch: Launch) => (player: Player, context: Context): Decision<LaunchedSession, LaunchRefusal> => {
    const { firstId: sessionId, now } = context
    const isReal = launch.mode === "real"
    const refusal = isReal ? refuseRealPlay(player, now) : undefined
    if (refusal !== undefined) return refused(refusal)
    const openedAt = sessionStart(player, now)
    const expiresAt = openedAt + sessionMs
    return {
      _tag: "Accept",
      state: isReal
        ? {
          ...player,
          counters: notePlay(player.counters, now, false),
          providerIds: player.providerIds.includes(launch.providerId)
            ? player.providerIds
            : [...player.providerIds, launch.providerId]
        }
        : player,
      reply: { sessionId, expiresAt },
      change: {
        ...noChange,
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
      idsUsed: 1
    }
  }
