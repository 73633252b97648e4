import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as Net from "node:net"
import { isOfContract } from "../kit/Documented.ts"
import { layerEdgeServer, portOf } from "../kit/EdgeServer.ts"
import { type Reply, send, sendBytes, sendSigned, signedHeaders, unixSeconds } from "../kit/HttpCalls.ts"
import { addApiKey, addProvider } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: for any bytes, the answer is an envelope with a request id, never a 500, and the next request is served.
// Method: bytes by hand, and requests at random.

const assertEnvelope = (answer: string, status: number) => {
  assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
  assert.match(answer, /\r\nX-Request-Id: [\x21-\x7e]+\r\n/i)
  assert.match(answer, /\r\n\r\n\{"error":\{"code":"[A-Z_]+","message":".+","details":\{.*\}\}\}$/)
}

const closing = (lines: ReadonlyArray<string>, body = "") =>
  [...lines, "Host: x", "Connection: close", "", body].join("\r\n")

layer(layerEdgeServer())("HTTP requests as raw bytes", (it) => {
  it.effect("that are malformed or too large are answered with an error", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      assertEnvelope(yield* sendBytes(port, "nonsense\r\n\r\n"), 400)
      assertEnvelope(yield* sendBytes(port, Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])), 400)
      assertEnvelope(yield* sendBytes(port, "FOO / HTTP/1.1\r\n\r\n"), 400)
      assertEnvelope(yield* sendBytes(port, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), 404)
      assertEnvelope(yield* sendBytes(port, closing(["GET / HTTP/1.1", `X: ${"x".repeat(40_000)}`])), 431)
      assertEnvelope(yield* sendBytes(port, closing([`GET /${"x".repeat(40_000)} HTTP/1.1`])), 431)
      const both = closing(
        ["POST / HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"],
        "1\r\na\r\n0\r\n\r\n"
      )
      assertEnvelope(yield* sendBytes(port, both), 400)
      assert.strictEqual((yield* send(port, "/health/live")).status, 200)
    }))

  it.effect("with an unusual method or path are answered 404 or 405, or as the path that they name in another form", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      assertEnvelope(yield* sendBytes(port, closing(["PROPFIND /api/v1/operator/open HTTP/1.1"])), 405)
      assertEnvelope(yield* sendBytes(port, closing(["OPTIONS /api/v1/operator/open HTTP/1.1"])), 405)
      assertEnvelope(yield* sendBytes(port, closing(["OPTIONS * HTTP/1.1"])), 404)
      assertEnvelope(yield* sendBytes(port, closing(["GET http://x/api/v1/operator/open HTTP/1.1"])), 401)
      assertEnvelope(yield* sendBytes(port, closing(["GET //api/v1/operator/open HTTP/1.1"])), 404)
      assertEnvelope(yield* sendBytes(port, closing(["GET /API/v1/operator/open HTTP/1.1"])), 404)
      assertEnvelope(yield* sendBytes(port, closing(["GET /api/v1/operator/%6Fpen HTTP/1.1"])), 401)
      assertEnvelope(yield* sendBytes(port, closing(["GET /%E0%A4%A HTTP/1.1"])), 404)
      const expecting = ["POST /api/v1/operator/orders HTTP/1.1", "Content-Length: 400000", "Expect: 100-continue"]
      assertEnvelope(yield* sendBytes(port, closing(expecting)), 401)
    }))

  it.effect("with Expect: 100-continue and a body that is too long are refused without 100 Continue", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("expecting")
      const [key, provider] = [yield* addApiKey(operator.id), yield* addProvider("expecting")]
      const timestamp = yield* unixSeconds
      for (
        const [signer, path] of [[key, "/api/v1/operator/orders"], [provider, "/api/v1/provider/wallet/bet"]] as const
      ) {
        const signed = Object.entries(signedHeaders(signer, path, { timestamp, raw: "{}", method: "POST" }))
        const lines = (length: number) => [
          `POST ${path} HTTP/1.1`,
          `Content-Length: ${length}`,
          "Content-Type: application/json",
          "Expect: 100-continue",
          ...signed.map((pair) => pair.join(": "))
        ]
        assertEnvelope(yield* sendBytes(port, closing(lines(400_000))), 413)
        assert.match(yield* sendBytes(port, closing(lines(2), "{}")), /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 \d+ /)
      }
    }))

  it.effect("pipelined on one connection are answered in order", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const lines = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n`
      const answer = yield* sendBytes(
        port,
        `${lines("/health/live")}\r\n${lines("/nowhere")}\r\n${lines("/health/live")}Connection: close\r\n\r\n`
      )
      assert.deepStrictEqual([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]), ["200", "404", "200"])
    }))

  it.effect("with an incomplete body leave the service ready", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("half")
      const key = yield* addApiKey(operator.id)
      const timestamp = yield* unixSeconds
      const path = "/api/v1/operator/orders"
      const headers = Object.entries(signedHeaders(key, path, { timestamp, raw: "{}", method: "POST" }))
      const head = [
        `POST ${path} HTTP/1.1`,
        "Host: x",
        "Content-Length: 100",
        ...headers.map((pair) => pair.join(": "))
      ]
      yield* Effect.callback<void>((resume) => {
        const socket = Net.connect(port, "127.0.0.1", () => {
          socket.write(`${head.join("\r\n")}\r\n\r\n{`, () => socket.destroy())
        })
        socket.on("close", () => resume(Effect.void))
      })
      assert.strictEqual((yield* send(port, "/health/ready")).status, 200)
    }))
})

const segment = fc.oneof(
  fc.constantFrom(
    "api",
    "v1",
    "operator",
    "provider",
    "orders",
    "players",
    "7",
    "wallet",
    "bet",
    "act",
    "die",
    "..",
    "%2e",
    "%00",
    "%"
  ),
  fc.stringMatching(/^[\x21-\x7e]{0,12}$/)
)
const path = fc.tuple(
  fc.constantFrom("/api/v1/operator/", "/api/v1/provider/", "/"),
  fc.array(segment, { maxLength: 4 }),
  fc.option(fc.stringMatching(/^[\x21-\x7e]{0,30}$/), { nil: "" })
).map(([base, segments, query]) => `${base}${segments.join("/")}?${query}`.replaceAll(/[\s"<>\\^`{|}]/g, "_"))
const known = fc.constantFrom(
  "/api/v1/operator/orders",
  "/api/v1/operator/players/1/orders",
  "/api/v1/provider/wallet/bet",
  "/api/v1/operator/list?page=1"
)
const body = fc.oneof(
  fc.json(),
  fc.string(),
  fc.uint8Array(),
  fc.jsonValue().map((value) => JSON.stringify({ amount: value, name: value }))
)
const text = fc.stringMatching(/^[\x20-\x7e]{0,40}$/)
const headers = fc.record({
  "content-type": fc.constantFrom(
    "application/json",
    "text/plain",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "x"
  ),
  "x-request-id": text,
  "idempotency-key": text,
  "x-forwarded-for": text,
  accept: text
}, { requiredKeys: [] })

