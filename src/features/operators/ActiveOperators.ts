/**
 * Tells whether an operator is active, from memory, so that a bet costs no query. A change in this process shows as soon as `refresh` returns, one
 * in another process within two seconds.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { Notices } from "../../cluster/Notices.ts"
import { ServingClient } from "../../platform/Database.ts"
import { rowsOf } from "../../store/Rows.ts"

const ids = rowsOf(Schema.Struct({ id: Schema.Number }))

export class ActiveOperators extends Context.Service<ActiveOperators, {
  readonly isActive: (operatorId: number) => boolean
  /** Reads again: to be called after every committed change of an operator. */
  readonly refresh: Effect.Effect<void>
}>()("pitboss/operators/ActiveOperators") {
  static readonly layer = Layer.effect(
    ActiveOperators,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      // Kept: inactive, refreshing. Operators that are switched off. Several nodes: read every second.
      let inactive: ReadonlySet<number> = new Set()
      // one at a time: an older reading must not overwrite a newer one
      const refreshing = yield* Semaphore.make(1)
      const refreshHere = ids(sql`SELECT id FROM operators WHERE NOT active`).pipe(
        Effect.map((rows) => {
          inactive = new Set(rows.map(({ id }) => id))
        }),
        // while the database is unavailable nothing can be bet either; the next reading follows in a second
        Effect.ignoreCause,
        refreshing.withPermits(1)
      )
      yield* refreshHere
      const refresh = (yield* Notices).define("operators", () => refreshHere)("")
      yield* Effect.sleep("1 second").pipe(Effect.andThen(refreshHere), Effect.forever, Effect.forkScoped)
      return ActiveOperators.of({ isActive: (operatorId) => !inactive.has(operatorId), refresh })
    })
  )
}
