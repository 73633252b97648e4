/**
 * Compares a history of clients with the tables, and the tables with each other. Written from the contract, independent of the
 * service's code.
 */
import { Effect } from "effect"
import { moves } from "./WalletRules.ts"
import { checkEntries } from "./LedgerInvariants.ts"
import { amountsOf, type Books, readBooks, type Whose } from "./StoredRows.ts"
import type { Intent, History, Command, CommandOf } from "./History.ts"
import type { Settlement } from "../../scripts/simulators/pitboss/WalletMessages.ts"

type TransactionRow = Books["transactions"][number]
type EntryRow = Books["entries"][number]
type Report = (what: string) => void

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const sameList = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean => one.join() === other.join()

const groupBy = <A, K>(items: ReadonlyArray<A>, keyOf: (item: A) => K): Map<K, Array<A>> => Map.groupBy(items, keyOf)

/** State before the first client. */
export interface Beginning {
  /** References of deposits outside the history. */
  readonly references: ReadonlySet<string>
  /** Players excluded from the comparison: played by other code. */
  readonly others?: ReadonlySet<number>
  /** Compares only these players and newly registered ones; all when absent. */
  readonly players?: ReadonlyArray<number>
}

/** Checks the consistency of the database: chain, sums, and each entry with its transaction or payment. */
const auditLedger = (books: Books, actionOf: (transactionId: string) => string, report: Report): void => {
  const entriesOf = groupBy(books.entries, ({ player }) => player)
  const transactionsOf = groupBy(books.transactions, ({ player }) => player)
  const paymentsOf = groupBy(books.payments, ({ player }) => player)
  for (const account of books.accounts) {
    const { player } = account
    const entries = entriesOf.get(player) ?? []
    const transactions = transactionsOf.get(player) ?? []
    const payments = paymentsOf.get(player) ?? []
    const start = { real: 0, bonus: 0, seq: 0 }
    const last = checkEntries(`player ${player}`, start, entries, (invariant, text) => report(`${invariant}: ${text}`))
    if (account.real !== last.real || account.bonus !== last.bonus || account.entrySeq !== last.seq) {
      report(`player ${player}: the account says ${JSON.stringify(account)}, the ledger ${JSON.stringify(last)}`)
    }
    const moved = sum(payments.flatMap(amountsOf)) + sum(transactions.map(({ real }) => real))
    if (account.real !== moved) report(`player ${player}: balance ${account.real}, payments - stakes + wins ${moved}`)

    // each entry belongs to exactly one transaction or one side of one payment
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    const actions = new Map<string, Array<EntryRow>>()
    const claim = (action: string, entry: EntryRow | undefined, what: string): void => {
      if (entry === undefined || !byId.delete(entry.id)) {
        return report(`${what}: an entry is missing or counted twice`)
      }
      actions.set(action, [...actions.get(action) ?? [], entry])
    }
    for (const { bonus, entries: ids, id, real } of transactions) {
      const own = ids.map((entryId) => byId.get(entryId))
      for (const entry of own) claim(actionOf(id), entry, `transaction ${id}`)
      if (sum(own.map((entry) => entry?.amount ?? 0)) !== real + bonus) {
        report(`transaction ${id}: its entries sum up to another amount`)
      }
    }
    for (const payment of payments) {
      const { id, reference, type } = payment
      const own = entries.filter((entry) => entry.payment === id)
      for (const entry of own) claim(`entry ${entry.id}`, entry, `${type} ${reference}`)
      if (!sameList(own.map(({ amount }) => amount), amountsOf(payment))) {
        report(`${type} ${reference}: entries of ${own.map(({ amount }) => amount).join(", ")}`)
      }
    }
    for (const { id, seq } of byId.values()) report(`player ${player}: entry ${seq} (${id}) stands for nothing`)
    if (account.walletSeq !== actions.size) {
      report(`player ${player}: ${actions.size} actions, wallet_seq ${account.walletSeq}`)
    }
  }
}

