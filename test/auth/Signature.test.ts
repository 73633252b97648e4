import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type SignedMessage, sign, signingKey, verify } from "../../src/auth/Signature.ts"
import { sign as signByHand } from "../kit/sign.ts"

// Goal: a signature is the one of the specification, for any bytes, and no other passes. Method: a signature computed by OpenSSL,
// then random messages signed by hand, and random changes to them.

const bytes = fc.uint8Array({ maxLength: 200 })
const uri = fc.array(fc.constantFrom("/", "a", "%20", "?", "&", "=", "~", "+", "%C3%BC", "#", ";", "..", "'"), {
  maxLength: 20
})
  .map((parts) => `/api/v1/${parts.join("")}`)
const nonce = fc.option(fc.stringMatching(/^[\x21-\x7e]{1,128}$/), { nil: undefined })
const timestamp = fc.integer({ min: 0, max: 4e9 }).map(String)
const method = fc.constantFrom("GET", "POST", "PUT", "PATCH")
const secret = fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" })
const message: fc.Arbitrary<SignedMessage> = fc.record({ method, uri, timestamp, nonce, body: bytes })

describe("signatures", () => {
  it("are HMAC-SHA256 in lower-case hex over the joined lines", () => {
    // printf 'POST\n/api/v1/operator/players?x=%%20y\n1700000000\n{"a":1}\nn-1' | openssl dgst -sha256 -hmac s3cret
    const body = Buffer.from("{\"a\":1}")
    const given = {
      method: "POST",
      uri: "/api/v1/operator/players?x=%20y",
      timestamp: "1700000000",
      nonce: "n-1",
      body
    }
    assert.strictEqual(
      sign(signingKey("s3cret"), given),
      "5f8f491f5d34b53d723b9a639cadfcb768c4560d72d8a0d6a664860271b0c32c"
    )
    const { nonce: _, ...rest } = given
    assert.strictEqual(
      sign(signingKey("s3cret"), { ...rest, nonce: undefined }),
      "6261057911a0edf1826e3c84eddc8967dff00bb6061846342277489ec1a52b0f"
    )
  })

  it("equal those that callers compute, and are accepted", () => {
    fc.assert(fc.property(secret, message, (secret, message) => {
      const byHand = signByHand(secret, message.method, message.uri, message.timestamp, message.body, message.nonce)
      assert.strictEqual(sign(signingKey(secret), message), byHand)
      assert.isTrue(verify(signingKey(secret), message, byHand))
    }))
  })

  it("are rejected when the message, the secret or the text of the signature differs", () => {
    fc.assert(fc.property(secret, secret, message, message, fc.nat(63), (secret, other, one, two, position) => {
      const signature = sign(signingKey(secret), one)
      const sameLines = (message: SignedMessage) =>
        Buffer.concat([
          Buffer.from(`${message.method}\n${message.uri}\n${message.timestamp}\n`),
          message.body,
          Buffer.from(message.nonce === undefined ? "" : `\n${message.nonce}`)
        ])
      fc.pre(!sameLines(one).equals(sameLines(two)) && secret !== other)
      assert.isFalse(verify(signingKey(secret), two, signature))
      assert.isFalse(verify(signingKey(other), one, signature))
      const changed = signature[position] === "0" ? "1" : "0"
      assert.isFalse(
        verify(signingKey(secret), one, signature.slice(0, position) + changed + signature.slice(position + 1))
      )
      for (const text of [signature.slice(0, position), `${signature}0`, ` ${signature}`, signature.toUpperCase()]) {
        assert.isFalse(verify(signingKey(secret), one, text))
      }
    }))
  })
})
