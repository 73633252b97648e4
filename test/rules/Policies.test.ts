import { assert, describe, it } from "@effect/vitest"
import type { Player } from "../../src/domain/state/Player.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { examinedAbove, flagLargeCredits } from "../../src/domain/wallet/LargeCredits.ts"
import {
  type Action,
  ownPolicy,
  type SettlementPolicy,
  stakeableBonus,
  unknownGame
} from "../../src/domain/settlement/Settlement.ts"
import {
  adjustment,
  bet,
  close,
  day,
  makeBonus,
  makePlayer,
  noon,
  promoWin,
  providerId,
  rollback,
  roulette,
  session,
  slot,
  win
} from "../kit/Messages.ts"
import { staffCloseStep } from "../../src/domain/settlement/OtherMessages.ts"
import { policies } from "../kit/Policies.ts"
import { does, doesAll, RuleRunner } from "../kit/RuleRunner.ts"

// Effect of each field of a policy, row by row, with hand-checkable numbers. Everything runs twice: with the player kept in
// memory, and with passivation after every message.

const policyOf = (fields: Partial<SettlementPolicy>): { readonly policy: SettlementPolicy } => ({
  policy: { ...ownPolicy, ...fields }
})
const forced = policyOf({ settledBets: "roll_back" })
const paying = policyOf({ winsBeforeBets: "pay", closedRounds: "accept" })

