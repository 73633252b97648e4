/** Request signatures (SPEC section 5.1), as the caller makes them. */
import { Clock, Effect, Redacted } from "effect"
import { type CryptoError, Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { HttpClientRequest } from "effect/http"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A shared secret, ready to sign with and to check signatures against. */
export const hmacKey = (secret: Redacted.Redacted) => Mac.key(Mac.hmacSha256, bytesOf(Redacted.value(secret)))

/** Lines and a body one after the other, as bytes. */
export const joined = (head: string, body: Uint8Array, tail = ""): Uint8Array => {
  const [before, after] = [bytesOf(head), bytesOf(tail)]
  const all = new Uint8Array(before.length + body.length + after.length)
  all.set(before)
  all.set(body, before.length)
  all.set(after, before.length + body.length)
  return all
}

/** Adds to a request what lets it in. `uri` is path and query as they will be sent. */
export type Authorise = (
  request: HttpClientRequest.HttpClientRequest,
  uri: string,
  body: Uint8Array
) => Effect.Effect<HttpClientRequest.HttpClientRequest, CryptoError.CryptoError>

/**
 * Signs with a key. Every request gets the time of its sending and a nonce of its own, so that a retry is a signature of its own:
 * the service takes each one once.
 */
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

/** Shows a player session token. */
export const bearing = (token: Redacted.Redacted): Authorise => (request) =>
  Effect.succeed(HttpClientRequest.bearerToken(request, token))
