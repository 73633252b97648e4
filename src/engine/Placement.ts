/**
 * Where an actor lives. With one process every key is here; with several, a layer over a sharding service says which keys are,
 * and a local call still costs no more than this check.
 */
import { Context, Layer } from "effect"

export class Placement extends Context.Service<Placement, {
  /** True when this process is the one to run the actor of `key`. */
  readonly isHere: (key: number) => boolean
}>()("pitboss/engine/Placement") {
  static readonly layerHere = Layer.succeed(Placement, Placement.of({ isHere: () => true }))
}
