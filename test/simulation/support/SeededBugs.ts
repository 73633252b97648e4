/** Seeded bugs that the simulator must find. Each wraps the store, the actors or the port of a correct service. */
import { Effect, Layer } from "effect"
import type { PlayerBonus } from "../../../src/domain/state/Bonus.ts"
import type { BonusChange, Change, Entry } from "../../../src/domain/state/Change.ts"
import { effectiveLimits } from "../../../src/domain/state/Limits.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import { filterRecent } from "../../../src/domain/state/Recent.ts"
import type { Rules } from "../../../src/domain/jurisdiction/Rules.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { StoreUnavailable } from "../../../src/engine/Failures.ts"
import { noBug, type SeededBug } from "./SeededBug.ts"
import { isPassing } from "./Requests.ts"

/** A player and the change that a rule has decided. */
interface Decided {
  readonly state: Player
  readonly change: Change
}

/** Alters the changes decided by rules. */
const altering = (alter: (decided: Decided, before: Player) => Decided): SeededBug => ({
  ...noBug,
  actors: (actors) => ({
    ...actors,
    ask: (operatorId, playerId, step) =>
      actors.ask(operatorId, playerId, (player, context) => {
        const decision = step(player, context)
        if (decision._tag !== "Accept" || decision.change === null) return decision
        return { ...decision, ...alter({ state: decision.state, change: decision.change }, player) }
      })
  })
})

/** Answers before the commit is durable, and ignores its result. */
const acknowledgesBeforeCommit: SeededBug = {
  ...noBug,
  store: (store) => ({
    ...store,
    commit: (units) => Effect.asVoid(Effect.forkDetach(store.commit(units)))
  })
}

/** Answers a rollback without a target, and writes no tombstone. */
const forgetsTombstones: SeededBug = altering(({ change, state }) => ({
  state: { ...state, transactions: filterRecent(state.transactions, ({ kind }) => kind !== "tombstone") },
  change: { ...change, transactions: change.transactions.filter(({ kind }) => kind !== "tombstone") }
}))

/** Sends a deposit with unknown outcome again as a new one. */
const retriesAsNew: SeededBug = {
  ...noBug,
  port: (port) => ({
    handle: (request) =>
      Effect.flatMap(
        port.handle(request),
        (answer) =>
          request.kind === "deposit" && isPassing(answer) && answer._tag === "Refused" && answer.code === "TRY_AGAIN"
            ? port.handle({ ...request, key: null, reference: `${request.reference}-again` })
            : Effect.succeed(answer)
      )
  })
}

/** Counts rolled-back bets towards the limits. */
const keepsCountersOnRollback: SeededBug = altering(({ change, state }, before) =>
  change.transactions.some(({ kind, status }) => kind === "rollback" && status === "processed")
    ? { change, state: { ...state, counters: before.counters } }
    : { change, state }
)

/** Keeps a rolled-back bet among its round's open bets. */
const keepsBetsOpenOnRollback: SeededBug = altering(({ change, state }) =>
  change.transactions.some(({ kind, status }) => kind === "rollback" && status === "processed")
    ? {
      state,
      change: {
        ...change,
        rounds: change.rounds.map(({ isNew, round }) => ({
          isNew,
          round: { ...round, openBets: (round.openBets ?? 0) + 1 }
        }))
      }
    }
    : { change, state }
)

/** Preloads all players at the start of a standby, and shows that state after takeover. */
const showsWhatWasAtItsStart: SeededBug = {
  ...noBug,
  store: (store, database) => {
    const early = new Map(database.memory.tables().players)
    return {
      ...store,
      load: (playerId, fence) => {
        const known = early.get(playerId)
        early.delete(playerId)
        return known === undefined || fence ? store.load(playerId, fence) : Effect.succeed(known)
      }
    }
  }
}

/** Keeps a converted bonus running. */
const convertsTwice: SeededBug = altering(({ change, state }, before) =>
  before.activeBonus !== null && state.activeBonus === null &&
    change.bonuses.some(({ bonus }) => bonus.id === before.activeBonus?.id && bonus.result === "converted")
    ? { change, state: { ...state, activeBonus: before.activeBonus } }
    : { change, state }
)

/** Takes bonus money back as far as it was not spent, and forgets the rest. */
const forgetsShortages: SeededBug = altering(({ change, state }) => ({
  change: { ...change, bonuses: change.bonuses.map((one) => ({ ...one, bonus: { ...one.bonus, short: 0 } })) },
  state: { ...state, activeBonus: state.activeBonus && { ...state.activeBonus, short: 0 } }
}))

