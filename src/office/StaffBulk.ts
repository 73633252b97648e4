/** Runs bulk actions of the staff API: items one after the other, each under the checks of its single action. */
import { Context, Effect, Layer } from "effect"
import { CurrentStaff } from "../contract/common/StaffMiddleware.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { makeOwners, missing, type Target } from "./OperatorTargets.ts"
import { isWithin } from "../store/OperatorScope.ts"
import { orTryAgain } from "../store/Rows.ts"

/** What became of one item. */
interface Outcome {
  readonly id: number
  readonly is_done: boolean
  readonly code: string | null
  readonly message: string | null
}

export class StaffBulk extends Context.Service<StaffBulk, {
  /**
   * Runs an action for each record, one after the other, so that sums and budgets count each as if it came alone. An item of an operator that the
   * actor may not access is not found; a refused item stops no other.
   */
  readonly run: <E extends Refusal, R>(
    target: Target,
    ids: ReadonlyArray<number>,
    each: (id: number, actor: CurrentStaff["Service"]) => Effect.Effect<unknown, E, R>
  ) => Effect.Effect<
    {
      readonly data: {
        readonly done: number
        readonly refused: number
        readonly items: ReadonlyArray<Outcome>
      }
    },
    never,
    R | CurrentStaff
  >
}>()("pitboss/staff/StaffBulk") {
  static readonly layer = Layer.effect(
    StaffBulk,
    Effect.map(makeOwners, (ownerOf) =>
      StaffBulk.of({
        run: Effect.fnUntraced(function*(target, ids, each) {
          const actor = yield* CurrentStaff
          const items = yield* Effect.forEach([...new Set(ids)], (id) =>
            Effect.gen(function*() {
              const owner = yield* orTryAgain(ownerOf(target, String(id)))
              if (owner !== undefined && !isWithin(actor.operators, owner)) return yield* Effect.fail(missing(target))
              yield* each(id, actor)
              return { id, is_done: true, code: null, message: null }
            }).pipe(
              Effect.catch((refusal) =>
                Effect.succeed({ id, is_done: false, code: refusal.code, message: refusal.message })
              )
            ))
          const done = items.filter((item) => item.is_done).length
          return { data: { done, refused: items.length - done, items } }
        })
      }))
  )
}
