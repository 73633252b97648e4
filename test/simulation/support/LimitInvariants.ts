/** Invariants of limits, exclusions and locks, recomputed from the commits by the model of limits. */
import type { Report } from "../../kit/LedgerInvariants.ts"
import type { Change, PlayerSettings } from "../../../src/domain/state/Change.ts"
import { type LimitField, limitFields } from "../../../src/domain/LimitFields.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import type { Transaction } from "../../../src/domain/state/Rounds.ts"
import {
  countedByBets,
  countedByDeposits,
  firstExceeded,
  type LimitEvent,
  type LimitView,
  type ModelRefusal,
  usedOf
} from "../../kit/LimitModel.ts"
import { type Books, type Remains, transactionKey } from "./Books.ts"

type Settings = Omit<PlayerSettings, "updatedAt">

/** Limit in force; undefined without one. */
const limitAt = ({ limits, pendingLimits }: Settings, field: LimitField, now: number): number | undefined => {
  const waited = pendingLimits.filter((pending) => pending.field === field && now >= pending.effectiveAt).at(-1)
  return waited === undefined ? limits[field] : waited.value ?? undefined
}

/** Reason for refusing a stake or a deposit at this instant; undefined when allowed. */
const barred = (settings: Settings, now: number, ability: "canBet" | "canDeposit"): string | undefined => {
  const { exclusion, restrictions, status } = settings
  if (status !== "active") return status
  if (!restrictions[ability]) return `not ${ability}`
  return exclusion !== null && (exclusion.until === null || now < exclusion.until) ? exclusion.type : undefined
}

class Ledger {
  settings: Settings
  real: number
  private readonly happenings: Array<LimitEvent> = []
  private readonly byTransaction = new Map<string, LimitEvent>()
  private readonly byRollback = new Map<string, LimitEvent>()
  private readonly name: string
  private readonly report: Report

  constructor(player: Player, report: Report) {
    this.settings = player
    this.real = player.real
    this.name = `player ${player.id}`
    this.report = report
  }

  take(change: Change): void {
    for (const transaction of change.transactions) {
      if (transaction.status === "processed") this.takeTransaction(transaction)
    }
    for (const { isNew, payment } of change.payments) {
      if (isNew && payment.type === "deposit") this.takeDeposit(payment.amount, payment.createdAt)
    }
    const last = change.entries.findLast(({ wallet }) => wallet === "real")
    if (last !== undefined) this.real = last.balanceAfter
    if (change.settings !== null) this.takeSettings(change.settings)
  }

  /** Checks that no protection of the player is loosened early. */
  private takeSettings(after: PlayerSettings): void {
    const { updatedAt: now } = after
    const before = this.settings
    this.settings = after
    for (const field of limitFields) {
      const [was, is] = [limitAt(before, field, now), limitAt(after, field, now)]
      if (was !== undefined && (is === undefined || is > was)) {
        this.report("limits are raised after their time", `${this.name}: ${field} of ${was} becomes ${is ?? "none"}`)
      }
    }
    const [was, is] = [before.exclusion, after.exclusion]
    if (was === null || was.until === null || now >= was.until) return
    const isWeaker = is === null || (is.until !== null && is.until < was.until) ||
      (was.type !== "time_out" && is.type === "time_out")
    if (isWeaker) this.report("an exclusion is never shortened", `${this.name}: ${was.type} becomes ${is?.type}`)
  }

  private takeTransaction(transaction: Transaction): void {
    const { amount, createdAt, kind, providerId, realAmount, targetId, transactionId, wagered } = transaction
    const key = transactionKey(providerId, transactionId)
    if (kind === "rollback") {
      const targetKey = transactionKey(providerId, targetId ?? "")
      const target = this.byTransaction.get(targetKey)
      if (target !== undefined) {
        target.isTakenBack = true
        this.byRollback.set(key, target)
      }
      // a bet whose rollback is rolled back counts again
      const reinstated = this.byRollback.get(targetKey)
      if (reinstated !== undefined) reinstated.isTakenBack = false
      return
    }
    if (kind !== "bet" && kind !== "win" && kind !== "adjustment") return
    const isBet = kind === "bet"
    if (isBet) this.checkBet(transactionId, amount, 0 - realAmount, createdAt)
    // a correction is won or lost; what a converted bonus brought is not
    const event = {
      kind: isBet ? "bet" : "win",
      at: createdAt,
      amount,
      real: isBet ? 0 - realAmount : realAmount - wagered
    } as const
    const counted = { ...event, isTakenBack: false }
    this.byTransaction.set(key, counted)
    this.happenings.push(counted)
  }

  /** What the model of limits looks at. */
  private viewAt(now: number): LimitView {
    return {
      now,
      real: this.real,
      happenings: this.happenings,
      plays: [],
      inForce: (field) => limitAt(this.settings, field, now) ?? null
    }
  }

  private checkBet(id: string, stake: number, real: number, at: number): void {
    const reason = barred(this.settings, at, "canBet")
    if (reason !== undefined) {
      this.report("who is kept from play does not play", `${this.name}: bet ${id} of ${stake}, though ${reason}`)
    }
    this.reportExceeded(`bet ${id} of ${stake}`, firstExceeded(this.viewAt(at), countedByBets, stake, real))
  }

  private takeDeposit(amount: number, at: number): void {
    const reason = barred(this.settings, at, "canDeposit")
    if (reason !== undefined) {
      this.report("who is kept from play does not play", `${this.name}: a deposit of ${amount}, though ${reason}`)
    }
    const refusal = firstExceeded(this.viewAt(at), countedByDeposits, amount, amount)
    this.reportExceeded(`a deposit of ${amount}`, refusal)
    this.happenings.push({ kind: "deposit", at, amount, real: amount, isTakenBack: false })
  }

  private reportExceeded(what: string, refusal: ModelRefusal | undefined): void {
    if (refusal?.code !== "LIMIT_EXCEEDED") return
    const { limit, used, value } = refusal
    this.report("limits hold", `${this.name}: ${what} exceeds ${limit} of ${value}, used ${used}`)
  }

  /** Checks that the counters of the player's state equal the list's sums. */
  checkCounters({ counters }: Player): void {
    const view = this.viewAt(counters.at)
    const kept = [
      ["max_daily_bet", counters.betDay],
      ["max_weekly_bet", counters.betWeek],
      ["max_monthly_bet", counters.betMonth],
      ["max_daily_loss", counters.lossDay],
      ["max_weekly_loss", counters.lossWeek],
      ["max_monthly_loss", counters.lossMonth],
      ["max_daily_deposit", counters.depositDay],
      ["max_weekly_deposit", counters.depositWeek],
      ["max_monthly_deposit", counters.depositMonth],
      ["max_yearly_deposit", counters.depositYear]
    ] as const
    for (const [field, sum] of kept) {
      const used = usedOf(view, field)
      if (used !== sum) {
        this.report("counters are what was counted", `${this.name}, ${field}: kept ${sum}, happened ${used}`)
      }
    }
  }
}

export const checkLimits = ({ beginning }: Remains, books: Books, report: Report): void => {
  for (const before of beginning) {
    const ledger = new Ledger(before, report)
    const history = books.history.get(before.id) ?? []
    for (const { changes } of history) for (const change of changes) ledger.take(change)
    const last = history.at(-1)
    if (last !== undefined && last.state.counters.at > 0) ledger.checkCounters(last.state)
  }
}
