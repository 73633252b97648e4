import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { RequiredFeature, RequiredScope } from "../../src/contract/common/Annotations.ts"
import { Api } from "../../src/contract/Api.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { layerCapabilities } from "../../src/service.ts"
import { portOf, send, sendSigned, signedCall as call } from "../kit/HttpCalls.ts"
import { layerNoon } from "../kit/Noon.ts"
import { addApiKey } from "../kit/Keys.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: the public server as a whole: only documented paths are open, the documents match the behaviour, and no body or query
// causes a 500. Method: walk over the contract itself, so that a new endpoint is covered when it is added.

const Server = layerPublicServer.pipe(Layer.provideMerge(layerHttpServices))
const Live = Server.pipe(Layer.provideMerge(layerTestService()), Layer.provideMerge(layerNoon))

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly isProvider: boolean
  readonly isPlayer: boolean
  readonly scope: string | undefined
  readonly feature: string | undefined
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) =>
      void found.push({
        method: endpoint.method,
        path: endpoint.path.replaceAll(/:\w+/g, "1"),
        isProvider: endpoint.path.startsWith("/api/v1/provider/"),
        isPlayer: endpoint.path.startsWith("/api/v1/player/"),
        scope: Context.getOrUndefined(mergedAnnotations, RequiredScope),
        feature: Context.getOrUndefined(mergedAnnotations, RequiredFeature)
      })
  })
  return found
})()

