/**
 * Calls of this node to the nodes that own a player (or another key), and calls received from other nodes.
 *
 * A call waits in one of three states: awaiting an owner, retried for as long as a takeover may take; queued for the connection to the owner; sent
 * and waiting for its answer. All are bounded in number, bytes and time. A slow call is never sent again. A call refused by a node that does not own
 * the key is routed again. A call unanswered when the connection is lost or the owner leaves is sent again only if it is repeatable; after its third
 * lost connection it fails, since it may itself be the cause.
 */
import { Cause, Clock, Effect, Exit, FiberMap } from "effect"
import { makeLogThrottle } from "../platform/LogThrottle.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { makeTurnEnd } from "../platform/TurnEnd.ts"
import { type ForwardingCounts, registerClusterMetrics } from "./ClusterMetrics.ts"
import {
  type Answered,
  type Call,
  Forwarder,
  type Handler,
  NotAnswered,
  type SendOptions,
  notOwned
} from "./Forwarder.ts"
import { Ownership } from "./Ownership.ts"
import type { PeerServer } from "./PeerServer.ts"
import type { Trust } from "./Trust.ts"
import { lostStatus, noChannelStatus, noKey, type SentAnswer, type SentCall, notOwnedStatus } from "./Messages.ts"
import { makeCallServer, dial, type Line } from "./Wire.ts"

/** Maximum calls in one message. */
const maxMessage = 256

/** Maximum characters of a message, not counting its last call. */
const maxMessageLength = 1024 * 1024

/** Maximum unanswered calls to a peer, and maximum calls queued behind them; further calls are refused. */
const maxSent = 1024
const maxQueued = 1024

/** Maximum calls awaiting an owner. */
const maxUnrouted = 4096

/** Maximum characters of all waiting calls; further calls are refused. */
const maxWaitingLength = 32 * 1024 * 1024

/** Maximum time of the search for an owner, in ms: as long as a takeover may take. */
const maxRoutingMs = 4500

/** Connections lost with a repeatable call unanswered; at the last one it fails. */
const maxLosses = 3

/** Pause between two attempts to find an owner. */
const routingPause = "40 millis"

/** Silence in ms after which a peer that left the cluster is taken as gone. */
const maxSilentMs = 3000

const defaultTimeoutMs = 5500

/** Pause before reconnecting to a peer. */
const dialPause = "200 millis"

type Done = (exit: Exit.Exit<Answered, NotAnswered>) => void

interface Waiting {
  readonly id: number
  readonly key: number
  readonly channel: string
  readonly call: Call
  readonly isRepeatable: boolean
  readonly deadline: number
  /** End of the search for an owner, monotonic ms. */
  routeUntil: number
  /** Connections lost after the call was sent over them; it may have had its effect at each. */
  losses: number
  readonly done: Done
}

interface Peer {
  readonly address: string
  line: Line | undefined
  queued: Array<Waiting>
  readonly sent: Map<number, Waiting>
  /** Time of the last answer, monotonic ms. */
  heardAt: number
  /** Lower bound of the calls' deadlines, monotonic ms. */
  firstDeadline: number
  /** Whether a message is scheduled for the end of this turn of the event loop. */
  isDue: boolean
}

const failures = {
  unsent: Exit.fail(new NotAnswered({ because: "unsent" })),
  lost: Exit.fail(new NotAnswered({ because: "lost" })),
  overloaded: Exit.fail(new NotAnswered({ because: "overloaded" })),
  unserved: Exit.fail(new NotAnswered({ because: "unserved" }))
}

const lengthOf = ({ call, channel }: Waiting): number => channel.length + call.head.length + call.body.length

