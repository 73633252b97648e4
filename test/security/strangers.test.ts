import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import * as Net from "node:net"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { makeBackOff } from "../../src/http/BackOff.ts"
import { AnonymousLimits } from "../../src/http/AnonymousLimits.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerEdgeServer, portOf, providerBet } from "../kit/EdgeServer.ts"
import { layerE2eServer } from "../kit/E2eServer.ts"
import { portOf as portOfApi, send, sendSigned, signedHeaders, unixSeconds } from "../kit/HttpCalls.ts"
import { addApiKey, addProvider } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: strangers get a bounded part of the service, and who signs properly never notices them, not even from the same address. Method:
// floods against a server in this process, whose clock stands still, so that a minute's allowance does not grow meanwhile.

const lines: Array<string> = []
const Remembering = Logger.layer([
  Logger.map(Logger.formatJson, (line) => {
    lines.push(line)
  })
])

layer(layerEdgeServer().pipe(Layer.provideMerge(Remembering)))(
  "unauthenticated requests",
  (it) => {
    it.effect("from one address are refused beyond an allowance, while signed requests from that address are served", () =>
      Effect.gen(function*() {
        const port = yield* portOf
        const operator = yield* addOperator("flooded")
        const key = yield* addApiKey(operator.id)
        const provider = yield* addProvider("flooded-studio")
        const { take } = yield* AnonymousLimits
        const origin = { peer: "127.0.0.1", forwardedFor: undefined }
        while (take(origin) === undefined) { /* uses up the allowance */ }
        for (const path of ["/health/live", "/nowhere", "/api/v1/operator/open"]) {
          const refused = yield* send(port, path)
          assert.strictEqual(refused.code, "RATE_LIMITED", path)
          assert.strictEqual(refused.status, 429)
          assert.match(refused.headers["retry-after"] ?? "", /^[1-9]\d*$/)
        }
        assert.strictEqual((yield* sendSigned(port, key, "/api/v1/operator/open")).status, 200)
        const body = providerBet("b-1")
        for (let count = 0; count < 20; count++) {
          assert.strictEqual((yield* sendSigned(port, provider, "/api/v1/provider/wallet/bet", { body })).status, 200)
        }
        const wrong = { "X-Signature": "0".repeat(64) }
        const failed = yield* sendSigned(port, key, "/api/v1/operator/open", { headers: wrong })
        assert.strictEqual(failed.status, 429)
        const failedBet = yield* sendSigned(port, provider, "/api/v1/provider/wallet/bet", { body, headers: wrong })
        assert.deepStrictEqual([failedBet.status, failedBet.details["retry"]], [429, "same_request"])
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* send(port, "/health/live")).status, 200)
      }))

    it.effect("leave a rate-limited log line with key, address and the number of further failures", () =>
      Effect.gen(function*() {
        const port = yield* portOf
        const provider = yield* addProvider("imitated")
        yield* TestClock.adjust("1 minute")
        lines.length = 0
        const call = { body: {}, headers: { "X-Signature": "0".repeat(64) } }
        for (let count = 0; count < 5; count++) yield* sendSigned(port, provider, "/api/v1/provider/wallet/bet", call)
        yield* TestClock.adjust("5 seconds")
        const unknown = { ...provider, key: "a-secret-in-the-wrong-place" }
        yield* sendSigned(port, unknown, "/api/v1/provider/wallet/bet", call)
        const told = lines.filter((line) => line.includes("authentication failed")).map((line) =>
          JSON.parse(line).annotations
        )
        assert.deepStrictEqual(told, [
          { kind: "provider_signature", address: "127.0.0.1", others: 0, key: provider.key },
          { kind: "provider_unknown_key", address: "127.0.0.1", others: 4, key: "a-secret-in-…" }
        ])
      }))

    it.effect("share a limit of bytes for large bodies, whatever key they name", () =>
      Effect.gen(function*() {
        const port = yield* portOf
        const operator = yield* addOperator("imitated")
        const key = yield* addApiKey(operator.id)
        const path = "/api/v1/operator/orders"
        const head = Object.entries({
          ...signedHeaders(key, path, { timestamp: yield* unixSeconds, body: {} }),
          "X-Signature": "0".repeat(64),
          "Content-Length": String(256 * 1024)
        }).map((pair) => pair.join(": "))
        const sockets: Array<Net.Socket> = []
        const status = (socket: Net.Socket) =>
          Effect.callback<string>((resume) => {
            socket.once("data", (data) => resume(Effect.succeed(data.toString("latin1").slice(9, 12))))
          })
        const open = Effect.callback<Net.Socket>((resume) => {
          const socket = Net.connect(port, "127.0.0.1", () => {
            socket.write([`POST ${path} HTTP/1.1`, "Host: x", ...head, "", "x"].join("\r\n"))
            resume(Effect.succeed(socket))
          })
          socket.on("error", () => {})
          sockets.push(socket)
        })
        // 8 MiB are 32 such bodies; the one after them is not read
        for (let count = 0; count < 32; count++) yield* open
        const refused = yield* Effect.flatMap(open, status)
        assert.strictEqual(refused, "503")
        const small = yield* sendSigned(port, key, path, { body: { amount: 1, name: "n" } })
        assert.strictEqual(small.status, 201)
        // once they have been read for a second, the oldest make room: a large body of a signed request from the same address arrives
        yield* TestClock.adjust("1 second")
        const large = { amount: 1, name: "n", padding: "x".repeat(200_000) }
        const arrived = yield* sendSigned(port, key, path, { body: large })
        assert.strictEqual(arrived.status, 201)
        for (const socket of sockets) socket.destroy()
      }))
  }
)

