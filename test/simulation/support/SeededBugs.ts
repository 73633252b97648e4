/** Seeded bugs that the simulator must find. Each wraps the store, the actors or the port of a correct service. */
import { Effect } from "effect"
import type { Change } from "../../../src/domain/Change.ts"
import { effectiveLimits } from "../../../src/domain/limit/Limits.ts"
import type { Player } from "../../../src/domain/player/Player.ts"
import { filterRecent } from "../../../src/domain/settlement/Recent.ts"
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

/** Shows a balance as soon as it is decided. */
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

/** Each bug by name. */
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
  "sends anything again": sendsAnythingAgain,
  "runs outdated calls": runsOutdatedCalls,
  "trusts the clock of its machine": trustsItsClock
}
