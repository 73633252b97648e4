/**
 * Runs operators' commands on players, by one rule in two ways: as an effect that stores its reply under the idempotency key, or, for speed, as a
 * callback without a fiber that stores the request's signature. Both are stored in the commit of the command, so that a repeated request takes effect
 * once.
 */
import { Effect, Exit } from "effect"
import type { AcceptedSignature, StoredSignature } from "../domain/state/AcceptedSignature.ts"
import type { Step } from "../domain/state/Decision.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { type KeyedReply, storingReply } from "../domain/state/StoringReply.ts"
import { type Recorded, storingSignature } from "../domain/state/StoringSignature.ts"
import { type ActorRefusal, type PlayerActors, refusingOnce } from "./PlayerActors.ts"

/** A command that is planned: nothing has to be looked up any more. */
export interface PlayerCommand<Reply, Error extends Refusal> {
  readonly operatorId: number
  readonly playerId: number
  readonly step: Step<Reply, Error>
  /** No id of its own identifies it: without a key an unknown outcome must not be repeated. */
  readonly isNameless: boolean
}

/** End of a command that was started. */
export type Started<Reply, Error extends Refusal> = Exit.Exit<
  Recorded<Reply>,
  Error | ActorRefusal | StoredSignature
>

/** Runs a command; its effect and its answer under the key commit together. */
export const runCommand = <Reply, Error extends Refusal>(
  actors: PlayerActors["Service"],
  { isNameless, operatorId, playerId, step }: PlayerCommand<Reply, Error>,
  { claim, render }: KeyedReply<Reply>
): Effect.Effect<Reply, Error | ActorRefusal> => {
  const asked = actors.ask(operatorId, playerId, storingReply(step, claim, render))
  return isNameless && claim === undefined ? Effect.mapError(asked, refusingOnce) : asked
}

/** Starts a command without a fiber, for a request with this signature: they commit together. `done` is called once, perhaps synchronously. */
export const startCommand = <Reply, Error extends Refusal>(
  actors: PlayerActors["Service"],
  { isNameless, operatorId, playerId, step }: PlayerCommand<Reply, Error>,
  accepted: AcceptedSignature,
  done: (exit: Started<Reply, Error>) => void
): void =>
  actors.post(
    operatorId,
    playerId,
    storingSignature(step, accepted),
    isNameless ? (exit) => done(Exit.mapError(exit, refusingOnce)) : done
  )
