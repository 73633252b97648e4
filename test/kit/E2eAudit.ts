/**
 * The books compared: what the journalists wrote down, what the database holds, and whether the database agrees with itself.
 * Written from the contract; it knows nothing of how the service does it.
 */
import { Effect } from "effect"
import { amountsOf, type Books, readBooks, type Whose } from "./E2eBooks.ts"
import type { Note, Notebook, Wanted, WantedOf } from "./E2eJournal.ts"
import type { Settled } from "./E2eWorld.ts"

type TransactionRow = Books["transactions"][number]
type EntryRow = Books["entries"][number]
type Complain = (what: string) => void

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const sameList = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean => one.join() === other.join()

const groupBy = <A, K>(items: ReadonlyArray<A>, keyOf: (item: A) => K): Map<K, Array<A>> => Map.groupBy(items, keyOf)

/** What was there before any journalist came. */
export interface Beginning {
  /** References of deposits that are in nobody's notes. */
  readonly references: ReadonlySet<string>
  /** Players whose books are not compared: somebody else plays them. */
  readonly others?: ReadonlySet<number>
  /** The only players whose books are compared, with those who register; without them, all. */
  readonly players?: ReadonlyArray<number>
}

/** Whether the database agrees with itself: the chain, the sums, and every entry with what it stands for. */
const auditLedger = (books: Books, actionOf: (transactionId: string) => string, complain: Complain): void => {
  const entriesOf = groupBy(books.entries, ({ player }) => player)
  const transactionsOf = groupBy(books.transactions, ({ player }) => player)
  const paymentsOf = groupBy(books.payments, ({ player }) => player)
  for (const account of books.accounts) {
    const { player } = account
    const entries = entriesOf.get(player) ?? []
    const transactions = transactionsOf.get(player) ?? []
    const payments = paymentsOf.get(player) ?? []
    const balances: Record<string, number> = { real: 0, bonus: 0 }
    for (const [index, { amount, balanceAfter, seq, wallet }] of entries.entries()) {
      if (seq !== index + 1) complain(`player ${player}: entry ${index + 1} has the number ${seq}`)
      const balance = (balances[wallet] ?? 0) + amount
      if (balanceAfter !== balance) complain(`player ${player}: the chain breaks at entry ${seq} of ${wallet}`)
      balances[wallet] = balance
    }
    if (account.entrySeq !== entries.length) {
      complain(`player ${player}: ${entries.length} entries, counted ${account.entrySeq}`)
    }
    if (account.real !== balances["real"]) {
      complain(`player ${player}: balance ${account.real}, ledger ${balances["real"]}`)
    }
    if (account.bonus !== balances["bonus"]) {
      complain(`player ${player}: bonus ${account.bonus}, ledger ${balances["bonus"]}`)
    }
    const moved = sum(payments.flatMap(amountsOf)) + sum(transactions.map(({ real }) => real))
    if (account.real !== moved) complain(`player ${player}: balance ${account.real}, payments - stakes + wins ${moved}`)

    // each entry stands for exactly one transaction or one side of one payment
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    const actions = new Map<string, Array<EntryRow>>()
    const claim = (action: string, entry: EntryRow | undefined, what: string): void => {
      if (entry === undefined || !byId.delete(entry.id)) {
        return complain(`${what}: an entry is missing or counted twice`)
      }
      actions.set(action, [...actions.get(action) ?? [], entry])
    }
    for (const { bonus, entries: ids, id, real } of transactions) {
      const own = ids.map((entryId) => byId.get(entryId))
      for (const entry of own) claim(actionOf(id), entry, `transaction ${id}`)
      if (sum(own.map((entry) => entry?.amount ?? 0)) !== real + bonus) {
        complain(`transaction ${id}: its entries sum up to another amount`)
      }
    }
    for (const payment of payments) {
      const { id, reference, type } = payment
      const own = entries.filter((entry) => entry.payment === id)
      for (const entry of own) claim(`entry ${entry.id}`, entry, `${type} ${reference}`)
      if (!sameList(own.map(({ amount }) => amount), amountsOf(payment))) {
        complain(`${type} ${reference}: entries of ${own.map(({ amount }) => amount).join(", ")}`)
      }
    }
    for (const { id, seq } of byId.values()) complain(`player ${player}: entry ${seq} (${id}) stands for nothing`)
    if (account.walletSeq !== actions.size) {
      complain(`player ${player}: ${actions.size} actions, wallet_seq ${account.walletSeq}`)
    }
  }
}

/** Whether a transaction is the one that was wanted. */
const isWanted = (wanted: Wanted, row: TransactionRow): boolean => {
  if (wanted.kind !== row.kind) return false
  switch (wanted.kind) {
    case "bet":
      return row.amount === wanted.amount && row.real === 0 - wanted.amount
    case "win":
      return row.amount === wanted.amount && row.real === wanted.amount && row.target === wanted.betId
    case "promo_win":
      return row.amount === wanted.amount && row.real === wanted.amount
    case "rollback":
      return row.target === wanted.targetId
    default:
      return false
  }
}

