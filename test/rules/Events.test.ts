import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { envelope, eventTypes, inOrderOfEffects, nextAttemptAt, pingType } from "../../src/domain/state/Events.ts"

// Goal: the retry schedule and the envelope are those of the specification. Method: compare with its text, written out.
describe("webhook events", () => {
  it("are retried after 1, 2, 4, 8, 16, 32 and 64 minutes, and then no more", () => {
    const minutes = [1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => nextAttemptAt("deposit.paid", attempts, 600_000))
    assert.deepStrictEqual(minutes, [
      ...[1, 2, 4, 8, 16, 32, 64].map((delay) => 600_000 + delay * 60_000),
      null
    ])
  })

  it("are never retried when they are pings", () => {
    assert.strictEqual(nextAttemptAt(pingType, 1, 0), null)
  })

  it("have 20 types, not counting the ping", () => {
    assert.strictEqual(new Set(eventTypes).size, 20)
    assert.notInclude(eventTypes.join(" "), pingType)
  })

  it("are all described in docs/api.md", () => {
    const guide = readFileSync(join(import.meta.dirname, "..", "..", "docs", "api.md"), "utf8")
    assert.deepStrictEqual(eventTypes.filter((type) => !guide.includes(`\`${type}\``)), [])
  })

  it("are sorted by id, and the events of one player among themselves by player version", () => {
    fc.assert(fc.property(
      fc.uniqueArray(
        fc.record({
          id: fc.nat(1000),
          playerId: fc.constantFrom(null, 1, 2),
          playerVersion: fc.nat(20),
          createdAt: fc.nat(3).map((at) => new Date(at))
        }),
        { selector: ({ id }) => id }
      ),
      (events) => {
        const ordered = inOrderOfEffects(events)
        assert.sameMembers([...ordered], events)
        for (const playerId of [1, 2]) {
          const effects = ordered.filter((event) => event.playerId === playerId).map(({ createdAt, playerVersion }) =>
            10 * playerVersion + createdAt.getTime()
          )
          assert.deepStrictEqual(effects, effects.toSorted((one, other) => one - other))
        }
        // who has no player is where the id says
        const byId = events.toSorted((one, other) => one.id - other.id)
        for (const [place, event] of byId.entries()) assert.strictEqual(ordered[place]?.playerId, event.playerId)
        for (const [place, event] of byId.entries()) {
          if (event.playerId === null) assert.strictEqual(ordered[place], event)
        }
      }
    ))
  })

  it("are sent in an envelope that leaves their data unchanged", () => {
    const createdAt = "2026-11-20T12:00:00.000Z"
    const data = "{\"note\": \"\\u2028 \\\"quoted\\\" ünï\"}"
    assert.deepStrictEqual(
      JSON.parse(envelope({ id: 9_007_199_254_740_991, type: "deposit.paid", createdAt, playerSequence: null, data })),
      {
        id: "9007199254740991",
        type: "deposit.paid",
        api_version: "v1",
        created_at: createdAt,
        data: { note: "\u2028 \"quoted\" ünï" }
      }
    )
  })
})
