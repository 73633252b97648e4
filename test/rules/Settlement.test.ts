import { assert, describe, it } from "@effect/vitest"
import { maxBalance } from "../../src/domain/Money.ts"
import type { Context } from "../../src/domain/state/Decision.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import {
  type Action,
  closeRound,
  payPromoWin,
  type PromoWin,
  settleBetWin,
  unknownGame
} from "../../src/domain/settlement/Settlement.ts"
import { does, doesAll, RuleRunner } from "../kit/RuleRunner.ts"
import {
  bet,
  close,
  day,
  makeBonus,
  makePlayer,
  noon,
  promoWin,
  rollback,
  roulette,
  session,
  slot,
  win
} from "../kit/Messages.ts"

// The table of answers of the game-provider wallet, row by row, and the rules for wallets and bonuses, with hand-checkable
// numbers. Everything runs twice: with the player kept in memory, and with passivation after every message.

const pays = (message: PromoWin) => (player: Player, context: Context) => payPromoWin(player, message, context)
const closes = (roundId?: string) => (player: Player, context: Context) => closeRound(player, close(roundId), context)
const resultsOf = (runner: RuleRunner) => [...runner.store.tables().bonuses].map(([id, { result }]) => [id, result])

for (const remembers of [true, false]) {
  const makeRunner = (...players: ReadonlyArray<Player>) => new RuleRunner(players, () => !remembers)

  describe(`settlement, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
    describe("a known transaction id", () => {
      it("is refused with different content", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("b2", 100)))
        runner.accept(does(win("w", "b", 50)))
        runner.accept(does(bet("b3", 100, { roundId: "other" })))
        runner.accept(does(rollback("k", "b3")))
        runner.accept(pays(promoWin("p", 7)))
        const different = {
          "the type": [win("b", "b", 100), bet("w", 50), bet("k", 100), rollback("b", "w"), rollback("p", "b")],
          "the amount": [bet("b", 101), win("w", "b", 51)],
          "the currency": [bet("b", 100, { currency: "USD" }), win("w", "b", 50, { currency: "USD" })],
          "the game": [bet("b", 100, { game: roulette }), win("w", "b", 50, { game: unknownGame })],
          "the round": [bet("b", 100, { roundId: "other" }), win("w", "b", 50, { roundId: "other" })],
          "the target": [rollback("k", "b"), win("w", "b2", 50)]
        }
        for (const [what, actions] of Object.entries(different)) {
          for (const action of actions) {
            assert.strictEqual(runner.refuse(does(action)).code, "DUPLICATE_TRANSACTION", what)
          }
        }
        for (const other of [promoWin("b", 100), promoWin("p", 8), promoWin("p", 7, { campaignId: "other" })]) {
          assert.strictEqual(runner.refuse(pays(other)).code, "DUPLICATE_TRANSACTION")
        }
        assert.strictEqual(runner.refuse(pays(promoWin("p", 7, { kind: "tournament" }))).code, "DUPLICATE_TRANSACTION")
        for (const action of [bet("b", 100), win("w", "b", 50), rollback("k", "b3")]) {
          assert.strictEqual(runner.refuse(does(action), 2).code, "DUPLICATE_TRANSACTION", "the player")
        }
      })

      it("is that of a new message when another provider uses it", () => {
        const runner = makeRunner(makePlayer({ providerIds: [1, 2] }))
        runner.accept(does(bet("b", 100)))
        const other = runner.accept(does(bet("b", 200, { providerId: 2, game: roulette })))
        assert.deepInclude(other, { status: "processed", balance: 700 })
        assert.strictEqual(runner.refuse(does(win("w", "b", 1, { providerId: 2 }))).code, "BET_NOT_FOUND")
      })
    })

    // Goal: a retry that needed a look-up is answered from memory the next time.
    it("a retry is answered from memory once a look-up has found its message", () => {
      const runner = new RuleRunner([makePlayer()])
      runner.accept(does(bet("b", 100)))
      runner.accept(pays(promoWin("p", 7)))
      runner.forget()
      const replay = () => {
        assert.strictEqual(runner.accept(does(bet("b", 100))).status, "replayed")
        assert.strictEqual(runner.accept(pays(promoWin("p", 7))).status, "replayed")
        return runner.lookUps
      }
      const lookUps = replay()
      assert.isAbove(lookUps, 0)
      assert.strictEqual(replay(), lookUps)
    })

    describe("a rollback", () => {
      it("of a rollback, or of itself, is refused", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(rollback("i", "unseen")))
        assert.strictEqual(runner.refuse(does(rollback("kk", "k"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("ki", "i"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("self", "self"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("b", "b"))).code, "DUPLICATE_TRANSACTION")
      })
    })

    describe("a win", () => {
      it("needs a bet of the same player, game and round", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 10)))
        const strays = [
          win("x", "unknown", 1),
          win("x", "b", 1, { game: roulette }),
          win("x", "b", 1, { roundId: "other" }),
          win("x", "w", 1)
        ]
        for (const stray of strays) assert.strictEqual(runner.refuse(does(stray)).code, "BET_NOT_FOUND")
        assert.strictEqual(runner.refuse(does(win("x", "b", 1)), 2).code, "BET_NOT_FOUND")
      })
    })

    describe("a closed round", () => {
      it("stays closed after one close message, even when that comes before the bet", () => {
        const runner = makeRunner(makePlayer())
        assert.deepInclude(runner.accept(closes()), {
          status: "processed",
          roundState: "closed",
          walletSeq: 0,
          entryIds: []
        })
        assert.strictEqual(runner.accept(closes()).status, "replayed")
        assert.strictEqual(runner.refuse(does(bet("b", 1))).code, "ROUND_CLOSED")
        assert.strictEqual(runner.accept(does(bet("b", 1, { game: roulette }))).status, "processed")
      })
    })

    describe("a bet", () => {
      const refusals: ReadonlyArray<readonly [name: string, code: string, settings: Partial<Player>, Action]> = [
        ["no session", "INVALID_SESSION", {}, bet("b", 1, { session: null })],
        ["a session that is over", "INVALID_SESSION", {}, bet("b", 1, { session: session(noon) })],
        ["another currency", "VALIDATION_FAILED", {}, bet("b", 1, { currency: "USD" })],
        ["a game that is switched off", "NOT_FOUND", {}, bet("b", 1, { game: { ...slot, active: false } })],
        ["a locked account", "PLAYER_RESTRICTED", { status: "locked" }, bet("b", 1)],
        ["a closed account", "PLAYER_RESTRICTED", { status: "closed" }, bet("b", 1)],
        [
          "betting switched off",
          "PLAYER_RESTRICTED",
          { restrictions: { ...noRestrictions, canBet: false } },
          bet("b", 1)
        ],
        [
          "an exclusion",
          "PLAYER_RESTRICTED",
          { exclusion: { type: "time_out", since: 0, until: noon + 1 } },
          bet("b", 1)
        ],
        ["an exclusion without end", "PLAYER_RESTRICTED", {
          exclusion: { type: "self_closure", since: 0, until: null }
        }, bet("b", 1)],
        ["a stake above a limit", "LIMIT_EXCEEDED", { limits: { max_single_bet: 99 } }, bet("b", 100)],
        [
          "a stake above the bonus's maximum",
          "BONUS_INVALID",
          { activeBonus: makeBonus({ maxBet: 99 }), bonus: 1 },
          bet("b", 100)
        ],
        ["a stake above the balance", "INSUFFICIENT_FUNDS", {}, bet("b", 1001)]
      ]
      for (const [name, code, settings, action] of refusals) {
        it(`is refused with ${code} for ${name}`, () => {
          const runner = makeRunner(makePlayer(settings))
          assert.strictEqual(runner.refuse(does(action)).code, code)
          assert.strictEqual(runner.store.tables().transactions.length, 0, "a refused id stays free")
        })
      }

      // Goal: one fixed order of checks. Method: everything is invalid at once; each reported error is corrected in turn.
      it("is checked in the order session, currency, game, round, status, restriction, exclusion, limits, bonus, funds", () => {
        const rights: ReadonlyArray<
          readonly [code: string, settings: Partial<Player>, fields: Partial<ReturnType<typeof bet>>]
        > = [
          ["INVALID_SESSION", {}, { session: session(noon + 1) }],
          ["VALIDATION_FAILED", {}, { currency: "EUR" }],
          ["NOT_FOUND", {}, { game: slot }],
          ["ROUND_CLOSED", {}, { roundId: "open" }],
          ["PLAYER_RESTRICTED", { status: "active" }, {}],
          ["PLAYER_RESTRICTED", { restrictions: noRestrictions }, {}],
          ["PLAYER_RESTRICTED", { exclusion: null }, {}],
          ["LIMIT_EXCEEDED", { limits: {} }, {}],
          ["BONUS_INVALID", { activeBonus: makeBonus() }, {}],
          ["INSUFFICIENT_FUNDS", { real: 2000 }, {}]
        ]
        let settings: Partial<Player> = {
          status: "locked",
          restrictions: { ...noRestrictions, canBet: false },
          exclusion: { type: "time_out", since: 0, until: noon + day },
          limits: { max_single_bet: 1 },
          activeBonus: makeBonus({ maxBet: 1 }),
          bonus: 1
        }
        let message = bet("b", 1500, {
          session: null,
          currency: "USD",
          game: { ...slot, active: false },
          roundId: "closed"
        })
        for (const [code, right, fields] of rights) {
          const runner = makeRunner(makePlayer(settings))
          runner.accept(closes("closed"))
          const refusal = runner.refuse(does(message))
          assert.strictEqual(refusal.code, code)
          settings = { ...settings, ...right }
          message = { ...message, ...fields }
        }
        assert.strictEqual(makeRunner(makePlayer(settings)).accept(does(message)).status, "processed")
      })

      it("names the reason of a restriction", () => {
        const reasons: ReadonlyArray<readonly [string, Partial<Player>]> = [
          ["locked", { status: "locked" }],
          ["can_bet", { restrictions: { ...noRestrictions, canBet: false } }],
          ["self_exclusion", { exclusion: { type: "self_exclusion", since: 0, until: noon + 1 } }]
        ]
        for (const [reason, settings] of reasons) {
          assert.deepStrictEqual(makeRunner(makePlayer(settings)).refuse(does(bet("b", 1))).details, { reason })
        }
      })
    })

    describe("a message that must be settled (win, rollback, promo-win)", () => {
      it("is refused in another currency", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.refuse(does(win("w", "b", 1, { currency: "USD" }))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.refuse(pays(promoWin("p", 1, { currency: "USD" }))).code, "VALIDATION_FAILED")
      })

      it("is refused where a win would exceed the maximum balance", () => {
        const runner = makeRunner(makePlayer({ real: maxBalance }))
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.refuse(does(win("w", "b", 101))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.refuse(pays(promoWin("p", 101))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.accept(does(win("w", "b", 100))).balance, maxBalance)
      })

      it("is accepted above the maximum balance when it rolls back a bet", () => {
        const runner = makeRunner(makePlayer({ real: 1000 }))
        runner.accept(does(bet("b", 101)))
        runner.accept(pays(promoWin("p", maxBalance - 899)))
        assert.strictEqual(runner.accept(does(rollback("k", "b"))).balance, maxBalance + 101)
      })

      it("is refused for a player who never had a session with the provider", () => {
        const runner = makeRunner(makePlayer({ providerIds: [] }))
        for (const action of [win("w", "b", 1), rollback("k", "b")]) {
          assert.strictEqual(runner.refuse(does(action)).code, "NOT_FOUND")
        }
        assert.strictEqual(runner.refuse(pays(promoWin("p", 1))).code, "NOT_FOUND")
        assert.strictEqual(runner.refuse(closes()).code, "NOT_FOUND")
        assert.strictEqual(runner.store.tables().transactions.length, 0)
      })

      it("is refused for a game that the provider does not have", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 1)))
        assert.strictEqual(runner.refuse(does(win("w", "b", 1, { game: unknownGame }))).code, "NOT_FOUND")
        assert.strictEqual(runner.refuse(does(bet("b2", 1, { game: unknownGame }))).code, "NOT_FOUND")
      })
    })

    describe("a promo-win", () => {
      for (
        const [kind, type] of [
          ["tournament", "tournament_prize"],
          ["jackpot", "casino_win"],
          ["free_rounds", "casino_win"],
          ["cash_drop", "casino_win"]
        ] as const
      ) {
        it(`for ${kind} is a ${type} of real money`, () => {
          const runner = makeRunner(makePlayer({ bonus: 10, activeBonus: makeBonus() }))
          const paid = runner.accept(pays(promoWin("p", 70, { kind })))
          assert.deepInclude(paid, {
            status: "processed",
            realAmount: 70,
            balance: 1070,
            bonusBalance: 10,
            walletSeq: 1
          })
          assert.deepStrictEqual(runner.store.tables().entries.map(({ type, wallet }) => [type, wallet]), [[
            type,
            "real"
          ]])
        })
      }
    })

    describe("a bet-win", () => {
      const betWin = (amount: number, prize: number) => (player: Player, context: Context) =>
        settleBetWin(player, bet("b", amount), win("w", "b", prize, { closesRound: true }), context)

      it("is one message with both amounts and one step of the wallet sequence", () => {
        const runner = makeRunner(makePlayer({ walletSeq: 10 }))
        const reply = runner.accept(betWin(100, 250))
        assert.deepInclude(reply, {
          transactionId: "b",
          status: "processed",
          realAmount: 150,
          balance: 1150,
          walletSeq: 11,
          roundState: "closed"
        })
        assert.strictEqual(reply.entryIds.length, 2)
        assert.strictEqual(runner.player().walletSeq, 11)
        assert.deepStrictEqual(runner.accept(betWin(100, 250)), { ...reply, status: "replayed" })
      })

      it("debits nothing when its win is refused", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(rollback("k", "w")))
        const refusal = runner.refuse(betWin(100, 250))
        assert.deepStrictEqual(refusal, {
          _tag: "Refusal",
          code: "BET_ROLLED_BACK",
          message: refusal.message,
          details: { transaction_id: "w", tombstone: true }
        })
        assert.strictEqual(runner.player().real, 1000)
      })
    })

    describe("a batch", () => {
      it("answers each message in order, and steps the wallet sequence for each that moves money", () => {
        const runner = makeRunner(makePlayer())
        const replies = runner.accept(
          doesAll(bet("b", 100), win("w", "b", 0), bet("b2", 50), rollback("k", "b2"), rollback("x", "y"))
        )
        assert.deepStrictEqual(
          replies.map(({ balance, status, transactionId, walletSeq }) => [transactionId, status, balance, walletSeq]),
          [
            ["b", "processed", 900, 1],
            ["w", "processed", 900, 1],
            ["b2", "processed", 850, 2],
            ["k", "processed", 900, 3],
            ["x", "ignored", 900, 3]
          ]
        )
      })

      it("is refused as a whole, with the index of the failing message", () => {
        const runner = makeRunner(makePlayer())
        const refusal = runner.refuse(doesAll(bet("b", 100), win("w", "b", 5), bet("b2", 1000)))
        assert.deepInclude(refusal, { code: "INSUFFICIENT_FUNDS", details: { balance: 905, action_index: 2 } })
        assert.strictEqual(runner.accept(does(bet("b", 100))).status, "processed")
      })

      // Goal: a long batch queries the store a fixed number of times. Method: a hundred rollbacks of bets in a hundred rounds, most of
      // them not in memory.
      it("of a hundred rollbacks is settled with at most three look-ups", () => {
        const runner = makeRunner(makePlayer())
        const numbers = Array.from({ length: 100 }, (_, index) => index)
        for (const index of numbers) runner.accept(does(bet(`b${index}`, 1, { roundId: `r${index}` })))
        const lookUps = runner.lookUps
        const replies = runner.accept(doesAll(...numbers.map((index) => rollback(`k${index}`, `b${index}`))))
        assert.isTrue(replies.every(({ status }) => status === "processed"))
        assert.strictEqual(runner.player().real, 1000)
        assert.isAtMost(runner.lookUps - lookUps, 3)
      })
    })

    describe("bonus money", () => {
      const withBonus = (overrides: Partial<Player> = {}) =>
        makePlayer({ real: 60, bonus: 100, activeBonus: makeBonus(), ...overrides })

      it("is staked after real money, in two entries of one step", () => {
        const runner = makeRunner(withBonus())
        const reply = runner.accept(does(bet("b", 100)))
        assert.deepInclude(reply, { realAmount: -60, bonusAmount: -40, balance: 0, bonusBalance: 60, walletSeq: 1 })
        assert.deepStrictEqual(
          runner.store.tables().entries.map(({ amount, playerBonusId, wallet }) => [wallet, amount, playerBonusId]),
          [["real", -60, null], ["bonus", -40, 501]]
        )
      })

      it("is lost when none is left and no open round holds a bonus stake", () => {
        const runner = makeRunner(withBonus({ real: 0 }))
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.player().activeBonus?.openRounds, 1)
        runner.accept(closes())
        assert.isNull(runner.player().activeBonus)
        assert.deepStrictEqual(resultsOf(runner), [[501, "lost"]])
      })

      // Goal: bonus money never becomes real through a round funded by an earlier, converted bonus. Method: a stake of 1 of the
      // first bonus stays open while the rest of it converts; the second one is then staked in the same round, by itself and with
      // real money before it.
      it("of a later bonus is not staked in a round that holds a stake of an earlier bonus", () => {
        const runner = makeRunner(
          makePlayer({
            real: 0,
            bonus: 100,
            activeBonus: makeBonus({ wagerRequirement: 100 }),
            pendingBonuses: [{ ...makeBonus({ id: 502, amount: 500 }), interrupted: null }]
          })
        )
        runner.accept(does(bet("b", 1)))
        runner.accept(does(bet("b2", 99, { roundId: "other", closesRound: true })))
        assert.deepInclude(runner.player(), { real: 0, bonus: 500 })
        assert.strictEqual(runner.player().activeBonus?.id, 502)
        assert.strictEqual(runner.refuse(does(bet("b3", 500))).code, "INSUFFICIENT_FUNDS")
        // the win of the first bonus's stake is still real, and real money is still staked
        runner.accept(does(win("w", "b", 30)))
        assert.deepInclude(runner.player(), { real: 30, bonus: 500 })
        assert.strictEqual(runner.refuse(does(bet("b4", 31))).code, "INSUFFICIENT_FUNDS")
        assert.deepInclude(runner.accept(does(bet("b5", 30))), { realAmount: -30, bonusAmount: 0 })
        assert.deepInclude(runner.accept(does(bet("b6", 500, { roundId: "third" }))), {
          realAmount: 0,
          bonusAmount: -500
        })
      })

      it("limits the stake while the bonus is active", () => {
        const runner = makeRunner(withBonus({ activeBonus: makeBonus({ maxBet: 20 }) }))
        assert.deepInclude(runner.refuse(does(bet("b", 21))), { code: "BONUS_INVALID", details: { max_bet: 20 } })
        assert.strictEqual(runner.accept(does(bet("b", 20))).status, "processed")
      })
    })
  })
}
