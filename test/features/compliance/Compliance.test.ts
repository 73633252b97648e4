import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Compliance } from "../../../src/features/compliance/Compliance.ts"
import { makeEvidence } from "../../../src/features/compliance/internal/Evidence.ts"
import { toDate } from "../../../src/platform/Time.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { rowsRead } from "../../kit/RowsRead.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: an effect that cannot be judged delays no other and is not lost; late judgement uses the time of the effect; players older than
// the rules are recorded without an alert; deposits and long play are added up exactly; and every query uses an index. Method: the
// follower on a real database with rows of the test's own and a test clock.

const noon = Date.UTC(2026, 10, 20, 12)
const hour = 3_600_000

const base = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon))))

const judge = Effect.gen(function*() {
  const { run } = yield* Compliance
  while ((yield* run).hasMore) { /* until nothing waits */ }
})

let ids = 9_000_000_000

/** Inserts a payment of a player as an actor's commit does. */
const pay = Effect.fnUntraced(function*(playerId: number, amount: number, at: number, type = "deposit") {
  const sql = yield* SqlClient.SqlClient
  const id = ++ids
  yield* sql`INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
    SELECT ${id}, operator_id, id, ${type}, ${type === "deposit" ? "paid" : "new"}, ${amount}, currency, ${toDate(at)},
      ${toDate(at)} FROM players WHERE id = ${playerId}`
  return id
})

/** Alerts about a player: rule and occurrence, oldest first. */
const alertsOf = Effect.fnUntraced(function*(playerId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly rule: string; readonly occurrence: string }>`
    SELECT rule, occurrence FROM compliance_alerts WHERE player_id = ${playerId} ORDER BY created_at, id`
  return rows.map(({ occurrence, rule }) => `${rule} ${occurrence}`)
})

