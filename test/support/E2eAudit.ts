/**
 * The books compared: what the journalists wrote down, what the database holds, and whether the database agrees with itself.
 * Written from the contract; it knows nothing of how the service does it.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Notebook, Wanted } from "./E2eJournalist.ts"
import type { Settled } from "./E2eWorld.ts"

const Account = Schema.Struct({
  player: Schema.Number,
  real: Schema.Number,
  bonus: Schema.Number,
  entrySeq: Schema.Number,
  walletSeq: Schema.Number
})

const Entry = Schema.Struct({
  player: Schema.Number,
  seq: Schema.Number,
  id: Schema.Number,
  wallet: Schema.String,
  type: Schema.String,
  amount: Schema.Number,
  balanceAfter: Schema.Number,
  payment: Schema.NullOr(Schema.Number)
})

const Transaction = Schema.Struct({
  id: Schema.String,
  player: Schema.Number,
  kind: Schema.String,
  status: Schema.String,
  amount: Schema.Number,
  target: Schema.NullOr(Schema.String),
  real: Schema.Number,
  bonus: Schema.Number,
  entries: Schema.Array(Schema.Number)
})

const Payment = Schema.Struct({
  id: Schema.Number,
  player: Schema.Number,
  type: Schema.String,
  status: Schema.String,
  amount: Schema.Number,
  reference: Schema.String,
  events: Schema.Number,
  replies: Schema.Number
})

const rows = <S extends Schema.ConstraintDecoder<unknown>>(Row: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(Row))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) => Effect.flatMap(statement, decode)
}

const readBooks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return {
    accounts: yield* rows(Account)(
      sql`SELECT player_id::float8 AS player, real_balance::float8 AS real, bonus_balance::float8 AS bonus,
        entry_seq::float8 AS "entrySeq", wallet_seq::float8 AS "walletSeq" FROM accounts`
    ),
    entries: yield* rows(Entry)(
      sql`SELECT player_id::float8 AS player, seq::float8 AS seq, id::float8 AS id, wallet, type, amount::float8 AS amount,
        balance_after::float8 AS "balanceAfter", payment_request_id::float8 AS payment
        FROM ledger_entries ORDER BY player_id, seq`
    ),
    transactions: yield* rows(Transaction)(
      sql`SELECT transaction_id AS id, player_id::float8 AS player, kind, status, amount::float8 AS amount,
        target_transaction_id AS target, real_amount::float8 AS real, bonus_amount::float8 AS bonus,
        entry_ids::float8[] AS entries FROM provider_transactions`
    ),
    payments: yield* rows(Payment)(
      sql`SELECT p.id::float8 AS id, p.player_id::float8 AS player, p.type, p.status, p.amount::float8 AS amount,
        p.external_reference AS reference,
        (SELECT count(*)::float8 FROM events e WHERE e.type = 'deposit.paid' AND (e.data->'payment'->>'id')::bigint = p.id) AS events,
        (SELECT count(*)::float8 FROM idempotency_keys k WHERE k.key = 'key-' || p.external_reference) AS replies
        FROM payment_requests p`
    )
  }
})

type Books = Effect.Success<typeof readBooks>
type TransactionRow = Books["transactions"][number]
type EntryRow = Books["entries"][number]

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const groupBy = <A, K>(items: ReadonlyArray<A>, keyOf: (item: A) => K): Map<K, Array<A>> => Map.groupBy(items, keyOf)

/** The first rows of players, before any journalist came. */
export interface Beginning {
  /** References of deposits that are in nobody's notes. */
  readonly references: ReadonlySet<string>
  /** Players whose books are not compared: somebody else plays them. */
  readonly others?: ReadonlySet<number>
}

type Complain = (what: string) => void

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
    const moved = sum(payments.map(({ amount }) => amount)) + sum(transactions.map(({ real }) => real))
    if (account.real !== moved) complain(`player ${player}: balance ${account.real}, deposits - stakes + wins ${moved}`)

    // each entry stands for exactly one transaction or one deposit
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
    for (const { amount, id, reference } of payments) {
      const own = entries.filter(({ payment }) => payment === id)
      if (own.length !== 1) complain(`deposit ${reference}: ${own.length} entries`)
      claim(`deposit ${reference}`, own[0], `deposit ${reference}`)
      if (own[0]?.amount !== amount) complain(`deposit ${reference}: its entry has another amount`)
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

const sameList = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): boolean => one.join() === other.join()

