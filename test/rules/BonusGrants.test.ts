import { assert, describe, it } from "@effect/vitest"
import {
  applyDueBonusesStep,
  bonusIn,
  cancelBonusStep,
  type CatalogueBonus,
  type Grant,
  grantStep,
  maxPendingBonuses,
  type PromoCode,
  redeemStep
} from "../../src/domain/bonus/BonusGrants.ts"
import { parseFactor } from "../../src/domain/CurrencyConversion.ts"
import { noRestrictions, type Player } from "../../src/domain/state/Player.ts"
import { RuleRunner } from "../kit/RuleRunner.ts"
import { day, makePlayer, minute, noon, welcome } from "../kit/Messages.ts"

// SPEC 3.4 and 4.6 with hand-checkable numbers. Everything runs twice: with the player kept in memory, and with passivation
// after every command, so that loaded state must equal decided state.

const grant = (terms: Partial<CatalogueBonus> = {}, more: Partial<Grant> = {}) =>
  grantStep({ bonus: { ...welcome, ...terms }, amount: null, note: null, ...more })

const promo = (fields: Partial<PromoCode> = {}): PromoCode => ({
  id: 70,
  code: "WELCOME10",
  bonus: welcome,
  isActive: true,
  expiresAt: null,
  isUsedUp: false,
  isRedeemed: false,
  ...fields
})

const cancel = (id: number) => cancelBonusStep({ id, reason: "asked for", actor: "staff:7" })