for (const remembers of [true, false]) {
  const makeRunner = (...players: ReadonlyArray<Player>) => new RuleRunner(players, () => !remembers)
  const entriesOf = (runner: RuleRunner) =>
    runner.store.tables().entries.map(({ amount, type, wallet }) => [type, wallet, amount])
  const roundOf = (runner: RuleRunner, roundId = "round") =>
    runner.store.tables().rounds.get(1)?.get(`${slot.id}:${roundId}`)
  const roundsCounted = (runner: RuleRunner) =>
    runner.store.tables().sums.map(({ day, isLive, totals }) => [day, isLive, totals.rounds]).filter(([, , count]) =>
      count !== 0
    )

  describe(`settlement policies, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
    describe("a rollback of a bet whose round was paid", () => {
      it("is refused or carried out, depending on the policy", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 250)))
        assert.strictEqual(runner.refuse(does(rollback("k", "b"))).code, "BET_ALREADY_SETTLED")
        const done = runner.accept(does(rollback("k", "b", forced)))
        assert.deepInclude(done, { status: "processed", realAmount: 100, balance: 1250 })
        assert.deepInclude(roundOf(runner), { realStake: 0, paidWins: 1, openBets: 0 })
      })
    })

    describe("a win that the policy settles in the round of its bet", () => {
      const ofBet = { ofBet: true }

      it("is paid in the bet's round, whatever game and round the win names", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("c", 100, { roundId: "other" })))
        const elsewhere = { ...ofBet, game: unknownGame, roundId: "nowhere" }
        assert.deepInclude(runner.accept(does(win("w", "b", 250, elsewhere))), { status: "processed", balance: 1050 })
        assert.deepInclude(runner.accept(does(win("v", "c", 50, { ...ofBet, game: roulette }))), { balance: 1100 })
        assert.deepInclude(roundOf(runner), { paidWins: 1 })
        assert.deepInclude(roundOf(runner, "other"), { paidWins: 1 })
        assert.strictEqual(runner.accept(does(win("w", "b", 250, elsewhere))).status, "replayed")
        assert.strictEqual(runner.accept(does(win("w", "b", 250, ofBet))).status, "replayed")
        assert.strictEqual(runner.refuse(does(win("w", "b", 251, elsewhere))).code, "DUPLICATE_TRANSACTION")
      })

      it("is refused without a bet, and for another player's bet", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)), 2)
        for (const target of ["b", "never"]) {
          assert.strictEqual(runner.refuse(does(win("w", target, 250, ofBet))).code, "BET_NOT_FOUND")
          assert.strictEqual(
            runner.refuse(does(win("w", target, 250, { ...ofBet, game: unknownGame }))).code,
            "BET_NOT_FOUND"
          )
        }
        assert.strictEqual(runner.refuse(does(win("w", "b", 250, { roundId: "other" }))).code, "BET_NOT_FOUND")
      })
    })

    describe("a rollback of a rollback", () => {
      it("debits the stake again, even below a zero balance, after each rollback of the bet", () => {
        const runner = makeRunner(makePlayer({ real: 100 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b", forced)))
        runner.accept(does(bet("c", 80, { roundId: "other" })))
        const again = runner.accept(does(rollback("kk", "k", forced)))
        assert.deepInclude(again, { status: "processed", realAmount: -100, balance: -80, roundState: "open" })
        assert.deepInclude(roundOf(runner), { realStake: 100, openBets: 1 })
        assert.strictEqual(runner.player().counters.betDay, 180)
        // a duplicate is ignored; the bet can be given back once more, and taken once more
        assert.strictEqual(runner.accept(does(rollback("kl", "k", forced))).status, "ignored")
        assert.deepInclude(runner.accept(does(rollback("l", "b", forced))), { status: "processed", balance: 20 })
        assert.strictEqual(runner.accept(does(rollback("m", "b", forced))).status, "ignored")
        assert.deepInclude(runner.accept(does(rollback("ll", "l", forced))), { status: "processed", balance: -80 })
        assert.deepStrictEqual(entriesOf(runner).map(([type]) => type), [
          "casino_bet",
          "casino_rollback",
          "casino_bet",
          "casino_bet",
          "casino_rollback",
          "casino_bet"
        ])
      })

      it("opens the round for its wins again", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b")))
        assert.strictEqual(runner.refuse(does(win("w", null, 50))).code, "BET_ROLLED_BACK")
        runner.accept(does(rollback("kk", "k", forced)))
        assert.strictEqual(runner.accept(does(win("w", null, 50))).balance, 950)
      })

      it("debits the stake from the bonus, records the part that the bonus cannot cover, and counts the wagering again", () => {
        const runner = makeRunner(makePlayer({ real: 0, bonus: 100, activeBonus: makeBonus() }))
        runner.accept(does(bet("b", 60)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(bet("c", 70, { roundId: "other" })))
        assert.deepInclude(runner.accept(does(rollback("kk", "k", forced))), { bonusAmount: -60, bonusBalance: 0 })
        assert.deepInclude(runner.player().activeBonus, { wagered: 130, short: 30 })
      })

      it("never increases the bonus money, however often the bet is rolled back and reinstated", () => {
        const runner = makeRunner(makePlayer({ real: 0, bonus: 100, activeBonus: makeBonus() }))
        runner.accept(does(bet("b", 60)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(bet("c", 70, { roundId: "other" })))
        // as one call may list them: the refund of a bet, and the bet
        runner.accept(doesAll(rollback("kk", "k", forced), rollback("l", "b", forced)))
        assert.strictEqual(runner.player().bonus, 30, "of 100, 70 are at stake")
        runner.accept(does(rollback("ll", "l", forced)))
        assert.strictEqual(runner.player().bonus, 0)
        runner.accept(does(rollback("m", "b", forced)))
        assert.strictEqual(runner.player().bonus, 30)
      })

      it("is refused if the first rollback was of a win or of a rollback, and ignored if it moved no money", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 10)))
        runner.accept(does(rollback("k", "w", forced)))
        runner.accept(does(rollback("t", "never", forced)))
        assert.strictEqual(runner.refuse(does(rollback("kk", "k", forced))).code, "ROLLBACK_NOT_ALLOWED")
        assert.strictEqual(runner.refuse(does(rollback("kk", "k", forced)), 2).code, "NOT_FOUND")
        assert.deepInclude(runner.accept(does(rollback("tt", "t", forced))), { status: "ignored", realAmount: 0 })
        assert.strictEqual(runner.refuse(does(bet("never", 1))).code, "BET_ROLLED_BACK", "the tombstone stays")
        runner.accept(does(rollback("kb", "b", forced)))
        runner.accept(does(rollback("kkb", "kb", forced)))
        assert.strictEqual(runner.refuse(does(rollback("kkkb", "kkb", forced))).code, "ROLLBACK_NOT_ALLOWED")
      })
    })

    describe("a win that names its round", () => {
      it("is paid to the wallets in proportion to their stakes in bets that were not rolled back", () => {
        const runner = makeRunner(makePlayer({ real: 40, bonus: 100, activeBonus: makeBonus() }))
        runner.accept(does(bet("b", 80)))
        assert.deepInclude(runner.accept(does(win("w", null, 50))), { realAmount: 25, bonusAmount: 25 })
        assert.deepInclude(runner.accept(does(win("w", null, 50))), { status: "replayed", realAmount: 25 })
        assert.strictEqual(runner.refuse(does(win("w", "b", 50))).code, "DUPLICATE_TRANSACTION")
      })

      it("is refused without a bet, and the refusal tells whether no bet came or all bets were rolled back", () => {
        const runner = makeRunner(makePlayer())
        assert.deepInclude(runner.refuse(does(win("w", null, 50))), {
          code: "BET_NOT_FOUND",
          details: { round_id: "round" }
        })
        runner.accept(does(adjustment("a", 5)))
        runner.accept(does(close("closed")))
        const accepting = policyOf({ closedRounds: "accept" })
        for (const roundId of ["round", "closed"]) {
          assert.strictEqual(runner.refuse(does(win("w", null, 50, { ...accepting, roundId }))).code, "BET_NOT_FOUND")
        }
        runner.accept(does(bet("b", 100)))
        runner.accept(does(bet("c", 100)))
        runner.accept(does(rollback("k", "b")))
        assert.strictEqual(runner.accept(does(win("v", null, 1))).status, "processed")
        runner.accept(does(rollback("vk", "v")))
        runner.accept(does(rollback("l", "c")))
        assert.deepInclude(runner.refuse(does(win("w", null, 50))), {
          code: "BET_ROLLED_BACK",
          details: { round_id: "round", tombstone: false }
        })
        assert.strictEqual(runner.accept(does(win("w", null, 50, paying))).realAmount, 50)
      })
    })

    describe("a win before its bet", () => {
      for (const name of ["b", null]) {
        it(`is paid as real money, and its bet joins the round (the win names its ${name === null ? "round" : "bet"})`, () => {
          const runner = makeRunner(makePlayer({ real: 0, bonus: 100, activeBonus: makeBonus() }))
          assert.strictEqual(runner.refuse(does(win("w", name, 50, { game: roulette }))).code, "BET_NOT_FOUND")
          const live = { ...paying, game: roulette }
          const paid = runner.accept(does(win("w", name, 50, { ...live, closesRound: true })))
          assert.deepInclude(paid, { status: "processed", realAmount: 50, bonusAmount: 0, roundState: "closed" })
          runner.now += day
          const { real } = runner.player()
          assert.strictEqual(real, 50)
          const joined = runner.accept(does(bet("b", 50, live)))
          assert.deepInclude(joined, { status: "processed", balance: 0, roundState: "closed" })
          const [round] = [...runner.store.tables().rounds.get(1)?.values() ?? []]
          assert.deepInclude(round, { openBets: 1, isLive: true, paidWins: 1, realStake: 50 })
          // the round counts once, on the day on which it was opened
          assert.deepStrictEqual(roundsCounted(runner), [[Math.floor(noon / day), true, 1]])
        })
      }

      it("is refused when the named bet is of another kind, game, round or player", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(bet("b", 100)))
        runner.accept(does(win("w", "b", 10)))
        for (const stray of [win("x", "w", 1, paying), win("x", "b", 1, { ...paying, roundId: "other" })]) {
          assert.strictEqual(runner.refuse(does(stray)).code, "BET_NOT_FOUND")
        }
        assert.strictEqual(runner.refuse(does(win("x", "b", 1, paying)), 2).code, "BET_NOT_FOUND")
      })

      it("is paid after its bet's rollback only where the policy also ignores late bets", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(rollback("t", "never")))
        for (const [name, tombstone] of [["b", false], ["never", true]] as const) {
          assert.deepInclude(runner.refuse(does(win("w", name, 50, paying))), {
            code: "BET_ROLLED_BACK",
            details: { transaction_id: name, tombstone }
          })
          const all = { policy: { ...paying.policy, afterTombstone: "ignore" as const } }
          assert.strictEqual(runner.accept(does(win(`w ${name}`, name, 50, all))).realAmount, 50)
        }
      })
    })

    describe("a closed round", () => {
      it("accepts bets and wins where the policy allows it, and stays closed", () => {
        const runner = makeRunner(makePlayer())
        const accepting = policyOf({ closedRounds: "accept" })
        runner.accept(does(close()))
        runner.now += day
        assert.strictEqual(runner.refuse(does(bet("b", 10))).code, "ROUND_CLOSED")
        assert.deepInclude(runner.accept(does(bet("b", 10, accepting))), { status: "processed", roundState: "closed" })
        assert.strictEqual(runner.refuse(does(win("w", "b", 5))).code, "ROUND_CLOSED")
        assert.strictEqual(runner.accept(does(win("w", "b", 5, accepting))).roundState, "closed")
        assert.deepInclude(roundOf(runner), { isLive: false, closed: true })
        assert.deepStrictEqual(roundsCounted(runner), [[Math.floor(noon / day), false, 1]])
      })

      it("is closed by a rollback with the closing flag", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 10)))
        runner.accept(does(bet("c", 10)))
        assert.strictEqual(runner.accept(does(rollback("k", "b"))).roundState, "open")
        assert.strictEqual(runner.accept(does(rollback("l", "c", { closesRound: true }))).roundState, "closed")
      })

      it("closes each time its last open bet is settled, for vendors that close rounds by settlement", () => {
        const runner = makeRunner(makePlayer())
        const live = {
          ...policyOf({ settledBets: "roll_back", closedRounds: "accept" }),
          closesRound: "when_settled" as const
        }
        const state = (action: Action) => runner.accept(does(action)).roundState
        assert.strictEqual(state(bet("a", 10, live)), "open")
        assert.strictEqual(state(bet("b", 10, live)), "open")
        assert.strictEqual(state(win("aw", "a", 0, live)), "open")
        assert.strictEqual(state(rollback("bk", "b", live)), "closed")
        assert.strictEqual(state(bet("c", 10, live)), "open", "a bet opens it again")
        assert.strictEqual(state(win("cw", "c", 30, live)), "closed")
        // a settled bet settles nothing more
        assert.strictEqual(state(rollback("ck", "c", live)), "closed")
        assert.deepInclude(roundOf(runner), { openBets: 0 })
        assert.strictEqual(state(bet("d", 10, live)), "open")
      })
    })

    describe("a round that staff closed while its bets were open", () => {
      const { evolution: policy } = policies
      const settled = { policy, closesRound: "when_settled" as const }
      const staffClose = staffCloseStep({
        providerId,
        gameId: slot.id,
        roundId: "round",
        reason: "stuck",
        actor: "staff:1"
      })
      const closedByStaff = () => {
        const runner = makeRunner(makePlayer({
          real: 0,
          bonus: 1000,
          activeBonus: makeBonus({ amount: 1000, wagerRequirement: 20_000 })
        }))
        runner.accept(doesAll(bet("b", 400, settled), bet("c", 400, settled), bet("d", 200, settled)))
        runner.accept(staffClose)
        return runner
      }

      it("stays closed when a win or a rollback settles one of them, so that its lost bonus stays lost", () => {
        const runner = closedByStaff()
        assert.strictEqual(runner.accept(does(win("w", "b", 0, settled))).roundState, "closed")
        assert.deepInclude(runner.store.tables().bonuses.get(501), { result: "lost" })
        assert.strictEqual(runner.accept(does(rollback("k", "c", settled))).roundState, "closed")
        assert.deepInclude(roundOf(runner), { closed: true, openBets: 1 })
      })

      it("is opened again by a reinstated bet or a new one", () => {
        const runner = closedByStaff()
        runner.accept(does(rollback("k", "c", settled)))
        assert.strictEqual(runner.accept(does(rollback("kk", "k", settled))).roundState, "open")
        runner.accept(staffClose)
        runner.accept(does(rollback("l", "c", settled)))
        assert.strictEqual(runner.accept(does(bet("e", 100, settled))).roundState, "open")
      })
    })

    describe("a bet or a win after its own rollback", () => {
      const ignoring = policyOf({ afterTombstone: "ignore" })

      it("is refused, or answered as ignored and not stored, depending on the policy", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
        runner.accept(does(rollback("k", "b")))
        runner.accept(does(rollback("l", "w")))
        const { transactions } = runner.store.tables()
        runner.now += day
        for (const action of [bet("b", 100, ignoring), win("w", null, 5, ignoring), bet("b", 100, ignoring)]) {
          assert.deepInclude(runner.refuse(does({ ...action, policy: ownPolicy })), {
            code: "BET_ROLLED_BACK",
            details: { transaction_id: action.transactionId, tombstone: true }
          })
          assert.deepInclude(runner.accept(does(action)), {
            status: "ignored",
            first: "ignored",
            settledAt: noon,
            realAmount: 0,
            balance: 1000,
            walletSeq: 0
          })
          assert.strictEqual(runner.refuse(does(action), 2).code, "DUPLICATE_TRANSACTION")
        }
        assert.deepStrictEqual(runner.store.tables().transactions, transactions)
      })
    })

    describe("a message with a known transaction id", () => {
      const kinds = {
        "another amount": bet("b", 101),
        "another currency": bet("b", 100, { currency: "USD" }),
        "another round": bet("b", 100, { roundId: "other" }),
        "another game": bet("b", 100, { game: unknownGame }),
        "another kind": win("b", "b", 100)
      }
      const same = {
        content: [],
        round: ["another amount", "another currency"],
        kind: ["another amount", "another currency", "another round", "another game"]
      }
      for (const measure of ["content", "round", "kind"] as const) {
        it(`is a replay if its ${measure} is equal and it is from the same player`, () => {
          const runner = makeRunner(makePlayer(), makePlayer({ id: 2 }))
          runner.accept(does(bet("b", 100)))
          const { policy } = policyOf({ sameMessage: measure })
          const replayed = Object.entries(kinds).flatMap(([name, action]) => {
            const answer = runner.ask(does({ ...action, policy }))
            if ("reply" in answer) return [[name, answer.reply.status, answer.reply.realAmount]]
            assert.deepStrictEqual(answer.refusal.details, {
              transaction_id: "b",
              earlier: { kind: "bet", status: "processed" }
            })
            assert.strictEqual(answer.refusal.code, "DUPLICATE_TRANSACTION")
            return []
          })
          assert.deepStrictEqual(replayed, same[measure].map((name) => [name, "replayed", -100]))
          assert.strictEqual(runner.refuse(does(bet("b", 100, { policy })), 2).code, "DUPLICATE_TRANSACTION")
        })
      }

      it("is answered with the first outcome and its time", () => {
        const runner = makeRunner(makePlayer())
        runner.accept(does(bet("b", 100)))
        runner.accept(does(rollback("t", "never")))
        runner.now += day
        assert.deepInclude(runner.accept(does(bet("b", 100))), {
          status: "replayed",
          first: "processed",
          settledAt: noon
        })
        assert.deepInclude(runner.accept(does(rollback("t", "never"))), {
          status: "replayed",
          first: "ignored",
          settledAt: noon
        })
        assert.deepStrictEqual(runner.refuse(does(bet("t", 1))).details["earlier"], {
          kind: "rollback",
          status: "ignored"
        })
      })
    })

    describe("an adjustment", () => {
      it("credits, or debits up to the balance, and counts towards the loss limit", () => {
        const runner = makeRunner(makePlayer({ real: 100, status: "locked", limits: { max_daily_loss: 1 } }))
        assert.deepInclude(runner.accept(does(adjustment("a", 30))), {
          status: "processed",
          realAmount: 30,
          balance: 130
        })
        assert.deepInclude(runner.accept(does(adjustment("d", -130))), { realAmount: -130, balance: 0 })
        assert.strictEqual(runner.refuse(does(adjustment("e", -1))).code, "INSUFFICIENT_FUNDS")
        assert.deepInclude(runner.accept(does(adjustment("a", 30))), { status: "replayed", realAmount: 30, balance: 0 })
        assert.strictEqual(runner.refuse(does(adjustment("a", 31))).code, "DUPLICATE_TRANSACTION")
        assert.deepStrictEqual(entriesOf(runner), [["casino_win", "real", 30], ["casino_rollback", "real", -130]])
        assert.strictEqual(runner.player().counters.lossDay, 100)
        assert.deepInclude(roundOf(runner), { isLive: null, openBets: 0, closed: false })
      })

      describe("in a round with a bonus stake", () => {
        const live = { game: roulette, ...paying, ...forced }
        const rich = { real: 0, bonus: 1000, activeBonus: makeBonus({ amount: 1000, wagerRequirement: 20_000 }) }
        const bonusOf = (runner: RuleRunner) => runner.store.tables().bonuses.get(501)

        it("makes the lost bonus active again by a credit, until that is rolled back", () => {
          const runner = makeRunner(makePlayer(rich))
          runner.accept(does(bet("b", 1000, live)))
          runner.accept(does(close("round", roulette)))
          assert.deepInclude(bonusOf(runner), { result: "lost" })
          const credited = runner.accept(does(adjustment("a", 2000, live)))
          assert.deepInclude(credited, { realAmount: 0, bonusAmount: 2000, balance: 0, bonusBalance: 2000 })
          assert.deepInclude(bonusOf(runner), { result: null, forfeited: 0 })
          const undone = runner.accept(does(rollback("ak", "a", live)))
          assert.deepInclude(undone, { bonusAmount: -2000, balance: 0, bonusBalance: 0 })
          assert.deepInclude(bonusOf(runner), { result: "lost" })
          assert.strictEqual(runner.player().counters.lossDay, 0)
        })

        it("debits the bonus, unless the bonus does not cover it, and returns the debit to the bonus when rolled back", () => {
          const runner = makeRunner(makePlayer(rich))
          runner.accept(does(bet("b", 1000, live)))
          runner.accept(does(win("w", "b", 1500, live)))
          runner.accept(correctionStep({ wallet: "real", amount: 5000, reason: "as a deposit", actor: "staff:1" }))
          const debited = runner.accept(does(adjustment("d", -500, live)))
          assert.deepInclude(debited, { realAmount: 0, bonusAmount: -500, balance: 5000, bonusBalance: 1000 })
          assert.deepInclude(runner.store.tables().rounds.get(1)?.get(`${roulette.id}:round`), { won: 1000 })
          assert.strictEqual(runner.refuse(does(adjustment("e", -1001, live))).code, "INSUFFICIENT_FUNDS")
          const undone = runner.accept(does(rollback("dk", "d", live)))
          assert.deepInclude(undone, { bonusAmount: 500, balance: 5000, bonusBalance: 1500 })
          assert.strictEqual(runner.player().counters.lossDay, 0)
        })

        it("debits both wallets in proportion to their stakes, each of which must cover its part", () => {
          const runner = makeRunner(makePlayer({ ...rich, real: 300 }))
          runner.accept(does(bet("b", 400, live)))
          runner.accept(does(win("w", "b", 400, live)))
          assert.deepInclude(runner.player(), { real: 300, bonus: 1000 })
          assert.strictEqual(runner.refuse(does(adjustment("d", -404, live))).code, "INSUFFICIENT_FUNDS")
          const debited = runner.accept(does(adjustment("e", -400, live)))
          assert.deepInclude(debited, { realAmount: -300, bonusAmount: -100, balance: 0, bonusBalance: 900 })
          assert.strictEqual(runner.player().counters.lossDay, 300)
        })

        it("moves real money up to the conversion cap once the bonus is converted, and the same when rolled back", () => {
          const runner = makeRunner(makePlayer({
            ...rich,
            activeBonus: makeBonus({ amount: 1000, wagerRequirement: 100, maxConversion: 1500 })
          }))
          runner.accept(does(bet("b", 1000, live)))
          assert.deepInclude(bonusOf(runner), { result: "converted", converted: 0 })
          const credited = runner.accept(does(adjustment("a", 2000, live)))
          assert.deepInclude(credited, { realAmount: 1500, bonusAmount: 0, balance: 1500 })
          assert.deepInclude(bonusOf(runner), { late: 1500, forfeited: 500 })
          const debited = runner.accept(does(adjustment("d", -600, live)))
          // what the cap had forfeited covers the most of it
          assert.deepInclude(debited, { realAmount: -100, bonusAmount: -500, balance: 1400 })
          assert.deepInclude(bonusOf(runner), { late: 1400, forfeited: 0 })
          runner.accept(does(rollback("dk", "d", live)))
          assert.deepInclude(bonusOf(runner), { late: 1500, forfeited: 500 })
          assert.strictEqual(runner.player().real, 1500)
          runner.accept(does(rollback("ak", "a", live)))
          assert.deepInclude(bonusOf(runner), { late: 0, forfeited: 0 })
          assert.deepInclude(runner.player(), { real: 0, bonus: 0 })
          assert.strictEqual(runner.player().counters.lossDay, 0)
        })
      })

      it("is refused in another currency, for an unknown game, and for a player unknown to the provider", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2, providerIds: [] }))
        assert.strictEqual(runner.refuse(does(adjustment("a", 1, { currency: "USD" }))).code, "VALIDATION_FAILED")
        assert.strictEqual(runner.refuse(does(adjustment("a", 1, { game: unknownGame }))).code, "NOT_FOUND")
        assert.strictEqual(runner.refuse(does(adjustment("a", 1)), 2).code, "NOT_FOUND")
      })

      it("can be rolled back entirely, and counts for the game that it names", () => {
        const runner = makeRunner(makePlayer({ real: 50 }))
        const live = { game: roulette, ...forced }
        runner.accept(does(adjustment("a", 30, live)))
        runner.accept(does(adjustment("d", -80, live)))
        assert.deepInclude(runner.accept(does(rollback("ak", "a"))), { status: "processed", balance: -30 })
        assert.deepInclude(runner.accept(does(rollback("dk", "d"))), { status: "processed", balance: 50 })
        assert.strictEqual(runner.accept(does(rollback("dl", "d"))).status, "ignored")
        assert.strictEqual(runner.player().counters.lossDay, 0)
        assert.isTrue(runner.store.tables().sums.every(({ isLive }) => isLive))
      })

      it("raises an alert when it is large, as a win does", () => {
        const runner = makeRunner(makePlayer())
        const amount = examinedAbove + 1
        const terms = { above: amount - 1, severity: "high" as const, stopsWithdrawals: true }
        runner.accept((player, context) =>
          flagLargeCredits(does(adjustment("a", amount))(player, context), context, terms)
        )
        assert.strictEqual(runner.store.tables().events.length, 1)
      })
    })

    describe("a list of messages", () => {
      it("may hold every kind of message, and is settled entirely or not at all", () => {
        const runner = makeRunner(makePlayer())
        const list = [
          bet("b", 100, paying),
          win("w", null, 30, paying),
          promoWin("p", 5),
          adjustment("a", -10),
          rollback("k", "never"),
          close()
        ]
        const settled = runner.accept(doesAll(...list))
        assert.deepStrictEqual(
          settled.map(({ realAmount, roundState, status, walletSeq }) => [
            status,
            realAmount,
            roundState,
            walletSeq
          ]),
          [
            ["processed", -100, "open", 1],
            ["processed", 30, "open", 2],
            ["processed", 5, "closed", 3],
            ["processed", -10, "open", 4],
            ["ignored", 0, "closed", 4],
            ["processed", 0, "closed", 4]
          ]
        )
        assert.deepStrictEqual(
          runner.accept(doesAll(...list)).map(({ status }) => status),
          Array.from(list, () => "replayed")
        )
        const refusal = runner.refuse(doesAll(promoWin("q", 5), adjustment("e", -5000)))
        assert.deepInclude(refusal, { code: "INSUFFICIENT_FUNDS" })
        assert.strictEqual(refusal.details["action_index"], 1)
        assert.strictEqual(runner.player().real, 925)
      })

      it("with many rollbacks of rollbacks stays within the actor's maximum number of store queries", () => {
        const runner = new RuleRunner([makePlayer()], () => true)
        const numbers = Array.from({ length: 12 }, (_, number) => number)
        runner.accept(doesAll(...numbers.map((n) => bet(`b${n}`, 10, { roundId: `${n}` }))))
        runner.accept(doesAll(...numbers.map((n) => rollback(`k${n}`, `b${n}`))))
        const settled = runner.accept(doesAll(...numbers.map((n) => rollback(`kk${n}`, `k${n}`, forced))))
        assert.isTrue(settled.every(({ status }) => status === "processed"))
        assert.strictEqual(runner.player().real, 880)
      })
    })

    describe("a bet whose protocol names no session", () => {
      it("is accepted only if the player once had a session with the provider, however long ago", () => {
        const runner = makeRunner(makePlayer(), makePlayer({ id: 2, providerIds: [] }))
        assert.strictEqual(runner.accept(does(bet("b", 10, { session: "none" }))).status, "processed")
        assert.strictEqual(runner.refuse(does(bet("c", 10, { session: "none" })), 2).code, "NOT_FOUND")
        assert.strictEqual(runner.accept(does(bet("c", 10, { session: session(noon + 1) })), 2).status, "processed")
      })
    })
  })
}

describe("bonus money available for a stake", () => {
  it("is the active bonus's balance if the game counts towards its wagering, and 0 if not", () => {
    const player = makePlayer({ bonus: 70, activeBonus: makeBonus({ contributions: { [roulette.id]: 0 } }) })
    assert.strictEqual(stakeableBonus(player, slot), 70)
    assert.strictEqual(stakeableBonus(player, roulette), 0)
    assert.strictEqual(stakeableBonus(makePlayer({ bonus: 70 }), slot), 0)
  })
})
