import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { playerShare } from "../../src/auth/RateLimiter.ts"
import { openCasinoInRows, registration } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { callerOf, exchange, makeAgent, portOf } from "../kit/HttpCalls.ts"

// Goal: one player's token uses up neither the operator's rate nor another player's. Method: read with one token until it is refused,
// while the clock stands still.

layer(layerPublicApi, { timeout: "60 seconds" })("one player", (it) => {
  it.effect("may use at most a fifth of its API key's rate limit", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([1, 30, 31, 150, 600, 601].map(playerShare), [1, 30, 30, 30, 120, 121])
      const port = yield* portOf
      const agent = yield* makeAgent()
      const { key } = yield* openCasinoInRows("shared", { rateLimit: 600 })
      const operator = callerOf(agent, port, key)
      const tokenOf = Effect.fnUntraced(function*(name: string) {
        const player = yield* operator.post("/api/v1/operator/players", registration(name))
        const path = `/api/v1/operator/players/${Object(player.json).data.id}/session-tokens`
        return `Bearer ${Object((yield* operator.post(path, {})).json).data.token}`
      })
      const [greedy, modest] = [yield* tokenOf("greedy"), yield* tokenOf("modest")]
      const read = (authorization: string) =>
        exchange(agent, port, "/api/v1/player/wallet", { headers: { authorization } })
      const statuses: Array<number> = []
      for (let count = 0; count < 599; count++) statuses.push((yield* read(greedy)).status)
      assert.strictEqual(statuses.filter((status) => status === 200).length, 120)
      assert.strictEqual(statuses.indexOf(429), 120)
      const refused = yield* read(greedy)
      const standing = ({ headers }: typeof refused) =>
        ["retry-after", "x-ratelimit-limit", "x-ratelimit-remaining"].map((name) => headers[name])
      assert.strictEqual(refused.code, "RATE_LIMITED")
      assert.deepStrictEqual(standing(refused), ["60", "120", "0"])
      // 4 calls of the operator, 120 of the one player, 1 of the other
      assert.deepStrictEqual(standing(yield* read(modest)), [undefined, "600", "475"])
      assert.strictEqual((yield* operator.get("/api/v1/operator/me")).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* read(greedy)).status, 200)

      // the last request of a share, which the key refuses: the operator has used up the rest
      const { key: small } = yield* openCasinoInRows("small", { rateLimit: 31 })
      const owner = callerOf(agent, port, small)
      const player = yield* owner.post("/api/v1/operator/players", registration("last"))
      const issued = yield* owner.post(`/api/v1/operator/players/${Object(player.json).data.id}/session-tokens`, {})
      for (let count = 0; count < 29; count++) yield* owner.get("/api/v1/operator/me")
      const last = yield* read(`Bearer ${Object(issued.json).data.token}`)
      assert.deepStrictEqual([last.status, ...standing(last)], [429, "60", "31", "0"])
    }))
})
