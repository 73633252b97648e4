import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, References, Tracer } from "effect"
import { makeSink, type Reply } from "../kit/WebhookSink.ts"
import { layerTracing, Traced } from "../../src/platform/Tracing.ts"

// Goal: traces follow the variables of OpenTelemetry, cost nothing while off, and contain no failure messages. Method: the
// layer under variables of each kind; a tracer that counts, and a collector that records its input.

type Variables = { readonly [name: string]: string }

const under = <A, E>(variables: Variables, effect: Effect.Effect<A, E>) =>
  effect.pipe(
    Effect.provide(
      Layer.fresh(layerTracing).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
    )
  )

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9/" }

describe("traces that are switched off", () => {
  const cases: ReadonlyArray<readonly [name: string, variables: Variables]> = [
    ["no endpoint", { OTEL_SERVICE_NAME: "casino", OTEL_TRACES_SAMPLER: "always_on" }],
    ["switched off", { ...endpoint, OTEL_SDK_DISABLED: "true" }],
    ["no exporter", { ...endpoint, OTEL_TRACES_EXPORTER: "none" }]
  ]
  for (const [name, variables] of cases) {
    it.live(`create no spans: ${name}`, () =>
      Effect.gen(function*() {
        let made = 0
        const counting = Tracer.make({
          span: (options) => {
            made++
            return new Tracer.NativeSpan(options)
          }
        })
        const work = Effect.fn("named")(() => Effect.map(Effect.service(Traced), (isTraced) => isTraced))
        const run = Effect.withSpan(work(), "request", { kind: "server" }).pipe(
          Effect.provideService(Tracer.Tracer, counting)
        )
        assert.isFalse(yield* under(variables, run))
        assert.strictEqual(made, 0)
        assert.isFalse(yield* under(variables, Effect.service(References.TracerEnabled)))
        // the count itself counts
        yield* run
        assert.strictEqual(made, 2)
      }))
  }
})

