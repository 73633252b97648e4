import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import type * as Http from "node:http"
import * as Net from "node:net"
import { Api } from "../../src/contract/Api.ts"
import { addGame, addStudio, addTenant, seat, type Seat } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import {
  type Call,
  type Caller,
  callerOf,
  type ConnectionLost,
  exchange,
  makeAgent,
  portOf,
  type Reply
} from "../kit/HttpCalls.ts"
import { runs } from "../kit/Runs.ts"

// Goal: any bad input gets the specification's error (SPEC section 7) with a code and an id, never a 5xx, and the
// connection serves the next request. Method: walk over the OpenAPI document of the contract, so that every endpoint, field and
// parameter, new ones too, gets every kind of bad input; input that no HTTP client would send goes over a bare socket.

interface Field {
  /** Dotted path, as in refusals. */
  readonly name: string
  readonly type: string
  /** Sets the value in an otherwise empty body. */
  readonly put: (value: unknown) => unknown
}

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly isProvider: boolean
  readonly isPlayer: boolean
  readonly fields: ReadonlyArray<Field>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly type: string }>
}

type Node = { readonly [key: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const document: Node = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce((inside, key) => isNode(inside) ? inside[key] : undefined, value)

/** A schema with references resolved and without its null alternative. */
const resolve = (schema: unknown): Node => {
  const reference = at(schema, "$ref")
  if (typeof reference === "string") return resolve(at(document, ...reference.split("/").slice(1)))
  const parts = at(schema, "anyOf") ?? at(schema, "oneOf") ?? at(schema, "allOf")
  const merged = Array.isArray(parts) ? parts.map(resolve).find((part) => part["type"] !== "null") : undefined
  return { ...merged, ...(isNode(schema) ? schema : {}) }
}

const fieldsOf = (
  schema: unknown,
  prefix = "",
  wrap: (value: unknown) => unknown = (value) => value
): ReadonlyArray<Field> => {
  const { properties } = resolve(schema)
  return Object.entries(isNode(properties) ? properties : {}).flatMap(([key, inner]) => {
    const name = `${prefix}${key}`
    const put = (value: unknown) => wrap({ [key]: value })
    const resolved = resolve(inner)
    const { type: said } = resolved
    const type = typeof said === "string" ? said : "string"
    return [{ name, type, put }, ...fieldsOf(inner, `${name}.`, put)]
  })
}

/** Ends the sessions of the only player, and thereby the token of later requests. */
const endsSessions = ({ method, path }: Endpoint): boolean => method === "DELETE" && path.endsWith("/session-tokens")

/** Takes the only player from the operator, and reads nothing that could be wrong. */
const reset = "/api/v1/operator/sandbox/reset"

/** All endpoints but the reset; those that end sessions come last. */
const endpoints: ReadonlyArray<Endpoint> = Object.entries(Object(document["paths"])).filter(([path]) => path !== reset)
  .flatMap(([path, operations]) =>
    Object.entries(Object(operations)).map(([method, operation]) => {
      const parameters = at(operation, "parameters")
      return {
        method: method.toUpperCase(),
        path,
        isProvider: path.startsWith("/api/v1/provider/"),
        isPlayer: path.startsWith("/api/v1/player/"),
        fields: fieldsOf(at(operation, "requestBody", "content", "application/json", "schema")),
        parameters: (Array.isArray(parameters) ? parameters : [])
          .filter((parameter) => at(parameter, "in") === "query")
          .map((parameter) => ({
            name: String(at(parameter, "name")),
            type: String(resolve(at(parameter, "schema"))["type"])
          }))
      }
    })
  ).toSorted((one, other) => Number(endsSessions(one)) - Number(endsSessions(other)))

/** Moves of a sandbox's payments read no body. */
const readsNothing = ({ fields, path }: Endpoint): boolean =>
  path.startsWith("/api/v1/operator/sandbox/") && fields.length === 0

const written = endpoints.filter((endpoint) => endpoint.method === "POST" && !readsNothing(endpoint))

/** The only player, with a provider's game and an original. */
interface OnePlayer extends Seat {
  readonly original: number
}

class Stage extends Context.Service<Stage, {
  readonly port: number
  readonly operator: Caller
  readonly provider: Caller
  readonly seat: OnePlayer
  /** One connection for all requests of a scene; counts how often it had to be opened. */
  readonly opened: () => number
}>()("pitboss/test/BadInputStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.gen(function*() {
      const port = yield* portOf
      const plain = yield* makeAgent()
      const { call, operator } = yield* addTenant(plain, port, "acme")
      // the only kind of operator for which every path is there
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE operators SET is_sandbox = true WHERE id = ${operator.id}`
      const studio = yield* addStudio(plain, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const original = yield* addGame(studio.id, "own", { original: "dice" })
      const at = yield* seat(call, studio.call, game, { username: "someone", balance: 1_000_000 })
      const agent = yield* makeAgent(1)
      let opened = 0
      const open = agent.createConnection.bind(agent)
      agent.createConnection = (...args) => {
        opened++
        return open(...args)
      }
      return {
        port,
        operator: callerOf(agent, port, call.signer),
        provider: callerOf(agent, port, studio.call.signer),
        seat: { ...at, original: original.id },
        opened: () => opened
      }
    })
  )
}

const Live = Stage.layer.pipe(Layer.provideMerge(layerPublicApi))

/** Description of a defect of an answer; undefined when correct. */
const complaintAbout = (reply: Reply, isProvider: boolean): string | undefined => {
  const { json, status } = reply
  if (status >= 500) return "a 5xx"
  if (reply.headers["x-request-id"] === undefined) return "no X-Request-Id"
  if (status < 400) return undefined
  if (reply.headers["content-type"] !== "application/json") return "not application/json"
  const error = at(json, "error")
  if (!isNode(json) || Object.keys(json).join() !== "error" || !isNode(error)) return "no envelope"
  if (Object.keys(error).sort().join() !== "code,details,message") return "another envelope"
  const { code, details, message } = error
  if (typeof code !== "string" || !/^[A-Z_]+$/.test(code)) return "no code"
  if (typeof message !== "string" || message === "") return "no message"
  if (!isNode(details) || Array.isArray(details)) return "no details"
  if (isProvider && !["never", "same_request", "rollback"].includes(String(details["retry"]))) return "no details.retry"
  return undefined
}

/** Path of an endpoint for the only player. Only an original is played here. */
const pathOf = ({ path }: Endpoint, { game, original, playerId }: OnePlayer): string =>
  path.replace("{player}", String(playerId)).replace("{transaction_id}", "t-1").replace("{payment}", "1")
    .replace("{game}", String(path.endsWith("/play") ? original : game.id))

interface Expected {
  readonly status?: number
  readonly code?: string
  /** A field that the details must name. */
  readonly field?: string
}

/** Sends requests and collects defects of the answers, so that one run shows all of them. */
const makeJudge = Effect.gen(function*() {
  const { operator, provider, seat } = yield* Stage
  // another scene may have ended the sessions
  const issued = yield* operator.post(`/api/v1/operator/players/${seat.playerId}/session-tokens`, {})
  assert.strictEqual(issued.status, 201, issued.text)
  const bearer = { authorization: `Bearer ${Object(issued.json).data.token}` }
  const complaints: Array<string> = []
  let judged = 0
  const judge = (what: string, reply: Reply, isProvider: boolean, expected: Expected = {}) => {
    judged++
    const { code, field, status } = expected
    const names = (name: string) => Object.keys(reply.details).some((key) => key === name || key.startsWith(`${name}.`))
    const complaint = complaintAbout(reply, isProvider) ??
      (status !== undefined && reply.status !== status ? `not ${status}` : undefined) ??
      (code !== undefined && reply.code !== code ? `not ${code}` : undefined) ??
      (field !== undefined && !names(field) ? `${field} is not named` : undefined)
    if (complaint !== undefined) complaints.push(`${what}: ${complaint}: ${reply.status} ${reply.text.slice(0, 200)}`)
  }
  const send = Effect.fnUntraced(function*(
    endpoint: Endpoint,
    what: string,
    call: Call,
    expected: Expected = {},
    path = pathOf(endpoint, seat)
  ) {
    const caller = endpoint.isProvider ? provider : operator
    const headers = endpoint.isPlayer ? { ...bearer, ...call.headers } : call.headers ?? {}
    const reply = yield* caller.send(path, { method: endpoint.method, ...call, headers })
    judge(`${endpoint.method} ${path.slice(0, 200)} ${what}`, reply, path.startsWith("/api/v1/provider/"), expected)
    return reply
  })
  return { complaints, judge, send, judged: () => judged }
})

const invalidRequest = { status: 422, code: "INVALID_REQUEST" }

/** Body limits: 4 KiB for player endpoints, 256 KiB for all others. */
const refusalOf = ({ isPlayer }: Endpoint, raw: string | Uint8Array): Expected =>
  isPlayer && raw.length > 4096 ? { status: 413, code: "INVALID_REQUEST" } : invalidRequest

/** A launch, a session token and a rotation take no body at all. */
const takesNothing = ({ path }: Endpoint): boolean =>
  ["/launch", "/session-tokens", "/rotate"].some((end) => path.endsWith(end))

const successOf = ({ path }: Endpoint): number => path.endsWith("/session-tokens") ? 201 : 200

/** Asserts that the connection is the same and still serves. */
const assertStillOpen = Effect.gen(function*() {
  const { opened, operator } = yield* Stage
  assert.strictEqual((yield* operator.get("/api/v1/operator/me")).status, 200)
  return opened()
})

/** One walk: no defects, and all of it over one connection, which still serves. */
const walk = (steps: (judge: Effect.Success<typeof makeJudge>) => Effect.Effect<void, ConnectionLost, Stage>) =>
  Effect.gen(function*() {
    const judge = yield* makeJudge
    const before = yield* assertStillOpen
    yield* steps(judge)
    assert.deepStrictEqual(judge.complaints, [])
    assert.strictEqual(yield* assertStillOpen, before)
  })

/** Adds a body where the method takes one. */
const withBody = ({ method }: Endpoint, body: unknown = {}): Call => method === "POST" ? { body } : {}

layer(Live)("bad input", (it) => {
  it.effect("every endpoint of the OpenAPI document is covered", () =>
    Effect.sync(() => {
      assert.isAtLeast(endpoints.length, 20)
      assert.isAtLeast(written.length, 12)
      for (const { fields, path } of written) assert.isNotEmpty(fields, path)
      for (const { parameters, path } of endpoints) if (path.endsWith("/players")) assert.isArray(parameters)
      const all = written.flatMap(({ fields }) => fields)
      assert.includeMembers(all.map(({ name }) => name), ["win.transaction_id", "marketing.email", "amount", "actions"])
      assert.includeMembers(all.map(({ type }) => type), ["string", "boolean", "object", "array"])
    }))

  it.effect("bodies that are not JSON objects are refused with INVALID_REQUEST", () =>
    walk(Effect.fnUntraced(function*({ judged, send }) {
      const raws: ReadonlyArray<string | Uint8Array> = [
        ...`{|{"a":|nonsense|{}}|{} {}|{'a': 1}|{"a": undefined}|{"a": NaN}|\u0000|[]|[{}]|[[[[]]]]|"text"|1|1e999|true| |\n`
          .split("|"),
        new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
        new Uint8Array([0x80]),
        "[".repeat(100_000),
        "{\"a\":".repeat(50_000)
      ]
      for (const endpoint of written) {
        for (const raw of raws) yield* send(endpoint, String(raw).slice(0, 30), { raw }, refusalOf(endpoint, raw))
        yield* send(endpoint, "null", { raw: "null" }, takesNothing(endpoint) ? {} : invalidRequest)
        yield* send(endpoint, "nothing", {}, takesNothing(endpoint) ? { status: successOf(endpoint) } : invalidRequest)
      }
      assert.isAtLeast(judged(), written.length * 24)
    })))

  it.effect("fields of the wrong type or with unstorable text are refused by name", () =>
    walk(Effect.fnUntraced(function*({ judged, send }) {
      const others: { readonly [type: string]: ReadonlyArray<unknown> } = {
        string: [1, 0.5, true, [], {}, ["x"], "a\u0000b", "a\ud800b", "\udfff", "x".repeat(3000)],
        number: ["1", true, [], {}, [1], "", "1e3"],
        integer: ["1", true, [], {}, [1], 1.5],
        boolean: ["true", 1, 0, [], {}],
        object: ["x", 1, true, []],
        array: ["x", 1, true, {}]
      }
      for (const endpoint of written) {
        for (const { name, put, type } of endpoint.fields) {
          const values = others[type]
          assert.isDefined(values, `${name} is a ${type}`)
          for (const value of values ?? []) {
            const what = `${name} = ${(JSON.stringify(value) ?? "").slice(0, 30)}`
            yield* send(endpoint, what, { body: put(value) }, { status: 422, code: "VALIDATION_FAILED", field: name })
          }
          // a registration and a status of identity take null for an absent field
          const given = /\/(players|kyc)$/.test(endpoint.path) ? {} : { field: name }
          yield* send(endpoint, `${name} = null`, { body: put(null) }, {
            status: 422,
            code: "VALIDATION_FAILED",
            ...given
          })
        }
      }
      assert.isAtLeast(judged(), 500)
    })))

  it.effect("numbers out of range are refused by name, and oddly shaped bodies cause no server error", () =>
    walk(Effect.fnUntraced(function*({ send }) {
      const numbers = "-1 -0 1.5 1e-400 9007199254740992 -9007199254740993 1e15 1e999 -1e999 1E+400".split(" ")
      for (const endpoint of written) {
        for (const { name, put, type } of endpoint.fields) {
          if (type !== "number" && type !== "integer") continue
          for (const number of numbers) {
            const raw = JSON.stringify(put("#")).replace("\"#\"", number)
            const expected = number === "1e15" || number === "-0" || number === "1e-400"
              ? {}
              : { status: 422, code: "VALIDATION_FAILED", field: name }
            yield* send(endpoint, `${name} = ${number}`, { raw }, expected)
          }
        }
        const shapes = [
          "{\"__proto__\":{\"amount\":1}}",
          "{\"constructor\":{\"prototype\":1},\"toString\":1,\"hasOwnProperty\":1}",
          "{\"amount\":1,\"amount\":\"2\"}",
          `{"x":${"[".repeat(60_000)}${"]".repeat(60_000)}}`,
          `{"x":${"{\"x\":".repeat(20_000)}1${"}".repeat(20_000)}}`,
          `{${Array.from({ length: 10_000 }, (_, index) => `"f${index}":1`).join(",")}}`,
          `{"":1," ":1,"\\u0000":1,"\\ud800":1}`
        ]
        for (const raw of shapes) yield* send(endpoint, raw.slice(0, 30), { raw })
      }
    })))

  it.effect("bodies that are too large or of another media type are refused", () =>
    Effect.gen(function*() {
      const { port } = yield* Stage
      const { complaints, judge, send } = yield* makeJudge
      const before = yield* assertStillOpen
      const types = ("text/plain application/x-www-form-urlencoded multipart/form-data;boundary=x application/xml " +
        "application/octet-stream application/jsonp */* ;;; json").split(" ")
      for (const endpoint of written) {
        for (const type of types) {
          const raw = "{\"amount\":true,\"mode\":7}"
          const reply = yield* send(endpoint, type, { raw, headers: { "content-type": type } }, { status: 422 })
          assert.include(["INVALID_REQUEST", "VALIDATION_FAILED"], reply.code)
        }
      }
      assert.strictEqual(yield* assertStillOpen, before)

      const large = `{"x":"${"x".repeat(256 * 1024)}"}`
      const agent = yield* makeAgent()
      for (const endpoint of written) {
        yield* send(endpoint, "too large", { raw: large }, { status: 413, code: "INVALID_REQUEST" })
        // without a declared length
        const reply = yield* stream(agent, port, pathOf(endpoint, (yield* Stage).seat), large)
        judge(`${endpoint.path} too large, in pieces`, reply, endpoint.isProvider)
      }
      assert.deepStrictEqual(complaints, [])
      yield* assertStillOpen
    }))

  it.effect("malformed queries are refused or ignored", () =>
    // in each change's run a third of them for each parameter, another third for the next
    walk(Effect.fnUntraced(function*({ judged, send }) {
      const { seat } = yield* Stage
      const odd = "%00 % %zz %C3%28 %ED%A0%80 %F0%9F%8E%B0 '%20OR%201=1-- %2525 + a&b=c []".split(" ")
      const texts = ["", "x".repeat(5000), ...odd]
      const numbers = ["x", "", "1.5", "0", "-1", "1e309", "9007199254740993", "0x10", "%201", "NaN", "Infinity", "1,2"]
      let turn = 0
      for (const endpoint of endpoints) {
        if (endpoint.method !== "GET") continue
        const path = pathOf(endpoint, seat)
        const known = endpoint.parameters.map(({ name }) => name)
        for (const name of [...known, "unknown"]) {
          turn++
          for (const text of texts.filter((_, place) => (place + turn) % runs(3, 1) === 0)) {
            yield* send(endpoint, "", {}, {}, `${path}?${name}=${text}`)
          }
          yield* send(endpoint, "", {}, {}, `${path}?${name}=1&${name}=2`)
          yield* send(endpoint, "", {}, {}, `${path}?${name}[]=1`)
          yield* send(endpoint, "", {}, {}, `${path}?${name}`)
        }
        for (
          const name of known.filter((name) => name === "page" || name === "per_page")
        ) {
          for (const number of numbers) {
            const field = { status: 422, code: "VALIDATION_FAILED", field: name }
            yield* send(endpoint, "", {}, field, `${path}?${name}=${number}`)
          }
        }
        for (const tail of ["?", "?&&&", "?=", "?%", "?%00=1", `?${"a=1&".repeat(2000)}`, "#x"]) {
          yield* send(endpoint, "", {}, {}, `${path}${tail}`)
        }
      }
      assert.isAtLeast(judged(), 300)
    })))

  it.effect("malformed paths are refused with NOT_FOUND", () =>
    walk(Effect.fnUntraced(function*({ send }) {
      const { seat } = yield* Stage
      const odd = "% %zz %00 %ff %C3%28 %ED%A0%80 .. %2e%2e %2f a%2fb 1%20 -1 1e9 :player *".split(" ")
      // some routers end a path at a semicolon
      const ids = [`${seat.playerId};7`, "x".repeat(2000), ...odd]
      for (const endpoint of endpoints) {
        for (const parameter of [...endpoint.path.matchAll(/\{\w+\}/g)].map(([name]) => name)) {
          for (const id of ids) {
            const path = pathOf({ ...endpoint, path: endpoint.path.replace(parameter, id) }, seat)
            const isFound = parameter === "{transaction_id}"
            const reply = yield* send(
              endpoint,
              "",
              withBody(endpoint),
              isFound ? {} : { status: 404, code: "NOT_FOUND" },
              path
            )
            if (isFound && reply.status !== 404) assert.include([200, 422, 400], reply.status, path)
          }
        }
        for (const path of [`${pathOf(endpoint, seat)}/`, `${pathOf(endpoint, seat)}/more`]) {
          yield* send(endpoint, "", withBody(endpoint, { amount: "x", mode: 1 }), {}, path)
        }
        const doubled = `/${pathOf(endpoint, seat)}`
        yield* send(
          endpoint,
          "",
          withBody(endpoint),
          { status: 404, code: "NOT_FOUND" },
          doubled
        )
        const shouted = pathOf(endpoint, seat).toUpperCase()
        yield* send(endpoint, "", withBody(endpoint), { status: 404 }, shouted)
      }
      const paths = "/ /api /api/v1 /api/v2/operator/me /% /%00 /favicon.ico // /.. /api/v1/operator/%2e%2e/me"
      for (const path of paths.split(" ")) {
        for (const method of ["GET", "POST", "PUT", "DELETE"]) {
          const [some] = endpoints
          if (some !== undefined) yield* send({ ...some, method }, "", {}, { status: 404, code: "NOT_FOUND" }, path)
        }
      }
    })))

  it.effect("an unsupported method is refused with METHOD_NOT_ALLOWED and an Allow header", () =>
    walk(Effect.fnUntraced(function*({ send }) {
      const { seat } = yield* Stage
      const byPath = Map.groupBy(endpoints, ({ path }) => path)
      for (const [, operations] of byPath) {
        const known = operations.map(({ method }) => method)
        const [endpoint] = operations
        if (endpoint === undefined) continue
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]) {
          if (known.includes(method)) continue
          const reply = yield* send({ ...endpoint, method }, method, {}, { status: 405, code: "METHOD_NOT_ALLOWED" })
          const allowed = (reply.headers["allow"] ?? "").split(", ")
          assert.includeMembers(allowed, known, pathOf(endpoint, seat))
          assert.notInclude(allowed, method)
        }
      }
    })))

  it.effect("repeated, odd and long headers are refused or ignored", () =>
    walk(Effect.fnUntraced(function*({ send }) {
      const { operator, provider } = yield* Stage
      for (const endpoint of endpoints) {
        const { signer } = endpoint.isProvider ? provider : operator
        const odd: ReadonlyArray<
          readonly [headers: { readonly [name: string]: string | ReadonlyArray<string> }, Expected]
        > = [
          [{ [signer.header]: [signer.key, signer.key] }, { status: 401, code: "INVALID_API_KEY" }],
          [{ "X-Signature": ["0".repeat(64), "0".repeat(64)] }, { status: 401, code: "INVALID_SIGNATURE" }],
          [{ "X-Timestamp": ["1", "1"] }, { status: 401, code: "TIMESTAMP_OUT_OF_RANGE" }],
          [{ "X-Timestamp": "1e9" }, { status: 401, code: "TIMESTAMP_OUT_OF_RANGE" }],
          [{ "X-Timestamp": "9".repeat(400) }, { status: 401, code: "TIMESTAMP_OUT_OF_RANGE" }],
          [{ "X-Nonce": ["a", "b"] }, { status: 401, code: "INVALID_SIGNATURE" }],
          [{ "X-Nonce": "n".repeat(129) }, { status: 401, code: "INVALID_NONCE" }],
          [{ "X-Signature": "\u00e9\u00ff" }, { status: 401, code: "INVALID_SIGNATURE" }],
          [{ [signer.header]: "\u00e9".repeat(200) }, { status: 401, code: "INVALID_API_KEY" }],
          [{ "Idempotency-Key": ["a", "b"] }, {}],
          [{ "Idempotency-Key": "\u00e9\u00ff" }, {}],
          [{ "X-Request-Id": "\u00e9 x".repeat(100) }, {}],
          [{ "X-Forwarded-For": "nobody, , 1.2.3.4, ::zz" }, {}],
          [{ "Content-Type": ["application/json", "text/plain"] }, {}],
          [{ Accept: "text/html", "Accept-Encoding": "x", Range: "bytes=0-1", "If-None-Match": "*" }, {}],
          [{ Cookie: "a=b; ; =; \u00e9" }, {}]
        ]
        for (const [headers, expected] of odd) {
          const body = withBody(endpoint, { amount: true })
          // a player's request is not signed, so these headers are ignored
          const answer = endpoint.isPlayer ? {} : expected
          yield* send(endpoint, JSON.stringify(headers).slice(0, 60), { ...body, headers }, answer)
        }
      }
    })))

  it.effect("malformed HTTP is answered with the error envelope", () =>
    Effect.gen(function*() {
      const { port } = yield* Stage
      const { complaints, judge } = yield* makeJudge
      const post = (path: string, ...lines: ReadonlyArray<string>) =>
        [`POST ${path} HTTP/1.1`, "Host: x", ...lines].join("\r\n")
      const me = "/api/v1/operator/me"
      const bet = "/api/v1/provider/wallet/bet"
      const sent: ReadonlyArray<string> = [
        "hello\r\n\r\n",
        "\u0000\u0001\u0002\r\n\r\n",
        `GET ${me}\r\n\r\n`,
        `GET ${me} HTTP/9.9\r\nHost: x\r\n\r\n`,
        `GET  ${me} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET /\u00e9\u00ff HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost x\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\nX-A: a\u0000b\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(70_000)}\r\n\r\n`,
        `GET /${"x".repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 3000 }, (_, i) => `X-${i}: 1\r\n`).join("")}\r\n`,
        `GET http://elsewhere${me} HTTP/1.1\r\nHost: x\r\n\r\n`,
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        `BREW ${me} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `${post(bet, "Content-Length: 2", "Content-Length: 3")}\r\n\r\n{}`,
        `${post(bet, "Content-Length: -1")}\r\n\r\n`,
        `${post(bet, "Content-Length: x")}\r\n\r\n`,
        `${post(bet, "Content-Length: 2", "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\n`,
        `${post(bet, "Transfer-Encoding: gzip")}\r\n\r\n`,
        `${post(bet, "Transfer-Encoding: chunked")}\r\n\r\nzz\r\n`,
        `${post(bet, "Content-Type: application/json", "Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
        `${post(bet, "Content-Length: 2", "Expect: 100-continue")}\r\n\r\n{}`,
        `${post(bet, "Content-Length: 2", "Expect: miracles")}\r\n\r\n{}`,
        `${post(bet, "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 0")}\r\n\r\n`,
        `GET ${me} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
      ]
      for (const text of sent) {
        const reply = yield* talk(port, text)
        const what = JSON.stringify(text.slice(0, 90))
        assert.isAtLeast(reply.status, 400, what)
        judge(what, reply, false)
      }
      assert.deepStrictEqual(complaints, [])
      yield* assertStillOpen
    }))
})

