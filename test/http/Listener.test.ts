import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { serveAt } from "../../src/http/Listener.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { exchange } from "../kit/HttpCalls.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: a request that arrives during the start is answered. Method: routes added later by the test.

it.live("503 while the routes are being built, and then what they answer", () =>
  Effect.scoped(Effect.gen(function*() {
    const port = yield* freePort
    const built = yield* Deferred.make<void>()
    const routes = Layer.merge(
      HttpRouter.add("GET", "/there", HttpServerResponse.text("here")),
      Layer.effectDiscard(Deferred.await(built))
    )
    const server = serveAt(routes, { host: "127.0.0.1", port }).pipe(
      Layer.provide([layerHttpServices, layerSingleNode]),
      Layer.provide(Settings.layerTest())
    )
    const building = yield* Effect.forkScoped(Layer.build(Layer.fresh(server)))
    const ask = exchange(false, port, "/there")
    const early = yield* Effect.retry(ask, { schedule: Schedule.spaced("20 millis") })
    assert.deepStrictEqual([early.status, early.code], [503, "TRY_AGAIN"])
    yield* Deferred.succeed(built, undefined)
    yield* Fiber.join(building)
    assert.deepStrictEqual((yield* ask).text, "here")
  })))
