import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { settleAll } from "../../src/domain/settlement/Settlement.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { ProfileBook } from "../../src/store/ProfileBook.ts"
import { bet } from "../kit/Messages.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

/** Statements that the service has sent. */
const sent: Array<string> = []

const counting = Layer.succeed(
  Tracer.Tracer,
  Tracer.make({
    span: (options) => {
      if (options.kind === "client") sent.push(options.name)
      return new Tracer.NativeSpan(options)
    }
  })
)

// Goal: what a jurisdiction demands of a bet is in memory. Method: the same bets of a player of `none` and of one under rules with stake caps, limits and a
// register; the statements of each are counted by their spans.
layer(layerTestService().pipe(Layer.provide(counting)))("a bet under a jurisdiction", (it) => {
  it.effect("is one SQL statement, as without a jurisdiction", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const book = yield* ProfileBook
      const operator = yield* addOperator("one")
      const counts = []
      for (const [name, jurisdiction] of [["ada", "none"], ["bea", "nl"], ["cleo", "de"]] as const) {
        const playerId = yield* addPlayer(operator, name)
        yield* sql`UPDATE players SET jurisdiction = ${jurisdiction}, limits = '{"max_monthly_deposit": 90000, "max_balance": 90000, "max_session_minutes": 600}',
          limits_set = 2147483647, registers = '[{"kind": "gamstop", "verdict": "clear", "at": 0}]' WHERE id = ${playerId}`
        yield* sql`UPDATE accounts SET real_balance = 1000, provider_ids = '{1}' WHERE player_id = ${playerId}`
        assert.isTrue(yield* book.meet(jurisdiction, "EUR"))
        const play = (id: string) =>
          actors.ask(null, playerId, (player, context) => settleAll(player, [bet(`${name} ${id}`, 10)], context))
        yield* play("loads the player")
        const before = sent.length
        for (const id of ["a", "b", "c"]) {
          yield* play(id)
        }
        counts.push(sent.length - before)
      }
      assert.deepStrictEqual(counts, [3, 3, 3])
    }))
})
