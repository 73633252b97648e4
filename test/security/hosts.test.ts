import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAnswerHeaders } from "../../src/http/AnswerHeaders.ts"
import { makeKnownHosts } from "../../src/http/KnownHosts.ts"
import { networks } from "../../src/auth/Addresses.ts"
import { isOpenConnection } from "../../src/platform/DatabaseHosts.ts"
import { isLoopback, reachable } from "../../src/platform/Loopback.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"
import { version } from "../../src/platform/Version.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { bootstrapToken, BothServers } from "../kit/Casino.ts"
import { type Reply, send, sendSigned } from "../kit/HttpCalls.ts"
import { addProvider } from "../kit/Keys.ts"

// Goal: pages of other origins cannot read the back office, no answer is cached, and exposure to other machines
// is reported. Method: the headers that a rebound name or a proxy would send, against both servers in this process.

const assertBareHeaders = ({ headers }: Reply) => {
  assert.strictEqual(headers["cache-control"], "no-store")
  assert.strictEqual(headers["x-content-type-options"], "nosniff")
  assert.strictEqual(headers["referrer-policy"], "no-referrer")
  assert.isUndefined(headers["strict-transport-security"])
}

layer(layerBothServers, { excludeTestServices: true, timeout: "60 seconds" })("HTTP answers", (it) => {
  it.effect("carry headers against caching, sniffing and referrers on every path", () =>
    Effect.gen(function*() {
      const { backofficePort, publicPort } = yield* BothServers
      const provider = yield* addProvider("headers-studio")
      const path = "/api/v1/provider/wallet/bet"
      assertBareHeaders(yield* send(publicPort, "/health/live"))
      assertBareHeaders(yield* send(publicPort, "/nowhere", { headers: { "x-forwarded-proto": "https" } }))
      // the first goes the ordinary way, since the key has not been used; the second takes the lane
      assertBareHeaders(yield* sendSigned(publicPort, provider, path, { body: {} }))
      assertBareHeaders(yield* sendSigned(publicPort, provider, path, { body: { amount: 1 } }))
      const staff = yield* send(backofficePort, "/backoffice/v1/staff")
      assertBareHeaders(staff)
      assert.strictEqual(staff.headers["x-pitboss-version"], version)
      assert.isUndefined((yield* send(publicPort, "/health")).headers["x-pitboss-version"])
      assertBareHeaders(yield* send(backofficePort, "/metrics", { headers: { host: "rebound.example" } }))
    }))

  // the port of all nodes is none of a node
  it.effect.skipIf(nodesOfRun > 1)(
    "of the back office are given under its own host names only, and its metrics to local callers and staff only",
    Effect.fnUntraced(function*() {
      const { backofficePort: port } = yield* BothServers
      const authorization = `Bearer ${bootstrapToken}`
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
        assert.strictEqual((yield* send(port, "/metrics", { headers: { host } })).status, 200, host)
      }
      for (
        const host of [
          "rebound.example",
          `rebound.example:${port}`,
          `127.0.0.1:${port}.example`,
          "127.0.0.1",
          "x@y"
        ]
      ) {
        for (const path of ["/metrics", "/openapi.json", "/backoffice/v1/staff"]) {
          const { code, status } = yield* send(port, path, { headers: { host, authorization } })
          assert.deepStrictEqual([status, code], [421, "INVALID_REQUEST"], `${host} ${path}`)
        }
      }
      for (const forwarded of [{ "x-forwarded-for": "192.0.2.1" }, { forwarded: "for=192.0.2.1" }]) {
        for (const path of ["/metrics", "/metrics?x", "/openapi.json"]) {
          assert.strictEqual((yield* send(port, path, { headers: forwarded })).code, "MISSING_CREDENTIALS")
          assert.strictEqual((yield* send(port, path, { headers: { ...forwarded, authorization } })).status, 200)
        }
      }
    })
  )
})

