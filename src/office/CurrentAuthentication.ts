/** Repeats the authentication of the current staff request, for responses that may outlast its credentials, such as streams. */
import { Context, Effect } from "effect"
import { type Refusal, refuse } from "../domain/Refusal.ts"
import type { Actor } from "./Actor.ts"

const unknown = refuse("SERVER_ERROR", "The request carries no authentication.")

/** Authenticates the same request again, with the role and the operators of this moment. Set by the middleware of the staff API. */
export const CurrentAuthentication = Context.Reference<Effect.Effect<Actor, Refusal>>(
  "pitboss/staff/CurrentAuthentication",
  { defaultValue: () => Effect.fail(unknown) }
)
