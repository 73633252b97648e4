/**
 * A player as decisions see one: everything that a bet, a deposit or a change of limits depends on, as plain readonly data.
 *
 * One writer at a time turns one such value into the next; nothing here is ever changed in place.
 */
import type { Activity } from "../Activity.ts"
import type { ActiveBonus, GrantedBonus } from "../bonus/Bonus.ts"
import type { Counters, Limits, PendingLimit } from "../limit/Limits.ts"
import type { PlayerSeeds } from "../original/PlayerSeeds.ts"
import { keep, noRecent, type Recent } from "../settlement/Recent.ts"
import { placeOfRound, type Round, type Transaction } from "../settlement/Rounds.ts"

export const playerStatuses = ["active", "locked", "closed"] as const

export type PlayerStatus = (typeof playerStatuses)[number]

export const kycStatuses = ["not_started", "pending_review", "verified", "rejected", "expired"] as const

export type KycStatus = (typeof kycStatuses)[number]

/** Where each KYC status may move to. */
export const kycMoves: { readonly [from in KycStatus]: ReadonlyArray<KycStatus> } = {
  not_started: ["pending_review"],
  pending_review: ["verified", "rejected"],
  rejected: ["pending_review"],
  verified: ["pending_review", "expired"],
  expired: ["pending_review"]
}

export interface Restrictions {
  readonly canLogin: boolean
  readonly canDeposit: boolean
  readonly canWithdraw: boolean
  readonly canBet: boolean
  readonly excludedFromBonuses: boolean
}

export const noRestrictions: Restrictions = {
  canLogin: true,
  canDeposit: true,
  canWithdraw: true,
  canBet: true,
  excludedFromBonuses: false
}

export const exclusionTypes = ["self_exclusion", "time_out", "self_closure"] as const

export type ExclusionType = (typeof exclusionTypes)[number]

/** Instants in epoch milliseconds; `until` null means without end. */
export interface Exclusion {
  readonly type: ExclusionType
  readonly since: number
  readonly until: number | null
}

/** An alert that stops the player's withdrawals. */
export interface WithdrawalHold {
  readonly alertId: number
  /** Staff let withdrawals go on although the alert is not closed. Kept, so that it is not placed again. */
  readonly isLifted: boolean
}

/** The alerts that stop withdrawals now. */
export const heldBy = (holds: ReadonlyArray<WithdrawalHold>): ReadonlyArray<number> =>
  holds.filter(({ isLifted }) => !isLifted).map(({ alertId }) => alertId)

/** A wallet session that takes no more bets before its time. */
interface CarriedEnd {
  readonly id: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Whether it was exchanged for another; else its launch came to nothing. */
  readonly exchanged: boolean
}

export interface Player {
  readonly id: number
  readonly operatorId: number
  /** ISO 4217; of every amount in this player's wallets. */
  readonly currency: string
  /** ISO 4217; the operator's: what reports are in. */
  readonly baseCurrency: string
  readonly country: string
  readonly language: string
  readonly isTest: boolean

  readonly status: PlayerStatus
  readonly restrictions: Restrictions
  readonly withdrawalHolds: ReadonlyArray<WithdrawalHold>
  readonly kycStatus: KycStatus
  /** From when on the document that the identity was verified by counts no longer, epoch milliseconds; null: not known. */
  readonly documentExpiresAt: number | null
  readonly exclusion: Exclusion | null
  /** Session tokens and wallet sessions issued then or before are over, epoch milliseconds; null: none ever were ended. */
  readonly sessionsEndedAt: number | null
  readonly limits: Limits
  readonly pendingLimits: ReadonlyArray<PendingLimit>
  readonly counters: Counters

  /** Minor units. Negative only after a rollback of a win, a chargeback or a correction. */
  readonly real: number
  readonly bonus: number
  /** Epoch milliseconds of the last entry of each wallet. */
  readonly realUpdatedAt: number
  readonly bonusUpdatedAt: number
  /** The number of the last ledger entry; without a gap. */
  readonly entrySeq: number
  /** Rises by one with every action that moves money. */
  readonly walletSeq: number
  /** Minor units of all withdrawals that were not rejected or cancelled. */
  readonly withdrawn: number
  /** The days that reports count the player on. */
  readonly activity: Activity

  readonly activeBonus: ActiveBonus | null
  /** Bonuses that wait for their turn, the oldest first. */
  readonly pendingBonuses: ReadonlyArray<GrantedBonus>
  /** How often each bonus of the catalogue was granted, by its id. */
  readonly bonusGrants: { readonly [bonusId: string]: number }
  /** Wallet sessions that were exchanged or given up and have not expired: the newest, in the order of their ids. */
  readonly endedSessions: ReadonlyArray<CarriedEnd>
  /** Providers that ever had a real-mode session with the player. */
  readonly providerIds: ReadonlyArray<number>

  /**
   * The latest rounds and provider transactions, newest last: a memory, not the record. What is not in it may still be in
   * the store (see `Rounds.ts`).
   */
  readonly rounds: Recent<Round>
  readonly transactions: Recent<Transaction>
  /** The seeds of originals, null while not looked up. A player of none of them has none. */
  readonly seeds: PlayerSeeds | null
}

/** The exclusion in force at `now`, or null. One whose end has come is over by itself. */
export const activeExclusion = (player: Player, now: number): Exclusion | null =>
  player.exclusion !== null && (player.exclusion.until === null || now < player.exclusion.until)
    ? player.exclusion
    : null

/**
 * How many ended sessions a player carries; they expire in half a day. Of one who exchanges more than so many in that time everything older
 * than the carried ones counts as ended.
 */
export const endedSessionsCarried = 64

/** Whether a session token or a wallet session of that instant was ended since. */
export const isSessionEnded = ({ sessionsEndedAt }: Player, issuedAt: number): boolean =>
  sessionsEndedAt !== null && issuedAt <= sessionsEndedAt

/** The instant that a session issued at `now` carries: after the last end of all sessions, also within its millisecond. */
export const sessionStart = ({ sessionsEndedAt }: Player, now: number): number =>
  sessionsEndedAt === null ? now : Math.max(now, sessionsEndedAt + 1)

/** The end of all sessions issued so far: never before an earlier end. */
export const sessionsEnd = ({ sessionsEndedAt }: Player, now: number): number =>
  sessionsEndedAt === null ? now : Math.max(now, sessionsEndedAt + 1)

/** The last instant that a player's money moved at, epoch milliseconds. */
export const writtenAt = ({ bonusUpdatedAt, realUpdatedAt }: Player): number => Math.max(bonusUpdatedAt, realUpdatedAt)

/** A bet on a live table is settled minutes later, by a message that needs the round and the bet. */
const awaitsTable = ({ closed, isLive }: Round): boolean => isLive === true && !closed

/**
 * A player without what is only remembered of the store: what stays in memory of one who is not playing. The open rounds of live tables stay,
 * with their bets.
 */
export const compact = (player: Player): Player => {
  const rounds = player.rounds.items.some(awaitsTable) ? keep(player.rounds, awaitsTable) : noRecent
  const transactions = rounds.items.length === 0 ? noRecent : keep(
    player.transactions,
    ({ gameId, kind, roundId }) =>
      kind === "bet" && gameId !== null && roundId !== null && placeOfRound(rounds, gameId, roundId) >= 0
  )
  return rounds.items.length === player.rounds.items.length &&
      transactions.items.length === player.transactions.items.length && player.seeds === null
    ? player
    : { ...player, rounds, transactions, seeds: null }
}
