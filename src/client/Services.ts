import { Layer } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"

/**
 * What clients stand on, from the platform's own `fetch` and `crypto`: Node.js 20 or later, Deno, Bun, browsers and workers have
 * both. Put another `HttpClient` or `SecureRandom` in to use connections or randomness of your own; the time is Effect's `Clock`.
 */
export const layer = Layer.mergeAll(FetchHttpClient.layer, Mac.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)