/** Entries in this order, with the numbers and balances that follow from it. */
const inOrder = (before: Player, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const balances = { real: before.real, bonus: before.bonus }
  return entries.map((entry, index) => {
    balances[entry.wallet] += entry.amount
    return { ...entry, seq: before.entrySeq + index + 1, balanceAfter: balances[entry.wallet] }
  })
}

/** A decision with other entries and bonuses, and without the events of a bonus that runs again. */
const rewritten = (
  { change, state }: Decided,
  before: Player,
  entries: ReadonlyArray<Entry>,
  bonuses: ReadonlyArray<BonusChange>,
  activeBonus: Player["activeBonus"]
): Decided => {
  const ordered = inOrder(before, entries)
  const last = (wallet: "real" | "bonus") => ordered.findLast((entry) => entry.wallet === wallet)?.balanceAfter
  const events = change.events.filter(({ type }) => type !== "bonus.granted")
  return {
    change: { ...change, entries: ordered, bonuses, events },
    state: {
      ...state,
      activeBonus,
      real: last("real") ?? before.real,
      bonus: last("bonus") ?? before.bonus,
      entrySeq: before.entrySeq + ordered.length
    }
  }
}

/** The bonus that a decision lets run, or wait, again. */
const undoneIn = (change: Change): PlayerBonus | undefined => {
  const told = change.events.flatMap(({ data, type }) => type === "bonus.granted" ? [Object(data["bonus"]).id] : [])
  return change.bonuses.find(({ bonus, isNew }) => !isNew && told.includes(bonus.id))?.bonus
}

/** Tells of grants and ends, and not that an end was undone. */
const hidesUndoneEnds: SeededBug = altering(({ change, state }) => {
  const undone = undoneIn(change)
  const events = change.events.filter(({ data, type }) =>
    type !== "bonus.granted" || Object(data["bonus"]).id !== undone?.id
  )
  return { state, change: { ...change, events } }
})

const forfeits = (entry: Entry, playerBonusId: number, amount: number): Entry => ({
  ...entry,
  wallet: "bonus",
  type: "bonus_correction_down",
  amount: -amount,
  gameId: null,
  gameRoundId: null,
  playerBonusId
})

/** Forfeits what comes back to a lost bonus. */
const leavesLosses: SeededBug = altering((decided, before) => {
  const { change } = decided
  const undone = undoneIn(change)
  const told = change.events.find(({ type }) => type === "bonus.granted")
  const own = change.entries.filter(({ playerBonusId, wallet }) => playerBonusId === undone?.id && wallet === "bonus")
  const [credit] = own
  const isLoss = own.every(({ type }) => type !== "bonus_conversion")
  if (undone === undefined || told === undefined || credit === undefined || !isLoss) return decided
  const kept = change.entries.filter(({ type }) => type === "casino_win" || type === "casino_rollback")
  const lost = { ...undone, state: "finished" as const, result: "lost" as const, finishedAt: credit.createdAt }
  const bonus = { ...lost, expiresAt: undone.expiresAt ?? credit.createdAt, held: null, remainingMs: null }
  const entries = [...kept, { ...forfeits(credit, undone.id, credit.amount), id: told.id }]
  const active = before.activeBonus
  const altered = rewritten(decided, before, entries, [{ bonus, isNew: false, note: null }], active)
  return { ...altered, state: { ...altered.state, pendingBonuses: before.pendingBonuses } }
})

/** Cancels a bonus whose conversion was undone while its successor runs. */
const keepsSuccessors: SeededBug = altering((decided, before) => {
  const { change } = decided
  const undone = undoneIn(change)
  const successor = before.activeBonus
  const displaced = change.entries.find(({ playerBonusId, type }) =>
    playerBonusId === successor?.id && type === "bonus_correction_down"
  )
  const isConversion = change.entries.some(({ playerBonusId, type }) =>
    playerBonusId === undone?.id && type === "bonus_conversion"
  )
  if (undone === undefined || successor === null || displaced === undefined || !isConversion) return decided
  const kept = change.entries.filter((entry) => entry !== displaced)
  const own = kept.reduce(
    (sum, { amount, playerBonusId, wallet }) => playerBonusId === undone.id && wallet === "bonus" ? sum + amount : sum,
    0
  )
  const cancelled = {
    ...undone,
    state: "finished" as const,
    result: "cancelled" as const,
    forfeited: own,
    finishedAt: displaced.createdAt
  }
  const entries = [...kept, forfeits(displaced, undone.id, own)]
  const altered = rewritten(decided, before, entries, [{ bonus: cancelled, isNew: false, note: null }], successor)
  return { ...altered, state: { ...altered.state, pendingBonuses: before.pendingBonuses } }
})

