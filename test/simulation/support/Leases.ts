/**
 * Membership and shard locks in the simulated database, as `SqlRunnerStorage` keeps them in PostgreSQL: a row for each runner with the
 * time of its last sign of life, and locks owned by a session. A session that is silent for a lease, or that is ended, loses its locks. Also
 * the last owner of each shard, as `ShardTerms` keeps it.
 */
import { Effect, Exit } from "effect"
import { ClusterError, MachineId, type Runner, type RunnerAddress, RunnerStorage, type ShardId } from "effect/cluster"
import { SqlError } from "effect/sql"
import { Locks } from "../../../src/cluster/Locks.ts"
import { ShardTerms } from "../../../src/cluster/ShardTerms.ts"
import type { Connection } from "./Database.ts"
import type { World } from "./World.ts"

interface Session {
  /** World time of its last statement. */
  usedAt: number
  isOver: boolean
  readonly locks: Set<number>
}

type Storage = RunnerStorage.RunnerStorage["Service"]

const nameOf = ({ host, port }: RunnerAddress.RunnerAddress): string => `${host}:${port}`

const sessionIsOver = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("the session is over"), operation: "execute" })
})

interface Held {
  readonly owner: string
  readonly term: number
  readonly takenAt: number
  readonly freeAt: number
  isReleased: boolean
}

export class Leases {
  private readonly world: World
  private readonly leaseMs: number
  private readonly runners = new Map<string, { readonly runner: Runner.Runner; isHealthy: boolean; seenAt: number }>()
  private readonly sessions = new Map<string, Set<Session>>()
  private readonly held = new Map<number, Held>()
  private registered = 0

  constructor(world: World, leaseMs: number) {
    this.world = world
    this.leaseMs = leaseMs
  }

  /** Ends the sessions of a machine, as an administrator or a broken connection does; its locks are free at once. */
  endSessions(machine: string): void {
    for (const session of this.sessions.get(machine) ?? []) session.isOver = true
    this.sessions.delete(machine)
  }

  private expire(): void {
    for (const own of this.sessions.values()) {
      for (const session of own) {
        if (this.world.now - session.usedAt < this.leaseMs) continue
        session.isOver = true
        own.delete(session)
      }
    }
  }

  private isFree(shard: number): boolean {
    for (const own of this.sessions.values()) {
      for (const { locks } of own) if (locks.has(shard)) return false
    }
    return true
  }

  /** Terms of a node with this connection and address. */
  termsOf(connection: Connection, owner: string): ShardTerms["Service"] {
    const { held, leaseMs, runners, world } = this
    const statement = <A>(happen: () => A) =>
      connection.call("statement", () => Exit.succeed(happen())).pipe(
        Effect.catch((cause) => Effect.fail(new ClusterError.PersistenceError({ cause })))
      )
    const freeAfter = (former: Held): number =>
      former.isReleased || former.owner === owner ? former.freeAt : Math.max(
        former.freeAt,
        leaseMs + Math.max(former.takenAt, runners.get(former.owner)?.seenAt ?? 0)
      )
    return ShardTerms.of({
      begin: (shards) =>
        statement(() =>
          shards.map((shard) => {
            const former = held.get(shard)
            const term = (former?.term ?? 0) + 1
            const freeAt = former === undefined ? world.now : freeAfter(former)
            held.set(shard, { owner, term, takenAt: world.now, freeAt, isReleased: false })
            return { shard, term, waitMs: Math.max(0, freeAt - world.now) }
          })
        ),
      end: (terms) =>
        statement(() => {
          for (const { shard, term } of terms) {
            const found = held.get(shard)
            if (found?.term === term) found.isReleased = true
          }
        })
    })
  }

  /** Runner storage of this connection; operations longer than `timeoutMs` fail and end the session. */
  storageOf(
    connection: Connection,
    timeoutMs: number
  ): { readonly storage: Storage; readonly locks: Locks["Service"] } {
    const { leaseMs, runners, world } = this
    let current: Session | undefined

    const fail = (cause: unknown) => Effect.fail(new ClusterError.PersistenceError({ cause }))
    const statement = <A>(happen: () => A) =>
      connection.call("statement", () => Exit.succeed(happen())).pipe(
        Effect.timeout(timeoutMs),
        Effect.catch(fail)
      )

    const open = (): Session => {
      const session: Session = { usedAt: world.now, isOver: false, locks: new Set() }
      const own = this.sessions.get(connection.machine) ?? new Set()
      this.sessions.set(connection.machine, own.add(session))
      return session
    }

    /** A statement of the session that holds the locks; a failed session is replaced. */
    const locked = <A>(happen: (session: Session) => A) =>
      Effect.suspend(() => {
        const asked = current
        return connection.call("statement", (): Exit.Exit<readonly [Session, A], SqlError.SqlError> => {
          this.expire()
          const session = asked ?? open()
          if (session.isOver) return Exit.fail(sessionIsOver)
          session.usedAt = world.now
          return Exit.succeed([session, happen(session)])
        }).pipe(
          Effect.timeout(timeoutMs),
          Effect.map(([session, result]) => {
            current = session
            return result
          }),
          Effect.tapError(() =>
            Effect.sync(() => {
              if (current === asked) current = undefined
            })
          )
        )
      })

    const heldOf = ({ locks }: Session, asked: ReadonlyArray<ShardId.ShardId>) =>
      asked.filter(({ id }) => locks.has(id))

    const locks = Locks.of({
      release: (shards) =>
        locked(({ locks }) => {
          for (const shard of shards) locks.delete(shard)
        }).pipe(Effect.catch(fail))
    })
    const storage = RunnerStorage.RunnerStorage.of({
      register: (runner, isHealthy) =>
        statement(() => {
          runners.set(nameOf(runner.address), { runner, isHealthy, seenAt: world.now })
          return MachineId.make(++this.registered)
        }),
      unregister: (address) =>
        statement(() => {
          runners.delete(nameOf(address))
        }),
      setRunnerHealth: (address, isHealthy) =>
        statement(() => {
          const found = runners.get(nameOf(address))
          if (found !== undefined) found.isHealthy = isHealthy
        }),
      getRunners: statement(() =>
        [...runners.values()].filter(({ seenAt }) => world.now - seenAt < leaseMs)
          .map(({ isHealthy, runner }) => [runner, isHealthy] as const)
      ),
      acquire: (_, asked) => {
        const shards = [...asked]
        const acquire = locked((session) => {
          for (const { id } of shards) if (this.isFree(id)) session.locks.add(id)
          return heldOf(session, shards)
        })
        return acquire.pipe(Effect.catch(() => acquire), Effect.catch(fail))
      },
      refresh: (address, asked) => {
        const shards = [...asked]
        const beat = () => {
          const found = runners.get(nameOf(address))
          if (found !== undefined) found.seenAt = world.now
        }
        if (shards.length === 0) return Effect.as(statement(beat), [])
        return locked((session) => {
          beat()
          return heldOf(session, shards)
        }).pipe(Effect.catch(fail))
      },
      release: (_, { id }) =>
        locked(({ locks }) => {
          locks.delete(id)
        }).pipe(Effect.catch(fail)),
      releaseAll: () => locked(({ locks }) => locks.clear()).pipe(Effect.catch(fail))
    })
    return { storage, locks }
  }
}