/** A note with what it wants narrowed down. */
interface NoteOf<Kind extends Wanted["kind"]> extends Note {
  readonly wanted: WantedOf<Kind>
}

const isKind = <Kind extends Wanted["kind"]>(...kinds: ReadonlyArray<Kind>) => (note: Note): note is NoteOf<Kind> =>
  kinds.some((kind) => kind === note.wanted.kind)

const isSettled = ({ heard }: Note): boolean => heard.some(({ _tag }) => _tag !== "Refused")

/** Each message that was answered names the place that its action took among its player's, and the balance that it left. */
const auditSettlements = (
  books: Books,
  notes: ReadonlyMap<string, Note>,
  actionOf: (id: string) => string,
  complain: Complain
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

  const auditAnswer = (id: string, action: string, answer: Settled): void => {
    const own = byAction.get(action) ?? []
    const ids = own.flatMap(({ entries }) => entries).sort((one, other) =>
      (entryById.get(one)?.seq ?? 0) - (entryById.get(other)?.seq ?? 0)
    )
    if (!sameList(answer.wallet_transaction_ids, ids)) complain(`${id}: answered with other entries than it has`)
    if (answer.real_amount !== sum(own.map(({ real }) => real))) complain(`${id}: answered with another amount`)
    const place = places.get(action)
    if (answer.status !== "processed" || place === undefined) return
    if (answer.wallet_seq !== place.place) {
      complain(`${id}: answered wallet_seq ${answer.wallet_seq}, stands at ${place.place}`)
    }
    if (answer.balance !== place.balance) complain(`${id}: answered balance ${answer.balance}, left ${place.balance}`)
  }

  for (const note of [...notes.values()].filter(isKind("bet", "win", "rollback", "promo_win"))) {
    const { action, heard, seat, wanted } = note
    const { id } = wanted
    const row = transactions.get(id)
    const isThere = row !== undefined && row.kind !== "tombstone"
    if (isSettled(note) && !isThere) complain(`${id}: acknowledged and lost`)
    if (heard.length > 0 && !isSettled(note) && isThere) complain(`${id}: refused and there`)
    if (isThere && !(row.player === seat.playerId && isWanted(wanted, row))) complain(`${id}: not what was wanted`)
    const answers = heard.flatMap((answer) => answer._tag === "Settled" ? [answer.answer] : [])
    if (answers.filter(({ status }) => status !== "replayed").length > 1) complain(`${id}: done twice`)
    for (const answer of answers) auditAnswer(id, action, answer)
  }

  for (const { id, kind, real, status, target } of books.transactions) {
    if (kind === "tombstone") {
      if (!books.transactions.some((row) => row.kind === "rollback" && row.target === id)) {
        complain(`${id}: a tombstone of nobody`)
      }
      continue
    }
    if (!notes.has(id)) complain(`${id}: nobody wanted it`)
    if (kind !== "rollback" || status !== "processed") continue
    const taken = transactions.get(target ?? "")
    if (taken === undefined || taken.real + real !== 0) complain(`${id}: took back something else than ${target}`)
  }
}

/** What was heard of something that happens once: which subject it named, and that it was new at most once. */
const auditDone = ({ heard, wanted }: Note, subject: number | undefined, complain: Complain): void => {
  const answers = heard.flatMap((answer) => answer._tag === "Done" ? [answer] : [])
  if (answers.length > 0 && subject === undefined) return complain(`${wanted.id}: acknowledged and lost`)
  if (heard.length > 0 && answers.length === 0 && subject !== undefined) complain(`${wanted.id}: refused and there`)
  for (const answer of answers) if (answer.subject !== subject) complain(`${wanted.id}: answered as another`)
  if (answers.filter(({ isNew }) => isNew).length > 1) complain(`${wanted.id}: new twice`)
}

const ledTo = { approve: "allowed", pay: "paid", reject: "rejected", cancel: "cancelled" } as const

/** Payments, what staff made of them, and the audit log's word on it. */
const auditPayments = (
  books: Books,
  notes: ReadonlyMap<string, Note>,
  references: ReadonlySet<string>,
  complain: Complain
): void => {
  const payments = groupBy(books.payments, ({ reference }) => reference)
  const moves = groupBy([...notes.values()].filter(isKind("move")), ({ wanted }) => wanted.reference)
  const trails = groupBy(books.trails, ({ subject }) => subject)
  for (const note of [...notes.values()].filter(isKind("deposit", "withdrawal"))) {
    const { seat, wanted: { amount, id, kind } } = note
    const own = payments.get(id) ?? []
    if (own.length > 1) complain(`${id}: there ${own.length} times`)
    auditDone(note, own[0]?.id, complain)
    for (const row of own) {
      if (row.player !== seat.playerId || row.amount !== amount || row.type !== kind) {
        complain(`${id}: not what was wanted`)
      }
      const done = (moves.get(id) ?? []).filter(isSettled)
      for (const move of done) auditDone(move, row.id, complain)
      const last = done.at(-1)
      const status = last === undefined ? (kind === "deposit" ? "paid" : "new") : ledTo[last.wanted.move]
      if (row.status !== status) complain(`${id}: is ${row.status}, and what was acknowledged last made it ${status}`)
      const told = (trails.get(`payment:${row.id}`) ?? []).map(({ action }) => action).sort().join(", ")
      const expected = done.map(({ wanted }) => `payment.${wanted.move}`).sort().join(", ")
      if (told !== expected) complain(`${id}: the audit log says ${told}, staff did ${expected}`)
    }
  }
  for (const { reference } of books.payments) {
    if (!notes.has(reference) && !references.has(reference)) complain(`${reference}: nobody wanted it`)
  }
}

