/**
 * Database of a simulated world: PostgreSQL's role for the service, on a machine of its own that never loses data.
 *
 * An operation travels to it, takes effect at one instant, and its answer travels back. On the way it can be refused, cut off before or
 * after its effect, take effect long after its caller saw the connection break, or never be answered. The
 * service's own code (`StoreFailures.ts`) interprets these.
 */
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import type { Change, Event } from "../../../src/domain/state/Change.ts"
import type { Player } from "../../../src/domain/state/Player.ts"
import { type CommitFailure, OutcomeUnknown } from "../../../src/engine/Failures.ts"
import type { Unit } from "../../../src/engine/Machine.ts"
import { CommittedIds } from "../../../src/store/internal/CommittedIds.ts"
import { type PlayerStore, withCommittedIds } from "../../../src/store/internal/PlayerStore.ts"
import {
  commitFailure,
  noAnswer,
  type ReadFailure,
  toUnavailable,
  unresponsive,
  withDeadline
} from "../../../src/store/internal/StoreFailures.ts"
import * as MemoryPlayerStore from "../../kit/MemoryPlayerStore.ts"
import type { Plan, StoreTrouble } from "./Plan.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import { Machine, type World } from "./World.ts"

export type PlayerUnit = Unit<Player, Change>

/** Fate of an operation. */
type Fate =
  | "answered"
  /** No effect, and the caller gets an error. */
  | "refused"
  /** The connection broke before the effect. */
  | "cut"
  /** Takes effect after seconds. */
  | "slow"
  /** Took effect; the connection broke before the answer. */
  | "unheard"
  /** The connection broke; takes effect seconds later. */
  | "late"
  /** Never answered; may take effect or not. */
  | "silent"
  /** The row is locked by another transaction. */
  | "busy"

/** A player's state as committed, or raised by a fence. */
export interface Committed {
  /** Step and time of the world. */
  readonly step: number
  readonly at: number
  readonly playerId: number
  /** Machine of the commit. */
  readonly by: string
  /** Resulting version. */
  readonly version: number
  readonly isFence: boolean
  readonly changes: ReadonlyArray<Change>
  /** Resulting state in the store. */
  readonly state: Player
}

const connectionError = (operation: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error("the connection broke"), operation })
  })

const lockTimeout = () =>
  new SqlError.SqlError({ reason: new SqlError.LockTimeoutError({ cause: new Error("the row is held") }) })

/** A read with its deadline and failures, as the service's store composes them. */
const reading = <A>(read: Effect.Effect<A, ReadFailure>) => Effect.mapError(withDeadline(read, noAnswer), toUnavailable)

/** Connection of a machine to the database. */
export interface Connection {
  readonly machine: string
  readonly call: <A, E>(
    what: "load" | "look" | "commit" | "statement",
    happen: () => Exit.Exit<A, E>
  ) => Effect.Effect<A, E | SqlError.SqlError>
}

export class Database {
  readonly memory: MemoryPlayerStore.MemoryPlayerStore
  readonly machine: Machine
  /** All commits, in order. */
  readonly history: Array<Committed> = []
  /** Owner of each bonus. */
  readonly bonusOwners = new Map<number, number>()
  /** Operations without their effect yet, or with their answer in transit. */
  pending = 0
  /** Outbox events outside a commit: the service has none. */
  readonly strayEvents: Array<Event> = []
  private readonly world: World
  private readonly seed: number | string
  private readonly storeMs: number
  private readonly troubles: ReadonlyArray<StoreTrouble>
  private idsTaken = 10_000

  constructor(
    world: World,
    { seed, storeMs }: Pick<Plan, "seed" | "storeMs">,
    players: ReadonlyArray<Player>,
    troubles: ReadonlyArray<StoreTrouble>
  ) {
    this.world = world
    this.seed = seed
    this.storeMs = storeMs
    this.troubles = troubles
    this.machine = new Machine(world, "database", 0, seed, 0)
    this.memory = MemoryPlayerStore.make()
    for (const player of players) Effect.runSync(this.memory.add(player))
  }

  /** Reserves a block of ids. */
  takeIds(count: number): number {
    const first = this.idsTaken
    this.idsTaken += count
    return first
  }

  /** All events to be sent. */
  outbox(): ReadonlyArray<Event> {
    return [...this.memory.tables().events, ...this.strayEvents]
  }

  /** Committed state of a player. */
  stateOf(playerId: number): Player | undefined {
    return Effect.runSync(this.memory.load(playerId, false))?.state
  }

  private fateOf(what: string, chance: Chance): Fate {
    const { now } = this.world
    const trouble = this.troubles.find(({ at, forMs }) => now >= at && now < at + forMs)
    if (trouble === undefined || !chance.happens(trouble.probability)) return "answered"
    const fate = chance.pickBy(trouble.fates)
    // only a write waits for another's lock
    return fate === "busy" && what !== "commit" ? "refused" : fate
  }

