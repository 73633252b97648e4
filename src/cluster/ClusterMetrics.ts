/** Cluster metrics of a node, read at scrape time. */
import { Effect, Metric } from "effect"
import { registerCounter, registerGauge } from "../platform/Metrics.ts"
import type { Ownership } from "./Ownership.ts"

/** Counts since the start. */
export interface ForwardingCounts {
  /** Messages with calls to other nodes, and the calls in them. */
  messages: number
  sent: number
  answered: number
  /** Calls received from other nodes, and those of them for a key that this node did not own. */
  received: number
  notOwned: number
  lost: number
  unsent: number
  overloaded: number
}

const counter = (description: string) => ({ description, incremental: true as const })

const nodesGauge = Metric.gauge("cluster_nodes", { description: "Live nodes, as this one knows them" })
const peersGauge = Metric.gauge("cluster_peers_connected", { description: "Nodes that this one has a connection to" })
const shardsGauge = Metric.gauge("cluster_shards_held", { description: "Shards of players that this node holds" })
const waitingGauge = Metric.gauge("cluster_calls_waiting", {
  description: "Calls to other nodes that are not answered yet"
})
const movesTotal = Metric.counter("cluster_shard_moves_total", counter("Shards that this node took or gave"))
const staleTotal = Metric.counter(
  "cluster_stale_refused_total",
  counter("Looks at a player whose epoch at this node was over")
)
const sentTotal = Metric.counter("cluster_calls_sent_total", counter("Calls sent to other nodes"))
const messagesTotal = Metric.counter("cluster_messages_sent_total", counter("Messages that they were sent in"))
const answeredTotal = Metric.counter("cluster_calls_answered_total", counter("Of them, answered"))
const receivedTotal = Metric.counter("cluster_calls_received_total", counter("Calls of other nodes"))
const notOwnedTotal = Metric.counter(
  "cluster_calls_not_mine_total",
  counter("Of them, for a player that this node did not own")
)
const lostTotal = Metric.counter(
  "cluster_calls_lost_total",
  counter("Calls without an answer: the connection broke, or the time was up")
)
const unsentTotal = Metric.counter("cluster_calls_unsent_total", counter("Calls that no owner was found for in time"))
const overloadedTotal = Metric.counter(
  "cluster_calls_overloaded_total",
  counter("Calls refused because as many waited as may")
)

/** Exports the metrics until the scope closes. */
export const registerClusterMetrics = Effect.fnUntraced(function*(node: {
  readonly ownership: Ownership["Service"]
  readonly counts: Readonly<ForwardingCounts>
  readonly waiting: () => number
  readonly peers: () => number
}) {
  const { counts, ownership } = node
  yield* registerGauge(nodesGauge, () => ownership.nodes().size)
  yield* registerGauge(peersGauge, node.peers)
  yield* registerGauge(shardsGauge, ownership.shardsHeld)
  yield* registerGauge(waitingGauge, node.waiting)
  yield* registerCounter(movesTotal, () => ownership.counts.moves)
  yield* registerCounter(staleTotal, () => ownership.counts.stale)
  yield* registerCounter(sentTotal, () => counts.sent)
  yield* registerCounter(messagesTotal, () => counts.messages)
  yield* registerCounter(answeredTotal, () => counts.answered)
  yield* registerCounter(receivedTotal, () => counts.received)
  yield* registerCounter(notOwnedTotal, () => counts.notOwned)
  yield* registerCounter(lostTotal, () => counts.lost)
  yield* registerCounter(unsentTotal, () => counts.unsent)
  yield* registerCounter(overloadedTotal, () => counts.overloaded)
})
