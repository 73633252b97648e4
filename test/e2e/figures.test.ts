import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Http from "node:http"
import { FigureReadings } from "../../src/features/figures/FigureReadings.ts"
import { StreamPeriods } from "../../src/features/figures/LiveStreams.ts"
import { GameSums } from "../../src/features/reports/GameSums.ts"
import { BonusCosts } from "../../src/features/reports/BonusCosts.ts"
import { layerBothServers, layerCasinos } from "../kit/Backoffice.ts"
import { BothServers, dataOf, type Fields, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { goTo, pass, whileTimePasses } from "../kit/Calendar.ts"
import { nodesOfRun } from "../kit/NodesInProcess.ts"
import { noon } from "../kit/Noon.ts"

// Goal: the first page of staff shows actual figures, by the hour and against last week, and updates by itself. Method: play and
// payments over HTTP on a calendar of the test's, the readings made by the job; a stream read from a socket.

const hourMs = 3_600_000

/** Server-sent events of one open stream as they arrive. */
const listen = Effect.fnUntraced(function*(token: string, path = "/backoffice/v1/live") {
  const { backofficePort } = yield* BothServers
  const state = { status: 0, text: "", isOver: false }
  const request = Http.get({
    host: "127.0.0.1",
    port: backofficePort,
    path,
    headers: { authorization: `Bearer ${token}` },
    agent: false
  }, (response) => {
    state.status = response.statusCode ?? 0
    response.on("data", (chunk: Buffer) => {
      state.text += chunk.toString("utf8")
    })
    response.on("close", () => {
      state.isOver = true
    })
  })
  request.on("error", () => {
    state.isOver = true
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => request.destroy()))
  return {
    state,
    leave: Effect.sync(() => request.destroy()),
    until: (isSo: (state: { readonly status: number; readonly text: string; readonly isOver: boolean }) => boolean) =>
      Effect.callback<void>((resume) => {
        const timer = setInterval(() => {
          if (!isSo(state)) return
          clearInterval(timer)
          resume(Effect.void)
        }, 20)
        return Effect.sync(() => clearInterval(timer))
      })
  }
})

layer(layerCasinos, { excludeTestServices: true })("figures", (it) => {
  it.effect("of a day and its hours equal what was played and paid, and are compared with the same time last week", () =>
    Effect.gen(function*() {
      const readings = yield* FigureReadings
      const casino = yield* openCasino()
      const series = (metric: string, step: string, more = "") =>
        Effect.map(
          staff(
            "GET",
            `/reports/series?operator=${casino.slug}&metric=${metric}&step=${step}&from=2026-11-20&to=2026-11-27${more}`
          ),
          ({ points }: { readonly points: ReadonlyArray<{ readonly at: string; readonly value: number | null }> }) =>
            points.filter(({ value }) => value !== null && value !== 0).map(({ at, value }) => [at.slice(0, 13), value])
        )
      const overview = staff("GET", `/overview?operator=${casino.slug}`)

      // 12:00: start of the calendar
      const seat = yield* casino.sit(1000)
      dataOf(yield* seat.bet(100))
      yield* pass(hourMs)
      yield* readings.readHour
      yield* readings.readHour
      const { transaction_id: bet } = dataOf(yield* seat.bet(60))
      dataOf(yield* seat.win(bet, 10))
      yield* pass(hourMs)
      yield* readings.readHour
      assert.deepStrictEqual(yield* series("ggr", "day"), [["2026-11-20T00", 150]])
      assert.deepStrictEqual(yield* series("ggr", "hour"), [["2026-11-20T12", 100], ["2026-11-20T13", 50]])
      assert.deepStrictEqual(yield* series("rounds", "hour"), [["2026-11-20T12", 1], ["2026-11-20T13", 1]])
      assert.deepStrictEqual(yield* series("deposits", "hour"), [["2026-11-20T12", 1000]])
      assert.deepStrictEqual(yield* series("active_players", "hour"), [["2026-11-20T12", 1]])
      assert.deepStrictEqual(yield* series("registrations", "day"), [["2026-11-20T00", 1]])
      assert.deepStrictEqual(
        yield* series("bets", "hour", `&provider=${casino.studio.slug}`),
        [["2026-11-20T12", 100], ["2026-11-20T13", 60]]
      )
      const refused = yield* staffCall(
        "GET",
        `/backoffice/v1/reports/series?operator=${casino.slug}&metric=ggr&step=hour&from=2026-11-01&to=2026-11-20`
      )
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["to"]])
      const byProvider = yield* staff(
        "GET",
        `/reports/breakdown?operator=${casino.slug}&by=provider&from=2026-11-20&to=2026-11-20`
      )
      assert.deepInclude(byProvider.rows[0], { name: casino.studio.name, bets: 160, wins: 10, ggr: 150, rounds: 2 })

      // a week later at half past one: between two readings
      yield* pass(7 * 24 * hourMs - hourMs / 2)
      dataOf(yield* casino.withdraw(seat.id, 50), 201)
      const shown = yield* overview
      assert.deepInclude(shown.money[0], { currency: "EUR", ggr: 0, ggr_last_week: 125, ggr_compared: 0 })
      // an operator without a last week takes the comparison from none of the others
      const young = yield* openCasino()
      dataOf(yield* (yield* young.sit(1000)).bet(400))
      const { token } = yield* made("/staff", {
        name: fresh("two "),
        role: "support",
        operators: [casino.slug, young.slug]
      })
      const both = yield* staffCall("GET", "/backoffice/v1/overview", undefined, { authorization: `Bearer ${token}` })
      assert.deepInclude(both.data.money[0], {
        ggr: 400,
        ggr_last_week: 125,
        ggr_compared: 0,
        operators: 2,
        operators_compared: 1
      })
      // that there is a case is for those to know who work on them
      assert.deepStrictEqual([both.data.open_cases, shown.open_cases.count], [null, 0])
      assert.deepInclude(shown, { active_players: 0, deposits: 0, withdrawals: 1 })
      assert.deepStrictEqual(shown.pending_withdrawals, {
        count: 1,
        is_lower_bound: false,
        amounts: [{ currency: "EUR", amount: 50 }]
      })

      yield* readings.readFunds
      const funds = yield* staff("GET", `/reports/funds?operator=${casino.slug}`)
      assert.deepInclude(funds[0], { currency: "EUR", wallet: "real", amount: 800, players: 1 })
    }))

  // Goal: a report by game adds up to that by provider, and says until when. Method: play at two games, a jackpot of none and a prize; the job at once
  // and after ten minutes.
  it.effect("by game equal those by provider, up to the time of the job's last run", () =>
    Effect.gen(function*() {
      const { addUp } = yield* GameSums
      const casino = yield* openCasino()
      const seat = yield* casino.sit(100_000)
      dataOf(yield* seat.bet(700))
      const { transaction_id: bet } = dataOf(yield* seat.bet(300))
      dataOf(yield* seat.win(bet, 200))
      const table = dataOf(yield* casino.launch(seat.id, {}, casino.table))
      const { player_ref } = dataOf(yield* casino.callWallet("authenticate", { session_token: table.session_token }))
      dataOf(yield* casino.playOf(table.session_token, player_ref).bet(5000, { game_id: "table" }))
      for (const [kind, amount] of [["jackpot", 40], ["tournament", 9]] as const) {
        const id = fresh("promo-")
        const promo = {
          request_id: id,
          transaction_id: id,
          player_ref,
          amount,
          currency: "EUR",
          kind,
          campaign_id: "c"
        }
        dataOf(yield* casino.callWallet("promo-win", promo))
      }
      const report = (by: string) =>
        staff("GET", `/reports/breakdown?operator=${casino.slug}&by=${by}&from=2026-11-01&to=2026-11-30`)
      yield* addUp
      assert.deepStrictEqual((yield* report("game")).rows, [])
      const played = yield* Clock.currentTimeMillis
      yield* pass(600_001)
      yield* addUp
      yield* addUp
      const { as_of: until, rows } = yield* report("game")
      assert.isAbove(Date.parse(until), played)
      const studio = casino.studio.name
      assert.deepStrictEqual(
        rows.map(({ bets, ggr, name, provider, rounds, wins }: Fields) => ({
          bets,
          ggr,
          name,
          provider,
          rounds,
          wins
        })),
        [
          { bets: 5000, ggr: 5000, name: casino.table.name, provider: studio, rounds: 1, wins: 0 },
          { bets: 1000, ggr: 800, name: casino.slots.name, provider: studio, rounds: 2, wins: 200 },
          { bets: 0, ggr: -40, name: "No game", provider: studio, rounds: 0, wins: 40 }
        ]
      )
      const [whole] = (yield* report("provider")).rows
      assert.deepInclude(whole, { bets: 6000, wins: 240, rounds: 3 })
    }))

  // Goal: an operator at UTC+2 sees its own days. Method: play before and after its midnight, with every hour read, and then one missed.
  it.effect("by local day begin at the operator's midnight, or at the last earlier reading if the reading at midnight was missed", () =>
    whileTimePasses(Effect.gen(function*() {
      yield* goTo(noon)
      const readings = yield* FigureReadings
      const casino = yield* openCasino({ report_offset_hours: 2 })
      const seat = yield* casino.sit(100_000)
      const bet = (amount: number) =>
        Effect.map(casino.launch(seat.id), dataOf).pipe(
          Effect.flatMap(({ session_token }) => casino.playOf(session_token, "").bet(amount)),
          Effect.map((reply) => dataOf(reply))
        )
      const hours = (count: number) =>
        Effect.repeat(Effect.andThen(pass(hourMs), readings.readHour), { times: count - 1 })
      yield* bet(100)
      // until 22:00
      yield* hours(10)
      yield* bet(20)
      // until 21:00 of the next day, and past 22:00 without a reading
      yield* hours(23)
      yield* bet(3)
      yield* pass(hourMs + 11 * 60_000)
      yield* bet(50)
      const { currency, offset_hours: offset, rows } = yield* staff(
        "GET",
        `/reports/local-days?operator=${casino.slug}&from=2026-11-20&to=2026-12-20`
      )
      assert.deepStrictEqual([currency, offset], ["EUR", 2])
      assert.deepStrictEqual(
        rows.map(({ bets, day, deposits, from, ggr, rounds, until }: Fields) => ({
          bets,
          day,
          deposits,
          from,
          ggr,
          rounds,
          until
        })),
        [
          {
            bets: 100,
            day: "2026-11-20",
            deposits: 100_000,
            from: "2026-11-19T00:00:00.000Z",
            ggr: 100,
            rounds: 1,
            until: "2026-11-20T22:00:00.000Z"
          },
          {
            bets: 20,
            day: "2026-11-21",
            deposits: 0,
            from: "2026-11-20T22:00:00.000Z",
            ggr: 20,
            rounds: 1,
            until: "2026-11-21T21:00:00.000Z"
          },
          {
            bets: 53,
            day: "2026-11-22",
            deposits: 0,
            from: "2026-11-21T21:00:00.000Z",
            ggr: 53,
            rounds: 2,
            until: "2026-11-22T22:00:00.000Z"
          }
        ]
      )
      // those before the last forty are left out
      yield* pass(41 * 24 * hourMs)
      const later = yield* staff("GET", `/reports/local-days?operator=${casino.slug}&from=2026-11-20&to=2026-11-30`)
      assert.strictEqual(later.rows[0]?.day, "2026-11-24")
    })))

  it.effect("count open rounds up to a thousand, and mark a larger count as a lower bound", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      const note = (count: number, at: string) =>
        sql`INSERT INTO stale_rounds (player_id, game_id, round_id, operator_id, opened_at)
          SELECT ${id}, 1, ${at}::text || n, ${casino.id}, ${at}::text::timestamptz
          FROM generate_series(1, ${count}::int) n`
      const open = Effect.map(staff("GET", `/overview?operator=${casino.slug}`), ({ open_rounds: rounds }) => rounds)
      yield* note(3, "2026-11-01")
      yield* note(997, "2026-12-31")
      assert.deepStrictEqual(yield* open, { for_a_day: 1000, for_two_days: 3, is_lower_bound: false })
      yield* note(1100, "2026-11-02")
      yield* pass(3000)
      assert.deepStrictEqual(yield* open, { for_a_day: 1000, for_two_days: 1000, is_lower_bound: true })
    }))

  it.effect("show what a bonus has cost and its remaining liability", () =>
    Effect.gen(function*() {
      const costs = yield* BonusCosts
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ type: "no_deposit" })
      const { id } = yield* casino.register()
      const { id: first } = dataOf(yield* casino.grant(id, bonus.id), 201)
      dataOf(yield* casino.grant(id, bonus.id, { amount: 700 }), 201)
      const report = Effect.map(
        staff("GET", `/reports/bonuses?operator=${casino.slug}&from=2026-11-01&to=2027-11-01`),
        ([cost]) => cost
      )
      const granted = { bonus_id: bonus.id, granted: 2, granted_amount: 1200 }
      assert.deepInclude(yield* report, { ...granted, running: 2, liability: 1200 })
      yield* staff("POST", `/player-bonuses/${first}/cancel`, { reason: "by mistake" })
      yield* costs.addUp
      assert.deepInclude(yield* report, { ...granted, forfeited: 500, converted: 0, running: 1, liability: 700 })
    }))
})

