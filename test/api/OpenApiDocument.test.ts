import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { Api } from "../../src/contract/Api.ts"
import { staffCodes, statusByCode } from "../../src/domain/Refusal.ts"
import { undocumented } from "../kit/Documented.ts"

// Goal: the document is complete and true. Method: walk all of it; decode its examples with
// the schemas that the service uses. Golden.test.ts compares it with the approved one. That the service answers nothing else
// is checked by every test that calls it (`test/kit/Documented.ts`).

// oxlint-disable-next-line typescript/no-explicit-any -- read the way tools read it
const document: any = OpenApi.fromApi(Api)

// oxlint-disable-next-line typescript/no-explicit-any -- as above
const resolve = (value: any): any =>
  typeof value?.$ref === "string"
    ? value.$ref.slice(2).split("/").reduce((at: never, name: string) => at[name], document)
    : value

interface Operation {
  readonly name: string
  readonly path: string
  readonly method: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly operation: any
}

const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(Object(item)).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation
  }))
)

const isProse = (text: unknown): boolean =>
  typeof text === "string" && text.length >= 10 && /[.!?)`]$/.test(text.trim())

/** Problems of each operation, by name; empty without any. */
const failing = (problemsOf: (operation: Operation) => ReadonlyArray<string>) =>
  operations.flatMap((each) => problemsOf(each).map((problem) => `${each.name}: ${problem}`))

// oxlint-disable-next-line typescript/no-explicit-any -- as above
const responsesOf = (operation: any): ReadonlyArray<readonly [number, any]> =>
  Object.entries(operation.responses).map(([status, response]) => [Number(status), resolve(response)])

const codesOf = (response: unknown): ReadonlyArray<string> =>
  [...JSON.stringify(response).matchAll(/schemas\/Error_([A-Z_]+)/g)].map(([, code = ""]) => code)

describe("the OpenAPI document", () => {
  it("has a description, servers and authentication", () => {
    assert.match(document.openapi, /^3\.1/)
    for (const word of ["Signing", "Idempotency", "Errors", "Lists", "Rates", "Money", "METHOD_NOT_ALLOWED"]) {
      assert.include(document.info.description, word)
    }
    assert.isNotEmpty(document.servers)
    const schemes = Object.keys(document.components.securitySchemes)
    assert.sameMembers(schemes, ["api_key", "provider_key", "timestamp", "signature", "player_token"])
    for (const scheme of Object.values(document.components.securitySchemes)) {
      assert.isTrue(isProse(Object(scheme).description))
    }
  })

  it("describes every operation, parameter and group of operations", () => {
    const words = failing(({ operation }) => [
      ...(typeof operation.summary === "string" && operation.summary.length > 3 ? [] : ["no summary"]),
      ...(isProse(operation.description) ? [] : ["no description"]),
      ...operation.parameters.map(resolve).filter((each: { description?: string }) => !isProse(each.description))
        .map((each: { name: string }) => `no description of the parameter ${each.name}`)
    ])
    assert.deepStrictEqual(words, [])
    const tags = new Map(
      document.tags.map((tag: { name: string; description?: string }) => [tag.name, tag.description])
    )
    for (const { operation } of operations) {
      for (const tag of operation.tags) assert.isTrue(isProse(tags.get(tag)), `no description of the group ${tag}`)
    }
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("names the authentication and headers of every operation", () => {
    const wrong = failing(({ method, operation, path }) => {
      const audience = path.split("/")[3]
      const schemes = Object.keys(operation.security[0])
      const names = operation.parameters.map(resolve).map((each: { name: string }) => each.name)
      const expected: Record<string, ReadonlyArray<string>> = {
        operator: ["api_key", "timestamp", "signature"],
        provider: ["provider_key", "timestamp", "signature"],
        player: ["player_token"]
      }
      const isKeyed = method === "post" && audience !== "provider"
      return [
        ...(schemes.join() === (expected[audience ?? ""] ?? []).join() ? [] : ["other security"]),
        ...(names.includes("X-Nonce") === (audience !== "player") ? [] : ["X-Nonce"]),
        ...(names.includes("Idempotency-Key") === isKeyed ? [] : ["Idempotency-Key"]),
        ...(names.includes("X-Request-Id") ? [] : ["X-Request-Id"]),
        ...((names.includes("page") || names.includes("cursor")) === names.includes("per_page")
          ? []
          : ["page or cursor without per_page"]),
        ...(audience !== "operator" || path.endsWith("/me") || operation["x-required-scope"] !== undefined
          ? []
          : ["no scope"])
      ]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("describes every answer, with headers and an example", () => {
    const wrong = failing(({ operation, path }) =>
      responsesOf(operation).flatMap(([status, response]) => {
        const headers = Object.keys(response.headers)
        const media = response.content["application/json"]
        const isRated = !path.startsWith("/api/v1/provider/")
        return [
          ...(isProse(response.description) ? [] : ["no description"]),
          ...(headers.includes("X-Request-Id") ? [] : ["X-Request-Id"]),
          ...(headers.includes("X-RateLimit-Limit") === isRated ? [] : ["X-RateLimit-Limit"]),
          ...(headers.includes("X-RateLimit-Remaining") === isRated ? [] : ["X-RateLimit-Remaining"]),
          ...(headers.includes("Retry-After") === [429, 503].includes(status) ? [] : ["Retry-After"]),
          ...(Object.keys(media.examples).length > 0 ? [] : ["no example"])
        ].map((problem) => `${status}: ${problem}`)
      })
    )
    assert.deepStrictEqual(wrong, [])
    const statuses = failing(({ operation }) =>
      responsesOf(operation).some(([status]) => status < 300) ? [] : ["no good answer"]
    )
    assert.deepStrictEqual(statuses, [])
  })

  it("shows every refusal of every operation under its own status", () => {
    const wrong = failing(({ operation, path }) =>
      responsesOf(operation).filter(([status]) => status >= 400).flatMap(([status, response]) => {
        const codes = codesOf(response.content["application/json"].schema)
        const { examples } = response.content["application/json"]
        const problems = codes.flatMap((code) => {
          const { details, code: shown } = resolve(examples[code])?.value?.error ?? {}
          const isProvider = path.startsWith("/api/v1/provider/")
          const retry: ReadonlyArray<unknown> = isProvider ? ["never", "same_request", "rollback"] : [undefined]
          const statusOfCode = new Map<string, number>(Object.entries(statusByCode)).get(code)
          return [
            ...(shown === code ? [] : [`no example of ${code}`]),
            ...(retry.includes(details?.retry) ? [] : [`details.retry of ${code}`]),
            ...(statusOfCode === status || (status === 413 && code === "INVALID_REQUEST") ? [] : [`${code} elsewhere`]),
            ...(response.description.includes(`\`${code}\``) ? [] : [`no word about ${code}`])
          ]
        })
        return codes.length === 0 ? [`${status} without a code`] : problems.map((problem) => `${status}: ${problem}`)
      })
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("lists every error code, and the operations that return it", () => {
    const codes = Object.keys(statusByCode).filter((code) => !staffCodes.has(code))
    const met = new Set(operations.flatMap(({ operation }) => codesOf(operation.responses)))
    // described in the introduction: no operation answers for an unknown one
    assert.sameMembers([...met, "METHOD_NOT_ALLOWED"], codes)
    // one that providers alone meet has an example for each next step
    for (const code of met) {
      assert.isDefined(document.components.schemas[`Error_${code}`], code)
      const example = document.components.examples[code] ?? document.components.examples[`${code}.never`]
      assert.strictEqual(example.value.error.code, code)
    }
  })

  it("lists the refusals that the specification names for an endpoint", () => {
    const named: { readonly [operation: string]: ReadonlyArray<string> } = {
      "GET /players": ["VALIDATION_FAILED"],
      "POST /players": ["VALIDATION_FAILED", "SELF_EXCLUDED_IDENTITY"],
      "GET /players/{player}": ["NOT_FOUND"],
      "PATCH /players/{player}": ["NOT_FOUND", "VALIDATION_FAILED"],
      "PUT /players/{player}/status": ["NOT_FOUND", "VALIDATION_FAILED"],
      "POST /players/{player}/session-tokens": ["NOT_FOUND", "PLAYER_RESTRICTED"],
      "GET /players/{player}/wallet": ["NOT_FOUND"],
      "GET /players/{player}/transactions": ["NOT_FOUND", "VALIDATION_FAILED"],
      "GET /payments": ["VALIDATION_FAILED"],
      "GET /payments/{payment}": ["NOT_FOUND"],
      "POST /players/{player}/deposits": ["DUPLICATE_TRANSACTION", "LIMIT_EXCEEDED", "PLAYER_RESTRICTED"],
      "POST /players/{player}/withdrawals": ["KYC_REQUIRED", "INSUFFICIENT_FUNDS", "PAYMENT_REQUEST_INVALID"],
      "POST /players/{player}/games/{game}/launch": ["PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "NOT_FOUND"],
      "POST /players/{player}/bonuses": ["BONUS_INVALID"],
      "POST /players/{player}/promo-codes": ["PROMO_CODE_INVALID"],
      "POST /players/{player}/self-exclusion": ["RESPONSIBLE_GAMING_RULE"]
    }
    const everywhere = ["INVALID_SIGNATURE", "REPLAYED_REQUEST", "RATE_LIMITED", "SERVER_ERROR"]
    for (const [name, codes] of Object.entries(named)) {
      const [method = "", path = ""] = name.split(" ")
      const { responses } = document.paths[`/api/v1/operator${path}`][method.toLowerCase()]
      assert.includeMembers([...codesOf(responses)], [...codes, ...everywhere], name)
    }
  })

  it("shows examples that the service's own schemas accept", () => {
    const wrong: Array<string> = []
    const check = (where: string, schemas: ReadonlyArray<Schema.Top>, value: unknown) => {
      // as an object of any type: no schema of the contract needs services to decode
      const decoded = Schema.decodeUnknownResult(Object(Schema.Union(schemas)), { onExcessProperty: "error" })(value)
      if (decoded._tag === "Failure") wrong.push(`${where}: ${decoded.failure.message}`)
    }
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, errors, successes }) => {
        const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
        const name = `${endpoint.method} ${path}`
        const operation = document.paths[path][endpoint.method.toLowerCase()]
        const payloads = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
        if (payloads.length > 0) {
          const { example } = operation.requestBody.content["application/json"].examples
          check(`${name} request`, payloads, example.value)
        }
        for (const [status, schemas] of [...successes, ...errors]) {
          const examples = operation.responses[status]?.content["application/json"].examples ?? {}
          for (const [key, example] of Object.entries(examples)) {
            check(`${name} ${status} ${key}`, schemas, resolve(example).value)
          }
        }
      }
    })
    assert.deepStrictEqual(wrong, [])
  })
})