/** Makes the calls of the node `node` and answers calls of others on `server`. */
export const makeForwarding = Effect.fnUntraced(function*({ node, server, trust }: {
  readonly node: string
  readonly server: PeerServer
  readonly trust: Trust
}) {
  const ownership = yield* Ownership
  const { placement } = ownership
  const monotonic = monotonicClock(yield* Clock.Clock)
  const now = () => monotonic.currentTimeMillisUnsafe()
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const whenTurnEnds = yield* makeTurnEnd
  // Kept: channels, peers, unrouted, lastId, waitingLength, lines, gone. Calls to other nodes that wait or were sent, and connections. Several nodes:
  // its own.
  const channels = new Map<string, Handler>()
  const peers = new Map<string, Peer>()
  let unrouted: Array<Waiting> = []
  let lastId = 0
  let waitingLength = 0
  const counts: ForwardingCounts = {
    messages: 0,
    sent: 0,
    answered: 0,
    received: 0,
    notOwned: 0,
    lost: 0,
    unsent: 0,
    overloaded: 0
  }

  const logDefect = (defect: unknown) =>
    void fork(Effect.logError("callback of a call between nodes threw", Cause.die(defect)))

  /** Runs a callback of a caller: logs its defect, so that no other call misses its answer. */
  const contain = (run: () => void): void => {
    try {
      run()
    } catch (defect) {
      logDefect(defect)
    }
  }

  const finish = (waiting: Waiting, exit: Exit.Exit<Answered, NotAnswered>): void => {
    waitingLength -= lengthOf(waiting)
    contain(() => waiting.done(exit))
  }

  const refuse = (waiting: Waiting, reason: NotAnswered["because"]): void => {
    const because = waiting.losses > 0 ? "lost" : reason
    counts[because === "unserved" ? "unsent" : because]++
    finish(waiting, failures[because])
  }

  const awaitOwner = (waiting: Waiting): void => {
    if (waiting.key === noKey || now() >= waiting.routeUntil) refuse(waiting, "unsent")
    else if (unrouted.length >= maxUnrouted) refuse(waiting, "overloaded")
    else unrouted.push(waiting)
  }

  /** Runs a handler: `done` is called once, with undefined when the handler failed before its answer and may have had an effect. */
  const handleOnce = (
    handle: Handler,
    call: Call,
    done: (answer: Parameters<Parameters<Handler>[1]>[0] | undefined) => void
  ): void => {
    let isDone = false
    const answerOnce: typeof done = (answer) => {
      if (isDone) return
      isDone = true
      done(answer)
    }
    try {
      handle(call, answerOnce)
    } catch (defect) {
      logDefect(defect)
      answerOnce(undefined)
    }
  }

  const handleHere = (waiting: Waiting): void => {
    const handle = channels.get(waiting.channel)
    if (handle === undefined) return refuse(waiting, "unsent")
    handleOnce(handle, waiting.call, (answer) => {
      if (answer === undefined) refuse(waiting, "lost")
      else if (answer === notOwned) awaitOwner(waiting)
      else finish(waiting, Exit.succeed({ ...answer, node }))
    })
  }

  /** Sends queued calls within the limits: calls posted in one turn of the event loop share a message. */
  const sendSoon = (peer: Peer): void => {
    if (peer.isDue || peer.queued.length === 0 || peer.sent.size >= maxSent || peer.line?.hasRoom() !== true) return
    peer.isDue = true
    whenTurnEnds(() =>
      contain(() => {
        peer.isDue = false
        // losing the connection empties the queue
        if (peer.queued.length > 0) peer.line?.send(takeMessage(peer))
        sendSoon(peer)
      })
    )
  }

  const queue = (peer: Peer, waiting: Waiting): void => {
    if (peer.queued.length >= maxQueued) return refuse(waiting, "overloaded")
    peer.queued.push(waiting)
    peer.firstDeadline = Math.min(peer.firstDeadline, waiting.deadline)
    sendSoon(peer)
  }

  const route = (waiting: Waiting): void => {
    if (placement.epochOf(waiting.key) !== 0) return handleHere(waiting)
    const owner = ownership.ownerOf(waiting.key)
    const peer = owner === undefined ? undefined : peers.get(owner)
    if (peer?.line === undefined) awaitOwner(waiting)
    else queue(peer, waiting)
  }

  const routeAgain = (): void => {
    const again = unrouted
    unrouted = []
    for (const waiting of again) route(waiting)
  }

  /** Takes the next message to a peer from its queue. */
  const takeMessage = (peer: Peer): ReadonlyArray<SentCall> => {
    const calls: Array<SentCall> = []
    let length = 0
    for (const waiting of peer.queued) {
      if (calls.length >= maxMessage || peer.sent.size >= maxSent || length > maxMessageLength) break
      const { call: { body, head }, channel, id, key } = waiting
      length += lengthOf(waiting)
      calls.push({ id, key, channel, head, body })
      peer.sent.set(id, waiting)
    }
    peer.queued = peer.queued.slice(calls.length)
    counts.messages++
    counts.sent += calls.length
    return calls
  }

  const hear = (peer: Peer, answers: ReadonlyArray<SentAnswer>): void => {
    peer.heardAt = now()
    for (const { body, head, id, status } of answers) {
      const waiting = peer.sent.get(id)
      // already failed by its deadline
      if (waiting === undefined) continue
      peer.sent.delete(id)
      counts.answered++
      if (status === notOwnedStatus) awaitOwner(waiting)
      else if (status === noChannelStatus) refuse(waiting, "unserved")
      else if (status === lostStatus) refuse(waiting, "lost")
      else finish(waiting, Exit.succeed({ status, head, body, node: peer.line?.node ?? "" }))
    }
    sendSoon(peer)
  }

  const use = (peer: Peer, line: Line): void => {
    peer.line = line
    peer.heardAt = now()
    routeAgain()
  }

  const lose = (peer: Peer): void => {
    peer.line = undefined
    const { queued } = peer
    const sent = [...peer.sent.values()]
    peer.queued = []
    peer.sent.clear()
    for (const waiting of sent) {
      waiting.losses++
      if (!waiting.isRepeatable || waiting.losses >= maxLosses) refuse(waiting, "lost")
      else {
        waiting.routeUntil = Math.min(waiting.deadline, now() + maxRoutingMs)
        awaitOwner(waiting)
      }
    }
    for (const waiting of queued) awaitOwner(waiting)
  }

  const throttle = yield* makeLogThrottle(10_000)
  const keepLine = (peer: Peer, host: string, port: number): Effect.Effect<void> =>
    dial({
      node,
      trust,
      host,
      port,
      hear: (answers) => hear(peer, answers),
      use: (line) => use(peer, line),
      goOn: () => sendSoon(peer)
    }).pipe(
      Effect.catch(({ reason }) =>
        ownership.nodes().has(peer.address)
          ? throttle((suppressed) =>
            Effect.annotateLogs(Effect.logWarning("peer not connected"), { address: peer.address, reason, suppressed })
          )
          : Effect.void
      ),
      Effect.ensuring(Effect.sync(() => lose(peer))),
      Effect.andThen(Effect.sleep(dialPause)),
      Effect.repeat({ while: () => ownership.nodes().has(peer.address) }),
      Effect.ensuring(Effect.sync(() => peers.delete(peer.address)))
    )

  const lines = yield* FiberMap.make<string>()
  const keep = yield* FiberMap.runtime(lines)()
  const noteNodes = (): void => {
    for (const address of ownership.nodes()) {
      if (address === ownership.self || peers.has(address)) continue
      const peer: Peer = {
        address,
        line: undefined,
        queued: [],
        sent: new Map(),
        heardAt: now(),
        firstDeadline: Infinity,
        isDue: false
      }
      peers.set(address, peer)
      const colon = address.lastIndexOf(":")
      keep(address, keepLine(peer, address.slice(0, colon), Number(address.slice(colon + 1))))
    }
    routeAgain()
  }
  ownership.listen(noteNodes)
  noteNodes()

  /** Fails calls past their deadline. */
  const endOverdue = (peer: Peer): void => {
    const at = now()
    if (at < peer.firstDeadline) return
    for (const waiting of peer.sent.values()) {
      if (at < waiting.deadline) continue
      peer.sent.delete(waiting.id)
      refuse(waiting, "lost")
    }
    const { queued } = peer
    peer.queued = queued.filter(({ deadline }) => at < deadline)
    for (const waiting of queued) if (at >= waiting.deadline) refuse(waiting, "unsent")
    peer.firstDeadline = Infinity
    for (const { deadline } of [...peer.sent.values(), ...peer.queued]) {
      peer.firstDeadline = Math.min(peer.firstDeadline, deadline)
    }
    sendSoon(peer)
  }

  yield* Effect.forkScoped(Effect.forever(Effect.andThen(
    Effect.sleep(routingPause),
    Effect.suspend(() => {
      routeAgain()
      const gone: Array<string> = []
      for (const peer of peers.values()) {
        endOverdue(peer)
        if (!ownership.nodes().has(peer.address) && now() - peer.heardAt > maxSilentMs) gone.push(peer.address)
      }
      return Effect.forEach(gone, (address) => FiberMap.remove(lines, address), { discard: true })
    })
  )))

  const take = (
    call: SentCall,
    answer: (answer: SentAnswer) => void,
    isKnownEpoch: (epoch: number) => boolean
  ): void => {
    const nothing = (status: number) => answer({ id: call.id, status, head: "", body: "" })
    counts.received++
    const epoch = call.key === noKey ? undefined : placement.epochOf(call.key)
    // a call from before the epoch may have been sent again, and answered by another owner meanwhile
    if (epoch !== undefined && (epoch === 0 || !isKnownEpoch(epoch))) {
      counts.notOwned++
      return nothing(notOwnedStatus)
    }
    const handle = channels.get(call.channel)
    if (handle === undefined) return nothing(noChannelStatus)
    handleOnce(handle, call, (given) => {
      if (given === undefined) return nothing(lostStatus)
      if (given !== notOwned) return answer({ id: call.id, status: given.status, head: given.head, body: given.body })
      counts.notOwned++
      nothing(notOwnedStatus)
    })
  }
  yield* makeCallServer({ node, trust, server, newestEpoch: ownership.newestEpoch, listen: ownership.listen, take })

  const make = (key: number, channel: string, call: Call, options: SendOptions, done: Done): Waiting | undefined => {
    const at = now()
    const deadline = at + (options.timeoutMs ?? defaultTimeoutMs)
    const waiting: Waiting = {
      id: ++lastId,
      key,
      channel,
      call,
      isRepeatable: options.isRepeatable,
      deadline,
      routeUntil: Math.min(deadline, at + maxRoutingMs),
      losses: 0,
      done
    }
    waitingLength += lengthOf(waiting)
    // a peer takes a message with any other number as malformed, and ends the connection with all its calls
    if (!Number.isSafeInteger(key) || key < noKey) refuse(waiting, "unsent")
    else if (waitingLength > maxWaitingLength) refuse(waiting, "overloaded")
    else return waiting
    return undefined
  }

  const post: Forwarder["Service"]["post"] = (key, channel, call, options, done) => {
    const waiting = make(key, channel, call, options, done)
    if (waiting !== undefined) route(waiting)
  }

  /** `peer` undefined: this node. */
  const ask = (peer: Peer | undefined, channel: string, call: Call, options: SendOptions) =>
    Effect.callback<Answered, NotAnswered>((resume) => {
      const waiting = make(noKey, channel, call, options, resume)
      if (waiting === undefined) return
      if (peer === undefined) handleHere(waiting)
      else queue(peer, waiting)
    })

  const forwarder = Forwarder.of({
    node,
    isHere: (key) => placement.epochOf(key) !== 0,
    ownerOf: ownership.ownerOf,
    serve: (channel, handle) => {
      const first = channels.get(channel)
      channels.set(
        channel,
        first === undefined
          ? handle
          : (call, done) => first(call, (answer) => answer === notOwned ? handle(call, done) : done(answer))
      )
    },
    post,
    send: (key, channel, call, options) => Effect.callback((resume) => post(key, channel, call, options, resume)),
    sendTo: (id, channel, call, options) =>
      Effect.suspend((): Effect.Effect<Answered | undefined, NotAnswered> => {
        if (id === node) return ask(undefined, channel, call, options)
        const peer = [...peers.values()].find(({ line }) => line?.node === id)
        return peer === undefined ? Effect.undefined : ask(peer, channel, call, options)
      }),
    sendToAll: (channel, call, options) =>
      Effect.suspend(() =>
        Effect.forEach(
          [undefined, ...[...peers.values()].filter(({ line }) => line !== undefined)],
          (peer) =>
            Effect.match(ask(peer, channel, call, options), {
              onFailure: () => [],
              onSuccess: (answer) => [answer]
            }),
          { concurrency: "unbounded" }
        )
      ).pipe(Effect.map((answers) => answers.flat()))
  })
  yield* registerClusterMetrics({
    ownership,
    counts,
    waiting: () => {
      let waiting = unrouted.length
      for (const { queued, sent } of peers.values()) waiting += queued.length + sent.size
      return waiting
    },
    peers: () => [...peers.values()].filter(({ line }) => line !== undefined).length
  })
  return forwarder
})
