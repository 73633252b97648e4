import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import { makeOutermostMiddleware } from "../../src/http/OutermostMiddleware.ts"
import { serveAt } from "../../src/http/Listener.ts"
import { routesOf } from "../../src/http/Methods.ts"
import { MetricsRoute } from "../../src/http/MetricsRoute.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import * as MemoryPlayerStore from "../kit/MemoryPlayerStore.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"
import { portOf } from "../kit/EdgeServer.ts"
import { send } from "../kit/HttpCalls.ts"

// Goal: request durations can be scraped, labelled by route and never by a caller's
// path. Method: query a server about itself.

const Edge = HttpRouter.middleware(
  Effect.suspend(() =>
    makeOutermostMiddleware(routesOf(HttpApi.make("none"), ["/metrics", "/things/:thing", "/set-back"]))
  ),
  { global: true }
)
const Things = HttpRouter.add("GET", "/things/:thing", Effect.die(new Error("broken")))
const SetBack = HttpRouter.add(
  "GET",
  "/set-back",
  Effect.as(TestClock.setTime(-3_600_000), HttpServerResponse.text("set back", { contentType: "text/plain" }))
)
const Live = serveAt(Layer.mergeAll(MetricsRoute, Things, SetBack, Edge), { host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge(layerHttpServices),
  Layer.provide(Settings.layerTest()),
  Layer.provide(PlayerActors.layerOver(Effect.sync(() => MemoryPlayerStore.make()))),
  Layer.provide([Ids.layer, layerSingleNode]),
  Layer.provide(TestDatabase.layer),
  Layer.provide(Entropy.layer),
  Layer.provide(Layer.succeed(Metric.MetricRegistry, new Map()))
)

layer(Live)("metrics", (it) => {
  it.effect("count requests by method, route and status", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const broken = yield* send(port, "/things/secret")
      assert.deepStrictEqual([broken.status, broken.code], [500, "SERVER_ERROR"])
      yield* send(port, "/things/secret", { method: "POST" })
      yield* send(port, "/nowhere")
      const reply = yield* send(port, "/metrics")
      assert.match(reply.headers["content-type"] ?? "", /^text\/plain/)
      const counted = (labels: string) =>
        reply.text.split("\n").find((line) =>
          line.startsWith("pitboss_http_request_duration_seconds_count") && line.includes(labels)
        )
          ?.split(" ").at(-1)
      assert.strictEqual(counted("method=\"GET\",route=\"/things/:thing\",status=\"500\""), "1", reply.text)
      assert.strictEqual(counted("method=\"POST\",route=\"none\",status=\"405\""), "1")
      assert.strictEqual(counted("method=\"GET\",route=\"none\",status=\"404\""), "1")
      assert.notInclude(reply.text, "secret")
    }))

  it.effect("measure durations by the monotonic clock", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      assert.strictEqual((yield* send(port, "/set-back")).status, 200)
      const { text } = yield* send(port, "/metrics")
      const sum = text.split("\n").find((line) =>
        line.includes("_seconds_sum{") && line.includes("route=\"/set-back\"")
      )
      assert.strictEqual(Number(sum?.split(" ").at(-1)), 0, sum)
    }))
})
