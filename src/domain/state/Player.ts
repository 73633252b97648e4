/**
 * Player as the rules see it: all inputs of a bet, a deposit or a change of limits, as plain readonly data.
 *
 * A single writer replaces one value by the next; values are never changed in place.
 */
import { Schema } from "effect"
import type { ExclusionScope, ExclusionSource, ExclusionType } from "../jurisdiction/ExclusionPeriods.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { type Activity, noActivity } from "./Activity.ts"
import type { ActiveBonus, PendingBonus } from "./Bonus.ts"
import { breakMs, type Counters, emptyCounters, type Limits, type PendingLimit } from "./Limits.ts"
import type { Obligation } from "./Obligation.ts"
import type { PackedStandings } from "../register/Register.ts"
import type { PlaySession } from "./PlaySession.ts"
import type { PlayerSeeds } from "./PlayerSeeds.ts"
import { emptyRecent, filterRecent, type Recent } from "./Recent.ts"
import { indexOfRound, type Round, type Transaction } from "./Rounds.ts"

export const playerStatuses = ["active", "locked", "closed"] as const

export type PlayerStatus = (typeof playerStatuses)[number]

export const kycStatuses = ["not_started", "pending_review", "verified", "rejected", "expired"] as const

export type KycStatus = (typeof kycStatuses)[number]

/** What the date of an identity document says, in the words of the API, the command and the pages. */
export const documentExpiry = "the last day on which the document is valid"

/** Allowed transitions of the KYC status. */
export const kycTransitions: { readonly [from in KycStatus]: ReadonlyArray<KycStatus> } = {
  not_started: ["pending_review"],
  pending_review: ["verified", "rejected"],
  rejected: ["pending_review"],
  verified: ["pending_review", "expired"],
  expired: ["pending_review"]
}

export const Restrictions = Schema.Struct({
  canLogin: Schema.Boolean,
  canDeposit: Schema.Boolean,
  canWithdraw: Schema.Boolean,
  canBet: Schema.Boolean,
  excludedFromBonuses: Schema.Boolean
})

export type Restrictions = typeof Restrictions.Type

export const noRestrictions: Restrictions = {
  canLogin: true,
  canDeposit: true,
  canWithdraw: true,
  canBet: true,
  excludedFromBonuses: false
}

interface OnRequest {
  /** From when the player may ask to return. */
  readonly returnFrom: number
  /** When the player returns; null: nobody has asked. */
  readonly returnAt: number | null
  /** From the request to the return, ISO 8601, by the rules under which the exclusion was made; absent: by the rules at the request. */
  readonly wait?: string
}

/** Instants in epoch milliseconds; `until` null means indefinite. */
export interface Exclusion {
  readonly type: ExclusionType
  readonly since: number
  readonly until: number | null
  /** Who asked for it; absent: the operator. */
  readonly source?: ExclusionSource
  /** Where it was asked for; absent: at the player's operator alone. */
  readonly scope?: ExclusionScope
  /** With one that ends at the player's request only. */
  readonly onRequest?: OnRequest
}

/** The exclusion that the columns of a player's row hold; null where they hold none. */
export const exclusionOf = ({ returnAt, returnFrom, returnWait = null, scope = null, since, source, type, until }: {
  readonly type: ExclusionType | null
  readonly since: number | null
  readonly until: number | null
  readonly source: ExclusionSource | null
  readonly scope?: ExclusionScope | null
  readonly returnFrom: number | null
  readonly returnAt: number | null
  readonly returnWait?: string | null
}): Exclusion | null =>
  type === null || since === null ? null : {
    type,
    since,
    until,
    ...(source === null ? {} : { source }),
    ...(scope === null ? {} : { scope }),
    ...(returnFrom === null
      ? {}
      : { onRequest: { returnFrom, returnAt, ...(returnWait === null ? {} : { wait: returnWait }) } })
  }

/** When an exclusion is over; null while that is not known. */
export const exclusionEnd = ({ onRequest, until }: Pick<Exclusion, "onRequest" | "until">): number | null =>
  onRequest === undefined ? until : onRequest.returnAt

/** Alert or case that holds the player's withdrawals. */
export interface WithdrawalHold {
  /** Id of the alert, or of the case: ids are of one sequence. */
  readonly alertId: number
  /** Lifted by staff while the alert is open. Kept, so that it is not placed again. */
  readonly isLifted: boolean
  /** Of a case: only the case lifts it. */
  readonly isCase?: boolean
}

/** Ids of the alerts and cases that hold withdrawals now. */
export const activeHoldIds = (holds: ReadonlyArray<WithdrawalHold>): ReadonlyArray<number> =>
  holds.filter(({ isLifted }) => !isLifted).map(({ alertId }) => alertId)

