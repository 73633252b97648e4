/** Running play session of a player: its stakes and wins, and its reality checks. Its times are kept with the usage of limits (`Counters`). */
import { after, orderOf } from "../jurisdiction/Duration.ts"
import type { Rules } from "../jurisdiction/Rules.ts"
import { breakMs, type Counters, playSince } from "./Limits.ts"

/** Minor units, real and bonus, with rollbacks netted. */
export interface PlaySession {
  readonly staked: number
  readonly won: number
  /** Milliseconds from the start of the session to the reality check that was acknowledged last; 0: none. */
  readonly checkedAfter: number
}

/** A session that begins: one object for all, so that a player who has not bet yet carries none. */
const freshSession: PlaySession = { staked: 0, won: 0, checkedAfter: 0 }

interface Playing {
  readonly counters: Counters
  readonly session: PlaySession | null
}

/** The session that play at `now` belongs to: the running one, or one that begins. */
export const continuedSession = ({ counters, session }: Playing, now: number): PlaySession =>
  session === null || playSince(counters, now) === null ? freshSession : session

/** A session with a ledger entry counted; the same one where the entry is no money of play. A rollback is subtracted from what it takes back. */
export const countInSession = (session: PlaySession, type: string, amount: number): PlaySession => {
  const { checkedAfter, staked, won } = session
  if (type === "casino_bet" || (type === "casino_rollback" && amount > 0)) {
    return { staked: staked - amount, won, checkedAfter }
  }
  return type === "casino_win" || type === "casino_rollback" || type === "tournament_prize"
    ? { staked, won: won + amount, checkedAfter }
    : session
}

/** The running session with its start, epoch milliseconds; null when there is none. */
export const runningSession = ({ counters, session }: Playing, now: number) => {
  const since = session === null ? null : playSince(counters, now)
  return session === null || since === null ? null : { ...session, since }
}

/** The session as position, events and reality check show it. */
export const sessionFields = (player: Playing, now: number) => {
  const running = runningSession(player, now)
  const { since = null, staked = 0, won = 0 } = running ?? {}
  return {
    since: since === null ? null : new Date(since).toISOString(),
    elapsed_seconds: since === null ? 0 : Math.max(0, Math.floor((now - since) / 1000)),
    staked,
    won,
    net: won - staked
  }
}

interface Checked extends Playing {
  readonly rules: Pick<Rules, "reality_check">
  readonly extras: { readonly realityCheck: string | null } | null
}

/** Interval between reality checks: the player's own, of the length that the jurisdiction allows at most, or the jurisdiction's; null: none. */
export const checkInterval = ({ extras, rules: { reality_check: rule } }: Checked): string | null => {
  const own = extras === null ? null : extras.realityCheck
  if (own === null) return rule.default
  return orderOf(own) > orderOf(rule.max) ? rule.max : own
}

/** When the reality check of the last session falls due by the interval, epoch milliseconds; null without a session or an interval. */
export const checkDueAt = (player: Checked): number | null => {
  const { counters: { playSince: since }, session } = player
  const interval = session === null ? null : checkInterval(player)
  return session === null || interval === null ? null : after(interval, since + session.checkedAfter)
}

/** When a session is over unless somebody bets, epoch milliseconds. */
export const sessionOverAt = ({ lastBetAt, playSince: since }: Counters): number => Math.max(lastBetAt, since) + breakMs
