/** Invariants of ledger, rounds, bonuses and versions, from the commits alone. */
import type { Event, Payment } from "../../../src/domain/state/Change.ts"
import type { PlayerBonus } from "../../../src/domain/state/Bonus.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import { roundKey, type Transaction } from "../../../src/domain/state/Rounds.ts"
import { type Books, type Remains, transactionKey } from "./Books.ts"
import { checkTold, judgeEnd } from "../../kit/BonusEnds.ts"
import { checkEntries, checkTransaction, type LedgerPosition, type Report, sumOf } from "../../kit/LedgerInvariants.ts"
import { promos } from "./Fixture.ts"

/** Checks one player's commits in order. */
const walkPlayer = (before: Player, books: Books, report: Report): void => {
  const name = `player ${before.id}`
  let at: LedgerPosition = { real: before.real, bonus: before.bonus, seq: before.entrySeq }
  let last = 0
  for (const { changes, state, version } of books.history.get(before.id) ?? []) {
    if (version !== last + 1) report("versions have no gap", `${name}: ${version} follows ${last}`)
    last = version
    for (const { entries, transactions } of changes) {
      const reinstating = new Set(transactions.flatMap(({ entryIds, kind }) => kind === "rollback" ? entryIds : []))
      at = checkEntries(name, at, entries, report, reinstating)
      for (const transaction of transactions) checkTransaction(name, transaction, entries, report)
    }
    if (state.real !== at.real || state.bonus !== at.bonus || state.entrySeq !== at.seq) {
      report(
        "a balance is the sum of its ledger",
        `${name} at version ${version}: ${state.real}/${state.bonus}, the entries sum to ${at.real}/${at.bonus}`
      )
      at = { real: state.real, bonus: state.bonus, seq: state.entrySeq }
    }
  }
}

/** Payments and their holds. */
const checkPayments = (books: Books, report: Report): void => {
  const entriesOf = Map.groupBy(books.entries, ({ paymentRequestId }) => paymentRequestId)
  for (const payment of books.payments.values()) {
    const { amount, id, isReversed, status, type } = payment
    const own = entriesOf.get(id) ?? []
    const isRefunded = status === "rejected" || status === "cancelled"
    const due = type === "deposit"
      ? { count: isReversed ? 2 : 1, sum: isReversed ? 0 : amount }
      : { count: isRefunded ? 2 : 1, sum: isRefunded ? 0 : -amount }
    if (own.length !== due.count || sumOf(own) !== due.sum) {
      report("a payment is its entries", `a ${status} ${type} ${id} of ${amount} has ${own.length} of ${sumOf(own)}`)
    }
  }
  for (const [id, own] of entriesOf) {
    if (id !== null && !books.payments.has(id)) report("a payment is its entries", `${own.length} of none (${id})`)
  }
}

const checkHolds = (books: Books, player: Player, report: Report): void => {
  const open = [...books.payments.values()].filter(({ playerId, status, type }) =>
    playerId === player.id && type === "withdrawal" && status !== "rejected" && status !== "cancelled"
  )
  const held = open.reduce((sum, { amount }) => sum + amount, 0)
  if (player.withdrawn !== held) {
    report("holds are open withdrawals", `player ${player.id}: ${player.withdrawn} withdrawn, requests of ${held}`)
  }
}

/**
 * Whether a rollback returns what its target moved. Bonus money follows its bonus: to the real wallet after the conversion, back to the bonus wallet
 * when that was reversed, and it is forfeited with an ended bonus, so that less may be returned.
 */
const returns = (row: Transaction, target: Transaction): boolean => {
  const isOfBonus = target.bonusAmount !== 0 || target.kind !== "bet" && target.bonusId !== null
  if (!isOfBonus) return row.realAmount === 0 - target.realAmount && row.bonusAmount === 0
  const [returned, taken] = [row.realAmount + row.bonusAmount, 0 - target.realAmount - target.bonusAmount]
  // of a bet at least the real stake
  const least = target.kind === "bet" ? 0 - target.realAmount : 0
  return Math.min(least, taken) <= returned && returned <= Math.max(least, taken)
}

