/** Services of a simulated world: start, failure, takeover, and routing of requests. */
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { layerSingleNode } from "../../../src/cluster/SingleNode.ts"
import { Membership } from "../../../src/cluster/Membership.ts"
import { Ownership } from "../../../src/cluster/Ownership.ts"
import { DatabaseTime, makeDatabaseTime } from "../../../src/platform/DatabaseTime.ts"
import type { Database } from "./Database.ts"
import { Leases } from "./Leases.ts"
import { layerNode, Wires } from "./Node.ts"
import type { Fault, NodeTrouble, Outage, Plan } from "./Plan.ts"
import type { SeededBug } from "./SeededBug.ts"
import { chanceOf } from "../../kit/Chance.ts"
import { layerService, makePort, MessageTable, type Port } from "./Service.ts"
import { type ClockPlan, Machine, type World } from "./World.ts"

/** Time in ms without the primary after which the other service takes over. */
const takeOverMs = 400

/** Time limit in ms of a stopping service's shutdown. */
const stopMostMs = 10_000

/** A service during one life of its machine. */
export interface Life {
  readonly machine: Machine
  readonly scope: Scope.Closeable
  /** Undefined while it starts, and from the beginning of its shutdown. */
  port: Port | undefined
  /** Hands over its players; completes at once without other nodes. */
  leave: Effect.Effect<void>
  isLeaving: boolean
  readonly clock: ClockPlan
}

/** A host that runs services, one life after the other. */
class Host {
  readonly name: string
  readonly number: number
  life: Life | undefined

  constructor(name: string, number: number) {
    this.name = name
    this.number = number
  }
}

/** Whether a fault is not one of a service: the database, the network and the register have it. */
const isOfTheWorld = (fault: Fault): fault is Exclude<Fault, Outage | NodeTrouble> =>
  ["store", "network", "profile", "register"].includes(fault.kind)

const hostNames = ["a", "b", "c", "d"]

export class Cluster {
  private readonly world: World
  private readonly plan: Plan
  private readonly database: Database
  private readonly bug: SeededBug
  private readonly hosts: ReadonlyArray<Host>
  private primary = 0
  private lives = 0
  /** Step from which each life, by its machine, received requests; with two services at once, its start. */
  readonly servesSince = new Map<string, number>()
  /** Defects of starting a service. */
  readonly failures: Array<string> = []
  private readonly machines: Array<Machine> = []
  private readonly leases: Leases
  private readonly wires: Wires
  private readonly messages = new MessageTable()
  /** Pairs of machine names without a connection, or a machine and the database. */
  private readonly cuts = new Set<string>()

  constructor(world: World, plan: Plan, database: Database, bug: SeededBug) {
    this.world = world
    this.plan = plan
    this.database = database
    this.bug = bug
    const count = plan.topology === "nodes" ? plan.nodes.length : plan.topology === "one" ? 1 : 2
    this.hosts = hostNames.slice(0, count).map((name, number) => new Host(name, number))
    this.leases = new Leases(world, plan.leaseMs)
    this.wires = new Wires(world, plan, (one, other) => this.cuts.has(`${one.name} ${other.name}`))
  }

  /** Players that two nodes owned at once. */
  doubleOwners(): ReadonlyArray<string> {
    return this.wires.doubleOwners
  }

  /** Whether a machine has power at the end. */
  isLiving(service: string): boolean {
    return this.machines.some(({ isOn, name }) => isOn && name === service)
  }

  /** Whether a machine reaches the database. */
  reachesDatabase(machine: Machine): boolean {
    return !this.cuts.has(`${machine.name} database`)
  }

