import { assert, describe, it } from "@effect/vitest"
import { maxBalance } from "../../src/domain/Money.ts"
import { noChange } from "../../src/domain/Change.ts"
import type { Context } from "../../src/domain/Decision.ts"
import { noRestrictions, type Player } from "../../src/domain/player/Player.ts"
import {
  type Action,
  closeRound,
  payPromoWin,
  type PromoWin,
  settle,
  settleAll,
  settleBetWin,
  unknownGame
} from "../../src/domain/settlement/Settlement.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import {
  bet,
  close,
  day,
  hour,
  makeBonus,
  makePlayer,
  minute,
  noon,
  promoWin,
  rollback,
  roulette,
  slot,
  win
} from "../kit/Messages.ts"

// The table of answers of the game-provider wallet, row by row, and the rules for wallets and bonuses, with numbers that can be
// followed by hand. Everything runs twice: with a player who remembers, and with one who left memory after every message.

const does = (action: Action) => (player: Player, context: Context) => settle(player, action, context)
const doesAll = (...actions: ReadonlyArray<Action>) => (player: Player, context: Context) =>
  settleAll(player, actions, context)
const pays = (message: PromoWin) => (player: Player, context: Context) => payPromoWin(player, message, context)
const closes = (roundId?: string) => (player: Player, context: Context) => closeRound(player, close(roundId), context)
const resultsOf = (runner: RuleRunner) => [...runner.store.tables().bonuses].map(([id, { result }]) => [id, result])

