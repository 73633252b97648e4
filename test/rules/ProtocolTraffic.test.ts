import { assert, describe, it } from "@effect/vitest"
import { type Action, settleAll, type SettlementPolicy } from "../../src/domain/settlement/Settlement.ts"
import { adjustment, bet, close, makeBonus, makePlayer, noon, rollback, win } from "../kit/Messages.ts"
import { protocols } from "../../src/protocols/Protocols.ts"
import { policies } from "../kit/Policies.ts"
import { checkLedger, does, mustEqual, RuleRunner } from "../kit/RuleRunner.ts"
import { runs } from "../kit/Runs.ts"
import { checkBonusMoney, checkCounters, forgetting } from "../kit/SettlementChecks.ts"
import { answerOf, SettlementModel } from "../kit/SettlementModel.ts"

// Goal: for any order, duplication and loss of a vendor's messages of one round, the rules answer as the plain model
// does. Method: the messages as each protocol's codec makes them, in every sequence of five of them; of four in the run per change.

type Messages = { readonly [name: string]: Action }

/** Messages of a round in each protocol. */
const rounds: { readonly [protocol in keyof typeof policies]: (policy: SettlementPolicy) => Messages } = {
  pitboss: (policy) => ({
    bet: bet("b", 40, { policy }),
    win: win("w", "b", 50, { policy, closesRound: true }),
    "win of the round": win("v", null, 20, { policy }),
    "rollback of the bet": rollback("rb", "b", { policy }),
    "rollback of the rollback": rollback("rr", "rb", { policy })
  }),
  hub88: (policy) => ({
    bet: bet("b", 40, { policy }),
    "second bet": bet("c", 30, { policy }),
    win: win("w", "b", 50, { policy, closesRound: true }),
    "rollback of the bet": rollback("rb", "b", { policy }),
    "another rollback of the bet": rollback("sb", "b", { policy }),
    "rollback of the win": rollback("rw", "w", { policy })
  }),
  caleta: (policy) => ({
    bet: bet("b", 40, { policy }),
    "the bet with another amount": bet("b", 41, { policy }),
    "the bet in another round": bet("b", 40, { policy, roundId: "other" }),
    win: win("w", "b", 50, { policy, closesRound: true }),
    "the win of another bet": win("w", "c", 50, { policy }),
    "rollback of the bet": rollback("rb", "b", { policy, closesRound: true })
  }),
  // one id for the settlement of a debit: of a credit and a cancel the first decides
  evolution: (policy) => ({
    debit: bet("b", 40, { policy, closesRound: "when_settled" }),
    credit: win("sb", "b", 50, { policy, closesRound: "when_settled" }),
    cancel: rollback("sb", "b", { policy, closesRound: "when_settled" }),
    "second debit": bet("c", 30, { policy, closesRound: "when_settled" }),
    "second credit": win("sc", "c", 0, { policy, closesRound: "when_settled" }),
    "second cancel": rollback("sc", "c", { policy, closesRound: "when_settled" })
  }),
  pragmatic: (policy) => ({
    bet: bet("b", 40, { policy }),
    "second bet": bet("c", 30, { policy }),
    result: win("w", null, 50, { policy }),
    refund: rollback("rb", "b", { policy }),
    endRound: close("round", undefined, { policy }),
    adjustment: adjustment("a", -30, { policy })
  }),
  // the id of a rollback is derived from its target, that of a refund is not
  slotegrator: (policy) => ({
    bet: bet("b", 40, { policy }),
    win: win("w", null, 50, { policy }),
    refund: rollback("rb", "b", { policy }),
    "rollback of the bet": rollback("r:b", "b", { policy, idPrefix: "r:" }),
    "bet of another round": bet("c", 50, { policy, roundId: "other" }),
    "rollback of the win": rollback("r:w", "w", { policy, closesRound: true, idPrefix: "r:" }),
    "rollback of the refund": rollback("r:rb", "rb", { policy, idPrefix: "r:" })
  }),
  a8r: (policy) => ({
    bet: bet("b", 40, { policy }),
    win: win("w", null, 50, { policy, closesRound: true }),
    "win of the bet": win("v", "b", 20, { policy }),
    "rollback of the bet": rollback("rb", "b", { policy, closesRound: true }),
    "rollback of the win": rollback("rw", "w", { policy }),
    "rollback of the rollback": rollback("rr", "rb", { policy })
  }),
  gcp: (policy) => ({
    bet: bet("b", 40, { policy }),
    "the bet with another amount": bet("b", 41, { policy }),
    win: win("w", null, 50, { policy, closesRound: true }),
    "rollback of the bet": rollback("rb", "b", { policy }),
    "rollback of the win": rollback("rw", "w", { policy }),
    "rollback of the rollback": rollback("rr", "rb", { policy })
  }),
  // the id of a rollback is derived from its target
  spribe: (policy) => ({
    withdraw: bet("b", 40, { policy }),
    "the withdrawal with another amount": bet("b", 41, { policy }),
    deposit: win("w", "b", 50, { policy, closesRound: "when_settled" }),
    "second deposit": win("v", "b", 20, { policy, closesRound: "when_settled" }),
    "rollback of the withdrawal": rollback("rb", "b", { policy, closesRound: "when_settled" }),
    "rollback of the deposit": rollback("rw", "w", { policy, closesRound: "when_settled" })
  })
}