/** Whether a transaction is that of the command. */
const isAsCommanded = (command: Command, row: TransactionRow): boolean => {
  if (command.kind !== row.kind) return false
  switch (command.kind) {
    case "bet":
      return row.amount === command.amount && row.real === 0 - command.amount
    case "win":
      return row.amount === command.amount && row.real === command.amount && row.target === command.betId
    case "promo_win":
      return row.amount === command.amount && row.real === command.amount
    case "rollback":
      return row.target === command.targetId
    default:
      return false
  }
}

/** An intent of one kind. */
interface IntentOf<Kind extends Command["kind"]> extends Intent {
  readonly command: CommandOf<Kind>
}

const isKind =
  <Kind extends Command["kind"]>(...kinds: ReadonlyArray<Kind>) => (intent: Intent): intent is IntentOf<Kind> =>
    kinds.some((kind) => kind === intent.command.kind)

const isSettled = ({ outcomes }: Intent): boolean => outcomes.some(({ _tag }) => _tag !== "Refused")

/** Each message that was answered names the place that its action took among its player's, and the balance that it left. */
const auditSettlements = (
  books: Books,
  intents: ReadonlyMap<string, Intent>,
  actionOf: (id: string) => string,
  report: Report
): void => {
  const transactions = new Map(books.transactions.map((row) => [row.id, row]))
  const byAction = groupBy(books.transactions.filter(({ kind }) => kind !== "tombstone"), ({ id }) => actionOf(id))
  const entryById = new Map(books.entries.map((entry) => [entry.id, entry]))
  const actionById = new Map(
    books.transactions.flatMap(({ entries, id }) => entries.map((entryId): [number, string] => [entryId, actionOf(id)]))
  )
  const places = new Map<string, { readonly place: number; readonly balance: number }>()
  for (const entries of groupBy(books.entries, ({ player }) => player).values()) {
    let place = 0
    let previous: string | undefined
    for (const entry of entries) {
      const action = actionById.get(entry.id) ?? `entry ${entry.id}`
      if (action !== previous) place++
      previous = action
      places.set(action, { place, balance: entry.balanceAfter })
    }
  }

  const auditAnswer = (id: string, action: string, answer: Settlement): void => {
    const own = byAction.get(action) ?? []
    const ids = own.flatMap(({ entries }) => entries).sort((one, other) =>
      (entryById.get(one)?.seq ?? 0) - (entryById.get(other)?.seq ?? 0)
    )
    if (!sameList(answer.wallet_transaction_ids, ids)) report(`${id}: answered with other entries than it has`)
    if (answer.real_amount !== sum(own.map(({ real }) => real))) report(`${id}: answered with another amount`)
    const place = places.get(action)
    if (answer.status !== "processed" || place === undefined) return
    if (answer.wallet_seq !== place.place) {
      report(`${id}: answered wallet_seq ${answer.wallet_seq}, stands at ${place.place}`)
    }
    if (answer.balance !== place.balance) report(`${id}: answered balance ${answer.balance}, left ${place.balance}`)
  }

  for (const intent of [...intents.values()].filter(isKind("bet", "win", "rollback", "promo_win"))) {
    const { action, outcomes, seat, command } = intent
    const { id } = command
    const row = transactions.get(id)
    const isThere = row !== undefined && row.kind !== "tombstone"
    if (isSettled(intent) && !isThere) report(`${id}: acknowledged and lost`)
    if (outcomes.length > 0 && !isSettled(intent) && isThere) report(`${id}: refused and there`)
    if (isThere && !(row.player === seat.playerId && isAsCommanded(command, row))) report(`${id}: not as intended`)
    const answers = outcomes.flatMap((answer) => answer._tag === "Settled" ? [answer.answer] : [])
    if (answers.filter(({ status }) => status !== "replayed").length > 1) report(`${id}: done twice`)
    for (const answer of answers) auditAnswer(id, action, answer)
  }

  for (const { id, kind, real, status, target } of books.transactions) {
    if (kind === "tombstone") {
      if (!books.transactions.some((row) => row.kind === "rollback" && row.target === id)) {
        report(`${id}: a tombstone of nobody`)
      }
      continue
    }
    if (!intents.has(id)) report(`${id}: no client intended it`)
    if (kind !== "rollback" || status !== "processed") continue
    const taken = transactions.get(target ?? "")
    if (taken === undefined || taken.real + real !== 0) report(`${id}: took back something else than ${target}`)
  }
}

