import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { makeAgent } from "../kit/HttpCalls.ts"
import { environmentAt, freeAddress, operatorOf, playCasino, studioOf } from "../kit/PlayedService.ts"
import { startService } from "../kit/ServiceProcess.ts"
import { attributeOf, spansIn } from "../kit/Spans.ts"
import { eventually, makeSink } from "../kit/WebhookSink.ts"

// Goal: a trace covers a request from its caller to the disk: request, actor, commit, and asynchronous work after it. Method: the
// service as a process with a collector that records spans; requests with and without a trace of their caller's, by the
// providers' lane; the service is stopped, which flushes the rest.

const bet = "POST /api/v1/provider/wallet/bet"
const depositing = "POST /api/v1/operator/players/:player/deposits"

layer(layerOwnDatabase, { excludeTestServices: true })("traces", (it) => {
  it.effect(
    "cover a request from the caller to the commit; jobs and webhooks have traces of their own",
    () =>
      Effect.gen(function*() {
        const agent = yield* makeAgent()
        const sink = yield* makeSink()
        const collector = yield* makeSink()
        const address = yield* freeAddress
        const start = (environment: { readonly [name: string]: string }) =>
          Effect.flatMap(databaseUrl, (url) =>
            startService({
              port: address.port,
              databaseUrl: url,
              environment: {
                ...environmentAt(address),
                OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace("/hook", ""),
                OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
                ...environment
              }
            }))

        // off, in spite of an endpoint
        const silent = yield* start({ OTEL_SDK_DISABLED: "true" })
        const casino = yield* playCasino(agent, address, sink)
        silent.kill("SIGTERM")
        yield* silent.exited
        assert.lengthOf(collector.received, 0)

        const service = yield* start({})
        const operator = operatorOf(agent, address, casino)
        const studio = studioOf(agent, address, casino)
        const { playerId, session } = casino.seated[0] ?? assert.fail("nobody plays")
        const send = (id: string, traceparent: string) =>
          studio.post("/api/v1/provider/wallet/bet", {
            request_id: id,
            transaction_id: `traced-${id}`,
            session_token: session,
            game_id: "reels",
            round_id: `traced-${id}`,
            amount: 5,
            currency: "EUR"
          }, { traceparent })
        const [trace, unsampled] = ["a".repeat(32), "c".repeat(32)]
        const caller = "d".repeat(16)
        for (
          const [id, header] of [
            ["sampled", `00-${trace}-${caller}-01`],
            ["unsampled", `00-${unsampled}-${caller}-00`],
            ["malformed", "00-nothing-01"]
          ] as const
        ) {
          assert.strictEqual((yield* send(id, header)).status, 200)
        }
        // without a trace of the caller's
        const traced = { amount: 100, external_reference: "traced-deposit" }
        assert.strictEqual((yield* operator.post(`/api/v1/operator/players/${playerId}/deposits`, traced)).status, 201)
        assert.strictEqual((yield* operator.get("/api/v1/operator/players?email=ada%40example.com")).status, 200)
        assert.strictEqual((yield* studio.post("/api/v1/provider/wallet/bet", {})).status, 422)
        yield* eventually(Effect.sync(() => collector.received.flatMap(({ body }) => spansIn(body))), (spans) =>
          spans.some(({ name }) =>
            name.startsWith("job ")
          ) && spans.some(({ name }) => name === "webhook deposit.paid"))
        service.kill("SIGTERM")
        yield* service.exited

        const spans = collector.received.flatMap(({ body }) => spansIn(body))
        const named = (name: string, traceId?: string) =>
          spans.filter((span) => span.name === name && (traceId === undefined || span.traceId === traceId))
        const [request] = named(bet, trace)
        assert.strictEqual(request?.parentSpanId, caller)
        assert.strictEqual(request && attributeOf(request, "http.route"), "/api/v1/provider/wallet/bet")
        assert.equal(request && attributeOf(request, "http.response.status_code"), 200)
        const [step] = named("actor step", trace)
        assert.equal(step && attributeOf(step, "pitboss.player_id"), playerId)
        assert.strictEqual(step?.parentSpanId, request?.spanId)
        const [commit] = named("commit", trace)
        assert.strictEqual(commit?.parentSpanId, step?.spanId)
        assert.isTrue(spans.some(({ parentSpanId }) => parentSpanId === commit?.spanId), "the statement of the commit")
        assert.lengthOf(spans.filter(({ traceId }) => traceId === unsampled), 0)
        const [deposited] = named(depositing)
        assert.isUndefined(deposited?.parentSpanId)
        assert.strictEqual(deposited?.kind, 2)
        assert.lengthOf(named("commit", deposited?.traceId), 1)
        // malformed: a trace of its own
        const own = named(bet).filter((span) => span.traceId !== trace)
        assert.sameMembers(own.map((span) => Number(attributeOf(span, "http.response.status_code"))), [200, 422])
        const [delivered] = named("webhook deposit.paid")
        assert.isUndefined(delivered?.parentSpanId)
        assert.equal(delivered && attributeOf(delivered, "http.response.status_code"), 200)
        const known = new Set(spans.map(({ spanId }) => spanId))
        for (const { name, parentSpanId } of spans) {
          assert.isTrue(parentSpanId === undefined || parentSpanId === caller || known.has(parentSpanId), name)
          if (parentSpanId === undefined) assert.match(name, /^(GET|POST|job|webhook) ?/)
        }
        const text = collector.received.map(({ body }) => body).join("\n")
        for (
          const secret of ["ada@example.com", "ada%40example.com", session, casino.key.secret, casino.provider.secret]
        ) {
          assert.notInclude(text, secret)
        }
      }),
    300_000
  )
})