  /** Connects a machine to the database. Answers that the machine cannot receive are lost. */
  connect(machine: Machine, reaches: () => boolean = () => true, name = "operation"): Connection {
    const { world } = this
    let calls = 0
    return {
      machine: machine.name,
      call: (what, happen) =>
        Effect.callback((resume) => {
          const chance = chanceOf(this.seed, name, machine.name, calls++)
          // data written to a broken connection may arrive once it is restored
          const fate = reaches() ? this.fateOf(what, chance) : "silent"
          const there = chance.happens(0.1) ? chance.between(5, 60) : chance.between(0, this.storeMs)
          const back = chance.happens(0.1) ? chance.between(5, 60) : chance.between(0, this.storeMs)
          const hear = (after: number, answer: Effect.Effect<never, SqlError.SqlError>) =>
            world.after(after, machine, () => resume(answer))
          const happenAfter = (after: number, heard: (exit: ReturnType<typeof happen>) => void): void => {
            this.pending++
            world.after(after, this.machine, () => {
              this.pending--
              world.trace.add(what.length * 7 + machine.number)
              heard(happen())
            })
          }
          const send = (): void => {
            switch (fate) {
              case "answered":
                happenAfter(there, (exit) => {
                  if (reaches()) world.after(back, machine, () => resume(exit))
                  else if (what === "statement") {
                    hear(chance.between(3000, 6000), Effect.fail(connectionError("execute")))
                  }
                })
                break
              case "refused":
                hear(there + back, Effect.fail(connectionError("connect")))
                break
              case "busy":
                hear(there + back, Effect.fail(lockTimeout()))
                break
              case "cut":
                hear(there + back, Effect.fail(connectionError("execute")))
                break
              case "slow":
                happenAfter(chance.between(500, 5500), (exit) => world.after(back, machine, () => resume(exit)))
                break
              case "unheard":
                happenAfter(there, () => hear(back, Effect.fail(connectionError("execute"))))
                break
              case "late":
                hear(there + back, Effect.fail(connectionError("execute")))
                happenAfter(chance.between(100, 12_000), () => {})
                break
              case "silent":
                if (chance.happens(0.6)) happenAfter(chance.between(0, 15_000), () => {})
                // a statement outside the journal fails by its own timeout
                if (what === "statement") hear(chance.between(3000, 6000), Effect.fail(connectionError("execute")))
                break
            }
          }
          if (what !== "commit" || machine.beforeCommit === undefined) return send()
          machine.beforeCommit()
          world.after(0, machine, send)
        })
    }
  }

  /** Player store of one service. */
  storeOf(connection: Connection): PlayerStore {
    const { memory } = this
    // few slots, so that ids are forgotten
    return withCommittedIds({
      load: (playerId, fence) =>
        reading(connection.call("load", () => this.loadNow(connection.machine, playerId, fence))),
      lookUp: (player, query, known) =>
        reading(
          connection.call("look", () => Effect.runSyncExit(Effect.orDie(memory.lookUp(player, query, known))))
        ),
      commit: (units) =>
        withDeadline(
          connection.call("commit", () => this.commitNow(connection.machine, units)),
          () => new OutcomeUnknown({ reason: unresponsive })
        ).pipe(
          Effect.catchTag("SqlError", (error) => Effect.fail(commitFailure(error)))
        ),
      examine: (units, because) =>
        reading(
          connection.call("look", () => Effect.runSyncExit(Effect.orDie(memory.examine(units, because))))
        ),
      claims: memory.claims
    }, new CommittedIds(64))
  }

  private loadNow(by: string, playerId: number, fence: boolean) {
    const exit = Effect.runSyncExit(Effect.orDie(this.memory.load(playerId, fence)))
    if (fence && Exit.isSuccess(exit) && exit.value !== undefined) {
      this.note(by, playerId, exit.value.version, true, [], exit.value.state)
    }
    return exit
  }

  private commitNow(by: string, units: ReadonlyArray<PlayerUnit>): Exit.Exit<void, CommitFailure> {
    const exit = Effect.runSyncExit(this.memory.commit(units))
    if (Exit.isFailure(exit)) return exit
    for (const { changes, key, version } of units) {
      const state = this.stateOf(key)
      if (state !== undefined) this.note(by, key, version + 1, false, changes, state)
      for (const change of changes) {
        for (const { bonus } of change.bonuses) this.bonusOwners.set(bonus.id, key)
      }
    }
    return exit
  }

  private note(
    by: string,
    playerId: number,
    version: number,
    isFence: boolean,
    changes: ReadonlyArray<Change>,
    state: Player
  ): void {
    const { now, step, trace } = this.world
    trace.add(playerId * 65_536 + version)
    trace.add(state.real)
    this.history.push({ step, at: now, playerId, by, version, isFence, changes, state })
  }
}