  start(): void {
    for (const host of this.hosts) this.startHost(host)
    for (const fault of this.plan.faults) {
      if (isOfTheWorld(fault)) continue
      this.world.after(fault.at, this.database.machine, () => {
        const host = this.hostOf(fault)
        if (host === undefined) return
        switch (fault.kind) {
          case "crash":
            return this.world.afterTasks(fault.tasks, () => this.crash(host, fault.forMs, fault.isSilent))
          case "stop":
            return this.stop(host, fault.forMs)
          case "failover":
            return this.failOver(fault.forMs)
          default:
            return this.world.afterTasks(fault.tasks, () => this.trouble(host, fault))
        }
      })
    }
  }

  private hostOf(fault: Outage | NodeTrouble): Host | undefined {
    if (this.plan.topology === "nodes" || !("isPrimary" in fault)) return this.hosts[fault.host]
    return fault.isPrimary ? this.hosts[this.primary] : this.hosts[1 - this.primary] ?? this.hosts[0]
  }

  /** Applies a fault to a node that keeps its power. */
  private trouble({ life }: Host, { forMs, isAtCommit, kind, other, shiftMs }: NodeTrouble): void {
    if (life === undefined) return
    const { clock, machine } = life
    const { machine: database } = this.database
    this.world.trace.addText(`${kind} ${machine.name}`)
    switch (kind) {
      case "pause": {
        const pause = () => {
          machine.pause()
          machine.beforeCommit = undefined
          this.world.after(forMs, database, () => machine.goOn())
        }
        if (isAtCommit) machine.beforeCommit = pause
        else pause()
        return
      }
      case "session":
        return this.leases.endSessions(machine.name)
      case "clock":
        clock.wallOffset += shiftMs
        return
      case "cut": {
        const peer = other < 0 ? "database" : this.hosts[other]?.life?.machine.name
        const names = [`${machine.name} ${peer}`, `${peer} ${machine.name}`]
        for (const name of names) this.cuts.add(name)
        this.world.after(forMs, database, () => {
          for (const name of names) this.cuts.delete(name)
        })
      }
    }
  }

  private startHost(host: Host): void {
    const number = ++this.lives
    const { bug, database, leases, plan, wires } = this
    const clock = { ...plan.nodes[host.number] ?? { speed: 1, wallOffset: 0 } }
    const machine = new Machine(this.world, `${host.name}${number}`, number, plan.seed, plan.pauseEvery, clock)
    this.machines.push(machine)
    const scope = Scope.makeUnsafe()
    const life: Life = { machine, scope, port: undefined, leave: Effect.void, isLeaving: false, clock }
    host.life = life
    if (this.plan.topology === "both" || this.hosts[this.primary] === host) this.noteService(life)
    const reaches = () => this.reachesDatabase(machine)
    const connection = database.connect(machine, reaches)
    const port = 7000 + (plan.keepsAddresses ? host.number : number)
    const placed = plan.topology === "nodes"
      ? layerNode({
        plan,
        machine,
        host: host.name,
        port,
        connection: database.connect(machine, reaches, "lease"),
        leases,
        wires,
        bug
      })
      : layerSingleNode
    // in other topologies clocks are right
    const takeTime = plan.topology === "nodes" && bug.hasDatabaseTime ? this.takeDatabaseTime(machine) : Effect.void
    const layer = layerService(database, connection, machine, plan, bug, placed)
    const building = machine.fork(
      Context.empty(),
      Effect.flatMap(Effect.andThen(Scope.provide(takeTime, scope), Layer.buildWithScope(layer, scope)), (services) => {
        const ownership = Context.getOption(services, Ownership)
        if (ownership._tag === "Some") life.leave = ownership.value.handOver
        const membership = Context.getOption(services, Membership)
        const join = membership._tag === "Some" ? membership.value.join : Effect.void
        return Effect.tap(Effect.provideContext(makePort(this.messages), services), () => join)
      })
    )
    building.addObserver((exit) => {
      if (Exit.isSuccess(exit)) life.port = bug.port(exit.value, database)
      else this.failures.push(`${machine.name} did not start: ${String(exit.cause)}`)
    })
  }

