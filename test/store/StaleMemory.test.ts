import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { readLimitChanges } from "../../src/domain/limit/LimitChanges.ts"
import type { PaymentTransitionName } from "../../src/domain/payment/PaymentTransitions.ts"
import type { Refusal } from "../../src/domain/Refusal.ts"
import { ResponsibleGaming } from "../../src/features/responsibleGaming/ResponsibleGaming.ts"
import { Approvals } from "../../src/features/payments/Approvals.ts"
import { Payments } from "../../src/features/payments/Payments.ts"
import { PlayerAccounts } from "../../src/features/players/PlayerAccounts.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import { layerCapabilities } from "../../src/service.ts"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { noon } from "../kit/Messages.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

// Goal: decisions of one service about a player bind another one with stale state in memory. Method: two
// services on one database; the second one loads the player, the first one changes it, and the second one gets requests
// that are no longer allowed. None may be accepted, and the ledger verifies at the end.

const answering = { claim: undefined, render: () => ({ status: 200, body: "" }) }
const actor = "key:pk"

const live = LedgerAudit.layer.pipe(
  Layer.provideMerge(layerTestService()),
  Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon)))
)

/** A service with what the tests ask of it. */
const handsOf = (
  context: Context.Context<Approvals | Bonuses | Payments | PlayerAccounts | ResponsibleGaming | Wallet>
) => ({
  accounts: Context.get(context, PlayerAccounts),
  approvals: Context.get(context, Approvals),
  bonuses: Context.get(context, Bonuses),
  gaming: Context.get(context, ResponsibleGaming),
  payments: Context.get(context, Payments),
  wallet: Context.get(context, Wallet)
})

let count = 0

/** An operator whose player both services have in memory, with 10.00; deposits and withdrawals through any of them. */
const open = Effect.fnUntraced(function*(slug: string) {
  const sql = yield* SqlClient.SqlClient
  const first = handsOf(
    yield* Effect.context<Approvals | Bonuses | Payments | PlayerAccounts | ResponsibleGaming | Wallet>()
  )
  const second = handsOf(yield* Layer.build(Layer.fresh(layerCapabilities.pipe(Layer.provide(layerSingleNode)))))
  const operator = yield* addOperator(slug)
  yield* sql`INSERT INTO payment_methods (id, operator_id, code, name, currencies, created_at)
    VALUES (${operator.id + 1}, ${operator.id}, 'bank', 'Bank', '{EUR}', now())`
  const deposit = ({ wallet }: typeof first, playerId: number, amount: number) =>
    wallet.deposit(
      operator,
      playerId,
      { amount, externalReference: `d${count++}`, paymentMethod: null, info: null, notes: null },
      answering
    )
  const withdraw = ({ payments }: typeof first, playerId: number, amount: number) =>
    payments.withdraw(
      operator,
      playerId,
      { amount, externalReference: null, paymentMethod: "bank", info: null, notes: null, bankName: null },
      answering
    )
  const addRich = Effect.fnUntraced(function*(username: string) {
    const playerId = yield* addPlayer(operator, username)
    yield* deposit(first, playerId, 1000)
    yield* second.wallet.view(operator, playerId)
    return playerId
  })
  return { addRich, deposit, first, operator, playerId: yield* addRich("ada"), second, sql, withdraw }
})

/** Retries retryable refusals, which a slow machine may cause. */
const persistently = <A, E extends Refusal, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.exit(Effect.retry(effect, { while: ({ code }) => code === "TRY_AGAIN", times: 20 }))

/** Lets time pass meanwhile: a service that cannot tell the outcome of a commit, or finds a row held, asks again after a pause. */
const whileTimePasses = <A, E, R>(scene: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(
    scene,
    Effect.forever(Effect.andThen(TestClock.withLive(Effect.sleep("10 millis")), TestClock.adjust("50 millis")))
  )

/** Code and reason of a refusal. */
const refusalOf = <A, E extends Refusal, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ code, details }) => [code, details["reason"] ?? details["limit"] ?? null])

