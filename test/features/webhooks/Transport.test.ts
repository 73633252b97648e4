import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Settings } from "../../../src/platform/Settings.ts"
import { type HostAddress, HostUnknown, Resolver } from "../../../src/platform/Resolver.ts"
import { type Message, type Outcome, Transport } from "../../../src/features/webhooks/Transport.ts"
import { freePort } from "../../kit/ServiceProcess.ts"
import { makeSink } from "../../kit/WebhookSink.ts"

// Goal: an attempt ends within five seconds whatever the receiver does, reaches no forbidden address, and reports its
// result. Method: a local server that misbehaves, a test clock, and names resolved by the test.

/** Resolves names by the table, the next entry at each look-up. */
const resolving = (table: { readonly [hostname: string]: ReadonlyArray<ReadonlyArray<string>> }) => {
  const asked: Array<string> = []
  const resolver = Layer.succeed(Resolver, {
    resolve: (hostname) =>
      Effect.suspend(() => {
        const answers = table[hostname] ?? []
        const answer = answers[Math.min(asked.filter((one) => one === hostname).length, answers.length - 1)]
        asked.push(hostname)
        return answer === undefined ? Effect.fail(new HostUnknown()) : Effect.succeed(
          answer.map((address): HostAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
        )
      })
  })
  return { asked, resolver }
}

const transportWith = (resolver: Layer.Layer<Resolver>, webhookAllowInsecure: boolean) =>
  Transport.layer.pipe(Layer.provide(resolver), Layer.provide(Settings.layerTest({ webhookAllowInsecure })))

const open = transportWith(resolving({}).resolver, true)

const messageTo = (url: string): Message => ({ url, headers: { "x-test": "yes" }, body: "{\"a\":1}" })

const post = (url: string) => Effect.flatMap(Transport, (transport) => transport.post(messageTo(url)))

it.effect("a webhook answered with 2xx is a success, and connections are reused", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink((_, index) => [200, 201, 204, 299][index % 4] ?? 200)
    for (let round = 0; round < 5; round++) {
      for (const status of [200, 201, 204, 299]) {
        assert.deepInclude(yield* post(sink.url), { status, error: null })
      }
    }
    // a request may start before the previous connection is free
    assert.isAtMost(sink.connections(), 2)
    const [first] = sink.received
    assert.strictEqual(first?.body, "{\"a\":1}")
    assert.deepInclude(first?.headers, { "x-test": "yes", "content-type": "application/json", "content-length": "7" })
    assert.isUndefined(first?.headers["traceparent"])
    assert.isUndefined(first?.headers["b3"])
    const large = yield* Effect.flatMap(Transport, (transport) =>
      transport.post({ ...messageTo(sink.url), body: "x".repeat(262_145) }))
    assert.deepInclude(large, { status: null, error: "too_large" })
  }).pipe(Effect.provide(open)))

it.effect("a webhook answered with a status other than 2xx is a failure, and redirects are not followed", () =>
  Effect.gen(function*() {
    const elsewhere = yield* makeSink()
    const sink = yield* makeSink()
    for (const status of [301, 302, 303, 307, 308, 400, 404, 410, 429, 500, 503]) {
      sink.answer = () => (response) => response.writeHead(status, { location: elsewhere.url }).end()
      assert.deepInclude(yield* post(sink.url), { status, error: "status" })
    }
    assert.strictEqual(elsewhere.received.length, 0)
  }).pipe(Effect.provide(open)))

it.effect("the first part of a webhook's answer is stored, without characters that the database cannot store", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink(() => (response) => response.writeHead(400).end(`no\u0000${"ä".repeat(3000)}`))
    const { body } = yield* post(sink.url)
    assert.strictEqual(body, `no${"ä".repeat(1998)}`)
  }).pipe(Effect.provide(open)))

it.effect("a webhook without an answer within five seconds is a failure", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink(() => "hang")
    const attempt = yield* Effect.forkChild(post(sink.url))
    yield* sink.arrived(1)
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(attempt.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepInclude(yield* Fiber.join(attempt), { status: null, error: "timeout" })
  }).pipe(Effect.provide(open)))

