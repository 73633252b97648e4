/** The chain of hashes for a test beside the service, which does not have its master key: tags of links are not checked. */
import { Layer } from "effect"
import { Chain, ChainKey } from "../../src/chain/Chain.ts"

export const layerChainUnkeyed = Chain.layer.pipe(Layer.provideMerge(ChainKey.layerNone))