const get = (port: number, path: string, headers: Http.OutgoingHttpHeaders = {}) =>
  Effect.callback<{ readonly status: number; readonly headers: Http.IncomingHttpHeaders; readonly body: Buffer }>(
    (resume) => {
      Http.get({ host: "127.0.0.1", port, path, headers, agent: false }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resume(
            Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
          ))
      })
    }
  )

layer(layerE2eServer, { timeout: "60 seconds" })("served documents", (it) => {
  it.effect("are compressed, and answered 304 to a caller that has the current version", () =>
    Effect.gen(function*() {
      const port = yield* portOfApi
      for (const path of ["/docs", "/openapi.json"]) {
        const plain = yield* get(port, path)
        const br = yield* get(port, path, { "accept-encoding": "gzip, deflate, br" })
        const gzip = yield* get(port, path, { "accept-encoding": "gzip;q=1.0, br;q=0" })
        assert.deepStrictEqual([plain, br, gzip].map(({ headers }) => headers["content-encoding"]), [
          undefined,
          "br",
          "gzip"
        ])
        assert.isTrue(brotliDecompressSync(br.body).equals(plain.body))
        assert.isTrue(gunzipSync(gzip.body).equals(plain.body))
        assert.isBelow(br.body.length, plain.body.length / 3)
        const etag = br.headers.etag ?? ""
        const same = yield* get(port, path, { "if-none-match": `"other", W/${etag}` })
        assert.deepStrictEqual([same.status, same.body.length, same.headers.etag], [304, 0, etag])
        assert.strictEqual((yield* get(port, path, { "if-none-match": "\"other\"" })).status, 200)
      }
    }))
})