describe("an answer that is checked against the OpenAPI document", () => {
  const headers = { "x-request-id": "1", "x-ratelimit-limit": "600", "x-ratelimit-remaining": "1" }
  const envelope = (code: string) => ({ headers, json: { error: { code, message: "", details: {} } }, code })
  const wallet = { player_id: 1, currency: "EUR", balance: 1, bonus_balance: 0 }
  const path = "/api/v1/player/wallet"

  it("passes if it is as documented, or if its path is not documented", () => {
    const good = { status: 200, headers, json: { data: wallet }, code: undefined }
    assert.isUndefined(undocumented("GET", `${path}?a=b`, good))
    assert.isUndefined(undocumented("GET", path, { status: 401, ...envelope("INVALID_PLAYER_TOKEN") }))
    assert.isUndefined(undocumented("GET", "/docs", { status: 418, headers: {}, json: undefined, code: undefined }))
    const providers = { status: 404, ...envelope("NOT_FOUND") }
    assert.match(String(undocumented("GET", "/api/v1/operator/games/providers", providers)), /games\/providers .* 404/)
    assert.isUndefined(undocumented("GET", "/api/v1/operator/games/7", providers))
  })

  it("fails for an undocumented status, code, header or form", () => {
    const messageOf = (answer: Parameters<typeof undocumented>[2]) => String(undocumented("GET", path, answer))
    assert.match(messageOf({ status: 201, headers, json: {}, code: undefined }), /does not document 201/)
    assert.match(messageOf({ status: 401, ...envelope("INVALID_SIGNATURE") }), /401 INVALID_SIGNATURE/)
    const replayed = { ...headers, "idempotent-replayed": "true" }
    const good = { status: 200, headers, json: { data: wallet }, code: undefined }
    assert.match(messageOf({ ...good, headers: replayed }), /does not document idempotent-replayed/)
    assert.match(messageOf({ ...good, headers: {} }), /documents x-request-id/)
    assert.match(messageOf({ ...good, json: { data: { ...wallet, more: 1 } } }), /in another form/)
    assert.match(messageOf({ ...good, json: { data: { ...wallet, balance: "1" } } }), /in another form/)
  })
})
