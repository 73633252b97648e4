import { assert, describe, it } from "@effect/vitest"
import { builtInProfiles } from "../../src/domain/jurisdiction/BuiltIn.ts"
import { differencesOf } from "../../src/domain/jurisdiction/Differences.ts"
import { differenceInWords, profileInWords } from "../../src/domain/jurisdiction/ProfileText.ts"

// Goal: a profile's page says everything that its document says, and a difference is one in words too. Method: the eight built-in documents, each against
// each.

const money = (amount: number) => `€${(amount / 100).toFixed(2)}`

const rulesOf = (code: string) => {
  const document = builtInProfiles.find((one) => one.code === code)
  assert(document !== undefined, code)
  return profileInWords(document, money).flatMap(({ rules }) => rules)
}

describe("the text of a profile", () => {
  it("states what a jurisdiction requires, with the source of each figure", () => {
    const said = new Map(rulesOf("nl").map(({ label, source, text }) => [label, [text, source?.confidence]]))
    assert.deepStrictEqual(said.get("Least age"), ["18 years", "D"])
    assert.deepStrictEqual(said.get("Break of 6 months"), ["on offer, as a self-exclusion", "D"])
    assert.deepStrictEqual(said.get("Break without an end"), ["on offer, as a self-exclusion", "D"])
    assert.deepStrictEqual(said.get("Limits that have to be set"), [
      "daily deposit, weekly deposit or monthly deposit, balance and session minutes",
      "A"
    ])
    assert.deepStrictEqual(said.get("Required limits are set before"), ["the first deposit", "A"])
    assert.deepStrictEqual(said.get("A raise waits at least"), ["7 days", "C"])
    assert.deepStrictEqual(said.get("Deposits less withdrawals of a month, at most"), [
      "€700.00, below 24 years €300.00",
      "B"
    ])
    assert.deepStrictEqual(said.get("Registers that are asked"), [
      "CRUKS: at registration each time, refused without an answer; at sign-in each time, refused without an answer",
      "A"
    ])
  })

  it("leaves out what a profile does not require", () => {
    const labels = rulesOf("none").map(({ label }) => label)
    for (
      const label of ["Largest stake", "Required limits are set before", "Time to confirm a raise", "Largest bonus"]
    ) {
      assert.notInclude(labels, label)
    }
  })

  it("says \"none\" for a missing figure where one source covers its whole group, and leaves the figure out elsewhere", () => {
    const said = (code: string) => new Map(rulesOf(code).map(({ label, text }) => [label, text]))
    assert.strictEqual(said("mt").get("Shortest self-exclusion until a date"), "none")
    assert.strictEqual(said("gb").get("Shortest self-exclusion until a date"), "6 months")
    assert.isFalse(said("gb").has("Longest self-exclusion until a date"))
  })

  it("shows every source of a document beside a figure", () => {
    for (const { code, sources } of builtInProfiles) {
      const shown = new Set(rulesOf(code).map(({ source }) => source))
      const missing = Object.entries(sources).filter(([, source]) => !shown.has(source)).map(([path]) => path)
      assert.deepStrictEqual(missing, [], code)
    }
  })

  it("describes every difference between two documents, with different texts for before and after", () => {
    for (const before of builtInProfiles) {
      for (const after of builtInProfiles) {
        for (const difference of differencesOf(before, after)) {
          const said = differenceInWords(difference, money)
          assert.notStrictEqual(said.label, difference.path, "a path without words")
          assert.notStrictEqual(said.before, said.after, `${before.code} and ${after.code}: ${difference.path}`)
        }
      }
    }
  })
})
