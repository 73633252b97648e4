import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import * as Webhooks from "../../src/client/Webhooks.ts"

// Goal: a receiver accepts exactly recent deliveries signed by the service. Method: deliveries signed with node:crypto from the
// specification alone, then changed in one thing each.

const noon = Date.parse("2026-11-20T12:00:00Z")
const secret = "whsec_current"
const event = {
  id: "evt_1",
  type: "deposit.paid",
  api_version: "v1",
  created_at: "2026-11-20T12:00:00.000Z",
  data: { payment: { id: 7, info: "Müller" } }
}
const body = JSON.stringify(event)

const signatureOf = (key: string, timestamp: string, text = body) =>
  createHmac("sha256", key).update(`${timestamp}.${text}`).digest("hex")

const timestampAt = (seconds: number) => String(noon / 1000 + seconds)

const delivery = (more: Partial<Webhooks.Delivery> = {}, timestamp = timestampAt(0)): Webhooks.Delivery => ({
  secrets: [Redacted.make(secret)],
  headers: { "X-Service-Timestamp": timestamp, "X-Service-Signature": signatureOf(secret, timestamp) },
  body,
  ...more
})

const services = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))
const read = (delivery: Webhooks.Delivery) =>
  Effect.andThen(TestClock.setTime(noon), Webhooks.read(delivery)).pipe(Effect.provide(services))
const reasonOf = (delivery: Webhooks.Delivery) =>
  Effect.map(Effect.flip(read(delivery)), (error) => error._tag === "Rejected" ? error.reason : error._tag)

describe("a webhook", () => {
  it.effect("that is signed is decoded from text or bytes, with headers in any form", () =>
    Effect.gen(function*() {
      const { headers } = delivery()
      const forms = [
        delivery(),
        delivery({ body: new TextEncoder().encode(body) }),
        delivery({ headers: new Headers(Object.entries(headers)) }),
        delivery({
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]))
        })
      ]
      for (const form of forms) assert.deepStrictEqual(yield* read(form), event)
    }))

  it.effect("is accepted with either signature while the secret is rotated", () =>
    Effect.gen(function*() {
      const timestamp = timestampAt(0)
      const [current, previous] = [signatureOf(secret, timestamp), signatureOf("whsec_before", timestamp)]
      const headers = {
        "x-service-timestamp": timestamp,
        "x-service-signature": current,
        "x-service-signature-previous": previous
      }
      assert.strictEqual((yield* read(delivery({ headers }))).id, "evt_1")
      const before = [Redacted.make("whsec_before")]
      assert.strictEqual((yield* read(delivery({ headers, secrets: before }))).id, "evt_1")
      assert.strictEqual(yield* reasonOf(delivery({ headers, secrets: [Redacted.make("other")] })), "wrong signature")
      const old = [Redacted.make("whsec_before"), Redacted.make(secret)]
      assert.strictEqual((yield* read(delivery({ secrets: old }))).id, "evt_1")
    }))

  it.effect("is accepted up to 300 seconds before and after its timestamp", () =>
    Effect.gen(function*() {
      for (const seconds of [-300, 300]) yield* read(delivery({}, timestampAt(seconds)))
      for (const seconds of [-301, 301]) {
        assert.strictEqual(yield* reasonOf(delivery({}, timestampAt(seconds))), "too old")
      }
      for (const timestamp of ["", "NaN", "1e9", " 1795176000", "-1"]) {
        assert.strictEqual(yield* reasonOf(delivery({}, timestamp)), "too old")
      }
    }))

  it.effect("that was changed on the way is refused", () =>
    Effect.gen(function*() {
      const timestamp = timestampAt(0)
      const good = signatureOf(secret, timestamp)
      const withSignature = (signature: string) =>
        delivery({ headers: { "x-service-timestamp": timestamp, "x-service-signature": signature } })
      const wrong = [
        delivery({ body: `${body} ` }),
        delivery({ headers: { "x-service-timestamp": timestampAt(1), "x-service-signature": good } }),
        withSignature(""),
        withSignature(good.slice(0, -2)),
        withSignature(`${good}00`),
        withSignature("not hex"),
        withSignature(signatureOf("whsec_before", timestamp)),
        withSignature(createHmac("sha256", secret).update(body).digest("hex")),
        delivery({ secrets: [] })
      ]
      for (const each of wrong) assert.strictEqual(yield* reasonOf(each), "wrong signature")
      assert.strictEqual(
        yield* reasonOf(delivery({ headers: { "x-service-timestamp": timestamp } })),
        "headers missing"
      )
      assert.strictEqual(yield* reasonOf(delivery({ headers: { "x-service-signature": good } })), "headers missing")
    }))

  it.effect("that is signed but is not an event is refused", () =>
    Effect.gen(function*() {
      const text = "{\"id\": 7}"
      const timestamp = timestampAt(0)
      const headers = { "x-service-timestamp": timestamp, "x-service-signature": signatureOf(secret, timestamp, text) }
      assert.strictEqual(yield* reasonOf(delivery({ body: text, headers })), "unreadable")
    }))
})
