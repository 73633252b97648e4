import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { playStep, rotateSeedsStep } from "../../src/domain/original/OriginalRounds.ts"
import { drawsOf } from "../../src/domain/original/Fairness.ts"
import type { JsonObject } from "../../src/domain/original/Original.ts"
import { originals } from "../../src/domain/original/Originals.ts"
import { noRestrictions, type Player } from "../../src/domain/player/Player.ts"
import { checkLedger, Desk } from "../kit/Desk.ts"
import { day, makeBonus, makePlayer, minute, slot } from "../kit/Messages.ts"
import {
  betPaying,
  hmacSha256,
  openChance,
  playOf,
  sealedSeedOf,
  serverSeedOf,
  startSeedsOf
} from "../kit/Originals.ts"

// Goal: a play is a bet and its win in one step, decided by seeds that are used once and tell nothing before they may. Method:
// the rules over a store in memory; what is drawn is made again here. Money is compared with the plain model in
// SettlementTraffic.test.ts.

/** A desk with one player who has seeds. */
const deskOf = (player: Partial<Player> = {}, forgets: () => boolean = () => false): Desk => {
  const desk = new Desk([makePlayer(player)], forgets)
  desk.accept(startSeedsOf("a"))
  return desk
}

const play = (desk: Desk, ...args: Parameters<typeof playOf>) => {
  const reply = desk.accept(playStep(playOf(...args), openChance))
  return reply._tag === "Played" ? reply : assert.fail(reply._tag)
}

const rounds = (desk: Desk) => desk.store.tables().originalRounds

const rotate = (desk: Desk, name: string, clientSeed?: string) => {
  const reply = desk.accept(rotateSeedsStep({ fresh: sealedSeedOf(name), clientSeed }, openChance))
  return reply._tag === "Rotated" ? reply : assert.fail(reply._tag)
}

describe("a play", () => {
  it("takes the stake and pays in one change, in a round of its own", () => {
    const desk = deskOf()
    const { balance, bonusBalance, entries, fairness, round, walletSeq } = play(desk, betPaying(100, 250))
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
    assert.deepStrictEqual(rounds(desk), [round])
    // nothing is left open that a provider's message could find
    assert.strictEqual(desk.store.tables().rounds.size, 0)
    assert.strictEqual(desk.player().counters.betDay, 100)
    assert.strictEqual(desk.player().counters.lossDay, -150)
  })

  it("draws what the recipe draws from seeds and nonce, for every original", () => {
    const params = new Map<string, JsonObject>([
      ["dice", { direction: "under", target: 50 }],
      ["limbo", { target: 2 }],
      ["coin_flip", { side: "tails" }],
      ["plinko", { rows: 12, risk: "high" }],
      ["mines", { mines: 5, cells: [1, 2, 3] }]
    ])
    const desk = deskOf({ real: 100_000 })
    let nonce = 0
    for (const [name, original] of originals) {
      const choice = params.get(name) ?? assert.fail(name)
      const bet = original.check(choice, 100)
      assert(bet._tag === "Checked", name)
      const played = play(desk, bet)
      const seed = { serverSeed: serverSeedOf(String(played.round.seedId)), clientSeed: "lucky", nonce: nonce++ }
      const { multiplier, outcome, payout } = bet.play(drawsOf(hmacSha256, seed))
      assert.deepInclude(played.round, { multiplier, outcome, payout, params: choice })
    }
    checkLedger(desk.store, [makePlayer({ real: 100_000 })])
  })

  it("asks the store for seeds once, and remembers them until the player rests", () => {
    const desk = deskOf()
    desk.forget()
    const before = desk.looks
    for (let turn = 0; turn < 3; turn++) play(desk, betPaying(10, 0))
    assert.strictEqual(desk.looks - before, 1)
    desk.forget()
    assert.strictEqual(play(desk, betPaying(10, 0)).fairness.nonce, 3)
    assert.strictEqual(desk.looks - before, 2)
  })

  it("keeps the client seed that came with a bet for the rounds after it", () => {
    const desk = deskOf()
    assert.strictEqual(play(desk, betPaying(1, 0), "mine").fairness.clientSeed, "mine")
    desk.forget()
    assert.deepInclude(play(desk, betPaying(1, 0)).fairness, { clientSeed: "mine", nonce: 1 })
  })

  it("does nothing while there are no seeds, or while the seed is closed", () => {
    const desk = new Desk([makePlayer()])
    assert.strictEqual(desk.accept(playStep(playOf(betPaying(1, 0)), openChance))._tag, "NoSeeds")
    desk.accept(startSeedsOf("a"))
    const closed = desk.accept(playStep(playOf(betPaying(1, 0)), { ...openChance, open: () => undefined }))
    assert.deepStrictEqual(closed, { _tag: "SeedClosed", seedId: desk.player().seeds?.current.serverSeed ?? 0 })
    assert.deepStrictEqual([rounds(desk).length, desk.store.tables().entries.length], [0, 0])
  })
})

