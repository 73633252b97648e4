/** Nodes of a cluster in one process, each in its own scope, on the test PostgreSQL. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Exit, Layer, Schedule, Scope } from "effect"
import { RunnerAddress } from "effect/cluster"
import { layerCluster } from "../../src/cluster/Cluster.ts"
import { type Answer, type Call, Forwarder, notOwned } from "../../src/cluster/Forwarder.ts"
import { Nodes } from "../../src/cluster/Nodes.ts"
import { assign, nameOf, shardOf } from "../../src/cluster/Shards.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { DatabaseUrl } from "../../src/platform/Database.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Settings, type SettingsShape } from "../../src/platform/Settings.ts"
import { asService } from "./TestServer.ts"
import { TestDatabase } from "./TestDatabase.ts"

export interface ClusterNode {
  readonly placement: Placement["Service"]
  readonly forwarder: Forwarder["Service"]
  readonly nodes: Nodes["Service"]
  readonly id: string
  readonly address: RunnerAddress.RunnerAddress
  /** Ends it as the end of a process does, after it has left or without. */
  readonly close: Effect.Effect<void>
}

/** Starts a node on the database of the test, as the service's role. */
export const startNode = Effect.fnUntraced(function*(settings: Partial<SettingsShape> = {}) {
  const { url } = yield* TestDatabase
  const scope = yield* Scope.fork(yield* Effect.scope)
  const layer = Layer.fresh(layerCluster).pipe(
    Layer.provide(TestDatabase.layerService),
    Layer.provide(Layer.succeed(DatabaseUrl, { url: asService(url), ownerUrl: url, embedded: false })),
    Layer.provide([
      Entropy.layer,
      NodeServices.layer,
      Settings.layerTest({ cluster: true, clusterLeaseSeconds: 2, ...settings })
    ])
  )
  const context = yield* Layer.buildWithScope(layer, scope)
  const nodes = Context.get(context, Nodes)
  yield* nodes.join
  const forwarder = Context.get(context, Forwarder)
  const self = (yield* nodes.list).find(({ id }) => id === forwarder.node)
  if (self === undefined) return yield* Effect.die(new Error("a node does not list itself"))
  const [host = "", port] = self.address.split(":")
  const node: ClusterNode = {
    placement: Context.get(context, Placement),
    forwarder,
    nodes,
    id: self.id,
    address: RunnerAddress.make(host, Number(port)),
    close: Scope.close(scope, Exit.void)
  }
  return node
})

/** Waits until a condition holds, with a time limit that only prevents endless waits. */
export const eventually = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(
    Effect.repeat({ until: (so) => so, schedule: Schedule.spaced("10 millis") }),
    Effect.timeout("30 seconds"),
    Effect.orDie
  )

/** Keys of the first players. */
export const keys = Array.from({ length: 300 }, (_, index) => index + 1)

/** How many of the keys a node owns. */
export const owned = ({ placement }: ClusterNode): number => keys.filter((key) => placement.epochOf(key) !== 0).length

/** Waits until every key is where it stays while there are these nodes, and nowhere else. */
export const settled = (nodes: ReadonlyArray<ClusterNode>) => {
  const owners = assign(nodes.map(({ address }) => ({ address, weight: 1 })))
  return eventually(() =>
    nodes.every(({ address, placement }) =>
      keys.every((key) => (placement.epochOf(key) !== 0) === (owners[shardOf(key) - 1] === nameOf(address)))
    )
  )
}

/** Serves a channel at a node that says where it is, as the owner of the key in `head`. */
export const serveWhere = (node: ClusterNode): void =>
  node.forwarder.serve(
    "where",
    ({ body, head }, done) =>
      done(node.placement.epochOf(Number(head)) === 0 ? notOwned : { status: 200, head, body: `${node.id} ${body}` })
  )

export const where = (key: number): Call => ({ head: String(key), body: "?" })

export const ok = (body: string): Answer => ({ status: 200, head: "", body })
