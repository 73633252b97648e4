/** The nodes of the cluster, as staff see them. */
import { Context, Effect, Layer } from "effect"

/** A live node. */
export interface Node {
  readonly id: string
  /** Where other nodes reach it, `host:port`. */
  readonly address: string
  readonly pid: number
  readonly version: string
  /** How many shards of players it holds. */
  readonly shards: number
  /** Epoch milliseconds of its start. */
  readonly since: number
  /** Until its shards may be taken over, unless it is heard of; null when it did not say. */
  readonly leaseMsLeft: number | null
  readonly isDraining: boolean
}

export class Nodes extends Context.Service<Nodes, {
  /** Every live node; none without a cluster. */
  readonly list: Effect.Effect<ReadonlyArray<Node>>
  /** Has a node hand its players over and take no more; false when there is no such node. It goes on sending requests to their owners. */
  readonly drain: (id: string) => Effect.Effect<boolean>
  /** Makes this node one of the cluster's, once. Before, it sends requests to their owners and owns nobody. */
  readonly join: Effect.Effect<void>
  /** Hands over this node's players and leaves the cluster. Ends when others may have taken them, or after its bound. */
  readonly leave: Effect.Effect<void>
  /** Whether it hands over or has handed over its players. */
  readonly isLeaving: () => boolean
  /** Whether this node knows who owns what: a request can reach its owner. */
  readonly isJoined: () => boolean
}>()("pitboss/cluster/Nodes") {
  static readonly layerNone = Layer.succeed(
    Nodes,
    Nodes.of({
      list: Effect.succeed([]),
      drain: () => Effect.succeed(false),
      join: Effect.void,
      leave: Effect.void,
      isLeaving: () => false,
      isJoined: () => true
    })
  )
}