/** Spellings of a path that the router takes for the same one, or might. */
const spellings = (path: string): ReadonlyArray<string> => [
  path,
  `${path}/`,
  `${path}?x`,
  `${path}/?x`,
  `${path};x`,
  `${path}%2f`,
  `/${path}`,
  `${path.slice(0, 1)}.${path}`,
  path.replace(/[a-z](?=[^/]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`),
  path.toUpperCase()
]

/** Whatever anybody may read: the state of sign-in, and the pages before it. */
const open = new Set(["/backoffice/v1/sign-in"])

layer(layerBothServers, { excludeTestServices: true, timeout: "60 seconds" })(
  "every route of the back office",
  (it) => {
    it.effect("is refused to callers without a token, however its path is spelled", () =>
      Effect.gen(function*() {
        const { backofficePort: port } = yield* BothServers
        const { json } = yield* send(port, "/openapi.json")
        const paths = Object.entries(Object(Object(json).paths)).filter(([, methods]) => "get" in Object(methods))
          .map(([path]) => path.replaceAll(/\{\w+\}/g, "1")).filter((path) => !open.has(path))
        assert.isAbove(paths.length, 40)
        for (const path of ["/metrics", "/openapi.json", ...paths]) {
          for (const spelled of spellings(path)) {
            const { status } = yield* send(port, spelled, { headers: { "x-forwarded-for": "192.0.2.1" } })
            assert.include([401, 404, 429], status, spelled)
          }
        }
        // and open to who has one, whatever the spelling
        const headers = { "x-forwarded-for": "192.0.2.2", authorization: `Bearer ${bootstrapToken}` }
        for (const path of ["/metrics/", "/%6detrics", "/openapi.json/"]) {
          assert.strictEqual((yield* send(port, path, { headers })).status, 200, path)
        }
      }))
  }
)

describe("host names of the back office", () => {
  const isKnown = makeKnownHosts({ backofficeHost: "10.0.0.5", backofficeUrl: "https://Staff.example" })
  const local = { address: "::ffff:10.0.0.5", port: 8081 }
  it("are loopback, the address it listens on, and the host of its public URL", () => {
    for (const host of ["localhost:8081", "127.3.2.1:8081", "10.0.0.5:8081", "staff.example", "STAFF.example"]) {
      assert.isTrue(isKnown(host, local), host)
    }
    for (
      const host of [undefined, "", "localhost", "10.0.0.5", "10.0.0.6:8081", "staff.example:8081", "a.staff.example"]
    ) {
      assert.isFalse(isKnown(host, local), host)
    }
  })
})

describe("TLS", () => {
  it("HSTS is sent only when a trusted proxy says that the request came over HTTPS", () => {
    const headersFor = makeAnswerHeaders(networks(["10.0.0.0/8"]))
    const hsts = (peer: string, proto: string | undefined) => headersFor(() => peer, proto)["strict-transport-security"]
    assert.strictEqual(hsts("10.1.1.1", "https"), "max-age=31536000")
    assert.isUndefined(hsts("10.1.1.1", "http"))
    assert.isUndefined(hsts("10.1.1.1", undefined))
    assert.isUndefined(hsts("192.0.2.1", "https"))
    assert.isUndefined(makeAnswerHeaders([])(() => "10.1.1.1", "https")["strict-transport-security"])
  })

  it("a service that listens on all addresses is reached on this machine", () => {
    const hosts = ["0.0.0.0", "::", "::1", "127.0.0.1", "casino.example"]
    assert.deepStrictEqual(hosts.map(reachable), ["127.0.0.1", "[::1]", "[::1]", "127.0.0.1", "casino.example"])
  })

  it("a connection to a remote database without TLS is detected", () => {
    for (const host of ["localhost", "127.0.0.1", "[::1]", "::1", "::ffff:127.0.0.1"]) {
      assert.isTrue(isLoopback(host), host)
    }
    for (const host of ["0.0.0.0", "::", "localhost.example", "10.0.0.1"]) assert.isFalse(isLoopback(host), host)
    for (
      const safe of [
        "postgres://a:b@localhost/c",
        "postgres://a@[::1]:5432/c",
        "postgres:///c?host=/var/run/postgresql",
        "postgres://db.example/c?sslmode=require",
        "postgresql://db.example/c?sslmode=verify-full",
        "postgres://db.example/c?ssl=true"
      ]
    ) assert.isFalse(isOpenConnection(safe), safe)
    for (
      const open of [
        "postgres://db.example/c",
        "postgres://db.example/c?sslmode=prefer",
        "postgres://10.0.0.1/c?ssl=false"
      ]
    ) assert.isTrue(isOpenConnection(open), open)
  })
})
