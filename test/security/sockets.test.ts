import { assert, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Net from "node:net"
import { setImmediate } from "node:timers/promises"
import { layerEdgeServer, portOf } from "../kit/EdgeServer.ts"
import { send, sendBytes } from "../kit/HttpCalls.ts"

// Goal: no socket escapes the server's timeouts and its drain, whatever it sends. Method: bytes by hand; time is
// the test's, so that a drain that waits for a silent socket does not end.

const statusesIn = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

const upgrading = (method: string, path: string, protocol: string, body = "") =>
  [
    `${method} ${path} HTTP/1.1`,
    "Host: x",
    "Connection: Upgrade",
    `Upgrade: ${protocol}`,
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    `Content-Length: ${body.length}`,
    "",
    body
  ].join("\r\n")

const last = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

layer(layerEdgeServer())("a request with an Upgrade header", (it) => {
  it.effect("is answered as if the header were absent, and closes its connection", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      for (const protocol of ["websocket", "h2c", "TLS/1.0", "anything", ""]) {
        const answers = yield* sendBytes(port, upgrading("GET", "/health/live", protocol) + last)
        assert.deepStrictEqual(statusesIn(answers), ["200"], protocol)
        const refused = yield* sendBytes(port, upgrading("GET", "/api/v1/operator/open", protocol) + last)
        assert.deepStrictEqual(statusesIn(refused), ["401"], protocol)
        const withBody = yield* sendBytes(port, upgrading("POST", "/api/v1/operator/orders", protocol, "{}") + last)
        assert.deepStrictEqual(statusesIn(withBody), ["401"], protocol)
      }
    }))

  it.effect("a CONNECT request is answered 404, and its connection is closed", () =>
    Effect.gen(function*() {
      const answer = yield* sendBytes(
        yield* portOf,
        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"
      )
      assert.match(answer, /^HTTP\/1\.1 404 [^]*\r\nConnection: close\r\n\r\n\{"error":\{"code":"NOT_FOUND"/)
    }))
})

// Goal: callers who all connect at once, as after a restart, are served at once. Method: more connections than Node.js lets wait are opened in one
// turn of the event loop, before any can be accepted. The kernel drops those beyond the limit and sends no error: they are tried again after a second,
// within which some turns take place. Node.js accepts one connection of each listening socket in a turn: turns are counted, since they are long
// in a busy service.
layer(layerEdgeServer())("a burst of connections", (it) => {
  it.effect.skipIf(process.platform !== "linux")(
    "is accepted within a few turns of the event loop, without losing one",
    () =>
      Effect.gen(function*() {
        const port = yield* portOf
        let answered = 0
        const opened = yield* Effect.acquireRelease(
          Effect.sync(() =>
            Array.from({ length: 700 }, () => {
              const socket = Net.connect(port, "127.0.0.1").on("error", () => {}).once("data", () => answered++)
              socket.write("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
              return socket
            })
          ),
          (sockets) =>
            Effect.sync(() => {
              for (const socket of sockets) socket.destroy()
            })
        )
        let turns = 0
        const turn = Effect.promise(async () => {
          await setImmediate()
          turns++
        })
        yield* Effect.repeat(turn, { until: () => turns === 100 })
        assert.strictEqual(opened.filter(({ connecting }) => connecting).length, 0)
        yield* Effect.repeat(turn, { until: () => answered === opened.length })
        assert.isBelow(turns, opened.length / 2)
      })
  )
})

/** A connection that stays as it is until the server closes it. */
const linger = Effect.fnUntraced(function*(port: number, bytes: string, reads = true) {
  let isClosed = false
  const socket = yield* Effect.callback<Net.Socket>((resume) => {
    const made = Net.connect(port, "127.0.0.1", () => made.write(bytes, () => resume(Effect.succeed(made))))
    made.on("error", () => {})
    made.on("close", () => {
      isClosed = true
    })
    if (reads) made.resume()
  })
  return { socket, isClosed: () => isClosed }
})

it.effect("a server that stops waits neither for silent connections nor for requests that are never completed", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layerEdgeServer(), scope)
    const port = yield* Effect.provideContext(portOf, context)
    const silent = yield* linger(port, "")
    const upgraded = yield* linger(port, upgrading("GET", "/health/live", "anything"))
    const halfHead = yield* linger(port, "GET /health/live HTTP/1.1\r\nHost:")
    const halfClosed = yield* linger(port, "GET /health")
    halfClosed.socket.end()
    const halfBody = yield* linger(
      port,
      "POST /api/v1/operator/orders HTTP/1.1\r\nHost: x\r\nX-Api-Key: k\r\nContent-Length: 9\r\n\r\n{"
    )
    // an answer proves that the server has read all data sent before
    yield* sendBytes(port, last)

    const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* Effect.exit(send(port, "/health/live")).pipe(Effect.repeat({ until: ({ _tag }) => _tag === "Failure" }))
    // less than half of the time that requests in flight have
    yield* TestClock.adjust("3500 millis")
    yield* Fiber.join(closed)
    for (const each of [silent, upgraded, halfHead, halfClosed, halfBody]) {
      yield* Effect.callback<void>((resume) => {
        if (each.isClosed()) resume(Effect.void)
        else each.socket.once("close", () => resume(Effect.void))
      })
    }
  }))
