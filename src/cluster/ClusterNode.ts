/** Cluster node: owns its share of the players, forwards calls about the others to their nodes, and describes itself to the back office. */
import { Clock, Effect, Layer, Schema } from "effect"
import { RunnerAddress } from "effect/cluster"
import { Placement } from "../engine/Placement.ts"
import { DatabaseTime } from "../platform/DatabaseTime.ts"
import { Entropy } from "../platform/Entropy.ts"
import { version } from "../platform/Version.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { areContradicting, makeClockWatch, unsettled } from "./ClockWatch.ts"
import { Forwarder } from "./Forwarder.ts"
import { makeForwarding } from "./Forwarding.ts"
import { Membership } from "./Membership.ts"
import { Nodes } from "./Nodes.ts"
import { Ownership } from "./Ownership.ts"
import { listenForPeers } from "./PeerServer.ts"
import { makeTrust } from "./Trust.ts"

const NodeJson = Schema.fromJsonString(Schema.Struct({
  id: Schema.String,
  address: Schema.String,
  pid: Schema.Int,
  version: Schema.String,
  shards: Schema.Int,
  since: Schema.Int,
  leaseMsLeft: Schema.NullOr(Schema.Int),
  isDraining: Schema.Boolean
}))
const encodeNode = Schema.encodeSync(NodeJson)
const decodeNode = Schema.decodeEffect(NodeJson)

/** Channels of a node. */
const describeChannel = "node"
const drainChannel = "node drain"
const refreshChannel = "node look"
const clockChannel = "node clock"

/** A peer that misses the notice reads the nodes by itself. */
const notifyTimeoutMs = 500

/** Time limit of the others' answer about their clocks. */
const clockTimeoutMs = 500

const question = { head: "", body: "" }

const makeNodes = Effect.fnUntraced(function*(id: string) {
  const ownership = yield* Ownership
  const membership = yield* Membership
  const forwarder = yield* Forwarder
  const since = yield* Clock.currentTimeMillis
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  forwarder.serve(describeChannel, (_, done) => {
    const leaseMsLeft = ownership.leaseMsLeft()
    done({
      status: 200,
      head: "",
      body: encodeNode({
        id,
        address: ownership.self,
        pid: process.pid,
        version,
        shards: ownership.shardsHeld(),
        since,
        leaseMsLeft: leaseMsLeft === null ? null : Math.round(leaseMsLeft),
        isDraining: ownership.isLeaving()
      })
    })
  })
  forwarder.serve(refreshChannel, (_, done) => {
    ownership.refreshNodes()
    done({ status: 204, head: "", body: "" })
  })
  const notifyAll = forwarder.sendToAll(refreshChannel, question, { isRepeatable: true, timeoutMs: notifyTimeoutMs })
  ownership.announce(() => void fork(notifyAll))
  const handOver = Effect.gen(function*() {
    // the service closes its pools after this: a drain begun by the staff ends first
    if (ownership.isLeaving()) return yield* ownership.handOver
    yield* Effect.logInfo("handing players over to other nodes")
    yield* ownership.handOver
    yield* Effect.logInfo("players handed over to other nodes")
  })
  forwarder.serve(drainChannel, (_, done) => {
    fork(handOver).addObserver(() => done({ status: 204, head: "", body: "" }))
  })

  const { believeDatabase, isAgreed, isSettled } = yield* DatabaseTime
  forwarder.serve(
    clockChannel,
    (_, done) => done({ status: isAgreed() ? 200 : 503, head: "", body: isSettled() ? "" : unsettled })
  )
  /** Whether another node's clock agrees with PostgreSQL's, and this one's is the wrong one. */
  const othersAgree = Effect.map(
    forwarder.sendToAll(clockChannel, question, { isRepeatable: true, timeoutMs: clockTimeoutMs }),
    (answers) => {
      const doAgree = areContradicting(answers, id, isSettled())
      if (doAgree) believeDatabase()
      return doAgree
    }
  )
  const clock = makeClockWatch({ isAgreed, othersAgree, standAside: ownership.standAside })
  const scope = yield* Effect.scope

  return Nodes.of({
    list: forwarder.sendToAll(describeChannel, question, { isRepeatable: true, timeoutMs: 2000 }).pipe(
      Effect.flatMap((answers) => Effect.forEach(answers, ({ body }) => decodeNode(body))),
      Effect.map((nodes) => nodes.toSorted((one, other) => one.since - other.since || (one.id < other.id ? -1 : 1))),
      Effect.orDie
    ),
    drain: (node) =>
      forwarder.sendTo(node, drainChannel, question, { isRepeatable: true, timeoutMs: 8000 }).pipe(
        Effect.map((answer) => answer !== undefined),
        // the handover goes on
        Effect.catch(({ because }) => Effect.succeed(because === "lost"))
      ),
    join: Effect.andThen(clock.awaitRight, membership.join).pipe(
      Effect.andThen(Effect.forkIn(clock.watch, scope)),
      Effect.asVoid
    ),
    leave: handOver,
    isLeaving: ownership.isLeaving,
    isJoined: ownership.isJoined,
    isAside: clock.isAside
  })
})

/** Needs the database; closing it leaves the cluster. */
export const layerClusterNode = Layer.unwrap(Effect.gen(function*() {
  const { clusterHost, clusterLeaseSeconds, clusterPort } = yield* Settings
  const trust = yield* makeTrust
  const id = (yield* Entropy).token("", 6)
  // exclusive even where processes of one supervisor share ports; noDelay because answers are small
  const address = { host: clusterHost, port: clusterPort, exclusive: true, noDelay: true }
  const server = yield* listenForPeers({ ...trust.server, ...address }).pipe(
    Effect.mapError(() =>
      new StartupError({ message: `CLUSTER_HOST, CLUSTER_PORT: cannot listen on ${clusterHost}:${clusterPort}` })
    )
  )
  return Layer.effect(Nodes, makeNodes(id)).pipe(
    Layer.provideMerge(Layer.effect(
      Forwarder,
      makeForwarding({ node: id, server, trust })
    )),
    Layer.provideMerge(Layer.effect(Placement, Effect.map(Ownership, ({ placement }) => placement))),
    Layer.provide(Membership.layer(RunnerAddress.make(clusterHost, server.port), clusterLeaseSeconds))
  )
}))