/** Who registered, which limits are in force, and who is excluded until when. */
const auditSettings = (books: Books, notes: ReadonlyMap<string, Note>, complain: Complain): void => {
  const byName = groupBy(books.players, ({ username }) => username)
  const byId = new Map(books.players.map((player) => [player.id, player]))
  const trails = groupBy(books.trails, ({ action, player }) => `${action} ${player}`)
  const all = [...notes.values()]
  for (const note of all.filter(isKind("registration"))) {
    const { id } = note.wanted
    const own = byName.get(id) ?? []
    if (own.length > 1) complain(`${id}: there ${own.length} times`)
    auditDone(note, own[0]?.id, complain)
  }
  for (const note of all.filter(isKind("exclusion")).filter(isSettled)) {
    const { seat: { playerId }, wanted: { id, until } } = note
    auditDone(note, playerId, complain)
    if (byId.get(playerId)?.until?.toISOString() !== until) complain(`${id}: acknowledged and lost`)
    const told = trails.get(`player.self_exclusion ${playerId}`)?.length ?? 0
    if (told !== 1) complain(`${id}: ${told} times in the audit log`)
  }
  const limits = all.filter(isKind("limit")).filter(isSettled)
  for (const [playerId, own] of groupBy(limits, ({ seat }) => seat.playerId)) {
    // each was sent to be lower than the one before
    for (const [field, changes] of groupBy(own, ({ wanted }) => wanted.field)) {
      const value = Math.min(...changes.map(({ wanted }) => wanted.value))
      const now = byId.get(playerId)?.limits[field]
      if (now !== value) {
        complain(`${changes.at(-1)?.wanted.id ?? field}: ${field} is ${now}, acknowledged was ${value}`)
      }
    }
    const told = (trails.get(`player.limits ${playerId}`) ?? []).map(({ after }) =>
      JSON.stringify(Object(after).limits)
    )
    const expected = own.map(({ wanted }) => JSON.stringify({ [wanted.field]: wanted.value }))
    const [one, other] = [told, expected].map((list) => list.toSorted().join(" "))
    if (one !== other) complain(`player ${playerId}: the audit log has the limits ${one}, acknowledged were ${other}`)
  }
}

/** One event and one stored answer for each effect that has one, and none without. */
const auditTraces = (books: Books, notes: ReadonlyMap<string, Note>, complain: Complain): void => {
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
  for (const name of new Set([...expected.keys(), ...told.keys()])) {
    const [count, due] = [told.get(name) ?? 0, expected.get(name) ?? 0]
    if (count !== due) complain(`event ${name}: ${count} times, due ${due} times`)
  }

  const replies = new Map(books.replies.map(({ count, name }) => [name, count]))
  for (const note of notes.values()) {
    const { wanted } = note
    if (!("isKeyed" in wanted) || !wanted.isKeyed) continue
    const [count, due] = [replies.get(`key-${wanted.id}`) ?? 0, isSettled(note) ? 1 : 0]
    if (note.heard.length > 0 && count !== due) complain(`${wanted.id}: ${count} stored answers`)
  }
}

/** Compares everything; gives what is wrong, in words. Nobody but the journalists wrote to these players. */
export const audit = Effect.fnUntraced(function*(notebook: Notebook, beginning: Beginning) {
  const guests = notebook.notes.filter(isKind("registration")).flatMap(({ heard }) =>
    heard.flatMap((answer) => answer._tag === "Done" ? [answer.subject] : [])
  )
  const whose: Whose = beginning.players !== undefined
    ? { _tag: "Only", players: [...beginning.players, ...guests] }
    : beginning.others !== undefined
    ? { _tag: "AllBut", players: beginning.others }
    : { _tag: "All" }
  const books = yield* readBooks(whose)
  const complaints = new Set(notebook.surprises)
  const complain = (what: string): void => void complaints.add(what)
  const notes = new Map(notebook.notes.map((note) => [note.wanted.id, note]))
  const actionOf = (id: string): string => notes.get(id)?.action ?? id

  auditLedger(books, actionOf, complain)
  auditSettlements(books, notes, actionOf, complain)
  auditPayments(books, notes, beginning.references, complain)
  auditSettings(books, notes, complain)
  auditTraces(books, notes, complain)
  return {
    complaints: [...complaints],
    balances: new Map(books.accounts.map(({ player, real }) => [player, real])),
    entries: books.entries.length,
    transactions: books.transactions.length,
    payments: books.payments.length
  }
})
