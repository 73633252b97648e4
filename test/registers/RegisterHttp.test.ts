import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makeAuthority } from "../../scripts/registers/Certificates.ts"
import type { Mode } from "../../scripts/registers/FakeRegister.ts"
import { registerKinds } from "../../src/domain/register/Register.ts"
import { type RegisterFailure, RegisterHttp } from "../../src/features/registers/RegisterHttp.ts"
import { HostUnknown, Resolver } from "../../src/platform/Resolver.ts"
import { Settings } from "../../src/platform/Settings.ts"
import type { Answer } from "../../src/registers/Register.ts"
import { makeSink } from "../kit/WebhookSink.ts"
import { ada, batchOf, connected, layerHttp, numbers, question } from "./support.ts"

// Goal: each register is asked over its own wire, over TLS with the certificates that it wants, and whatever goes wrong on the way ends in time as a word
// that holds nothing of the person, never as a verdict. Method: the fake of each register, which knows the same person and can fail in every way.

const excludedAda = (personal_id: string | null) => ({
  first_name: "ada",
  last_name: ada.lastName ?? "",
  birth_date: ada.birthDate ?? "",
  ...personal_id === null ? {} : { personal_id },
  verdict: "excluded" as const
})

const verdictOf = (answer: Answer) => answer._tag === "Answered" ? answer.verdict : answer.fault

/** The word of a failure, which has nothing else to tell. */
const wordIn = (failure: RegisterFailure): string => {
  assert.notMatch(JSON.stringify(failure), /ada|möller|1980|secret|127\.0/i)
  return failure.word
}

/** What each way to fail ends as; undefined where the wire has nothing that could be wrong. */
const faults: ReadonlyArray<readonly [Mode, RegExp]> = [
  ["down", /^HTTP 503$/],
  ["garbage", /cannot be decoded|no X-Exclusion/],
  ["half", /^connection$/],
  ["reset", /^connection$/],
  ["wrong_type", /cannot be decoded|no X-Exclusion|unknown|neither true|do not list/],
  ["redirect", /^HTTP 307$/],
  ["huge", /^too_large$/],
  ["certificate", /^certificate$/],
  ["slow", /^timeout$/]
]

describe("each exclusion register", () => {
  for (const kind of registerKinds) {
    it.live(`${kind} is queried over HTTP, and every malformed or failed answer is a fault`, () =>
      Effect.gen(function*() {
        const { ask, fake } = yield* connected(kind)
        const asked = question({ personalId: numbers[kind] })
        assert.strictEqual(verdictOf(yield* ask(asked)), "clear")
        fake.know([excludedAda(numbers[kind])])
        assert.strictEqual(verdictOf(yield* ask(asked)), "excluded")
        const [, last] = fake.asked
        for (const [mode, expected] of faults) {
          fake.setMode(mode)
          const deadlineMs = mode === "slow" ? 300 : 10_000
          const outcome = yield* Effect.match(ask(asked, deadlineMs), {
            onFailure: wordIn,
            onSuccess: (answer) => {
              assert.strictEqual(answer._tag, "Fault", mode)
              return verdictOf(answer)
            }
          })
          assert.match(outcome, expected, mode)
        }
        fake.setMode("ok")
        assert.strictEqual(verdictOf(yield* ask(asked)), "excluded")
        assert.strictEqual(fake.asked.at(-1)?.body.length, last?.body.length)
      }).pipe(Effect.provide(layerHttp())))
  }

  it.live("reports an exclusion that has ended if the register supports that", () =>
    Effect.gen(function*() {
      for (const kind of ["gamstop", "generic"] as const) {
        const { ask, fake } = yield* connected(kind, true)
        fake.know([{ ...excludedAda(null), verdict: "previous" }])
        assert.strictEqual(verdictOf(yield* ask(question())), "previous")
      }
    }).pipe(Effect.provide(layerHttp())))

  it.live("has its answer treated as a fault if the answer has the id of another request", () =>
    Effect.gen(function*() {
      for (const kind of ["spelpaus", "generic", "cruks"] as const) {
        const { ask, fake } = yield* connected(kind, true)
        fake.setMode("wrong_request")
        assert.strictEqual(
          verdictOf(yield* ask(question({ personalId: numbers[kind] }))),
          "the response belongs to another request"
        )
      }
    }).pipe(Effect.provide(layerHttp())))

  it.live("CRUKS is queried with its own person code once that is known", () =>
    Effect.gen(function*() {
      const { ask, fake } = yield* connected("cruks")
      fake.know([{ personal_id: numbers.cruks, verdict: "excluded" }])
      const first = yield* ask(question({ personalId: numbers.cruks }))
      const registerCode = first._tag === "Answered" ? first.registerCode : null
      assert.isNotNull(registerCode)
      assert.strictEqual(verdictOf(yield* ask(question({ personalId: numbers.cruks, registerCode }))), "excluded")
      assert.notInclude(fake.asked[1]?.body, numbers.cruks)
    }).pipe(Effect.provide(layerHttp())))

  it.live("answers a batch of the maximum size in order", () =>
    Effect.gen(function*() {
      for (const kind of ["gamstop", "spelpaus"] as const) {
        const { client, fake, register } = yield* connected(kind)
        const batch = batchOf(register)
        const asked = Array.from({ length: batch.maxQuestions }, (_, index) =>
          question({ firstName: `Ada ${index}`, personalId: numbers.spelpaus }, { event: "marketing" }))
        const odd = question({ firstName: "Bob", personalId: "19800161-9876" }, { event: "marketing" })
        fake.know([{ ...excludedAda("198001619876"), first_name: "bob" }])
        const questions = [...asked.slice(2), odd, ...asked.slice(0, 1)]
        const response = yield* client.send(batch.request(questions), 20_000)
        assert.deepStrictEqual(
          batch.read(questions, response).map(verdictOf),
          questions.map((each) =>
            each === odd ? "excluded" : "clear"
          )
        )
      }
    }).pipe(Effect.provide(layerHttp())))
})