/** Provider messages, their rollbacks, and their rounds. */
const checkTransactions = ({ database }: Remains, books: Books, report: Report): void => {
  const rows = [...books.transactions.values()].map(({ row }) => row)
  const takenBack = new Map<string, number>()
  const undone = new Set(
    rows.filter(({ kind, status }) => kind === "rollback" && status === "processed")
      .map(({ providerId, targetId }) => transactionKey(providerId, targetId ?? ""))
  )
  const reinstated = new Set<string>()
  for (const row of rows) {
    if (row.kind !== "rollback" || row.targetId === null) continue
    const key = transactionKey(row.providerId, row.targetId)
    const isUndone = undone.has(transactionKey(row.providerId, row.transactionId))
    if (row.status === "processed" && isUndone) reinstated.add(key)
    if (row.status === "processed" && !isUndone) takenBack.set(key, (takenBack.get(key) ?? 0) + 1)
    const target = books.transactions.get(key)?.row
    if (row.status !== "processed") continue
    if (target === undefined || target.kind === "tombstone" || target.playerId !== row.playerId) {
      report("a rollback has its target", `${row.transactionId} takes back ${row.targetId}`)
    } else if (!returns(row, target)) {
      report("a rollback returns what was taken", `${row.transactionId}: ${row.realAmount} of ${target.realAmount}`)
    }
  }
  for (const [key, times] of takenBack) if (times > 1) report("taken back once", `${key}: ${times} times`)
  for (const row of rows) {
    if (row.kind !== "rollback" || row.targetId === null) continue
    const key = transactionKey(row.providerId, row.targetId)
    const target = books.transactions.get(key)?.row
    // a rollback of a message without effect, or of a reinstated bet, has no effect
    const isIdle = row.status === "ignored" && (target?.kind === "rollback" || reinstated.has(key)) ||
      undone.has(transactionKey(row.providerId, row.transactionId))
    const stands = target !== undefined && target.kind !== "tombstone" && !takenBack.has(key) && !isIdle
    if (stands) {
      report("what was taken back does not stand", `${target.kind} ${key}, rolled back by ${row.transactionId}`)
    }
  }
  checkRounds(
    rows.filter((row) => !takenBack.has(transactionKey(row.providerId, row.transactionId))),
    database,
    report
  )
}

const checkRounds = (
  standing: ReadonlyArray<Transaction>,
  database: Remains["database"],
  report: Report
): void => {
  const sums = new Map<string, { real: number; bonus: number; wins: number; bets: number; won: number }>()
  for (const row of standing) {
    if (row.gameId === null || row.roundId === null || row.kind === "rollback") continue
    const key = `${row.playerId} ${roundKey(row.gameId, row.roundId)}`
    const sum = sums.get(key) ?? { real: 0, bonus: 0, wins: 0, bets: 0, won: 0 }
    if (row.kind === "bet") {
      sum.bets++
      sum.real -= row.realAmount
      sum.bonus -= row.bonusAmount
    } else {
      if (row.kind === "win" && row.amount > 0) sum.wins++
      sum.won += row.realAmount + row.bonusAmount
    }
    sums.set(key, sum)
  }
  for (const [playerId, rounds] of database.memory.tables().rounds) {
    for (const [key, { bonusStake, openBets, paidWins, realStake, won }] of rounds) {
      const sum = sums.get(`${playerId} ${key}`) ?? { real: 0, bonus: 0, wins: 0, bets: 0, won: 0 }
      const hasOthers = openBets === null || openBets < 0 || openBets > sum.bets
      if (realStake !== sum.real || bonusStake !== sum.bonus || paidWins !== sum.wins || won !== sum.won || hasOthers) {
        report(
          "a round is its messages",
          `${key} of player ${playerId}: ${realStake}/${bonusStake}, ${paidWins} wins of ${won}`
        )
      }
    }
  }
}

const finder = ({ transactions }: Books) => (providerId: number, transactionId: string) =>
  transactions.get(transactionKey(providerId, transactionId))?.row

