/**
 * A node of a simulated cluster: `Ownership` over effect's own `Sharding`, both real, on the machine's clock and over the locks of the
 * simulated database; and the calls between nodes, which may be late, lost, or never answered.
 */
import { Context, Effect, Layer, Option } from "effect"
import { RunnerAddress, RunnerStorage } from "effect/cluster"
import {
  type Answered,
  type Call,
  Forwarder,
  type Handler,
  NotAnswered,
  notOwned
} from "../../../src/cluster/Forwarder.ts"
import { Locks } from "../../../src/cluster/Locks.ts"
import { Membership } from "../../../src/cluster/Membership.ts"
import { Ownership } from "../../../src/cluster/Ownership.ts"
import { ShardTerms } from "../../../src/cluster/ShardTerms.ts"
import { Placement } from "../../../src/engine/Placement.ts"
import { monotonicMs } from "../../../src/platform/MonotonicClock.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import type { Connection } from "./Database.ts"
import type { Leases } from "./Leases.ts"
import type { Plan } from "./Plan.ts"
import type { SeededBug } from "./SeededBug.ts"
import type { Machine, World } from "./World.ts"

/** Maximum time of the search for an owner, and of the wait for its answer, in ms. */
const maxRoutingMs = 4500
const maxAnswerMs = 5500
const routingPauseMs = 40

/** Result of a call to another node. */
type Awaited = Answered | typeof notOwned | "unsent" | "lost"

interface Post {
  readonly machine: Machine
  readonly channels: Map<string, Handler>
  /** Pending calls at this node, as callbacks that report its loss to their senders. */
  readonly waiting: Set<() => void>
  /** Newest epoch of the node. */
  newestEpoch: () => number
  /** Whether a call may run: the newest epoch when it was sent, and whether its caller has opened another connection since. */
  accepts: (key: number, knownEpoch: number, isReplaced: boolean) => boolean
  /** Notifies the node that another one has changed. */
  refreshNodes: () => void
}

/** Reads a node's view of its ownership. */
export interface OwnershipView {
  readonly machine: Machine
  readonly holds: (key: number) => boolean
}

/** Connections between nodes. */
export class Wires {
  private readonly world: World
  private readonly plan: Plan
  private readonly posts = new Map<string, Post>()
  private readonly isCut: (one: Machine, other: Machine) => boolean
  private calls = 0
  /** By nodes of both ends: connections opened so far, and the newest over which a call has arrived. */
  private readonly opened = new Map<string, number>()
  private readonly heard = new Map<string, number>()
  /** All started nodes, in order. */
  readonly views: Array<OwnershipView> = []
  /** Keys held by two nodes at once. */
  readonly doubleOwners: Array<string> = []

  constructor(world: World, plan: Plan, isCut: (one: Machine, other: Machine) => boolean) {
    this.world = world
    this.plan = plan
    this.isCut = isCut
  }

  attach(address: string, machine: Machine): Post {
    const post: Post = {
      machine,
      channels: new Map(),
      waiting: new Set(),
      newestEpoch: () => 0,
      accepts: () => true,
      refreshNodes: () => {}
    }
    this.posts.set(address, post)
    return post
  }

  /** Makes all reachable nodes read the node list. */
  tellOthers(from: Machine): void {
    for (const { refreshNodes, machine } of this.posts.values()) {
      if (machine === from || !machine.isOn || this.isCut(from, machine)) continue
      const chance = chanceOf(this.plan.seed, "news", from.name, this.calls++)
      this.world.after(delayOf(chance), machine, refreshNodes)
    }
  }

  /** Fails calls pending at a dead node: connections break. */
  detach(machine: Machine): void {
    for (const post of this.posts.values()) {
      if (post.machine !== machine) continue
      for (const hear of post.waiting) hear()
      post.waiting.clear()
    }
  }

  /** Calls a node, once. A call that is lost has ended its connection: the next one goes over a new one. */
  exchange(from: Machine, address: string, key: number, channel: string, call: Call): Effect.Effect<Awaited> {
    const { world } = this
    return Effect.callback<Awaited>((resume) => {
      const chance = chanceOf(this.plan.seed, "wire", from.name, this.calls++)
      const target = this.posts.get(address)
      const ends = `${from.name} ${target?.machine.name ?? address}`
      const connection = this.opened.get(ends) ?? 1
      const hear = (after: number, answer: Awaited) =>
        void world.after(after, from, () => {
          if (answer === "lost") this.opened.set(ends, Math.max(this.opened.get(ends) ?? 1, connection + 1))
          resume(Effect.succeed(answer))
        })
      const there = delayOf(chance)
      if (target === undefined || !target.machine.isOn) return hear(there, "unsent")
      const knownEpoch = target.newestEpoch()
      const isReplaced = () => connection < (this.heard.get(ends) ?? 0)
      const isAccepted = (): boolean => {
        if (!isReplaced()) this.heard.set(ends, connection)
        return target.accepts(key, knownEpoch, isReplaced())
      }
      // no connection, or one on which the call goes unanswered; sent data may still arrive
      if (this.isCut(from, target.machine)) {
        if (chance.happens(0.5)) return hear(chance.between(200, 1000), "unsent")
        hear(chance.between(500, 6000), "lost")
        if (chance.happens(0.5)) {
          world.after(chance.between(100, 8000), target.machine, () => {
            if (isAccepted()) target.channels.get(channel)?.(call, () => {})
          })
        }
        return
      }
      const isGone = () => hear(chance.between(1, 50), "lost")
      target.waiting.add(isGone)
      world.after(there, target.machine, () => {
        const open = target.channels.get(channel)
        if (open === undefined || !isAccepted()) {
          target.waiting.delete(isGone)
          return isReplaced() ? isGone() : hear(delayOf(chance), open === undefined ? "unsent" : notOwned)
        }
        open(call, (answer) => {
          if (!target.waiting.delete(isGone)) return
          if (this.isCut(from, target.machine)) return hear(chance.between(200, 3000), "lost")
          hear(delayOf(chance), answer === notOwned ? notOwned : { ...answer, node: address })
        })
      })
    })
  }