layer(live)("a service whose memory is out of date", (it) => {
  it.effect("refuses deposits and bonus grants after another service's exclusion, and still pays out", () =>
    Effect.gen(function*() {
      const { deposit, first, operator, playerId, second, sql, withdraw } = yield* open("excluded")
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days,
          created_at, updated_at)
        VALUES (${operator.id + 2}, ${operator.id}, 'Reload', 'no_deposit', 50, 1, 7, now(), now())`
      const request = { period: "6_months" as const, until: null, type: null, actor }
      yield* first.gaming.selfExclude(operator.id, playerId, request, answering)
      assert.deepStrictEqual(yield* refusalOf(deposit(second, playerId, 5)), ["PLAYER_RESTRICTED", "self_exclusion"])
      const grant = second.bonuses.grant(
        operator.id,
        playerId,
        { bonusId: operator.id + 2, amount: null, note: null },
        answering
      )
      assert.deepStrictEqual(yield* refusalOf(grant), ["BONUS_INVALID", "self_exclusion"])
      yield* withdraw(second, playerId, 1000)
      assert.strictEqual((yield* second.wallet.view(operator, playerId)).player.real, 0)
    }))

  it.effect("applies a limit, a lock and a balance that another service has changed", () =>
    Effect.gen(function*() {
      const { deposit, first, operator, playerId, second, withdraw } = yield* open("limited")
      const changes = readLimitChanges({ max_daily_deposit: 1400 })
      assert(!("_tag" in changes))
      yield* first.gaming.setLimits(operator.id, playerId, { changes, coolingOffHours: 24, actor })
      yield* deposit(first, playerId, 300)
      assert.deepStrictEqual(yield* refusalOf(deposit(second, playerId, 101)), ["LIMIT_EXCEEDED", "max_daily_deposit"])
      yield* deposit(second, playerId, 100)
      yield* withdraw(first, playerId, 900)
      // the second one has 1400 in memory, of which 500 are left
      assert.deepStrictEqual(yield* refusalOf(withdraw(second, playerId, 501)), ["INSUFFICIENT_FUNDS", null])
      yield* first.accounts.setStatus(operator.id, playerId, { status: "locked", reason: null, actor })
      assert.deepStrictEqual(yield* refusalOf(withdraw(second, playerId, 500)), ["PLAYER_RESTRICTED", "locked"])
    }))

  it.effect("refuses a transition of a payment that another service has already moved", () =>
    Effect.gen(function*() {
      const { addRich, first, second, withdraw } = yield* open("moved")
      const other = (hands: typeof first) => hands === first ? second : first
      const move = ({ approvals }: typeof first, paymentId: number, name: PaymentTransitionName) =>
        approvals.apply({ paymentId, transition: name, actor: "staff:1", reason: null })
      const moves: ReadonlyArray<readonly [PaymentTransitionName, PaymentTransitionName]> = [
        ["cancel", "approve"],
        ["cancel", "cancel"],
        ["reject", "cancel"],
        ["approve", "cancel"],
        ["approve", "approve"]
      ]
      for (const hands of [first, second]) {
        for (const [one, another] of moves) {
          const playerId = yield* addRich(`${hands === first ? "one" : "two"}-${one}-${another}`)
          const { payment } = yield* withdraw(first, playerId, 400)
          yield* move(hands, payment.id, one)
          const [code] = yield* refusalOf(move(other(hands), payment.id, another))
          assert.strictEqual(code, "PAYMENT_REQUEST_INVALID", `${one}, then ${another}`)
          // at the same moment: one of the two succeeds, whichever is faster
          const { payment: contested } = yield* withdraw(first, playerId, 100)
          const ends = yield* Effect.all([
            persistently(move(hands, contested.id, "cancel")),
            persistently(move(other(hands), contested.id, "reject"))
          ], { concurrency: 2 })
          assert.strictEqual(ends.filter(({ _tag }) => _tag === "Success").length, 1)
        }
      }
    }))

  it.effect("redeems a promo code at most its maximum number of times", () =>
    Effect.gen(function*() {
      const { addRich, first, operator, second, sql } = yield* open("promo")
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days,
          created_at, updated_at)
        VALUES (${operator.id + 2}, ${operator.id}, 'Reload', 'no_deposit', 50, 1, 7, now(), now())`
      yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, max_redemptions, created_at)
        VALUES (${operator.id + 3}, ${operator.id}, 'FEW', ${operator.id + 2}, 5, now())`
      const players = yield* Effect.forEach(Array.from({ length: 8 }, (_, n) => `p${n}`), addRich)
      // every player through both services at once
      const exits = yield* whileTimePasses(Effect.forEach(
        players.flatMap((playerId) => [first, second].map((hands) => [hands, playerId] as const)),
        ([{ bonuses }, playerId]) => persistently(bonuses.redeem(operator.id, playerId, "few")),
        { concurrency: "unbounded" }
      ))
      assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 5)
      const rows = yield* sql`SELECT c.redemptions, count(DISTINCT r.player_id)::integer AS players
        FROM promo_codes c JOIN promo_redemptions r ON r.promo_code_id = c.id WHERE c.id = ${
        operator.id + 3
      } GROUP BY c.id`
      assert.deepStrictEqual(rows.map(({ players, redemptions }) => [redemptions, players]), [[5, 5]])
    }))

  it.effect("leaves a ledger that the audit finds consistent", () =>
    Effect.gen(function*() {
      const audit = yield* LedgerAudit
      assert.deepStrictEqual((yield* audit.verify(undefined)).violations, [])
    }))
})
