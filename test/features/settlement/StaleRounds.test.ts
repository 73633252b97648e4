import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ids } from "../../../src/platform/Ids.ts"
import { toDate } from "../../../src/platform/Time.ts"
import { StaleRounds } from "../../../src/features/settlement/StaleRounds.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: a round open for a day is found, once; one that is closed after all is removed; the list filters by the time that rounds
// have been open. Method: table rows of rounds, and runs of the job until it is idle, as time advances.

const hour = 3_600_000
const noon = Date.UTC(2026, 10, 20, 12)

// set before any timer has started
const layerAtNoon = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon))))

layer(layerAtNoon)("rounds that were never closed", (it) => {
  it.effect("are listed a day after they were opened, until they are closed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const rounds = yield* StaleRounds
      const operator = yield* addOperator("stale")
      const other = yield* addOperator("stale-other")
      const player = yield* addPlayer(operator, "ada")
      const stranger = yield* addPlayer(other, "bob")
      const first = yield* ids.reserve(2)
      yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
        VALUES (${first}, 'studio', 'Studio', 'pk_studio', '', now(), now())`
      yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
        VALUES (${first + 1}, ${first}, 'g', 'Game', 'rng', 'slots', now(), now())`
      const open = (playerId: number, roundId: string, openedAt: number, closed = false) =>
        sql`INSERT INTO rounds (player_id, game_id, round_id, real_stake, bonus_stake, paid_wins, closed, opened_at, operator_id)
          SELECT id, ${first + 1}, ${roundId}, 100, 5, 0, ${closed}, ${
          toDate(openedAt)
        }, operator_id FROM players WHERE id = ${playerId}`
      yield* open(player, "two-days", noon - 49 * hour)
      yield* open(player, "ended", noon - 49 * hour, true)
      yield* open(player, "a-day", noon - 24 * hour - 1)
      yield* open(stranger, "elsewhere", noon - 30 * hour)
      yield* open(player, "young", noon - 24 * hour)

      const runAll: Effect.Effect<number, { readonly message: string }> = Effect.flatMap(
        rounds.run,
        ({ done, hasMore }) => hasMore ? Effect.map(runAll, (more) => done + more) : Effect.succeed(done)
      )
      const list = Effect.fnUntraced(function*(olderThanHours: number) {
        const found: Array<string> = []
        for (let cursor: string | null = ""; cursor !== null;) {
          const part: Effect.Success<ReturnType<typeof rounds.list>> = yield* rounds.list(null, {
            limit: 1,
            cursor,
            olderThanMs: olderThanHours * hour
          })
          found.push(...part.items.map(({ roundId }) => roundId))
          cursor = part.next
        }
        return found
      })
      assert.strictEqual(yield* runAll, 3)
      assert.strictEqual(yield* runAll, 0)
      assert.deepStrictEqual(yield* list(24), ["two-days", "elsewhere", "a-day"])
      assert.deepStrictEqual(yield* list(48), ["two-days"])
      const { items } = yield* rounds.list([other.id], { limit: 25, olderThanMs: 24 * hour })
      assert.deepStrictEqual(items, [{
        operatorId: other.id,
        playerId: stranger,
        gameId: first + 1,
        game: "Game",
        provider: "studio",
        roundId: "elsewhere",
        realStake: 100,
        bonusStake: 5,
        currency: "EUR",
        openedAt: noon - 30 * hour
      }])

      yield* sql`UPDATE rounds SET closed = true WHERE round_id = 'two-days'`
      // before the next run of the job, too
      assert.deepStrictEqual(yield* list(48), [])
      yield* TestClock.setTime(noon + 1)
      assert.strictEqual(yield* runAll, 2)
      assert.deepStrictEqual(yield* list(24), ["elsewhere", "a-day", "young"])
    }))
})