for (const remembers of [true, false]) {
  const makeRunner = (...players: ReadonlyArray<Player>) => new RuleRunner(players, () => !remembers)

  describe(`a player who ${remembers ? "remembers" : "forgets"}`, () => {
    describe("a known transaction id", () => {
      // Goal: the same message again moves nothing and is answered with the first ids and amounts and with today's balances.
      it("with the same content is replayed", () => {
        const runner = makeRunner(makePlayer())
        const first = {
          bet: runner.accept(does(bet("b", 300))),
          win: runner.accept(does(win("w", "b", 50))),
          bet2: runner.accept(does(bet("b2", 10, { roundId: "second" }))),
          rollback: runner.accept(does(rollback("k", "b2"))),
          promo: runner.accept(pays(promoWin("p", 7)))
        }
        assert.deepStrictEqual(Object.values(first).map(({ status }) => status), Array(5).fill("processed"))
        const today = { balance: 757, bonusBalance: 0, walletSeq: 5, status: "replayed" }
        const entries = runner.store.tables().entries.length
        assert.deepStrictEqual(runner.accept(does(bet("b", 300))), { ...first.bet, ...today })
        assert.deepStrictEqual(runner.accept(does(win("w", "b", 50))), { ...first.win, ...today })
        assert.deepStrictEqual(runner.accept(does(bet("b2", 10, { roundId: "second" }))), { ...first.bet2, ...today })
        assert.deepStrictEqual(runner.accept(does(rollback("k", "b2"))), { ...first.rollback, ...today })
        assert.deepStrictEqual(runner.accept(pays(promoWin("p", 7))), { ...first.promo, ...today })
        assert.strictEqual(runner.store.tables().entries.length, entries)
      })

      // Goal: a replay comes before every check. Method: whatever may refuse a new bet does so now.
      it("is replayed whatever became of the player, the session, the game and the round", () => {
        const runner = makeRunner(makePlayer())
        const first = runner.accept(does(bet("b", 1000)))
        runner.accept(closes())
        runner.set({
          status: "closed",
          restrictions: { ...noRestrictions, canBet: false },
          exclusion: { type: "self_closure", since: noon, until: null },
          limits: { max_single_bet: 1 }
        })
        runner.now += 400 * day
        const again = bet("b", 1000, { sessionExpiresAt: null, game: { ...slot, active: false } })
        assert.deepStrictEqual(runner.accept(does(again)), { ...first, status: "replayed", roundState: "closed" })
      })

      it("with other content is refused", () => {
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

      it("is one provider's own", () => {
        const runner = makeRunner(makePlayer({ providerIds: [1, 2] }))
        runner.accept(does(bet("b", 100)))
        const other = runner.accept(does(bet("b", 200, { providerId: 2, game: roulette })))
        assert.deepInclude(other, { status: "processed", balance: 700 })
        assert.strictEqual(runner.refuse(does(win("w", "b", 1, { providerId: 2 }))).code, "BET_NOT_FOUND")
      })
    })

    // Goal: a retry that had to be looked up is answered from memory when it comes again.
    it("looks a replay up once", () => {
      const runner = new RuleRunner([makePlayer()])
      runner.accept(does(bet("b", 100)))
      runner.accept(pays(promoWin("p", 7)))
      runner.forget()
      const replay = () => {
        assert.strictEqual(runner.accept(does(bet("b", 100))).status, "replayed")
        assert.strictEqual(runner.accept(pays(promoWin("p", 7))).status, "replayed")
        return runner.looks
      }
      const looks = replay()
      assert.isAbove(looks, 0)
      assert.strictEqual(replay(), looks)
    })

    describe("a rollback", () => {
      it("of what was never seen is ignored, and bars it for ever", () => {
        const runner = makeRunner(makePlayer())
        const ignored = runner.accept(does(rollback("k", "b")))
        assert.deepInclude(ignored, { status: "ignored", balance: 1000, realAmount: 0, walletSeq: 0, entryIds: [] })
        runner.now += 1000 * day
        assert.strictEqual(runner.refuse(does(bet("b", 100))).code, "BET_ROLLED_BACK")
        assert.strictEqual(runner.refuse(does(win("b", "x", 100))).code, "BET_ROLLED_BACK")
        assert.strictEqual(runner.refuse(does(win("w", "b", 100))).code, "BET_ROLLED_BACK")
        assert.strictEqual(runner.refuse(pays(promoWin("b", 100))).code, "BET_ROLLED_BACK")
        assert.strictEqual(runner.accept(does(rollback("k", "b"))).status, "replayed")
        assert.strictEqual(runner.accept(does(rollback("k2", "b"))).status, "ignored")
      })

      it("of what is rolled back already is ignored", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        const first = runner.accept(does(rollback("k", "b")))
        assert.deepInclude(first, {
          status: "processed",
          realAmount: 100,
          balance: 1000,
          walletSeq: 2,
          roundState: "open"
        })
        const second = runner.accept(does(rollback("k2", "b")))
        assert.deepInclude(second, { status: "ignored", realAmount: 0, balance: 1000, walletSeq: 2, entryIds: [] })
        assert.strictEqual(runner.accept(does(bet("b", 100))).status, "replayed")
        assert.strictEqual(runner.refuse(does(win("w", "b", 100))).code, "BET_ROLLED_BACK")
      })

      it("of a bet whose round was paid is refused until the win is rolled back", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("b2", 100)))
        runner.accept(does(win("w", "b", 50)))
        for (const target of ["b", "b2"]) {
          assert.strictEqual(runner.refuse(does(rollback(`k ${target}`, target))).code, "BET_ALREADY_SETTLED")
        }
        runner.accept(does(rollback("kw", "w")))
        assert.deepInclude(runner.accept(does(rollback("k b", "b"))), { status: "processed", balance: 900 })
      })

      it("of a bet that is rolled back already is ignored, also when its round was paid since", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(bet("b2", 100)))
        runner.accept(does(win("w", "b2", 50)))
        assert.strictEqual(runner.accept(does(rollback("k2", "b"))).status, "ignored")
      })

      it("of a win of nothing leaves the round as paid as it is", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 50)))
        runner.accept(does(win("nothing", "b", 0)))
        assert.deepInclude(runner.accept(does(rollback("k", "nothing"))), {
          status: "processed",
          realAmount: 0,
          walletSeq: 2
        })
        assert.strictEqual(runner.refuse(does(rollback("kb", "b"))).code, "BET_ALREADY_SETTLED")
      })

      it("of a bet whose round was paid nothing is processed, also when the round is closed", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 0, { closesRound: true })))
        assert.deepInclude(runner.accept(does(rollback("k", "b"))), {
          status: "processed",
          balance: 1000,
          roundState: "closed"
        })
      })

      it("of a win is processed though the money is spent", () => {
        const runner = makeRunner(makePlayer({ real: 100 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 500)))
        runner.accept(does(bet("b2", 500, { roundId: "next" })))
        assert.deepInclude(runner.accept(does(rollback("k", "w"))), {
          status: "processed",
          realAmount: -500,
          balance: -500
        })
        const refusal = runner.refuse(does(bet("b3", 1, { roundId: "third" })))
        assert.deepInclude(refusal, { code: "INSUFFICIENT_FUNDS", details: { balance: -500 } })
      })

      it("of a rollback is refused, and so is one of itself", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(rollback("i", "unseen")))
        assert.strictEqual(runner.refuse(does(rollback("kk", "k"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("ki", "i"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("self", "self"))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("b", "b"))).code, "DUPLICATE_TRANSACTION")
      })

      it("of a promo-win takes it back", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(pays(promoWin("p", 70)))
        assert.deepInclude(runner.accept(does(rollback("k", "p"))), {
          status: "processed",
          balance: 1000,
          realAmount: -70
        })
        assert.strictEqual(runner.accept(does(rollback("k2", "p"))).status, "ignored")
      })

      it("of another player's transaction finds nothing", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.refuse(does(rollback("k", "b")), 2).code, "NOT_FOUND")
        assert.strictEqual(runner.accept(does(rollback("k", "b"))).status, "processed")
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

      it("of nothing writes no entry and repeats the wallet sequence", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        assert.deepInclude(runner.accept(does(win("w", "b", 0, { closesRound: true }))), {
          status: "processed",
          entryIds: [],
          realAmount: 0,
          balance: 900,
          walletSeq: 1,
          roundState: "closed"
        })
      })

      it("may come in parts", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w1", "b", 10)))
        assert.deepInclude(runner.accept(does(win("w2", "b", 20))), { balance: 930, roundState: "open", walletSeq: 3 })
      })
    })

    describe("a closed round", () => {
      it("takes no new bet and no new win, and still takes rollbacks", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 30, { closesRound: true })))
        assert.strictEqual(runner.refuse(does(bet("b2", 1))).code, "ROUND_CLOSED")
        assert.strictEqual(runner.refuse(does(win("w2", "b", 1))).code, "ROUND_CLOSED")
        assert.strictEqual(runner.accept(does(rollback("k", "w"))).status, "processed")
        assert.deepInclude(runner.accept(does(rollback("k2", "b"))), {
          status: "processed",
          roundState: "closed",
          balance: 1000
        })
      })

      it("is closed by a close, once, for good, also before its bet comes", () => {
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
        ["no session", "INVALID_SESSION", {}, bet("b", 1, { sessionExpiresAt: null })],
        ["a session that is over", "INVALID_SESSION", {}, bet("b", 1, { sessionExpiresAt: noon })],
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
        ["a limit", "LIMIT_EXCEEDED", { limits: { max_single_bet: 99 } }, bet("b", 100)],
        ["the cap of a bonus", "BONUS_INVALID", { activeBonus: makeBonus({ maxBet: 99 }), bonus: 1 }, bet("b", 100)],
        ["too little money", "INSUFFICIENT_FUNDS", {}, bet("b", 1001)]
      ]
      for (const [name, code, settings, action] of refusals) {
        it(`is refused with ${code} for ${name}`, () => {
          const runner = makeRunner(makePlayer(settings))
          assert.strictEqual(runner.refuse(does(action)).code, code)
          assert.strictEqual(runner.store.tables().transactions.length, 0, "a refused id stays free")
        })
      }

      // Goal: one fixed order of checks. Method: everything is wrong at once; what is named is put right, one after the other.
      it("is checked in one order", () => {
        const rights: ReadonlyArray<
          readonly [code: string, settings: Partial<Player>, fields: Partial<ReturnType<typeof bet>>]
        > = [
          ["INVALID_SESSION", {}, { sessionExpiresAt: noon + 1 }],
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
          sessionExpiresAt: null,
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

      it("says why the player is restricted", () => {
        const reasons: ReadonlyArray<readonly [string, Partial<Player>]> = [
          ["locked", { status: "locked" }],
          ["can_bet", { restrictions: { ...noRestrictions, canBet: false } }],
          ["self_exclusion", { exclusion: { type: "self_exclusion", since: 0, until: noon + 1 } }]
        ]
        for (const [reason, settings] of reasons) {
          assert.deepStrictEqual(makeRunner(makePlayer(settings)).refuse(does(bet("b", 1))).details, { reason })
        }
      })

      it("is taken again when the exclusion is over", () => {
        const exclusion = { type: "time_out", since: 0, until: noon } as const
        assert.strictEqual(makeRunner(makePlayer({ exclusion })).accept(does(bet("b", 1))).status, "processed")
      })

      it("that is free moves nothing", () => {
        const runner = makeRunner(makePlayer({ real: 0 }))
        assert.deepInclude(runner.accept(does(bet("b", 0))), { status: "processed", entryIds: [], walletSeq: 0 })
        assert.deepInclude(runner.accept(does(win("w", "b", 40))), { realAmount: 40, balance: 40, walletSeq: 1 })
      })
    })

    describe("what must always be settled", () => {
      it("is settled whatever became of the player and the session", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("b2", 100, { roundId: "second" })))
        runner.set({
          status: "closed",
          restrictions: {
            canLogin: false,
            canDeposit: false,
            canWithdraw: false,
            canBet: false,
            excludedFromBonuses: true
          },
          exclusion: { type: "self_exclusion", since: noon, until: null },
          limits: { max_balance: 1, max_session_minutes: 5, max_daily_loss: 0 }
        })
        runner.now += 30 * day
        assert.strictEqual(runner.accept(does(win("w", "b", 5000))).status, "processed")
        assert.strictEqual(runner.accept(does(rollback("k", "b2"))).status, "processed")
        assert.strictEqual(runner.accept(does(rollback("kw", "w"))).status, "processed")
        assert.strictEqual(runner.accept(pays(promoWin("p", 1))).status, "processed")
        assert.strictEqual(runner.accept(closes()).status, "processed")
        assert.strictEqual(runner.player().real, 901)
      })

      it("is refused in another currency", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.refuse(does(win("w", "b", 1, { currency: "USD" }))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.refuse(pays(promoWin("p", 1, { currency: "USD" }))).code, "VALIDATION_FAILED")
      })

      it("is refused where it would leave the safe range", () => {
        const runner = makeRunner(makePlayer({ real: maxBalance }))
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.refuse(does(win("w", "b", 101))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.refuse(pays(promoWin("p", 101))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.accept(does(win("w", "b", 100))).balance, maxBalance)
      })

      it("leaves room for what is always given back", () => {
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

      it("is one action: both amounts, one step of the wallet sequence", () => {
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

      it("completes a bet that is known already", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        assert.deepInclude(runner.accept(betWin(100, 250)), {
          status: "processed",
          realAmount: 150,
          balance: 1150,
          walletSeq: 2
        })
      })

      it("takes nothing when its win is refused", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(rollback("k", "w")))
        const refusal = runner.refuse(betWin(100, 250))
        assert.deepStrictEqual(refusal, {
          _tag: "Refusal",
          code: "BET_ROLLED_BACK",
          message: refusal.message,
          details: { transaction_id: "w" }
        })
        assert.strictEqual(runner.player().real, 1000)
      })
    })

    describe("a batch", () => {
      it("answers each in order, and counts each that moves money", () => {
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

      it("replays what it knows in its place, and applies the rest", () => {
        const runner = makeRunner(makePlayer())
        const first = runner.accept(does(bet("b", 900)))
        const replies = runner.accept(doesAll(bet("b", 900), bet("b2", 100), bet("b2", 100)))
        assert.deepStrictEqual(replies.map(({ status }) => status), ["replayed", "processed", "replayed"])
        assert.deepStrictEqual(replies[0]?.entryIds, first.entryIds)
        assert.strictEqual(runner.player().real, 0)
      })

      it("is refused whole, with the place of the action to blame", () => {
        const runner = makeRunner(makePlayer())
        const refusal = runner.refuse(doesAll(bet("b", 100), win("w", "b", 5), bet("b2", 1000)))
        assert.deepInclude(refusal, { code: "INSUFFICIENT_FUNDS", details: { balance: 905, action_index: 2 } })
        assert.strictEqual(runner.accept(does(bet("b", 100))).status, "processed")
      })

      // Goal: what an action takes back is seen by those behind it, also where its target had to be looked up.
      it("lets later actions see what earlier ones took back", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        assert.deepInclude(runner.refuse(doesAll(rollback("k", "b"), win("w", "b", 500))), { code: "BET_ROLLED_BACK" })
        const replies = runner.accept(doesAll(rollback("k", "b"), rollback("k2", "b")))
        assert.deepStrictEqual(replies.map(({ status }) => status), ["processed", "ignored"])
        assert.strictEqual(runner.player().real, 1000)
      })

      // Goal: a long batch asks the store a fixed number of times. Method: a hundred rollbacks of bets in a hundred rounds, most of
      // which nobody remembers.
      it("of a hundred rollbacks is settled", () => {
        const runner = makeRunner(makePlayer())
        const numbers = Array.from({ length: 100 }, (_, index) => index)
        for (const index of numbers) runner.accept(does(bet(`b${index}`, 1, { roundId: `r${index}` })))
        const looks = runner.looks
        const replies = runner.accept(doesAll(...numbers.map((index) => rollback(`k${index}`, `b${index}`))))
        assert.isTrue(replies.every(({ status }) => status === "processed"))
        assert.strictEqual(runner.player().real, 1000)
        assert.isAtMost(runner.looks - looks, 3)
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

      it("is not staked without a running bonus, nor on a game that contributes nothing", () => {
        assert.strictEqual(
          makeRunner(withBonus({ activeBonus: null })).refuse(does(bet("b", 61))).code,
          "INSUFFICIENT_FUNDS"
        )
        const runner = makeRunner(withBonus({ activeBonus: makeBonus({ contributions: { [slot.id]: 0 } }) }))
        assert.strictEqual(runner.refuse(does(bet("b", 61))).code, "INSUFFICIENT_FUNDS")
        assert.strictEqual(runner.accept(does(bet("b", 60))).status, "processed")
        assert.strictEqual(runner.player().activeBonus?.wagered, 0)
      })

      it("is not staked while real money is owed", () => {
        const runner = makeRunner(withBonus({ real: -10 }))
        assert.strictEqual(runner.refuse(does(bet("b", 5))).code, "INSUFFICIENT_FUNDS")
      })

      it("counts the whole stake of a contributing game: all of it, a tenth for live games", () => {
        const runner = makeRunner(withBonus())
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.player().activeBonus?.wagered, 100)
        runner.accept(does(bet("b2", 39, { game: roulette })))
        assert.strictEqual(runner.player().activeBonus?.wagered, 103)
      })

      it("gets its share of a win by what funded the round, rounded down", () => {
        const runner = makeRunner(withBonus())
        runner.accept(does(bet("b", 90)))
        // 60 real, 30 bonus: a third of 100 is 33
        assert.deepInclude(runner.accept(does(win("w", "b", 100))), {
          realAmount: 67,
          bonusAmount: 33,
          balance: 67,
          bonusBalance: 103
        })
      })

      it("gets its share by all bets of the round that stand", () => {
        const runner = makeRunner(withBonus())
        for (const [id, stake] of [["b1", 30], ["b2", 30], ["b3", 60], ["b4", 40]] as const) {
          runner.accept(does(bet(id, stake)))
        }
        // 30 real and 60 bonus stand
        for (const id of ["b1", "b4"]) runner.accept(does(rollback(`k ${id}`, id)))
        assert.deepInclude(runner.accept(does(win("w", "b2", 90))), { realAmount: 30, bonusAmount: 60 })
      })

      it("comes back as it was taken, with its wagering and its counters", () => {
        const runner = makeRunner(withBonus())
        runner.accept(does(bet("b", 100)))
        assert.deepInclude(runner.accept(does(rollback("k", "b"))), {
          realAmount: 60,
          bonusAmount: 40,
          balance: 60,
          bonusBalance: 100
        })
        const { activeBonus, counters } = runner.player()
        assert.deepInclude(activeBonus, { wagered: 0, openRounds: 0 })
        assert.deepInclude(counters, { betDay: 0, betMonth: 0, lossDay: 0 })
      })

      it("counts no stake that was taken back, of real money either", () => {
        const runner = makeRunner(withBonus())
        runner.accept(does(bet("b", 50)))
        assert.strictEqual(runner.player().activeBonus?.wagered, 50)
        runner.accept(does(rollback("k", "b")))
        assert.strictEqual(runner.player().activeBonus?.wagered, 0)
      })

      it("becomes real the moment the requirement is met, up to the cap", () => {
        const runner = makeRunner(withBonus({ activeBonus: makeBonus({ wagerRequirement: 100, maxConversion: 40 }) }))
        const reply = runner.accept(does(bet("b", 100)))
        assert.deepInclude(reply, { realAmount: -60, bonusAmount: -40, balance: 40, bonusBalance: 0, walletSeq: 1 })
        assert.deepStrictEqual(
          runner.store.tables().entries.slice(2).map(({ amount, type, wallet }) => [wallet, type, amount]),
          [["bonus", "bonus_conversion", -40], ["real", "bonus_conversion", 40], [
            "bonus",
            "bonus_correction_down",
            -20
          ]]
        )
        assert.isNull(runner.player().activeBonus)
        assert.deepStrictEqual(resultsOf(runner), [[501, "converted"]])
      })

      it("that was converted gets its wins and its stakes in real money", () => {
        const runner = makeRunner(withBonus({ activeBonus: makeBonus({ wagerRequirement: 150 }) }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("b2", 10, { roundId: "second" })))
        runner.accept(does(bet("b3", 40, { roundId: "third" })))
        assert.strictEqual(runner.player().real, 10)
        assert.deepInclude(runner.accept(does(win("w", "b", 100))), { realAmount: 100, bonusAmount: 0, balance: 110 })
        assert.deepStrictEqual(resultsOf(runner), [[501, "converted"]])
        const { bonuses } = runner.store.tables()
        assert.deepInclude(bonuses.get(501), { converted: 10, late: 40, openRounds: 3 })
        runner.accept(does(bet("b4", 5, { roundId: "fourth" })))
        assert.deepInclude(runner.accept(does(rollback("k", "b4"))), { realAmount: 5, bonusAmount: 0, balance: 110 })
      })

      it("is lost when none is left and no open round holds a stake of it; what comes later is credited and forfeited", () => {
        const runner = makeRunner(withBonus({ real: 0 }))
        runner.accept(does(bet("b", 100)))
        assert.strictEqual(runner.player().activeBonus?.openRounds, 1)
        runner.accept(closes())
        assert.isNull(runner.player().activeBonus)
        assert.deepStrictEqual(resultsOf(runner), [[501, "lost"]])
        const reply = runner.accept(does(rollback("k", "b")))
        assert.deepInclude(reply, { status: "processed", realAmount: 0, bonusAmount: 0, balance: 0, bonusBalance: 0 })
        assert.deepStrictEqual(
          runner.store.tables().entries.slice(1).map(({ amount, type }) => [type, amount]),
          [["casino_rollback", 100], ["bonus_correction_down", -100]]
        )
      })

      it("of a win is taken back as far as it is there, never into debt", () => {
        const runner = makeRunner(withBonus({ real: 0 }))
        runner.accept(does(bet("b", 50)))
        runner.accept(does(win("w", "b", 30)))
        runner.accept(does(bet("b2", 70, { roundId: "second" })))
        assert.deepInclude(runner.accept(does(rollback("k", "w"))), { bonusAmount: -10, balance: 0, bonusBalance: 0 })
      })

      it("of a win is taken from the real wallet once the bonus was converted", () => {
        const runner = makeRunner(withBonus({ real: 0, activeBonus: makeBonus({ wagerRequirement: 80 }) }))
        runner.accept(does(bet("b", 50)))
        assert.deepInclude(runner.accept(does(win("w", "b", 30))), { bonusAmount: 30, bonusBalance: 80 })
        assert.deepInclude(runner.accept(does(bet("b2", 30, { roundId: "second" }))), { balance: 50, bonusBalance: 0 })
        assert.deepInclude(runner.accept(does(rollback("k", "w"))), { realAmount: -30, bonusAmount: 0, balance: 20 })
      })

      it("is lost when the rollback of a win takes the last of it", () => {
        const runner = makeRunner(withBonus({ real: 0 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 30, { closesRound: true })))
        runner.accept(does(rollback("k", "w")))
        assert.isNull(runner.player().activeBonus)
        assert.deepStrictEqual(resultsOf(runner), [[501, "lost"]])
      })

      // Goal: a round that no longer holds a stake of one bonus belongs to the next one that funds it.
      it("of a later bonus is its own in a round that an earlier one left", () => {
        const runner = makeRunner(withBonus({ real: 0 }))
        runner.accept(does(bet("b", 50)))
        runner.accept(does(rollback("k", "b")))
        runner.ask((player) => ({
          _tag: "Accept",
          state: { ...player, activeBonus: makeBonus({ id: 502 }) },
          reply: undefined,
          change: noChange,
          idsUsed: 0
        }))
        for (const action of [bet("b2", 40), win("w", "b2", 90)]) runner.accept(does(action))
        assert.strictEqual(runner.player().bonus, 150)
        assert.strictEqual(runner.player().activeBonus?.openRounds, 1)
      })

      // Goal: no bonus becomes real money by way of a round that an earlier, converted bonus funds. Method: a stake of 1 of the
      // first bonus stays open while the rest of it converts; the second one is then staked in the same round, by itself and with
      // real money before it.
      it("of a later bonus is not staked in a round that holds a stake of an earlier one", () => {
        const runner = makeRunner(
          makePlayer({
            real: 0,
            bonus: 100,
            activeBonus: makeBonus({ wagerRequirement: 100 }),
            pendingBonuses: [makeBonus({ id: 502, amount: 500 })]
          })
        )
        runner.accept(does(bet("b", 1)))
        runner.accept(does(bet("b2", 99, { roundId: "other", closesRound: true })))
        assert.deepInclude(runner.player(), { real: 0, bonus: 500 })
        assert.strictEqual(runner.player().activeBonus?.id, 502)
        assert.strictEqual(runner.refuse(does(bet("b3", 500))).code, "INSUFFICIENT_FUNDS")
        // the win of the first one's stake is still real, and real money is still staked
        runner.accept(does(win("w", "b", 30)))
        assert.deepInclude(runner.player(), { real: 30, bonus: 500 })
        assert.strictEqual(runner.refuse(does(bet("b4", 31))).code, "INSUFFICIENT_FUNDS")
        assert.deepInclude(runner.accept(does(bet("b5", 30))), { realAmount: -30, bonusAmount: 0 })
        assert.deepInclude(runner.accept(does(bet("b6", 500, { roundId: "third" }))), {
          realAmount: 0,
          bonusAmount: -500
        })
      })

      it("caps the stake while it runs", () => {
        const runner = makeRunner(withBonus({ activeBonus: makeBonus({ maxBet: 20 }) }))
        assert.deepInclude(runner.refuse(does(bet("b", 21))), { code: "BONUS_INVALID", details: { max_bet: 20 } })
        assert.strictEqual(runner.accept(does(bet("b", 20))).status, "processed")
      })
    })

    describe("limits", () => {
      // Goal: what counts. Method: a bet, a win, a rollback of each; after each the sums of the day.
      it("count gross stakes and net real losses; wins restore losses only, rollbacks both", () => {
        const runner = makeRunner(makePlayer())
        const sums = () => [runner.player().counters.betDay, runner.player().counters.lossDay]
        runner.accept(does(bet("b", 100)))
        assert.deepStrictEqual(sums(), [100, 100])
        runner.accept(does(win("w", "b", 30)))
        assert.deepStrictEqual(sums(), [100, 70])
        runner.accept(does(rollback("kw", "w")))
        assert.deepStrictEqual(sums(), [100, 100])
        runner.accept(does(rollback("kb", "b")))
        assert.deepStrictEqual(sums(), [0, 0])
      })

      it("count bonus stakes as bets, not as losses", () => {
        const runner = makeRunner(
          makePlayer({ real: 60, bonus: 100, activeBonus: makeBonus(), limits: { max_daily_loss: 60 } })
        )
        runner.accept(does(bet("b", 60)))
        runner.accept(does(bet("b2", 40)))
        assert.deepInclude(runner.player().counters, { betDay: 100, lossDay: 60 })
      })

      // Goal: a rollback lowers the windows that its bet had raised, and no other. Method: a bet late on a Sunday, taken back on the
      // Monday of the same month.
      it("give back to the windows that were used", () => {
        const runner = makeRunner(makePlayer())
        const monday = Date.UTC(2026, 10, 16)
        runner.now = monday - minute
        runner.accept(does(bet("b", 100)))
        runner.now = monday + hour
        runner.accept(does(bet("b2", 10, { roundId: "second" })))
        runner.accept(does(rollback("k", "b")))
        assert.deepInclude(runner.player().counters, {
          betDay: 10,
          betWeek: 10,
          betMonth: 10,
          lossDay: 10,
          lossWeek: 10,
          lossMonth: 10
        })
      })

      it("of a session refuse bets until a break has passed, and settle on", () => {
        const runner = makeRunner(makePlayer({ limits: { max_session_minutes: 30 } }))
        for (let at = 0; at < 30; at += 10) {
          runner.accept(does(bet(`b${at}`, 1)))
          runner.now += 10 * minute
        }
        const refusal = runner.refuse(does(bet("late", 1)))
        assert.deepStrictEqual(refusal.details, {
          limit: "max_session_minutes",
          value: 30,
          used: 30,
          resets_at: new Date(noon + 35 * minute).toISOString()
        })
        assert.strictEqual(runner.accept(does(win("w", "b0", 1))).status, "processed")
        runner.now = noon + 35 * minute
        assert.strictEqual(runner.accept(does(bet("late", 1))).status, "processed")
      })
    })
  })
}