/** Sends a body in pieces, without its length. */
const stream = (agent: Http.Agent, port: number, path: string, body: string): Effect.Effect<Reply, ConnectionLost> =>
  exchange(agent, port, path, {
    method: "POST",
    raw: body,
    headers: { "transfer-encoding": "chunked", "content-type": "application/json" }
  })

/** Sends text over a bare connection, and reads the first answer to its end. */
const talk = (port: number, text: string): Effect.Effect<Reply> =>
  Effect.callback((resume) => {
    const socket = Net.connect(port, "127.0.0.1")
    let heard = ""
    const finish = () => {
      socket.destroy()
      const [head = "", ...rest] = heard.split("\r\n\r\n")
      const [line = "", ...lines] = head.split("\r\n")
      const body = rest.join("\r\n\r\n")
      let json: unknown
      try {
        json = JSON.parse(body)
      } catch {
        json = undefined
      }
      const error = Object(at(json, "error"))
      resume(Effect.succeed({
        data: undefined,
        meta: undefined,
        links: undefined,
        status: Number(line.split(" ")[1] ?? 0),
        headers: Object.fromEntries(lines.map((header) => {
          const colon = header.indexOf(":")
          return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()]
        })),
        text: body,
        json,
        code: error.code,
        details: error.details ?? {}
      }))
    }
    const isWhole = () => {
      const heads = /content-length: (\d+)/i.exec(heard)
      const start = heard.indexOf("\r\n\r\n")
      return start >= 0 && heads !== null && Buffer.byteLength(heard.slice(start + 4)) >= Number(heads[1])
    }
    socket.setEncoding("latin1")
    socket.on("connect", () => socket.write(Buffer.from(text, "latin1")))
    socket.on("data", (chunk: string) => {
      heard += chunk
      heard = heard.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")
      if (isWhole()) finish()
    })
    socket.on("end", finish)
    socket.on("error", finish)
    return Effect.sync(() => socket.destroy())
  })