/** Outcomes of an intent that takes effect once: the same subject each time, new at most once. */
const auditDone = ({ outcomes, command }: Intent, subject: number | undefined, report: Report): void => {
  const answers = outcomes.flatMap((answer) => answer._tag === "Done" ? [answer] : [])
  if (answers.length > 0 && subject === undefined) return report(`${command.id}: acknowledged and lost`)
  if (outcomes.length > 0 && answers.length === 0 && subject !== undefined) report(`${command.id}: refused and there`)
  for (const answer of answers) if (answer.subject !== subject) report(`${command.id}: answered as another`)
  if (answers.filter(({ isNew }) => isNew).length > 1) report(`${command.id}: new twice`)
}

/** Checks payments, their transitions by staff, and the audit log of these. */
const auditPayments = (
  books: Books,
  intents: ReadonlyMap<string, Intent>,
  references: ReadonlySet<string>,
  report: Report
): void => {
  const payments = groupBy(books.payments, ({ reference }) => reference)
  const movesOf = groupBy([...intents.values()].filter(isKind("move")), ({ command }) => command.reference)
  const trails = groupBy(books.trails, ({ subject }) => subject)
  for (const intent of [...intents.values()].filter(isKind("deposit", "withdrawal"))) {
    const { seat, command: { amount, id, kind } } = intent
    const own = payments.get(id) ?? []
    if (own.length > 1) report(`${id}: there ${own.length} times`)
    auditDone(intent, own[0]?.id, report)
    for (const row of own) {
      if (row.player !== seat.playerId || row.amount !== amount || row.type !== kind) {
        report(`${id}: not as intended`)
      }
      const done = (movesOf.get(id) ?? []).filter(isSettled)
      for (const move of done) auditDone(move, row.id, report)
      const last = done.at(-1)
      const status = last === undefined ? (kind === "deposit" ? "paid" : "new") : moves[last.command.move].to
      if (row.status !== status) report(`${id}: is ${row.status}, and what was acknowledged last made it ${status}`)
      // a repetition of a move changes nothing, and leaves the line of a read
      const told = (trails.get(`payment:${row.id}`) ?? []).map(({ action }) => action)
        .filter((action) => action !== "payment.show").sort().join(", ")
      const expected = done.map(({ command }) => `payment.${command.move}`).sort().join(", ")
      if (told !== expected) report(`${id}: the audit log says ${told}, staff did ${expected}`)
    }
  }
  for (const { reference } of books.payments) {
    if (!intents.has(reference) && !references.has(reference)) report(`${reference}: no client intended it`)
  }
}

/** Checks registrations, limits in force, and exclusions with their ends. */
const auditSettings = (books: Books, intents: ReadonlyMap<string, Intent>, report: Report): void => {
  const byName = groupBy(books.players, ({ username }) => username)
  const byId = new Map(books.players.map((player) => [player.id, player]))
  const trails = groupBy(books.trails, ({ action, player }) => `${action} ${player}`)
  const all = [...intents.values()]
  for (const intent of all.filter(isKind("registration"))) {
    const { id } = intent.command
    const own = byName.get(id) ?? []
    if (own.length > 1) report(`${id}: there ${own.length} times`)
    auditDone(intent, own[0]?.id, report)
  }
  for (const intent of all.filter(isKind("exclusion")).filter(isSettled)) {
    const { seat: { playerId }, command: { id, until } } = intent
    auditDone(intent, playerId, report)
    if (byId.get(playerId)?.until?.toISOString() !== until) report(`${id}: acknowledged and lost`)
    const told = trails.get(`player.self_exclusion ${playerId}`)?.length ?? 0
    if (told !== 1) report(`${id}: ${told} times in the audit log`)
  }
  const limits = all.filter(isKind("limit")).filter(isSettled)
  for (const [playerId, own] of groupBy(limits, ({ seat }) => seat.playerId)) {
    // each was sent to be lower than the one before
    for (const [field, changes] of groupBy(own, ({ command }) => command.field)) {
      const value = Math.min(...changes.map(({ command }) => command.value))
      const now = byId.get(playerId)?.limits[field]
      if (now !== value) {
        report(`${changes.at(-1)?.command.id ?? field}: ${field} is ${now}, acknowledged was ${value}`)
      }
    }
    const told = (trails.get(`player.limits ${playerId}`) ?? []).map(({ after }) =>
      JSON.stringify(Object(after).limits)
    )
    const expected = own.map(({ command }) => JSON.stringify({ [command.field]: command.value }))
    const [one, other] = [told, expected].map((list) => list.toSorted().join(" "))
    if (one !== other) report(`player ${playerId}: the audit log has the limits ${one}, acknowledged were ${other}`)
  }
}

