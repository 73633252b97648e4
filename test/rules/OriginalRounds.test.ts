import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { playStep, rotateSeedsStep } from "../../src/domain/original/OriginalRounds.ts"
import { drawsOf } from "../../src/domain/original/Fairness.ts"
import type { JsonObject } from "../../src/domain/state/Change.ts"
import { originals } from "../../src/domain/original/Originals.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { checkLedger, RuleRunner } from "../kit/RuleRunner.ts"
import { makeBonus, makePlayer, slot } from "../kit/Messages.ts"
import {
  betPaying,
  hmacSha256,
  openChance,
  playOf,
  sealedSeedOf,
  serverSeedOf,
  startSeedsOf
} from "../kit/Originals.ts"

// Goal: a play is a bet and its win in one step, decided by seeds that are used once and reveal nothing early. Method:
// the rules over a store in memory; draws are recomputed here. Money is compared with the plain model in
// SettlementTraffic.test.ts.

/** A runner with one player who has seeds. */
const runnerOf = (player: Partial<Player> = {}, forgets: () => boolean = () => false): RuleRunner => {
  const runner = new RuleRunner([makePlayer(player)], forgets)
  runner.accept(startSeedsOf("a"))
  return runner
}

const play = (runner: RuleRunner, ...args: Parameters<typeof playOf>) => {
  const reply = runner.accept(playStep(playOf(...args), openChance))
  return reply._tag === "Played" ? reply : assert.fail(reply._tag)
}

const rounds = (runner: RuleRunner) => runner.store.tables().originalRounds

const rotate = (runner: RuleRunner, name: string, clientSeed?: string) => {
  const reply = runner.accept(rotateSeedsStep({ fresh: sealedSeedOf(name), clientSeed }, openChance))
  return reply._tag === "Rotated" ? reply : assert.fail(reply._tag)
}

describe("a play of an original (in-house game)", () => {
  it("debits the stake and pays the win in one change, in a round of its own", () => {
    const runner = runnerOf()
    const { balance, bonusBalance, entries, fairness, round, walletSeq } = play(runner, betPaying(100, 250))
    assert.deepStrictEqual([balance, bonusBalance, walletSeq], [1150, 0, 1])
    assert.deepStrictEqual(
      entries.map(({ amount, gameId, gameRoundId, type, wallet }) => ({ amount, gameId, gameRoundId, type, wallet })),
      [
        { amount: -100, gameId: slot.id, gameRoundId: String(round.id), type: "casino_bet", wallet: "real" },
        { amount: 250, gameId: slot.id, gameRoundId: String(round.id), type: "casino_win", wallet: "real" }
      ]
    )
    assert.deepInclude(round, { stake: 100, payout: 250, multiplier: 2.5, nonce: 0, outcome: { paid: 250 } })
    assert.deepStrictEqual(fairness, {
      serverSeedHash: sealedSeedOf("a 1").hash,
      clientSeed: "lucky",
      nonce: 0
    })
    assert.deepStrictEqual(rounds(runner), [round])
    // no round is left open for a provider's message to find
    assert.strictEqual(runner.store.tables().rounds.size, 0)
    assert.strictEqual(runner.player().counters.betDay, 100)
    assert.strictEqual(runner.player().counters.lossDay, -150)
  })

  it("draws the numbers that the documented derivation yields for seeds and nonce, for every original", () => {
    const params = new Map<string, JsonObject>([
      ["dice", { direction: "under", target: 50 }],
      ["limbo", { target: 2 }],
      ["coin_flip", { side: "tails" }],
      ["plinko", { rows: 12, risk: "high" }],
      ["mines", { mines: 5, cells: [1, 2, 3] }]
    ])
    const runner = runnerOf({ real: 100_000 })
    let nonce = 0
    for (const [name, original] of originals) {
      const choice = params.get(name) ?? assert.fail(name)
      const bet = original.check(choice, 100)
      assert(bet._tag === "Checked", name)
      const played = play(runner, bet)
      const seed = { serverSeed: serverSeedOf(String(played.round.seedId)), clientSeed: "lucky", nonce: nonce++ }
      const { multiplier, outcome, payout } = bet.play(drawsOf(hmacSha256, seed))
      assert.deepInclude(played.round, { multiplier, outcome, payout, params: choice })
    }
    checkLedger(runner.store, [makePlayer({ real: 100_000 })])
  })

  it("queries the seeds once and keeps them in memory until the actor is passivated", () => {
    const runner = runnerOf()
    runner.forget()
    const before = runner.lookUps
    for (let turn = 0; turn < 3; turn++) play(runner, betPaying(10, 0))
    assert.strictEqual(runner.lookUps - before, 1)
    runner.forget()
    assert.strictEqual(play(runner, betPaying(10, 0)).fairness.nonce, 3)
    assert.strictEqual(runner.lookUps - before, 2)
  })

  it("changes nothing while there are no seeds, or while the server seed cannot be decrypted", () => {
    const runner = new RuleRunner([makePlayer()])
    assert.strictEqual(runner.accept(playStep(playOf(betPaying(1, 0)), openChance))._tag, "NoSeeds")
    runner.accept(startSeedsOf("a"))
    const closed = runner.accept(playStep(playOf(betPaying(1, 0)), { ...openChance, open: () => undefined }))
    assert.deepStrictEqual(closed, { _tag: "SeedClosed", seedId: runner.player().seeds?.current.serverSeed ?? 0 })
    assert.deepStrictEqual([rounds(runner).length, runner.store.tables().entries.length], [0, 0])
  })
})

