import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import * as PlayerClient from "../../src/client/PlayerClient.ts"
import * as ProviderClient from "../../src/client/ProviderClient.ts"
import { sign } from "../kit/sign.ts"

// Goal: requests are signed, keyed and retried exactly as the contract allows. Method: a wire that answers
// from a list and records requests; time is the test's, so that every pause can be measured.

interface Sent {
  readonly method: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Seconds since the test began. */
  readonly at: number
}

type Answer = "cut" | "silence" | {
  readonly status: number
  readonly body: unknown
  readonly headers?: { readonly [name: string]: string }
}

const secret = "sk_test_secret"
const wallet = { player_id: 7, currency: "EUR", balance: 100, bonus_balance: 0 }
const good: Answer = { status: 200, body: { data: wallet } }
const refusal = (status: number, code: string, headers = {}): Answer => ({
  status,
  body: { error: { code, message: "No.", details: { some: "fact" } } },
  headers
})
const restarting = refusal(503, "TRY_AGAIN")

/** A wire that gives these answers, the last one for ever. */
const wireOf = (...answers: ReadonlyArray<Answer>) => {
  const sent: Array<Sent> = []
  const http = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const { body } = request
      const answer = answers[Math.min(sent.length, answers.length - 1)] ?? "cut"
      sent.push({
        method: request.method,
        url,
        headers: { ...request.headers },
        body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "",
        at: yield* Effect.map(Clock.currentTimeMillis, (now) => now / 1000)
      })
      if (answer === "silence") return yield* Effect.never
      if (answer === "cut") {
        return yield* new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) })
      }
      const { body: content, headers = {}, status } = answer
      const text = typeof content === "string" ? content : JSON.stringify(content)
      return HttpClientResponse.fromWeb(
        request,
        new Response(text, { status, headers: { "content-type": "application/json", ...headers } })
      )
    })
  )
  return { sent, http }
}

/** Signs at once. WebCrypto does it elsewhere, while the test's clock goes on. */
const macAtOnce = Mac.layerWebCryptoWith({
  hmac: (_, key, data) => new Uint8Array(createHmac("sha256", key).update(data).digest())
})

const services = (http: HttpClient.HttpClient) =>
  Layer.mergeAll(Layer.succeed(HttpClient.HttpClient, http), macAtOnce).pipe(
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )

const operatorOn = (http: HttpClient.HttpClient, more: Partial<OperatorClient.Options> = {}) =>
  OperatorClient.make({
    baseUrl: "https://casino.example",
    key: "pk_test",
    secret: Redacted.make(secret),
    ...more
  }).pipe(Effect.provide(services(http)))

/** Runs a call to its end, however long it pauses. */
const untilDone = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.result(call))
    for (let tries = 0; tries < 4000 && fiber.pollUnsafe() === undefined; tries++) {
      // reading a body takes turns of the event loop, and all of them come before the clock goes on
      for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("100 millis")
    }
    return yield* Fiber.join(fiber)
  })

const failureOf = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.flatMap(
    untilDone(call),
    (result) => result._tag === "Failure" ? Effect.succeed(result.failure) : Effect.die(new Error("the call went well"))
  )

const deposit = (operator: OperatorClient.OperatorClient, idempotencyKey?: string) =>
  operator.payments.deposit(
    { params: { player: 7 }, payload: { amount: 100, external_reference: "psp-1" } },
    idempotencyKey === undefined ? {} : { idempotencyKey }
  )

const isSigned = ({ body, headers, method, url }: Sent, uri = url.pathname + url.search) =>
  headers["x-signature"] === sign(secret, method, uri, headers["x-timestamp"] ?? "", body, headers["x-nonce"])