layer(layerEdgeServer())("random HTTP requests", (it) => {
  it.effect("are never answered with 500, and always with a request id", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("fuzz")
      const key = yield* addApiKey(operator.id, { rateLimit: 1_000_000 })
      const provider = yield* addProvider("fuzz")
      const timestamp = yield* unixSeconds
      let count = 0
      const request = fc.record({
        path: fc.oneof(path, known),
        method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
        body,
        headers,
        isSigned: fc.boolean()
      })
      const judge = (reply: Reply) => {
        assert.notInclude(reply.text, "undefined")
        assert.isString(reply.headers["x-request-id"])
        assert.isBelow(reply.status, 500, reply.text)
        if (reply.status >= 400) assert.isString(reply.code, reply.text)
      }
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(request, ({ body, isSigned, path, ...rest }) => {
            // a handler that is asked to die does
            fc.pre(!path.includes("die"))
            // this server has other endpoints than the contract, which each answer is checked against
            fc.pre(!isOfContract(path))
            const call = { ...rest, raw: rest.method === "GET" ? "" : body, timestamp, nonce: `fuzz-${count++}` }
            const signer = path.startsWith("/api/v1/provider") ? provider : key
            return Effect.runPromise(isSigned ? sendSigned(port, signer, path, call) : send(port, path, call)).then(
              judge
            )
          }),
          { numRuns: 400 }
        )
      )
    }))
})
