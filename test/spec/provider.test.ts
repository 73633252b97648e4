import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { hourMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { layerCasinos, SharedCasino } from "../kit/Backoffice.ts"
import { type Casino, dataOf, type Fields, fresh, openCasino, staff } from "../kit/Casino.ts"
import { plainCall, type Reply, signedCall, signedHeaders, type Signer, unixSeconds } from "../kit/HttpCalls.ts"
import { noon } from "../kit/Noon.ts"

// Goal: game providers get the messages, answers and refusals of CONTRACT section 2. Method: a provider's calls over HTTP; amounts worked
// out by hand. Edge cases of the rules are tested in rules/Settlement.test.ts, every order of a round's messages in
// soak/permutations.test.ts, checks of credentials in http/Pipeline.test.ts.

type Seat = Effect.Success<ReturnType<Casino["sit"]>>

const studioOf = ({ studio }: Casino): Signer => ({ header: "X-Provider-Key", key: studio.key, secret: studio.secret })

/** Asserts a refusal with its instruction for the message. */
const assertRefused = (answer: Reply, status: number, code: string, retry = "never") =>
  assert.deepStrictEqual([answer.status, answer.code, answer.details["retry"]], [status, code, retry], answer.text)

const statusOf = (casino: Casino, id: string) =>
  Effect.map(
    signedCall(studioOf(casino), `/api/v1/provider/wallet/transactions/${encodeURIComponent(id)}`),
    (answer): string => dataOf(answer).status
  )

/** Entries of a player, newest first: type, amount, round. */
const ledgerOf = (casino: Casino, { id }: Seat) =>
  Effect.map(
    casino.get(`/players/${id}/transactions?per_page=100`),
    ({ data }): ReadonlyArray<readonly [string, number, string | null]> =>
      data.map((entry: { readonly type: string; readonly amount: number; readonly game_round_id: string | null }) =>
        [entry.type, entry.amount, entry.game_round_id] as const
      )
  )

const betOf = (seat: Seat, id: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  session_token: seat.token,
  game_id: "slots",
  round_id: `round of ${seat.id}`,
  amount: 100,
  currency: "EUR",
  ...more
})

const winOf = (seat: Seat, id: string, betId: string, more: Fields = {}) => {
  const { session_token: _, ...bet } = betOf(seat, id)
  return { ...bet, player_ref: seat.ref, bet_transaction_id: betId, amount: 250, ...more }
}

const rollbackOf = ({ ref }: Seat, id: string, target: string) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  player_ref: ref,
  target_transaction_id: target
})

const promoOf = ({ ref }: Seat, id: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  player_ref: ref,
  amount: 70,
  currency: "EUR",
  kind: "jackpot",
  campaign_id: "friday",
  ...more
})

const closeOf = ({ id, ref }: Seat, more: Fields = {}) => ({
  player_ref: ref,
  game_id: "slots",
  round_id: `round of ${id}`,
  ...more
})

