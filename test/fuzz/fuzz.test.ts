import { assert, test } from "@effect/vitest"
import fc from "fast-check"
import { isSteady } from "./support/FuzzRun.ts"
import { type Endpoint, endpointsOf } from "./support/Endpoints.ts"
import { requestTo } from "./support/Requests.ts"
import { Known } from "./support/Values.ts"

const echo: Endpoint = {
  name: "POST /echo",
  audience: "operator",
  method: "POST",
  path: "/echo/{player}",
  parameters: [{ name: "player", in: "path", schema: { type: "string", pattern: "^[1-9]\\d{0,15}$" } }],
  body: { type: "object", properties: { amount: { type: "integer" }, note: { type: "string" } }, required: ["amount"] }
}

// Goal: the same seed draws the same requests. Method: draw twice and compare.
test("the fuzzer draws the same requests from the same seed", () => {
  const draw = () =>
    fc.sample(requestTo(echo, new Known()), { seed: 7, numRuns: 50 })
      .map(({ body, headers, uri }) => [uri, body?.toString("base64"), headers])
  assert.deepStrictEqual(draw(), draw())
})

// Goal: known ids are used. Method: draw requests to a path when one player is known.
test("the fuzzer uses ids that are known to exist", () => {
  const known = new Known()
  known.add("player", 4711)
  const drawn = fc.sample(requestTo(echo, known), { seed: 7, numRuns: 50 })
  assert.isAbove(drawn.filter(({ uri }) => uri.startsWith("/echo/4711")).length, 20)
})

// Goal: schema references are resolved. Method: a small document.
test("the fuzzer resolves schema references of an endpoint", () => {
  const [endpoint] = endpointsOf({
    paths: {
      "/backoffice/v1/things/{thing}": {
        patch: {
          parameters: [{ $ref: "#/components/parameters/thing" }],
          requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } }
        }
      }
    },
    components: {
      parameters: { thing: { name: "thing", in: "path", schema: { type: "string" } } },
      schemas: { Thing: { type: "object", properties: { next: { $ref: "#/components/schemas/Thing" } } } }
    }
  })
  assert.deepStrictEqual(endpoint, {
    name: "PATCH /backoffice/v1/things/{thing}",
    audience: "staff",
    method: "PATCH",
    path: "/backoffice/v1/things/{thing}",
    parameters: [{ name: "thing", in: "path", schema: { type: "string" } }],
    body: { type: "object", properties: { next: {} } }
  })
})

// Goal: a memory leak is distinguished from warming up. Method: the two courses.
test("the leak check distinguishes steady growth from warming up", () => {
  assert.isTrue(isSteady([100, 200, 250, 260, 255, 262, 258, 261]))
  assert.isFalse(isSteady([100, 120, 140, 160, 180, 200, 220, 240]))
})