const second = { ...makeBonus({ id: 502, amount: 30, wagerRequirement: 60 }), interrupted: null }

const players = {
  "real money": makePlayer({ real: 60 }),
  "a mixed stake": makePlayer({ real: 15, bonus: 100, activeBonus: makeBonus() }),
  "a bonus that converts": makePlayer({ real: 10, bonus: 40, activeBonus: makeBonus({ wagerRequirement: 40 }) }),
  "the last money of a bonus": makePlayer({
    real: 0,
    bonus: 40,
    activeBonus: makeBonus({ amount: 40 }),
    pendingBonuses: [second]
  }),
  "a bonus that converts within its cap": makePlayer({
    real: 0,
    bonus: 50,
    activeBonus: makeBonus({ amount: 50, wagerRequirement: 40, maxConversion: 25 }),
    pendingBonuses: [second]
  })
}

const sequence = <A>(all: ReadonlyArray<A>, length: number, index: number): ReadonlyArray<A> =>
  Array.from({ length }, (_, place) => all[Math.floor(index / all.length ** place) % all.length]!)

const isProtocol = (name: string): name is keyof typeof policies => name in policies

describe("the settlement policies of the protocols", () => {
  for (const { name, policy } of protocols) {
    it(`are the ones that are tested against the model: ${name}`, () => {
      assert.deepStrictEqual(policy, isProtocol(name) ? policies[name] : undefined)
    })
  }
})

for (const [protocol, policy] of Object.entries(policies)) {
  describe(`every order of a round's messages agrees with the model under the policy of ${protocol}`, () => {
    if (!isProtocol(protocol)) return
    const messages = Object.entries({
      ...rounds[protocol](policy),
      "end of the round": close("round", undefined, { policy })
    })

    for (const [name, player] of Object.entries(players)) {
      const length = name === "real money" ? runs(4, 5) : runs(3, 4)
      it(`in sequences of ${length}, for ${name}`, () => {
        for (let index = 0; index < messages.length ** length; index++) {
          const sent = sequence(messages, length, index)
          // in turn: players kept in memory and passivated ones
          const runner = new RuleRunner([player], forgetting(index % 2 === 0 ? "all" : "nothing", index))
          const model = new SettlementModel([player], noon)
          for (const [kind, action] of sent) {
            const answer = runner.ask(does(action))
            mustEqual(
              answerOf(answer),
              model.settle(1, action),
              () => `${kind} in ${sent.map(([kind]) => kind).join(", ")}`
            )
          }
          runner.checkMemory()
          const { bonus, real, walletSeq } = runner.player()
          mustEqual({ real, bonus, walletSeq }, model.balances(1))
          checkLedger(runner.store, [player])
          checkBonusMoney(runner, [player])
          checkCounters(runner, model, 1)
        }
      })
    }

    it("in lists, settled entirely or not at all", () => {
      const length = runs(3, 4)
      for (const player of [players["a mixed stake"], players["the last money of a bonus"]]) {
        for (let index = 0; index < messages.length ** length; index++) {
          const sent = sequence(messages, length, index).map(([, action]) => action)
          const runner = new RuleRunner([player], forgetting(index % 2 === 0 ? "all" : "nothing", index))
          const model = new SettlementModel([player], noon)
          // the first one or two are sent alone
          const alone = 1 + index % 2
          for (const action of sent.slice(0, alone)) {
            runner.ask(does(action))
            model.settle(1, action)
          }
          const list = sent.slice(alone)
          const answer = runner.ask((player, context) => settleAll(player, list, context))
          mustEqual(
            "reply" in answer ? answer.reply.map((reply) => answerOf({ reply })) : answer.refusal.code,
            model.batch(1, list),
            () => JSON.stringify(sent)
          )
          const { bonus, real, walletSeq } = runner.player()
          mustEqual({ real, bonus, walletSeq }, model.balances(1))
          checkLedger(runner.store, [player])
        }
      }
    })
  })
}
