import { assert, layer, test } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { isSteady, runFuzz } from "./support/FuzzRun.ts"
import { type Endpoint, endpointsOf } from "./support/Endpoints.ts"
import { requestTo } from "./support/Requests.ts"
import { Known } from "./support/Values.ts"

// Goal: whatever is sent to any endpoint of either server, the service answers in the form that it documents, never with a 5xx
// and never not at all, and its ledger proves clean afterwards. Method: requests drawn from the schemas that the servers
// themselves publish, and damaged in their values, bytes, headers and paths, against a service in a process of its own. The
// seed is fixed: `npm run fuzz` is for other ones and for many more requests.
layer(layerOwnDatabase, { excludeTestServices: true })("made-up requests", (it) => {
  it.effect("are answered as documented, and leave a clean ledger", () =>
    Effect.gen(function*() {
      const report = yield* runFuzz({ requests: 3000, seed: 1, connections: 16, onProgress: () => Effect.void })
      assert.deepStrictEqual(report.findings, [])
      assert.deepStrictEqual(report.complaints, [])
      assert.deepStrictEqual(report.ledger.violations, [])
      // It got through to the money: a fuzzer that is refused at the door finds nothing.
      const succeeded = Object.entries(report.byEndpoint)
        .filter(([, answers]) => Object.keys(answers).some((status) => status.startsWith("2")))
        .map(([name]) => name)
      for (
        const endpoint of [
          "POST /api/v1/operator/players",
          "POST /api/v1/operator/players/{player}/deposits",
          "POST /api/v1/provider/wallet/bet",
          "POST /api/v1/provider/wallet/rollback",
          "GET /api/v1/player/wallet",
          "POST /backoffice/v1/players/{player}/corrections"
        ]
      ) assert.include(succeeded, endpoint)
      assert.isAbove(report.ledger.entries, 50)
    }).pipe(Effect.scoped), 300_000)
})

const echo: Endpoint = {
  name: "POST /echo",
  audience: "operator",
  method: "POST",
  path: "/echo/{player}",
  parameters: [{ name: "player", in: "path", schema: { type: "string", pattern: "^[1-9]\\d{0,15}$" } }],
  body: { type: "object", properties: { amount: { type: "integer" }, note: { type: "string" } }, required: ["amount"] }
}

// Goal: the same seed draws the same requests. Method: draw twice and compare.
test("draws the same requests from the same seed", () => {
  const draw = () =>
    fc.sample(requestTo(echo, new Known()), { seed: 7, numRuns: 50 })
      .map(({ body, headers, uri }) => [uri, body?.toString("base64"), headers])
  assert.deepStrictEqual(draw(), draw())
})

// Goal: what exists is asked for by its name. Method: draw requests to a path when one player is known.
test("asks for what is known to exist", () => {
  const known = new Known()
  known.add("player", 4711)
  const drawn = fc.sample(requestTo(echo, known), { seed: 7, numRuns: 50 })
  assert.isAbove(drawn.filter(({ uri }) => uri.startsWith("/echo/4711")).length, 20)
})

// Goal: a schema that another one refers to is found. Method: a small document.
test("reads an endpoint with its references", () => {
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

// Goal: memory that grows all the time is told from memory that fills once. Method: the two courses.
test("tells growth from warming up", () => {
  assert.isTrue(isSteady([100, 200, 250, 260, 255, 262, 258, 261]))
  assert.isFalse(isSteady([100, 120, 140, 160, 180, 200, 220, 240]))
})