/**
 * Compares everything; gives what is wrong, in words. Nobody but the journalists wrote to these players, so each answer must also
 * name the very place that its action took among the player's own, and the balance that it left.
 */
export const audit = Effect.fnUntraced(function*(notebook: Notebook, beginning: Beginning) {
  const { others = new Set() } = beginning
  const everything = yield* readBooks
  const mine = <Row extends { readonly player: number }>(rows: ReadonlyArray<Row>) =>
    rows.filter(({ player }) => !others.has(player))
  const books: Books = {
    accounts: mine(everything.accounts),
    entries: mine(everything.entries),
    transactions: mine(everything.transactions),
    payments: mine(everything.payments)
  }
  const complaints: Array<string> = []
  const complain = (what: string): void => void complaints.push(what)
  const notes = new Map(notebook.notes.map((note) => [note.wanted.id, note]))
  const transactions = new Map(books.transactions.map((row) => [row.id, row]))
  const payments = groupBy(books.payments, ({ reference }) => reference)
  const actionOf = (id: string): string => notes.get(id)?.action ?? id

  const byAction = groupBy(books.transactions.filter(({ kind }) => kind !== "tombstone"), ({ id }) => actionOf(id))

  auditLedger(books, actionOf, complain)

  // where each action stands among its player's, and the balance it left
  const entryById = new Map(books.entries.map((entry) => [entry.id, entry]))
  const places = new Map<string, { readonly place: number; readonly balance: number }>()
  const actionById = new Map(
    books.transactions.flatMap(({ entries, id }) => entries.map((entryId): [number, string] => [entryId, actionOf(id)]))
  )
  for (const entries of groupBy(books.entries, ({ player }) => player).values()) {
    let place = 0
    let previous: string | undefined
    for (const entry of entries) {
      const action = actionById.get(entry.id) ?? `deposit ${entry.id}`
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

  for (const { action, heard, seat, wanted } of notes.values()) {
    const { id } = wanted
    const isSettled = heard.some(({ _tag }) => _tag !== "Refused")
    if (wanted.kind === "deposit") {
      const own = payments.get(id) ?? []
      if (own.length > 1) complain(`deposit ${id}: there ${own.length} times`)
      if (isSettled && own.length === 0) complain(`deposit ${id}: acknowledged and lost`)
      for (const row of own) {
        const isIt = row.player === seat.playerId && row.amount === wanted.amount && row.type === "deposit" &&
          row.status === "paid"
        if (!isIt) complain(`deposit ${id}: not what was wanted`)
        if (row.events !== 1) complain(`deposit ${id}: ${row.events} events`)
        if (row.replies !== (wanted.key === undefined ? 0 : 1)) complain(`deposit ${id}: ${row.replies} stored answers`)
        for (const answer of heard) {
          if (answer._tag === "Paid" && answer.paymentId !== row.id) complain(`deposit ${id}: answered as another`)
        }
      }
      if (heard.filter((answer) => answer._tag === "Paid" && answer.isNew).length > 1) {
        complain(`deposit ${id}: new twice`)
      }
      continue
    }
    const row = transactions.get(id)
    const isThere = row !== undefined && row.kind !== "tombstone"
    if (isSettled && !isThere) complain(`${id}: acknowledged and lost`)
    if (heard.length > 0 && !isSettled && isThere) complain(`${id}: refused and there`)
    if (isThere && !(row.player === seat.playerId && isWanted(wanted, row))) complain(`${id}: not what was wanted`)
    const answers = heard.flatMap((answer) => answer._tag === "Settled" ? [answer.answer] : [])
    if (answers.filter(({ status }) => status !== "replayed").length > 1) complain(`${id}: done twice`)
    for (const answer of answers) auditAnswer(id, action, answer)
  }

  for (const { id, kind, status, target, real } of books.transactions) {
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
  for (const { reference } of books.payments) {
    if (!notes.has(reference) && !beginning.references.has(reference)) {
      complain(`deposit ${reference}: nobody wanted it`)
    }
  }
  return {
    complaints: [...new Set([...notebook.surprises, ...complaints])],
    balances: new Map(books.accounts.map(({ player, real }) => [player, real])),
    entries: books.entries.length,
    transactions: books.transactions.length,
    deposits: books.payments.length
  }
})