/** Pays late money of a converted bonus in full. */
const paysAboveCap: SeededBug = altering((decided, before) => {
  const { change, state } = decided
  const over = change.entries.find(({ type, wallet }, index) =>
    wallet === "bonus" && (type === "casino_win" || type === "casino_rollback") &&
    change.entries[index + 1]?.type === "bonus_correction_down"
  )
  const capped = change.bonuses.find(({ bonus }) => bonus.id === over?.playerBonusId && bonus.result === "converted")
  const [transaction, ...others] = change.transactions
  if (over === undefined || capped === undefined || transaction === undefined || others.length > 0) return decided
  const forfeit = change.entries[change.entries.indexOf(over) + 1]
  const entries = change.entries.flatMap((entry) =>
    entry === forfeit ? [] : entry === over ? [{ ...entry, wallet: "real" as const }] : [entry]
  )
  const { bonus } = capped
  const paid = { ...bonus, late: bonus.late + over.amount, forfeited: bonus.forfeited - over.amount }
  const bonuses = change.bonuses.map((one) => one === capped ? { ...capped, bonus: paid } : one)
  const entryIds = transaction.entryIds.filter((id) => id !== forfeit?.id)
  const settled = { ...transaction, entryIds, realAmount: transaction.realAmount + over.amount }
  const altered = rewritten(decided, before, entries, bonuses, state.activeBonus)
  return {
    state: { ...altered.state, transactions: filterRecent(state.transactions, (one) => one !== transaction) },
    change: { ...altered.change, transactions: [settled] }
  }
})

/** Checks an exclusion when a game is launched, but not on its bets. */
const checksExclusionAtLaunchOnly: SeededBug = {
  ...noBug,
  actors: (actors) => ({
    ...actors,
    ask: (operatorId, playerId, step) =>
      actors.ask(operatorId, playerId, (player, context) => {
        const decision = step(player, context)
        if (decision._tag !== "Refuse" || player.exclusion === null || operatorId !== null) return decision
        const { exclusion, sessionsEndedAt } = player
        const again = step({ ...player, exclusion: null, sessionsEndedAt: null }, context)
        return again._tag !== "Accept"
          ? again
          : { ...again, state: { ...again.state, exclusion, sessionsEndedAt } }
      })
  })
}

/** Writes events by a statement of their own, before their commit. */
const writesEventsFirst: SeededBug = {
  ...noBug,
  store: (store, database) => {
    const sent = new Set<number>()
    const commit: typeof store.commit = (units) =>
      Effect.suspend(() => {
        for (const event of units.flatMap(({ changes }) => changes.flatMap(({ events }) => events))) {
          if (!sent.has(event.id)) database.strayEvents.push(event)
          sent.add(event.id)
        }
        return store.commit(units.map((unit) => ({
          ...unit,
          changes: unit.changes.map((change) => ({ ...change, events: [] }))
        })))
      })
    return { ...store, commit }
  }
}

/** Shows a balance as soon as it is decided, by reads that may wait and by those that may not. */
const showsBeforeCommit: SeededBug = {
  ...noBug,
  actors: (actors) => {
    const decided = new Map<number, Player>()
    const newest = (player: Player): Player => decided.get(player.id) ?? player
    return {
      ...actors,
      ask: (operatorId, playerId, step) =>
        actors.ask(operatorId, playerId, (player, context) => {
          const decision = step(player, context)
          if (decision._tag === "Accept") decided.set(playerId, decision.state)
          return decision
        }),
      peek: (operatorId, playerId) => {
        const player = actors.peek(operatorId, playerId)
        return player === undefined ? undefined : newest(player)
      },
      read: (operatorId, playerId) => Effect.map(actors.read(operatorId, playerId), newest)
    }
  }
}

/** Takes a commit with unknown outcome as failed. */
const takesUnknownForNothing: SeededBug = {
  ...noBug,
  store: (store) => ({
    ...store,
    commit: (units) =>
      Effect.catchTag(
        store.commit(units),
        "OutcomeUnknown",
        ({ reason }) => Effect.fail(new StoreUnavailable({ reason }))
      )
  })
}

