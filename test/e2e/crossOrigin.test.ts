import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../src/contract/Api.ts"
import { layerPublicServer } from "../../src/servers/PublicServer.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { assertRefused, dataOf, issueToken, openCasinoInRows, registered } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { browserCall, type Call, portOf, type Reply, send, signedCall } from "../kit/HttpCalls.ts"

// Goal: browser pages may call the player endpoints, and no others; preflight requests are answered, and
// the errors of the pipeline are unchanged. Method: requests as browsers send them, byte by byte.

const origin = "https://casino.example"

const exposed = "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Idempotent-Replayed"

const asked = Effect.fnUntraced(function*(path: string, method: string, headers: Call["headers"] = {}) {
  return yield* send(yield* portOf, path, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": method, ...headers }
  })
})

/** The CORS headers of an answer. */
const forBrowsers = ({ headers }: Reply) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("access-control-") || name === "vary")
  )

const everybody = { "access-control-allow-origin": "*", "access-control-expose-headers": exposed }

layer(layerPublicApi)("calls from pages of other origins", (it) => {
  it.effect("a preflight request to each player path is answered with the allowed methods and headers", () =>
    Effect.gen(function*() {
      const paths = new Map<string, ReadonlyArray<string>>()
      HttpApi.reflect(Api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint: { method, path } }) => {
          if (!path.startsWith("/api/v1/player/")) return
          const asked = path.replaceAll(/:\w+/g, "1")
          paths.set(asked, [...paths.get(asked) ?? [], method])
        }
      })
      assert.isAtLeast(paths.size, 4)
      for (const [path, methods] of paths) {
        const headers = { "access-control-request-headers": "authorization,content-type,idempotency-key" }
        const reply = yield* asked(path, methods[0] ?? "GET", headers)
        assert.deepStrictEqual([reply.status, reply.text], [204, ""], path)
        assert.deepStrictEqual(forBrowsers(reply), {
          ...everybody,
          "access-control-allow-methods": [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].join(", "),
          "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
          "access-control-max-age": "7200"
        })
        assert.isDefined(reply.headers["x-request-id"])
        // no authentication, and no rate limit
        assert.isUndefined(reply.headers["x-ratelimit-limit"])
      }
    }))

  it.effect("every answer of a player path, refusals included, can be read by the page; cookies are ignored", () =>
    Effect.gen(function*() {
      const { caller } = yield* openCasinoInRows("pages", { rateLimit: 5 })
      const { id } = yield* registered(caller, "ada") // 1
      const token = yield* issueToken(caller, id) // 2
      const headers = { origin, cookie: "session=1" }
      const good = yield* browserCall(token, "/wallet?_=1", { headers }) // 3
      dataOf(good)
      const answers = [
        good,
        yield* browserCall("pt_nothing", "/me", { headers }),
        yield* browserCall(token, "/nothing", { headers }),
        yield* browserCall(token, "/me", { method: "DELETE", headers }),
        yield* browserCall(token, "/transactions?page=x", { headers }), // 4
        yield* browserCall(token, "/games/1/launch", { raw: "{", headers }), // 5
        yield* browserCall(token, "/me", { headers }) // 6
      ]
      assert.deepStrictEqual(answers.map(({ status }) => String(status)), [
        "200",
        "401",
        "404",
        "405",
        "422",
        "404",
        "429"
      ])
      for (const answer of answers) assert.deepStrictEqual(forBrowsers(answer), everybody)
      assert.isDefined(answers.at(-1)?.headers["retry-after"])
      // a request without an origin gets the same
      assert.deepStrictEqual(forBrowsers(yield* browserCall(token, "/me")), everybody)
    }))

  it.effect("a path that is not a player path sends no CORS headers; unknown paths and methods are refused as for a request without Origin", () =>
    Effect.gen(function*() {
      const { key } = yield* openCasinoInRows("servers")
      const headers = { origin }
      for (
        const path of [
          "/api/v1/operator/me",
          "/api/v1/operator/players",
          "/api/v1/provider/wallet/bet",
          "/health/live",
          "/openapi.json",
          "/docs"
        ]
      ) {
        for (const method of ["GET", "POST"]) {
          const reply = yield* asked(path, method)
          assertRefused(reply, 405, "METHOD_NOT_ALLOWED")
          assert.deepStrictEqual(forBrowsers(reply), {}, path)
        }
        assert.deepStrictEqual(forBrowsers(yield* send(yield* portOf, path, { headers })), {}, path)
      }
      const mine = yield* signedCall(key, "/me", { headers })
      dataOf(mine)
      assert.deepStrictEqual(forBrowsers(mine), {})
      assertRefused(yield* asked("/api/v1/player/nothing", "GET"), 404, "NOT_FOUND")
      assertRefused(yield* asked("/api/v1/players", "GET"), 404, "NOT_FOUND")
      // not a preflight: an OPTIONS like any other method that a path does not take
      for (const unasked of [{ origin }, { "access-control-request-method": "GET" }, {}]) {
        const reply = yield* send(yield* portOf, "/api/v1/player/me", { method: "OPTIONS", headers: unasked })
        assertRefused(reply, 405, "METHOD_NOT_ALLOWED")
        assert.strictEqual(reply.headers["allow"], "GET, HEAD")
      }
    }))
})

// fresh, to build a second server of the same services
const layerNamedOrigins = Layer.fresh(layerPublicServer).pipe(
  Layer.provide(Settings.layerTest({ playerOrigins: [origin, "http://localhost:3000"] })),
  Layer.provideMerge(layerPublicApi)
)

layer(layerNamedOrigins)("answers when allowed origins are configured", (it) => {
  it.effect("can be read by pages of the allowed origins only", () =>
    Effect.gen(function*() {
      const { caller } = yield* openCasinoInRows("named")
      const token = yield* issueToken(caller, (yield* registered(caller, "ada")).id)
      for (const known of [origin, "http://localhost:3000"]) {
        const named = {
          "vary": "Origin",
          "access-control-allow-origin": known,
          "access-control-expose-headers": exposed
        }
        assert.deepStrictEqual(forBrowsers(yield* browserCall(token, "/me", { headers: { origin: known } })), named)
        assert.deepInclude(forBrowsers(yield* asked("/api/v1/player/me", "GET", { origin: known })), {
          ...named,
          "access-control-allow-methods": "GET, HEAD"
        })
      }
      for (const other of ["https://evil.example", `${origin}.evil.example`, "http://casino.example", "null"]) {
        const reply = yield* browserCall(token, "/me", { headers: { origin: other } })
        assert.deepStrictEqual(forBrowsers(reply), { "vary": "Origin" })
        const refused = yield* asked("/api/v1/player/me", "GET", { origin: other })
        assert.deepStrictEqual([refused.status, forBrowsers(refused)], [204, { "vary": "Origin" }])
      }
    }))
})
