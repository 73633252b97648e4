import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { SecretAnswer } from "../../src/contract/common/Annotations.ts"
import { Api } from "../../src/contract/Api.ts"
import { dataOf, issueToken, openCasinoInRows, registered } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { browserCall, signedCall } from "../kit/HttpCalls.ts"

// Goal: no token is stored in clear in the database, not even in stored replies, and every retry still gets it. Method:
// each request that returns a token, with an idempotency key; then a search of all stored data. A walk over the contract finds them.

type Node = { readonly [key: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

const document: Node = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce((inside, key) => isNode(inside) ? inside[key] : undefined, value)

/** Names of fields anywhere in a schema. */
const fieldNames = (schema: unknown): ReadonlyArray<string> => {
  if (Array.isArray(schema)) return schema.flatMap(fieldNames)
  if (!isNode(schema)) return []
  const { $ref, properties, ...rest } = schema
  return [
    ...typeof $ref === "string" ? fieldNames(at(document, ...$ref.split("/").slice(1))) : [],
    ...isNode(properties) ? [...Object.keys(properties), ...Object.values(properties).flatMap(fieldNames)] : [],
    ...Object.values(rest).flatMap(fieldNames)
  ]
}

layer(layerPublicApi)("answers with tokens or personal data", (it) => {
  it.effect("are annotated in the contract, and no other answers are", () =>
    Effect.sync(() => {
      const secret: Array<string> = []
      const said: Array<string> = []
      HttpApi.reflect(Api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint: { method, path }, mergedAnnotations }) => {
          if (method !== "POST" || path.startsWith("/api/v1/provider")) return
          const name = path.replaceAll(/:(\w+)/g, "{$1}")
          const responses = at(document, "paths", name, "post", "responses")
          assert.isTrue(isNode(responses), name)
          const good = Object.entries(Object(responses)).filter(([status]) => status.startsWith("2"))
          if (
            fieldNames(good.map(([_, response]) => response)).some((field) =>
              // the request of a played message has the session's token
              /token$|secret|^(personal_id|document_number|info|request)$/.test(field)
            )
          ) {
            secret.push(path)
          }
          if (Context.getOrUndefined(mergedAnnotations, SecretAnswer) === true) said.push(path)
        }
      })
      assert.deepStrictEqual(said, secret)
      assert.isAtLeast(secret.length, 3)
    }))

  it.effect("are stored encrypted and replayed in clear", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { caller, key, slots: game } = yield* openCasinoInRows("sealed")
      const { id } = yield* registered(caller, "ada")
      const token = yield* issueToken(caller, id)
      const keyed = (name: string) => ({ body: {}, headers: { "Idempotency-Key": name } })
      const ways = [
        signedCall(key, `/players/${id}/session-tokens`, keyed("token")),
        signedCall(key, `/players/${id}/games/${game.id}/launch`, keyed("launch")),
        browserCall(token, `/games/${game.id}/launch`, keyed("launch"))
      ]
      for (const [index, way] of ways.entries()) {
        const first = yield* way
        const data = dataOf(first, index === 0 ? 201 : 200)
        const again = yield* way
        assert.deepStrictEqual([again.text, again.headers["idempotent-replayed"]], [first.text, "true"])
        const hidden = String(data.token ?? data.session_token)
        assert.isAbove(hidden.length, 20)
        const stored = yield* sql`SELECT body, encode(body_sealed, 'escape') AS sealed FROM idempotency_keys`
        for (const row of stored) for (const value of Object.values(row)) assert.notInclude(String(value), hidden)
      }
      const sealed = yield* sql`SELECT 1 FROM idempotency_keys
        WHERE body IS NULL AND body_sealed IS NOT NULL AND key IN ('token', 'launch')`
      assert.strictEqual(sealed.length, ways.length)
    }))
})
