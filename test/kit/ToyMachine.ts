/**
 * Example domain for tests of the engine, unrelated to gambling: a non-negative total per key, changed by
 * postings, each with a receipt whose name is unique across all keys.
 */
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Actors from "../../src/engine/Actors.ts"
import { type CommitFailure, Rejected, type StoreUnavailable } from "../../src/engine/Failures.ts"
import type { Loaded, Step, Store, Unit, Verdict } from "../../src/engine/Machine.ts"

export interface Account {
  readonly total: number
  /** The receipts in the order they were posted. */
  readonly receipts: ReadonlyArray<string>
}

export interface Posting {
  readonly id: number
  readonly receipt: string
  readonly amount: number
}

export interface Query {
  readonly receipts: ReadonlyArray<string>
}

/** Null where there is no such receipt. */
export type Known = ReadonlyMap<string, Posting | null>

export interface Posted {
  readonly id: number
  readonly total: number
  readonly isRepeat: boolean
}

export type AccountUnit = Unit<Account, Posting>
export type AccountStep<Reply = Posted, Error = "TooLow"> = Step<Account, Reply, Error, Posting, Query, Known>

/** Posts, assuming that the receipt is new; one that the store knows is answered again. */
export const post = (receipt: string, amount: number): AccountStep => (account, { firstId, known }) => {
  const earlier = known?.get(receipt)
  if (earlier !== undefined && earlier !== null) {
    const reply = { id: earlier.id, total: account.total, isRepeat: true }
    return { _tag: "Accept", state: account, reply, change: null, idsUsed: 0 }
  }
  const total = account.total + amount
  if (total < 0) return { _tag: "Refuse", error: "TooLow" }
  return {
    _tag: "Accept",
    state: { total, receipts: [...account.receipts, receipt] },
    reply: { id: firstId, total, isRepeat: false },
    change: { id: firstId, receipt, amount },
    idsUsed: 1
  }
}

/** As `post`, but asks the store about the receipt first. */
export const postKnowing = (receipt: string, amount: number): AccountStep => (account, circumstances) =>
  circumstances.known?.has(receipt) === true
    ? post(receipt, amount)(account, circumstances)
    : { _tag: "Missing", query: { receipts: [receipt] } }

/** Replacement behaviour of a commit; `apply` is the commit. */
export type Behaviour = (apply: Effect.Effect<void, Rejected>) => Effect.Effect<void, CommitFailure>

export interface AccountStore extends Store<Account, Posting, Query, Known> {
  readonly accounts: Map<number, Loaded<Account>>
  readonly postings: Map<string, Posting & { readonly key: number }>
  /** Behaviours of the next commits, in order; when empty, commits are applied. */
  readonly behaviours: Array<Behaviour>
  /** Attempted commits, failed ones included. */
  readonly commits: Array<ReadonlyArray<AccountUnit>>
  readonly loads: Array<{ readonly key: number; readonly fence: boolean }>
  readonly lookUps: Array<Query>
  readonly examinations: Array<ReadonlyArray<number>>
  /** Keys whose row is locked by another transaction. */
  readonly held: Set<number>
  /** Receipts that the store refuses for good, without saying why. */
  readonly impossible: Set<string>
  /** While set, loading and looking fail with it. */
  outage: StoreUnavailable | undefined
  /** Posts as another process would, behind the back of the actor. */
  readonly postElsewhere: (key: number, receipt: string, amount: number) => void
}