describe("a refused play", () => {
  const refusals: ReadonlyArray<readonly [what: string, code: string, Partial<Player>, stake?: number]> = [
    ["a locked account", "PLAYER_RESTRICTED", { status: "locked" }],
    ["betting that is off", "PLAYER_RESTRICTED", { restrictions: { ...noRestrictions, canBet: false } }],
    ["an exclusion", "PLAYER_RESTRICTED", { exclusion: { type: "time_out", since: 0, until: null } }],
    ["the limit on a bet", "LIMIT_EXCEEDED", { limits: { max_single_bet: 99 } }],
    ["the limit of the casino", "LIMIT_EXCEEDED", { limits: { casino_max_daily_bet: 99 } }],
    ["the limit on losses", "LIMIT_EXCEEDED", { limits: { max_daily_loss: 99 } }],
    ["the cap of a bonus", "BONUS_INVALID", { bonus: 50, activeBonus: makeBonus({ maxBet: 99 }) }],
    ["too little money", "INSUFFICIENT_FUNDS", { real: 99 }],
    ["bonus money that may not be staked on it", "INSUFFICIENT_FUNDS", {
      real: 0,
      bonus: 500,
      activeBonus: makeBonus({ contributions: { [slot.id]: 0 } })
    }],
    ["money that is owed", "INSUFFICIENT_FUNDS", { real: -1, bonus: 500, activeBonus: makeBonus() }],
    ["a balance that could become too large", "VALIDATION_FAILED", { real: 999_999_999_000_001 }]
  ]
  for (const [what, code, player] of refusals) {
    it(`draws nothing and takes no nonce: ${what}`, () => {
      const desk = deskOf(player)
      let draws = 0
      const bet = betPaying(100, () => ++draws)
      assert.strictEqual(desk.refuse(playStep(playOf(bet), openChance)).code, code)
      assert.strictEqual(draws, 0)
      assert.deepStrictEqual(rounds(desk), [])
      assert.strictEqual(desk.player().seeds?.current.nonce, 0)
    })
  }

  it("is refused the same whatever the outcome would be", () => {
    const answers = [0, 1_000_000].map((payout) =>
      deskOf({ real: 999_999_999_500_000 }).refuse(playStep(playOf(betPaying(100, payout)), openChance))
    )
    assert.deepStrictEqual(answers[0], answers[1])
  })
})

describe("limits on time", () => {
  it("count from the first play, as no launch is needed", () => {
    const desk = deskOf({ limits: { max_session_minutes: 30 } })
    for (let minutes = 0; minutes < 30; minutes += 10) {
      play(desk, betPaying(1, 0))
      desk.now += 10 * minute
    }
    const refusal = desk.refuse(playStep(playOf(betPaying(1, 0)), openChance))
    assert.deepInclude(refusal.details, { limit: "max_session_minutes", used: 30 })
    desk.now += 15 * minute
    play(desk, betPaying(1, 0))
  })
})

describe("bonus money", () => {
  const withBonus = (bonus: Parameters<typeof makeBonus>[0], player: Partial<Player> = {}) =>
    deskOf({ real: 40, bonus: 100, activeBonus: makeBonus(bonus), ...player })

  it("pays after real money, and gets its share of the win, rounded down", () => {
    const desk = withBonus({})
    const { entries } = play(desk, betPaying(60, 101))
    assert.deepStrictEqual(entries.map(({ amount, type, wallet }) => [wallet, type, amount]), [
      ["real", "casino_bet", -40],
      ["bonus", "casino_bet", -20],
      ["real", "casino_win", 68],
      ["bonus", "casino_win", 33]
    ])
    assert.deepInclude(desk.player(), { real: 68, bonus: 113, walletSeq: 1 })
    assert.deepInclude(desk.player().activeBonus ?? {}, { wagered: 60, openRounds: 0 })
  })

  it("is not lost while the round that holds the last of it is undecided", () => {
    const won = withBonus({})
    play(won, betPaying(140, 140))
    assert.deepInclude(won.player(), { real: 40, bonus: 100 })
    assert.isNotNull(won.player().activeBonus)
    const lost = withBonus({})
    play(lost, betPaying(140, 0))
    assert.deepInclude(lost.player(), { real: 0, bonus: 0, activeBonus: null })
    assert.strictEqual(lost.store.tables().bonuses.get(501)?.result, "lost")
  })

  it("is converted by the stake that meets the requirement, and the win is the player's own", () => {
    const desk = withBonus({ wagerRequirement: 100, maxConversion: 30 })
    const { entries, balance, bonusBalance } = play(desk, betPaying(100, 200))
    assert.deepStrictEqual(entries.map(({ amount, type, wallet }) => [wallet, type, amount]), [
      ["real", "casino_bet", -40],
      ["bonus", "casino_bet", -60],
      ["bonus", "bonus_conversion", -30],
      ["real", "bonus_conversion", 30],
      ["bonus", "bonus_correction_down", -10],
      ["real", "casino_win", 80],
      ["real", "casino_win", 120]
    ])
    assert.deepStrictEqual([balance, bonusBalance], [230, 0])
    assert.strictEqual(desk.player().walletSeq, 1)
  })

  it("whose time is over pays nothing", () => {
    const desk = withBonus({}, { real: 0 })
    desk.now += 8 * day
    assert.strictEqual(desk.refuse(playStep(playOf(betPaying(10, 0)), openChance)).code, "INSUFFICIENT_FUNDS")
  })
})

