/** Hash chain for tests outside the service, without its master key: tags of links are not verified. */
import { Layer } from "effect"
import { Chain, ChainKey } from "../../src/chain/Chain.ts"

export const layerChainUnkeyed = Chain.layer.pipe(Layer.provideMerge(ChainKey.layerNone))