describe("a refused play", () => {
  const refusals: ReadonlyArray<readonly [what: string, code: string, Partial<Player>, stake?: number]> = [
    ["a locked account", "PLAYER_RESTRICTED", { status: "locked" }],
    ["betting switched off", "PLAYER_RESTRICTED", { restrictions: { ...noRestrictions, canBet: false } }],
    ["an exclusion", "PLAYER_RESTRICTED", { exclusion: { type: "time_out", since: 0, until: null } }],
    ["the limit on a bet", "LIMIT_EXCEEDED", { limits: { max_single_bet: 99 } }],
    ["a casino limit", "LIMIT_EXCEEDED", { limits: { casino_max_daily_bet: 99 } }],
    ["the limit on losses", "LIMIT_EXCEEDED", { limits: { max_daily_loss: 99 } }],
    ["the maximum stake of a bonus", "BONUS_INVALID", { bonus: 50, activeBonus: makeBonus({ maxBet: 99 }) }],
    ["too little money", "INSUFFICIENT_FUNDS", { real: 99 }],
    ["bonus money that may not be staked on the game", "INSUFFICIENT_FUNDS", {
      real: 0,
      bonus: 500,
      activeBonus: makeBonus({ contributions: { [slot.id]: 0 } })
    }],
    ["a negative balance", "INSUFFICIENT_FUNDS", { real: -1, bonus: 500, activeBonus: makeBonus() }],
    ["a balance that could become too large", "VALIDATION_FAILED", { real: 999_999_999_000_001 }]
  ]
  for (const [what, code, player] of refusals) {
    it(`draws nothing and uses no nonce: ${what}`, () => {
      const runner = runnerOf(player)
      let draws = 0
      const bet = betPaying(100, () => ++draws)
      assert.strictEqual(runner.refuse(playStep(playOf(bet), openChance)).code, code)
      assert.strictEqual(draws, 0)
      assert.deepStrictEqual(rounds(runner), [])
      assert.strictEqual(runner.player().seeds?.current.nonce, 0)
    })
  }

  it("is refused in the same way whatever its outcome would have been", () => {
    const answers = [0, 1_000_000].map((payout) =>
      runnerOf({ real: 999_999_999_500_000 }).refuse(playStep(playOf(betPaying(100, payout)), openChance))
    )
    assert.deepStrictEqual(answers[0], answers[1])
  })
})

