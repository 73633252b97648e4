import { assert, describe, it } from "@effect/vitest"
import { envelope, eventTypes, nextAttemptAt, pingType } from "../../src/domain/state/Events.ts"

// Goal: the retry schedule and the envelope are those of the specification. Method: compare with its text, written out.
describe("webhook events", () => {
  it("are retried after 1, 2, 4, 8, 16, 32 and 64 minutes, and then no more", () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => nextAttemptAt("deposit.paid", attempts, 600_000))
    assert.deepStrictEqual(minutes, [
      ...[1, 2, 4, 8, 16, 32, 64].map((delay) => 600_000 + delay * 60_000),
      null
    ])
  })

  it("pings are never retried", () => {
    assert.strictEqual(nextAttemptAt(pingType, 1, 0), null)
  })

  it("are the nine of the specification and two of obligations, without the ping", () => {
    assert.strictEqual(new Set(eventTypes).size, 11)
    assert.notInclude(eventTypes.join(" "), pingType)
  })

  it("travel in an envelope whose data is passed on as it is", () => {
    const createdAt = "2026-11-20T12:00:00.000Z"
    const data = "{\"note\": \"\\u2028 \\\"quoted\\\" ünï\"}"
    assert.deepStrictEqual(JSON.parse(envelope({ id: 9_007_199_254_740_991, type: "deposit.paid", createdAt, data })), {
      id: "9007199254740991",
      type: "deposit.paid",
      api_version: "v1",
      created_at: createdAt,
      data: { note: "\u2028 \"quoted\" ünï" }
    })
  })
})
