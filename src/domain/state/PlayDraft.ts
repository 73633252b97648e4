/**
 * What play changes in a {@link Draft}, the working copy of a player during one decision: counters of limits, days of activity, the session with its
 * obligations, and dormancy.
 */
import { type Activity, type ActivityKind, isRecorded, recordDay, type Visit } from "./Activity.ts"
import { type EntryType, noChange } from "./Change.ts"
import { type Counters, playSince, recordPlay } from "./Limits.ts"
import type { ObligationChange } from "./Obligation.ts"
import { type Player, withExtras } from "./Player.ts"
import { dayOf } from "./ReportCounts.ts"
import { continuedSession, countInSession, type PlaySession } from "./PlaySession.ts"

export class PlayDraft {
  readonly player: Player
  readonly now: number
  counters: Counters
  session: PlaySession | null
  /** Obligations that are open, as far as this decision has written them. */
  obligations: Player["obligations"]
  readonly obligationChanges: Array<ObligationChange> = []
  /** Time of what the money posted takes back, epoch milliseconds; null where it takes nothing back. */
  settledFor: number | null = null
  protected activity: Activity
  protected visits: ReadonlyArray<Visit> = noChange.visits
  /** Day of the decision, numbered from 1970-01-01, UTC. */
  protected readonly day: number
  /** Whether this decision has a bet or a deposit of a player with extras. */
  private isActive = false

  constructor(player: Player, now: number) {
    this.player = player
    this.now = now
    this.counters = player.counters
    this.session = player.session
    this.obligations = player.obligations
    this.activity = player.activity
    this.day = dayOf(now)
  }

  /** Adds an entry to the running session, where its money belongs to that: a bet of an earlier one is not rolled back in this one. */
  protected countInSession(type: EntryType, amount: number): void {
    const { session, settledFor } = this
    const since = session === null ? null : playSince(this.counters, this.now)
    if (session !== null && since !== null && (settledFor === null || settledFor >= since)) {
      this.session = countInSession(session, type, amount)
    }
  }

  /** Records a bet as play, which begins a session when none is running; before its money is posted. */
  recordBet(): void {
    this.session = continuedSession(this, this.now)
    this.counters = recordPlay(this.counters, this.now, true)
  }

  /** The player as this decision leaves the session. */
  get playing(): Player {
    return { ...this.player, counters: this.counters, session: this.session, obligations: this.obligations }
  }

  /** Records an activity of the player on this day. */
  visit(kind: ActivityKind): void {
    if (kind !== "withdrawal" && this.player.extras !== null) this.isActive = true
    if (isRecorded(this.activity, kind, this.day)) return
    const noted = recordDay(this.activity, kind, this.day)
    this.activity = noted.activity
    this.visits = this.visits.length === 0 ? noted.visits : [...this.visits, ...noted.visits]
  }

  /** What a bet or a deposit changes of a dormant account; undefined of any other. */
  protected awake(settings: Partial<Player> | undefined): Pick<Player, "extras"> | undefined {
    const extras = settings?.extras === undefined ? this.player.extras : settings.extras
    return this.isActive && extras !== null && extras.dormantSince !== null
      ? { extras: withExtras({ extras }, { dormantSince: null }) }
      : undefined
  }
}