/** One event and one stored answer for each effect that has one, and none without. */
const auditTraces = (
  books: Books,
  intents: ReadonlyMap<string, Intent>,
  report: Report
): void => {
  const expected = new Map<string, number>()
  for (const { id, status, type } of books.payments) {
    expected.set(type === "deposit" ? `deposit.paid ${id}` : `withdrawal.requested ${id}`, 1)
    if (type === "withdrawal" && (status === "paid" || status === "rejected")) {
      expected.set(`withdrawal.${status} ${id}`, 1)
    }
  }
  for (const { id } of books.players) expected.set(`player.registered ${id}`, 1)
  const told = new Map(
    books.events.filter(({ name }) => /^(deposit|withdrawal|player)\./.test(name)).map((
      { count, name }
    ) => [name, count])
  )
  for (const { seat } of [...intents.values()].filter(isKind("exclusion")).filter(isSettled)) {
    expected.set(`player.self_excluded ${seat.playerId}`, 1)
  }
  for (const name of new Set([...expected.keys(), ...told.keys()])) {
    const [count, due] = [told.get(name) ?? 0, expected.get(name) ?? 0]
    if (count !== due) report(`event ${name}: ${count} times, due ${due} times`)
  }

  const replies = new Map(books.replies.map(({ count, name }) => [name, count]))
  for (const intent of intents.values()) {
    const { command } = intent
    if (!("isKeyed" in command) || !command.isKeyed) continue
    const [count, due] = [replies.get(`key-${command.id}`) ?? 0, isSettled(intent) ? 1 : 0]
    if (intent.outcomes.length > 0 && count !== due) report(`${command.id}: ${count} stored answers`)
  }
}

/** Compares everything; returns the violations as text. Requires that only the clients wrote to these players. */
export const audit = Effect.fnUntraced(function*(history: History, beginning: Beginning) {
  const guests = history.intents.filter(isKind("registration")).flatMap(({ outcomes }) =>
    outcomes.flatMap((answer) => answer._tag === "Done" ? [answer.subject] : [])
  )
  const whose: Whose = beginning.players !== undefined
    ? { _tag: "Only", players: [...beginning.players, ...guests] }
    : beginning.others !== undefined
    ? { _tag: "AllBut", players: beginning.others }
    : { _tag: "All" }
  const books = yield* readBooks(whose)
  const violations = new Set(history.violations)
  const report = (what: string): void => void violations.add(what)
  const intents = new Map(history.intents.map((intent) => [intent.command.id, intent]))
  const actionOf = (id: string): string => intents.get(id)?.action ?? id

  auditLedger(books, actionOf, report)
  auditSettlements(books, intents, actionOf, report)
  auditPayments(books, intents, beginning.references, report)
  auditSettings(books, intents, report)
  auditTraces(books, intents, report)
  return {
    violations: [...violations],
    balances: new Map(books.accounts.map(({ player, real }) => [player, real])),
    entries: books.entries.length,
    transactions: books.transactions.length,
    payments: books.payments.length
  }
})
