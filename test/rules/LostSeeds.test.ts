import { assert, describe, it } from "@effect/vitest"
import { retireLostSeedsStep } from "../../src/domain/original/LostSeeds.ts"
import { playStep, rotateSeedsStep } from "../../src/domain/original/OriginalRounds.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { makePlayer } from "../kit/Messages.ts"
import { betPaying, openChance, playOf, sealedSeedOf, serverSeedOf, startSeedsOf } from "../kit/Originals.ts"

// Goal: a player blocked by a seed that cannot be decrypted can play again, with no more seeds changed than necessary, and a
// lost seed is never revealed. Method: the rule over a store in memory, for each of the two seeds lost, both and none; then the player
// plays and rotates.

const runnerOf = () => {
  const runner = new RuleRunner([makePlayer({ real: 1000 })])
  runner.accept(startSeedsOf("a"))
  return runner
}

const seedsOf = (runner: RuleRunner) => runner.player().seeds ?? assert.fail("no seeds")

const retire = (runner: RuleRunner, lost: ReadonlyArray<number>) =>
  runner.accept(retireLostSeedsStep({
    lost: new Set(lost),
    fresh: { first: sealedSeedOf("fresh 1"), second: sealedSeedOf("fresh 2") },
    reason: "the key is gone",
    actor: "staff:1"
  }))

const hashOf = (name: string): string => sealedSeedOf(name).hash

const cases: ReadonlyArray<
  readonly [
    name: string,
    lost: readonly [current: boolean, next: boolean],
    after: readonly [current: string, next: string]
  ]
> = [
  ["the seed in use", [true, false], ["a 2", "fresh 1"]],
  ["the next seed", [false, true], ["a 1", "fresh 1"]],
  ["both seeds", [true, true], ["fresh 1", "fresh 2"]]
]

describe("lost seeds", () => {
  for (const [name, [isCurrentLost, isNextLost], [current, next]] of cases) {
    it(`${name}: retired without being revealed, and the player can continue to play`, () => {
      const runner = runnerOf()
      runner.accept(playStep(playOf(betPaying(10, 0), "mine"), openChance))
      const before = seedsOf(runner)
      const lost = [
        ...(isCurrentLost ? [before.current.serverSeed] : []),
        ...(isNextLost ? [before.next.serverSeed] : [])
      ]
      const { retired, seeds } = retire(runner, lost)
      assert.deepStrictEqual(retired, [
        ...(isCurrentLost ? [hashOf("a 1")] : []),
        ...(isNextLost ? [hashOf("a 2")] : [])
      ])
      assert.deepStrictEqual([seeds?.current.serverSeedHash, seeds?.next.serverSeedHash], [
        hashOf(current),
        hashOf(next)
      ])
      // the stored state equals the actor's
      runner.forget()
      assert.deepStrictEqual(runner.accept(startSeedsOf("other")), seeds)
      assert.strictEqual(seedsOf(runner).current.nonce, isCurrentLost ? 0 : 1)
      assert.strictEqual(seedsOf(runner).current.clientSeed, "mine")
      const rows = runner.store.tables().seeds
      for (const { hash, isLost, retiredAt, serverSeed } of rows) {
        assert.strictEqual(isLost, retired.includes(hash))
        assert.deepStrictEqual([retiredAt !== null, serverSeed], [isLost, null])
      }
      const [line] = runner.store.tables().audit
      assert.deepInclude(line, { action: "player.retire_seeds", actor: "staff:1", reason: "the key is gone" })
      const played = runner.accept(playStep(playOf(betPaying(10, 0)), openChance))
      assert.strictEqual(played._tag === "Played" && played.fairness.serverSeedHash, hashOf(current))
      const rotated = runner.accept(rotateSeedsStep({ fresh: sealedSeedOf("b"), clientSeed: undefined }, openChance))
      assert.strictEqual(
        rotated._tag === "Rotated" && rotated.retired.serverSeed,
        serverSeedOf(String(seeds?.current.serverSeed))
      )
      assert.strictEqual(seedsOf(runner).current.serverSeedHash, hashOf(next))
    })
  }

  it("without a lost seed, no seed changes and nothing is written to the audit log", () => {
    const runner = runnerOf()
    const before = seedsOf(runner)
    assert.deepStrictEqual(retire(runner, []), { retired: [], seeds: before })
    assert.deepStrictEqual(retire(runner, [999]), { retired: [], seeds: before })
    assert.lengthOf(runner.store.tables().audit, 0)
    const nobody = new RuleRunner([makePlayer()])
    assert.deepStrictEqual(retire(nobody, [1]), { retired: [], seeds: null })
  })
})