// on the real clock: overviews are read every two seconds
const layerBrisk = Layer.provide(
  layerBothServers,
  Layer.succeed(StreamPeriods, { everyMs: 50, heartbeatMs: 15_000, recheckMs: 500 })
)

layer(layerBrisk, { excludeTestServices: true })("live figures", (it) => {
  it.effect(
    "are pushed to open pages when they change, and end when the account's role changes",
    () =>
      Effect.gen(function*() {
        const casino = yield* openCasino()
        const member = yield* staff("POST", "/staff", { name: "Lena Live", role: "compliance" })
        const stream = yield* listen(member.token, `/backoffice/v1/live?operator=${casino.slug}`)
        yield* stream.until(({ text }) => text.includes("event: overview"))
        const { id } = yield* casino.register()
        dataOf(yield* casino.deposit(id, 4321), 201)
        yield* stream.until(({ text }) => /event: changed\ndata: \{"kind":"payments"\}/.test(text))
        assert.include(stream.state.text, "\"deposits\":4321")
        assert.notInclude(stream.state.text, "event: end")
        // ten at each node, called in turn
        const others = []
        for (let status = 200; status === 200 && others.length <= 10 * nodesOfRun;) {
          const other = yield* listen(member.token)
          yield* other.until(({ status: answered }) => answered !== 0)
          status = other.state.status
          others.push(other)
        }
        assert.strictEqual(others.at(-1)?.state.status, 429)
        assert.isAtLeast(others.length, 10)
        yield* Effect.forEach(others, ({ leave }) => leave)
        // the role is checked again
        yield* staff("PATCH", `/staff/${member.id}`, { role: "support" })
        yield* stream.until(({ isOver }) => isOver)
        assert.match(stream.state.text, /event: end\ndata: \{"reason":"changed"\}/)
      }).pipe(Effect.scoped),
    90_000
  )
})
