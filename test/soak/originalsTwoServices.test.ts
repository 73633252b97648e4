import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { addGame, addStudio, addTenant, dataAs, deposit, register } from "../kit/Casino.ts"
import { exchange, makeAgent, type Reply } from "../kit/HttpCalls.ts"
import { until } from "../kit/Client.ts"
import { freePort, startService } from "../kit/ServiceProcess.ts"

// Goal: no two rounds use the same server seed and nonce, and no key plays twice, with several services and crashes.
// Method: two processes on one database; players' tabs that send each round under a key of its own, at random to one of the two or to
// both at once, and again until there is an answer, rotating now and then; one process is killed with SIGKILL on the way. Then the
// tables are counted, and every round is requested once more.

const tabs = 5
const roundsPerTab = 24

const Token = Schema.Struct({ token: Schema.String })
const Round = Schema.Struct({ round_id: Schema.String, payout: Schema.Int })
const Count = Schema.Array(Schema.Struct({ seed: Schema.Number, rounds: Schema.Number, last: Schema.Number }))

layer(layerOwnDatabase, { excludeTestServices: true })("originals (in-house games) on two services", (it) => {
  it.effect("use no nonce twice, and lose no round", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const url = yield* databaseUrl
      const agent = yield* makeAgent()
      const ports = [yield* freePort, yield* freePort] as const
      const start = (port: number) => startService({ port, databaseUrl: url, environment: { LOG_LEVEL: "error" } })
      const [first] = yield* Effect.all([start(ports[0]), start(ports[1])], { concurrency: 2 })

      const { call: operator } = yield* addTenant(agent, ports[1], "acme")
      const studio = yield* addStudio(agent, ports[1], "house")
      const game = yield* addGame(studio.id, "coin_flip", { original: "coin_flip" })
      const playerId = yield* register(operator, "ada")
      yield* deposit(operator, playerId, 1_000_000, "first")
      const issued = yield* operator.post(`/api/v1/operator/players/${playerId}/session-tokens`, { ttl_minutes: 60 })
      const { token } = yield* dataAs(issued, 201, Token)

      const send = (port: number, path: string, key: string, body: object) =>
        exchange(agent, port, `/api/v1/player${path}`, {
          method: "POST",
          body,
          headers: { authorization: `Bearer ${token}`, "idempotency-key": key }
        })
      const play = (port: number, key: string) =>
        send(port, `/games/${game.id}/play`, key, { stake: 10, params: { side: "heads" } })

      /** Repeats the request until it gets a final answer; every other answer means retry. */
      const insist = Effect.fnUntraced(function*(ask: (attempt: number) => Effect.Effect<Reply, unknown>) {
        for (let attempt = 0;; attempt++) {
          const reply = yield* Effect.orElseSucceed(ask(attempt), () => undefined)
          if (reply?.status === 200) return reply
          if (reply !== undefined) assert.include([409, 503], reply.status, reply.text)
          yield* Effect.sleep("50 millis")
        }
      })

      const answers = new Map<string, string>()
      const tab = (name: number) =>
        Effect.gen(function*() {
          for (let turn = 0; turn < roundsPerTab; turn++) {
            const key = `t${name}-${turn}`
            const choose = (attempt: number): number => ports[(name + turn + attempt) % 2] ?? 0
            const both = turn % 4 === 0
            const asked = both
              ? ports.map((port) => insist(() => play(port, key)))
              : [insist((n) => play(choose(n), key))]
            const replies = yield* Effect.all(asked, { concurrency: 2 })
            // every service gives the same answer
            for (const { text } of replies) assert.strictEqual(text, replies[0]?.text)
            answers.set(key, replies[0]?.text ?? "")
            if (turn % 8 === 7) {
              yield* insist((n) => send(choose(n), "/fairness/rotate", `r${key}`, { client_seed: `seed-${key}` }))
            }
          }
        })
      const playing = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: tabs }, (_, index) => index), tab, { concurrency: "unbounded" })
      )
      yield* until(() => answers.size >= 30, playing)
      first.kill("SIGKILL")
      yield* first.exited
      yield* start(ports[0])
      yield* Fiber.join(playing)

      assert.strictEqual(answers.size, tabs * roundsPerTab)
      const rounds = yield* Effect.forEach(answers.values(), (text) =>
        Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ data: Round })))(text))
      assert.strictEqual(
        new Set(rounds.map(({ data }) =>
          data.round_id
        )).size,
        answers.size
      )
      const stored = yield* Schema.decodeUnknownEffect(Count)(
        yield* sql`SELECT seed_id::float8 AS seed, count(*)::float8 AS rounds, max(nonce)::float8 AS last
          FROM original_rounds WHERE player_id = ${playerId} GROUP BY seed_id`
      )
      assert.strictEqual(stored.reduce((sum, seed) => sum + seed.rounds, 0), answers.size)
      for (const seed of stored) assert.strictEqual(seed.last + 1, seed.rounds)
      assert.isAbove(stored.length, 1)
      const balance = rounds.reduce((sum, { data }) => sum + data.payout - 10, 1_000_000)
      // from the table: a service that did not play the last round may not have its outcomes yet
      assert.deepStrictEqual(
        yield* sql`SELECT real_balance::float8 AS balance FROM accounts WHERE player_id = ${playerId}`,
        [{ balance }]
      )

      // requested once more from either: the same round, and no new play
      for (const [key, text] of answers) {
        for (const port of ports) {
          const again = yield* play(port, key)
          assert.deepStrictEqual([again.status, again.headers["idempotent-replayed"], again.text], [200, "true", text])
        }
      }
      assert.lengthOf(yield* sql`SELECT 1 FROM original_rounds`, answers.size)
    }), 300_000)
})
