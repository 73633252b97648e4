/** Selects the placement of players by the setting CLUSTER: all on this node, or spread over the nodes of a cluster. */
import { Effect, Layer } from "effect"
import { Settings } from "../platform/Settings.ts"
import { Nodes } from "./Nodes.ts"
import { layerSingleNode, refuseLiveNodes } from "./SingleNode.ts"

/** Layer by the setting CLUSTER. */
export const layerCluster = Layer.unwrap(Effect.gen(function*() {
  if ((yield* Settings).cluster) {
    // imported here: most services run without a cluster, and start faster without its modules
    const { layerClusterNode } = yield* Effect.promise(() => import("./ClusterNode.ts"))
    return layerClusterNode
  }
  yield* refuseLiveNodes
  return layerSingleNode
}))

/**
 * Joins the cluster after everything else of the service is open, so that no player waits for a starting node, and leaves it before anything
 * is closed: requests are still accepted and forwarded to the new owners of their players.
 */
export const layerMember = Layer.effectDiscard(
  Effect.flatMap(Nodes, ({ join, leave }) => Effect.andThen(Effect.addFinalizer(() => leave), join))
)
