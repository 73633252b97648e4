/** The services of a simulated world: how they start, fall out and take over, and who gets a request. */
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { Database } from "./Database.ts"
import type { Plan } from "./Plan.ts"
import type { SeededBug } from "./SeededBug.ts"
import { chanceOf } from "../../kit/Chance.ts"
import { layerService, makePort, type Port } from "./Service.ts"
import { Machine, type World } from "./World.ts"

/** After so long without its primary, the other service takes over. */
const takeOverMs = 400

/** A service that was told to stop is gone after this, whatever it has left. */
const stopMostMs = 10_000

/** A service in one life of its machine. */
export interface Life {
  readonly machine: Machine
  readonly scope: Scope.Closeable
  /** Undefined while it starts, and from when it is told to stop. */
  port: Port | undefined
}

/** A place where a service runs, one life after the other. */
class Host {
  readonly name: string
  life: Life | undefined

  constructor(name: string) {
    this.name = name
  }
}

export class Cluster {
  private readonly world: World
  private readonly plan: Plan
  private readonly database: Database
  private readonly bug: SeededBug
  private readonly hosts: ReadonlyArray<Host>
  private primary = 0
  private lives = 0
  /** The step from which each life, by its machine, was the one that is asked; for two at once, that of its beginning. */
  readonly servesSince = new Map<string, number>()
  /** Defects in the making of a service. */
  readonly failures: Array<string> = []

  constructor(world: World, plan: Plan, database: Database, bug: SeededBug) {
    this.world = world
    this.plan = plan
    this.database = database
    this.bug = bug
    this.hosts = plan.topology === "one" ? [new Host("a")] : [new Host("a"), new Host("b")]
  }

  start(): void {
    for (const host of this.hosts) this.startHost(host)
    for (const fault of this.plan.faults) {
      if (fault.kind === "store" || fault.kind === "network") continue
      this.world.after(fault.at, this.database.machine, () => {
        const host = fault.isPrimary ? this.hosts[this.primary] : this.hosts[1 - this.primary] ?? this.hosts[0]
        if (host === undefined) return
        switch (fault.kind) {
          case "crash":
            return this.world.afterTasks(fault.tasks, () => this.crash(host, fault.forMs))
          case "stop":
            return this.stop(host, fault.forMs)
          case "failover":
            return this.failOver(fault.forMs)
        }
      })
    }
  }

  private startHost(host: Host): void {
    const number = ++this.lives
    const machine = new Machine(this.world, `${host.name}${number}`, number, this.plan.seed, this.plan.pauseEvery)
    const scope = Scope.makeUnsafe()
    const life: Life = { machine, scope, port: undefined }
    host.life = life
    if (this.plan.topology === "both" || this.hosts[this.primary] === host) this.noteService(life)
    const layer = layerService(this.database, this.database.connect(machine), this.plan.service, this.bug)
    const building = machine.fork(
      Context.empty(),
      Effect.flatMap(Layer.buildWithScope(layer, scope), (services) => Effect.provideContext(makePort, services))
    )
    building.addObserver((exit) => {
      if (Exit.isSuccess(exit)) life.port = this.bug.port(exit.value, this.database)
      else this.failures.push(`${machine.name} did not start: ${String(exit.cause)}`)
    })
  }

  /** Takes the power from a host's machine, for a while. */
  private crash(host: Host, forMs: number): void {
    const { life } = host
    if (life === undefined) return
    this.world.trace.addText(`crash ${life.machine.name}`)
    life.machine.isOn = false
    host.life = undefined
    this.restartLater(host, forMs)
  }

  /** Lets a service end what it has begun; when it has gone, another one starts in its place. */
  private stop(host: Host, forMs: number): void {
    const { life } = host
    if (life?.port === undefined) return
    life.port = undefined
    const leave = () => {
      if (!life.machine.isOn) return
      life.machine.isOn = false
      if (host.life === life) host.life = undefined
      this.restartLater(host, forMs)
    }
    const closing = life.machine.fork(Context.empty(), Scope.close(life.scope, Exit.void))
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

  /** The other one is asked from now on. One that was asked before, and was not started anew since, is started anew first. */
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
   * The other service takes over while this one is still at work on what it has begun. Before it gets requests again it is
   * started anew.
   */
  private failOver(forMs: number): void {
    const host = this.hosts[this.primary]
    if (host === undefined || this.hosts[1 - this.primary]?.life?.port === undefined) return
    this.takeOver()
    this.world.after(forMs, this.database.machine, () => this.crash(host, 10))
  }

  /** Who is to get a request that is sent now. It may be gone, or not be there yet, when the request arrives. */
  route(name: string): () => Life | undefined {
    // a connection is one to a life of a machine: it does not outlive that
    const host = this.plan.topology === "both"
      ? chanceOf(this.plan.seed, "route", name).pick(this.hosts)
      : this.hosts[this.primary]
    const life = host?.life
    return () => life?.machine.isOn === true ? life : undefined
  }
}
