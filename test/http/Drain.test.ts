import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import * as Net from "node:net"
import { layerEdgeServer, portOf, Probe } from "../kit/EdgeServer.ts"
import { send, sendSigned, signedHeaders, unixSeconds } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: a stopping service answers requests in flight, accepts no new ones, and closes its connections. Method: close the
// server's scope while a request waits in its handler.

/** One request on a connection that is kept. */
const sendOn = (agent: Http.Agent, port: number, path: string) =>
  Effect.callback<{ readonly status: number; readonly connection: string | undefined }>((resume) => {
    Http.get({ host: "127.0.0.1", port, path, agent }, (response) => {
      response.resume()
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, connection: response.headers.connection }))
      )
    }).on("error", (error) => resume(Effect.die(error)))
  })

/** Two requests at once on one connection; returns the statuses received before it closes. */
const sendTwo = (port: number, path: string, headers: { readonly [name: string]: string }) =>
  Effect.callback<ReadonlyArray<string>>((resume) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
    let answer = ""
    const socket = Net.connect(port, "127.0.0.1", () => {
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n${lines}\r\n`)
      socket.write("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
    })
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")))
    socket.on(
      "close",
      () => resume(Effect.succeed([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? "")))
    )
  })

const isRefused = (port: number) =>
  Effect.map(Effect.exit(send(port, "/health/live")), (exit) => exit._tag === "Failure")

it.effect("a closing server finishes requests in flight and accepts no new ones", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layerEdgeServer(), scope)
    yield* Effect.gen(function*() {
      const port = yield* portOf
      const probe = yield* Probe
      const operator = yield* addOperator("leaving")
      const key = yield* addApiKey(operator.id)
      const timestamp = yield* unixSeconds
      const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
      assert.strictEqual((yield* sendOn(agent, port, "/health/ready")).status, 200)
      const path = "/api/v1/operator/act/wait"
      const headers = signedHeaders(key, path, { timestamp, method: "POST" })
      const waiting = yield* Effect.forkChild(send(port, path, { method: "POST", headers }))
      // a connection that is busy stays open, and can carry one more request
      const busy = yield* Effect.forkChild(
        sendTwo(port, path, signedHeaders(key, path, { timestamp, method: "POST", nonce: "2" }))
      )
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => probe.calls === 2 }))

      const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* isRefused(port).pipe(Effect.repeat({ until: (refused) => refused }))
      yield* Deferred.succeed(probe.gate, undefined)
      const answer = yield* Fiber.join(waiting)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers["connection"], "close")
      // what stood behind it was not begun: the connection closed after the first answer
      assert.deepStrictEqual(yield* Fiber.join(busy), ["200"])
      yield* Fiber.join(closed)
      assert.deepStrictEqual(probe.ended, ["wait", "wait"])
      agent.destroy()
    }).pipe(Effect.provideContext(context))
  }))

it.effect("a write that waits for its signature to be stored at the end of the drain time is completed before services close", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layerEdgeServer(), scope)
    yield* Effect.gen(function*() {
      const port = yield* portOf
      const sql = yield* SqlClient.SqlClient
      const probe = yield* Probe
      const key = yield* addApiKey((yield* addOperator("recording")).id)
      // a key in memory
      assert.strictEqual((yield* sendSigned(port, key, "/api/v1/operator/open")).status, 200)
      const [isHeld, isOver] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`LOCK TABLE accepted_signatures IN ACCESS EXCLUSIVE MODE`
        yield* Deferred.succeed(isHeld, undefined)
        yield* Deferred.await(isOver)
      })))
      yield* Deferred.await(isHeld)
      const order = { body: { amount: 1, name: "late" } }
      const asking = yield* Effect.forkChild(Effect.exit(sendSigned(port, key, "/api/v1/operator/orders", order)))
      yield* sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'accepted_signatures'::regclass`.pipe(
        Effect.repeat({ until: (rows) => rows.length > 0 })
      )
      const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* isRefused(port).pipe(Effect.repeat({ until: (refused) => refused }))
      yield* TestClock.adjust("8 seconds")
      assert.strictEqual((yield* Fiber.join(asking))._tag, "Failure")
      assert.strictEqual(probe.posted, 0)
      yield* Deferred.succeed(isOver, undefined)
      yield* Fiber.join(holding)
      yield* Fiber.join(closed)
      assert.strictEqual(probe.posted, 1)
    }).pipe(Effect.provideContext(context))
  }))

it.effect("requests that exceed the drain time are interrupted", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(layerEdgeServer(), scope)
    yield* Effect.gen(function*() {
      const port = yield* portOf
      const probe = yield* Probe
      const operator = yield* addOperator("stuck")
      const key = yield* addApiKey(operator.id)
      const stuck = yield* Effect.forkChild(Effect.exit(sendSigned(port, key, "/api/v1/operator/look/wait")))
      yield* Deferred.await(probe.arrived)
      const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* isRefused(port).pipe(Effect.repeat({ until: (refused) => refused }))
      yield* TestClock.adjust("8 seconds")
      yield* Fiber.join(closed)
      assert.strictEqual((yield* Fiber.join(stuck))._tag, "Failure")
      assert.deepStrictEqual(probe.interrupted, ["wait"])
    }).pipe(Effect.provideContext(context))
  }))
