/** HTTP client, HMAC and random numbers for the clients, built on the platform's `fetch` and `crypto`. */
import { Layer } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"

/**
 * For Node.js 20 or later, Deno, Bun, browsers and workers. Provide another `HttpClient` or `SecureRandom` for connections or randomness of
 * your own; the time is Effect's `Clock`.
 */
export const layer = Layer.mergeAll(FetchHttpClient.layer, Mac.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)