/** Wallet session closed to bets before its expiry. */
interface CarriedEnd {
  readonly id: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** True when exchanged for another session; false when its launch failed. */
  readonly exchanged: boolean
}

/** A wallet session of real mode as the right to play at its provider. */
export interface OpenSession {
  readonly id: number
  readonly providerId: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** What few players have. */
export interface Extras {
  /** The player's own interval between reality checks, ISO 8601. */
  readonly realityCheck: string | null
  /** Wallet sessions issued at or before this instant are invalid, epoch milliseconds; session tokens are not affected. */
  readonly walletSessionsEndedAt: number | null
  /** When the account was marked as dormant, epoch milliseconds. */
  readonly dormantSince: number | null
}

const noExtras: Extras = { realityCheck: null, walletSessionsEndedAt: null, dormantSince: null }

/** The extras with some changed; null when there are none. */
export const withExtras = ({ extras }: { readonly extras: Extras | null }, changed: Partial<Extras>): Extras | null => {
  const { dormantSince, realityCheck, walletSessionsEndedAt } = { ...extras ?? noExtras, ...changed }
  return realityCheck === null && walletSessionsEndedAt === null && dormantSince === null
    ? null
    : { realityCheck, walletSessionsEndedAt, dormantSince }
}

export interface Player {
  readonly id: number
  readonly operatorId: number
  /** ISO 4217 currency of all amounts of this player's wallets. */
  readonly currency: string
  /** ISO 4217 currency of the operator, used in reports. */
  readonly baseCurrency: string
  /** The rules of the player's jurisdiction that count now, with amounts in `currency`: one object for all players of the same. */
  readonly rules: Rules
  /** Version of the operator's terms that the player accepted last; null when none. */
  readonly termsVersion: string | null
  /** When the player last reviewed the limits, and took notice of how funds are protected; at first the registration. Epoch seconds: no object of its own. */
  readonly limitsReviewed: number
  readonly fundsNoticed: number
  /** Day of birth, 19901231. */
  readonly birthDay: number
  readonly country: string
  readonly language: string
  readonly isTest: boolean

  readonly status: PlayerStatus
  readonly restrictions: Restrictions
  readonly withdrawalHolds: ReadonlyArray<WithdrawalHold>
  readonly kycStatus: KycStatus
  /** Expiry of the document used for verification, epoch milliseconds; null when unknown. */
  readonly documentExpiresAt: number | null
  readonly exclusion: Exclusion | null
  /** Session tokens and wallet sessions issued at or before this instant are invalid, epoch milliseconds; null when none were ended. */
  readonly sessionsEndedAt: number | null
  readonly limits: Limits
  readonly pendingLimits: ReadonlyArray<PendingLimit>
  /** Limits that the player or the operator set, a bit for each (`limitBit`): defaults of the operator do not count. */
  readonly limitsSet: number
  /** Cap on net deposits of a month that staff decided on for this player, minor units; null: the jurisdiction's. */
  readonly netDepositCap: number | null
  /** Obligations that were open when the player was last written. */
  readonly obligations: ReadonlyArray<Obligation>
  /** Last proper answers of the registers that were asked about the player. */
  readonly registers: PackedStandings
  readonly counters: Counters
  /** Totals of the running session; one that is over may still be there. */
  readonly session: PlaySession | null
  readonly extras: Extras | null

  /** Minor units. Negative only after a rollback of a win, a chargeback or a correction. */
  readonly real: number
  readonly bonus: number
  /** Time of the last entry of each wallet, epoch milliseconds. */
  readonly realUpdatedAt: number
  readonly bonusUpdatedAt: number
  /** Sequence number of the last ledger entry; without a gap. */
  readonly entrySeq: number
  /** Incremented by every action that moves money. */
  readonly walletSeq: number
  /** Minor units of all withdrawals not rejected or cancelled. */
  readonly withdrawn: number
  /** Days on which reports count the player. */
  readonly activity: Activity

  readonly activeBonus: ActiveBonus | null
  /** Pending bonuses in the order of their grants. */
  readonly pendingBonuses: ReadonlyArray<PendingBonus>
  /** Number of grants by catalogue bonus id. */
  readonly bonusGrants: { readonly [bonusId: string]: number }
  /** Newest wallet sessions that were exchanged or abandoned and have not expired, in the order of their ids. */
  readonly endedSessions: ReadonlyArray<CarriedEnd>
  /** Newest real-mode sessions that were not ended, oldest first: the right to play at their providers, for calls that name no session. */
  readonly openSessions: ReadonlyArray<OpenSession>
  /** Providers with which the player ever had a real-mode session. */
  readonly providerIds: ReadonlyArray<number>