describe("a request", () => {
  it.effect("is signed as it is sent, including the query", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-11-20T12:00:00.900Z"))
      const { http, sent } = wireOf(refusal(404, "NOT_FOUND"))
      const operator = yield* operatorOn(http)
      yield* failureOf(operator.players.list({ query: { search: "ä b&c/+", per_page: 5 } }))
      const [request] = sent
      assert(request !== undefined)
      assert.strictEqual(request.url.pathname, "/api/v1/operator/players")
      assert.strictEqual(request.url.searchParams.get("search"), "ä b&c/+")
      assert.deepInclude(request.headers, { "x-api-key": "pk_test", "x-timestamp": "1795176000" })
      assert.isTrue(isSigned(request))
      assert.strictEqual(request.body, "")
      assert.notProperty(request.headers, "idempotency-key")
      assert.notProperty(request.headers, "content-type")
    }))

  it.effect("goes through a gateway's path, which is not signed", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf(refusal(404, "NOT_FOUND"))
      const operator = yield* operatorOn(http, { baseUrl: "https://gateway.example/casino/" })
      yield* failureOf(deposit(operator))
      const [request] = sent
      assert(request !== undefined)
      assert.strictEqual(request.url.pathname, "/casino/api/v1/operator/players/7/deposits")
      assert.isTrue(isSigned(request, "/api/v1/operator/players/7/deposits"))
      assert.strictEqual(request.headers["content-type"], "application/json")
    }))

  it.effect("whose optional body is left out is sent without a body", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf(refusal(404, "NOT_FOUND"))
      const operator = yield* operatorOn(http)
      yield* failureOf(operator.players.issueToken({ params: { player: 7 } }))
      const [request] = sent
      assert(request !== undefined)
      assert.strictEqual(request.body, "")
      assert.notProperty(request.headers, "content-type")
      assert.notProperty(request.headers, "content-length")
      assert.isTrue(isSigned(request))
    }))

  it.effect("that the contract does not allow is not sent", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf(good)
      const operator = yield* operatorOn(http)
      const bodies = yield* failureOf(
        operator.payments.deposit({ params: { player: 7 }, payload: { amount: 0.5, external_reference: "psp-1" } })
      )
      const queries = yield* failureOf(operator.players.list({ query: { per_page: 1000 } }))
      assert.deepStrictEqual([bodies._tag, queries._tag], ["BadRequest", "BadRequest"])
      assert.match(bodies.message, /minor units/)
      assert.deepStrictEqual(sent, [])
    }))

  it.effect("of a player carries the token and no API key", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf(good)
      const player = yield* PlayerClient.make({ baseUrl: "https://casino.example", token: Redacted.make("pbt_1") })
        .pipe(
          Effect.provide(services(http))
        )
      assert.deepStrictEqual((yield* player.player_session.wallet()).data, wallet)
      assert.strictEqual(sent[0]?.headers["authorization"], "Bearer pbt_1")
      assert.notProperty(sent[0]?.headers, "x-signature")
    }))
})

