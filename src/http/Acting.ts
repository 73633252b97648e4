/** What handlers of the staff API have in common: the envelope, and who acts. */
import { Effect } from "effect"
import { CurrentStaff } from "../contract/StaffApi.ts"

/** Puts what an effect gives into the envelope of an answer. */
export const wrap = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(effect, (data) => ({ data }))

/** Runs what staff do with who does it. */
export const act = <A, E, R>(effect: (actor: CurrentStaff["Service"]) => Effect.Effect<A, E, R>) =>
  wrap(Effect.flatMap(CurrentStaff, effect))
