import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { HttpApi, OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { RequiredFeature, RequiredScope } from "../../src/contract/Annotations.ts"
import { Api } from "../../src/contract/Api.ts"
import { Games } from "../../src/features/games/Games.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerCapabilities } from "../../src/service.ts"
import { send, sendSigned, type SignedCall, signedHeaders, type Signer } from "../kit/HttpCalls.ts"
import { addApiKey, addProvider } from "../kit/Keys.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: the public server as a whole: nothing is open that should not be, the documents say what it does, and no body or query
// that a caller can think of ends in a 500. Method: walk over the contract itself, so that a new endpoint is covered when it is added.

const Server = layerPublicServer.pipe(Layer.provideMerge(layerHttpServices))
const AtNoon = Layer.effectDiscard(TestClock.setTime(Date.parse("2026-11-20T12:00:00.000Z")))
const Live = Server.pipe(Layer.provideMerge(layerTestService()), Layer.provideMerge(AtNoon))

const portOf = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port
)

let count = 0

const call = Effect.fnUntraced(function*(signer: Signer, path: string, options: Partial<SignedCall> = {}) {
  const port = yield* portOf
  const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  return yield* sendSigned(port, signer, path, { timestamp, nonce: `e${count++}`, ...options })
})

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
  it.effect("tells a key who it is", () =>
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
            cooperation_model: "api"
          },
          server_time: "2026-11-20T12:00:00.000Z"
        }
      })
    }))

  it.effect("lets nobody in without a signature, and no key beyond its scopes", () =>
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
        assert.deepStrictEqual([signed.status, signed.code], [403, "INSUFFICIENT_SCOPE"], path)
        assert.deepStrictEqual(signed.details, { required_scopes: [scope] })
      }
    }))

  it.effect("documents every endpoint with what it takes and every way it refuses", () =>
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

  it.effect("has a page to browse that brings everything with it", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const reply = yield* send(port, "/docs")
      assert.strictEqual(reply.status, 200)
      assert.match(reply.headers["content-type"] ?? "", /^text\/html/)
      assert.match(reply.headers["content-security-policy"] ?? "", /^default-src 'none';/)
      assert.notMatch(reply.text, /<(script|link|img|iframe)[^>]+(src|href)=/)
    }))

  it.effect("is alive, and ready while its database answers", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      assert.strictEqual((yield* send(port, "/health/live")).status, 200)
      assert.strictEqual((yield* send(port, "/health/ready")).status, 200)
      assert.strictEqual((yield* send(port, "/health/ready", { method: "POST" })).status, 405)
    }))

  it.effect("refuses after a restart what it accepted before, and so does a second process", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("restart")
      const key = yield* addApiKey(operator.id)
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const path = "/api/v1/operator/me"
      assert.strictEqual((yield* sendSigned(yield* portOf, key, path, { timestamp })).status, 200)
      yield* Effect.scoped(Effect.gen(function*() {
        const again = yield* Layer.build(Layer.fresh(Server.pipe(Layer.provide(layerCapabilities))))
        const port = yield* Effect.provideContext(portOf, again)
        const replayed = yield* sendSigned(port, key, path, { timestamp })
        assert.deepStrictEqual([replayed.status, replayed.code], [401, "REPLAYED_REQUEST"])
        assert.strictEqual((yield* sendSigned(port, key, path, { timestamp, nonce: "new" })).status, 200)
      }))
    }))

  it.effect("takes effect once when two processes get the same keyed request at the same time", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("two-processes")
      const key = yield* addApiKey(operator.id)
      const player = yield* addPlayer(operator, "ada")
      const players = `/api/v1/operator/players/${player}`
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      yield* Effect.scoped(Effect.gen(function*() {
        const other = yield* Layer.build(Layer.fresh(Server.pipe(Layer.provide(layerCapabilities))))
        const ports = [yield* portOf, yield* Effect.provideContext(portOf, other)]
        const rounds = Array.from({ length: 10 }, (_, index) => index + 1)
        for (const round of rounds) {
          const options = {
            timestamp,
            body: { amount: 100, external_reference: `d-${round}` },
            headers: { "Idempotency-Key": `key-${round}` }
          }
          const replies = yield* Effect.forEach(
            ports,
            (port) => sendSigned(port, key, `${players}/deposits`, { ...options, nonce: `two${count++}` }),
            { concurrency: 2 }
          )
          const [winner] = replies.filter(({ status }) => status === 201)
          assert.isDefined(winner, JSON.stringify(replies))
          for (const { code, status, text } of replies) {
            const isRetryable = code === "IDEMPOTENCY_IN_PROGRESS" || code === "TRY_AGAIN"
            assert.isTrue(isRetryable || text === winner?.text || status === 200, `${status} ${text}`)
          }
          // whoever asks again, wherever, hears the first answer
          for (const port of ports) {
            const again = yield* sendSigned(port, key, `${players}/deposits`, { ...options, nonce: `two${count++}` })
            assert.deepStrictEqual(
              [again.status, again.headers["idempotent-replayed"], Object(again.json).data?.id],
              [201, "true", Object(winner?.json).data.id]
            )
          }
        }
        const wallet = yield* call(key, `${players}/wallet`)
        assert.strictEqual(Object(wallet.json).data.balance, 1000)
      }))
    }))

  it.effect("feels within two seconds what another process changed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("elsewhere")
      const key = yield* addApiKey(operator.id)
      assert.strictEqual((yield* call(key, "/api/v1/operator/me")).status, 200)
      yield* sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${key.id}`
      yield* TestClock.adjust("2001 millis")
      assert.strictEqual((yield* call(key, "/api/v1/operator/me")).code, "API_KEY_INACTIVE")
    }))

  it.effect("registers and credits once under an idempotency key, and says the same to every retry", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("keyed")
      const key = yield* addApiKey(operator.id)
      const headers = { "Idempotency-Key": "one" }
      const registration = {
        username: "grace",
        email: "grace@example.com",
        first_name: "Grace",
        last_name: "H",
        birth_date: "1980-12-09",
        country: "MT",
        terms_accepted: true
      }
      const first = yield* call(key, "/api/v1/operator/players", { body: registration, headers })
      assert.strictEqual(first.status, 201, first.text)
      const again = yield* call(key, "/api/v1/operator/players", { body: registration, headers })
      assert.deepStrictEqual(
        [again.status, again.text, again.headers["idempotent-replayed"]],
        [201, first.text, "true"]
      )
      const players = `/api/v1/operator/players/${Object(first.json).data.id}`
      const deposit = { body: { amount: 700, external_reference: "d-1" }, headers: { "Idempotency-Key": "two" } }
      const paid = yield* call(key, `${players}/deposits`, deposit)
      assert.strictEqual(paid.status, 201, paid.text)
      const crowd = yield* Effect.forEach(Array.from({ length: 10 }), () => call(key, `${players}/deposits`, deposit), {
        concurrency: "unbounded"
      })
      assert.isTrue(
        crowd.every(({ code, status, text }) =>
          status === 201 ? text === paid.text : code === "IDEMPOTENCY_IN_PROGRESS"
        )
      )
      const wallet = yield* call(key, `${players}/wallet`)
      assert.strictEqual(Object(wallet.json).data.balance, 700)
    }))

  it.effect("launches with an empty body as with an empty object", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("launching")
      const key = yield* addApiKey(operator.id)
      const player = yield* addPlayer(operator, "ada")
      const path = `/api/v1/operator/players/${player}/games/1/launch`
      for (const options of [{ method: "POST" }, { body: {} }]) {
        const reply = yield* call(key, path, options)
        assert.deepStrictEqual([reply.status, reply.code], [404, "NOT_FOUND"], reply.text)
      }
      const bad = yield* call(key, path, { body: { mode: "x" } })
      assert.deepStrictEqual([bad.status, bad.code], [404, "NOT_FOUND"])
    }))
})

/** A value for every field that any body has, under which everything comes through. */
const plausible = (sessionToken: string, playerRef: string): { readonly [field: string]: unknown } => {
  const message = {
    request_id: "q-1",
    transaction_id: "t-1",
    session_token: sessionToken,
    player_ref: playerRef,
    game_id: "g-1",
    round_id: "r-1",
    bet_transaction_id: "t-1",
    target_transaction_id: "t-1",
    amount: 5,
    currency: "EUR"
  }
  return {
    ...message,
    action: "bet",
    actions: [{ ...message, action: "bet" }, { ...message, action: "win", transaction_id: "t-2" }],
    win: { transaction_id: "t-2", amount: 7 },
    kind: "jackpot",
    campaign_id: "c-1",
    external_reference: "e-1",
    mode: "real",
    platform: "web",
    username: "ada_2",
    email: "ada2@example.com",
    first_name: "Ada",
    last_name: "Second",
    birth_date: "1990-01-01",
    country: "MT",
    terms_accepted: true,
    status: "active",
    limits: { max_daily_bet: 5000 },
    ttl_minutes: 5
  }
}

const odd = fc.oneof(
  fc.constantFrom("bet", "win", "rollback", "EUR", "t-1", "t-2", "2000-02-30", "DE", "+35621234567", true, false, null),
  fc.integer({ min: -1, max: 1000 }),
  fc.constantFrom(0, -0, 1e308, -1e308, 9007199254740991, 9007199254740992, 0.1),
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u202e",
    "x".repeat(128),
    "x".repeat(5000),
    "'; DROP TABLE players; --"
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 })
)
const optional = [
  "is_free",
  "round_closed",
  "payment_method",
  "info",
  "notes",
  "ip",
  "phone",
  "password",
  "marketing",
  "external_id",
  "period",
  "until",
  "reason",
  "address",
  "language"
]
const fieldName = fc.constantFrom(...Object.keys(plausible("", "")), ...optional)
const changes = fc.dictionary(fieldName, odd, { maxKeys: 3 })
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      "page",
      "per_page",
      "type",
      "status",
      "search",
      "created_from",
      "created_to",
      "wallet",
      "email",
      "provider",
      "cursor"
    ),
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 10 }),
      fc.constantFrom(
        "1",
        "100",
        "1000000",
        "bet",
        "active",
        "2026-11-20T12:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59+23:59"
      )
    )
  ),
  { maxLength: 3 }
).map((pairs) => pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join("&"))

const addGame = Effect.fnUntraced(function*(providerId: number) {
  const sql = yield* SqlClient.SqlClient
  const games = yield* Games
  const id = yield* (yield* Ids).reserve(1)
  yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
    VALUES (${id}, ${providerId}, 'g-1', 'Game', 'rng', 'slots', now(), now())`
  yield* games.refresh
  return id
})

