import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Net from "node:net"
import { layerEdgeServer, portOf, Probe } from "../kit/EdgeServer.ts"
import { type Reply, sendSigned, signedHeaders, unixSeconds } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import { addOperator } from "../kit/TestService.ts"

// Goal: answers do not reveal the path of a request, and a kept connection carries on after it: the router stays for what is unusual, since its answers to
// half-read bodies, HEAD and `Expect` are right (docs/decisions/0041-one-way-through-http.md).
// Method: the same requests on kept connections, plainly, and with a header that leaves them to the router.

interface Asked {
  readonly method: string
  readonly path: string
  readonly raw?: string
  readonly headers?: { readonly [name: string]: string }
}

interface Answered {
  readonly status: string
  /** By name in lower case, without the request id and the remaining rate, which differ in every request. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

const answerOf = (head: string, body: string): Answered => {
  const [status = "", ...lines] = head.split("\r\n")
  const headers = Object.fromEntries(lines.map((line) => {
    const [name = "", value = ""] = line.split(": ", 2)
    return [name.toLowerCase(), value]
  }))
  assert.match(headers["x-request-id"] ?? "", /^[\x21-\x7e]+$/)
  const { "x-request-id": _, "x-ratelimit-remaining": remaining, ...others } = headers
  return { status, headers: remaining === undefined ? others : { ...others, "x-ratelimit-remaining": "" }, body }
}

/** Parses answers with a stated length from the start of the received bytes. */
const answersIn = (bytes: Buffer): ReadonlyArray<Answered> => {
  const text = bytes.toString("latin1")
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return []
  const head = text.slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const next = end + 4 + length
  return next > bytes.length
    ? []
    : [answerOf(head, bytes.toString("utf8", end + 4, next)), ...answersIn(bytes.subarray(next))]
}

/** Writes all requests at once on one connection, and returns as many answers. */
const pipelined = (port: number, requests: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Answered>> =>
  Effect.callback((resume) => {
    let came = Buffer.alloc(0)
    const socket = Net.connect(port, "127.0.0.1", () => socket.write(requests.join("")))
    socket.on("data", (chunk) => {
      came = Buffer.concat([came, chunk])
      const answers = answersIn(came)
      if (answers.length === requests.length) resume(Effect.succeed(answers))
    })
    socket.on("close", () => resume(Effect.succeed(answersIn(came))))
    return Effect.sync(() => socket.destroy())
  })

const bytesOf = ({ headers, method, path, raw = "" }: Asked): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "Host: x",
    ...method === "GET" ? [] : [`Content-Length: ${Buffer.byteLength(raw)}`],
    ...Object.entries(headers ?? {}).map((pair) => pair.join(": ")),
    "",
    raw
  ].join("\r\n")

layer(layerEdgeServer())("the fast path around the router", (it) => {
  it.effect("gives the same answers as the router to consecutive requests on a keep-alive connection", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("ways")
      const key = yield* addApiKey(operator.id, { rateLimit: 1_000_000 })
      const timestamp = yield* unixSeconds
      let count = 0
      const signed = (asked: Asked, way: { readonly [name: string]: string }): string => {
        const { method, path, raw = "" } = asked
        const call = { timestamp, raw, method, nonce: `way-${count++}` }
        return bytesOf({ ...asked, headers: { ...signedHeaders(key, path, call), ...way, ...asked.headers } })
      }
      const base = "/api/v1/operator"
      const orderOf = (name: string) => JSON.stringify({ amount: 1, name })
      const order = orderOf("Ærø €")
      const json = { "Content-Type": "application/json" }
      const asked: ReadonlyArray<Asked> = [
        { method: "GET", path: `${base}/open` },
        { method: "GET", path: `${base}/list?page=0&page=1` },
        { method: "GET", path: `${base}/look/x` },
        { method: "GET", path: `${base}/look/again` },
        { method: "GET", path: `${base}/look/%6Fpen` },
        { method: "GET", path: `${base}/wrong` },
        { method: "GET", path: `${base}/open`, headers: { "X-Signature": "0" } },
        { method: "GET", path: `${base}/open`, headers: { "X-Api-Key": "nobody" } },
        { method: "GET", path: `${base}/open`, headers: { "X-Timestamp": "1" } },
        { method: "POST", path: `${base}/orders`, raw: order, headers: json },
        { method: "POST", path: `${base}/orders`, raw: `\ufeff${order}`, headers: json },
        { method: "POST", path: `${base}/orders`, raw: "{", headers: json },
        { method: "POST", path: `${base}/orders`, raw: "", headers: json },
        { method: "POST", path: `${base}/orders`, raw: order, headers: { "Content-Type": "text/plain" } },
        {
          method: "POST",
          path: `${base}/orders`,
          raw: order,
          headers: { ...json, "Idempotency-Key": "x".repeat(300) }
        },
        { method: "POST", path: `${base}/orders`, raw: order, headers: { ...json, "Idempotency-Key": "" } },
        { method: "POST", path: `${base}/orders`, raw: JSON.stringify({ amount: 0, name: "" }), headers: json },
        { method: "POST", path: `${base}/orders`, raw: `[${"0,".repeat(2000)}0]`, headers: json },
        { method: "POST", path: `${base}/orders`, raw: orderOf("look up"), headers: json },
        { method: "POST", path: `${base}/orders`, raw: orderOf("done"), headers: json },
        { method: "POST", path: `${base}/orders`, raw: orderOf("limit"), headers: json },
        { method: "POST", path: `${base}/orders`, raw: orderOf("again"), headers: json },
        { method: "POST", path: `${base}/orders`, raw: orderOf("die"), headers: json },
        { method: "POST", path: `${base}/players/1/orders`, raw: "[]", headers: json },
        { method: "POST", path: `${base}/act/limit` },
        { method: "POST", path: `${base}/act/die` },
        { method: "PUT", path: `${base}/set/forbidden` }
      ]
      // until its key is in memory, a request goes through its handler
      const [first] = yield* pipelined(port, asked.slice(0, 1).map((one) => signed(one, {})))
      const probe = yield* Probe
      const direct = yield* pipelined(port, asked.map((one) => signed(one, {})))
      // three bodies as they should be, and four orders that end otherwise; all others go through the handler
      assert.strictEqual(probe.posted, 7)
      const routed = yield* pipelined(port, asked.map((one) => signed(one, { Expect: "the router" })))
      assert.strictEqual(direct.length, asked.length)
      assert.strictEqual(probe.posted, 7)
      // handlers count their calls, and the router's date is Node.js's own
      const uncounted = ({ body, ...answer }: Answered) => ({
        ...answer,
        headers: { ...answer.headers, "content-length": "", "date": "" },
        body: body.replace(/"calls":\d+/, "")
      })
      // from memory: the handler counts its calls
      assert.strictEqual(direct[0]?.body, first?.body)
      for (const [index, answer] of direct.entries()) {
        const { headers } = answer
        assert.deepStrictEqual(uncounted(answer), uncounted(routed[index] ?? answer), asked[index]?.path)
        assert.strictEqual(headers["content-length"], String(Buffer.byteLength(answer.body)))
        assert.strictEqual(headers["connection"], "keep-alive")
        assert.strictEqual(headers["keep-alive"], "timeout=75")
        assert.strictEqual(headers["date"], "Fri, 20 Nov 2026 12:00:00 GMT")
      }
    }))