it.effect("a webhook's answer is judged by its status, and an endless body is not read to its end", () =>
  Effect.gen(function*() {
    let sent = 0
    const huge = yield* makeSink(() => (response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536)
      const more = () => {
        while (!response.destroyed && sent < 500_000_000) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once("drain", more)
        }
      }
      more()
    })
    assert.deepInclude(yield* post(huge.url), { status: 200, error: null })
    assert.isBelow(sent, 50_000_000)

    // an endless response in small pieces holds the connection for five seconds at most
    const slow = yield* makeSink(() => (response) => {
      response.writeHead(202)
      response.write("a")
    })
    const attempt = yield* Effect.forkChild(post(slow.url))
    yield* slow.arrived(1)
    // until the head of the answer has arrived
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 300)))
    yield* TestClock.adjust("5 seconds")
    const outcome = yield* Fiber.join(attempt)
    assert.deepInclude(outcome, { status: 202, error: null })
  }).pipe(Effect.provide(open)))

it.effect("a webhook to a closed port, to an unknown host or with an aborted connection is a failure", () =>
  Effect.gen(function*() {
    const port = yield* freePort
    assert.deepInclude(yield* post(`http://127.0.0.1:${port}/`), { status: null, error: "connection" })
    assert.deepInclude(yield* post(`http://nobody.example:${port}/`), { status: null, error: "dns" })
    const sink = yield* makeSink(() => (response) => response.socket?.destroy())
    assert.deepInclude(yield* post(sink.url), { status: null, error: "connection" })
    const noise = yield* makeSink(() => (response) => response.socket?.end("this is not HTTP\r\n\r\n"))
    assert.deepInclude(yield* post(noise.url), { status: null, error: "connection" })
  }).pipe(Effect.provide(open)))

it.effect("a webhook to a private address is refused, whether the URL contains it or DNS returns it", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink()
    const { asked, resolver } = resolving({
      "loop.example": [["127.0.0.1"]],
      "mapped.example": [["::ffff:127.0.0.1"]],
      "meta.example": [["169.254.169.254"]],
      "mixed.example": [["8.8.8.8", "127.0.0.1"]],
      "six.example": [["::1"]]
    })
    yield* Effect.gen(function*() {
      const refused: Outcome = { status: null, error: "target_refused", body: null }
      assert.deepStrictEqual(yield* post(`http://loop.example:${sink.port}/`), refused)
      assert.deepStrictEqual(yield* post(`https://127.0.0.1:${sink.port}/`), refused)
      assert.deepStrictEqual(yield* post(`https://[::ffff:7f00:1]:${sink.port}/`), refused)
      assert.deepStrictEqual(asked, [])
      for (const name of ["loop", "mapped", "meta", "mixed", "six"]) {
        assert.deepStrictEqual(yield* post(`https://${name}.example:${sink.port}/`), refused, name)
      }
    }).pipe(Effect.provide(transportWith(resolver, false)))
    assert.strictEqual(asked.length, 5)
    assert.strictEqual(sink.connections(), 0)
  }))

it.effect("a webhook's host is resolved once: the checked address is the one connected to (DNS rebinding)", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink()
    // the sink's address stands in for a public one; with all addresses allowed, the connection must use the resolved one
    const { asked, resolver } = resolving({ "rebind.example": [["127.0.0.1"], ["127.0.0.2"]] })
    yield* Effect.gen(function*() {
      assert.deepInclude(yield* post(`http://rebind.example:${sink.port}/`), { status: 200, error: null })
      assert.deepStrictEqual(asked, ["rebind.example"])
    }).pipe(Effect.provide(transportWith(resolver, true)))
    // private at the check, public a moment later: the first answer counts
    const fickle = resolving({ "fickle.example": [["127.0.0.1"], ["8.8.8.8"]] })
    yield* Effect.gen(function*() {
      const refused: Outcome = { status: null, error: "target_refused", body: null }
      assert.deepStrictEqual(yield* post(`https://fickle.example:${sink.port}/`), refused)
      assert.strictEqual(fickle.asked.length, 1)
    }).pipe(Effect.provide(transportWith(fickle.resolver, false)))
    assert.strictEqual(sink.received.length, 1)
  }))
