import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Bonuses } from "../../src/features/bonuses/Bonuses.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, type Fields, fresh, made, move, openCasino, outcomeOf, staff } from "../kit/Casino.ts"
import { browserCall, type Reply, signedCall } from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"
import { dayMs, hourMs, pass, secondMs, whileTimePasses } from "../kit/Calendar.ts"

// Goal: wallet, payments, games, bonuses and player endpoints meet the rows of SPEC 4.3 to 4.9 that no other file covers.
// Method: over HTTP, each row with accepted and refused values.

/** Asserts a successful answer. */
const dataAndMeta = (answer: Reply): Reply => {
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
}

const assertField = (answer: Reply, field: string, about: unknown) => {
  assertRefused(answer, 422, "VALIDATION_FAILED")
  assert.deepStrictEqual(Object.keys(answer.details), [field], JSON.stringify(about))
}

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.3 wallet", (it) => {
  it.effect("4.3 each type of entry of 2.4 is found by its type filter, in the right wallet and with the right sign", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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
      dataOf(yield* house.callWallet("promo-win", { ...prize, kind: "tournament", campaign_id: "c" }))
      const [first] = dataOf(yield* house.get(`/payments?player_id=${seat.id}&type=deposit`))
      yield* move(first.id, "chargeback")

      // the fourteen types of SPEC 2.4
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

  it.effect("4.3 transactions: both bounds of time are inclusive, and each wallet shows when it last changed", () =>
    whileTimePasses(Effect.gen(function*() {
      const house = yield* SharedCasino
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

  it.effect("4.3 a wallet at a past time has the balances of that time, whatever follows, and is 404 to another operator", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ default_amount: 1000 })
      const { id } = yield* casino.register()
      const wallet = (at: string) => casino.get(`/players/${id}/wallet?at=${encodeURIComponent(at)}`)
      const second = (seconds: number) => new Date(Date.parse(noon) + seconds * secondMs).toISOString()
      for (
        const change of [casino.deposit(id, 500), casino.grant(id, bonus.id), casino.deposit(id, 50)]
      ) {
        yield* pass(10 * secondMs)
        dataOf(yield* change, 201)
      }
      const expected = [
        ["2000-01-01T00:00:00.000Z", 0, 0, noon, noon],
        [second(9.999), 0, 0, noon, noon],
        [second(10), 500, 0, second(10), noon],
        [second(19.999), 500, 0, second(10), noon],
        [second(20), 500, 1000, second(10), second(20)],
        [second(30), 550, 1000, second(30), second(20)]
      ] as const
      const assertPast = Effect.gen(function*() {
        for (const [at, balance, bonus_balance, changed, bonusChanged] of expected) {
          const currency = "EUR"
          assert.deepStrictEqual(dataOf(yield* wallet(at)), {
            player_id: id,
            currency,
            balance,
            bonus_balance,
            at,
            wallets: [
              { type: "real", balance, currency, updated_at: changed },
              { type: "bonus", balance: bonus_balance, currency, updated_at: bonusChanged }
            ]
          })
        }
      })
      yield* assertPast
      yield* pass(hourMs)
      dataOf(yield* casino.deposit(id, 1), 201)
      yield* assertPast
      assert.deepInclude(dataOf(yield* wallet("2026-11-20T14:00:10+02:00")), { at: second(10), balance: 500 })
      assert.notProperty(dataOf(yield* casino.get(`/players/${id}/wallet`)), "at")

      const now = Date.parse(noon) + 30 * secondMs + hourMs
      dataOf(yield* wallet(new Date(now).toISOString()))
      assertRefused(yield* wallet(new Date(now + 1).toISOString()), 422, "VALIDATION_FAILED", {
        at: ["must not be in the future"]
      })
      for (const at of ["", "today", "2026-11-20", "1763640000", "2026-02-30T00:00:00Z", "2026-11-20T12:00:00"]) {
        assertRefused(yield* wallet(at), 422, "VALIDATION_FAILED", {
          at: ["must be a date and time like 2026-11-20T12:00:00Z"]
        })
      }
      const rival = yield* openCasino()
      for (const at of [noon, "2999-01-01T00:00:00Z", "x"]) {
        assertRefused(yield* rival.get(`/players/${id}/wallet?at=${at}`), 404, "NOT_FOUND")
      }
    })))
})