/** Commits on the current version instead of the decided one. */
const writesWithoutFence: SeededBug = {
  ...noBug,
  store: (store, database) => ({
    ...store,
    commit: (units) =>
      Effect.suspend(() =>
        store.commit(units.map((unit) => ({
          ...unit,
          version: Effect.runSync(Effect.orDie(database.memory.load(unit.key, false)))?.version ?? unit.version
        })))
      )
  })
}

/** Writes the stored reply of an idempotency key after its effect instead of with it. */
const storesAnswersLater: SeededBug = altering(({ change, state }) => ({ state, change: { ...change, replies: [] } }))

/** Ignores limits when a refusal is decided again after a look-up. */
const forgetsLimits: SeededBug = {
  ...noBug,
  actors: (actors) => ({
    ...actors,
    ask: (operatorId, playerId, step) =>
      actors.ask(operatorId, playerId, (player, context) => {
        const decision = step(player, context)
        const wasAskedTwice = context.known !== undefined
        if (decision._tag !== "Refuse" || !wasAskedTwice || operatorId !== null) return decision
        const again = step({ ...player, limits: {}, pendingLimits: [] }, context)
        if (again._tag !== "Accept") return again
        const { limits, pendingLimits } = player
        return { ...again, state: { ...again.state, limits, pendingLimits } }
      })
  })
}

/** Raises limits immediately. */
const raisesAtOnce: SeededBug = altering(({ change, state }) => {
  if (change.settings === null || state.pendingLimits.length === 0) return { change, state }
  const limits = effectiveLimits(state.limits, state.pendingLimits, Number.MAX_SAFE_INTEGER)
  const settings = { ...change.settings, limits, pendingLimits: [] }
  return { change: { ...change, settings }, state: { ...state, limits, pendingLimits: [] } }
})

/** Lifts the exclusion when an account is unlocked. */
const liftsExclusions: SeededBug = altering(({ change, state }, before) =>
  change.settings === null || state.status !== "active" || before.exclusion === null
    ? { change, state }
    : { change: { ...change, settings: { ...change.settings, exclusion: null } }, state: { ...state, exclusion: null } }
)

/** Retries a refused bet without the provider. */
const triesRefusedAgain: SeededBug = {
  ...noBug,
  port: (port) => ({
    handle: (request) =>
      Effect.tap(port.handle(request), (answer) =>
        request.kind === "bet" && answer._tag === "Refused"
          ? Effect.forkDetach(Effect.delay(port.handle(request), "2 seconds"))
          : Effect.void)
  })
}

const ofNodes: SeededBug = { ...noBug, topology: "nodes" }

/** Owns its shards until it releases them, ignoring the lease. */
const believesItsLocks: SeededBug = {
  ...ofNodes,
  placement: (placement) => {
    const epochs = new Map<number, number>()
    return {
      ...placement,
      epochOf: (key) => {
        const epoch = placement.epochOf(key) || (epochs.get(key) ?? 0)
        if (epoch !== 0) epochs.set(key, epoch)
        return epoch
      },
      holds: (key, epoch) => epochs.get(key) === epoch,
      onRelease: (release) =>
        placement.onRelease((isReleased) =>
          Effect.andThen(
            Effect.sync(() => {
              for (const key of epochs.keys()) if (isReleased(key)) epochs.set(key, 0)
            }),
            release(isReleased)
          )
        )
    }
  }
}

/** Checks the lease when a command arrives, and not again when it is decided. */
const looksAtTheLeaseOnce: SeededBug = {
  ...ofNodes,
  placement: (placement) => ({ ...placement, holds: () => true })
}

/** Loads players without fencing the previous owner's pending commits. */
const loadsWithoutFence: SeededBug = {
  ...ofNodes,
  placement: (placement) => ({ ...placement, isShared: false })
}

/** Commits pending commands of a handed-over player without answering them. */
const forgetsWhoWaits: SeededBug = {
  ...ofNodes,
  actors: (actors, _, placement) => ({
    ...actors,
    ask: (operatorId, playerId, step) =>
      Effect.suspend(() =>
        placement.epochOf(playerId) === 0
          ? actors.ask(operatorId, playerId, step)
          : Effect.onExit(
            actors.ask(operatorId, playerId, step),
            () => placement.epochOf(playerId) === 0 ? Effect.never : Effect.void
          )
      )
  })
}