describe("the allowance for unauthenticated requests", () => {
  const counted = (trustProxy: ReadonlyArray<string>) =>
    Effect.provide(AnonymousLimits, AnonymousLimits.layer.pipe(Layer.provide(Settings.layerTest({ trustProxy }))))
  const takeAll = ({ take }: AnonymousLimits["Service"], peer: string, forwardedFor?: string) => {
    const origin = { peer, forwardedFor }
    let taken = 0
    while (take(origin) === undefined) taken++
    return taken
  }

  it.effect("is counted per client address or IPv6 /64 network, and refills with time", () =>
    Effect.gen(function*() {
      const strangers = yield* counted(["10.0.0.0/8"])
      assert.strictEqual(takeAll(strangers, "192.0.2.1"), 2000)
      assert.strictEqual(takeAll(strangers, "::ffff:192.0.2.1"), 0)
      assert.strictEqual(takeAll(strangers, "192.0.2.2"), 2000)
      assert.strictEqual(takeAll(strangers, "2001:db8::1"), 2000)
      assert.strictEqual(takeAll(strangers, "2001:db8::2"), 0)
      assert.strictEqual(takeAll(strangers, "2001:db8:0:1::2"), 2000)
      assert.strictEqual(takeAll(strangers, "10.1.1.1", "192.0.2.3"), 2000)
      assert.strictEqual(takeAll(strangers, "10.1.1.1", "192.0.2.1"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(takeAll(strangers, "192.0.2.1"), 100)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(takeAll(strangers, "192.0.2.1"), 2000)
    }))

  it.effect("counts a proxy's own requests apart from those it forwards, whether the proxy is trusted or not", () =>
    Effect.gen(function*() {
      const strangers = yield* counted([])
      assert.strictEqual(takeAll(strangers, "10.0.0.1", "192.0.2.1"), 2000)
      assert.strictEqual(takeAll(strangers, "10.0.0.1", "192.0.2.2"), 0)
      assert.strictEqual(takeAll(strangers, "10.0.0.1"), 2000)
    }))

  it.effect("limits reserved body bytes per address and in total", () =>
    Effect.gen(function*() {
      const { reserve } = yield* counted([])
      const cut: Array<string> = []
      const from = (peer: string) => reserve({ peer, forwardedFor: undefined }, 4 * 1024 * 1024, () => cut.push(peer))
      const release = from("192.0.2.1")
      assert.isDefined(from("192.0.2.1"))
      assert.isUndefined(from("192.0.2.1"))
      release?.()
      release?.()
      assert.isDefined(from("192.0.2.1"))
      assert.isUndefined(from("192.0.2.1"))
      for (let host = 2; host < 9; host++) for (const _ of [1, 2]) assert.isDefined(from(`192.0.2.${host}`))
      assert.deepStrictEqual(cut, [])
      // who holds nothing comes before who holds the most, and nobody holds more by asking more
      assert.isDefined(from("192.0.2.9"))
      assert.strictEqual(cut.length, 1)
      assert.isUndefined(from("192.0.2.9"))
    }))

  it.effect("cuts off a slow body after a second when a new body needs its reserved bytes", () =>
    Effect.gen(function*() {
      const { reserve } = yield* counted([])
      let cut = 0
      const slow = () => reserve({ peer: "192.0.2.1", forwardedFor: undefined }, 256 * 1024, () => cut++)
      for (let count = 0; count < 32; count++) assert.isDefined(slow())
      assert.isUndefined(slow())
      yield* TestClock.adjust("1 second")
      assert.isDefined(slow())
      assert.strictEqual(cut, 1)
    }))
})

describe("the back-off after failed authentication", () => {
  it("grows with the failures of one address up to a minute, and is reset after a while", () => {
    const { fail, leftMs } = makeBackOff()
    for (let count = 0; count < 299; count++) fail("a", 0)
    assert.strictEqual(leftMs("a", 0), 0)
    const waits = Array.from({ length: 9 }, () => {
      fail("a", 0)
      return leftMs("a", 0)
    })
    assert.deepStrictEqual(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    assert.strictEqual(leftMs("a", 59_999), 1)
    assert.strictEqual(leftMs("a", 60_000), 0)
    assert.strictEqual(leftMs("b", 0), 0)
    fail("a", 360_001)
    assert.strictEqual(leftMs("a", 360_001), 0)
  })
})