/** Bonuses: each passes its states once, except for ends that are undone. */
const checkBonuses = ({ database }: Remains, books: Books, report: Report): void => {
  const latest = new Map<number, PlayerBonus>()
  const running = new Map<number, number>()
  for (
    const { change, playerId } of database.history.flatMap(({ changes, playerId }) =>
      changes.map((change) => ({ change, playerId }))
    )
  ) {
    for (const { bonus } of change.bonuses) {
      if (bonus.state === "activated") running.set(playerId, bonus.id)
      else if (running.get(playerId) === bonus.id) running.delete(playerId)
    }
    for (const { bonus, isNew } of change.bonuses) {
      const before = latest.get(bonus.id)
      if (
        before?.state === "finished" && before.result !== "cancelled" && bonus.result === "cancelled" &&
        running.has(playerId)
      ) {
        report("an end that is undone waits for the bonus that runs", `bonus ${bonus.id} is cancelled instead`)
      }
      if (isNew && before !== undefined) report("a bonus is granted once", `bonus ${bonus.id}`)
      if (!judgeEnd(before, bonus, change, finder(books)).isRight) {
        report("a bonus ends once", `bonus ${bonus.id} is written after its end`)
      }
      latest.set(bonus.id, bonus)
    }
  }
  const entriesOf = Map.groupBy(books.entries, ({ playerBonusId }) => playerBonusId)
  for (const [id, bonus] of latest) {
    const { amount, converted, forfeited, late, maxConversion, restored, result, short, startedAt } = bonus
    const own = entriesOf.get(id) ?? []
    const conversions = own.filter(({ type }) => type === "bonus_conversion")
    const paid = conversions.filter(({ wallet }) => wallet === "real")
    // one is reversed as a whole before there is another
    const isInTurn = paid.every(({ amount: moved }, index) =>
      index % 2 === 0 ? moved > 0 : moved === -paid[index - 1]!.amount
    )
    if (sumOf(conversions) !== 0 || !isInTurn || sumOf(paid) !== converted) {
      report("a bonus converts once", `bonus ${id}: ${paid.length} conversions of ${sumOf(paid)}`)
    }
    const later = own.filter(({ type, wallet }) => wallet === "real" && type !== "bonus_conversion")
    if (sumOf(later) !== late) {
      report("real money of a bonus is accounted for", `bonus ${id}: ${sumOf(later)}, not ${late}`)
    }
    if (maxConversion > 0 && converted + late > maxConversion) {
      report("a conversion stays within its cap", `bonus ${id}: ${converted} and ${late} of ${maxConversion}`)
    }
    // what went without a game is forfeited, held, came back, or came from the real wallet; less what was lent and not paid off
    const gone = 0 - sumOf(own.filter(({ type }) => type === "bonus_correction_down"))
    const fromReal = sumOf(later.filter(({ type }) => type === "correction_up" || type === "correction_down"))
    if (gone !== forfeited + (bonus.held ?? 0) + restored + fromReal - short) {
      report("forfeited money is accounted for", `bonus ${id}: ${gone} gone, ${forfeited} forfeited`)
    }
    if (short < 0 || converted + late < 0) {
      report(
        "a bonus is no debt of the player",
        `bonus ${id}: short of ${short}, ${converted} converted and ${late} later`
      )
    }
    if (result === null && bonus.held !== null && bonus.wagered >= bonus.wagerRequirement) {
      report("a bonus that met its requirement is paid", `bonus ${id} waits with ${bonus.wagered} wagered`)
    }
    if (result === "lost" && forfeited !== 0) report("a lost bonus forfeits nothing", `bonus ${id}: ${forfeited}`)
    const granted = own.filter(({ type }) => type === "bonus_correction_up")
    if (sumOf(granted) !== (startedAt === null ? 0 : amount + restored)) {
      report("a bonus is granted once", `bonus ${id}: credited ${sumOf(granted)} of ${amount} and ${restored}`)
    }
  }
}

