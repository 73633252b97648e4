/** Authenticates requests: by a signature (SPEC section 5.1), or by a player session token. */
import { Clock, Effect, Redacted } from "effect"
import { type CryptoError, Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { HttpClientRequest } from "effect/http"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Shared secret, imported for signing and verification. */
export const hmacKey = (secret: Redacted.Redacted) => Mac.key(Mac.hmacSha256, bytesOf(Redacted.value(secret)))

/** Concatenates lines and a body as bytes. */
export const joined = (head: string, body: Uint8Array, tail = ""): Uint8Array => {
  const [before, after] = [bytesOf(head), bytesOf(tail)]
  const all = new Uint8Array(before.length + body.length + after.length)
  all.set(before)
  all.set(body, before.length)
  all.set(after, before.length + body.length)
  return all
}

/** Authenticates a request. `uri` is path and query as they will be sent. */
export type Authorise = (
  request: HttpClientRequest.HttpClientRequest,
  uri: string,
  body: Uint8Array
) => Effect.Effect<HttpClientRequest.HttpClientRequest, CryptoError.CryptoError>

/** Signs with a key. Every request gets a new time and nonce: the service accepts each signature once, even for a retry. */
export const signingWith = Effect.fnUntraced(function*(header: string, key: string, secret: Redacted.Redacted) {
  const mac = yield* Mac.Mac
  const random = yield* SecureRandom.SecureRandom
  const macKey = yield* hmacKey(secret)
  const authorise: Authorise = Effect.fnUntraced(function*(request, uri, body) {
    const timestamp = String(Math.floor((yield* Clock.currentTimeMillis) / 1000))
    const nonce = yield* random.uuidV4()
    const toSign = joined(`${request.method}\n${uri}\n${timestamp}\n`, body, `\n${nonce}`)
    return HttpClientRequest.setHeaders(request, {
      [header]: key,
      "X-Timestamp": timestamp,
      "X-Nonce": nonce,
      "X-Signature": Hex.encode(yield* mac.sign(macKey, toSign))
    })
  })
  return authorise
})

/** Sends a player session token. */
export const bearing = (token: Redacted.Redacted): Authorise => (request) =>
  Effect.succeed(HttpClientRequest.bearerToken(request, token))
