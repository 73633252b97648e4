/** Network between clients and service: delays, loses, duplicates and reorders requests and answers. */
import { Cause, Context, Effect, Exit } from "effect"
import type { Cluster } from "./Cluster.ts"
import type { NetworkTrouble, Plan } from "./Plan.ts"
import { chanceOf } from "../../kit/Chance.ts"
import type { Answer, Request } from "./Requests.ts"
import type { Machine, World } from "./World.ts"

/** A request that arrived at a service, and its result. Steps are the world's. */
export interface Delivery {
  /** The action that it is part of. */
  readonly actionId: string
  readonly request: Request
  readonly service: string
  /** Step at which the client sent it. */
  readonly sentAt: number
  readonly arrivedAt: number
  /** Undefined when the service never finished it. */
  endedAt: number | undefined
  answer: Answer | undefined
}

export class Network {
  readonly deliveries: Array<Delivery> = []
  /** Time-out of each call, then the delays of its copies there and back, all in ms, by its name. */
  readonly drawn = new Map<string, Array<number>>()
  /** Requests that ended in a defect. */
  readonly defects: Array<string> = []
  private readonly world: World
  private readonly plan: Plan
  private readonly cluster: Cluster
  private readonly clients: Machine
  private readonly troubles: ReadonlyArray<NetworkTrouble>
  /** No further faults once true. */
  private isCalm = false

  constructor(world: World, plan: Plan, cluster: Cluster, clients: Machine) {
    this.world = world
    this.plan = plan
    this.cluster = cluster
    this.clients = clients
    this.troubles = plan.faults.filter((fault) => fault.kind === "network")
  }

  calm(): void {
    this.isCalm = true
  }

  private weather(): Pick<NetworkTrouble, "drop" | "duplicate" | "slow"> {
    if (this.isCalm) return { drop: 0, duplicate: 0, slow: 0 }
    const passed = this.world.now - this.plan.beginning
    return this.troubles.find(({ at, forMs }) => passed >= at && passed < at + forMs) ?? this.plan.network
  }

  /**
   * Sends a request and returns the first answer received in time; undefined on a timeout, or without a service.
   * `name` is the attempt's own. A request that may not be duplicated is lost or arrives once.
   */
  call(
    name: string,
    actionId: string,
    request: Request,
    timeoutMs: number,
    mayDouble: boolean
  ): Effect.Effect<Answer | undefined> {
    const { clients, world } = this
    return Effect.callback<Answer | undefined>((resume) => {
      const chance = chanceOf(this.plan.seed, "call", name)
      const { drop, duplicate, slow } = this.weather()
      const delay = () => chance.happens(slow) ? chance.between(20, 3000) : chance.between(0, 15)
      const target = this.cluster.route(name)
      const sentAt = world.step
      const hear = (answer: Answer | undefined) => resume(Effect.succeed(answer))
      const hangUps: Array<() => void> = []
      const drawn = [timeoutMs]
      this.drawn.set(name, drawn)
      world.after(timeoutMs, clients, () => {
        hear(undefined)
        for (const hangUp of hangUps) hangUp()
      })
      const copies = mayDouble && chance.happens(duplicate) ? 2 : 1
      for (let copy = 0; copy < copies; copy++) {
        if (chance.happens(drop)) continue
        const isAnswerLost = chance.happens(drop)
        const [there, back] = [delay(), delay()]
        drawn.push(there, back)
        world.after(there, clients, () => {
          const life = target()
          if (life?.port === undefined) {
            world.after(1, clients, () => hear(undefined))
            return
          }
          const { machine, port } = life
          const delivery: Delivery = {
            actionId,
            request,
            service: machine.name,
            sentAt,
            arrivedAt: world.step,
            endedAt: undefined,
            answer: undefined
          }
          this.deliveries.push(delivery)
          // the service's own fiber, on the service's own machine
          world.after(0, machine, () => {
            const fiber = machine.fork(Context.empty(), port.handle(request))
            // the service notices a connection closed by the client a while later
            hangUps.push(() => world.after(back, machine, () => fiber.interruptUnsafe()))
            fiber.addObserver((exit) => {
              delivery.endedAt = world.step
              if (Exit.isSuccess(exit)) {
                delivery.answer = exit.value
                if (!isAnswerLost) world.after(back, clients, () => hear(exit.value))
              } else if (!Cause.hasInterruptsOnly(exit.cause)) {
                this.defects.push(`${request.kind} of ${actionId}: ${Cause.pretty(exit.cause)}`)
              }
            })
          })
        })
      }
    })
  }
}
