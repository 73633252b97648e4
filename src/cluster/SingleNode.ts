import { Layer } from "effect"
import { Placement } from "../engine/Placement.ts"
import { Forwarder } from "./Forwarder.ts"
import { Nodes } from "./Nodes.ts"

/** One process without a cluster: owns every player and forwards nothing. */
export const layerSingleNode = Layer.mergeAll(Placement.layerHere, Forwarder.layerNone, Nodes.layerNone)
