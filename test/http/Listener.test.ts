import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Schedule, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Http from "node:http"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { type Address, serveAt } from "../../src/http/Listener.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { freePort } from "../kit/ServiceProcess.ts"

const serve = <A, E, R>(routes: Layer.Layer<A, E, R>, port: number, more: Partial<Address> = {}) =>
  Layer.fresh(serveAt(routes, { host: "127.0.0.1", port, ...more })).pipe(
    Layer.provide([layerHttpServices, layerSingleNode]),
    Layer.provide(Settings.layerTest())
  )

// Goal: no request waits in a process that is starting. Method: routes whose end of building the test decides.

it.live("connections are refused until the routes are built", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    const [begun, built] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const routes = Layer.merge(
      HttpRouter.add("GET", "/there", HttpServerResponse.text("here")),
      Layer.effectDiscard(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(built)))
    )
    const building = yield* Effect.forkScoped(Layer.build(serve(routes, port)))
    yield* Deferred.await(begun)
    const ask = exchange(false, port, "/there")
    assert.match((yield* Effect.flip(ask)).reason, /ECONNREFUSED/)
    yield* Deferred.succeed(built, undefined)
    yield* Fiber.join(building)
    assert.deepStrictEqual((yield* ask).text, "here")
  })))

// Goal: two services never share a port, though each listens with sockets that may share one.
it.live("a port that another service uses is refused", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    const first = yield* Scope.make()
    yield* Layer.buildWithScope(serve(Layer.empty, port), first)
    const refused = yield* Effect.flip(Layer.build(serve(Layer.empty, port)))
    assert.match(
      refused.message,
      /^PORT: cannot listen on 127\.0\.0\.1:\d+ \(.*EADDRINUSE.*\)\. .* set PORT to a free port\.$/
    )
    yield* Scope.close(first, Exit.void)
    yield* Layer.build(serve(Layer.empty, port))
  })))

// Goal: a request that came by a node's own port is answered before the node stops, as one by the shared port is. Method: a route that waits for the
// test, asked for while the server closes.
it.live("a closing server answers requests in flight on the node's own port", () =>
  Effect.scoped(Effect.gen(function*() {
    const [port, ownPort] = [yield* freePort, yield* freePort]
    const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const answer = Deferred.succeed(begun, undefined).pipe(
      Effect.andThen(Deferred.await(gate)),
      Effect.as(HttpServerResponse.text("done"))
    )
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(serve(HttpRouter.add("GET", "/slow", answer), port, { ownPort }), scope)
    const asked = yield* Effect.forkChild(exchange(false, ownPort, "/slow"))
    yield* Deferred.await(begun)
    const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    const isRefused = Effect.map(Effect.exit(exchange(false, ownPort, "/slow")), Exit.isFailure)
    yield* Effect.repeat(isRefused, { until: (refused) => refused })
    yield* Deferred.succeed(gate, undefined)
    assert.strictEqual((yield* Fiber.join(asked)).text, "done")
    yield* Fiber.join(closed)
  })))

// Goal: the limit of connections holds for all sockets of a port together. Method: connections that stay, then one more, and one after another
// has gone.
it.live("connections beyond the maximum number are closed", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    yield* Layer.build(
      serve(HttpRouter.add("GET", "/there", HttpServerResponse.text("here")), port, { maxConnections: 20 })
    )
    const agents = Array.from({ length: 20 }, () => new Http.Agent({ keepAlive: true }))
    yield* Effect.addFinalizer(() => Effect.sync(() => agents.forEach((agent) => agent.destroy())))
    for (const agent of agents) assert.strictEqual((yield* exchange(agent, port, "/there")).text, "here")
    const ask = exchange(false, port, "/there")
    yield* Effect.flip(ask)
    agents[7]?.destroy()
    assert.strictEqual((yield* Effect.retry(ask, { schedule: Schedule.spaced("5 millis") })).text, "here")
  })))

// Goal: what the router takes apart is bounded, whoever calls. Method: paths at the bound and just beyond, on the listener with one route.
it.live("a path that is longer than any route is answered NOT_FOUND", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    const routes = HttpRouter.add("GET", "/*", HttpServerResponse.text("here"))
    yield* Layer.build(serve(routes, port))
    const ask = (path: string) => Effect.map(exchange(false, port, path), ({ code, text }) => code ?? text)
    assert.strictEqual(yield* ask(`/there?${"a&".repeat(2000)}`), "here")
    assert.strictEqual(yield* ask(`/${"a".repeat(2047)}?a`), "here")
    assert.strictEqual(yield* ask(`/${"a".repeat(2048)}?a`), "NOT_FOUND")
    assert.strictEqual(yield* ask(`/${"%25".repeat(4000)}`), "NOT_FOUND")
  })))