  it.effect("stores the signature of each request before its answer, whatever the outcome", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const sql = yield* SqlClient.SqlClient
      const key = yield* addApiKey((yield* addOperator("stored")).id)
      const timestamp = yield* unixSeconds
      const path = "/api/v1/operator/orders"
      const statuses: Array<number> = []
      for (const name of ["open", "placed", "done", "limit", "again", "die", "look up"]) {
        const call = { timestamp, nonce: name, body: { amount: 1, name } }
        statuses.push((yield* sendSigned(port, key, path, call)).status)
        const signature = Buffer.from(signedHeaders(key, path, call)["X-Signature"] ?? "", "hex")
        const rows = yield* sql`SELECT 1 FROM accepted_signatures WHERE signature = ${signature}`
        assert.strictEqual(rows.length, 1, name)
        assert.strictEqual((yield* sendSigned(port, key, path, call)).code, "REPLAYED_REQUEST", name)
      }
      assert.deepStrictEqual(statuses, [201, 201, 201, 422, 503, 500, 201])
    }))

  it.effect("refuses a signature that another process has accepted, and counts the request once for the rate limit", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const sql = yield* SqlClient.SqlClient
      const probe = yield* Probe
      const operator = yield* addOperator("replayed")
      const key = yield* addApiKey(operator.id, { rateLimit: 1000 })
      const timestamp = yield* unixSeconds
      const remainingOf = ({ headers }: Reply) => Number(headers["x-ratelimit-remaining"])
      const first = yield* sendSigned(port, key, "/api/v1/operator/open")
      assert.strictEqual(first.status, 200)
      let remaining = remainingOf(first)
      for (
        const [path, call, decided] of [
          ["/api/v1/operator/open", { timestamp, nonce: "read" }, 0],
          ["/api/v1/operator/orders", { timestamp, nonce: "write", body: { amount: 1, name: "x" } }, 0],
          ["/api/v1/operator/orders", { timestamp, nonce: "look up", body: { amount: 1, name: "look up" } }, 0],
          // refused without an effect: decided before its signature is stored
          ["/api/v1/operator/orders", { timestamp, nonce: "busy", body: { amount: 1, name: "again" } }, 1]
        ] as const
      ) {
        const headers = signedHeaders(key, path, call)
        yield* sql`INSERT INTO accepted_signatures (signature, accepted_at)
          VALUES (${Buffer.from(headers["X-Signature"] ?? "", "hex")}, ${new Date(timestamp * 1000)})`
        const { calls } = probe
        const reply = yield* sendSigned(port, key, path, call)
        assert.deepStrictEqual([reply.status, reply.code], [401, "REPLAYED_REQUEST"])
        assert.strictEqual(remainingOf(reply), --remaining)
        assert.strictEqual(probe.calls, calls + decided)
      }
    }))
})
