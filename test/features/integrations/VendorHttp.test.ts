import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Settings } from "../../../src/platform/Settings.ts"
import { type HostAddress, Resolver } from "../../../src/platform/Resolver.ts"
import { VendorHttp } from "../../../src/features/integrations/VendorHttp.ts"
import { makeSink } from "../../kit/WebhookSink.ts"

// Goal: a request to a vendor ends within five seconds whatever the vendor does, reaches no forbidden address, and returns the whole
// answer. Method: a local server that misbehaves, a test clock, and names resolved by the test.

const at = (address: string) =>
  Layer.succeed(Resolver, { resolve: () => Effect.succeed<ReadonlyArray<HostAddress>>([{ address, family: 4 }]) })

const httpWith = (providerAllowInsecure: boolean, address = "127.0.0.1") =>
  VendorHttp.layer.pipe(Layer.provide(at(address)), Layer.provide(Settings.layerTest({ providerAllowInsecure })))

const open = httpWith(true)

const get = (url: string) =>
  Effect.flatMap(VendorHttp, ({ send }) => send({ method: "GET", url, headers: { "x-test": "yes" } }))

const wordOf = (url: string) =>
  Effect.map(Effect.flip(get(url)), ({ kind, word }) => {
    assert.strictEqual(kind, "unavailable")
    return word
  })

it.effect("a vendor's answer is returned complete, with status and headers, and redirects are not followed", () =>
  Effect.gen(function*() {
    const elsewhere = yield* makeSink()
    const sink = yield* makeSink(() => (response) =>
      response.writeHead(302, { location: elsewhere.url, "x-made-by": "vendor" }).end("größer")
    )
    const { body, header, status } = yield* get(sink.url)
    assert.deepStrictEqual([status, body, header("x-made-by")], [302, "größer", "vendor"])
    assert.strictEqual(sink.received[0]?.headers["x-test"], "yes")
    const { send } = yield* VendorHttp
    const form = { "content-type": "application/x-www-form-urlencoded" }
    yield* send({ method: "POST", url: sink.url, headers: form, body: "a=1&b=ü" })
    assert.deepStrictEqual([sink.received[1]?.headers["content-type"], sink.received[1]?.body], [
      "application/x-www-form-urlencoded",
      "a=1&b=ü"
    ])
    assert.isUndefined(sink.received[1]?.headers["traceparent"])
    assert.strictEqual(elsewhere.received.length, 0)
  }).pipe(Effect.provide(open)))

it.effect("a vendor's 408, 429 or 5xx, a broken connection and an answer that is too large are failures", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink()
    for (const status of [408, 429, 500, 503]) {
      sink.answer = () => status
      assert.strictEqual(yield* wordOf(sink.url), `HTTP ${status}`)
    }
    for (const status of [200, 400, 404, 409, 422]) {
      sink.answer = () => status
      assert.strictEqual((yield* get(sink.url)).status, status)
    }
    sink.answer = () => (response) => response.destroy()
    assert.strictEqual(yield* wordOf(sink.url), "connection")
    const { send } = yield* VendorHttp
    for (const [isList, most, word] of [[false, 64 * 1024, "64 KiB"], [true, 4 * 1024 * 1024, "4 MiB"]] as const) {
      const ask = send({ method: "GET", url: sink.url, headers: {}, isList })
      sink.answer = () => (response) => response.writeHead(200).end("x".repeat(most))
      assert.strictEqual((yield* ask).body.length, most)
      sink.answer = () => (response) => response.writeHead(200).end("x".repeat(most + 1))
      assert.deepInclude(yield* Effect.flip(ask), { kind: "refused", word: `the answer is larger than ${word}` })
    }
  }).pipe(Effect.provide(open)))

it.effect("a vendor's missing answer is a timeout after five seconds, even when the caller cannot be interrupted", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink(() => "hang")
    const attempt = yield* Effect.forkChild(Effect.uninterruptible(wordOf(sink.url)))
    yield* sink.arrived(1)
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(attempt.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(attempt), "timeout")
  }).pipe(Effect.provide(open)))

it.effect("calls to a slow vendor host are limited, and calls to other hosts continue", () =>
  Effect.gen(function*() {
    const slow = yield* makeSink(() => "hang")
    const quick = yield* makeSink()
    const waiting = yield* Effect.forEach(Array.from({ length: 64 }), () => Effect.forkChild(wordOf(slow.url)))
    yield* slow.arrived(64)
    assert.strictEqual(yield* wordOf(slow.url), "too many calls to the vendor are running")
    assert.strictEqual((yield* get(quick.url)).status, 200)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(new Set(yield* Effect.forEach(waiting, Fiber.join)), new Set(["timeout"]))
    slow.answer = () => 200
    assert.strictEqual((yield* get(slow.url)).status, 200)
  }).pipe(Effect.provide(open)))

it.effect("vendors are called only at public addresses over TLS, unless the settings allow others", () =>
  Effect.gen(function*() {
    const sink = yield* makeSink()
    for (
      const url of [sink.url, "https://127.0.0.1/x", "https://10.0.0.1/x", "https://localhost/x", "ftp://games.example"]
    ) {
      assert.strictEqual(yield* wordOf(url), "target_refused", url)
    }
    assert.strictEqual(yield* wordOf("https://games.example/inside"), "target_refused")
    assert.strictEqual(sink.received.length, 0)
  }).pipe(Effect.provide(httpWith(false))))
