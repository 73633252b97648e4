/** Wraps results of the staff API in the response envelope, and runs handlers with the acting staff member. */
import { Effect } from "effect"
import { CurrentStaff } from "../contract/common/StaffMiddleware.ts"

/** Wraps a result in the response envelope. */
export const enveloped = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(effect, (data) => ({ data }))

/** Runs an effect with the acting staff member and wraps its result in the envelope. */
export const asStaff = <A, E, R>(effect: (actor: CurrentStaff["Service"]) => Effect.Effect<A, E, R>) =>
  enveloped(Effect.flatMap(CurrentStaff, effect))
