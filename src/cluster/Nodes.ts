/** Cluster nodes: their list and draining for the back office, and the joining and leaving of this node. */
import { Context, Effect, Layer } from "effect"

/** A live node. */
export interface Node {
  readonly id: string
  /** Address for other nodes, `host:port`. */
  readonly address: string
  readonly pid: number
  readonly version: string
  /** Number of player shards held. */
  readonly shards: number
  /** Start, epoch ms. */
  readonly since: number
  /** Time at which its shards may be taken over without a further sign of life; null when not reported. */
  readonly leaseMsLeft: number | null
  readonly isDraining: boolean
}

export class Nodes extends Context.Service<Nodes, {
  /** All live nodes; empty without a cluster. */
  readonly list: Effect.Effect<ReadonlyArray<Node>>
  /** Makes a node hand over its players and take no more; false for an unknown node. It goes on forwarding requests to their owners. */
  readonly drain: (id: string) => Effect.Effect<boolean>
  /** Makes this node a member of the cluster, once. Before, it forwards requests to their owners and owns no players. */
  readonly join: Effect.Effect<void>
  /** Hands over this node's players and leaves the cluster. Ends when others may have taken them, or at its time limit. */
  readonly leave: Effect.Effect<void>
  /** Whether this node is handing over or has handed over its players. */
  readonly isLeaving: () => boolean
  /** Whether this node knows the owners, so that a request can reach its owner. */
  readonly isJoined: () => boolean
  /** Whether this node owns no players because its clock differs from PostgreSQL's, and another node's agrees with it or may do so. */
  readonly isAside: () => boolean
}>()("pitboss/cluster/Nodes") {
  static readonly layerNone = Layer.succeed(
    Nodes,
    Nodes.of({
      list: Effect.succeed([]),
      drain: () => Effect.succeed(false),
      join: Effect.void,
      leave: Effect.void,
      isLeaving: () => false,
      isJoined: () => true,
      isAside: () => false
    })
  )
}
