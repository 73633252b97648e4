/**
 * Placement of actors on processes: the keys of actors (ids of players) that this process owns and may write, and the epoch of each ownership, which
 * ends when the actor moves.
 */
import { Context, type Effect, Layer } from "effect"

/**
 * Finishes the accepted commands of the actors of some keys and removes them from memory. `meanwhile` runs between two checks, with the keys whose
 * actors have not finished.
 */
export type Release = (
  isReleased: (key: number) => boolean,
  meanwhile?: (busy: ReadonlyArray<number>) => Effect.Effect<void>
) => Effect.Effect<void>

export class Placement extends Context.Service<Placement, {
  /**
   * Epoch of this process's ownership of `key`: higher on each acquisition, 0 when not owned, not certainly owned, or about to be handed over. A
   * command is accepted only under an epoch.
   */
  readonly epochOf: (key: number) => number
  /**
   * True when this process has owned `key` without interruption since that epoch began, also during the handover: accepted commands are still
   * decided. Checked after every wait, before a decision and before a state is shown.
   */
  readonly holds: (key: number, epoch: number) => boolean
  /** Whether another process may have owned a key before: the first load under an epoch is then fenced. */
  readonly isShared: boolean
  /** Registers the function that finishes the commands of keys being handed over. */
  readonly onRelease: (release: Release) => void
}>()("pitboss/engine/Placement") {
  /** A single process that always owns every key. */
  static readonly layerHere = Layer.succeed(
    Placement,
    Placement.of({ epochOf: () => 1, holds: () => true, isShared: false, onRelease: () => {} })
  )
}
