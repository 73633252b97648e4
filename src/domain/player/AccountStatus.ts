/** Account status, KYC status and restrictions, and their effect on session tokens (SPEC sections 3.1, 3.3, 4.2 and 5.4). */
import { Equal, Schema } from "effect"
import { acceptNoting, type DecidedObligations, noteObligations } from "../obligation/Obligations.ts"
import { type Settings, settingsOf } from "../state/Change.ts"
import { type Accept, answer, type Context, type Decision, refused } from "../state/Decision.ts"
import { Draft } from "../state/Draft.ts"
import {
  activeHoldIds,
  exclusionEnd,
  isSessionEnded,
  type KycStatus,
  kycTransitions,
  type Player,
  type PlayerStatus,
  Restrictions,
  sessionsEnd,
  sessionStart,
  withExtras,
  type WithdrawalHold
} from "../state/Player.ts"
import { refuseAccountAt } from "./RefuseAccount.ts"
import { type AskedRegisters, nobodyAsked } from "./RegisterAdmission.ts"
import { type Refusal, refuseFields } from "../Refusal.ts"
import { wire } from "../WireNames.ts"

/** Audit log line of a change of settings. */
export interface SettingsRecord {
  /** `staff:<id>`, `key:<public key id>` or `scheduler`. */
  readonly actor: string
  readonly action: string
  readonly before: unknown
  readonly after: unknown
  readonly reason: string | null
}

/** Accepts a draft with these settings changed and their audit log lines. The reply is the next player. */
export const acceptSettings = (
  draft: Draft,
  changed: Partial<Settings>,
  ...records: ReadonlyArray<SettingsRecord>
): Accept<Player> => acceptDuties(draft, { changed, records })

/** As {@link acceptSettings}; with obligations that a case or staff begin or end. */
export const acceptDuties = (
  draft: Draft,
  { changed, records, ...decided }: DecidedObligations & {
    readonly changed: Partial<Settings>
    readonly records: ReadonlyArray<SettingsRecord>
  }
): Accept<Player> => {
  const { now, player } = draft
  const settings = settingsOf({ ...player, ...changed }, now)
  const audit = records.map((record) => ({
    id: draft.takeId(),
    at: now,
    operatorId: player.operatorId,
    playerId: player.id,
    subject: `player:${player.id}`,
    ...record
  }))
  const accepted = acceptNoting(draft, undefined, { settings, audit }, changed, decided)
  return { ...accepted, reply: accepted.state }
}

export interface SetStatus {
  readonly status: PlayerStatus
  /** Stored as a note on the player and in the audit log. */
  readonly reason: string | null
  readonly actor: string
}

/**
 * Sets the account status; every transition is allowed. An exclusion is unaffected and stays in force. Setting the current status changes nothing,
 * but its reason is stored. Locking and closing end all sessions permanently.
 */
export const setStatusStep = (command: SetStatus) => (player: Player, context: Context): Decision<Player, never> => {
  const { actor, reason, status } = command
  if (status === player.status && reason === null) return answer(player, player)
  const draft = new Draft(player, context)
  const notes = reason === null || reason.trim() === "" ? [] : [{
    id: draft.takeId(),
    operatorId: player.operatorId,
    playerId: player.id,
    author: actor,
    text: reason,
    createdAt: context.now
  }]
  const ended = status === "active" || status === player.status
    ? {}
    : { sessionsEndedAt: sessionsEnd(player, draft.now) }
  const accepted = acceptSettings(draft, { status, ...ended }, {
    actor,
    action: "player.status",
    before: { status: player.status },
    after: { status },
    reason
  })
  return { ...accepted, change: accepted.change === null ? null : { ...accepted.change, notes } }
}

export interface MoveKyc {
  readonly status: KycStatus
  /** With `verified`: expiry of the document, epoch milliseconds; null when unknown. */
  readonly documentExpiresAt: number | null
  readonly reason: string | null
  readonly actor: string
}

