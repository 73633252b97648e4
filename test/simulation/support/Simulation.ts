/** One run: builds a world from a plan, runs it to its end, and checks the invariants. */
import { Clients, type Note } from "./Clients.ts"
import { Cluster } from "./Cluster.ts"
import { type Committed, Database } from "./Database.ts"
import { playersAt, promos } from "./Fixture.ts"
import type { Violation } from "./Books.ts"
import { check } from "./Invariants.ts"
import { openingRules } from "./Licence.ts"
import { type Delivery, Network } from "./Network.ts"
import type { Plan, StoreTrouble } from "./Plan.ts"
import { noBug, type SeededBug } from "./SeededBug.ts"
import { Machine, World } from "./World.ts"

export interface Outcome {
  readonly violations: ReadonlyArray<Violation>
  /** Deterministic for a plan. */
  readonly hash: string
  /** Number of tasks run. */
  readonly steps: number
  readonly commits: number
  readonly answers: number
  readonly history: ReadonlyArray<Committed>
  readonly notes: ReadonlyArray<Note>
  readonly deliveries: ReadonlyArray<Delivery>
  readonly drawn: Network["drawn"]
}

/** Wait for pending work after the last event, in ms. */
const settleMs = 20_000

const lastFaultEnd = (plan: Plan): number => plan.faults.reduce((last, { at, forMs }) => Math.max(last, at + forMs), 0)

/** Runs a plan. Deterministic: depends on nothing else. */
export const simulate = (plan: Plan, bug: SeededBug = noBug): Outcome => {
  const world = new World(plan.seed, plan.beginning)
  const clientMachine = new Machine(world, "clients", 100, plan.seed, 0)
  const troubles = plan.faults.filter((fault): fault is StoreTrouble => fault.kind === "store")
    .map((trouble) => ({ ...trouble, at: plan.beginning + trouble.at }))
  const beginning = playersAt(plan.beginning, plan.opening, openingRules(plan))
  const database = new Database(world, plan, beginning, troubles)
  for (const { id, maxRedemptions } of promos) database.memory.limitPromo(id, maxRedemptions)
  const cluster = new Cluster(world, plan, database, bug)
  const network = new Network(world, plan, cluster, clientMachine)
  const clients = new Clients(world, plan, network, clientMachine)
  cluster.start()
  clients.start()

  const calmFrom = plan.beginning + lastFaultEnd(plan)
  const hasSettled = () => {
    let settled: "no" | "soon" | "yes" = "no"
    return (): boolean => {
      if (settled === "no" && clients.areDone && world.now >= calmFrom) {
        settled = "soon"
        world.after(settleMs, database.machine, () => {
          settled = "yes"
        })
      }
      return settled === "yes" && database.pending === 0
    }
  }
  // keeps the clock moving while everything waits for the end of the last fault
  world.after(lastFaultEnd(plan) + 1, database.machine, () => {})
  const hasEnded = world.run(hasSettled())
  network.calm()
  if (hasEnded) {
    clients.lookAround()
    world.run(() => clients.areDone)
  }
  return {
    violations: check({ plan, beginning, database, cluster, network, clients, hasEnded }),
    hash: world.trace.digest(),
    steps: world.step,
    commits: database.history.length,
    answers: network.deliveries.length,
    history: database.history,
    notes: clients.notes,
    deliveries: network.deliveries,
    drawn: network.drawn
  }
}
