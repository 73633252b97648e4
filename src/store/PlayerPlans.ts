/** Looks up a player who is not in memory, for decisions that were to be made synchronously from memory (`Planned.ts`). */
import { Effect } from "effect"
import type { Player } from "../domain/state/Player.ts"
import type { Lacking } from "./Planned.ts"
import type { ActorRefusal, PlayerActors } from "./PlayerActors.ts"

/** Player that was looked up. */
export interface KnownPlayer {
  readonly player: Player | undefined
}

export const noPlayer: KnownPlayer = { player: undefined }

export const lackingPlayer = (
  actors: PlayerActors["Service"],
  operatorId: number | null,
  playerId: number
): Lacking<KnownPlayer, ActorRefusal> => ({
  _tag: "Lacking",
  lookUp: () => Effect.map(actors.read(operatorId, playerId), (player) => ({ player }))
})
