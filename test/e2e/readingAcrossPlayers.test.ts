import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Compliance } from "../../src/features/compliance/Compliance.ts"
import { layerCasinos } from "../kit/Backoffice.ts"
import {
  assertRefused,
  type Casino,
  dataOf,
  type Fields,
  fresh,
  made,
  openCasino,
  staff,
  staffCall
} from "../kit/Casino.ts"
import { dayMs, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"

// Goal: staff find events by any known identifier: a round by its provider's id, entries by a message, a player by a
// prefix; and each list ends without losing or repeating a line. Method: played over HTTP, read through the staff API.

/** A line of a list; its contents are not checked here. */
interface Line {
  readonly [field: string]: string | number | null
}

interface Answer {
  readonly data: ReadonlyArray<Line>
  readonly meta: { readonly next_cursor: string | null }
}

const page = (path: string) =>
  Effect.map(staffCall("GET", `/backoffice/v1${path}`), (answer) => {
    assert.strictEqual(answer.status, 200, `${path} ${JSON.stringify(answer)}`)
    return answer
  })

/** All lines of a list, read in parts of `limit`, which the list names so or `per_page`. */
const walk = Effect.fnUntraced(function*(path: string, limit: number, size: "limit" | "per_page" = "limit") {
  const lines: Array<Line> = []
  let cursor: string | null = null
  for (let pages = 1; pages < 200; pages++) {
    const { data, meta }: Answer = yield* page(
      `${path}${path.includes("?") ? "&" : "?"}${size}=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`
    )
    assert.isAtMost(data.length, limit)
    lines.push(...data)
    if (meta.next_cursor === null) return lines
    cursor = meta.next_cursor
  }
  return assert.fail(`${path} does not end`)
})

const roundPath = (casino: Casino, round: string, game = "slots") => `/rounds/${casino.studio.slug}/${game}/${round}`

const kindsOf = (messages: ReadonlyArray<Line>) => messages.map(({ kind, status }) => `${kind} ${status}`)

layer(layerCasinos, { excludeTestServices: true })("staff reads across players", (it) => {
  it.effect("a round shows every received message, its entries, and what was rolled back", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const round = fresh("round/")
      const bet = dataOf(yield* seat.bet(100, { round_id: round })).transaction_id
      yield* pass(1000)
      const second = dataOf(yield* seat.bet(50, { round_id: round })).transaction_id
      yield* pass(1000)
      dataOf(yield* seat.rollback(second))
      yield* pass(1000)
      dataOf(yield* seat.win(bet, 300, { round_id: round }))

      const shown = yield* staff("GET", roundPath(casino, encodeURIComponent(round)))
      assert.deepInclude(shown.players[0], {
        operator_id: casino.id,
        player_id: seat.id,
        state: "closed",
        real_stake: 100,
        wins: 300
      })
      assert.deepStrictEqual(kindsOf(shown.messages), [
        "bet processed",
        "bet processed",
        "rollback processed",
        "win processed"
      ])
      assert.deepStrictEqual(
        shown.messages.map((message: Line) => message["rolled_back_by"] !== null),
        [false, true, false, false]
      )
      assert.deepStrictEqual(shown.entries.map((entry: Line) => entry["amount"]), [-100, -50, 50, 300])

      // by our id of the game, by a message alone, by the id of an entry, and by the name of the game
      const again = yield* staff("GET", `/rounds/${casino.studio.id}/${casino.slots.id}/${encodeURIComponent(round)}`)
      assert.deepStrictEqual(again, shown)
      for (
        const filter of [
          `transaction=${bet}&provider=${casino.studio.slug}`,
          `transaction=${bet}`,
          `transaction=${shown.entries[0].id}`,
          `player=${seat.id}&game=${encodeURIComponent(casino.slots.name.toUpperCase())}`,
          `player=${seat.id}&game=${casino.slots.id}`,
          `provider=${casino.studio.slug}&player=${seat.id}&game=slots`
        ]
      ) {
        const [line, ...others] = yield* staff("GET", `/rounds?${filter}`)
        assert.deepStrictEqual(others, [], filter)
        assert.deepInclude(line, {
          round_id: round,
          player_id: seat.id,
          state: "closed",
          game_external_id: "slots",
          real_stake: 100,
          wins: 300,
          result: 200,
          taken_back: 1
        })
      }
      assert.strictEqual((yield* staffCall("GET", `/backoffice/v1${roundPath(casino, "nothing")}`)).code, "NOT_FOUND")
      assert.deepStrictEqual(yield* staff("GET", "/rounds?transaction=abc"), [])
      assert.strictEqual((yield* staffCall("GET", "/backoffice/v1/rounds?game=nothing")).code, "NOT_FOUND")
    })))

  it.effect("a message id identifies its round, unless two providers use the same id", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* openCasino(), yield* openCasino()]
      const id = fresh("same-")
      for (const casino of [one, other]) {
        const seat = yield* casino.sit(1000)
        dataOf(yield* seat.bet(100, { transaction_id: id, round_id: id }))
      }
      for (const list of ["/rounds", "/ledger/entries"]) {
        const refused = yield* staffCall("GET", `/backoffice/v1${list}?transaction=${id}`)
        assertRefused(refused, 422, "VALIDATION_FAILED")
        // within one operator there is one
        for (const filter of [`operator=${one.slug}`, `provider=${one.studio.slug}`]) {
          const [line, ...others] = yield* staff("GET", `${list}?transaction=${id}&${filter}`)
          assert.strictEqual(line.operator_id, one.id, `${list} ${filter}`)
          assert.deepStrictEqual(others, [])
        }
      }
    }))

  it.effect("a rollback that came before its bet is shown with its tombstone", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const bet = fresh("early-")
      dataOf(yield* seat.rollback(bet))
      const late = yield* seat.bet(100, { transaction_id: bet, round_id: bet })
      assert.isAtLeast(late.status, 400)
      const shown = yield* staff("GET", roundPath(casino, bet))
      assert.sameMembers(kindsOf(shown.messages), ["rollback ignored", "tombstone processed"])
      assert.deepStrictEqual(shown.players, [])
    })))

  it.effect("a round of a live table shows all its players, or the one asked for", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const round = fresh("table-")
      const seats = [yield* casino.sit(1000), yield* casino.sit(1000)]
      for (const seat of seats) dataOf(yield* seat.bet(10, { round_id: round }))
      const of = (shown: { readonly players: ReadonlyArray<Fields> }) =>
        shown.players.map((player) => player["player_id"])
      assert.sameMembers(of(yield* staff("GET", roundPath(casino, round))), seats.map(({ id }) => id))
      assert.deepStrictEqual(of(yield* staff("GET", `${roundPath(casino, round)}?player=${seats[1]?.id}`)), [
        seats[1]?.id
      ])
    }))

  it.effect("the pages of entries and rounds together contain every row, across players and hours", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const rounds: Array<string> = []
      const seats = [yield* casino.sit(10_000), yield* casino.sit(10_000)]
      for (let day = 0; day < 3; day++) {
        for (const seat of seats) {
          for (let bets = 0; bets < 3; bets++) rounds.push(dataOf(yield* seat.bet(10 + bets)).transaction_id)
        }
        yield* pass(40 * minuteMs)
      }
      const operator = `operator=${casino.slug}`
      const entries = yield* walk(`/ledger/entries?${operator}`, 4)
      const sql = yield* SqlClient.SqlClient
      const stored = yield* sql<{ readonly id: number }>`SELECT id FROM ledger_entries WHERE operator_id = ${casino.id}
        ORDER BY created_at DESC, id DESC`
      assert.deepStrictEqual(entries.map(({ id }) => Number(id)), stored.map(({ id }) => id))
      assert.strictEqual(stored.length, 20)
      const played = (yield* walk(`/rounds?${operator}`, 5)).map(({ round_id: id }) => String(id))
      assert.sameMembers(played, rounds)
      assert.strictEqual(new Set(played).size, played.length)

      const count = (filter: string) => Effect.map(walk(`/ledger/entries?${filter}`, 3), (lines) => lines.length)
      const [first, other] = seats
      assert.deepStrictEqual([
        yield* count(`player=${first?.id}`),
        yield* count(`player=${first?.id}&type=deposit`),
        yield* count(`${operator}&type=casino_bet&currency=EUR&min_amount=11&max_amount=11`),
        yield* count(`transaction=${rounds[4]}`),
        yield* count(`provider=${casino.studio.slug}&round=${rounds[5]}`),
        yield* count(`${operator}&from=2200-01-01T00:00:00Z`),
        (yield* walk(`/rounds?player=${other?.id}&state=open`, 2)).length,
        (yield* walk(`/rounds?player=${other?.id}&state=closed`, 2)).length
      ], [10, 1, 6, 1, 1, 0, 9, 0])
      // excludes another operator's data
      const elsewhere = (yield* openCasino()).slug
      assert.deepStrictEqual(yield* walk(`/rounds?operator=${elsewhere}`, 5), [])
      assert.deepStrictEqual(yield* walk(`/rounds?operator=${elsewhere}&player=${other?.id}`, 5), [])
    })))

  it.effect("the search finds players, payments, rounds, operators and games by id or by the beginning of a name", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000, { external_id: fresh("Crm_%"), email: `${fresh("Mail.")}@example.com` })
      const bet = dataOf(yield* seat.bet(10)).transaction_id
      const reference = fresh("psp-")
      const payment = dataOf(yield* casino.deposit(seat.id, 100, { external_reference: reference }), 201)
      const found = (q: string) =>
        Effect.map(
          staff("GET", `/search?q=${encodeURIComponent(q)}`),
          (lines: ReadonlyArray<Line>) => lines.map(({ href, kind }) => `${kind} ${href}`)
        )
      const player = `player /players/${seat.id}`
      assert.include(yield* found(seat.player.username.toUpperCase()), player)
      assert.include(yield* found(seat.player.email.slice(0, -8)), player)
      assert.include(yield* found(seat.player.external_id), player)
      assert.include(yield* found(String(seat.id)), player)
      assert.notInclude(yield* found("%"), player)
      assert.include(yield* found(reference), `payment /payments?id=${payment.id}`)
      const round = roundPath(casino, bet)
      assert.includeMembers([...yield* found(bet)], [
        `round ${round}`,
        `transaction /messages/${casino.studio.slug}/${bet}`
      ])
      assert.include(yield* found(casino.slug), `operator /operators?operator=${casino.slug}`)
      assert.include(
        yield* found(`slots of ${casino.slug}`),
        `game /games?provider=${casino.studio.slug}&game=${casino.slots.id}`
      )
    }))

  it.effect("players are paged in both orders, and found by the beginning of a name", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const players: Array<Line> = []
      for (let index = 0; index < 5; index++) players.push(yield* casino.register())
      const ids = players.map(({ id }) => Number(id))
      const walked = Effect.fnUntraced(function*(query: string) {
        const seen: Array<number> = []
        let cursor: string | null = ""
        while (cursor !== null) {
          const { data, meta }: Answer = yield* page(
            `/players?operator=${casino.slug}&per_page=2&cursor=${cursor}&${query}`
          )
          seen.push(...data.map(({ id }) => Number(id)))
          cursor = meta.next_cursor
        }
        return seen
      })
      assert.deepStrictEqual(yield* walked("sort=oldest"), ids)
      assert.deepStrictEqual(yield* walked("sort=newest"), ids.toReversed())
      assert.deepStrictEqual(yield* walked("search=player"), ids.toReversed())
      const name = String(players[2]?.["username"])
      const [typed] = yield* staff("GET", `/players?starting_with=${name.toUpperCase()}`)
      assert.strictEqual(typed.id, ids[2])
      // no list across players counts, or reads what lies before a page
      for (const list of ["/players", "/payments", "/games"]) {
        assert.property((yield* staffCall("GET", `/backoffice/v1${list}?page=2`)).details, "page")
      }
    }))

  it.effect("a player's timeline shows everything once, in order, and audit lines only to roles that may read them", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(200_000)
      yield* pass(minuteMs)
      dataOf(yield* casino.limit(seat.id, { max_daily_deposit: 500_000 }))
      yield* pass(minuteMs)
      for (let bets = 0; bets < 4; bets++) dataOf(yield* seat.bet(10))
      yield* pass(minuteMs)
      yield* staff("POST", `/players/${seat.id}/notes`, { text: "Called about the limit." })
      yield* staff("POST", `/players/${seat.id}/status`, { status: "locked", reason: "asked for it" })
      const path = `/players/${seat.id}/timeline`
      const lines = yield* walk(path, 3)
      assert.deepStrictEqual(lines, yield* walk(path, 100))
      const times = lines.map(({ at }) => String(at))
      assert.deepStrictEqual(times, times.toSorted().toReversed())
      const kinds = lines.map(({ kind }) => kind)
      const count = (kind: string) => kinds.filter((one) => one === kind).length
      assert.deepStrictEqual(
        [
          count("entry"),
          count("play"),
          count("payment"),
          count("session"),
          count("limit"),
          count("note"),
          count("audit")
        ],
        [1, 1, 1, 1, 1, 2, 1]
      )
      const play = lines.find(({ kind }) => kind === "play")
      assert.deepInclude(play, { title: casino.slots.name, detail: "4 rounds", amount: -40 })
      assert.deepStrictEqual(yield* walk(`${path}?kind=play`, 1), [play])
      assert.strictEqual(new Set(lines.map(({ id, kind, title }) => `${kind} ${id} ${title}`)).size, lines.length)
      const bets = yield* walk(`${path}?kind=entry`, 2)
      assert.deepStrictEqual(bets.map(({ amount }) => amount), [-10, -10, -10, -10, 200_000])
      assert.match(String(bets[0]?.["href"]), new RegExp(`^/rounds/${casino.studio.slug}/slots/`))

      const support = yield* made("/staff", { name: fresh("support "), role: "support" })
      const seen = yield* staffCall("GET", `/backoffice/v1${path}?limit=100`, undefined, {
        authorization: `Bearer ${support.token}`
      })
      assert.notInclude(seen.data.map(({ kind }: Line) => kind), "audit")
      assert.include(seen.data.map(({ kind }: Line) => kind), "limit")

      const sessions = yield* walk(`/players/${seat.id}/sessions`, 1)
      assert.deepStrictEqual(sessions.map(({ game_id, mode }) => [game_id, mode]), [[casino.slots.id, "real"]])
    })))

  // Goal: what a player's tabs list within a period is what happened then. Method: the same on three days, each asked for alone.
  it.effect("a player's lists can be limited to a period", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ type: "no_deposit" })
      const { id } = yield* casino.register()
      yield* staff("PATCH", "/alert-rules/large_deposit", { operator: casino.slug, threshold: 500 })
      const lists = {
        bonuses: `/players/${id}/bonuses`,
        sessions: `/players/${id}/sessions`,
        notes: `/players/${id}/notes`,
        alerts: `/alerts?player=${id}`,
        timeline: `/players/${id}/timeline`,
        entries: `/players/${id}/timeline?kind=entry`
      }
      const days: Array<{ readonly from: string; readonly to: string }> = []
      for (let day = 0; day < 3; day++) {
        const from = yield* Clock.currentTimeMillis
        dataOf(yield* casino.deposit(id, 1000 + day), 201)
        yield* Effect.repeat((yield* Compliance).run, { while: ({ hasMore }) => hasMore })
        dataOf(yield* casino.launch(id))
        dataOf(yield* casino.grant(id, bonus.id), 201)
        yield* staff("POST", `/players/${id}/notes`, { text: `Day ${day}` })
        days.push({ from: new Date(from).toISOString(), to: new Date(from + minuteMs).toISOString() })
        yield* pass(dayMs)
      }
      for (const [name, path] of Object.entries(lists)) {
        const size = name === "bonuses" || name === "notes" ? "per_page" : "limit"
        const all = yield* walk(path, 100, size)
        const ofDays = yield* Effect.forEach(days, ({ from, to }) =>
          walk(`${path}${path.includes("?") ? "&" : "?"}from=${from}&to=${to}`, 2, size))
        for (const lines of ofDays) {
          assert.isAbove(lines.length, 0, name)
        }
        // newest first, as the whole list is
        assert.deepStrictEqual(ofDays.toReversed().flat(), all, name)
      }
      assert.deepStrictEqual(yield* walk(`${lists.timeline}?from=${days[2]?.to ?? ""}`, 2), [])
    })))

  // Goal: 1,000 yen are not taken for 10 euros. Method: deposits in two currencies, each list asked with and without a currency.
  it.effect("lists are sorted or filtered by amount only within one currency", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const euro = yield* casino.register()
      const yen = yield* casino.register({ currency: "JPY" })
      for (const [{ id }, amount] of [[euro, 1000], [yen, 900], [euro, 500]] as const) {
        dataOf(yield* casino.deposit(id, amount, { external_reference: fresh("psp-") }), 201)
      }
      const operator = `operator=${casino.slug}`
      const amounts = (path: string) => Effect.map(page(path), ({ data }: Answer) => data.map(({ amount }) => amount))
      const needsCurrency = { currency: ["is required to compare amounts: name the currency of the amounts"] }
      for (
        const list of [
          `/payments?${operator}&sort=amount`,
          `/payments?${operator}&min_amount=600`,
          `/ledger/entries?${operator}&min_amount=600`,
          `/ledger/entries?${operator}&max_amount=600`
        ]
      ) {
        assertRefused(yield* staffCall("GET", `/backoffice/v1${list}`), 422, "VALIDATION_FAILED", needsCurrency)
      }
      assert.deepStrictEqual([
        yield* amounts(`/payments?${operator}&sort=amount&currency=EUR`),
        yield* amounts(`/payments?${operator}&sort=amount&currency=JPY`),
        yield* amounts(`/payments?${operator}&min_amount=600&player=${yen.id}`),
        yield* amounts(`/payments?${operator}&currency=EUR&min_amount=600`),
        yield* amounts(`/payments?${operator}&currency=SEK`),
        yield* amounts(`/ledger/entries?${operator}&min_amount=600&currency=JPY`),
        yield* amounts(`/ledger/entries?max_amount=600&player=${euro.id}`)
      ], [[1000, 500], [900], [900], [1000], [], [900], [500]])
    }))

  it.effect("a waiting withdrawal shows what it waits for and why the signed-in account may not act; payments are paged in every order", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino({ withdrawal_second_approval_above: 500 })
      const clerks = [
        yield* made("/staff", { name: fresh("one "), role: "payments" }),
        yield* made("/staff", { name: fresh("two "), role: "payments" })
      ]
      const as = (clerk: Line | undefined) => ({ authorization: `Bearer ${clerk?.["token"]}` })
      yield* pass(minuteMs)
      const ids: Array<number> = []
      for (const amount of [900, 100, 300]) {
        const { id } = yield* casino.register()
        dataOf(yield* casino.deposit(id, 1000), 201)
        ids.push(dataOf(yield* casino.withdraw(id, amount), 201).id)
        yield* pass(1000)
      }
      const [large, small] = ids
      const seen = (clerk: Line | undefined, id = large) =>
        Effect.map(
          staffCall("GET", `/backoffice/v1/payments/${id}`, undefined, as(clerk)),
          ({ data }) => [...data.waiting_for, data.objection]
        )
      const [one, two] = clerks
      assert.deepStrictEqual(yield* seen(one), ["approval", "second_approval", null])
      assert.deepStrictEqual(yield* seen(one, small), ["approval", null])
      const approved = yield* staffCall("POST", `/backoffice/v1/payments/${large}/approve`, {}, as(one))
      assert.deepStrictEqual([approved.data.waiting_for, approved.data.objection], [
        ["second_approval"],
        "second_approver"
      ])
      assert.deepStrictEqual(yield* seen(two), ["second_approval", null])
      yield* staffCall("POST", `/backoffice/v1/payments/${large}/approve`, {}, as(two))
      assert.deepStrictEqual(yield* seen(two), ["payout", "approver_pays"])

      const walked = Effect.fnUntraced(function*(query: string) {
        const found: Array<number> = []
        let cursor: string | null = ""
        while (cursor !== null) {
          const { data, meta }: Answer = yield* page(
            `/payments?operator=${casino.slug}&type=withdrawal&per_page=2&cursor=${cursor}&${query}`
          )
          found.push(...data.map(({ id }) => Number(id)))
          cursor = meta.next_cursor
        }
        return found
      })
      assert.deepStrictEqual([
        yield* walked(""),
        yield* walked("sort=oldest"),
        yield* walked("sort=amount&currency=EUR"),
        yield* walked("status=new&currency=EUR&min_amount=200")
      ], [ids.toReversed(), ids, [large, ids[2], small], [ids[2]]])
    })))
})
