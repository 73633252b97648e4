/**
 * Game sessions whose launch the vendor has not answered yet: the vendor may already use them to identify the player and read the balance, but bets
 * wait (`docs/decisions/0031-session-revocation.md`). Kept in the process that asks the vendor, which is the one that owns the player.
 */
import { Context, Layer } from "effect"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { mayPlayAt } from "../../domain/settlement/Launch.ts"
import type { Action, Bet, BetSession } from "../../domain/state/Messages.ts"
import type { Player } from "../../domain/state/Player.ts"
import { indexOfTransaction } from "../../domain/state/Rounds.ts"

/** A launch that its vendor is asked for. */
export interface OpeningLaunch {
  /** Adds a session, from the decision that opens it on. One that is decided again adds another. */
  readonly add: (session: BetSession) => void
  /** Sessions added, and behind them those that the vendor got meanwhile in exchange. */
  readonly sessions: () => ReadonlyArray<BetSession>
  /** Ends the launch: its sessions are like all others. */
  readonly close: () => void
}

const stillOpening = refuse(
  "TRY_AGAIN",
  "The vendor has not yet answered the launch of this session. Send the same request again.",
  { retry: "same_request" }
)

export class OpeningSessions extends Context.Service<OpeningSessions, {
  readonly begin: () => OpeningLaunch
  /** Notes the session that replaces another one of the same launch, if that is not answered. */
  readonly exchange: (sessionId: number, by: BetSession) => void
  /**
   * Refuses a new bet among the actions whose session, or every session that it may be placed under where it names none, is of a launch that is not
   * answered.
   */
  readonly refuse: (player: Player, actions: ReadonlyArray<Action>, now: number) => Refusal<"TRY_AGAIN"> | undefined
}>()("pitboss/games/OpeningSessions") {
  static readonly layer = Layer.sync(OpeningSessions, () => {
    // Kept: exchangedBySession. Sessions of launches that their vendor has not answered. Several nodes: bets wait on the node that asks, the
    // player's; a node that the player moves to meanwhile does not make them wait.
    const exchangedBySession = new Map<number, Array<BetSession>>()
    const isOpening = ({ id }: { readonly id: number }): boolean => exchangedBySession.has(id)
    const refuseBet = (player: Player, { providerId, session, transactionId }: Bet, now: number) => {
      if (session === null || indexOfTransaction(player.transactions, providerId, transactionId) >= 0) return undefined
      if (session !== "none") return isOpening(session) ? stillOpening : undefined
      const isHeld = player.openSessions.some((open) => open.providerId === providerId && isOpening(open))
      const others = isHeld ? player.openSessions.filter((open) => !isOpening(open)) : []
      return isHeld && !mayPlayAt({ ...player, openSessions: others }, providerId, now) ? stillOpening : undefined
    }
    return OpeningSessions.of({
      begin: () => {
        const opened: Array<BetSession> = []
        const exchanged: Array<BetSession> = []
        return {
          add: (session) => {
            opened.push(session)
            exchangedBySession.set(session.id, exchanged)
          },
          sessions: () => [...opened, ...exchanged],
          close: () => {
            for (const { id } of [...opened, ...exchanged]) exchangedBySession.delete(id)
          }
        }
      },
      exchange: (sessionId, by) => {
        const exchanged = exchangedBySession.get(sessionId)
        if (exchanged === undefined) return
        exchanged.push(by)
        exchangedBySession.set(by.id, exchanged)
      },
      refuse: (player, actions, now) => {
        if (exchangedBySession.size === 0) return undefined
        for (const action of actions) {
          const refusal = action.action === "bet" ? refuseBet(player, action, now) : undefined
          if (refusal !== undefined) return refusal
        }
        return undefined
      }
    })
  })
}