  /** Latest rounds and provider transactions, newest last: a cache, not the record. Older ones may be in the store (see `Rounds.ts`). */
  readonly rounds: Recent<Round>
  readonly transactions: Recent<Transaction>
  /** Seeds of originals, null while not looked up. A player who never played one has none. */
  readonly seeds: PlayerSeeds | null
}

/** What everybody begins with: no money, no play, no limits, nothing decided by staff or registers. */
export const emptyPlayer = {
  termsVersion: null,
  limitsReviewed: 0,
  fundsNoticed: 0,
  isTest: false,
  status: "active",
  restrictions: noRestrictions,
  withdrawalHolds: [],
  kycStatus: "not_started",
  documentExpiresAt: null,
  exclusion: null,
  sessionsEndedAt: null,
  limits: {},
  pendingLimits: [],
  limitsSet: 0,
  netDepositCap: null,
  obligations: [],
  registers: [],
  counters: emptyCounters,
  session: null,
  extras: null,
  real: 0,
  bonus: 0,
  realUpdatedAt: 0,
  bonusUpdatedAt: 0,
  entrySeq: 0,
  walletSeq: 0,
  withdrawn: 0,
  activity: noActivity,
  activeBonus: null,
  pendingBonuses: [],
  bonusGrants: {},
  endedSessions: [],
  openSessions: [],
  providerIds: [],
  rounds: emptyRecent,
  transactions: emptyRecent,
  seeds: null
} as const satisfies Partial<Player>

/** Exclusion in force at `now`, or null. */
export const activeExclusion = ({ exclusion }: Player, now: number): Exclusion | null => {
  if (exclusion === null) return null
  const end = exclusionEnd(exclusion)
  return end === null || now < end ? exclusion : null
}

/**
 * Maximum ended sessions carried; they expire within half a day. Of a player who exchanges more in that time, all sessions older than the carried
 * ones count as ended.
 */
export const endedSessionsCarried = 64

/** Maximum open sessions carried per provider: one gives the right to play, and a launch that fails gives back the one before. */
export const openSessionsCarried = 4

/** True when a session token or wallet session of that instant has been ended. */
export const isSessionEnded = ({ sessionsEndedAt }: Player, issuedAt: number): boolean =>
  sessionsEndedAt !== null && issuedAt <= sessionsEndedAt

/** True when a wallet session of that instant has been ended, with all sessions or with the others of its kind. */
export const isWalletSessionEnded = (player: Player, issuedAt: number): boolean =>
  isSessionEnded(player, issuedAt) ||
  (player.extras !== null && player.extras.walletSessionsEndedAt !== null &&
    issuedAt <= player.extras.walletSessionsEndedAt)

const afterEnds = ({ extras, sessionsEndedAt }: Player, now: number): number => {
  const ended = extras === null ? null : extras.walletSessionsEndedAt
  return Math.max(now, sessionsEndedAt === null ? now : sessionsEndedAt + 1, ended === null ? now : ended + 1)
}

/** Issue time of a session issued at `now`: after the last end of sessions, even within the same millisecond. */
export const sessionStart = afterEnds

/** End of all sessions issued so far: never before an earlier end. */
export const sessionsEnd = afterEnds

/** Time of the last ledger entry, epoch milliseconds. */
export const writtenAt = ({ bonusUpdatedAt, realUpdatedAt }: Player): number => Math.max(bonusUpdatedAt, realUpdatedAt)

/** A bet at a live table is settled minutes later, by a message that needs the round and the bet. */
const awaitsTable = ({ closed, isLive }: Round): boolean => isLive === true && !closed

/**
 * Drops cached records of the store from a player, and a session that is over: the form kept in memory while idle, here for `idleMs` milliseconds.
 * Open rounds of live tables and their bets are kept.
 */
export const compact = (player: Player, idleMs = 0): Player => {
  const session = idleMs < breakMs ? player.session : null
  const rounds = player.rounds.items.some(awaitsTable) ? filterRecent(player.rounds, awaitsTable) : emptyRecent
  const transactions = rounds.items.length === 0 ? emptyRecent : filterRecent(
    player.transactions,
    ({ gameId, kind, roundId }) =>
      kind === "bet" && gameId !== null && roundId !== null && indexOfRound(rounds, gameId, roundId) >= 0
  )
  return rounds.items.length === player.rounds.items.length &&
      transactions.items.length === player.transactions.items.length && player.seeds === null &&
      session === player.session
    ? player
    : { ...player, rounds, transactions, seeds: null, session }
}
