/** Placement of actors on processes. One process holds every key; a layer over a sharding service would spread them. */
import { Context, Layer } from "effect"

export class Placement extends Context.Service<Placement, {
  /** True when this process is the one to run the actor of `key`. */
  readonly isHere: (key: number) => boolean
}>()("pitboss/engine/Placement") {
  static readonly layerHere = Layer.succeed(Placement, Placement.of({ isHere: () => true }))
}