describe("a rotation", () => {
  it("reveals the seed that was used, takes the promised one into use and promises another", () => {
    const desk = deskOf()
    play(desk, betPaying(1, 0))
    play(desk, betPaying(1, 0), "mine")
    const before = desk.player().seeds ?? assert.fail("no seeds")
    const { retired, seeds } = rotate(desk, "b")
    assert.deepStrictEqual(retired, {
      serverSeed: serverSeedOf(String(before.current.serverSeed)),
      serverSeedHash: before.current.serverSeedHash,
      rounds: 2
    })
    assert.deepStrictEqual(seeds.current, { ...before.next, clientSeed: "mine", nonce: 0 })
    assert.strictEqual(seeds.next.serverSeedHash, sealedSeedOf("b").hash)
    desk.forget()
    assert.deepStrictEqual(play(desk, betPaying(1, 0)).fairness, {
      serverSeedHash: before.next.serverSeedHash,
      clientSeed: "mine",
      nonce: 0
    })
    const stored = desk.store.tables().seeds.map((
      { retiredAt, serverSeed }
    ) => [retiredAt !== null, serverSeed !== null])
    assert.deepStrictEqual(stored, [[true, true], [false, false], [false, false]])
  })

  it("sets the client seed for the rounds after it", () => {
    const desk = deskOf()
    rotate(desk, "b", "chosen")
    desk.forget()
    assert.strictEqual(play(desk, betPaying(1, 0)).fairness.clientSeed, "chosen")
  })

  it("needs seeds, and gives nobody other ones who has some", () => {
    const desk = new Desk([makePlayer()])
    const command = { fresh: sealedSeedOf("b"), clientSeed: undefined }
    assert.strictEqual(desk.accept(rotateSeedsStep(command, openChance))._tag, "NoSeeds")
    const seeds = desk.accept(startSeedsOf("a"))
    assert.deepStrictEqual(desk.accept(startSeedsOf("other")), seeds)
    assert.lengthOf(desk.store.tables().seeds, 2)
    const closed = desk.accept(rotateSeedsStep(command, { open: () => undefined }))
    assert.strictEqual(closed._tag, "SeedClosed")
  })
})

// Method: any sequence of plays, refused plays and rotations, by a player who remembers or forgets.
describe("nonces", () => {
  it("are used once each, in order, whatever comes between", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.constantFrom("play", "refused", "rotate", "forget"), { maxLength: 40 }),
      (commands) => {
        const desk = deskOf({ real: 1_000_000 })
        const drawn: Array<string> = []
        commands.forEach((command, index) => {
          if (command === "forget") desk.forget()
          if (command === "rotate") rotate(desk, `r${index}`)
          if (command === "refused") desk.refuse(playStep(playOf(betPaying(9_000_000, 0)), openChance))
          if (command === "play") {
            const bet = betPaying(1, (draws) => {
              drawn.push(String(draws.below(2 ** 32)))
              return 0
            })
            play(desk, bet)
          }
        })
        assert.strictEqual(new Set(drawn).size, drawn.length)
        const bySeed = new Map<number, Array<number>>()
        for (const { nonce, seedId } of rounds(desk)) bySeed.set(seedId, [...bySeed.get(seedId) ?? [], nonce])
        for (const nonces of bySeed.values()) assert.deepStrictEqual(nonces, nonces.map((_, index) => index))
        assert.strictEqual(rounds(desk).length, drawn.length)
      }
    ))
  })
})
