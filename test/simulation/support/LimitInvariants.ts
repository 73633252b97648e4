/** Invariants of limits, exclusions and locks, recomputed from the commits with an independent calendar. */
import type { Report } from "../../kit/LedgerInvariants.ts"
import type { Change, PlayerSettings } from "../../../src/domain/state/Change.ts"
import { type LimitField, limitFields } from "../../../src/domain/state/Limits.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import type { Transaction } from "../../../src/domain/state/Rounds.ts"
import { boundsOf, countedByBets, countedByDeposits, type Window, windowOf } from "../../kit/LimitModel.ts"
import { type Books, type Remains, transactionKey } from "./Books.ts"

const windows: ReadonlyArray<Window> = ["day", "week", "month", "year"]

/** Money that counts towards a limit until it is rolled back. */
interface Counted {
  readonly at: number
  readonly stake: number
  /** Real money lost, negative for a win. */
  readonly loss: number
  readonly deposit: number
  isTakenBack: boolean
}

interface Sums {
  readonly stake: number
  readonly loss: number
  readonly deposit: number
}

const sumsIn = (happened: ReadonlyArray<Counted>, window: Window, now: number): Sums => {
  const [from, to] = boundsOf(window, now)
  const own = happened.filter(({ at, isTakenBack }) => !isTakenBack && at >= from && at < to)
  return {
    stake: own.reduce((sum, { stake }) => sum + stake, 0),
    loss: own.reduce((sum, { loss }) => sum + loss, 0),
    deposit: own.reduce((sum, { deposit }) => sum + deposit, 0)
  }
}

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
  readonly happened: Array<Counted> = []
  private readonly byTransaction = new Map<string, Counted>()
  private readonly byRollback = new Map<string, Counted>()
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
    const { amount, createdAt, kind, providerId, realAmount, targetId, transactionId } = transaction
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
    const loss = 0 - realAmount
    const counted = { at: createdAt, stake: kind === "bet" ? amount : 0, loss, deposit: 0, isTakenBack: false }
    this.byTransaction.set(key, counted)
    this.happened.push(counted)
    if (kind === "bet") this.checkBet(transactionId, counted)
  }

  private checkBet(id: string, { at, loss, stake }: Counted): void {
    const reason = barred(this.settings, at, "canBet")
    if (reason !== undefined) {
      this.report("who is kept from play does not play", `${this.name}: bet ${id} of ${stake}, though ${reason}`)
    }
    for (const field of countedByBets) {
      const limit = limitAt(this.settings, field, at)
      if (limit === undefined) continue
      const isLoss = field.includes("loss")
      const used = this.used(field, isLoss ? "loss" : "stake", stake, at)
      // a bet without real money adds no loss, whatever was lost before
      const isOver = used > limit && (!isLoss || loss > 0)
      if (isOver) {
        this.report("limits hold", `${this.name}: bet ${id} of ${stake} brings ${field} of ${limit} to ${used}`)
      }
    }
  }

  private takeDeposit(amount: number, at: number): void {
    this.happened.push({ at, stake: 0, loss: 0, deposit: amount, isTakenBack: false })
    const reason = barred(this.settings, at, "canDeposit")
    if (reason !== undefined) {
      this.report("who is kept from play does not play", `${this.name}: a deposit of ${amount}, though ${reason}`)
    }
    for (const field of countedByDeposits) {
      const limit = limitAt(this.settings, field, at)
      // the balance cap applies to the balance including the deposit
      const used = field === "max_balance" ? this.real + amount : this.used(field, "deposit", amount, at)
      if (limit !== undefined && used > limit) {
        this.report("limits hold", `${this.name}: a deposit of ${amount} brings ${field} of ${limit} to ${used}`)
      }
    }
  }

  /** Amount that counts towards a limit, including this one. */
  private used(field: LimitField, what: keyof Sums, amount: number, at: number): number {
    const window = windowOf[field]
    return window === undefined ? amount : sumsIn(this.happened, window, at)[what]
  }

  /** Checks that the counters of the player's state equal the list's sums. */
  checkCounters({ counters }: Player): void {
    for (const window of windows) {
      const sums = sumsIn(this.happened, window, counters.at)
      const kept = {
        day: { stake: counters.betDay, loss: counters.lossDay, deposit: counters.depositDay },
        week: { stake: counters.betWeek, loss: counters.lossWeek, deposit: counters.depositWeek },
        month: { stake: counters.betMonth, loss: counters.lossMonth, deposit: counters.depositMonth },
        year: { stake: sums.stake, loss: sums.loss, deposit: counters.depositYear }
      }[window]
      if (kept.stake !== sums.stake || kept.loss !== sums.loss || kept.deposit !== sums.deposit) {
        this.report(
          "counters are what was counted",
          `${this.name}, ${window}: kept ${JSON.stringify(kept)}, happened ${JSON.stringify(sums)}`
        )
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