/** A store that holds these totals. */
export const makeStore = (totals: { readonly [key: number]: number }): AccountStore => {
  const accounts = new Map<number, Loaded<Account>>(
    Object.entries(totals).map(([key, total]) => [Number(key), { state: { total, receipts: [] }, version: 0 }])
  )
  const postings = new Map<string, Posting & { readonly key: number }>()

  const apply = (units: ReadonlyArray<AccountUnit>) =>
    Effect.suspend((): Effect.Effect<void, Rejected> => {
      if (units.some(({ key }) => store.held.has(key))) return Effect.fail(new Rejected({ because: "busy" }))
      if (units.some(({ key, version }) => accounts.get(key)?.version !== version)) {
        return Effect.fail(new Rejected({ because: "fenced" }))
      }
      const receipts = units.flatMap(({ changes }) => changes.map(({ receipt }) => receipt))
      if (receipts.some((receipt) => store.impossible.has(receipt))) {
        return Effect.fail(new Rejected({ because: "clash", reason: "out of range" }))
      }
      if (receipts.some((receipt, index) => postings.has(receipt) || receipts.indexOf(receipt) !== index)) {
        return Effect.fail(new Rejected({ because: "clash" }))
      }
      for (const { after, changes, key, version } of units) {
        accounts.set(key, { state: after, version: version + 1 })
        for (const change of changes) postings.set(change.receipt, { ...change, key })
      }
      return Effect.void
    })

  const unlessOut = <A>(run: () => A): Effect.Effect<A, StoreUnavailable> =>
    Effect.suspend(() => store.outage === undefined ? Effect.sync(run) : Effect.fail(store.outage))

  const store: AccountStore = {
    accounts,
    postings,
    behaviours: [],
    commits: [],
    loads: [],
    lookUps: [],
    examinations: [],
    held: new Set(),
    impossible: new Set(),
    outage: undefined,
    postElsewhere: (key, receipt, amount) => {
      const { state, version } = accounts.get(key) ?? { state: { total: 0, receipts: [] }, version: 0 }
      const total = state.total + amount
      accounts.set(key, { state: { total, receipts: [...state.receipts, receipt] }, version: version + 1 })
      postings.set(receipt, { id: -1, receipt, amount, key })
    },
    load: (key, fence) =>
      unlessOut(() => {
        store.loads.push({ key, fence })
        const stored = accounts.get(key)
        if (stored === undefined || !fence) return stored
        const fenced = { ...stored, version: stored.version + 1 }
        accounts.set(key, fenced)
        return fenced
      }),
    lookUp: (_, query, known) =>
      unlessOut(() => {
        store.lookUps.push(query)
        return new Map([
          ...known ?? [],
          ...query.receipts.map((receipt): [string, Posting | null] => [receipt, postings.get(receipt) ?? null])
        ])
      }),
    commit: (units) =>
      Effect.suspend(() => {
        store.commits.push(units)
        const behaviour = store.behaviours.shift()
        return behaviour === undefined ? apply(units) : behaviour(apply(units))
      }),
    examine: (units, because) =>
      unlessOut(() => {
        store.examinations.push(units.map(({ key }) => key))
        const claimed = new Set<string>()
        return units.map(({ changes, key, version }): Verdict<Known> => {
          if (because === "busy") return { _tag: store.held.has(key) ? "Busy" : "Valid" }
          if (because === "fenced") return { _tag: accounts.get(key)?.version === version ? "Valid" : "Fenced" }
          const receipts = changes.map(({ receipt }) => receipt)
          if (new Set(receipts).size < receipts.length || receipts.some((receipt) => postings.has(receipt))) {
            const known = receipts.map((receipt) => new Map([[receipt, postings.get(receipt) ?? null]]))
            return { _tag: "Clash", known }
          }
          const isLater = receipts.some((receipt) => claimed.has(receipt))
          for (const receipt of receipts) claimed.add(receipt)
          return { _tag: isLater ? "Later" : "Valid" }
        })
      }),
    claims: (_, change) => ({ receipts: [change.receipt] }),
    isLikelyTaken: () => false
  }
  return store
}

/** A commit that waits: `arrived` says that it began, `open` lets it go on to do as `then` says. */
export const makeGate = (then: Behaviour = (apply) => apply) => {
  const arrived = Deferred.makeUnsafe<void>()
  const opened = Deferred.makeUnsafe<void>()
  return {
    behaviour: ((apply) =>
      Effect.andThen(
        Deferred.succeed(arrived, undefined),
        Effect.andThen(Deferred.await(opened), then(apply))
      )) satisfies Behaviour,
    arrived: Deferred.await(arrived),
    open: Effect.asVoid(Deferred.succeed(opened, undefined))
  }
}

/** Bounds wide enough not to matter, unless a test says otherwise. */
export const bounds = {
  maxResident: 1000,
  maxMailbox: 1000,
  maxWaiting: 1000,
  maxGroup: 100,
  maxCommit: 1000,
  idleMinutes: 30,
  keyName: "account_id",
  weigh: ({ changes }: { readonly changes: ReadonlyArray<Posting> }): number => changes.length,
  compact: (account: Account): Account => account,
  timeOf: (_: Account, now: number): number => now,
  writtenAt: (): number => 0
}

export const makeActors = (
  store: AccountStore,
  options: Partial<Actors.ActorsOptions<Account, Posting, Query, Known>> = {}
) => Actors.make({ ...bounds, ...options, store })

/** Actors whose first commit waits at a gate. */
export const makeHeldActors = (
  balances: Parameters<typeof makeStore>[0],
  options?: Parameters<typeof makeActors>[1]
) => {
  const store = makeStore(balances)
  const gate = makeGate()
  store.behaviours.push(gate.behaviour)
  return Effect.map(makeActors(store, options), (actors) => ({ actors, gate, store }))
}

/** Asks from a fiber of its own; when this returns, the command is in its mailbox. */
export const start = <A, E, R>(asking: Effect.Effect<A, E, R>) => Effect.forkChild(asking, { startImmediately: true })

/** Lets everything run that can run without something else happening first. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** The fiber has not been answered. */
export const isWaiting = <A, E>(fiber: Fiber.Fiber<A, E>): boolean => fiber.pollUnsafe() === undefined

/** The tag of the failure that a fiber ends with, or "" when it succeeds. */
export const failureOf = <A, E extends { readonly _tag: string } | string>(fiber: Fiber.Fiber<A, E>) =>
  Effect.map(Fiber.await(fiber), (exit) => {
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "None" ? "" : typeof failure.value === "string" ? failure.value : failure.value._tag
  })