/** Emits the event of a KYC change on a draft; returns its audit log line. */
export const emitKyc = (
  draft: Draft,
  to: { readonly status: KycStatus; readonly documentExpiresAt: number | null },
  by: { readonly actor: string; readonly reason: string | null }
): SettingsRecord => {
  const from = draft.player.kycStatus
  draft.emit("kyc.status_changed", {
    previous_status: from,
    status: to.status,
    is_verified: to.status === "verified"
  })
  return {
    ...by,
    action: "player.kyc",
    before: { kyc_status: from },
    after: to.documentExpiresAt === null
      ? { kyc_status: to.status }
      : { kyc_status: to.status, document_expires_on: lastDayBefore(to.documentExpiresAt) }
  }
}

const dayMs = 86_400_000

/** Formats the midnight that ends a day (UTC) as that day: `2026-11-20`. */
const lastDayBefore = (at: number): string => new Date(at - dayMs).toISOString().slice(0, 10)

/** Shortest way of allowed transitions to a status, which is the last of it; the status alone where none leads there. */
export const kycWay = (from: KycStatus, to: KycStatus): ReadonlyArray<KycStatus> => {
  const passed = new Set<KycStatus>()
  let ways: ReadonlyArray<ReadonlyArray<KycStatus>> = kycTransitions[from].map((next) => [next])
  while (ways.length > 0) {
    const found = ways.find((way) => way.at(-1) === to)
    if (found !== undefined) return found
    ways = ways.flatMap((way) => {
      const last = way.at(-1) ?? from
      if (passed.has(last)) return []
      passed.add(last)
      return kycTransitions[last].map((next) => [...way, next])
    })
  }
  return [to]
}

/** Moves the KYC status along an allowed transition and emits the event. */
export const moveKycStep =
  (command: MoveKyc) => (player: Player, context: Context): Decision<Player, Refusal<"VALIDATION_FAILED">> => {
    const { actor, documentExpiresAt, reason, status } = command
    const from = player.kycStatus
    if (!kycTransitions[from].includes(status)) {
      return refused(
        refuseFields({ status: [`must be one of ${kycTransitions[from].join(", ")}: the status is ${from}`] })
      )
    }
    if (documentExpiresAt !== null && status !== "verified") {
      return refused(refuseFields({ document_expires_on: ["may be given only with the status verified"] }))
    }
    if (documentExpiresAt !== null && documentExpiresAt <= context.now) {
      return refused(refuseFields({ document_expires_on: ["must be in the future"] }))
    }
    const draft = new Draft(player, context)
    const record = emitKyc(draft, { status, documentExpiresAt }, { actor, reason })
    return acceptSettings(draft, { kycStatus: status, documentExpiresAt }, record)
  }

/**
 * Requests verification again when the identity of a verified player changes: the verified document does not cover the new name or birth date. Other
 * statuses are unchanged.
 */
export const reverifyStep = (actor: string) => (player: Player, context: Context): Decision<Player, never> => {
  if (player.kycStatus !== "verified") return answer(player, player)
  const next = { kycStatus: "pending_review", documentExpiresAt: null } as const
  const draft = new Draft(player, context)
  const record = emitKyc(
    draft,
    { status: next.kycStatus, documentExpiresAt: null },
    { actor, reason: "the name or the birth date changes" }
  )
  return acceptSettings(draft, next, record)
}

/** Restrictions under their wire names. */
export const wireRestrictions = Schema.encodeSync(wire(Restrictions))

/** As {@link wireRestrictions}, with the alerts that hold withdrawals, if any. */
const restrictionFields = (restrictions: Restrictions, holds: ReadonlyArray<WithdrawalHold>) => ({
  ...wireRestrictions(restrictions),
  ...(activeHoldIds(holds).length === 0 ? {} : { withdrawal_holds: activeHoldIds(holds) })
})

const isOfAlert = ({ isCase }: WithdrawalHold): boolean => isCase !== true

export interface Restrict {
  /** Absent ones are unchanged. */
  readonly restrictions: Partial<Restrictions>
  /** Why; absent where nobody said. */
  readonly reason?: string | null
  readonly actor: string
  /** Refusal for an actor who may not lift holds; absent when allowed. */
  readonly liftRefusal?: Refusal<"INSUFFICIENT_SCOPE"> | undefined
}

