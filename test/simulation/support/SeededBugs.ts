/** Seeded bugs that the simulator must find. Each wraps the store, the actors or the port of a service that has none. */
import { Effect } from "effect"
import type { Change } from "../../../src/domain/Change.ts"
import { effectiveLimits } from "../../../src/domain/limit/Limits.ts"
import type { Player } from "../../../src/domain/player/Player.ts"
import { keep } from "../../../src/domain/settlement/Recent.ts"
import { StoreUnavailable } from "../../../src/engine/Failures.ts"
import { noBug, type SeededBug } from "./SeededBug.ts"
import { isPassing } from "./Requests.ts"

/** A player and what is to be written, as a rule has decided. */
interface Decided {
  readonly state: Player
  readonly change: Change
}

/** Changes what rules have decided to write. */
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

/** The answer goes out while the commit is on its way: what the commit comes to, nobody looks at. */
const acknowledgesBeforeCommit: SeededBug = {
  ...noBug,
  store: (store) => ({
    ...store,
    commit: (units) => Effect.asVoid(Effect.forkDetach(store.commit(units)))
  })
}

/** A rollback whose target never came is answered, and nothing is remembered of it. */
const forgetsTombstones: SeededBug = altering(({ change, state }) => ({
  state: { ...state, transactions: keep(state.transactions, ({ kind }) => kind !== "tombstone") },
  change: { ...change, transactions: change.transactions.filter(({ kind }) => kind !== "tombstone") }
}))

/** A deposit whose outcome is not known is sent again as a new one. */
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

/** A bet that is taken back goes on counting towards the limits. */
const keepsCountersOnRollback: SeededBug = altering(({ change, state }, before) =>
  change.transactions.some(({ kind, status }) => kind === "rollback" && status === "processed")
    ? { change, state: { ...state, counters: before.counters } }
    : { change, state }
)

/** A bet that is taken back goes on being one of its round's open bets. */
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

/** A service that takes over has read all players when it was started, to be quick, and shows them as they were then. */
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

/** The bonus that was converted goes on running. */
const convertsTwice: SeededBug = altering(({ change, state }, before) =>
  before.activeBonus !== null && state.activeBonus === null &&
    change.bonuses.some(({ bonus }) => bonus.id === before.activeBonus?.id && bonus.result === "converted")
    ? { change, state: { ...state, activeBonus: before.activeBonus } }
    : { change, state }
)

/** An exclusion keeps a player from opening a game, and not from playing one that is open. */
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

/** Events are written by a statement of their own, before the commit that they tell of. */
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

/** A balance is shown as soon as it is decided. */
const showsBeforeCommit: SeededBug = {
  ...noBug,
  actors: (actors) => {
    const decided = new Map<number, Player>()
    return {
      ...actors,
      ask: (operatorId, playerId, step) =>
        actors.ask(operatorId, playerId, (player, context) => {
          const decision = step(player, context)
          if (decision._tag === "Accept") decided.set(playerId, decision.state)
          return decision
        }),
      read: (operatorId, playerId) =>
        Effect.map(actors.read(operatorId, playerId), (player) => decided.get(playerId) ?? player)
    }
  }
}

/** A commit that was not heard of is taken for one that did not happen. */
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

/** Whoever commits takes the version that stands, whatever it was decided on. */
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

/** The answer under an idempotency key is not written with its effect, but after it. */
const storesAnswersLater: SeededBug = altering(({ change, state }) => ({ state, change: { ...change, replies: [] } }))

/** A refusal that had to look something up forgets the limits the second time. */
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

/** A limit that is raised is raised at once. */
const raisesAtOnce: SeededBug = altering(({ change, state }) => {
  if (change.settings === null || state.pendingLimits.length === 0) return { change, state }
  const limits = effectiveLimits(state.limits, state.pendingLimits, Number.MAX_SAFE_INTEGER)
  const settings = { ...change.settings, limits, pendingLimits: [] }
  return { change: { ...change, settings }, state: { ...state, limits, pendingLimits: [] } }
})

/** Whoever unlocks an account lifts its exclusion. */
const liftsExclusions: SeededBug = altering(({ change, state }, before) =>
  change.settings === null || state.status !== "active" || before.exclusion === null
    ? { change, state }
    : { change: { ...change, settings: { ...change.settings, exclusion: null } }, state: { ...state, exclusion: null } }
)

/** A bet that was refused is tried once more, behind the provider's back. */
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

/** A node owns what it was given to own until it gives it back: what its lease says is not looked at. */
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

/** The lease is looked at when a command comes, and not again when it is decided. */
const looksAtTheLeaseOnce: SeededBug = {
  ...ofNodes,
  placement: (placement) => ({ ...placement, holds: () => true })
}

/** What the former owner has still under way is not fenced off. */
const loadsWithoutFence: SeededBug = {
  ...ofNodes,
  placement: (placement) => ({ ...placement, isShared: false })
}

/** What is under way when its player is handed over is done, and not answered. */
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

/** A player that comes back is taken for one that never left: the epoch does not grow, and what was known is not forgotten. */
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

/** A request that nobody answered is sent to the owner again, whatever it is. */
const sendsAnythingAgain: SeededBug = { ...ofNodes, isRepeatable: () => true }

/** Each bug under its name. */
export const seededBugs: { readonly [name: string]: SeededBug } = {
  "acknowledges before the commit": acknowledgesBeforeCommit,
  "forgets a tombstone": forgetsTombstones,
  "doubles with a retry": retriesAsNew,
  "keeps counters on a rollback": keepsCountersOnRollback,
  "keeps a bet open on a rollback": keepsBetsOpenOnRollback,
  "shows what was, after a failover": showsWhatWasAtItsStart,
  "converts a bonus twice": convertsTwice,
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
  "sends anything again": sendsAnythingAgain
}