describe("the register HTTP client", () => {
  const send = (url: string, deadlineMs = 2000) =>
    Effect.gen(function*() {
      const client = yield* (yield* RegisterHttp).open({})
      return yield* client.send({ url, headers: { "content-type": "text/plain" }, body: "x" }, deadlineMs)
    })
  const wordOf = (url: string) => Effect.map(Effect.flip(send(url)), wordIn)

  it.live("accepts only certificates of the configured authority, and presents its client certificate", () =>
    Effect.gen(function*() {
      const { fake, register } = yield* connected("oasis")
      const { open } = yield* RegisterHttp
      const request = register.request(question())
      const { ca, client_certificate, client_key } = fake.settings
      const stranger = makeAuthority("Stranger")
      const issued = stranger.issue("127.0.0.1")
      // whom the register does not know it hangs up on
      const wrong = [
        [{ client_certificate, client_key }, "certificate"],
        [{ client_certificate, client_key, ca: stranger.certificate }, "certificate"],
        [{ ca }, "connection"],
        [{ ca, client_certificate: issued.certificate, client_key: issued.key }, "connection"]
      ] as const
      for (const [tls, word] of wrong) {
        const client = yield* open(tls)
        assert.strictEqual((yield* Effect.flip(client.send(request, 5000))).word, word)
      }
      assert.lengthOf(fake.asked, 0)
      assert.strictEqual((yield* (yield* open({ ca, client_certificate, client_key })).send(request, 5000)).status, 200)
    }).pipe(Effect.provide(layerHttp())))

  it.live("retries once when the connection breaks before an answer", () =>
    Effect.gen(function*() {
      const sink = yield* makeSink((_, index) => index === 0 ? (response) => response.destroy() : 200)
      assert.strictEqual((yield* send(sink.url)).status, 200)
      assert.lengthOf(sink.received, 2)
      sink.answer = () => (response) => response.destroy()
      assert.strictEqual(yield* wordOf(sink.url), "connection")
      assert.lengthOf(sink.received, 4)
      sink.answer = () => (response) => {
        response.writeHead(200, { "content-length": "100" }).write("half")
        setTimeout(() => response.destroy(), 20)
      }
      assert.strictEqual(yield* wordOf(sink.url), "connection")
      assert.lengthOf(sink.received, 5)
    }).pipe(Effect.provide(layerHttp())))

  it.effect("fails at its deadline, including the retry, even in an uninterruptible caller", () =>
    Effect.gen(function*() {
      const sink = yield* makeSink((_, index) => index === 0 ? (response) => response.destroy() : "hang")
      const asking = yield* Effect.forkChild(Effect.uninterruptible(wordOf(sink.url)))
      yield* sink.arrived(2)
      yield* TestClock.adjust("1999 millis")
      assert.isUndefined(asking.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(asking), "timeout")
    }).pipe(Effect.provide(layerHttp())))

  it.live("sends no trace headers and follows no redirects", () =>
    Effect.gen(function*() {
      const elsewhere = yield* makeSink()
      const sink = yield* makeSink(() => (response) => response.writeHead(302, { location: elsewhere.url }).end())
      assert.strictEqual((yield* send(sink.url)).status, 302)
      assert.isUndefined(sink.received[0]?.headers["traceparent"])
      assert.lengthOf(elsewhere.received, 0)
    }).pipe(Effect.provide(layerHttp())))

  it.live("connects only to public addresses over TLS, unless the settings allow others", () =>
    Effect.gen(function*() {
      const sink = yield* makeSink()
      const urls = [sink.url, "https://127.0.0.1/x", "https://10.0.0.1/x", "https://localhost/x", "https://a.example/x"]
      for (const url of urls) assert.strictEqual(yield* wordOf(url), "target_refused", url)
      assert.lengthOf(sink.received, 0)
    }).pipe(Effect.provide(layerHttp(false))))

  it.live("reports an unknown host", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* wordOf("https://register.example/x"), "dns")
    }).pipe(Effect.provide(
      RegisterHttp.layer.pipe(
        Layer.provide(Layer.succeed(Resolver, { resolve: () => Effect.fail(new HostUnknown()) })),
        Layer.provide(Settings.layerTest())
      )
    )))
})