layer(layerCasinos, { excludeTestServices: true })("CONTRACT 2 provider wallet", (it) => {
  const settle = (casino: Casino, path: string, body: Fields) => Effect.map(casino.callWallet(path, body), dataOf)

  it.effect("CONTRACT 2 authenticate: returns the session's player under the provider's own reference, and the session's expiry", () =>
    Effect.gen(function*() {
      const [house, rival] = [yield* SharedCasino, yield* openCasino()]
      const seat = yield* house.sit(1234)
      assert.deepStrictEqual(yield* settle(house, "authenticate", { session_token: seat.token }), {
        player_ref: seat.ref,
        currency: "EUR",
        country: "MT",
        language: "en",
        balance: 1234,
        bonus_balance: 0,
        session_expires_at: new Date(Date.parse(noon) + 12 * hourMs).toISOString()
      })
      const elsewhere = dataOf(yield* house.launch(seat.id, {}, rival.slots)).session_token
      for (const [casino, session_token] of [[house, "gs_nobody"], [house, elsewhere], [rival, seat.token]] as const) {
        assertRefused(yield* casino.callWallet("authenticate", { session_token }), 401, "INVALID_SESSION")
      }
      const again = dataOf(yield* house.launch(seat.id)).session_token
      assert.strictEqual((yield* settle(house, "authenticate", { session_token: again })).player_ref, seat.ref)
      assert.notStrictEqual((yield* settle(rival, "authenticate", { session_token: elsewhere })).player_ref, seat.ref)
    }))

  it.effect("CONTRACT 2 balance: is returned by session or by player reference, only to the player's own provider", () =>
    Effect.gen(function*() {
      const [house, rival] = [yield* SharedCasino, yield* openCasino()]
      const { ref: player_ref, token: session_token } = yield* house.sit(500)
      const balance = { balance: 500, bonus_balance: 0, currency: "EUR" }
      for (const body of [{ session_token }, { player_ref }]) {
        assert.deepStrictEqual(yield* settle(house, "balance", body), balance)
      }
      assertRefused(yield* house.callWallet("balance", {}), 422, "VALIDATION_FAILED")
      assertRefused(yield* house.callWallet("balance", { session_token: "gs_nobody" }), 401, "INVALID_SESSION")
      assertRefused(yield* house.callWallet("balance", { player_ref: "pr_nobody" }), 404, "NOT_FOUND")
      assertRefused(yield* rival.callWallet("balance", { player_ref }), 404, "NOT_FOUND")
    }))

  it.effect("CONTRACT 2 bet, win and rollback: every answer field, the ledger entries and the message's status are correct", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const bet = yield* settle(house, "bet", betOf(seat, `${id}b`))
      assert.deepStrictEqual(bet, {
        request_id: `r-${id}b`,
        transaction_id: `${id}b`,
        status: "processed",
        wallet_transaction_ids: bet.wallet_transaction_ids,
        real_amount: -100,
        bonus_amount: 0,
        balance: 900,
        bonus_balance: 0,
        currency: "EUR",
        wallet_seq: 2,
        round_state: "open"
      })
      const win = yield* settle(house, "win", winOf(seat, `${id}w`, `${id}b`, { round_closed: true }))
      assert.deepInclude(win, { real_amount: 250, balance: 1150, wallet_seq: 3, round_state: "closed" })
      const unpaid = yield* settle(house, "rollback", rollbackOf(seat, `${id}rw`, `${id}w`))
      assert.deepInclude(unpaid, { status: "processed", real_amount: -250, balance: 900, wallet_seq: 4 })
      const undone = yield* settle(house, "rollback", rollbackOf(seat, `${id}rb`, `${id}b`))
      assert.deepInclude(undone, { status: "processed", real_amount: 100, balance: 1000, wallet_seq: 5 })
      const round = `round of ${seat.id}`
      assert.deepStrictEqual((yield* ledgerOf(house, seat)).slice(0, 4), [
        ["casino_rollback", 100, round],
        ["casino_rollback", -250, round],
        ["casino_win", 250, round],
        ["casino_bet", -100, round]
      ])
      const { data } = yield* house.get(`/players/${seat.id}/transactions`)
      assert.deepStrictEqual(
        data.slice(0, 4).map((entry: { readonly id: number }) => entry.id),
        [undone, unpaid, win, bet].flatMap(({ wallet_transaction_ids: ids }) => ids)
      )
      const fates = { b: "rolled_back", w: "rolled_back", rb: "processed", never: "unknown" }
      for (const [end, fate] of Object.entries(fates)) assert.strictEqual(yield* statusOf(house, id + end), fate)
    }))

  it.effect("CONTRACT 2 win of 0: makes no entry, keeps wallet_seq, and its bet can still be rolled back", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      yield* settle(house, "bet", betOf(seat, `${id}b`))
      const win = yield* settle(house, "win", winOf(seat, `${id}w`, `${id}b`, { amount: 0, round_closed: true }))
      assert.deepInclude(win, {
        status: "processed",
        real_amount: 0,
        balance: 900,
        wallet_seq: 2,
        round_state: "closed"
      })
      assert.deepStrictEqual(win.wallet_transaction_ids, [])
      const back = yield* settle(house, "rollback", rollbackOf(seat, `${id}r`, `${id}b`))
      assert.deepInclude(back, { status: "processed", balance: 1000 })
    }))

  it.effect("CONTRACT 2 a known message is replayed with the current balance, also after its session, account, game or round has ended", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const id = fresh("t")
      const other = { round_id: `other of ${seat.id}` }
      const messages: ReadonlyArray<readonly [path: string, body: Fields]> = [
        ["bet", betOf(seat, `${id}b`)],
        ["win", winOf(seat, `${id}w`, `${id}b`)],
        ["promo-win", promoOf(seat, `${id}p`)],
        ["rollback", rollbackOf(seat, `${id}i`, `${id}never`)],
        ["bet", betOf(seat, `${id}c`, other)],
        ["rollback", rollbackOf(seat, `${id}t`, `${id}c`)]
      ]
      const first = yield* Effect.forEach(messages, ([path, body]) => settle(casino, path, body))
      const statuses = first.map(({ status }) => status)
      assert.deepStrictEqual(statuses, ["processed", "processed", "processed", "ignored", "processed", "processed"])
      yield* settle(casino, "round/close", closeOf(seat))
      const replay = Effect.gen(function*() {
        for (const [index, [path, body]] of messages.entries()) {
          const again = yield* settle(casino, path, { ...body, request_id: "another" })
          const { real_amount, transaction_id, wallet_transaction_ids } = first[index]
          assert.deepInclude(again, { request_id: "another", status: "replayed", transaction_id, real_amount })
          assert.deepInclude(again, { wallet_transaction_ids, balance: 1220, wallet_seq: 6 })
        }
      })
      yield* replay
      yield* pass(12 * hourMs)
      dataOf(yield* casino.limit(seat.id, { max_single_bet: 1 }))
      yield* casino.put(`/players/${seat.id}/status`, { status: "closed" })
      yield* staff("PATCH", `/games/${casino.slots.id}`, { active: false })
      yield* replay
    })))

  it.effect("CONTRACT 2 a known id with other content is refused with DUPLICATE_TRANSACTION, and nothing is booked", () =>
    Effect.gen(function*() {
      const [house, rival] = [yield* SharedCasino, yield* openCasino()]
      const [seat, someone] = [yield* house.sit(1000), yield* house.sit(1000)]
      const id = fresh("t")
      const [b, w, r, p] = [`${id}b`, `${id}w`, `${id}r`, `${id}p`]
      yield* settle(house, "bet", betOf(seat, b))
      yield* settle(house, "bet", betOf(seat, `${id}b2`))
      yield* settle(house, "win", winOf(seat, w, b))
      yield* settle(house, "rollback", rollbackOf(seat, r, w))
      yield* settle(house, "promo-win", promoOf(seat, p))
      const before = yield* ledgerOf(house, seat)
      const otherwise: ReadonlyArray<Fields> = [
        { amount: 101 },
        { currency: "USD" },
        { game_id: "table" },
        { round_id: "another" }
      ]
      const duplicates: ReadonlyArray<readonly [path: string, body: Fields]> = [
        ...otherwise.flatMap((more) => [["bet", betOf(seat, b, more)], ["win", winOf(seat, w, b, more)]] as const),
        ...[{ amount: 71 }, { currency: "USD" }, { kind: "cash_drop" }, { campaign_id: "monday" }].map((more) =>
          ["promo-win", promoOf(seat, p, more)] as const
        ),
        ["bet", betOf(someone, b)],
        ["win", winOf(someone, w, b)],
        ["win", winOf(seat, w, `${id}b2`)],
        ["promo-win", promoOf(someone, p)],
        ["rollback", rollbackOf(someone, r, w)],
        ["rollback", rollbackOf(seat, r, b)],
        ...[w, r, p].map((known) => ["bet", betOf(seat, known)] as const),
        ...[b, r, p].map((known) => ["win", winOf(seat, known, b)] as const),
        ...[b, w, p].map((known) => ["rollback", rollbackOf(seat, known, `${id}b2`)] as const),
        ["bet-win", { ...betOf(seat, b, { amount: 101 }), win: { transaction_id: `${id}n`, amount: 5 } }],
        ["batch", { actions: [{ action: "bet", ...betOf(seat, b, { amount: 101 }) }] }]
      ]
      for (const [path, body] of duplicates) {
        assertRefused(yield* house.callWallet(path, body), 409, "DUPLICATE_TRANSACTION")
      }
      assert.deepStrictEqual(yield* ledgerOf(house, seat), before)
      // ids are scoped to the provider
      const token = dataOf(yield* house.launch(seat.id, {}, rival.slots)).session_token
      assert.strictEqual((yield* settle(rival, "bet", betOf({ ...seat, token }, b))).status, "processed")
      assert.strictEqual(yield* statusOf(rival, w), "unknown")
    }))

  it.effect("CONTRACT 2 a rollback before its target is ignored, and its tombstone refuses any later message with that id", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const early = yield* settle(house, "rollback", rollbackOf(seat, `${id}r`, `${id}b`))
      assert.deepInclude(early, { status: "ignored", real_amount: 0, balance: 1000, wallet_seq: 1 })
      assert.deepStrictEqual(early.wallet_transaction_ids, [])
      assert.deepStrictEqual([yield* statusOf(house, `${id}b`), yield* statusOf(house, `${id}r`)], [
        "tombstone",
        "processed"
      ])
      yield* settle(house, "bet", betOf(seat, `${id}c`))
      for (const end of ["w", "p"]) yield* settle(house, "rollback", rollbackOf(seat, `${id}r${end}`, id + end))
      const late: ReadonlyArray<readonly [path: string, body: Fields]> = [
        ["bet", betOf(seat, `${id}b`)],
        ["win", winOf(seat, `${id}w`, `${id}c`)],
        ["promo-win", promoOf(seat, `${id}p`)],
        ["win", winOf(seat, `${id}v`, `${id}b`)]
      ]
      for (const [path, body] of late) assertRefused(yield* house.callWallet(path, body), 409, "BET_ROLLED_BACK")
      const second = yield* settle(house, "rollback", rollbackOf(seat, `${id}r2`, `${id}b`))
      assert.strictEqual(second.status, "ignored")
    }))

  it.effect("CONTRACT 2 rollbacks: are made once; a win must be rolled back before its bet; a promo-win can be rolled back, a rollback cannot", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const undo = (end: string, target: string) =>
        house.callWallet("rollback", rollbackOf(seat, id + end, id + target))
      yield* settle(house, "bet", betOf(seat, `${id}b`))
      yield* settle(house, "win", winOf(seat, `${id}w`, `${id}b`))
      assertRefused(yield* undo("r", "b"), 409, "BET_ALREADY_SETTLED")
      dataOf(yield* undo("s", "w"))
      assert.deepInclude(dataOf(yield* undo("r", "b")), { status: "processed", balance: 1000 })
      assert.deepInclude(dataOf(yield* undo("r2", "b")), { status: "ignored", real_amount: 0, balance: 1000 })
      for (const target of ["r", "r2", "x"]) assertRefused(yield* undo("x", target), 409, "ROLLBACK_NOT_ALLOWED")
      assertRefused(yield* house.callWallet("win", winOf(seat, `${id}w2`, `${id}b`)), 409, "BET_ROLLED_BACK")
      assertRefused(yield* house.callWallet("win", winOf(seat, `${id}w3`, `${id}never`)), 404, "BET_NOT_FOUND")
      yield* settle(house, "promo-win", promoOf(seat, `${id}p`))
      assert.deepInclude(dataOf(yield* undo("y", "p")), { real_amount: -70, balance: 1000 })
    }))

  it.effect("CONTRACT 2 a closed round: new bets and wins are refused, rollbacks are not", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const in_ = (name: string) => ({ round_id: `${name} of ${seat.id}` })
      yield* settle(house, "bet", betOf(seat, `${id}b`))
      const closed = yield* settle(house, "round/close", closeOf(seat, { request_id: "c" }))
      assert.deepStrictEqual(closed, {
        ...closed,
        request_id: "c",
        transaction_id: null,
        status: "processed",
        wallet_transaction_ids: [],
        real_amount: 0,
        balance: 900,
        wallet_seq: 2,
        round_state: "closed"
      })
      assert.deepInclude(yield* settle(house, "round/close", closeOf(seat)), {
        request_id: null,
        round_state: "closed"
      })
      const short = yield* settle(house, "bet", betOf(seat, `${id}d`, { ...in_("short"), round_closed: true }))
      assert.strictEqual(short.round_state, "closed")
      yield* settle(house, "round/close", closeOf(seat, in_("empty")))
      for (const more of [{}, in_("short"), in_("empty")]) {
        assertRefused(yield* house.callWallet("bet", betOf(seat, `${id}x`, more)), 409, "ROUND_CLOSED")
      }
      assertRefused(yield* house.callWallet("win", winOf(seat, `${id}w`, `${id}b`)), 409, "ROUND_CLOSED")
      const back = yield* settle(house, "rollback", rollbackOf(seat, `${id}r`, `${id}b`))
      assert.deepInclude(back, { status: "processed", round_state: "closed" })
      // a round with the same name in another game
      assert.strictEqual((yield* settle(house, "bet", betOf(seat, `${id}g`, { game_id: "table" }))).status, "processed")
    }))

  it.effect("CONTRACT 2 a bet needs a running session of real play; wins and rollbacks need none", () =>
    whileTimePasses(Effect.gen(function*() {
      const [house, rival] = [yield* SharedCasino, yield* openCasino()]
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const demo = dataOf(yield* house.launch(seat.id, { mode: "demo" })).session_token
      assert.strictEqual((yield* settle(house, "authenticate", { session_token: demo })).player_ref, seat.ref)
      const elsewhere = dataOf(yield* house.launch(seat.id, {}, rival.slots)).session_token
      const forged = `${seat.token.slice(0, -1)}${seat.token.endsWith("A") ? "B" : "A"}`
      yield* settle(house, "bet", betOf(seat, `${id}b`))
      const assertNoBet = Effect.fnUntraced(function*(token: string) {
        const body = betOf({ ...seat, token }, `${id}x`)
        const win = { transaction_id: `${id}y`, amount: 1 }
        for (
          const [path, message] of [
            ["bet", body],
            ["bet-win", { ...body, win }],
            ["batch", { actions: [{ action: "bet", ...body }] }]
          ] as const
        ) assertRefused(yield* house.callWallet(path, message), 401, "INVALID_SESSION")
      })
      for (const token of [demo, elsewhere, forged, "gs_nobody"]) yield* assertNoBet(token)
      yield* pass(12 * hourMs)
      yield* assertNoBet(seat.token)
      for (const path of ["authenticate", "balance"]) {
        assertRefused(yield* house.callWallet(path, { session_token: seat.token }), 401, "INVALID_SESSION")
      }
      for (
        const [path, body] of [
          ["win", winOf(seat, `${id}w`, `${id}b`)],
          ["rollback", rollbackOf(seat, `${id}r`, `${id}w`)],
          ["promo-win", promoOf(seat, `${id}p`)]
        ] as const
      ) assert.strictEqual((yield* settle(house, path, body)).status, "processed")
      yield* settle(house, "balance", { player_ref: seat.ref })
      const token = dataOf(yield* house.launch(seat.id)).session_token
      assert.strictEqual((yield* settle(house, "bet", betOf({ ...seat, token }, `${id}x`))).status, "processed")
    })))

  it.effect("CONTRACT 2 bet-win: is one step, which books both or neither", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const body = { ...betOf(seat, `${id}b`), win: { transaction_id: `${id}w`, amount: 30 }, round_closed: true }
      const both = yield* settle(house, "bet-win", body)
      assert.deepInclude(both, { transaction_id: `${id}b`, status: "processed", real_amount: -70, balance: 930 })
      assert.deepInclude(both, { wallet_seq: 2, round_state: "closed" })
      assert.lengthOf(both.wallet_transaction_ids, 2)
      const entries = (yield* ledgerOf(house, seat)).slice(0, 2).map(([type, amount]) => [type, amount])
      assert.deepStrictEqual(entries, [["casino_win", 30], ["casino_bet", -100]])
      assert.deepStrictEqual(yield* settle(house, "bet-win", body), { ...both, status: "replayed" })
      assert.strictEqual(yield* statusOf(house, `${id}w`), "processed")
      const next = betOf(seat, `${id}c`, { round_id: `next of ${seat.id}` })
      const dear = { ...next, amount: 931, win: { transaction_id: `${id}x`, amount: 5000 } }
      assertRefused(yield* house.callWallet("bet-win", dear), 402, "INSUFFICIENT_FUNDS")
      assertRefused(yield* house.callWallet("bet-win", { ...next, win: body.win }), 409, "DUPLICATE_TRANSACTION")
      for (const end of ["c", "x"]) assert.strictEqual(yield* statusOf(house, id + end), "unknown")
      const undo = (end: string, target: string) =>
        house.callWallet("rollback", rollbackOf(seat, id + end, id + target))
      assertRefused(yield* undo("r", "b"), 409, "BET_ALREADY_SETTLED")
      assert.deepInclude(dataOf(yield* undo("r", "w")), { real_amount: -30, balance: 900 })
      assert.deepInclude(dataOf(yield* undo("s", "b")), { real_amount: 100, balance: 1000 })
    }))

  it.effect("CONTRACT 2 batch: is executed in order, all or nothing; actions that were settled before are replayed in their place", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const actions = [
        { action: "bet", ...betOf(seat, `${id}b`) },
        { action: "bet", ...betOf(seat, `${id}c`, { amount: 50 }) },
        { action: "win", ...winOf(seat, `${id}w`, `${id}b`) },
        { action: "rollback", ...rollbackOf(seat, `${id}r`, `${id}w`) },
        { action: "win", ...winOf(seat, `${id}v`, `${id}c`, { amount: 0 }) },
        { action: "rollback", ...rollbackOf(seat, `${id}s`, `${id}b`) },
        { action: "rollback", ...rollbackOf(seat, `${id}t`, `${id}never`) }
      ]
      const shown = (results: ReadonlyArray<Fields>) =>
        results.map(({ balance, real_amount, status, wallet_seq }) => [status, real_amount, balance, wallet_seq])
      const done = yield* settle(house, "batch", { request_id: "batch", actions })
      assert.strictEqual(done.request_id, "batch")
      assert.deepStrictEqual(
        done.results.map((result: Fields) => result["transaction_id"]),
        actions.map(({ transaction_id }) => transaction_id)
      )
      assert.deepStrictEqual(shown(done.results), [
        ["processed", -100, 900, 2],
        ["processed", -50, 850, 3],
        ["processed", 250, 1100, 4],
        ["processed", -250, 850, 5],
        ["processed", 0, 850, 5],
        ["processed", 100, 950, 6],
        ["ignored", 0, 950, 6]
      ])
      const five = { action: "bet", ...betOf(seat, `${id}n`, { amount: 5 }) }
      const mixed = yield* settle(house, "batch", { actions: [...actions, five] })
      assert.deepStrictEqual(shown(mixed.results).map(([status]) => status), [
        ...Array<string>(7).fill("replayed"),
        "processed"
      ])
      const refused = yield* house.callWallet("batch", {
        actions: [
          { action: "bet", ...betOf(seat, `${id}x`) },
          { action: "win", ...winOf(seat, `${id}y`, `${id}x`) },
          { action: "bet", ...betOf(seat, `${id}z`, { amount: 5000 }) }
        ]
      })
      assertRefused(refused, 402, "INSUFFICIENT_FUNDS")
      assert.strictEqual(refused.details["action_index"], 2)
      assert.strictEqual(yield* statusOf(house, `${id}x`), "unknown")
      assert.deepStrictEqual(yield* house.balances(seat.id), [945, 0])
    }))

  it.effect("CONTRACT 2 batch: takes 1 to 100 actions of one player", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const [seat, someone] = [yield* house.sit(1000), yield* house.sit(1000)]
      const id = fresh("t")
      const one = (index: number) => ({ action: "bet", ...betOf(seat, `${id}-${index}`, { amount: 1 }) })
      const many = (count: number) => Array.from({ length: count }, (_, index) => one(index))
      for (
        const actions of [
          [],
          many(101),
          [one(0), { action: "bet", ...betOf(someone, `${id}x`) }],
          [{ action: "rob" }]
        ]
      ) assertRefused(yield* house.callWallet("batch", { actions }), 422, "VALIDATION_FAILED")
      assert.strictEqual(yield* statusOf(house, `${id}-0`), "unknown")
      const { results } = yield* settle(house, "batch", { actions: many(100) })
      const last: Fields = results[99]
      assert.deepStrictEqual([last["wallet_seq"], last["balance"]], [101, 900])
    }))

  it.effect("CONTRACT 2 promo-win: books a real-money entry of the type of its kind, and needs no session or round", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(0)
      const id = fresh("t")
      const types = {
        jackpot: "casino_win",
        tournament: "tournament_prize",
        free_rounds: "casino_win",
        cash_drop: "casino_win"
      }
      for (const [kind, type] of Object.entries(types)) {
        const paid = yield* settle(house, "promo-win", promoOf(seat, id + kind, { kind }))
        assert.deepInclude(paid, { status: "processed", real_amount: 70, round_state: "closed" })
        const [newest] = dataOf(yield* house.get(`/players/${seat.id}/transactions`))
        assert.deepInclude(newest, { type, wallet: "real", amount: 70, game_id: null, game_round_id: null })
      }
      for (const more of [{ kind: "lottery" }, { amount: 0 }, { currency: "USD" }]) {
        assertRefused(yield* house.callWallet("promo-win", promoOf(seat, `${id}x`, more)), 422, "VALIDATION_FAILED")
      }
    }))

  it.effect("CONTRACT 2 a free bet moves nothing and names its campaign; its win is paid", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(0)
      const id = fresh("t")
      for (const [field, more] of [["amount", {}], ["campaign_id", { is_free: true }]] as const) {
        const refused = yield* house.callWallet("bet", betOf(seat, `${id}x`, { amount: 0, ...more }))
        assertRefused(refused, 422, "VALIDATION_FAILED")
        assert.property(refused.details, field)
      }
      const free = { amount: 0, is_free: true, campaign_id: "spins" }
      const bet = yield* settle(house, "bet", betOf(seat, `${id}b`, free))
      assert.deepInclude(bet, { status: "processed", real_amount: 0, balance: 0, wallet_seq: 0 })
      assert.deepStrictEqual(bet.wallet_transaction_ids, [])
      const win = yield* settle(house, "win", winOf(seat, `${id}w`, `${id}b`))
      assert.deepInclude(win, { real_amount: 250, balance: 250, wallet_seq: 1 })
      const back = yield* house.callWallet("rollback", rollbackOf(seat, `${id}r`, `${id}b`))
      assertRefused(back, 409, "BET_ALREADY_SETTLED")
    }))

  it.effect("CONTRACT 2 a free bet with an amount is refused in every call that bets, unless its id is known", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const id = fresh("t")
      const free = { is_free: true, campaign_id: "spins" }
      const known = betOf(seat, `${id}known`, { amount: 100 })
      yield* settle(house, "bet", known)
      const bet = (name: string) => ({ ...betOf(seat, `${id}${name}`, { amount: 100 }), ...free })
      const refusals = [
        yield* house.callWallet("bet", bet("a")),
        yield* house.callWallet("bet", { ...bet("a"), amount: 1 }),
        yield* house.callWallet("bet-win", { ...bet("b"), win: { transaction_id: `${id}w`, amount: 50 } }),
        yield* house.callWallet("batch", { actions: [{ action: "bet", ...bet("c") }] })
      ]
      for (const refused of refusals) {
        assertRefused(refused, 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(
          Object.keys(refused.details).filter((name) => !["retry", "action_index"].includes(name)),
          ["amount"]
        )
      }
      // whatever else a retry says, what happened has happened
      const again = yield* settle(house, "bet", { ...known, ...free })
      assert.deepInclude(again, { status: "replayed", real_amount: -100, balance: 900 })
    }))

  it.effect("CONTRACT 2 game, player and currency must be those of the provider and the player", () =>
    Effect.gen(function*() {
      const [house, rival] = [yield* SharedCasino, yield* openCasino()]
      const own = yield* openCasino()
      const [seat, someone] = [yield* house.sit(1000), yield* house.sit(1000)]
      const id = fresh("t")
      yield* settle(house, "bet", betOf(seat, `${id}b`))
      const x = `${id}x`
      assertRefused(yield* house.callWallet("bet", betOf(seat, x, { game_id: "none" })), 404, "NOT_FOUND")
      assertRefused(yield* house.callWallet("win", winOf(seat, x, `${id}b`, { game_id: "none" })), 404, "NOT_FOUND")
      assertRefused(yield* house.callWallet("round/close", closeOf(seat, { game_id: "none" })), 404, "NOT_FOUND")
      for (const [path, body] of [["bet", betOf(seat, x)], ["win", winOf(seat, x, `${id}b`)]] as const) {
        const refused = yield* house.callWallet(path, { ...body, currency: "USD" })
        assertRefused(refused, 422, "VALIDATION_FAILED")
        assert.property(refused.details, "currency")
      }
      const messages: ReadonlyArray<readonly [path: string, body: (seat: Seat) => Fields]> = [
        ["win", (seat) => winOf(seat, x, `${id}b`)],
        ["rollback", (seat) => rollbackOf(seat, x, `${id}b`)],
        ["promo-win", (seat) => promoOf(seat, x)],
        ["round/close", (seat) => closeOf(seat)],
        ["balance", ({ ref }) => ({ player_ref: ref })],
        ["batch", (seat) => ({ actions: [{ action: "rollback", ...rollbackOf(seat, x, `${id}b`) }] })]
      ]
      for (const [path, body] of messages) {
        assertRefused(yield* rival.callWallet(path, body(seat)), 404, "NOT_FOUND")
        assertRefused(yield* house.callWallet(path, body({ ...seat, ref: "pr_nobody" })), 404, "NOT_FOUND")
      }
      // a demo session has the player's id, and gives the provider no player to credit
      const session_token = dataOf(yield* house.launch(seat.id, { mode: "demo" }, own.slots)).session_token
      const { player_ref: ref } = yield* settle(own, "authenticate", { session_token })
      assertRefused(yield* own.callWallet("promo-win", promoOf({ ...seat, ref }, x)), 404, "NOT_FOUND")
      assertRefused(yield* house.callWallet("win", winOf(someone, x, `${id}b`)), 404, "BET_NOT_FOUND")
      assertRefused(yield* house.callWallet("rollback", rollbackOf(someone, x, `${id}b`)), 404, "NOT_FOUND")
      const again = yield* settle(house, "bet", betOf(seat, `${id}b`))
      assert.deepInclude(again, { status: "replayed", balance: 900 })
    }))

  it.effect("CONTRACT 2 credentials are checked on every message; an identical message sent again is not refused as a replay; no rate limit applies", () =>
    Effect.gen(function*() {
      const house = yield* SharedCasino
      const seat = yield* house.sit(1000)
      const signer = studioOf(house)
      const path = "/api/v1/provider/wallet/bet"
      const body = betOf(seat, fresh("t"))
      const timestamp = yield* unixSeconds
      const headers = signedHeaders(signer, path, { body, timestamp, nonce: "once" })
      const wrong: ReadonlyArray<readonly [code: string, headers: { readonly [name: string]: string }]> = [
        ["INVALID_API_KEY", { "X-Provider-Key": "pbp_live_nobody" }],
        ["TIMESTAMP_OUT_OF_RANGE", { "X-Timestamp": String(timestamp + 301) }],
        ["INVALID_SIGNATURE", { "X-Nonce": "another" }]
      ]
      for (const [code, more] of wrong) {
        assertRefused(yield* plainCall(path, { body, headers: { ...headers, ...more } }), 401, code)
      }
      for (const status of ["processed", "replayed"]) {
        const answer = yield* plainCall(path, { body, headers })
        assert.deepInclude(dataOf(answer), { status, balance: 900 })
        assert.notProperty(answer.headers, "x-ratelimit-limit")
      }
      // a refusal is not stored
      const dear = betOf(seat, fresh("t"), { amount: 1000 })
      assertRefused(yield* house.callWallet("bet", dear), 402, "INSUFFICIENT_FUNDS")
      dataOf(yield* house.deposit(seat.id, 100), 201)
      assert.deepInclude(yield* settle(house, "bet", dear), { status: "processed", balance: 0 })
    }))
})
