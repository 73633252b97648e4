import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { serveAt } from "../../src/http/Listener.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { freePort } from "../kit/ServiceProcess.ts"

const serve = <A, E, R>(routes: Layer.Layer<A, E, R>, port: number) =>
  Layer.fresh(serveAt(routes, { host: "127.0.0.1", port })).pipe(
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
it.live("the port of another service is refused", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    const first = yield* Scope.make()
    yield* Layer.buildWithScope(serve(Layer.empty, port), first)
    const refused = yield* Effect.flip(Layer.build(serve(Layer.empty, port)))
    assert.match(refused.message, /^cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)
    yield* Scope.close(first, Exit.void)
    yield* Layer.build(serve(Layer.empty, port))
  })))