const effectsLeft = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT 1 FROM compliance_effects`).length
})

layer(base)("the compliance follower (judges committed changes by the alert rules)", (it) => {
  it.effect("sets aside a change that it cannot judge, judges the others, and tries again after a minute", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broken = yield* addOperator("broken")
      const sound = yield* addOperator("sound")
      const [one, other] = [yield* addPlayer(broken, "one"), yield* addPlayer(sound, "other")]
      yield* judge
      // a setting that no release has written
      yield* sql`INSERT INTO compliance_settings (operator_id, rule, settings, updated_at)
        VALUES (${broken.id}, 'large_deposit', '{"threshold": "much"}', now())`
      const stuck = yield* pay(one, 300_000, noon)
      const goes = yield* pay(other, 300_000, noon)
      yield* judge
      assert.deepStrictEqual(yield* alertsOf(other), [`large_deposit payment ${goes}`])
      assert.deepStrictEqual([yield* alertsOf(one), yield* effectsLeft], [[], 1])
      yield* sql`UPDATE compliance_settings SET settings = '{"threshold": 100}' WHERE operator_id = ${broken.id}`
      yield* judge
      assert.deepStrictEqual(yield* alertsOf(one), [])
      yield* TestClock.adjust("1 minute")
      yield* judge
      assert.deepStrictEqual(yield* alertsOf(one), [`large_deposit payment ${stuck}`])
      assert.strictEqual(yield* effectsLeft, 0)
    }))

  it.effect("judges a change by the time at which it was made, even weeks later", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("late")
      const slow = yield* addPlayer(operator, "slow")
      const quick = yield* addPlayer(operator, "quick")
      // not judged for weeks: three payments near the threshold within the window, and three further apart
      for (const day of [0, 4, 8]) yield* pay(slow, 190_000, noon - (20 - day) * 24 * hour)
      for (const day of [0, 1, 2]) yield* pay(quick, 170_000, noon - (20 - day) * 24 * hour)
      yield* judge
      assert.deepStrictEqual(yield* alertsOf(slow), [])
      assert.deepStrictEqual(
        (yield* alertsOf(quick)).filter((alert) => alert.startsWith("structuring")),
        ["structuring 72h from 2026-10-31T00:00:00.000Z"]
      )
    }))

  it.effect("raises no alerts for imported players", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("before")
      const known = [yield* addPlayer(operator, "known1"), yield* addPlayer(operator, "known2")]
      // as an import leaves them: not judged, to be recorded
      yield* sql`DELETE FROM compliance_effects`
      for (const id of known) {
        yield* sql`INSERT INTO compliance_effects (kind, player_id, at) VALUES ('known', ${id}, now())`
      }
      yield* judge
      const newcomer = yield* addPlayer(operator, "newcomer")
      yield* judge
      for (const id of known) assert.deepStrictEqual(yield* alertsOf(id), [])
      // all of them are Ada Player, born on the same day
      assert.deepStrictEqual(yield* alertsOf(newcomer), [`multi_account players ${known.join("+")}`])
    }))

  it.effect("wakes soon after a commit that wrote an event", () =>
    Effect.gen(function*() {
      const outbox = yield* Outbox
      const operator = yield* addOperator("awake")
      const player = yield* addPlayer(operator, "ada")
      yield* judge
      const payment = yield* pay(player, 300_000, noon)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Layer.build(Compliance.layerWakes)
        outbox.announce()
        // the quarter of a second is test time, the query takes real time
        while ((yield* alertsOf(player)).length === 0) yield* TestClock.adjust(250)
      }))
      assert.deepStrictEqual(yield* alertsOf(player), [`large_deposit payment ${payment}`])
    }))
})

layer(base)("deposit sums", (it) => {
  it.effect("cover the player's deposits up to the judged one, to the millisecond", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { deposits } = yield* makeEvidence
      const operator = yield* addOperator("sums")
      const [player, other] = [yield* addPlayer(operator, "one"), yield* addPlayer(operator, "other")]
      yield* pay(other, 900, noon)
      yield* pay(player, 4, noon - 2 * hour)
      yield* pay(player, 900, noon - 2 * hour + 1)
      yield* pay(player, 901, noon - hour)
      const reversed = yield* pay(player, 800, noon - hour + 1)
      yield* sql`UPDATE payment_requests SET is_reversed = true WHERE id = ${reversed}`
      yield* pay(player, 850, noon - 1, "withdrawal")
      const judged = yield* pay(player, 850, noon)
      // of the same instant, and later
      for (const at of [noon, noon + 1]) yield* pay(player, 850, at)
      const sums = (recentHours: number, similarHours: number, factor: number) =>
        Effect.map(
          deposits([{ paymentId: judged, examined: { recentHours, similarHours, factor, least: 800, below: 901 } }]),
          (found) => found.get(judged)
        )
      const payment = { id: judged, amount: 850, at: noon }
      assert.deepStrictEqual(yield* sums(1, 2, 1), {
        payment,
        recent: { count: 2, amount: 1650 },
        similar: { count: 3, amount: 2550 }
      })
      assert.deepStrictEqual(yield* sums(2, 1, 1.0625), {
        payment,
        recent: { count: 4, amount: 3451 },
        similar: { count: 1, amount: 800 }
      })
    }))

  it.effect("cover at most the 501 latest payments", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { deposits } = yield* makeEvidence
      const player = yield* addPlayer(yield* addOperator("many"), "many")
      const first = ids + 1
      yield* sql`INSERT INTO payment_requests
          (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
        SELECT ${first}::bigint + i, p.operator_id, p.id, 'deposit', 'paid', 1, p.currency, t.at, t.at
        FROM players p, generate_series(0, 599) i, LATERAL (SELECT to_timestamp(${noon / 1000}::float8 + i) AS at) t
        WHERE p.id = ${player}`
      ids += 600
      const examined = { recentHours: 1, similarHours: 1, factor: 1, least: 1, below: 2 }
      const found = yield* deposits([{ paymentId: ids, examined }])
      const sums = { count: 501, amount: 501 }
      assert.deepInclude(found.get(ids), { recent: sums, similar: sums })
    }))
})

layer(base)("stake sums", (it) => {
  it.effect("are exact over a long ledger, and read a bounded part of it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { staked } = yield* makeEvidence
      const operator = yield* addOperator("player")
      const player = yield* addPlayer(operator, "busy")
      const idle = yield* addPlayer(operator, "idle")
      const entries = 12_000
      // one bet of 3 per second, every tenth rolled back, every fourth entry bonus money; the last at noon
      yield* sql.unsafe(
        `INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
        SELECT ${player}, i, ${ids} + i, ${operator.id}, CASE WHEN i % 4 = 0 THEN 'bonus' ELSE 'real' END,
          CASE WHEN i % 10 = 0 THEN 'casino_rollback' ELSE 'casino_bet' END, CASE WHEN i % 10 = 0 THEN 3 ELSE -3 END, 0,
          to_timestamp(${noon / 1000} - ${entries} + i) FROM generate_series(1, ${entries}) i`
      )
      ids += entries
      const expected = (from: number, to: number) => {
        let sum = 0
        for (let i = from; i <= to; i++) if (i % 4 !== 0) sum += i % 10 === 0 ? -3 : 3
        return sum
      }
      const ask = (since: number, until: number, stakes = 1_000_000, playerId = player) =>
        Effect.map(
          staked([{
            paymentId: 1,
            playerId,
            until: noon - (entries - until) * 1000,
            needed: { deposited: 1, stakes, since: noon - (entries - since) * 1000 }
          }]),
          (totals) => totals.get(1)
        )
      assert.strictEqual(yield* ask(1, entries), expected(1, entries))
      assert.strictEqual(yield* ask(6999, 7001), expected(6999, 7001))
      assert.strictEqual(yield* ask(11_999, entries), expected(11_999, entries))
      assert.strictEqual(yield* ask(1, entries, 1_000_000, idle), 0)
      assert.strictEqual(yield* ask(1, entries, 100), expected(entries - 4999, entries))
      yield* sql`ANALYZE ledger_entries`
      assert.isAtMost(yield* rowsRead("ledger_entries", ask(1, entries, 100)), 5000)
      assert.isAtMost(yield* rowsRead("ledger_entries", ask(11_990, entries)), 5000)
      // several at once
      const both = yield* staked([1, 6000].map((since, index) => ({
        paymentId: index,
        playerId: player,
        until: noon,
        needed: { deposited: 1, stakes: 1_000_000, since: noon - (entries - since) * 1000 }
      })))
      assert.deepStrictEqual([...both], [[0, expected(1, entries)], [1, expected(6000, entries)]])
    }))

  it.effect("no query of the alert rules reads more rows when there are thousands of other players", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("crowd")
      const player = yield* addPlayer(operator, "one")
      const crowd = 1500
      yield* sql.unsafe(
        `INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
          created_at, updated_at)
        SELECT ${ids} + i, ${operator.id}, 'c' || i, 'c' || i || '@example.com', 'Ada', 'Of ' || i, '1990-01-01', 'MT', 'EUR',
          now(), now() FROM generate_series(1, ${crowd}) i`
      )
      yield* sql.unsafe(
        `INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
        SELECT ${ids} + ${crowd} + i, ${operator.id}, ${ids} + i, 'deposit', 'paid', 5, 'EUR', to_timestamp(${
          noon / 1000
        }),
          to_timestamp(${noon / 1000}) FROM generate_series(1, ${crowd}) i`
      )
      yield* sql.unsafe(`INSERT INTO audit_log (id, at, actor, action, operator_id, player_id, subject, after, salt)
        SELECT ${ids} + i, to_timestamp(${
        noon / 1000
      }), 'key:k', 'player.profile', ${operator.id}, ${ids} + i, 'player', '{"last_name":"x"}', ''
        FROM generate_series(1, ${crowd}) i`)
      yield* sql.unsafe(`INSERT INTO player_facts (operator_id, kind, digest, player_id)
        SELECT ${operator.id}, 'email', sha256(i::text::bytea), ${ids} + i FROM generate_series(1, ${crowd}) i`)
      ids += 3 * crowd
      yield* sql`DELETE FROM compliance_effects`
      yield* sql`ANALYZE players, payment_requests, audit_log, player_facts, compliance_effects`
      yield* pay(player, 60_000, noon - hour)
      yield* pay(player, 60_000, noon, "withdrawal")
      yield* sql`INSERT INTO compliance_effects (kind, player_id, at) VALUES ('registration', ${player}, now())`
      const { run } = yield* Compliance
      for (const table of ["players", "payment_requests", "audit_log", "player_facts"]) {
        yield* sql`UPDATE compliance_effects SET not_before = '-infinity'`
        const rows = yield* rowsRead(
          table,
          Effect.andThen(
            sql`INSERT INTO compliance_effects (kind, player_id, subject_id, at)
            SELECT type, player_id, id, created_at FROM payment_requests WHERE player_id = ${player}`,
            run
          )
        )
        assert.isBelow(rows, 100, table)
      }
      assert.sameMembers(
        (yield* alertsOf(player)).map((alert) => alert.split(" ")[0] ?? ""),
        ["rapid_in_out", "low_play_withdrawal"]
      )
    }))
})
