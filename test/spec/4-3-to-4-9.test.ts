import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { made } from "../kit/Backoffice.ts"
import { hourMs, pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"
import {
  type Answer,
  browserCall,
  type Fields,
  fresh,
  House,
  layerCasinos,
  move,
  openCasino,
  staff
} from "../kit/Casino.ts"
import { assertRefused, dataOf, noon } from "../kit/PublicApi.ts"

// Goal: wallet, payments, games, bonuses and player endpoints keep the rows of SPEC 4.3 to 4.9 that no other file holds them to.
// Method: over HTTP, each row with what it lets through and what it refuses.

const assertField = (answer: Answer, field: string, about: unknown) => {
  assertRefused(answer, 422, "VALIDATION_FAILED")
  assert.deepStrictEqual(Object.keys(answer.details), [field], JSON.stringify(about))
}

/** The types of SPEC 2.4. */
const entryTypes = [
  "deposit",
  "withdrawal",
  "withdrawal_rejection",
  "correction_up",
  "correction_down",
  "bonus_correction_up",
  "bonus_correction_down",
  "bonus_conversion",
  "casino_bet",
  "casino_win",
  "casino_rollback",
  "loyalty_exchange",
  "tournament_prize",
  "chargeback"
]

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.3 wallet", (it) => {
  it.effect("4.3 each type of entry of 2.4 is found by its name, in its wallet, with its sign", () =>
    Effect.gen(function*() {
      const house = yield* House
      const seat = yield* house.sit(1000)
      const path = `/players/${seat.id}/transactions?per_page=100`
      const held = dataOf(yield* house.withdraw(seat.id, 100), 201)
      yield* move(held.id, "reject")
      yield* made(`/players/${seat.id}/corrections`, { amount: 50, reason: "up" })
      yield* made(`/players/${seat.id}/corrections`, { amount: -20, reason: "down" })
      yield* made(`/players/${seat.id}/corrections`, { wallet: "bonus", amount: 30, reason: "up" })
      yield* made(`/players/${seat.id}/corrections`, { wallet: "bonus", amount: -30, reason: "down" })
      const cash = yield* house.newBonus({ type: "cash", wagering_multiplier: 0, default_amount: 5 })
      dataOf(yield* house.grant(seat.id, cash.id), 201)
      const bet = dataOf(yield* seat.bet(10))
      const won = dataOf(yield* seat.win(bet.transaction_id, 7, { round_closed: false }))
      dataOf(yield* seat.rollback(won.transaction_id))
      const prize = { request_id: "p", transaction_id: fresh("p"), player_ref: seat.ref, amount: 9, currency: "EUR" }
      dataOf(yield* house.tell("promo-win", { ...prize, kind: "tournament", campaign_id: "c" }))
      const [first] = dataOf(yield* house.get(`/payments?player_id=${seat.id}&type=deposit`))
      yield* move(first.id, "chargeback")

      const expected: { readonly [type: string]: ReadonlyArray<readonly [wallet: string, amount: number]> } = {
        deposit: [["real", 1000]],
        withdrawal: [["real", -100]],
        withdrawal_rejection: [["real", 100]],
        correction_up: [["real", 50]],
        correction_down: [["real", -20]],
        bonus_correction_up: [["bonus", 5], ["bonus", 30]],
        bonus_correction_down: [["bonus", -30]],
        bonus_conversion: [["real", 5], ["bonus", -5]],
        casino_bet: [["real", -10]],
        casino_win: [["real", 7]],
        casino_rollback: [["real", -7]],
        loyalty_exchange: [],
        tournament_prize: [["real", 9]],
        chargeback: [["real", -1000]]
      }
      assert.deepStrictEqual(Object.keys(expected), entryTypes)
      interface Entry {
        readonly wallet: string
        readonly amount: number
        readonly balance_after: number
      }
      const shown = (entries: ReadonlyArray<Entry>): ReadonlyArray<readonly [wallet: string, amount: number]> =>
        entries.map(({ amount, wallet }) => [wallet, amount])
      for (const [type, entries] of Object.entries(expected)) {
        assert.deepStrictEqual(shown(dataOf(yield* house.get(`${path}&type=${type}`))), entries, type)
      }
      const all: ReadonlyArray<Entry> = dataOf(yield* house.get(path))
      for (const wallet of ["real", "bonus"]) {
        const own = dataOf(yield* house.get(`${path}&wallet=${wallet}`))
        assert.deepStrictEqual(own, all.filter((entry) => entry.wallet === wallet))
        // each entry carries the balance after it
        const oldestFirst: ReadonlyArray<Entry> = own.toReversed()
        let balance = 0
        for (const entry of oldestFirst) assert.strictEqual(entry.balance_after, balance += entry.amount)
      }
      const { wallets } = dataOf(yield* house.get(`/players/${seat.id}/wallet`))
      assert.deepStrictEqual(
        wallets.map(({ balance, currency, type }: Fields) => [type, balance, currency]),
        [["real", all.find(({ wallet }) => wallet === "real")?.balance_after, "EUR"], ["bonus", 0, "EUR"]]
      )
    }))

  it.effect("4.3 transactions: both bounds of time are included, and each wallet says when it changed last", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* House
      const { id } = yield* house.register()
      for (const amount of [1, 2, 3]) {
        dataOf(yield* house.deposit(id, amount), 201)
        yield* pass(secondMs)
      }
      const at = (seconds: number) => new Date(Date.parse(noon) + seconds * secondMs).toISOString()
      const rows: ReadonlyArray<readonly [query: string, amounts: ReadonlyArray<number>]> = [
        [`created_from=${at(1)}`, [3, 2]],
        [`created_from=${at(1)}&created_to=${at(1)}`, [2]],
        [`created_to=${at(1)}`, [2, 1]],
        [`created_from=${at(3)}`, []]
      ]
      for (const [query, amounts] of rows) {
        const { data } = yield* house.get(`/players/${id}/transactions?${query}`)
        assert.deepStrictEqual(data.map(({ amount }: { readonly amount: number }) => amount), amounts, query)
      }
      const { wallets } = dataOf(yield* house.get(`/players/${id}/wallet`))
      assert.deepStrictEqual(wallets.map(({ updated_at }: Fields) => updated_at), [at(2), noon])
      const bad = [["type", "gift"], ["wallet", "cash"], ["created_from", "1"], ["created_to", "2026-02-30T00:00:00Z"]]
      for (const [field = "", value] of bad) {
        assertField(yield* house.get(`/players/${id}/transactions?${field}=${value}`), field, value)
      }
    })))
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.4 payments", (it) => {
  it.effect("4.4 payment-methods: active ones for the operator currency, with every field of 2.6", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ currency: "SEK" })
      yield* made("/payment-methods", {
        operator: casino.slug,
        code: "swish",
        name: "Swish",
        currencies: ["SEK"],
        supports_withdrawal: false,
        min_deposit: 100,
        max_deposit: 5000,
        min_withdrawal: 1,
        max_withdrawal: 2
      })
      const off = yield* made("/payment-methods", { operator: casino.slug, code: "off", currencies: ["SEK"] })
      yield* staff("PATCH", `/payment-methods/${off.id}`, { active: false })
      yield* made("/payment-methods", { operator: casino.slug, code: "euro", currencies: ["EUR"] })
      const methods = dataOf(yield* casino.get("/payment-methods"))
      assert.deepStrictEqual(methods.map(({ code }: { readonly code: string }) => code), ["bank", "swish"])
      assert.deepStrictEqual(methods[1], {
        code: "swish",
        name: "Swish",
        supports_deposit: true,
        supports_withdrawal: false,
        min_deposit: 100,
        max_deposit: 5000,
        min_withdrawal: 1,
        max_withdrawal: 2,
        currencies: ["SEK"]
      })
    }))

  it.effect("4.4 record-deposit rules 1 to 3: credited at once, 201 then 200 for the same reference, refused for another content", () =>
    Effect.gen(function*() {
      const house = yield* House
      const [{ id }, { id: other }] = [yield* house.register(), yield* house.register()]
      const external_reference = fresh("psp-")
      const first = yield* house.deposit(id, 2500, { external_reference, info: "shown", notes: "kept" })
      assert.deepStrictEqual([first.status, first.data.status], [201, "paid"])
      assert.deepStrictEqual(yield* house.balances(id), [2500, 0])
      // what else the body says does not count
      const again = yield* house.deposit(id, 2500, { external_reference, info: "other" })
      assert.deepStrictEqual([again.status, again.data], [200, first.data])
      assert.notProperty(first.data, "notes")
      for (
        const answer of [
          yield* house.deposit(id, 2501, { external_reference }),
          yield* house.deposit(other, 2500, { external_reference }),
          yield* house.withdraw(id, 2500, { external_reference })
        ]
      ) assertRefused(answer, 409, "DUPLICATE_TRANSACTION", { external_reference })
      assert.deepStrictEqual([yield* house.balances(id), yield* house.balances(other)], [[2500, 0], [0, 0]])
    }))

  it.effect("4.4 bounds of a method: exactly at its least and its most, one unit beyond refused, for either direction", () =>
    Effect.gen(function*() {
      const house = yield* House
      const code = fresh("m")
      const deposits = { min_deposit: 100, max_deposit: 200 }
      const withdrawals = { min_withdrawal: 30, max_withdrawal: 40 }
      yield* made("/payment-methods", { operator: house.slug, code, ...deposits, ...withdrawals })
      const { id } = yield* house.register()
      const method = { payment_method: code }
      for (const amount of [100, 200]) assert.strictEqual((yield* house.deposit(id, amount, method)).status, 201)
      for (const amount of [99, 201]) {
        assertRefused(yield* house.deposit(id, amount, method), 422, "PAYMENT_REQUEST_INVALID", deposits)
      }
      for (const amount of [30, 40]) assert.strictEqual((yield* house.withdraw(id, amount, method)).status, 201)
      for (const amount of [29, 41]) {
        assertRefused(yield* house.withdraw(id, amount, method), 422, "PAYMENT_REQUEST_INVALID", withdrawals)
      }
      assert.deepStrictEqual(yield* house.balances(id), [230, 0])
    }))

  it.effect("4.4 bodies: what each field takes, and what it refuses", () =>
    Effect.gen(function*() {
      const house = yield* House
      const { id } = yield* house.register()
      const deposit = { amount: 100, external_reference: "r", payment_method: "bank", info: "i", notes: "n" }
      const withdrawal = { ...deposit, bank_name: "b" }
      const bad: { readonly [field: string]: ReadonlyArray<unknown> } = {
        amount: [0, -1, 1.5, "100", null, 2 ** 53],
        external_reference: ["", 5, "x".repeat(129)],
        payment_method: ["", 5],
        info: [5, "x".repeat(1001)],
        notes: [5, []],
        bank_name: [5, ""]
      }
      for (const [path, body] of [["deposits", deposit], ["withdrawals", withdrawal]] as const) {
        for (const field of Object.keys(body)) {
          for (const value of bad[field] ?? []) {
            assertField(yield* house.post(`/players/${id}/${path}`, { ...body, [field]: value }), field, value)
          }
        }
      }
      for (
        const [path, field] of [["deposits", "amount"], ["deposits", "external_reference"], ["withdrawals", "amount"], [
          "withdrawals",
          "payment_method"
        ]] as const
      ) {
        const { [field]: _, ...rest } = deposit
        assertField(yield* house.post(`/players/${id}/${path}`, rest), field, undefined)
      }
    }))

  it.effect("4.4 request-withdrawal rule 1: above the threshold two approve, at it one is enough", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 1000 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 5000), 201)
      const at = dataOf(yield* casino.withdraw(id, 1000), 201)
      assert.strictEqual((yield* move(at.id, "approve")).data.status, "allowed")
      const above = dataOf(yield* casino.withdraw(id, 1001), 201)
      assert.strictEqual((yield* move(above.id, "approve")).data.status, "new")
      assert.strictEqual((yield* move(above.id, "approve")).code, "PAYMENT_REQUEST_INVALID")
      assert.strictEqual(dataOf(yield* casino.get(`/payments/${above.id}`)).status, "new")
    }))
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.5 games", (it) => {
  it.effect("4.5 launch rules 1 to 3: twelve hours for real, free play for show, no address for an original", () =>
    Effect.gen(function*() {
      const house = yield* House
      const original = yield* made("/games", {
        provider: house.studio.slug,
        external_id: "dice",
        name: fresh("Dice"),
        original: "dice"
      })
      const { id } = yield* house.register()
      const real = dataOf(yield* house.launch(id, { platform: "desktop", ip: "203.0.113.7" }))
      assert.deepStrictEqual(Object.keys(real).sort(), [
        "expires_at",
        "game_id",
        "is_original",
        "launch_url",
        "mode",
        "session_token"
      ])
      assert.deepInclude(real, {
        mode: "real",
        game_id: house.slots.id,
        launch_url: `https://play.example/?t=${real.session_token}&g=slots&m=real`,
        is_original: false,
        expires_at: new Date(Date.parse(noon) + 12 * hourMs).toISOString()
      })
      const demo = dataOf(yield* house.launch(id, { mode: "demo" }))
      assert.deepInclude(demo, { mode: "demo", launch_url: "https://play.example/demo?g=slots" })
      const own = dataOf(yield* house.launch(id, {}, original))
      assert.deepInclude(own, { mode: "real", launch_url: null, is_original: true })
      for (const platform of ["desktop", "mobile", "web", "ios", "android"]) {
        assert.strictEqual((yield* house.launch(id, { platform })).status, 200, platform)
      }
      for (const [field, value] of [["mode", "fun"], ["platform", "tv"], ["ip", "1.2"], ["mode", 1]] as const) {
        assertField(yield* house.launch(id, { [field]: value }), field, value)
      }
    }))

  it.effect("4.5 only active games of active providers are listed, counted, shown and launched", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      const ids = Effect.map(
        casino.get(`/games?provider=${casino.studio.slug}`),
        ({ data }) => data.map((game: { readonly id: number }) => game.id)
      )
      const count = Effect.map(
        casino.get("/games/providers"),
        ({ data }) => data.find(({ slug }: { readonly slug: string }) => slug === casino.studio.slug)?.games_count
      )
      assert.deepStrictEqual([yield* ids, yield* count], [[casino.slots.id, casino.table.id], 2])
      yield* staff("PATCH", `/games/${casino.slots.id}`, { active: false })
      assert.deepStrictEqual([yield* ids, yield* count], [[casino.table.id], 1])
      assertRefused(yield* casino.get(`/games/${casino.slots.id}`), 404, "NOT_FOUND")
      for (const mode of ["real", "demo"]) assertRefused(yield* casino.launch(id, { mode }), 404, "NOT_FOUND")
      yield* staff("PATCH", `/games/${casino.slots.id}`, { active: true })
      yield* staff("PATCH", `/providers/${casino.studio.id}`, { active: false })
      assert.deepStrictEqual([yield* ids, yield* count], [[], undefined])
      assertRefused(yield* casino.launch(id, {}), 404, "NOT_FOUND")
    }))
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.6 bonuses, 4.7 limits, 4.9 players' endpoints", (it) => {
  it.effect("4.6 grant body: bonus_id required, amount and note optional; promo code required", () =>
    Effect.gen(function*() {
      const house = yield* House
      const bonus = yield* house.newBonus({ default_amount: 70 })
      const { id } = yield* house.register()
      const granted = dataOf(yield* house.grant(id, bonus.id, { note: "n" }), 201)
      assert.deepInclude(granted, { amount: 70, wager_requirement: 700, state: "activated", result: null })
      const own = dataOf(yield* house.grant(id, bonus.id, { amount: 30 }), 201)
      assert.deepInclude(own, { amount: 30, wager_requirement: 300, state: "pending" })
      const bad: ReadonlyArray<readonly [field: string, value: unknown]> = [
        ["bonus_id", undefined],
        ["bonus_id", "1"],
        ["amount", 0],
        ["amount", -1],
        ["amount", 1.5],
        ["note", 5]
      ]
      for (const [field, value] of bad) assertField(yield* house.grant(id, bonus.id, { [field]: value }), field, value)
      for (const code of [undefined, "", 5]) {
        assertField(yield* house.post(`/players/${id}/promo-codes`, { code }), "code", code)
      }
    }))

  it.effect("4.6 DECISIONS 1: every type of bonus of the catalogue; cash has no wagering", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      for (const type of ["deposit_match", "no_deposit", "free_spins", "cashback", "cash"]) {
        const wagering = type === "cash" ? { wagering_multiplier: 0 } : {}
        const bonus = yield* casino.newBonus({ type, ...wagering })
        const { id } = yield* casino.register()
        const granted = dataOf(yield* casino.grant(id, bonus.id), 201)
        assert.deepInclude(granted, {
          type,
          state: type === "cash" ? "finished" : "activated",
          result: type === "cash" ? "converted" : null
        })
        assert.deepStrictEqual(yield* casino.balances(id), type === "cash" ? [500, 0] : [0, 500])
      }
      const offered = dataOf(yield* casino.get("/bonuses"))
      assert.deepStrictEqual(Object.keys(offered[0]).sort(), [
        "default_amount",
        "description",
        "id",
        "is_active",
        "max_bet",
        "max_conversion_multiplier",
        "max_grants_per_player",
        "name",
        "type",
        "valid_days",
        "wagering_multiplier"
      ])
    }))

  it.effect("4.7 a limits resource: every field of 2.9, the same from GET, PUT and self-exclusion", () =>
    Effect.gen(function*() {
      const house = yield* House
      const { id } = yield* house.register()
      const put = yield* house.limit(id, { max_daily_loss: 500 })
      const got = yield* house.get(`/players/${id}/limits`)
      assert.deepStrictEqual(got.data, put.data)
      assert.includeMembers(Object.keys(got.data), [
        "player_id",
        "currency",
        "limits",
        "pending_changes",
        "self_exclusion"
      ])
      assert.deepStrictEqual(Object.keys(put.meta).sort(), ["applied", "cooling_off_hours", "pending"])
      const excluded = dataOf(yield* house.exclude(id, { period: "24_hours" }))
      assert.deepStrictEqual(excluded, dataOf(yield* house.get(`/players/${id}/limits`)))
      assert.deepStrictEqual(excluded.self_exclusion, {
        type: "time_out",
        since: noon,
        until: new Date(Date.parse(noon) + 24 * hourMs).toISOString()
      })
    }))

  it.effect("4.9 each player endpoint answers what the operator's answers about that player", () =>
    Effect.gen(function*() {
      const house = yield* House
      const seat = yield* house.sit(300)
      dataOf(yield* seat.bet(20))
      const { token } = dataOf(yield* house.post(`/players/${seat.id}/session-tokens`), 201)
      const pairs = [["/me", ""], ["/transactions", "/transactions"], [
        "/transactions?per_page=1&page=2",
        "/transactions?per_page=1&page=2"
      ]] as const
      for (const [mine, theirs] of pairs) {
        const own = dataOf(yield* browserCall(token, mine))
        assert.deepStrictEqual(own, dataOf(yield* house.get(`/players/${seat.id}${theirs}`)), mine)
      }
      assert.deepStrictEqual(dataOf(yield* browserCall(token, "/wallet")), {
        player_id: seat.id,
        currency: "EUR",
        balance: 280,
        bonus_balance: 0
      })
      const launched = dataOf(
        yield* browserCall(token, `/games/${house.slots.id}/launch`, { body: { platform: "ios" } })
      )
      assert.deepInclude(launched, { mode: "real", game_id: house.slots.id, is_original: false })
      for (const query of ["per_page=0", "per_page=101", "page=0"]) {
        assertField(yield* browserCall(token, `/transactions?${query}`), query.split("=")[0] ?? "", query)
      }
    }))
})