describe("traces that are switched on", () => {
  const spansOf = (bodies: ReadonlyArray<string>) =>
    bodies.flatMap((body) =>
      JSON.parse(body).resourceSpans.flatMap((
        one: { readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<object> }> }
      ) => one.scopeSpans.flatMap(({ spans }) => spans))
    )

  const remote = (traceId: string, sampled: boolean) =>
    Tracer.externalSpan({ traceId, spanId: "1".repeat(16), sampled })
  const low = "0".repeat(31) + "1"
  const high = "f".repeat(32)

  /** The names of the spans that arrive. */
  const exported = (variables: Variables, effect: Effect.Effect<unknown>) =>
    Effect.scoped(Effect.gen(function*() {
      const sink = yield* makeSink()
      const url = sink.url.replace("/hook", "")
      yield* Effect.scoped(
        under({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", ...variables }, effect)
      )
      const bodies = sink.received.map(({ body }) => body)
      return { sink, text: bodies.join("\n"), names: spansOf(bodies).map(({ name }) => String(name)).sort() }
    }))

  const requests = Effect.all([
    Effect.withSpan(Effect.void, "GET /here", { kind: "server", root: true }),
    Effect.withSpan(Effect.void, "low sampled", { kind: "server", parent: remote(low, true) }),
    Effect.withSpan(Effect.void, "low unsampled", { kind: "server", parent: remote(low, false) }),
    Effect.withSpan(Effect.withSpan(Effect.void, "child"), "high sampled", {
      kind: "server",
      parent: remote(high, true)
    }),
    Effect.withSpan(Effect.void, "a question nobody asked", { root: true })
  ])

  const cases: ReadonlyArray<readonly [sampler: string, ratio: string, names: ReadonlyArray<string>]> = [
    ["", "", ["GET /here", "child", "high sampled", "low sampled"]],
    ["always_on", "", ["GET /here", "child", "high sampled", "low sampled", "low unsampled"]],
    ["always_off", "", []],
    ["traceidratio", "0", []],
    ["traceidratio", "1", ["GET /here", "child", "high sampled", "low sampled", "low unsampled"]],
    ["parentbased_always_off", "", ["child", "high sampled", "low sampled"]],
    ["parentbased_traceidratio", "0", ["child", "high sampled", "low sampled"]]
  ]
  for (const [sampler, ratio, names] of cases) {
    it.live(`are sampled by ${sampler} ${ratio}`, () =>
      Effect.gen(function*() {
        const found = yield* exported({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }, requests)
        assert.deepStrictEqual(found.names, names)
      }))
  }

  it.live("are sampled by trace id at a ratio of one half", () =>
    Effect.gen(function*() {
      const found = yield* exported({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" }, requests)
      assert.deepStrictEqual(found.names.filter((name) => name !== "GET /here"), ["low sampled", "low unsampled"])
    }))

  it.live("go to the configured endpoint with service name, headers and attributes, but without error messages", () =>
    Effect.gen(function*() {
      const failing = Effect.exit(
        Effect.withSpan(Effect.die(new RangeError("secret words")), "GET /here", { kind: "server", root: true })
      )
      const { names, sink, text } = yield* exported({
        OTEL_SERVICE_NAME: "casino",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test,where=Malta%2C%20west",
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=acme%20inc"
      }, failing)
      assert.deepStrictEqual(names, ["GET /here"])
      const [received] = sink.received
      assert.strictEqual(received?.path, "/v1/traces")
      assert.strictEqual(received?.headers["x-tenant"], "acme inc")
      for (const word of ["\"casino\"", "deployment.environment", "Malta, west", "RangeError"]) {
        assert.include(text, word)
      }
      assert.notInclude(text, "secret words")
      const own = yield* exported({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${sink.url}/traces` }, failing)
      assert.lengthOf(own.sink.received, 0)
    }))

  it.live("mark the spans of requests answered with an error as failed", () =>
    Effect.gen(function*() {
      const answered = (name: string, attributes: { readonly [key: string]: string }) =>
        Effect.withSpan(Effect.annotateCurrentSpan(attributes), name, { kind: "server", root: true })
      const { sink } = yield* exported(
        {},
        Effect.andThen(answered("GET /bad", { "error.type": "503" }), answered("GET /good", {}))
      )
      const spans = spansOf(sink.received.map(({ body }) => body))
      // of OpenTelemetry: 1 is well, 2 an error
      assert.sameDeepMembers(spans.map(({ name, status }) => [name, status.code]), [["GET /bad", 2], ["GET /good", 1]])
    }))

  /** As many as go to the collector in one message. */
  const messageful = Effect.forEach(
    Array.from({ length: 1000 }),
    () => Effect.withSpan(Effect.void, "GET /here", { kind: "server", root: true }),
    { discard: true }
  )

  it.live("are dropped, not accumulated, when the collector never answers", () =>
    Effect.scoped(Effect.gen(function*() {
      const sink = yield* makeSink(() => "hang")
      const work = Effect.gen(function*() {
        for (let messages = 0; messages < 8; messages++) yield* messageful
        yield* sink.arrived(8)
        for (let messages = 0; messages < 8; messages++) yield* messageful
      })
      const variables = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url, OTEL_EXPORTER_OTLP_TIMEOUT: "60000" }
      yield* Effect.scoped(under(variables, work))
      assert.lengthOf(sink.received, 8)
    })))

  it.live("are sent again when the collector does not answer in time", () =>
    Effect.scoped(Effect.gen(function*() {
      const replies: Array<Reply> = ["hang", (response) => void response.writeHead(200).write("half of")]
      const sink = yield* makeSink((_, index) => replies[index] ?? 200)
      const variables = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: sink.url, OTEL_EXPORTER_OTLP_TIMEOUT: "100" }
      yield* Effect.scoped(under(variables, Effect.andThen(messageful, sink.arrived(3))))
      assert.strictEqual(new Set(sink.received.slice(0, 3).map(({ body }) => body)).size, 1)
    })))

  const wrong: ReadonlyArray<readonly [name: string, value: string]> = [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://collector"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "10s"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "nothing"],
    ["OTEL_RESOURCE_ATTRIBUTES", "%=%"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_TRACES_EXPORTER", "zipkin"]
  ]
  for (const [name, value] of wrong) {
    it.live(`prevent the start when ${name} is invalid`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(under({ ...endpoint, [name]: value }, Effect.void))
        assert.strictEqual(error._tag, "StartupError")
        assert.match(error.message, new RegExp(`^${name} must be `))
      }))
  }
})