describe("an answer", () => {
  it.effect("a refusal carries its code, status, details, request id and idempotency key", () =>
    Effect.gen(function*() {
      const { http } = wireOf(refusal(422, "LIMIT_EXCEEDED", { "x-request-id": "r-1" }))
      const operator = yield* operatorOn(http)
      const error = yield* failureOf(deposit(operator, "key-1"))
      assert(error._tag === "Refused")
      assert.deepInclude(error, {
        code: "LIMIT_EXCEEDED",
        message: "No.",
        details: { some: "fact" },
        status: 422,
        requestId: "r-1",
        retryAfterSeconds: undefined,
        idempotencyKey: "key-1"
      })
    }))

  it.effect("a missing answer is reported with the path, without the query", () =>
    Effect.gen(function*() {
      for (const answer of ["cut", { status: 404, body: "<html>" }] as const) {
        const { http } = wireOf(answer)
        const operator = yield* operatorOn(http, { maxAttempts: 1 })
        const error = yield* failureOf(operator.players.list({ query: { email: "ada@example.com" } }))
        assert(error._tag === "NoAnswer")
        assert.match(error.message, /^GET \/api\/v1\/operator\/players: /)
        assert.notInclude(error.message, "ada")
      }
    }))

  it.effect("a redirect is reported as NoAnswer and is not followed", () =>
    Effect.gen(function*() {
      const asked: Array<RequestInit | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        asked.push(init)
        return Promise.resolve(new Response(null, { status: 307, headers: { location: "https://other.example/" } }))
      }
      const call = Effect.gen(function*() {
        const operator = yield* operatorOn(yield* HttpClient.HttpClient)
        return yield* failureOf(deposit(operator, "key-1"))
      })
      const error = yield* call.pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.provideService(FetchHttpClient.Fetch, fetch),
        Effect.provideService(FetchHttpClient.RequestInit, { keepalive: true })
      )
      assert.deepInclude(error, { _tag: "NoAnswer", status: 307, idempotencyKey: "key-1" })
      assert.lengthOf(asked, 1)
      assert.deepInclude(asked[0], { redirect: "manual", keepalive: true })
    }))

  it.effect("an answer outside the contract is reported as NoAnswer", () =>
    Effect.gen(function*() {
      const page: Answer = { status: 404, body: "<html>", headers: { "content-type": "text/html" } }
      const other: Answer = { status: 404, body: { error: { code: "UNHEARD_OF", message: "?", details: {} } } }
      const odd: Answer = { status: 200, body: { data: { id: "seven" } } }
      for (const answer of [page, other, odd]) {
        const { http, sent } = wireOf(answer)
        const operator = yield* operatorOn(http)
        const error = yield* failureOf(deposit(operator, "key-1"))
        assert(error._tag === "NoAnswer")
        assert.strictEqual(error.idempotencyKey, "key-1")
        assert.lengthOf(sent, 1)
      }
    }))

  it.effect("may have fields that the contract does not know", () =>
    Effect.gen(function*() {
      const { http } = wireOf({ status: 200, body: { data: { ...wallet, later: true }, meta: {} } })
      const player = yield* PlayerClient.make({ baseUrl: "https://casino.example", token: Redacted.make("pbt_1") })
        .pipe(
          Effect.provide(services(http))
        )
      assert.deepStrictEqual((yield* player.player_session.wallet()).data, wallet)
    }))
})