for (const remembers of [true, false]) {
  const makeRunner = (player: Partial<Player> = {}) => new RuleRunner([makePlayer(player)], () => !remembers)

  const eventsOf = (runner: RuleRunner) =>
    runner.store.tables().events.map(({ data, type }) => {
      const { id, result, state } = Object(data["bonus"])
      return [type, id, state, result]
    })

  const entriesOf = (runner: RuleRunner) =>
    runner.store.tables().entries.map((
      { amount, playerBonusId, type, wallet }
    ) => [type, wallet, amount, playerBonusId])

  describe(`bonus grants, actor ${remembers ? "kept in memory" : "passivated after every message"}`, () => {
    it("a grant by staff is in the audit log, and its note is stored under the staff member", () => {
      const runner = makeRunner()
      const bonus = runner.accept(grant({}, { note: "sorry", grantedBy: "staff:7" }))
      const { audit, bonuses, notes } = runner.store.tables()
      assert.deepStrictEqual(bonuses.get(bonus.id)?.state, "activated")
      assert.deepStrictEqual(audit.map(({ id: _, ...line }) => line), [{
        at: noon,
        actor: "staff:7",
        action: "bonus.grant",
        operatorId: 1,
        playerId: 1,
        subject: `player_bonus:${bonus.id}`,
        before: null,
        after: { bonus_id: 5, amount: 500, state: "activated" },
        reason: "sorry"
      }])
      assert.deepStrictEqual(notes.map(({ id: _, ...note }) => note), [
        { operatorId: 1, playerId: 1, author: "staff:7", text: "sorry", createdAt: noon }
      ])
      // an operator's grant is identified by the bonus alone
      runner.accept(grant({}, { note: "hello" }))
      runner.accept(grant({}, { grantedBy: "staff:7" }))
      const after = runner.store.tables()
      assert.deepStrictEqual([after.audit.length, after.notes.length, after.bonuses.size], [2, 1, 3])
    })

    it("3.4: a grant is credited and active at once", () => {
      const runner = makeRunner()
      const bonus = runner.accept(grant())
      assert.deepInclude(bonus, {
        bonusId: 5,
        state: "activated",
        result: null,
        amount: 500,
        wagerRequirement: 1000,
        startedAt: noon,
        expiresAt: noon + 7 * day,
        finishedAt: null
      })
      assert.deepInclude(runner.player(), { real: 1000, bonus: 500, walletSeq: 1, entrySeq: 1, bonusGrants: { 5: 1 } })
      assert.deepStrictEqual(entriesOf(runner), [["bonus_correction_up", "bonus", 500, bonus.id]])
      assert.deepStrictEqual(eventsOf(runner), [["bonus.granted", bonus.id, "activated", null]])
    })

    it("3.4: a grant without wagering is paid out at once, even while another bonus is active", () => {
      const runner = makeRunner()
      const running = runner.accept(grant())
      const cash = runner.accept(grant({ id: 6, type: "cash", wageringMultiplier: 0, defaultAmount: 70 }))
      assert.deepInclude(cash, {
        state: "finished",
        result: "converted",
        converted: 70,
        forfeited: 0,
        finishedAt: noon
      })
      assert.deepInclude(runner.player(), { real: 1070, bonus: 500, walletSeq: 2 })
      assert.strictEqual(runner.player().activeBonus?.id, running.id)
      assert.deepStrictEqual(entriesOf(runner).slice(1), [
        ["bonus_correction_up", "bonus", 70, cash.id],
        ["bonus_conversion", "bonus", -70, cash.id],
        ["bonus_conversion", "real", 70, cash.id]
      ])
      assert.deepStrictEqual(eventsOf(runner).slice(1), [
        ["bonus.granted", cash.id, "activated", null],
        ["bonus.completed", cash.id, "finished", "converted"]
      ])
    })

    it("3.4: a read of the player expires a bonus whose time is over, and changes nothing a millisecond earlier", () => {
      const runner = makeRunner()
      runner.accept(grant())
      runner.accept(grant({ defaultAmount: 60 }))
      runner.now = noon + 7 * day - 1
      const entries = runner.store.tables().entries.length
      runner.accept(applyDueBonusesStep)
      assert.strictEqual(runner.store.tables().entries.length, entries)
      runner.now += 1
      assert.deepInclude(runner.accept(applyDueBonusesStep), { bonus: 60, walletSeq: 2 })
    })

    it("4.6: a grant is refused to a barred player, and for a bonus that is disabled or has no exchange rate to the player's currency", () => {
      const reasons = [
        [{ status: "locked" }, "locked"],
        [{ status: "closed" }, "closed"],
        [{ restrictions: { ...noRestrictions, excludedFromBonuses: true } }, "excluded_from_bonuses"],
        [{ exclusion: { type: "self_exclusion", since: 0, until: noon + day } }, "self_exclusion"],
        [{ exclusion: { type: "time_out", since: 0, until: null } }, "time_out"]
      ] as const
      for (const [player, reason] of reasons) {
        const refusal = makeRunner(player).refuse(grant())
        assert.deepStrictEqual([refusal.code, refusal.details["reason"]], ["BONUS_INVALID", reason])
      }
      const runner = makeRunner({ exclusion: { type: "time_out", since: 0, until: noon } })
      assert.strictEqual(runner.refuse(grant({ isActive: false })).details["reason"], "inactive")
      // amounts of a bonus that no rate could convert
      assert.strictEqual(runner.refuse(grant({ currency: "SEK" })).details["reason"], "exchange_rate")
      assert.strictEqual(
        runner.refuse(grant({ currency: "SEK", maxBet: 10 }, { amount: 20 })).details["reason"],
        "exchange_rate"
      )
      assert.strictEqual(runner.accept(grant({ currency: "SEK" }, { amount: 20 })).amount, 20)
    })

    it("4.6: the amounts of a bonus are converted to the player's currency, rounded down", () => {
      const bonus = { ...welcome, maxBet: 100, currency: "GBP" }
      const inEuros = (rate: string) => bonusIn(bonus, "EUR", parseFactor(rate))
      assert.deepInclude(inEuros("0.86"), { defaultAmount: 581, maxBet: 116, currency: "EUR" })
      assert.deepInclude(inEuros("600"), { defaultAmount: 0, maxBet: 1 })
      assert.strictEqual(bonusIn({ ...bonus, maxBet: 0 }, "EUR", parseFactor("0.86")).maxBet, 0)
      assert.deepStrictEqual(bonusIn(bonus, "EUR", undefined), bonus)
      assert.deepStrictEqual(bonusIn(bonus, "GBP", undefined), bonus)
      const runner = makeRunner()
      const of = (rate: string) => grantStep({ bonus: inEuros(rate), amount: null, note: null })
      assert.deepInclude(runner.accept(of("0.86")), { amount: 581, wagerRequirement: 1162, maxBet: 116 })
      assert.strictEqual(runner.refuse(of("600")).details["reason"], "amount")
    })

    it("4.6: a grant is refused for an amount that is not an exact positive integer, and when the player's bonus queue is full", () => {
      const runner = makeRunner()
      for (const amount of [0, -5, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER / 2]) {
        assert.strictEqual(runner.refuse(grant({}, { amount })).details["reason"], "amount")
      }
      for (let times = 0; times <= maxPendingBonuses; times++) runner.accept(grant())
      assert.strictEqual(runner.refuse(grant()).details["reason"], "max_pending")
      assert.strictEqual(runner.accept(grant({ wageringMultiplier: 0 })).state, "finished")
    })

    it("active and pending bonuses can be cancelled once, with a line in the audit log", () => {
      const runner = makeRunner()
      const first = runner.accept(grant())
      const second = runner.accept(grant())
      assert.deepInclude(runner.accept(cancel(second.id)), { state: "finished", result: "cancelled", forfeited: 0 })
      assert.deepInclude(runner.accept(cancel(first.id)), { state: "finished", result: "cancelled", forfeited: 500 })
      for (const { id } of [first, second]) assert.strictEqual(runner.refuse(cancel(id)).code, "BONUS_INVALID")
      assert.strictEqual(runner.refuse(cancel(4)).code, "BONUS_INVALID")
      assert.deepInclude(runner.player(), { bonus: 0, activeBonus: null, pendingBonuses: [], walletSeq: 2 })
      assert.deepStrictEqual(
        runner.store.tables().audit.map(({ action, actor, reason, subject }) => [action, actor, subject, reason]),
        [second, first].map(({ id }) => ["bonus.cancel", "staff:7", `player_bonus:${id}`, "asked for"])
      )
    })

    it("4.6: a promo code grants its bonus, once per player", () => {
      const runner = makeRunner()
      const { bonus, code, redemptionId } = runner.accept(redeemStep(promo()))
      assert.deepStrictEqual([code, bonus.state, bonus.bonusId], ["WELCOME10", "activated", 5])
      assert.deepStrictEqual(runner.store.tables().redemptions, [{
        id: redemptionId,
        promoCodeId: 70,
        operatorId: 1,
        playerId: 1,
        playerBonusId: bonus.id,
        createdAt: noon
      }])
      // the code was looked up before: the commit finds that it has changed
      const refusal = runner.refuse(redeemStep(promo()))
      assert.deepStrictEqual([refusal.code, refusal.details], ["PROMO_CODE_INVALID", { reason: "used" }])
    })

    it("4.6: a promo code that has expired, is disabled or is used up is refused", () => {
      const runner = makeRunner()
      const reasonOf = (fields: Partial<PromoCode>) => {
        const { code, details } = runner.refuse(redeemStep(promo(fields)))
        return [code, details["reason"]]
      }
      assert.deepStrictEqual(reasonOf({ expiresAt: noon }), ["PROMO_CODE_INVALID", "expired"])
      assert.deepStrictEqual(reasonOf({ isActive: false }), ["PROMO_CODE_INVALID", "unknown"])
      assert.deepStrictEqual(reasonOf({ isUsedUp: true }), ["PROMO_CODE_INVALID", "exhausted"])
      assert.deepStrictEqual(reasonOf({ bonus: { ...welcome, isActive: false } }), ["BONUS_INVALID", "inactive"])
      assert.strictEqual(runner.accept(redeemStep(promo({ expiresAt: noon + minute }))).bonus.state, "activated")
    })
  })
}