  /** Has the service on a machine go by the database's time, as real ones do. */
  private takeDatabaseTime(machine: Machine) {
    const { world } = this
    return makeDatabaseTime({
      toleranceMs: 30_000,
      clocks: { processMs: machine.wallMs, monotonicMs: machine.monotonicMs, uptimeMs: machine.monotonicMs },
      read: Effect.suspend(() =>
        this.reachesDatabase(machine)
          // jobs have run within the last minute
          ? Effect.succeed({ databaseMs: world.now, newestMs: world.now - 60_000, settledMs: world.now - 60_000 })
          : Effect.fail({ message: "no connection" })
      )
    }).pipe(
      Effect.retry(Schedule.spaced(100)),
      Effect.map((context) => {
        machine.serviceTime = Context.get(context, DatabaseTime).now
      })
    )
  }

  /** Cuts the power of a host's machine for a while. `isSilent`: its connections are not closed. */
  private crash(host: Host, forMs: number, isSilent = false): void {
    const { life } = host
    if (life === undefined) return
    this.world.trace.addText(`crash ${life.machine.name}`)
    this.end(life, isSilent)
    host.life = undefined
    this.restartLater(host, forMs)
  }

  private end({ machine }: Life, isSilent: boolean): void {
    machine.isOn = false
    if (isSilent) return
    this.leases.endSessions(machine.name)
    this.wires.detach(machine)
  }

  /** Stops a service gracefully; after its end another one starts on the host. */
  private stop(host: Host, forMs: number): void {
    const { life } = host
    if (life?.port === undefined || life.isLeaving) return
    life.isLeaving = true
    const leave = () => {
      if (!life.machine.isOn) return
      this.end(life, false)
      if (host.life === life) host.life = undefined
      this.restartLater(host, forMs)
    }
    // during its handover a node forwards requests
    const closing = life.machine.fork(
      Context.empty(),
      Effect.andThen(
        life.leave,
        Effect.suspend(() => {
          life.port = undefined
          return Scope.close(life.scope, Exit.void)
        })
      )
    )
    closing.addObserver(() => this.world.after(0, this.database.machine, leave))
    this.world.after(stopMostMs, this.database.machine, leave)
  }

  private restartLater(host: Host, forMs: number): void {
    this.world.after(forMs, this.database.machine, () => {
      if (host.life === undefined) this.startHost(host)
    })
    if (this.plan.topology !== "standby" || this.hosts[this.primary] !== host) return
    this.world.after(takeOverMs, this.database.machine, () => {
      if (this.hosts[this.primary]?.life === undefined) this.takeOver()
    })
  }

  /** Routes requests to the other service. One that had them before and has not been restarted since is restarted first. */
  private takeOver(): void {
    this.primary = 1 - this.primary
    const host = this.hosts[this.primary]
    if (host?.life === undefined) return
    if (this.servesSince.has(host.life.machine.name)) this.crash(host, 10)
    else this.noteService(host.life)
  }

  private noteService({ machine }: Life): void {
    this.servesSince.set(machine.name, this.world.step)
  }

  /**
   * Routes requests to the other service while this one still finishes its work. Before it gets requests again it is
   * restarted.
   */
  private failOver(forMs: number): void {
    const host = this.hosts[this.primary]
    if (host === undefined || this.hosts[1 - this.primary]?.life?.port === undefined) return
    this.takeOver()
    this.world.after(forMs, this.database.machine, () => this.crash(host, 10))
  }

  /** Life that gets a request sent now. It may have ended, or not be ready yet, when the request arrives. */
  route(name: string): () => Life | undefined {
    // a connection belongs to one life of a machine and ends with it
    const host = this.plan.topology === "both" || this.plan.topology === "nodes"
      ? chanceOf(this.plan.seed, "route", name).pick(this.hosts)
      : this.hosts[this.primary]
    const life = host?.life
    return () => life?.machine.isOn === true ? life : undefined
  }
}
