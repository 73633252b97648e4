/** Who a request is from, asked again: for answers that last longer than the proof they began with. */
import { Context, Effect } from "effect"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import type { Actor } from "./Staff.ts"

const unknown = refuse("SERVER_ERROR", "Nobody has said who this is from.")

/** Authenticates the same request again, with the role and the operators of this moment. Set by the middleware of the staff API. */
export const CurrentAuthentication = Context.Reference<Effect.Effect<Actor, Refusal>>(
  "pitboss/staff/CurrentAuthentication",
  { defaultValue: () => Effect.fail(unknown) }
)
