/** Hash chain for tests outside the service, without its master key: tags of links are not verified. */
import { Layer } from "effect"
import { RememberedEnds } from "../../src/chain/Ends.ts"
import { Chain, ChainKey } from "../../src/chain/Chain.ts"

export const layerChainUnkeyed = RememberedEnds.layer.pipe(
  Layer.provideMerge(Chain.layer),
  Layer.provideMerge(ChainKey.layerNone)
)