  /** Records a key held by two nodes at once. */
  check(own: OwnershipView, key: number): void {
    for (const other of this.views) {
      if (other === own || !other.machine.isOn || !other.holds(key)) continue
      this.doubleOwners.push(`player ${key}: ${other.machine.name} and ${own.machine.name} at step ${this.world.step}`)
    }
  }
}

const delayOf = (chance: Chance): number => chance.happens(0.1) ? chance.between(5, 60) : chance.between(0, 3)

/** A node's placement, checked for keys held by two nodes. */
const observed = (placement: Placement["Service"], machine: Machine, wires: Wires): Placement["Service"] => {
  const epochs = new Map<number, number>()
  const view: OwnershipView = { machine, holds: (key) => placement.holds(key, epochs.get(key) ?? 0) }
  wires.views.push(view)
  return {
    ...placement,
    epochOf: (key) => {
      const epoch = placement.epochOf(key)
      if (epoch !== 0) {
        epochs.set(key, epoch)
        wires.check(view, key)
      }
      return epoch
    },
    holds: (key, epoch) => {
      const isHeld = placement.holds(key, epoch)
      if (isHeld) wires.check(view, key)
      return isHeld
    }
  }
}

export interface NodeOptions {
  readonly plan: Plan
  readonly machine: Machine
  readonly host: string
  readonly port: number
  readonly connection: Connection
  readonly leases: Leases
  readonly wires: Wires
  readonly bug: SeededBug
}

/** Placement and calls to owners, of one node. */
export const layerNode = ({ bug, connection, host, leases, machine, plan, port, wires }: NodeOptions) => {
  const refreshMs = Math.floor(plan.leaseMs * 0.325)
  const address = `${host}:${port}`
  const storage = Layer.effectContext(Effect.sync(() => {
    const { locks, storage } = leases.storageOf(connection, refreshMs)
    return Context.make(RunnerStorage.RunnerStorage, storage).pipe(Context.add(Locks, locks))
  }))
  const terms = Layer.sync(ShardTerms, () => leases.termsOf(connection, address))
  const membership = Membership.layerOver(RunnerAddress.make(host, port), plan.leaseMs).pipe(
    Layer.provide([storage, terms])
  )
  const services = Layer.effectContext(Effect.gen(function*() {
    const own = yield* Ownership
    const post = wires.attach(address, machine)
    post.refreshNodes = own.refreshNodes
    post.newestEpoch = own.newestEpoch
    post.accepts = (key, knownEpoch, isReplaced) => {
      const epoch = own.placement.epochOf(key)
      return epoch !== 0 && !bug.isOutdated(isReplaced || epoch > knownEpoch)
    }
    own.announce(() => wires.tellOthers(machine))

    const openOwn = (channel: string, call: Call) =>
      Effect.callback<Awaited>((resume) => {
        const open = post.channels.get(channel)
        if (open === undefined) return resume(Effect.succeed("unsent"))
        open(call, (answer) => resume(Effect.succeed(answer === notOwned ? answer : { ...answer, node: address })))
      })

    const send: Forwarder["Service"]["send"] = Effect.fnUntraced(function*(key, channel, call, options) {
      const isRepeatable = bug.isRepeatable(options.isRepeatable)
      const startedAt = yield* monotonicMs
      for (;;) {
        const owner = own.ownerOf(key)
        const answer = owner === undefined
          ? "unsent"
          : owner === address
          ? yield* openOwn(channel, call)
          : Option.getOrElse(
            yield* Effect.timeoutOption(
              wires.exchange(machine, owner, key, channel, call),
              options.timeoutMs ?? maxAnswerMs
            ),
            () => "late" as const
          )
        if (typeof answer !== "string") return answer
        if (answer === "late" || (answer === "lost" && !isRepeatable)) {
          return yield* new NotAnswered({ because: "lost" })
        }
        if ((yield* monotonicMs) - startedAt >= maxRoutingMs) return yield* new NotAnswered({ because: "unsent" })
        yield* Effect.sleep(routingPauseMs)
      }
    })

    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const forwarder = Forwarder.of({
      node: address,
      isHere: (key) => own.placement.epochOf(key) !== 0,
      ownerOf: own.ownerOf,
      serve: (channel, open) => void post.channels.set(channel, open),
      send,
      post: (key, channel, call, options, done) => void fork(send(key, channel, call, options)).addObserver(done),
      sendTo: () => Effect.undefined,
      sendToAll: () => Effect.succeed([])
    })
    const placement = bug.placement(observed(own.placement, machine, wires))
    return Context.make(Placement, placement).pipe(
      Context.add(Forwarder, forwarder),
      Context.add(Ownership, own),
      Context.add(Membership, yield* Membership)
    )
  }))
  return Layer.provide(services, membership)
}
