/** Nodes with real connections to each other; the test sets the owner of all keys. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Redacted, Scope } from "effect"
import type { Answer, Answered, Forwarder, NotAnswered } from "../../src/cluster/Forwarder.ts"
import { makeForwarding } from "../../src/cluster/Forwarding.ts"
import { Ownership } from "../../src/cluster/Ownership.ts"
import { listenForPeers } from "../../src/cluster/PeerServer.ts"
import { makeTrust } from "../../src/cluster/Trust.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { Settings, type SettingsShape } from "../../src/platform/Settings.ts"
import { eventually } from "./ClusterNode.ts"

/** Owner of all keys, and the running nodes. */
export interface World {
  owner: string
  /** Epoch of the owner. */
  epoch: number
  readonly live: Set<string>
  readonly listeners: Set<() => void>
}

/** A key like any other. */
export const key = 7

export const makeWorld = (): World => ({ owner: "", epoch: 1, live: new Set(), listeners: new Set() })

export const change = (world: World, owner: string): void => {
  world.owner = owner
  for (const listener of world.listeners) listener()
}

export interface TestNode {
  readonly self: string
  readonly forwarder: Forwarder["Service"]
  readonly close: Effect.Effect<void>
}

/** A master key of one byte again and again. */
export const masterKeyOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

/** Starts a node that takes ownership of keys from `world`. */
export const startNode = Effect.fnUntraced(function*(world: World, id: string, settings: Partial<SettingsShape> = {}) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.gen(function*() {
    const trust = yield* makeTrust
    const server = yield* listenForPeers({ ...trust.server, noDelay: true, host: "127.0.0.1", port: 0 })
    const self = `127.0.0.1:${server.port}`
    const ownership = Ownership.of({
      placement: Placement.of({
        isShared: true,
        epochOf: () => world.owner === self ? world.epoch : 0,
        holds: () => world.owner === self,
        onRelease: () => {}
      }),
      newestEpoch: () => world.epoch,
      self,
      ownerOf: () => world.owner,
      nodes: () => world.live,
      listen: (listener) => void world.listeners.add(listener),
      refreshNodes: () => {},
      announce: () => {},
      isJoined: () => true,
      isLeaving: () => false,
      standAside: () => Effect.void,
      handOver: Effect.void,
      shardsHeld: () => 0,
      leaseMsLeft: () => null,
      counts: { moves: 0, stale: 0 }
    })
    const forwarder = yield* makeForwarding({ node: id, server, trust }).pipe(
      Effect.provideService(Ownership, ownership)
    )
    world.live.add(self)
    for (const listener of world.listeners) listener()
    const node: TestNode = { self, forwarder, close: Scope.close(scope, Exit.void) }
    return node
  }).pipe(
    Effect.provide([NodeServices.layer, Settings.layerTest({ masterKey: masterKeyOf(0), ...settings })]),
    Scope.provide(scope)
  )
})

/** Arbitrary call. */
export const call = { head: "", body: "?" }

export const answer = (body: string): Answer => ({ status: 200, head: "", body })

export const once = { isRepeatable: false }
export const again = { isRepeatable: true }

/** Reason for a missing answer; "" when answered. */
export const failure = (exit: Exit.Exit<Answered, NotAnswered>): string =>
  Exit.isFailure(exit)
    ? Exit.findErrorOption(exit).pipe((found) => found._tag === "Some" ? found.value.because : "died")
    : ""

/** Waits until `from` can reach `to`. */
export const connected = (from: TestNode, to: string) =>
  Effect.gen(function*() {
    let isThere = false
    const asking = Effect.forever(Effect.andThen(
      Effect.flatMap(from.forwarder.sendToAll("ping", call, again), (answers) =>
        Effect.sync(() => {
          isThere = answers.some(({ node }) => node === to)
        })),
      Effect.sleep("5 millis")
    ))
    yield* Effect.raceFirst(asking, eventually(() => isThere))
  })

/** Two nodes that reach each other; the second owns every key. */
export const pair = Effect.gen(function*() {
  const world = makeWorld()
  const one = yield* startNode(world, "one")
  const two = yield* startNode(world, "two")
  for (const { forwarder } of [one, two]) forwarder.serve("ping", (_, done) => done(answer("")))
  change(world, two.self)
  yield* connected(one, "two")
  yield* connected(two, "one")
  return { world, one, two }
})
