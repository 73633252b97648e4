import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { refuseLongList, refuseOverfull } from "../../src/protocols/ApiBodies.ts"
import { makeRefusalBudget } from "../../src/store/RefusalBudget.ts"
import { addGame, addStudio, addTenant, seat } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { exchange, makeAgent, portOf } from "../kit/HttpCalls.ts"

// Goal: no request makes the service decode, answer or store a multiple of its size. Method: an attacker's bodies against the API in
// this process; stored data is read from its database.

const invented = (count: number, length = 6) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`.padEnd(length, "x"), 1]))

layer(layerPublicApi, { timeout: "60 seconds" })("request bodies", (it) => {
  const startScene = Effect.fnUntraced(function*(name: string) {
    const port = yield* portOf
    const agent = yield* makeAgent()
    const { call: operator } = yield* addTenant(agent, port, name)
    const studio = yield* addStudio(agent, port, `studio-${name}`)
    const game = yield* addGame(studio.id, `game-${name}`)
    const original = yield* addGame(studio.id, `own-${name}`, { original: "dice" })
    const { playerId } = yield* seat(operator, studio.call, game, { username: name, balance: 1000 })
    const issued = yield* operator.post(`/api/v1/operator/players/${playerId}/session-tokens`, {})
    const authorization = `Bearer ${Object(issued.json).data.token}`
    const play = (body: unknown, headers: { readonly [name: string]: string } = {}) =>
      exchange(agent, port, `/api/v1/player/games/${original.id}/play`, {
        method: "POST",
        body,
        headers: { authorization, ...headers }
      })
    return { operator, play, playerId, studio }
  })

  it.effect("of player requests are limited to 4 KiB, and a refusal lists at most 50 of their wrong fields", () =>
    Effect.gen(function*() {
      const { play } = yield* startScene("player")
      const large = yield* play({ stake: 1, params: invented(20_000) })
      assert.strictEqual(large.status, 413)
      assert.strictEqual(large.code, "INVALID_REQUEST")
      assert.deepStrictEqual(large.details, { max_bytes: 4096 })
      const refused = yield* play({ stake: 1, params: invented(300) })
      assert.strictEqual(refused.code, "VALIDATION_FAILED")
      assert.lengthOf(Object.keys(refused.details), 51)
      assert.isBelow(refused.text.length, 4096)
      const long = yield* play({ stake: 1, params: { ["x".repeat(4000)]: 1 } })
      assert.isBelow(long.text.length, 600)
      const good = yield* play({ stake: 1, params: { direction: "over", target: 50 } })
      assert.strictEqual(good.status, 200, good.text)
    }))

  it.effect("of operators and providers are refused for too many values or actions before they are decoded", () =>
    Effect.gen(function*() {
      const { operator, playerId, studio } = yield* startScene("counted")
      const limits = (names: number) =>
        operator.send(`/api/v1/operator/players/${playerId}/limits`, {
          method: "PUT",
          body: { limits: invented(names) }
        })
      const many = yield* limits(20_000)
      assert.strictEqual(many.code, "INVALID_REQUEST")
      assert.deepStrictEqual(many.details, { max_values: 4096, max_depth: 32 })
      const some = yield* limits(1000)
      assert.strictEqual(some.code, "VALIDATION_FAILED")
      assert.lengthOf(Object.keys(some.details), 51)
      assert.deepStrictEqual(some.details["_"], ["950 more fields are wrong"])
      const batch = yield* studio.call.post("/api/v1/provider/wallet/batch", {
        actions: Array.from({ length: 1300 }, () => ({}))
      })
      assert.deepStrictEqual(batch.details, { actions: ["must hold 1 to 100 actions"], retry: "never" })
    }))

  it.effect("that are refused store a limited number of rows in the table of idempotency keys", () =>
    Effect.gen(function*() {
      const { play, playerId } = yield* startScene("stored")
      const keyed = (key: number) => play({ stake: 1, params: invented(300) }, { "idempotency-key": `key-${key}` })
      for (let key = 0; key < 60; key++) assert.strictEqual((yield* keyed(key)).status, 422)
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly bytes: bigint; readonly rows: bigint }>`
        SELECT coalesce(sum(length(body)), 0)::int8 AS bytes, count(*) AS rows FROM idempotency_keys
        WHERE scope = ${`player:${playerId}`}`
      assert.isAbove(Number(row?.rows), 0)
      assert.isAtMost(Number(row?.bytes), 64 * 1024)
      // unstored requests are decided anew, and stored ones are replayed
      assert.strictEqual((yield* keyed(0)).headers["idempotent-replayed"], "true")
      assert.isUndefined((yield* keyed(59)).headers["idempotent-replayed"])
    }))
})

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Names and elements of a JSON value, counted as the bytes are: separators and colons. */
const separatorsIn = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : Object.values(value).reduce(
      (sum: number, inner) => sum + separatorsIn(inner),
      Math.max(0, Object.keys(value).length - 1) + (Array.isArray(value) ? 0 : Object.keys(value).length)
    )

describe("limits of a JSON body", () => {
  it("the number of values is limited; separators within strings do not count", () => {
    const filler = "\\\"[{,:".repeat(1000)
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (value, text) => {
      const body = { filler, text, value }
      assert.strictEqual(refuseOverfull(bytes(body)) !== undefined, separatorsIn(body) > 4096)
    }))
    assert.isUndefined(refuseOverfull(bytes({ filler, list: Array.from({ length: 4000 }, () => ",") })))
    assert.isDefined(refuseOverfull(bytes({ filler, list: Array.from({ length: 4100 }, () => 1) })))
  })

  it("the depth of nesting is limited", () => {
    const nested = (depth: number) =>
      Buffer.from(`{"t":"${"x".repeat(3000)}","x":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    assert.isUndefined(refuseOverfull(nested(31)))
    assert.isDefined(refuseOverfull(nested(32)))
  })

  it("a list that is too long is refused by its length, without decoding its elements", () => {
    const list = { field: "actions", maximum: 2, message: "must hold 1 to 2 actions" }
    assert.isUndefined(refuseLongList({ actions: [1, 2] }, list))
    assert.deepStrictEqual(refuseLongList({ actions: [1, 2, 3] }, list)?.details, { actions: [list.message] })
    for (const actions of [undefined, null, "xxx", { length: 9 }]) assert.isUndefined(refuseLongList({ actions }, list))
  })
})

describe("refusals stored under idempotency keys", () => {
  it("are limited to a number of bytes per scope and minute", () => {
    const { take } = makeRefusalBudget()
    assert.isTrue(take("a", 60, 100, 0))
    assert.isFalse(take("a", 60, 100, 59_999))
    assert.isTrue(take("b", 60, 100, 59_999))
    assert.isTrue(take("a", 60, 100, 60_000))
    assert.isTrue(take("a", 60, 100, 0))
    assert.isFalse(take("c", 16 * 1024 + 1, Number.POSITIVE_INFINITY, 0))
  })
})
