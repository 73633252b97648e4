/** Nodes of a cluster as processes, each connected to the database and the others through proxies that a test can hold. */
import { assert } from "@effect/vitest"
import { Effect, Schedule, Schema, Scope } from "effect"
import { dataAs } from "./Casino.ts"
import { databaseUrl } from "./E2eDatabase.ts"
import type { Sender } from "./History.ts"
import { type HoldingProxy, makeHoldingProxy } from "./HoldingProxy.ts"
import { makeAgent, staffOf } from "./HttpCalls.ts"
import { addStaff } from "./Keys.ts"
import { freePort, type ServiceExited, type ServiceProcess, startService } from "./ServiceProcess.ts"

export interface ClusterNode {
  readonly number: number
  readonly port: number
  /** As it runs now, or ran last. */
  readonly process: () => ServiceProcess
  /** Starts it again after its end; completes when it takes requests. */
  readonly restart: Effect.Effect<void, ServiceExited>
  /** Its way to the database. */
  readonly database: HoldingProxy
  /** The ways between it and its peers, both directions. */
  readonly peers: ReadonlyArray<HoldingProxy>
}

export interface ClusterOptions {
  readonly count: number
  /** Of the owner of the tables, without the proxies. */
  readonly databaseUrl: string
  readonly leaseSeconds?: number
  readonly environment?: { readonly [name: string]: string }
  /** The node whose clock begins this far away, and can be moved; it is not waited for until it is ready. */
  readonly wrongClock?: { readonly node: number; readonly offsetMs: number }
  /** Another `src/main.ts` for all of them. */
  readonly main?: string
  readonly onOutput?: (node: number, text: string) => void
}

/** Starts them until the scope closes. */
export const startCluster = Effect.fnUntraced(function*(options: ClusterOptions) {
  const numbers = Array.from({ length: options.count }, (_, index) => index + 1)
  const upstream = new URL(options.databaseUrl)
  const planned = yield* Effect.forEach(numbers, (number) =>
    Effect.gen(function*() {
      return {
        number,
        port: yield* freePort,
        clusterPort: yield* freePort,
        database: yield* makeHoldingProxy(Number(upstream.port))
      }
    }))
  /** The way from one to another, by both numbers. */
  const ways = new Map<string, HoldingProxy>()
  for (const from of planned) {
    for (const to of planned) {
      if (from !== to) ways.set(`${from.number} ${to.number}`, yield* makeHoldingProxy(to.clusterPort))
    }
  }
  const scope = yield* Effect.scope
  return yield* Effect.forEach(planned, ({ clusterPort, database, number, port }) =>
    Effect.gen(function*() {
      const url = new URL(options.databaseUrl)
      url.port = String(database.port)
      const others = planned.filter((other) => other.number !== number)
      const start = Scope.provide(
        startService({
          port,
          databaseUrl: url.href,
          environment: {
            LOG_LEVEL: "warn",
            CLUSTER: "on",
            CLUSTER_PORT: String(clusterPort),
            CLUSTER_LEASE_SECONDS: String(options.leaseSeconds ?? 4),
            OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${number}`,
            ...options.environment
          },
          detours: new Map(
            others.map((other) => [other.clusterPort, ways.get(`${number} ${other.number}`)?.port ?? other.clusterPort])
          ),
          ...options.main === undefined ? {} : { main: options.main },
          ...options.wrongClock?.node === number
            ? { hasMovableClock: true, clockOffsetMs: options.wrongClock.offsetMs, awaits: "live" }
            : {},
          onOutput: (text) => options.onOutput?.(number, text)
        }),
        scope
      )
      let running = yield* start
      return {
        number,
        port,
        process: () => running,
        restart: Effect.map(start, (next) => {
          running = next
        }),
        database,
        peers: [...ways].flatMap(([between, way]) => between.split(" ").includes(String(number)) ? [way] : [])
      } satisfies ClusterNode
    }), { concurrency: "unbounded" })
})

const Held = Schema.Array(Schema.Struct({ shards: Schema.Int }))

/** All shards of players, and the least that a node of three has when none is on its way. */
const [allShards, fewestShards] = [300, 60]

/** Completes when so many nodes share all players, and none is on its way from one to another. */
export const untilBalanced = (staff: Sender, count: number) =>
  staff.send("/backoffice/v1/nodes").pipe(
    Effect.flatMap((reply) => dataAs(reply, 200, Held)),
    Effect.map((nodes) =>
      nodes.length === count && nodes.reduce((sum, { shards }) => sum + shards, 0) === allShards &&
      nodes.every(({ shards }) => shards >= fewestShards * 3 / count)
    ),
    Effect.orElseSucceed(() => false),
    Effect.repeat({ until: (answer) => answer, schedule: Schedule.spaced("100 millis") }),
    Effect.timeout("60 seconds")
  )

/** One of several, over and over. */
export const pick = <A>(all: ReadonlyArray<A>, index: number): A => all[index % all.length] ?? assert.fail("no node")

/** Nodes on the database of the test that share all players, and the staff API at each. */
export const startBalanced = Effect.fnUntraced(
  function*(options: Omit<ClusterOptions, "databaseUrl"> = { count: 3 }) {
    const nodes = yield* startCluster({ ...options, databaseUrl: yield* databaseUrl })
    const agent = yield* makeAgent()
    const token = yield* addStaff("Grace")
    const staff = nodes.map((node) => staffOf(agent, () => node.process().backofficePort, token))
    yield* untilBalanced(pick(staff, 0), nodes.length)
    return { agent, nodes, staff }
  }
)
