import { assert, it } from "@effect/vitest"
import { cappedCategory, categoryOfWord, gameCategories } from "../../src/domain/jurisdiction/GameCategories.ts"

// Goal: 4.6: a cap on stakes holds whatever a vendor calls its games. Method: words of vendors' catalogues.

it("4.6: vendors' category names map to the categories of stake caps, and an unknown name to slots", () => {
  const expected: ReadonlyArray<readonly [word: string, category: string]> = [
    ["Video Slots", "slots"],
    ["slot", "slots"],
    ["Video Poker", "table"],
    ["Table Games", "table"],
    ["ROULETTE", "table"],
    ["Scratch Cards", "instant"],
    ["Jackpot Slots", "jackpot"],
    ["Crash Games", "crash"],
    ["other", "slots"],
    ["", "slots"]
  ]
  for (const [word, category] of expected) assert.strictEqual(categoryOfWord("rng", word), category, word)
  for (const word of ["Live Roulette", "slots", ""]) assert.strictEqual(categoryOfWord("live", word), "live")
  for (const one of gameCategories) assert.strictEqual(categoryOfWord("rng", one), one === "live" ? "slots" : one)
})

it("4.6: an unknown category counts as slots for an RNG game, and stays as it is for a live game", () => {
  assert.strictEqual(cappedCategory("rng", "wheel"), "slots")
  assert.strictEqual(cappedCategory("rng", "table"), "table")
  assert.strictEqual(cappedCategory("live", "wheel"), "wheel")
})
