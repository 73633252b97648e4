/**
 * Plans: decisions made synchronously from data in memory. A plan yields its result or says which data it lacks. Where nothing may wait, an
 * incomplete plan is dropped without effect; elsewhere the data is looked up and the plan is made again.
 */
import { Effect } from "effect"

/** Something has to be looked up first; `known` is what was looked up before. */
export interface Lacking<Known, out Error> {
  readonly _tag: "Lacking"
  readonly lookUp: (known: Known) => Effect.Effect<Partial<Known>, Error>
}

const lacks = <Known, Error>(plan: object): plan is Lacking<Known, Error> => "_tag" in plan && plan._tag === "Lacking"

export const isLacking = <Plan extends object>(plan: Plan): plan is Extract<Plan, { readonly _tag: "Lacking" }> =>
  lacks(plan)

/** Looks up what the plan lacks, and plans again. `nothing`: before the first look-up. */
export const planned = Effect.fnUntraced(function*<Known extends object, A extends object, Error>(
  nothing: Known,
  planOf: (known: Known) => A | Lacking<Known, Error>
): Effect.fn.Return<A, Error> {
  let known = nothing
  while (true) {
    const plan = planOf(known)
    if (!lacks<Known, Error>(plan)) return plan
    known = { ...known, ...(yield* plan.lookUp(known)) }
  }
})