layer(Live)("requests at random", (it) => {
  it.effect("are never answered with 500", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const operator = yield* addOperator("random")
      const key = yield* addApiKey(operator.id, { rateLimit: 1_000_000 })
      const provider = yield* addProvider("random")
      const player = yield* addPlayer(operator, "ada")
      const game = yield* addGame(provider.id)
      const players = `/api/v1/operator/players/${player}`
      const funded = yield* call(key, `${players}/deposits`, {
        body: { amount: 1_000_000, external_reference: "start" }
      })
      assert.strictEqual(funded.status, 201, funded.text)
      const launched = yield* call(key, `${players}/games/${game}/launch`, { body: {} })
      assert.strictEqual(launched.status, 200, launched.text)
      const sessionToken: string = Object(launched.json).data.session_token
      const session = yield* call(provider, "/api/v1/provider/wallet/authenticate", {
        body: { session_token: sessionToken }
      })
      assert.strictEqual(session.status, 200, session.text)
      const base = plausible(sessionToken, Object(session.json).data.player_ref)

      const issued = yield* call(key, `${players}/session-tokens`, { body: {} })
      assert.strictEqual(issued.status, 201, issued.text)
      const bearer = { authorization: `Bearer ${Object(issued.json).data.token}` }

      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const served = new Set<string>()
      // a sign-out would end the one token that all others are sent with
      const sent = endpoints.filter(({ method, path }) => method !== "DELETE" || !path.endsWith("/session-tokens"))
      const request = fc.record({ endpoint: fc.constantFrom(...sent), changes, query, isWhole: fc.boolean() })
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(request, ({ changes, endpoint, isWhole, query }) => {
            const path = endpoint.path.replace("/players/1", `/players/${player}`).replace("/games/1", `/games/${game}`)
            const target = `${path}?${query}`
            const body = isWhole ? { ...base, ...changes } : changes
            const options = {
              timestamp,
              nonce: `r${count++}`,
              method: endpoint.method,
              ...(endpoint.method === "GET" ? {} : { body })
            }
            const headers = endpoint.isPlayer
              ? bearer
              : signedHeaders(endpoint.isProvider ? provider : key, target, options)
            return Effect.runPromise(send(port, target, { ...options, headers })).then((reply) => {
              assert.isBelow(reply.status, 500, `${target} ${JSON.stringify(body)} ${reply.text}`)
              assert.notStrictEqual(reply.code, "INVALID_SIGNATURE")
              if (reply.status < 300) served.add(endpoint.path)
            })
          }),
          { numRuns: 1000 }
        )
      )
      // otherwise nothing was tried but the form of bodies
      assert.isAbove(served.size, endpoints.length / 2, [...served].join(" "))
    }))
})
