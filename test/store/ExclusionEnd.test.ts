import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Instant } from "../../src/domain/Instant.ts"
import { exclusionEnd, exclusionOf } from "../../src/domain/state/Player.ts"
import { toDate } from "../../src/platform/Time.ts"
import { rowsOf } from "../../src/store/Rows.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: the column by which jobs and look-ups find the end of an exclusion says what the rules say. Method: a row of each kind of exclusion.

const endRows = rowsOf(Schema.Struct({ over: Schema.NullOr(Instant) }))

const noon = Date.UTC(2026, 10, 20, 12)

layer(layerTestService())("3.3 the end of an exclusion", (it) => {
  it.effect("is the same in the generated column and in the rules", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* addPlayer(yield* addOperator("ends"), "ada")
      const dateOf = (at: number | null) => at === null ? null : toDate(at)
      const times = [null, noon, noon + 1000]
      let compared = 0
      for (const until of times) {
        for (const returnFrom of times) {
          for (const returnAt of returnFrom === null ? [null] : times) {
            const [row] = yield* endRows(
              sql`UPDATE players SET exclusion_type = 'self_exclusion', exclusion_since = ${toDate(0)},
                  exclusion_until = ${dateOf(until)}, exclusion_return_from = ${dateOf(returnFrom)},
                  exclusion_return_at = ${dateOf(returnAt)}
                WHERE id = ${id} RETURNING exclusion_over_at AS over`
            )
            const exclusion = exclusionOf({
              type: "self_exclusion",
              since: 0,
              source: null,
              until,
              returnFrom,
              returnAt
            })
            assert(exclusion !== null)
            assert.strictEqual(row?.over, exclusionEnd(exclusion), `${until} ${returnFrom} ${returnAt}`)
            compared++
          }
        }
      }
      assert.strictEqual(compared, 21)
    }))
})