layer(layerCasinos, { excludeTestServices: true })("SPEC 4.4 payments", (it) => {
  it.effect("4.4 payment-methods: the active ones in the operator's currency are listed, with every field of 2.6", () =>
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

  it.effect("4.4 record-deposit rules 1 to 3: a deposit is credited at once with 201; its reference repeated is answered 200, with other content 409", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const [{ id }, { id: other }] = [yield* house.register(), yield* house.register()]
      const external_reference = fresh("psp-")
      const first = yield* house.deposit(id, 2500, { external_reference, info: "shown", notes: "kept" })
      assert.deepStrictEqual([first.status, first.data.status], [201, "paid"])
      assert.deepStrictEqual(yield* house.balances(id), [2500, 0])
      // other fields of the body are ignored
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

  it.effect("4.4 bounds of a method: deposits and withdrawals of exactly the minimum or maximum are accepted, one unit beyond is refused", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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

  it.effect("4.4 a payment method that does not support the payment's direction or currency is refused", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 1000), 201)
      yield* made("/payment-methods", { operator: casino.slug, code: "out", supports_deposit: false })
      yield* made("/payment-methods", { operator: casino.slug, code: "in", supports_withdrawal: false })
      yield* made("/payment-methods", { operator: casino.slug, code: "krona", currencies: ["SEK"] })
      for (const [act, codes] of [[casino.deposit, ["out", "krona"]], [casino.withdraw, ["in", "krona"]]] as const) {
        for (const payment_method of codes) {
          const about = { payment_method, ...(payment_method === "krona" ? { currency: "EUR" } : {}) }
          assertRefused(yield* act(id, 100, { payment_method }), 422, "PAYMENT_REQUEST_INVALID", about)
        }
      }
    }))

  it.effect("4.4 payments: newest first, found by every filter, and shown one by one by id", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const [{ id: one }, { id: two }] = [yield* casino.register(), yield* casino.register()]
      const external_reference = "d-1"
      const first = dataOf(yield* casino.deposit(one, 1000, { external_reference }), 201)
      yield* pass(1)
      const second = dataOf(yield* casino.deposit(two, 2000), 201)
      yield* pass(secondMs)
      const about = { external_reference: "w-1", info: "DE89\n3704", notes: "n" }
      const open = dataOf(yield* casino.withdraw(one, 100, about), 201)
      yield* pass(1)
      const allowed = dataOf(yield* casino.withdraw(two, 200), 201)
      yield* pass(1)
      const cancelled = dataOf(yield* casino.withdraw(one, 300), 201)
      const held = [open, allowed, cancelled]
      yield* move(allowed.id, "approve")
      yield* move(cancelled.id, "cancel")
      const rows: ReadonlyArray<readonly [query: string, found: ReadonlyArray<{ readonly id: number }>]> = [
        ["", [...held.toReversed(), second, first]],
        [`player_id=${one}`, [cancelled, open, first]],
        ["player_id=999999999", []],
        ["type=deposit", [second, first]],
        ["type=withdrawal", held.toReversed()],
        ["status=new", [open]],
        ["status=allowed", [allowed]],
        ["status=cancelled", [cancelled]],
        ["status=rejected", []],
        [`status=paid&player_id=${two}`, [second]],
        ["external_reference=w-1", [open]],
        ["external_reference=nothing", []],
        [`created_from=${open.created_at}`, held.toReversed()],
        [`created_to=${second.created_at}`, [second, first]],
        [`created_to=${first.created_at}`, [first]]
      ]
      for (const [query, found] of rows) {
        const { data } = yield* casino.get(`/payments?${query}`)
        assert.deepStrictEqual(data.map(({ id }: Fields) => id), found.map(({ id }) => id), query)
      }
      const wrong = "player_id=x&type=bet&status=open&created_from=today&external_reference="
      const refused = yield* casino.get(`/payments?${wrong}`)
      assertRefused(refused, 422, "VALIDATION_FAILED")
      assert.sameMembers(Object.keys(refused.details), wrong.split("&").map((pair) => pair.split("=")[0] ?? ""))
      const shown = dataOf(yield* casino.get(`/payments/${open.id}`))
      assert.deepStrictEqual(shown, open)
      assert.deepInclude(shown, {
        status: "new",
        currency: "EUR",
        payment_method: "bank",
        info: "DE89\n3704",
        paid_at: null
      })
      for (const id of ["0", "abc", "1.5", "9007199254740993"]) {
        assertRefused(yield* casino.get(`/payments/${id}`), 404, "NOT_FOUND")
      }
    })))

  it.effect("4.4 simultaneous requests: no money is held twice, a reference gives one payment, and a payment ends only once", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const atOnce = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
        Effect.all(effects, { concurrency: "unbounded" })
      const times = <A>(count: number, one: A) => Array.from({ length: count }, () => one)
      const statuses = (answers: ReadonlyArray<{ readonly status: number }>) =>
        answers.map(({ status }) => status).toSorted((a, b) => a - b)
      const [{ id }, { id: other }] = [yield* casino.register(), yield* casino.register()]
      const paid = yield* atOnce(times(6, casino.deposit(id, 1000, { external_reference: "paid" })))
      assert.deepStrictEqual(statuses(paid), [200, 200, 200, 200, 200, 201])
      const held = yield* atOnce(times(12, casino.withdraw(id, 300)))
      assert.deepStrictEqual(statuses(held), [201, 201, 201, ...times(9, 402)])
      const same = yield* atOnce(times(6, casino.withdraw(id, 50, { external_reference: "once" })))
      assert.deepStrictEqual(statuses(same), [200, 200, 200, 200, 200, 201])
      for (const answers of [paid, same]) assert.strictEqual(new Set(answers.map(({ data }) => data.id)).size, 1)
      dataOf(yield* casino.deposit(other, 1000), 201)
      const clash = yield* atOnce(
        [id, other, id, other].map((whose) => casino.withdraw(whose, 20, { external_reference: "whose" }))
      )
      assert.deepStrictEqual(statuses(clash), [200, 201, 409, 409])
      for (const { data } of held.filter(({ status }) => status === 201)) {
        const moves = yield* atOnce(
          ["reject", "approve", "cancel", "reject", "cancel", "pay"].map((name) => move(data.id, name))
        )
        for (const { status } of moves) assert.include([200, 422], status)
        assert.lengthOf(moves.filter(({ data }) => ["rejected", "cancelled", "paid"].includes(data?.status)), 1)
      }
      assert.deepStrictEqual((yield* staff("GET", `/ledger/verification?operator=${casino.slug}`)).violations, [])
    }))

  it.effect("4.4 bodies: each field accepts its valid values and refuses the others by name", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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

  it.effect("4.4 request-withdrawal rule 1: a withdrawal above the threshold needs two approvals, a withdrawal of exactly the threshold needs one", () =>
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
  it.effect("4.5 launch rules 1 to 3: real play lasts twelve hours, demo mode is free play, and an original has no URL", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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
      const own = casino.studio.slug
      const rows: ReadonlyArray<readonly [query: string, names: ReadonlyArray<string>]> = [
        [`provider=${own}&type=live`, [casino.table.name]],
        [`provider=${own}&category=slots`, [casino.slots.name]],
        [`search=${casino.slots.name.toUpperCase().replaceAll(" ", "%20")}`, [casino.slots.name]],
        ["provider=nobody", []]
      ]
      for (const [query, names] of rows) {
        const { data } = yield* casino.get(`/games?${query}`)
        assert.deepStrictEqual(data.map(({ name }: Fields) => name), names, query)
      }
      assertField(yield* casino.get("/games?type=slow"), "type", "slow")
      const categories = dataOf(yield* casino.get("/games/categories"))
      assert.includeMembers(categories.map(({ category }: Fields) => category), ["live", "slots"])
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
  it.effect("4.6 grant body: bonus_id is required, amount and note are optional; a redemption requires its code", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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

  it.effect("4.6 a player's bonuses: listed newest first, and filtered by state", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const bonus = yield* house.newBonus()
      const { id } = yield* house.register()
      const granted = [dataOf(yield* house.grant(id, bonus.id), 201), dataOf(yield* house.grant(id, bonus.id), 201)]
      const list = (query: string) => Effect.map(house.get(`/players/${id}/bonuses${query}`), dataOf)
      assert.deepStrictEqual(yield* list(""), granted.toReversed())
      assert.deepStrictEqual(yield* list("?state=pending"), granted.slice(1))
      assertField(yield* house.get(`/players/${id}/bonuses?state=over`), "state", "over")
      yield* staff("PATCH", `/bonuses/${bonus.id}`, { active: false })
      assertRefused(yield* house.grant(id, bonus.id), 422, "BONUS_INVALID", { reason: "inactive" })
      assertRefused(yield* house.grant(id, 987_654_321), 404, "NOT_FOUND")
    }))

  it.effect("4.6 a bonus that expired while its player was not in memory is over when it is read, or ended by the job", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const { applyDue } = yield* Bonuses
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus()
      const at = (days: number) => new Date(Date.parse(noon) + days * dayMs)
      const leave = Effect.gen(function*() {
        const { id: player } = yield* casino.register()
        const id = yield* ids.reserve(2)
        yield* sql`INSERT INTO player_bonuses (id, operator_id, player_id, bonus_id, name, type, state, amount,
            wager_requirement, wagered, max_bet, max_conversion, valid_days, contributions, open_rounds, converted, forfeited,
            started_at, expires_at, created_at)
          VALUES (${id}, ${casino.id}, ${player}, ${bonus.id}, 'Welcome', 'deposit_match', 'activated', 90, 900, 40, 0, 0,
            1, '{}', 0, 0, 0, ${at(-2)}, ${at(-1)}, ${at(-2)})`
        yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after,
            player_bonus_id, created_at)
          VALUES (${player}, 1, ${id + 1}, ${casino.id}, 'bonus', 'bonus_correction_up', 90, 90, ${id}, ${at(-2)})`
        yield* sql`UPDATE accounts SET bonus_balance = 90, entry_seq = 1, wallet_seq = 1 WHERE player_id = ${player}`
        return Number(player)
      })
      yield* applyDue
      const read = yield* leave
      assert.deepStrictEqual(yield* casino.balances(read), [0, 0])
      const unread = yield* leave
      assert.deepStrictEqual([yield* applyDue, yield* applyDue], [1, 0])
      for (const player of [read, unread]) {
        const [ended] = dataOf(yield* casino.get(`/players/${player}/bonuses`))
        assert.deepInclude(ended, { state: "finished", result: "expired", wagered_amount: 40, forfeited_amount: 90 })
        const events = yield* sql`SELECT type FROM events WHERE player_id = ${player} AND type LIKE 'bonus.%'`
        assert.deepStrictEqual(events, [{ type: "bonus.completed" }])
      }
    }))

  it.effect("4.6 promo codes: accepted in any letter case, once per player and up to the maximum, also when redeemed simultaneously", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus()
      const offer = { operator: casino.slug, bonus: bonus.id }
      yield* made("/promo-codes", { ...offer, code: "Hello-10", max_redemptions: 2 })
      const redeem = (player: number, code: string) => casino.post(`/players/${player}/promo-codes`, { code })
      const reasonOf = Effect.map(({ code, details }: Reply) => [code, details["reason"]])
      const players = yield* Effect.forEach(Array.from({ length: 12 }), () => casino.register(), { concurrency: 4 })
      const [ada, bob, cleo] = players.map(({ id }): number => id)
      assert(ada !== undefined && bob !== undefined && cleo !== undefined)
      const { bonus: granted, code } = dataOf(yield* redeem(ada, "hElLo-10"), 201)
      assert.strictEqual(code, "Hello-10")
      assert.deepStrictEqual(dataOf(yield* casino.get(`/players/${ada}/bonuses`)), [granted])
      assert.deepStrictEqual(yield* reasonOf(redeem(ada, "HELLO-10")), ["PROMO_CODE_INVALID", "used"])
      dataOf(yield* redeem(bob, "hello-10"), 201)
      assert.deepStrictEqual(yield* reasonOf(redeem(cleo, "hello-10")), ["PROMO_CODE_INVALID", "exhausted"])

      const promo = yield* made("/promo-codes", { ...offer, code: "RUSH", max_redemptions: 5 })
      const rush = [...players, ...players].map(({ id }) => redeem(id, "rush"))
      const answers = yield* Effect.all(rush, { concurrency: "unbounded" })
      const good = answers.filter(({ status }) => status === 201)
      assert.strictEqual(new Set(good.map(({ data }) => data.bonus.player_id)).size, 5)
      for (const answer of answers) assert.include([201, "PROMO_CODE_INVALID"], outcomeOf(answer))
      const stored = yield* sql`SELECT redemptions::int AS stored, (SELECT count(*) FROM promo_redemptions
        WHERE promo_code_id = ${promo.id})::int AS counted FROM promo_codes WHERE id = ${promo.id}`
      assert.deepStrictEqual([good.length, stored], [5, [{ stored: 5, counted: 5 }]])
    }))

  it.effect("4.6 DECISIONS 1: a bonus of every type can be granted; cash is paid out at once, without wagering", () =>
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

  it.effect("4.7 a limits resource: it has every field of 2.9, and is the same from GET, PUT and self-exclusion", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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
      dataOf(yield* house.limit(id, { max_daily_deposit: 1000, max_balance: 5000 }))
      dataOf(yield* house.deposit(id, 900), 201)
      const { usage } = dataOf(yield* house.get(`/players/${id}/limits`))
      const resets_at = "2026-11-21T00:00:00.000Z"
      assert.deepStrictEqual([usage.max_daily_deposit, usage.max_balance, usage.max_daily_bet], [
        { used: 900, remaining: 100, resets_at },
        { used: 900, remaining: 4100, resets_at: null },
        { used: 0, remaining: null, resets_at }
      ])
      // all errors at once, and no change
      const bad = { max_daily_bet: -1, max_weekly_bet: 1.5, max_monthly_bet: "100", max_dayly_bet: 100 }
      const refused = yield* house.limit(id, { ...bad, max_single_bet: 100 })
      assertRefused(refused, 422, "VALIDATION_FAILED")
      assert.hasAllKeys(refused.details, Object.keys(bad).map((name) => `limits.${name}`))
      assert.isNull(dataOf(yield* house.get(`/players/${id}/limits`)).limits.max_single_bet)
      for (const limits of [undefined, null, [], 5]) {
        assertRefused(yield* house.put(`/players/${id}/limits`, { limits }), 422, "VALIDATION_FAILED", {
          limits: ["must be an object"]
        })
      }
      const excluded = dataOf(yield* house.exclude(id, { period: "24_hours" }))
      assert.deepStrictEqual(excluded, dataOf(yield* house.get(`/players/${id}/limits`)))
      assert.deepStrictEqual(excluded.self_exclusion, {
        type: "time_out",
        since: noon,
        until: new Date(Date.parse(noon) + 24 * hourMs).toISOString(),
        // beyond the specification
        ends: "by_itself",
        return_at: null,
        source: "operator"
      })
    }))

  it.effect("4.9 each player endpoint answers like the operator's endpoint for that player", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
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

layer(layerCasinos, { excludeTestServices: true })("SPEC 2.11 pages and cursors", (it) => {
  interface Item {
    readonly id: number
  }

  /** Lists with a cursor, of a casino with seven items in each. */
  const lists = Effect.gen(function*() {
    const casino = yield* openCasino()
    const bonus = yield* casino.newBonus()
    const names = ["ada", "bob", "adam", "cyd", "adele", "dan", "adrian"]
    const players = yield* Effect.forEach(names, (name) => casino.register({ last_name: `List ${name}` }))
    const id = Number(players[0]?.id)
    // some within one millisecond
    for (let index = 0; index < 7; index++) {
      dataOf(yield* casino.deposit(id, index + 1), 201)
      if (index % 3 === 2) yield* pass(1)
    }
    for (let index = 0; index < 7; index++) dataOf(yield* casino.grant(id, bonus.id), 201)
    const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`), 201)
    const asOperator = (uri: string) => signedCall(casino.signer, uri)
    const asPlayer = (uri: string) => browserCall(token, uri.replace("/api/v1/player", ""))
    const base = "/api/v1/operator"
    return {
      casino,
      lists: [
        { get: asOperator, uri: `${base}/players?`, filter: "search=list%20ad", add: casino.register() },
        {
          get: asOperator,
          uri: `${base}/payments?`,
          filter: `player_id=${id}&type=deposit`,
          add: casino.deposit(id, 8)
        },
        {
          get: asOperator,
          uri: `${base}/players/${id}/transactions?`,
          filter: "type=deposit&wallet=real",
          add: casino.deposit(id, 9)
        },
        {
          get: asOperator,
          uri: `${base}/players/${id}/bonuses?`,
          filter: "state=pending",
          add: casino.grant(id, bonus.id)
        },
        { get: asPlayer, uri: "/api/v1/player/transactions?", filter: "type=deposit", add: casino.deposit(id, 10) }
      ]
    }
  })

  it.effect("2.11 the links of pages lead through a whole list, and a cursor continues it whatever is added meanwhile", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, lists: all } = yield* lists
      const other = yield* openCasino()
      for (const { add, filter, get, uri } of all) {
        /** Follows `next` to the end. */
        const follow = Effect.fnUntraced(function*(query: string) {
          const items: Array<Item> = []
          const lengths: Array<number> = []
          for (let next: string | null = `${uri}${query}`; next !== null;) {
            const { data, links, meta }: Reply = dataAndMeta(yield* get(next))
            items.push(...data)
            lengths.push(data.length)
            assert.strictEqual(links.next === null, meta.next_cursor === null, next)
            next = links.next
          }
          return { items, lengths }
        })
        const whole: ReadonlyArray<Item> = dataOf(yield* get(`${uri}per_page=100`))
        const total = whole.length
        const pages = Math.ceil(total / 3)
        let uriOfPage: string | null = `${uri}per_page=3&page=1`
        for (let page = 1; uriOfPage !== null; page++) {
          const { data, links, meta }: Reply = dataAndMeta(yield* get(uriOfPage))
          assert.deepStrictEqual(data, whole.slice(3 * page - 3, 3 * page))
          const [from, to] = [3 * page - 2, Math.min(3 * page, total)]
          assert.deepInclude(meta, { current_page: page, per_page: 3, total, last_page: pages, from, to })
          assert.strictEqual((yield* get(links.first)).meta.current_page, 1)
          assert.strictEqual((yield* get(links.last)).meta.current_page, pages)
          if (page > 1) assert.strictEqual((yield* get(links.prev)).meta.current_page, page - 1)
          else assert.isNull(links.prev)
          assert.strictEqual(links.next === null, page === pages)
          uriOfPage = links.next
        }
        assert.deepStrictEqual(dataOf(yield* get(`${uri}page=1000000&per_page=100`)), [])

        const walked = yield* follow("cursor=&per_page=3")
        assert.deepStrictEqual(walked.items, whole)
        assert.deepStrictEqual(walked.lengths.slice(0, -1), Array.from({ length: pages - 1 }, () => 3))
        const filtered = yield* follow(`cursor=&per_page=2&${filter}`)
        assert.deepStrictEqual(filtered.items, dataOf(yield* get(`${uri}per_page=100&${filter}`)))
        assert.isAbove(filtered.items.length, 2)
        const { meta } = yield* get(`${uri}per_page=3`)
        yield* add
        assert.deepStrictEqual((yield* follow(`per_page=3&cursor=${meta.next_cursor}`)).items, whole.slice(3), uri)
        for (const cursor of ["-1", "x".repeat(21), "%00", "1-2-3"]) {
          assertRefused(yield* get(`${uri}cursor=${cursor}`), 422, "VALIDATION_FAILED", {
            cursor: ["must be empty or a next_cursor of this list"]
          })
        }
        if (uri.includes("/payments")) {
          assert.isAbove(dataOf(yield* get(`${uri}cursor=zzzzzzzzz-zzzzzzzzzz`)).length, 7, "the furthest cursor")
          assert.deepStrictEqual((yield* other.get(`/payments?cursor=${meta.next_cursor}`)).data, [])
        }
      }
      assert.deepStrictEqual((yield* casino.get("/players?cursor=&search=nobody")).data, [])
    })))
})