describe("retrying", () => {
  it.effect("sends the same body with the same idempotency key and a new signature", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<Answer> = ["cut", restarting, refusal(409, "IDEMPOTENCY_IN_PROGRESS")]
      const { http, sent } = wireOf(...answers, refusal(422, "LIMIT_EXCEEDED"))
      const operator = yield* operatorOn(http)
      const error = yield* failureOf(deposit(operator))
      assert.strictEqual(error._tag === "Refused" && error.code, "LIMIT_EXCEEDED")
      assert.lengthOf(sent, 4)
      assert.isTrue(sent.every((request) => isSigned(request)))
      const different = (name: string) => new Set(sent.map(({ headers }) => headers[name])).size
      assert.deepStrictEqual(
        [different("idempotency-key"), different("x-nonce"), different("x-signature")],
        [1, 4, 4]
      )
      assert.strictEqual(new Set(sent.map(({ body }) => body)).size, 1)
      assert.match(sent[0]?.headers["idempotency-key"] ?? "", /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    }))

  it.effect("pauses longer each time, and gives up", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf(restarting)
      const operator = yield* operatorOn(http, { maxAttempts: 3, firstPause: "10 seconds" })
      const error = yield* failureOf(operator.account.me())
      assert.deepInclude(error, { _tag: "Refused", code: "TRY_AGAIN", status: 503 })
      assert.lengthOf(sent, 3)
      const [first = 0, second = 0, third = 0] = sent.map(({ at }) => at)
      assert.isTrue(second - first >= 5 && second - first <= 10.2, String(second - first))
      assert.isTrue(third - second >= 10 && third - second <= 20.2, String(third - second))
    }))

  it.effect("waits as long as Retry-After says, up to a maximum", () =>
    Effect.gen(function*() {
      const full = (seconds: string) => refusal(429, "RATE_LIMITED", { "retry-after": seconds })
      const short = wireOf(full("30"), { status: 200, body: { data: { ...wallet } } })
      const player = yield* PlayerClient.make({ baseUrl: "https://casino.example", token: Redacted.make("pbt_1") })
        .pipe(
          Effect.provide(services(short.http))
        )
      yield* untilDone(player.player_session.wallet())
      const [first = 0, second = 0] = short.sent.map(({ at }) => at)
      assert.isTrue(second - first >= 30 && second - first <= 30.2, String(second - first))

      const long = wireOf(full("61"))
      const error = yield* failureOf((yield* operatorOn(long.http)).account.me())
      assert.deepInclude(error, { _tag: "Refused", code: "RATE_LIMITED", retryAfterSeconds: 61 })
      assert.lengthOf(long.sent, 1)
    }))

  it.effect("a refusal as a replay whose outcome is unknown is retried with a new signature and the same idempotency key", () =>
    Effect.gen(function*() {
      const abandoned: Answer = {
        status: 401,
        body: {
          error: { code: "REPLAYED_REQUEST", message: "No.", details: { outcome: "unknown", retry: "sign_again" } }
        }
      }
      const { http, sent } = wireOf(abandoned, good)
      yield* untilDone(deposit(yield* operatorOn(http)))
      assert.lengthOf(sent, 2)
      const [first, second] = sent
      assert.strictEqual(second?.headers["idempotency-key"], first?.headers["idempotency-key"])
      assert.notStrictEqual(second?.headers["x-signature"], first?.headers["x-signature"])
    }))

  it.effect("final refusals are not retried", () =>
    Effect.gen(function*() {
      for (
        const [status, code] of [[401, "INVALID_SIGNATURE"], [401, "REPLAYED_REQUEST"], [422, "VALIDATION_FAILED"], [
          404,
          "NOT_FOUND"
        ]] as const
      ) {
        const { http, sent } = wireOf(refusal(status, code))
        const error = yield* failureOf(deposit(yield* operatorOn(http)))
        assert.deepInclude(error, { _tag: "Refused", code })
        assert.lengthOf(sent, 1)
      }
    }))

  it.effect("timed-out requests are retried", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf("silence")
      const operator = yield* operatorOn(http, { maxAttempts: 2, attemptTimeout: "3 seconds" })
      const error = yield* failureOf(deposit(operator, "key-1"))
      assert.deepInclude(error, { _tag: "NoAnswer", status: undefined, idempotencyKey: "key-1" })
      assert.lengthOf(sent, 2)
    }))

  it.effect("adds the wait of a long poll for events to the time-out", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf("silence")
      const operator = yield* operatorOn(http, { maxAttempts: 2, attemptTimeout: "3 seconds", firstPause: "0 millis" })
      yield* failureOf(operator.events.list({ query: { wait: 20 } }))
      assert.deepStrictEqual(sent.map(({ at }) => at), [0, 23])
    }))

  it.effect("follows a gateway's own error answer too, such as a 502 with an HTML page", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf({ status: 502, body: "<html>", headers: { "content-type": "text/html" } })
      const error = yield* failureOf((yield* operatorOn(http)).account.me())
      assert.deepInclude(error, { _tag: "NoAnswer", status: 502 })
      assert.lengthOf(sent, 4)
    }))

  it.effect("applies to a provider's messages, except bets", () =>
    Effect.gen(function*() {
      const { http, sent } = wireOf("cut")
      const provider = yield* ProviderClient.make({
        baseUrl: "https://casino.example",
        key: "pbp_test",
        secret: Redacted.make(secret)
      }).pipe(Effect.provide(services(http)))
      const money = { transaction_id: "t", game_id: "g", round_id: "r", amount: 1, currency: "EUR", request_id: "q" }
      yield* failureOf(provider.provider_wallet.bet({ payload: { ...money, session_token: "s" } }))
      assert.lengthOf(sent, 1)
      assert.strictEqual(sent[0]?.headers["x-provider-key"], "pbp_test")
      assert.notProperty(sent[0]?.headers, "idempotency-key")
      yield* failureOf(
        provider.provider_wallet.win({ payload: { ...money, player_ref: "p", bet_transaction_id: "b" } })
      )
      assert.lengthOf(sent, 5)
      assert.isTrue(sent.every((request) => isSigned(request)))
    }))
})

it.effect("a client with an empty secret is refused", () =>
  Effect.gen(function*() {
    const { http } = wireOf(good)
    const error = yield* Effect.flip(operatorOn(http, { secret: Redacted.make("") }))
    assert.strictEqual(error._tag, "CryptoError")
  }))
