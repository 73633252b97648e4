/** Repeated authentication of a request, for answers that outlast the proof they began with, such as streams. */
import { Context, Effect } from "effect"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import type { Actor } from "./Actor.ts"

const unknown = refuse("SERVER_ERROR", "Nobody has said who this is from.")

/** Authenticates the same request again, with the role and the operators of this moment. Set by the middleware of the staff API. */
export const CurrentAuthentication = Context.Reference<Effect.Effect<Actor, Refusal>>(
  "pitboss/staff/CurrentAuthentication",
  { defaultValue: () => Effect.fail(unknown) }
)
