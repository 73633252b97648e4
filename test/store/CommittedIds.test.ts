import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { OutcomeUnknown, Rejected, StoreUnavailable } from "../../src/engine/Failures.ts"
import { CommittedIds } from "../../src/store/internal/CommittedIds.ts"
import { withCommittedIds } from "../../src/store/internal/PlayerStore.ts"
import * as MemoryPlayerStore from "../kit/MemoryPlayerStore.ts"
import { bet, makePlayer, noon } from "../kit/Messages.ts"

// few providers and few names: most pairs share one or the other
const ids = fc.record({
  providerId: fc.integer({ min: 1, max: 5 }),
  transactionId: fc.stringMatching(/^[ab]{1,3}$/)
})

const numbered = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ providerId: 7, transactionId: `round-${number}` }))

describe("committed transaction ids in memory", () => {
  it("are identified by provider and transaction id together", () =>
    fc.assert(fc.property(fc.array(ids), ids, (added, asked) => {
      const committed = new CommittedIds()
      added.forEach((id) => committed.add(id))
      assert.strictEqual(
        committed.has(asked),
        added.some((id) => id.providerId === asked.providerId && id.transactionId === asked.transactionId)
      )
    })))

  it("are replaced by later ids when the capacity is reached", () => {
    const committed = new CommittedIds(4)
    const all = numbered(1000)
    all.forEach((id) => committed.add(id))
    assert.isFalse(committed.has(all[0]!))
    assert.isTrue(committed.has(all[999]!))
  })

  it("are spread over all slots of the hash table", () => {
    const committed = new CommittedIds(2 ** 16)
    const all = numbered(2 ** 14)
    all.forEach((id) => committed.add(id))
    // of a quarter as many ids as slots, each at random, 88 % keep theirs
    assert.isAbove(all.filter((id) => committed.has(id)).length / all.length, 0.85)
  })

  /** A bet of a player, decided as a new one. */
  const betOf = (playerId: number, transactionId: string) => {
    const before = makePlayer({ id: playerId })
    const decision = settle(before, bet(transactionId, 1), { now: noon, firstId: playerId * 1000, known: undefined })
    if (decision._tag !== "Accept" || decision.change === null) return assert.fail("the bet is accepted")
    const { change, state: after } = decision
    return { change, unit: { key: playerId, version: 0, before, after, changes: [change] } }
  }

  // Goal: of every id that a store may hold it is said, and of no other. Method: another process writes by a store of its own.
  it.effect("include ids that were written, possibly written or found taken, and no others", () =>
    Effect.gen(function*() {
      const outcomes = [
        Effect.void,
        Effect.fail(new OutcomeUnknown({ reason: "cut off" })),
        Effect.fail(new StoreUnavailable({ reason: "away" })),
        Effect.fail(new Rejected({ because: "clash" }))
      ]
      const elsewhere = MemoryPlayerStore.make()
      for (const id of [1, 2, 3]) yield* elsewhere.add(makePlayer({ id }))
      const other = betOf(1, "written elsewhere")
      yield* elsewhere.commit([other.unit])
      const store = withCommittedIds(
        { ...elsewhere, commit: () => outcomes.shift() ?? Effect.die("no more commits") },
        new CommittedIds(2 ** 16)
      )
      const said: Record<string, boolean> = {}
      for (const name of ["written", "unknown", "unavailable", "rejected"]) {
        const { change, unit } = betOf(2, name)
        yield* Effect.exit(store.commit([unit]))
        said[name] = store.isLikelyTaken(change, false)
      }
      const again = betOf(3, "written elsewhere")
      said["elsewhere"] = store.isLikelyTaken(again.change, false)
      said["elsewhere, of a loaded player"] = store.isLikelyTaken(again.change, true)
      yield* store.examine([again.unit], "clash")
      said["examined"] = store.isLikelyTaken(again.change, false)
      const next = betOf(2, "written there later")
      yield* elsewhere.commit([next.unit])
      yield* store.lookUp(next.unit.before, store.claims(next.unit.before, next.change), undefined)
      said["looked up"] = store.isLikelyTaken(next.change, false)
      assert.deepStrictEqual(said, {
        written: true,
        unknown: true,
        unavailable: false,
        rejected: false,
        elsewhere: false,
        "elsewhere, of a loaded player": true,
        examined: true,
        "looked up": true
      })
    }))
})
