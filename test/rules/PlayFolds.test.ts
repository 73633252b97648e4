import { assert, it } from "@effect/vitest"
import fc from "fast-check"
import { foldPlay, pauseMs, type PlayEntry } from "../../src/domain/player/PlayFolds.ts"

const at = (minutes: number) => minutes * 60_000

const entry = (
  minutes: number,
  type: PlayEntry["type"],
  amount: number,
  fields: Partial<PlayEntry> = {}
): PlayEntry => ({
  at: at(minutes),
  gameId: 7,
  round: String(minutes),
  type,
  amount,
  ...fields
})

const isPlay = (line: PlayEntry | string) => typeof line === "string" ? undefined : line

it("entries of play at one game fold into one line with rounds, stakes and wins, less rolled-back amounts", () => {
  const lines: readonly [PlayEntry, ...ReadonlyArray<PlayEntry>] = [
    entry(58, "casino_win", 900, { round: "c" }),
    entry(57, "casino_bet", -300, { round: "c" }),
    entry(40, "casino_rollback", -50, { round: "a" }),
    entry(30, "casino_rollback", 200, { round: "b" }),
    entry(29, "casino_bet", -200, { round: "b" }),
    entry(13, "casino_win", 50, { round: "a" }),
    entry(12, "casino_bet", -100, { round: "a" })
  ]
  assert.deepStrictEqual(foldPlay(lines, isPlay), [{
    lines,
    play: { from: at(12), to: at(58), gameId: 7, rounds: 3, staked: 400, won: 900 }
  }])
})

it("an entry of another kind, another game or a pause starts a new folded line", () => {
  const lines = [
    entry(500, "casino_bet", -5),
    "deposit",
    entry(490, "casino_bet", -4),
    entry(489, "casino_bet", -3, { gameId: 8 }),
    entry(300, "casino_bet", -2, { gameId: 8 }),
    entry(300 - pauseMs / 60_000, "casino_bet", -1, { gameId: 8 })
  ]
  assert.deepStrictEqual(
    foldPlay(lines, isPlay).map(({ lines: folded, play }) => [folded.length, play?.gameId, play?.staked]),
    [[1, 7, 5], [1, undefined, undefined], [1, 7, 4], [1, 8, 3], [2, 8, 3]]
  )
})

it("folded lines contain every entry once and in order, and add up to the sum of all entries", () => {
  const line = fc.record({
    at: fc.nat(1000),
    gameId: fc.constantFrom(1, 2),
    round: fc.constantFrom("a", "b", null),
    type: fc.constantFrom("casino_bet" as const, "casino_win" as const, "casino_rollback" as const),
    amount: fc.integer({ min: -1000, max: 1000 })
  })
  fc.assert(fc.property(fc.array(fc.oneof(line, fc.constant("other"))), (unordered) => {
    const lines = unordered.map((each, index) => typeof each === "string" ? each : { ...each, at: 10_000 - index })
    const folds = foldPlay(lines, isPlay)
    assert.deepStrictEqual(folds.flatMap(({ lines: folded }) => folded), lines)
    const moved = lines.reduce((sum, each) => sum + (typeof each === "string" ? 0 : each.amount), 0)
    assert.strictEqual(
      folds.reduce((sum, { play }) => sum + (play === undefined ? 0 : play.won - play.staked), 0),
      moved
    )
  }))
})
