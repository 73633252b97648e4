import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Http from "node:http"
import { command, layerCasinos, runHere } from "../kit/Backoffice.ts"
import { BothServers, bootstrapToken, type Casino, dataOf, move, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { dayMs, minuteMs, pass, whileTimePasses } from "../kit/Calendar.ts"
import { noon } from "../kit/Noon.ts"
import { browserCall } from "../kit/HttpCalls.ts"

// Goal: a statement is the ledger of its days to the entry, in each form, and whoever reads it slowly or not at all is in nobody's way. Method: over HTTP,
// against a plain reading of all entries of the ledger.

const day = (days: number) => new Date(Date.parse(noon) + days * dayMs).toISOString().slice(0, 10)

/** The whole ledger of a player, oldest first, as its pages say. */
const ledgerOf = (casino: Casino, player: number) =>
  Effect.map(casino.get(`/players/${player}/transactions?per_page=100`), (reply) => [...dataOf(reply)].reverse())

/** A player with a few days of everything. */
const lived = Effect.gen(function*() {
  const casino = yield* openCasino({ name: "Lucky & <Sons>" })
  const seat = yield* casino.sit(10_000, { first_name: "Ada <b>", last_name: "O'Hara" })
  const { id } = seat
  const { transaction_id: first } = dataOf(yield* seat.bet(100, { round_id: "=1+1;@a" }))
  yield* pass(5 * minuteMs)
  dataOf(yield* seat.win(first, 250, { round_id: "=1+1;@a" }))
  const { transaction_id: second } = dataOf(yield* seat.bet(40, { round_id: "+491511234567" }))
  dataOf(yield* seat.rollback(second))
  yield* pass(dayMs)
  const { data: paid } = yield* casino.withdraw(id, 3000)
  dataOf(yield* move(paid.id, "approve"))
  dataOf(yield* move(paid.id, "pay"))
  const { data: refused } = yield* casino.withdraw(id, 500)
  dataOf(yield* move(refused.id, "reject", "no"))
  const bonus = yield* casino.newBonus()
  dataOf(yield* casino.grant(id, bonus.id, { amount: 700 }), 201)
  yield* pass(2 * dayMs)
  const deposit = dataOf(yield* casino.deposit(id, 1000), 201)
  yield* pass(dayMs)
  dataOf(yield* staffCall("POST", `/backoffice/v1/payments/${deposit.id}/chargeback`, { reason: "card" }))
  yield* staff("POST", `/players/${id}/corrections`, { amount: -50, reason: "mistake" })
  return { casino, seat, id }
})

layer(layerCasinos, { excludeTestServices: true })("player statements over HTTP", (it) => {
  it.effect("8.1, 8.2: a statement has the balances, totals and entries of its days, for operator, player and staff alike", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, id } = yield* lived
      const ledger = yield* ledgerOf(casino, id)
      const path = (from: number, to: number) => `/players/${id}/statement?from=${day(from)}&to=${day(to)}`
      const statement = (from: number, to: number) => Effect.map(casino.get(path(from, to)), (reply) => dataOf(reply))
      const whole = yield* statement(-300, 4)
      assert.deepStrictEqual(whole.entries, ledger)
      assert.deepInclude(whole, {
        player_id: id,
        currency: "EUR",
        from: day(-300),
        to: day(4),
        opening: { real: 0, bonus: 0 },
        closing: { real: 7100, bonus: 700 },
        totals: {
          deposits: 10_000,
          withdrawals: 3000,
          staked: 100,
          won: 250,
          net: 150,
          bonuses: 700,
          corrections: -50
        },
        net_deposits_lifetime: 7000,
        sessions: { count: 1, seconds: 300 }
      })
      const [real, bonus] = yield* casino.balances(id)
      assert.deepStrictEqual(whole.closing, { real, bonus })
      const second = yield* statement(1, 1)
      assert.deepInclude(second, {
        opening: { real: 10_150, bonus: 0 },
        closing: { real: 7150, bonus: 700 },
        net_deposits_lifetime: 7000,
        sessions: { count: 0, seconds: 0 }
      })
      assert.deepStrictEqual(second.entries, ledger.filter(({ created_at: at }) => at.startsWith(day(1))))
      assert.deepInclude(yield* statement(2, 2), {
        entries: [],
        opening: second.closing,
        closing: second.closing
      })
      // before the chargeback
      assert.strictEqual((yield* statement(3, 3)).net_deposits_lifetime, 8000)
      const { token } = dataOf(yield* casino.post(`/players/${id}/session-tokens`, {}), 201)
      const { generated_at: _, ...same } = whole
      const own = yield* browserCall(token, `/statement?from=${day(-300)}&to=${day(4)}`)
      assert.deepInclude(dataOf(own), same)
      assert.deepInclude(yield* staff("GET", path(-300, 4)), same)
      assert.deepInclude(
        yield* command("player", "statement", String(id), "--from", day(-300), "--to", day(4)),
        same
      )
    })))

  it.effect("8.2: a launch within a session of play does not prolong the session in the statement", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit()
      yield* pass(5 * minuteMs)
      dataOf(yield* seat.bet(10))
      yield* pass(10 * minuteMs)
      dataOf(yield* casino.launch(seat.id))
      yield* pass(10 * minuteMs)
      dataOf(yield* seat.bet(10))
      const since = new Date(Date.parse(noon) + 25 * minuteMs).toISOString()
      assert.deepInclude(dataOf(yield* casino.get(`/players/${seat.id}/position`)).session, { since })
      const { sessions } = dataOf(yield* casino.get(`/players/${seat.id}/statement?from=${day(0)}&to=${day(0)}`))
      assert.deepStrictEqual(sessions, { count: 2, seconds: 300 })
    })))

  it.effect("8.1: a statement of too many days, with reversed dates or of another operator's player is refused", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      const ask = (from: string, to: string, more = "") =>
        Effect.map(
          casino.get(`/players/${id}/statement?from=${from}&to=${to}${more}`),
          ({ code, details, status }) =>
            code === undefined ? status : [code, Object.keys(Object(details["fields"] ?? details))]
        )
      assert.strictEqual(yield* ask("2024-01-01", "2024-12-31"), 200)
      assert.deepStrictEqual(yield* ask("2024-01-01", "2025-01-01"), ["VALIDATION_FAILED", ["to"]])
      assert.deepStrictEqual(yield* ask("2026-11-02", "2026-11-01"), ["VALIDATION_FAILED", ["to"]])
      assert.deepStrictEqual(yield* ask("2026-02-30", "2026-11-01"), ["VALIDATION_FAILED", ["from"]])
      assert.deepStrictEqual(yield* ask("2026-11-01", "2026-11-01", "&format=pdf"), ["VALIDATION_FAILED", ["format"]])
      assert.strictEqual((yield* casino.get(`/players/${id}/statement?to=2026-11-01`)).code, "VALIDATION_FAILED")
      const other = yield* openCasino()
      const foreign = yield* other.get(`/players/${id}/statement?from=2026-11-01&to=2026-11-01`)
      assert.deepStrictEqual([foreign.status, foreign.code], [404, "NOT_FOUND"])
    }))

  it.effect("8.3: a CSV statement has the columns of the contract, and no cell that begins a formula", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, id } = yield* lived
      const ledger = yield* ledgerOf(casino, id)
      const path = `/players/${id}/statement?from=${day(0)}&to=${day(4)}`
      const csv = yield* casino.get(`${path}&format=csv`)
      assert.match(csv.headers["content-type"] ?? "", /^text\/csv/)
      assert.match(csv.headers["content-disposition"] ?? "", /^attachment; filename="statement-/)
      const [head, ...lines] = csv.text.trimEnd().split("\r\n")
      assert.strictEqual(
        head,
        "id,created_at,wallet,type,amount,balance_after,currency,game_id,game_round_id,payment_request_id"
      )
      const cells = lines.map((line) => line.split(","))
      assert.deepStrictEqual(cells.map(([entry]) => Number(entry)), ledger.map((entry) => entry.id))
      assert.deepStrictEqual(cells.map(([, , , , amount]) => amount), ledger.map(({ amount }) => String(amount)))
      const rounds = cells.flatMap(([, , , type, , , , , round]) => type === "casino_bet" ? [round] : [])
      assert.deepStrictEqual(rounds, ["\"'=1+1;'@a\"", "'+491511234567"])
      const sheet = yield* staffCall("GET", `/backoffice/v1${path}&format=spreadsheet`, undefined, {
        "accept-language": "de",
        authorization: `Bearer ${bootstrapToken}`
      })
      assert.match(sheet.text, /^\ufeffid;created_at \(UTC\);/)
      assert.include(sheet.text, ";100,00;")
      const { stdout } = yield* runHere([
        "player",
        "statement",
        String(id),
        "--from",
        day(0),
        "--to",
        day(4),
        "--format",
        "csv"
      ])
      assert.strictEqual(stdout, csv.text)
    })))

  it.effect("8.3: an HTML statement is self-contained, runs no script and shows names unchanged", () =>
    whileTimePasses(Effect.gen(function*() {
      const { casino, id } = yield* lived
      const page = yield* casino.get(`/players/${id}/statement?from=${day(0)}&to=${day(4)}&format=html`)
      assert.match(page.headers["content-type"] ?? "", /^text\/html/)
      assert.strictEqual(page.headers["content-security-policy"], "default-src 'none'; style-src 'unsafe-inline'")
      assert.include(page.text, "Ada &lt;b&gt; O&#39;Hara")
      assert.include(page.text, "Lucky &amp; &lt;Sons&gt;")
      assert.notMatch(page.text, /<script|<b>|<Sons>|(src|href)=/i)
      assert.include(page.text, "71.00")
      assert.strictEqual(page.text.match(/<tr><td>2026/g)?.length, (yield* ledgerOf(casino, id)).length)
    })))

  it.effect("8.1: readers that stop or disconnect hold no database connection and block nobody", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { backofficePort } = yield* BothServers
      const casino = yield* openCasino()
      const { id } = yield* casino.register()
      yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, game_round_id, created_at)
        SELECT ${id}, n, n, ${casino.id}, 'real', 'casino_win', 1, n, repeat('r', 100), ${new Date(noon)}::timestamptz
        FROM generate_series(1, 40000) n`
      yield* sql`UPDATE accounts SET entry_seq = 40000 WHERE player_id = ${id}`
      const path = `/backoffice/v1/players/${id}/statement?from=${day(0)}&to=${day(0)}`
      /** Takes the first bytes, and no more. */
      const stopped = Effect.callback<Http.IncomingMessage>((resume) => {
        Http.get({
          host: "127.0.0.1",
          port: backofficePort,
          path,
          agent: false,
          headers: { authorization: `Bearer ${bootstrapToken}` }
        }, (response) => {
          response.once("data", () => {
            response.pause()
            resume(Effect.succeed(response))
          })
          response.on("error", () => {})
        })
      })
      // as many as the general pool has connections, and as many again
      const readers = yield* Effect.all(Array.from({ length: 12 }, () => stopped), { concurrency: "unbounded" })
      const held = () =>
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
      assert.strictEqual((yield* held()).length, 0)
      const whole = yield* staffCall("GET", path)
      assert.strictEqual(dataOf(whole).entries.length, 40_000)
      for (const reader of readers) reader.destroy()
      assert.strictEqual((yield* held()).length, 0)
      assert.strictEqual(dataOf(yield* casino.get(path.replace("/backoffice/v1", ""))).entries.length, 40_000)
    }))
})
