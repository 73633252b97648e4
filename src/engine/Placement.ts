/** Placement of actors on processes: which keys this one may write, and from when on. */
import { Context, type Effect, Layer } from "effect"

/**
 * Finishes what the actors of some keys have accepted, and removes them from memory. `meanwhile` is run between two looks at them, with the keys whose
 * actors are not done yet: all others are.
 */
export type Release = (
  isReleased: (key: number) => boolean,
  meanwhile?: (busy: ReadonlyArray<number>) => Effect.Effect<void>
) => Effect.Effect<void>

export class Placement extends Context.Service<Placement, {
  /**
   * Since when this process owns `key`: a number that is higher each time it becomes the owner of a key, 0 when it is not, not certainly, or when the key
   * is about to be handed over. A command is accepted only under an epoch.
   */
  readonly epochOf: (key: number) => number
  /**
   * Whether this process has owned `key` without a gap since that epoch began. Also true while the key is handed over: what was accepted is
   * still decided. Examined after everything that is waited for, before a decision and before a state is shown.
   */
  readonly holds: (key: number, epoch: number) => boolean
  /** Whether another process may have owned a key before: the first load under an epoch is fenced then. */
  readonly isShared: boolean
  /** Names what finishes the commands of keys that are handed over. */
  readonly onRelease: (release: Release) => void
}>()("pitboss/engine/Placement") {
  /** One process that owns every key, always. */
  static readonly layerHere = Layer.succeed(
    Placement,
    Placement.of({ epochOf: () => 1, holds: () => true, isShared: false, onRelease: () => {} })
  )
}
