import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { ServingClient } from "../../../src/platform/Database.ts"
import { layerEndedSessionsBy } from "../../../src/features/sessions/EndedSessions.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: every end of sessions is seen, however many share one instant. Method: reads of three rows each at a database where seven players
// share an instant between two milliseconds and two more come after it; renewed players are recorded.

layer(layerTestService(), { excludeTestServices: true })("session ends that another process committed", (it) => {
  it.effect("are all noticed, even when one query returns fewer than share a timestamp", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("acme")
      const players = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8, 9], (n) => addPlayer(operator, `player ${n}`))
      const together = players.slice(0, 7)
      yield* sql`UPDATE players SET sessions_ended_at = date_trunc('second', now()) + interval '456 microseconds'
          + CASE WHEN ${sql.in("id", together)} THEN interval '0' ELSE interval '1 second' END
        WHERE ${sql.in("id", players)}`
      const renewed = new Set<number>()
      const actors = yield* PlayerActors
      const recording = Layer.succeed(PlayerActors, {
        ...actors,
        renew: (playerId: number) => void renewed.add(playerId)
      })
      yield* Layer.build(
        layerEndedSessionsBy(3).pipe(Layer.provide(recording), Layer.provide(Layer.succeed(ServingClient, sql)))
      )
      yield* Effect.sync(() => assert.sameMembers([...renewed], [...players])).pipe(
        Effect.sandbox,
        Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo({ times: 250 })))
      )
    }))
})
