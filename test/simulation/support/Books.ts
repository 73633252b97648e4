/** Commits of a run in the order and by the keys that the invariants need. */
import type { Change, Entry, Payment } from "../../../src/domain/state/Change.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import type { Transaction } from "../../../src/domain/state/Rounds.ts"
import type { Clients } from "./Clients.ts"
import type { Cluster } from "./Cluster.ts"
import type { Committed, Database } from "./Database.ts"
import type { Network } from "./Network.ts"
import type { Plan } from "./Plan.ts"

/** A violated invariant, and where. */
export interface Violation {
  readonly law: string
  readonly text: string
}

/** Final state of a run. */
export interface Remains {
  readonly plan: Plan
  readonly beginning: ReadonlyArray<Player>
  readonly database: Database
  readonly cluster: Cluster
  readonly network: Network
  readonly clients: Clients
  /** False when the world never became idle. */
  readonly hasEnded: boolean
}

/** Balances of a player from a step on. */
export interface Balances {
  readonly step: number
  /** The machine that committed it. */
  readonly by: string
  readonly real: number
  readonly bonus: number
}

/** A row and the step of its commit. */
interface Dated<out A> {
  readonly row: A
  readonly step: number
  /** Balances after the change that wrote it. */
  readonly after: Balances
}

export interface Books {
  readonly history: ReadonlyMap<number, ReadonlyArray<Committed>>
  readonly entries: ReadonlyArray<Entry>
  /** By provider and id. */
  readonly transactions: ReadonlyMap<string, Dated<Transaction>>
  readonly payments: ReadonlyMap<number, Payment>
  /** Step at which each payment was created. */
  readonly paymentSteps: ReadonlyMap<number, number>
  /** Ids of bonuses by the note of their grant. */
  readonly grants: ReadonlyMap<string, ReadonlyArray<number>>
  /** Every committed balance in order, including those in the middle of a commit. */
  readonly balances: ReadonlyMap<number, ReadonlyArray<Balances>>
}

export const transactionKey = (providerId: number, transactionId: string): string => `${providerId} ${transactionId}`

const push = <Key, A>(map: Map<Key, Array<A>>, key: Key, item: A): void => {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

/** Indexes the final state of a run. */
export const readBooks = ({ beginning, database }: Remains): Books => {
  const { entries, payments } = database.memory.tables()
  const history = new Map<number, Array<Committed>>(beginning.map(({ id }) => [id, []]))
  const balances = new Map<number, Array<Balances>>(
    beginning.map(({ bonus, id, real }) => [id, [{ step: -1, by: "", real, bonus }]])
  )
  const transactions = new Map<string, Dated<Transaction>>()
  const paymentSteps = new Map<number, number>()
  const grants = new Map<string, Array<number>>()
  const readChange = ({ by, step }: Committed, change: Change, own: Array<Balances>): void => {
    let { bonus, real } = own.at(-1) ?? { real: 0, bonus: 0 }
    for (const { balanceAfter, wallet } of change.entries) {
      if (wallet === "real") real = balanceAfter
      else bonus = balanceAfter
    }
    const after = { step, by, real, bonus }
    own.push(after)
    for (const row of change.transactions) {
      transactions.set(transactionKey(row.providerId, row.transactionId), { row, step, after })
    }
    for (const { isNew, payment } of change.payments) if (isNew) paymentSteps.set(payment.id, step)
    for (const { bonus: granted, isNew, note } of change.bonuses) if (isNew) push(grants, note ?? "", granted.id)
  }
  for (const committed of database.history) {
    push(history, committed.playerId, committed)
    const own = balances.get(committed.playerId) ?? []
    for (const change of committed.changes) readChange(committed, change, own)
  }
  return {
    history,
    entries,
    transactions,
    payments: new Map(payments.map((payment) => [payment.id, payment])),
    paymentSteps,
    grants,
    balances
  }
}
