import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Queue, Scope } from "effect"
import * as Net from "node:net"
import { Duplex } from "node:stream"
import * as Tls from "node:tls"
import { listenForPeers } from "../../src/cluster/PeerServer.ts"
import { makeTrust } from "../../src/cluster/Trust.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { masterKeyOf } from "../kit/ForwardingNodes.ts"
import { start } from "../kit/ToyMachine.ts"

// Goal: closing the server ends, whatever its connections are doing, and strangers hold few of them, for seconds. Method: real connections; what a
// client says after its first word of the handshake passes when the test lets it.

/** A server, and the two steps of closing it: serving ends first, then listening. */
const startServer = Effect.gen(function*() {
  const { client, server: options } = yield* makeTrust
  const [listening, serving] = [yield* Scope.make(), yield* Scope.make()]
  const server = yield* Scope.provide(listenForPeers({ ...options, host: "127.0.0.1", port: 0 }), listening)
  const served = yield* Queue.unbounded<Net.Socket>()
  const proofs = new Map<Net.Socket, () => void>()
  yield* Scope.provide(
    server.serve((socket, prove) => {
      proofs.set(socket, prove)
      Queue.offerUnsafe(served, socket.resume())
    }),
    serving
  )
  const address = { host: "127.0.0.1", port: server.port }
  const stopServing = Scope.close(serving, Exit.void)
  const closing = Effect.andThen(stopServing, Scope.close(listening, Exit.void))
  // detached: a test that waits in vain for it fails, and does not wait for ever
  const close = Effect.flatMap(Effect.forkDetach(closing, { startImmediately: true }), Fiber.join)
  return { address, client, proofs, served, stopServing, close }
}).pipe(Effect.provide([NodeServices.layer, Settings.layerTest({ masterKey: masterKeyOf(0) })]))

/** Waits for the end of a connection, with or without an error. */
const ended = (socket: Net.Socket) =>
  Effect.callback<void>((resume) => {
    socket.resume().on("error", () => {}).once("close", () => resume(Effect.void))
    if (socket.closed) resume(Effect.void)
  })

/** A transport for a TLS client over `socket` that holds back all but the first write until `release` is called. */
const heldBack = (socket: Net.Socket, isHeld: () => void) => {
  let writes = 0
  let release = () => {}
  const transport = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _, done) => {
      const pass = () => void socket.write(chunk, () => done())
      if (writes++ !== 1) return pass()
      release = pass
      isHeld()
    }
  })
  socket.on("data", (chunk) => void transport.push(chunk))
  return { transport, release: () => release() }
}

describe("closing the server of a node's peers", () => {
  it.live("destroys an open connection", () =>
    Effect.gen(function*() {
      const { address, client, close, served, stopServing } = yield* startServer
      const socket = Tls.connect({ ...client, ...address })
      const ending = yield* start(ended(socket))
      const accepted = yield* Queue.take(served)
      yield* stopServing
      yield* ended(accepted)
      yield* Fiber.join(ending)
      yield* close
    }))

  for (const how of ["ends during the close", "never ends"]) {
    it.live(`ends when a handshake ${how}`, () =>
      Effect.gen(function*() {
        const { address, client, close } = yield* startServer
        const socket = Net.connect(address)
        const ending = yield* start(ended(socket))
        const release = yield* Effect.callback<() => void>((resume) => {
          const held = heldBack(socket, () => resume(Effect.succeed(held.release)))
          Tls.connect({ ...client, socket: held.transport }).on("error", () => {})
        })
        const closing = yield* start(close)
        if (how !== "never ends") release()
        yield* Fiber.join(closing)
        yield* Fiber.join(ending)
      }))
  }

  it.live("destroys a connection that is opened after serving has ended", () =>
    Effect.gen(function*() {
      const { address, client, close, served, stopServing } = yield* startServer
      yield* stopServing
      yield* ended(Tls.connect({ ...client, ...address }))
      yield* close
      assert.strictEqual(yield* Queue.size(served), 0)
    }))
})

describe("unauthenticated connections to the port for peers", () => {
  const connectSilently = (address: Net.NetConnectOpts, count: number) =>
    Effect.forEach(Array.from({ length: count }), () =>
      Effect.acquireRelease(
        Effect.callback<Net.Socket>((resume) => {
          const socket = Net.connect(address)
          socket.on("error", () => {}).once("connect", () => resume(Effect.succeed(socket.resume())))
        }),
        (socket) => Effect.sync(() => socket.destroy())
      ), { concurrency: 50 })
  const open = (sockets: ReadonlyArray<Net.Socket>) => sockets.filter(({ closed }) => !closed).length

  it.live("are closed within seconds when they send nothing", () =>
    Effect.gen(function*() {
      const { address, close } = yield* startServer
      const silent = yield* connectSilently(address, 200)
      yield* Effect.forEach(silent, ended, { concurrency: "unbounded", discard: true })
      yield* close
    }), 15_000)

  it.live("are at most 256, and never keep a peer from connecting", () =>
    Effect.gen(function*() {
      const { address, client, close, served, proofs } = yield* startServer
      const peer = Tls.connect({ ...client, ...address }).on("error", () => {}).resume()
      const accepted = yield* Queue.take(served)
      proofs.get(accepted)?.()
      const silent = yield* connectSilently(address, 600)
      yield* Effect.repeat(Effect.delay(Effect.sync(() => open(silent)), "10 millis"), {
        until: (count) => count <= 256
      })
      const late = Tls.connect({ ...client, ...address }).on("error", () => {}).resume()
      yield* Queue.take(served)
      assert.isFalse(peer.destroyed)
      assert.isFalse(late.destroyed)
      yield* close
    }), 15_000)

  it.live(
    "are closed to make room for others, even when they complete the TLS handshake but send no proof",
    () =>
      Effect.gen(function*() {
        const { address, client, close, served } = yield* startServer
        const known = Tls.connect({ ...client, ...address }).on("error", () => {}).resume()
        yield* Queue.take(served)
        const ending = yield* start(ended(known))
        yield* connectSilently(address, 300)
        yield* Fiber.join(ending)
        yield* close
      }),
    15_000
  )
})
