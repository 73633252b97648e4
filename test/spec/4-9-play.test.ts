import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, type Casino, dataOf, type Fields, fresh, made, openCasino, staff } from "../kit/Casino.ts"
import { browserCall } from "../kit/HttpCalls.ts"

// Goal: a platform original is played by SPEC 4.9 and DECISIONS 5: bet and win in one step, under all rules of a bet.
// Method: a player's browser over HTTP; outcomes are random and the money is computed from them.

const newDice = (casino: Casino) =>
  made("/games", { provider: casino.studio.slug, external_id: fresh("dice"), name: fresh("Dice"), original: "dice" })

const under = { direction: "under", target: 50 }

/** A player with money and a token, at a dice game. */
const sitAtDice = Effect.fnUntraced(function*(casino: Casino, amount: number) {
  const dice = yield* newDice(casino)
  const player = yield* casino.register()
  if (amount > 0) dataOf(yield* casino.deposit(player.id, amount), 201)
  const { token } = dataOf(yield* casino.post(`/players/${player.id}/session-tokens`), 201)
  const playAt = (gameId: number, body: Fields, headers: { readonly [name: string]: string } = {}) =>
    browserCall(token, `/games/${gameId}/play`, { body, headers })
  const play = (stake: unknown, more: Fields = {}, headers: { readonly [name: string]: string } = {}) =>
    playAt(dice.id, { stake, params: under, ...more }, headers)
  return { id: Number(player.id), dice, token, play, playAt }
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.9 and DECISIONS 5 play", (it) => {
  it.effect("4.9 play: bet and win are booked in one step, with every documented field and matching ledger entries", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* sitAtDice(house, 1000)
      let [balance] = yield* house.balances(seat.id)
      const nonces: Array<number> = []
      for (let round = 0; round < 5; round++) {
        const played = dataOf(yield* seat.play(100, { client_seed: "lucky" }))
        assert.includeMembers(Object.keys(played), [
          "round_id",
          "game_id",
          "stake",
          "payout",
          "multiplier",
          "outcome",
          "currency",
          "balance",
          "bonus_balance",
          "transactions",
          "fairness"
        ])
        assert.deepInclude(played, { game_id: seat.dice.id, stake: 100, currency: "EUR", bonus_balance: 0 })
        assert.strictEqual(played.payout, Math.floor(100 * played.multiplier))
        balance += played.payout - 100
        assert.strictEqual(played.balance, balance)
        assert.deepStrictEqual(
          played.transactions.map((
            { amount, type }: { readonly amount: number; readonly type: string }
          ) => [type, amount]),
          played.payout > 0 ? [["casino_bet", -100], ["casino_win", played.payout]] : [["casino_bet", -100]]
        )
        const ledger = dataOf(yield* house.get(`/players/${seat.id}/transactions?per_page=2`))
        assert.deepStrictEqual(ledger.slice(0, played.transactions.length).toReversed(), played.transactions)
        assert.match(played.fairness.server_seed_hash, /^[0-9a-f]{64}$/)
        assert.strictEqual(played.fairness.client_seed, "lucky")
        nonces.push(played.fairness.nonce)
      }
      assert.deepStrictEqual(nonces, nonces.map((_, index) => (nonces[0] ?? 0) + index))
      assert.deepStrictEqual(yield* house.balances(seat.id), [balance, 0])
    }))

  it.effect("4.5 rule 4 and 7 NOT_AN_ORIGINAL 422: only originals can be played; an unknown game is 404, and invalid fields are refused", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* sitAtDice(house, 1000)
      assertRefused(yield* seat.playAt(house.slots.id, { stake: 1, params: {} }), 422, "NOT_AN_ORIGINAL")
      assertRefused(yield* seat.playAt(999_999_999, { stake: 1, params: {} }), 404, "NOT_FOUND")
      for (const stake of [undefined, 0, -1, 1.5, "1", null]) {
        assertRefused(yield* seat.play(stake), 422, "VALIDATION_FAILED")
      }
      for (const params of [undefined, 5, { direction: "sideways", target: 50 }, { direction: "under", target: 99 }]) {
        assertRefused(yield* seat.play(1, { params }), 422, "VALIDATION_FAILED")
      }
      for (const client_seed of ["", "x".repeat(65), 5]) {
        assertRefused(yield* seat.play(1, { client_seed }), 422, "VALIDATION_FAILED")
      }
      assert.deepStrictEqual(yield* house.balances(seat.id), [1000, 0])
    }))

  it.effect("2.3 a play: token, restriction, limits, bonus and funds are checked in the order of a bet", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* sitAtDice(house, 100)
      const bonus = yield* house.newBonus({ max_bet: 150, default_amount: 40, wagering_multiplier: 100 })
      dataOf(yield* house.grant(seat.id, bonus.id), 201)
      assertRefused(yield* seat.play(141), 402, "INSUFFICIENT_FUNDS", { balance: 100 })
      assertRefused(yield* seat.play(151), 422, "BONUS_INVALID", { max_bet: 150 })
      dataOf(yield* house.limit(seat.id, { casino_max_single_bet: 150 }))
      assertRefused(yield* seat.play(151), 422, "LIMIT_EXCEEDED")
      yield* staff("PATCH", `/players/${seat.id}/restrictions`, { can_bet: false })
      assertRefused(yield* seat.play(151), 422, "PLAYER_RESTRICTED", { reason: "can_bet" })
      yield* house.put(`/players/${seat.id}/status`, { status: "locked" })
      assertRefused(yield* seat.play(151), 401, "INVALID_PLAYER_TOKEN")
      assert.deepStrictEqual(yield* house.balances(seat.id), [100, 40])
    }))

  it.effect("4.9 play: is executed once under an idempotency key, and refused when the feature `originals` is off", () =>
    Effect.gen(function*() {
      const turnkey = yield* openCasino({ cooperation_model: "turnkey" })
      const seat = yield* sitAtDice(turnkey, 1000)
      const key = { "Idempotency-Key": fresh("play") }
      const first = yield* seat.play(100, {}, key)
      const again = yield* seat.play(100, {}, key)
      assert.deepStrictEqual([again.status, again.text, again.headers["idempotent-replayed"]], [
        200,
        first.text,
        "true"
      ])
      assert.deepStrictEqual(yield* turnkey.balances(seat.id), [first.data.balance, 0])
      assertRefused(yield* seat.play(101, {}, key), 422, "IDEMPOTENCY_KEY_REUSED")
      yield* staff("PATCH", `/operators/${turnkey.slug}`, { disabled_features: ["originals"] })
      assertRefused(yield* seat.play(100), 403, "FEATURE_NOT_AVAILABLE", { feature: "originals" })
    }))
})