/** What is told of each bonus, in order. */
const checkEnds = ({ database }: Remains, report: Report): void => {
  const changes = database.history.flatMap(({ changes }) => changes)
  const events = changes.flatMap(({ events }) => events)
  const latest = new Map(changes.flatMap(({ bonuses }) => bonuses.map(({ bonus }) => [bonus.id, bonus] as const)))
  for (const bonus of latest.values()) checkTold(bonus, events, report)
}

/** Promo codes: once per player, and within their cap. */
const checkPromos = ({ database }: Remains, report: Report): void => {
  const { redemptions } = database.memory.tables()
  for (const { id, maxRedemptions } of promos) {
    const own = redemptions.filter(({ promoCodeId }) => promoCodeId === id)
    const players = new Set(own.map(({ playerId }) => playerId))
    if (own.length > maxRedemptions || players.size < own.length) {
      report("a promo code has its limits", `${own.length} times code ${id}, by ${players.size} players`)
    }
  }
}

const idIn = (part: unknown): string =>
  typeof part === "object" && part !== null && "id" in part ? String(part.id) : "nobody"

const nameOfEvent = ({ data, playerId, type }: Event): string =>
  type === "kyc.status_changed"
    ? `${type} ${playerId} ${String(data["status"])}`
    : `${type} ${idIn(data["payment"] ?? data["bonus"])}`

/** Events required by a payment's move. */
const eventsOfPayment = (payment: Payment, isNew: boolean): ReadonlyArray<string> => {
  const { id, status, type } = payment
  if (type === "deposit") return isNew ? [`deposit.paid ${id}`] : []
  if (isNew) return [`withdrawal.requested ${id}`]
  return status === "paid" || status === "rejected" ? [`withdrawal.${status} ${id}`] : []
}

/** Outbox against effects: one event per effect that requires it, and no others. */
const checkEvents = ({ beginning, database }: Remains, books: Books, report: Report): void => {
  const balance = new Map<string, number>()
  const count = (name: string, by: number) => balance.set(name, (balance.get(name) ?? 0) + by)
  const kyc = new Map(beginning.map(({ id, kycStatus }) => [id, kycStatus]))
  // an end that is undone so that the bonus runs or waits again is told as another grant
  const latest = new Map<number, PlayerBonus>()
  for (const { changes, playerId } of database.history) {
    for (const change of changes) {
      for (const { isNew, payment } of change.payments) {
        for (const name of eventsOfPayment(payment, isNew)) count(name, 1)
      }
      for (const { bonus, isNew } of change.bonuses) {
        const before = latest.get(bonus.id)
        if (isNew || judgeEnd(before, bonus, change, finder(books)).hasResumed) count(`bonus.granted ${bonus.id}`, 1)
        latest.set(bonus.id, bonus)
      }
      const status = change.settings?.kycStatus
      if (status !== undefined && status !== kyc.get(playerId)) {
        kyc.set(playerId, status)
        count(`kyc.status_changed ${playerId} ${status}`, 1)
      }
    }
  }
  const known = ["deposit.", "withdrawal.", "bonus.granted", "kyc."]
  for (const event of database.outbox()) {
    if (known.some((prefix) => event.type.startsWith(prefix))) count(nameOfEvent(event), -1)
  }
  for (const [name, difference] of balance) {
    if (difference !== 0) {
      report("events are their effects", `${name}: ${difference > 0 ? "not told of" : "told of without an effect"}`)
    }
  }
}

export const checkLedger = (remains: Remains, books: Books, report: Report): void => {
  for (const before of remains.beginning) {
    walkPlayer(before, books, report)
    const player = remains.database.stateOf(before.id)
    if (player !== undefined) checkHolds(books, player, report)
  }
  const written = remains.database.history.flatMap(({ changes }) => changes.flatMap(({ entries }) => entries))
  if (written.length !== books.entries.length) {
    report("entries are kept", `${written.length} were committed, ${books.entries.length} are there`)
  }
  checkPayments(books, report)
  checkTransactions(remains, books, report)
  checkBonuses(remains, books, report)
  checkPromos(remains, report)
  checkEvents(remains, books, report)
  checkEnds(remains, report)
}