/**
 * Sets restrictions of the account. Restricting the login ends all sessions permanently. Allowing withdrawals also lifts the holds of alerts: an
 * actor who may not do that is refused, and nothing is changed.
 */
export const restrictStep =
  (command: Restrict) => (player: Player, context: Context): Decision<Player, Refusal<"INSUFFICIENT_SCOPE">> => {
    const before = player.restrictions
    const sent = command.restrictions
    const restrictions: Restrictions = { ...before, ...sent }
    const isLifting = sent.canWithdraw === true && activeHoldIds(player.withdrawalHolds.filter(isOfAlert)).length > 0
    if (isLifting && command.liftRefusal !== undefined) return refused(command.liftRefusal)
    const withdrawalHolds = isLifting
      ? player.withdrawalHolds.map((hold) => isOfAlert(hold) ? { ...hold, isLifted: true } : hold)
      : player.withdrawalHolds
    const isLoginTaken = before.canLogin && !restrictions.canLogin
    const ended = isLoginTaken ? { sessionsEndedAt: sessionsEnd(player, context.now) } : {}
    const isSame = withdrawalHolds === player.withdrawalHolds && Equal.equals(restrictions, before)
    return isSame ?
      answer(player, player) :
      acceptSettings(new Draft(player, context), { restrictions, withdrawalHolds, ...ended }, {
        actor: command.actor,
        action: "player.restrict",
        before: restrictionFields(before, player.withdrawalHolds),
        after: restrictionFields(restrictions, withdrawalHolds),
        reason: command.reason ?? null
      })
  }

/** Ends all session tokens and wallet sessions issued so far. */
export const signOutStep =
  (command: { readonly actor: string; readonly reason: string | null }) =>
  (player: Player, context: Context): Decision<Player, never> => {
    const sessionsEndedAt = sessionsEnd(player, context.now)
    return acceptSettings(new Draft(player, context), { sessionsEndedAt }, {
      ...command,
      action: "player.sign_out",
      before: { sessions_ended_at: player.sessionsEndedAt },
      after: { sessions_ended_at: sessionsEndedAt }
    })
  }

/** Whether the account is marked as dormant. */
export const isDormant = ({ extras }: Player): boolean => extras !== null && extras.dormantSince !== null

/** Ends the dormancy of an account that was used. */
export const wakeStep = (player: Player, context: Context): Accept<Player> =>
  isDormant(player)
    ? acceptSettings(new Draft(player, context), { extras: withExtras(player, { dormantSince: null }) })
    : answer(player, player)

/** Issue time of a session token issued now, or the reason for refusing it. What has fallen due by time is written, and the account is dormant no more. */
export const issueTokenStep =
  (asked: AskedRegisters = nobodyAsked) =>
  (player: Player, context: Context): Decision<number, Refusal<"PLAYER_RESTRICTED" | "TRY_AGAIN">> => {
    const refusal = refuseAccountAt(player, "canLogin", { event: "login", asked }, context.now)
    if (refusal !== undefined) return refused(refusal)
    const noted = isDormant(player) ? wakeStep(player, context) : noteObligations(player, context)
    return { ...noted, reply: sessionStart(player, context.now) }
  }

/** True when a session token issued at `issuedAt` (epoch milliseconds) is still valid. */
export const isTokenValid = (player: Player, issuedAt: number): boolean =>
  player.status === "active" && player.restrictions.canLogin && !isSessionEnded(player, issuedAt) &&
  outlivesExclusion(player, issuedAt)

/**
 * True when a session token issued at `issuedAt` (epoch milliseconds) is valid in view of the player's exclusion. A token from before or during an
 * exclusion stays invalid after its end: none can be issued while it lasts, so any token older than its end was issued before it, or at the instant
 * of its start.
 */
const outlivesExclusion = ({ exclusion }: Player, issuedAt: number): boolean => {
  const end = exclusion === null ? issuedAt : exclusionEnd(exclusion)
  return end !== null && issuedAt >= end
}