describe("bonus money", () => {
  const withBonus = (bonus: Parameters<typeof makeBonus>[0], player: Partial<Player> = {}) =>
    runnerOf({ real: 40, bonus: 100, activeBonus: makeBonus(bonus), ...player })

  it("is not lost while the round with its last stake is undecided, as that round may still win", () => {
    const won = withBonus({})
    play(won, betPaying(140, 140))
    assert.deepInclude(won.player(), { real: 40, bonus: 100 })
    assert.isNotNull(won.player().activeBonus)
    const lost = withBonus({})
    play(lost, betPaying(140, 0))
    assert.deepInclude(lost.player(), { real: 0, bonus: 0, activeBonus: null })
    assert.strictEqual(lost.store.tables().bonuses.get(501)?.result, "lost")
  })

  it("is converted when the stake meets the wagering requirement, with the bonus part of the win, up to the cap", () => {
    const runner = withBonus({ wagerRequirement: 100, maxConversion: 30 })
    const { entries, balance, bonusBalance } = play(runner, betPaying(100, 200))
    assert.deepStrictEqual(entries.map(({ amount, type, wallet }) => [wallet, type, amount]), [
      ["real", "casino_bet", -40],
      ["bonus", "casino_bet", -60],
      ["real", "casino_win", 80],
      ["bonus", "casino_win", 120],
      ["bonus", "bonus_conversion", -30],
      ["real", "bonus_conversion", 30],
      ["bonus", "bonus_correction_down", -130]
    ])
    assert.deepStrictEqual([balance, bonusBalance], [110, 0])
    assert.strictEqual(runner.player().walletSeq, 1)
  })
})

describe("a seed rotation", () => {
  it("reveals the used server seed, activates the next one and commits to another", () => {
    const runner = runnerOf()
    play(runner, betPaying(1, 0))
    play(runner, betPaying(1, 0), "mine")
    const before = runner.player().seeds ?? assert.fail("no seeds")
    const { retired, seeds } = rotate(runner, "b")
    assert.deepStrictEqual(retired, {
      serverSeed: serverSeedOf(String(before.current.serverSeed)),
      serverSeedHash: before.current.serverSeedHash,
      rounds: 2
    })
    assert.deepStrictEqual(seeds.current, { ...before.next, clientSeed: "mine", nonce: 0 })
    assert.strictEqual(seeds.next.serverSeedHash, sealedSeedOf("b").hash)
    runner.forget()
    assert.deepStrictEqual(play(runner, betPaying(1, 0)).fairness, {
      serverSeedHash: before.next.serverSeedHash,
      clientSeed: "mine",
      nonce: 0
    })
    const stored = runner.store.tables().seeds.map((
      { retiredAt, serverSeed }
    ) => [retiredAt !== null, serverSeed !== null])
    assert.deepStrictEqual(stored, [[true, true], [false, false], [false, false]])
  })

  it("needs existing seeds, and creating seeds keeps those that exist", () => {
    const runner = new RuleRunner([makePlayer()])
    const command = { fresh: sealedSeedOf("b"), clientSeed: undefined }
    assert.strictEqual(runner.accept(rotateSeedsStep(command, openChance))._tag, "NoSeeds")
    const seeds = runner.accept(startSeedsOf("a"))
    assert.deepStrictEqual(runner.accept(startSeedsOf("other")), seeds)
    assert.lengthOf(runner.store.tables().seeds, 2)
    const closed = runner.accept(rotateSeedsStep(command, { open: () => undefined }))
    assert.strictEqual(closed._tag, "SeedClosed")
  })
})

// Method: any sequence of plays, refused plays and rotations, with the player in memory or passivated.
describe("nonces", () => {
  it("are used once each and in order, whatever happens between two plays", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.constantFrom("play", "refused", "rotate", "forget"), { maxLength: 40 }),
      (commands) => {
        const runner = runnerOf({ real: 1_000_000 })
        const drawn: Array<string> = []
        commands.forEach((command, index) => {
          if (command === "forget") runner.forget()
          if (command === "rotate") rotate(runner, `r${index}`)
          if (command === "refused") runner.refuse(playStep(playOf(betPaying(9_000_000, 0)), openChance))
          if (command === "play") {
            const bet = betPaying(1, (draws) => {
              drawn.push(String(draws.below(2 ** 32)))
              return 0
            })
            play(runner, bet)
          }
        })
        assert.strictEqual(new Set(drawn).size, drawn.length)
        const bySeed = new Map<number, Array<number>>()
        for (const { nonce, seedId } of rounds(runner)) bySeed.set(seedId, [...bySeed.get(seedId) ?? [], nonce])
        for (const nonces of bySeed.values()) assert.deepStrictEqual(nonces, nonces.map((_, index) => index))
        assert.strictEqual(rounds(runner).length, drawn.length)
      }
    ))
  })
})