layer(Live)("the public server", (it) => {
  it.effect("GET me returns the key, its operator and the time", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("identity")
      const key = yield* addApiKey(operator.id, { scopes: ["wallet:read"], rateLimit: 77 })
      const reply = yield* call(key, "/api/v1/operator/me")
      assert.strictEqual(reply.status, 200)
      assert.deepStrictEqual(reply.json, {
        data: {
          api_key: { key: key.key, name: "test", scopes: ["wallet:read"], rate_limit_per_minute: 77, expires_at: null },
          operator: {
            id: operator.id,
            slug: "identity",
            name: "identity",
            currency: "EUR",
            cooperation_model: "api",
            is_sandbox: false
          },
          server_time: "2026-11-20T12:00:00.000Z"
        }
      })
    }))

  it.effect("every endpoint refuses an unsigned request, and a key without its scope", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("scopeless")
      const key = yield* addApiKey(operator.id, { scopes: [] })
      assert.isAbove(endpoints.length, 20)
      for (const { feature, isPlayer, isProvider, method, path, scope } of endpoints) {
        const body = method === "GET" ? {} : { body: {} }
        const unsigned = yield* send(port, path, { method, ...body })
        const missing = isPlayer ? "INVALID_PLAYER_TOKEN" : "MISSING_CREDENTIALS"
        assert.deepStrictEqual([unsigned.status, unsigned.code], [401, missing], path)
        if (isPlayer) assert.isDefined(feature, path)
        if (isPlayer || isProvider || path === "/api/v1/operator/me") continue
        assert.isDefined(feature, path)
        const signed = yield* call(key, path, { method, ...body })
        // for whoever is no sandbox there is nothing
        const expected = scope === "sandbox" ? [404, "NOT_FOUND"] : [403, "INSUFFICIENT_SCOPE"]
        assert.deepStrictEqual([signed.status, signed.code], expected, path)
        if (scope === "sandbox") continue
        assert.deepStrictEqual(signed.details, { required_scopes: [scope] })
      }
    }))

  it.effect("the served OpenAPI document has every endpoint with its error responses", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const reply = yield* send(port, "/openapi.json")
      assert.strictEqual(reply.headers["content-type"], "application/json")
      assert.deepStrictEqual(reply.json, JSON.parse(JSON.stringify(OpenApi.fromApi(Api))))
      assert.notInclude(reply.text, "\"additionalProperties\":false")
      assert.notMatch(reply.text, /Error_[A-Z_]+_?\d/)
      const { paths } = OpenApi.fromApi(Api)
      assert.strictEqual(Object.values(paths).flatMap((path) => Object.keys(path)).length, endpoints.length)
      for (const [path, operations] of Object.entries(paths)) {
        for (const [method, operation] of Object.entries(operations)) {
          const statuses = Object.keys(Object(operation).responses)
          assert.includeMembers(statuses, ["401", "403", "500", "503"], `${method} ${path}`)
          assert.isTrue(statuses.includes("200") || statuses.includes("201"), `${method} ${path}`)
        }
      }
      const list = paths["/api/v1/operator/players"]
      const page = Object(list)["get"].parameters.find(({ name }: { readonly name: string }) => name === "page")
      assert.deepStrictEqual(page.schema, { type: "integer", minimum: 1, maximum: 1_000_000 })
    }))

  it.effect("/docs is one page without external resources", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const reply = yield* send(port, "/docs")
      assert.strictEqual(reply.status, 200)
      assert.match(reply.headers["content-type"] ?? "", /^text\/html/)
      assert.match(reply.headers["content-security-policy"] ?? "", /^default-src 'none';/)
      assert.notMatch(reply.text, /<(script|link|img|iframe)[^>]+(src|href)=/)
    }))

  it.effect("an accepted signature is refused as a replay after a restart and by a second process", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("restart")
      const key = yield* addApiKey(operator.id)
      const path = "/api/v1/operator/me"
      assert.strictEqual((yield* sendSigned(yield* portOf, key, path)).status, 200)
      yield* Effect.scoped(Effect.gen(function*() {
        const again = yield* Layer.build(Layer.fresh(Server.pipe(Layer.provide(layerCapabilities))))
        const port = yield* Effect.provideContext(portOf, again)
        // the process that accepted it runs: the refusal looks three times whether it has ended
        const asked = yield* Effect.forkChild(sendSigned(port, key, path))
        const passing = Effect.andThen(TestClock.adjust("250 millis"), TestClock.withLive(Effect.sleep("20 millis")))
        const replayed = yield* Effect.raceFirst(Fiber.join(asked), Effect.forever(passing))
        assert.deepStrictEqual([replayed.status, replayed.code], [401, "REPLAYED_REQUEST"])
        assert.strictEqual((yield* sendSigned(port, key, path, { nonce: "new" })).status, 200)
      }))
    }))

  it.effect("a request sent to two processes at once under one idempotency key takes effect once", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("two-processes")
      const key = yield* addApiKey(operator.id)
      const player = yield* addPlayer(operator, "ada")
      const players = `/api/v1/operator/players/${player}`
      yield* Effect.scoped(Effect.gen(function*() {
        const other = yield* Layer.build(Layer.fresh(Server.pipe(Layer.provide(layerCapabilities))))
        const ports = [yield* portOf, yield* Effect.provideContext(portOf, other)]
        const rounds = Array.from({ length: 10 }, (_, index) => index + 1)
        for (const round of rounds) {
          const options = {
            body: { amount: 100, external_reference: `d-${round}` },
            headers: { "Idempotency-Key": `key-${round}` }
          }
          const send = (nonce: string) => (port: number) =>
            sendSigned(port, key, `${players}/deposits`, { ...options, nonce: `${nonce}-${round}-${port}` })
          const replies = yield* Effect.forEach(ports, send("first"), { concurrency: 2 })
          const [winner] = replies.filter(({ status }) => status === 201)
          assert.isDefined(winner, JSON.stringify(replies))
          for (const { code, status, text } of replies) {
            const isRetryable = code === "IDEMPOTENCY_IN_PROGRESS" || code === "TRY_AGAIN"
            assert.isTrue(isRetryable || text === winner?.text || status === 200, `${status} ${text}`)
          }
          // a retry anywhere gets the first answer
          for (const port of ports) {
            const again = yield* send("again")(port)
            assert.deepStrictEqual(
              [again.status, again.headers["idempotent-replayed"], Object(again.json).data?.id],
              [201, "true", Object(winner?.json).data.id]
            )
          }
        }
        // read from the ledger: a process that only replayed the last answer still has the previous balance in memory
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(
          yield* sql`SELECT count(*)::int AS entries, sum(amount)::int AS total FROM ledger_entries WHERE player_id = ${player}`,
          [{ entries: 10, total: 1000 }]
        )
      }))
    }))

  it.effect("an API key that another process has revoked is refused within two seconds", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("elsewhere")
      const key = yield* addApiKey(operator.id)
      assert.strictEqual((yield* call(key, "/api/v1/operator/me")).status, 200)
      yield* sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`
      yield* TestClock.adjust("2001 millis")
      assert.strictEqual((yield* call(key, "/api/v1/operator/me")).code, "API_KEY_INACTIVE")
    }))
})