/** Keeps epoch and cached state of a player that returns after a handover. */
const keepsItsEpoch: SeededBug = {
  ...ofNodes,
  placement: (placement) => {
    const epochs = new Map<number, number>()
    const epochOf = (key: number) => {
      const epoch = placement.epochOf(key)
      if (epoch !== 0) epochs.set(key, epoch)
      return epoch === 0 ? 0 : 1
    }
    return {
      ...placement,
      epochOf,
      holds: (key) => epochOf(key) !== 0 || placement.holds(key, epochs.get(key) ?? 0),
      onRelease: () => {}
    }
  }
}

/** Sends any unanswered request to the owner again. */
const sendsAnythingAgain: SeededBug = { ...ofNodes, isRepeatable: () => true }

/** Runs a call that waited on its way while another node owned the player, and answered the call when it was sent again. */
const runsOutdatedCalls: SeededBug = { ...ofNodes, isOutdated: () => false }

/** Goes by the clock of its machine, whoever sets it. */
const trustsItsClock: SeededBug = { ...ofNodes, hasDatabaseTime: false }

/** Forgets what a register said of the player as soon as it was asked. */
const forgetsRegisterAnswers: SeededBug = altering(({ change, state }, before) => ({
  change,
  state: change.registerChecks.length > 0 ? { ...state, registers: before.registers } : state
}))

/** Alters the rules of a player as a service knows them. */
const alteringRules = (makeAlter: () => (rules: Rules) => Rules): SeededBug => ({
  ...noBug,
  profiles: (profiles) =>
    Layer.effect(
      ProfileBook,
      Effect.gen(function*() {
        const book = yield* Effect.provide(Effect.service(ProfileBook), profiles)
        const alter = makeAlter()
        return {
          ...book,
          rulesFor: (player, now) => {
            const rules = book.rulesFor(player, now)
            return rules === undefined ? undefined : alter(rules)
          }
        }
      })
    )
})

/** Goes by the first version of a profile that it has heard of. */
const keepsOldRules: SeededBug = alteringRules(() => {
  let first: Rules | undefined
  return (rules) => first ??= rules
})

/** Lets players in on a register's answer of any age. */
const acceptsOldAnswers: SeededBug = alteringRules(() => (rules) => ({
  ...rules,
  registers: rules.registers.map(({ on, ...register }) => ({
    ...register,
    on: { ...on, play: { max_age: "P1Y", unavailable: "refuse" } }
  }))
}))

/** Each bug by name. */
export const seededBugs: { readonly [name: string]: SeededBug } = {
  "acknowledges before the commit": acknowledgesBeforeCommit,
  "forgets a tombstone": forgetsTombstones,
  "doubles with a retry": retriesAsNew,
  "keeps counters on a rollback": keepsCountersOnRollback,
  "keeps a bet open on a rollback": keepsBetsOpenOnRollback,
  "shows what was, after a failover": showsWhatWasAtItsStart,
  "converts a bonus twice": convertsTwice,
  "forgets what a bonus is short of": forgetsShortages,
  "bonus lost is not undone": leavesLosses,
  "conversion's successor is not undone": keepsSuccessors,
  "tells of no end that is undone": hidesUndoneEnds,
  "late money above the cap": paysAboveCap,
  "checks an exclusion at the launch only": checksExclusionAtLaunchOnly,
  "sends an event without its effect": writesEventsFirst,
  "shows a balance before its commit": showsBeforeCommit,
  "takes an unknown outcome for none": takesUnknownForNothing,
  "writes without a fence": writesWithoutFence,
  "keeps an answer apart from its effect": storesAnswersLater,
  "forgets a limit when it asks twice": forgetsLimits,
  "tries a refused bet again": triesRefusedAgain,
  "raises a limit at once": raisesAtOnce,
  "lifts an exclusion with a lock": liftsExclusions,
  "believes the locks it was given": believesItsLocks,
  "looks at its lease once": looksAtTheLeaseOnce,
  "loads without a fence": loadsWithoutFence,
  "forgets who waits when it hands over": forgetsWhoWaits,
  "keeps its epoch": keepsItsEpoch,
  "sends anything again": sendsAnythingAgain,
  "runs outdated calls": runsOutdatedCalls,
  "trusts the clock of its machine": trustsItsClock,
  "forgets what a register answered": forgetsRegisterAnswers,
  "keeps the rules of an old version": keepsOldRules,
  "lets in on an old answer": acceptsOldAnswers
}
