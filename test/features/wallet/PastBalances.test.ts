import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { Ledger } from "../../../src/features/wallet/Ledger.ts"
import { selectBalancesAt } from "../../../src/features/wallet/PastBalances.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: past balances of a player are those of the last entry of each wallet until then, found without reading the ledger.
// Method: generated ledgers, compared with a scan of every entry; PostgreSQL counts the pages read for a long one.

const noon = Date.parse("2026-11-20T12:00:00.000Z")

interface Line {
  readonly wallet: "real" | "bonus"
  readonly amount: number
  /** Milliseconds since the previous entry. */
  readonly after: number
}

/** Inserts a ledger as the player's actor would; returns it with its times and balances. */
const write = Effect.fnUntraced(function*(operatorId: number, playerId: number, lines: ReadonlyArray<Line>) {
  const sql = yield* SqlClient.SqlClient
  const balances = { real: 0, bonus: 0 }
  let at = noon - 1_000_000
  const entries = lines.map(({ after, amount, wallet }, index) => ({
    seq: index + 1,
    wallet,
    amount,
    balanceAfter: balances[wallet] += amount,
    at: at += after
  }))
  const rows = entries.map((entry) => ({ ...entry, at: new Date(entry.at) }))
  yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
    SELECT ${playerId}, seq, seq, ${operatorId}, wallet, 'casino_win', amount, "balanceAfter", at
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      AS r(seq bigint, wallet text, amount bigint, "balanceAfter" bigint, at timestamptz)`
  yield* sql`UPDATE accounts SET entry_seq = ${entries.length}, real_balance = ${balances.real},
    bonus_balance = ${balances.bonus} WHERE player_id = ${playerId}`
  return entries
})

/** A long ledger: of every hundred entries one is a bonus's, or with `isBonusPlay` all but the first. */
const writeLong = Effect.fnUntraced(
  function*(operatorId: number, playerId: number, length: number, isBonusPlay: boolean) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
    SELECT ${playerId}, n, n, ${operatorId},
      CASE WHEN ${isBonusPlay} AND n > 1 OR n % 100 = 0 THEN 'bonus' ELSE 'real' END, 'casino_win', 1, n,
      ${new Date(noon - 10_000_000)}::timestamptz + n * interval '1 millisecond'
    FROM generate_series(1, ${length}::int) AS n`
    yield* sql`UPDATE accounts SET entry_seq = ${length}, real_balance = ${length} WHERE player_id = ${playerId}`
    yield* sql`ANALYZE ledger_entries`
  }
)

const Plan = Schema.Struct({
  Plan: Schema.Struct({ "Shared Hit Blocks": Schema.Number, "Shared Read Blocks": Schema.Number })
})
const Plans = Schema.Tuple([Schema.Struct({ "QUERY PLAN": Schema.Array(Plan) })])

// the clock first: jobs that run every minute must not catch up on half a century
const live = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon))))

layer(live)("balances at a past moment", (it) => {
  it.effect("are those of each wallet's last entry up to that moment", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const operator = yield* addOperator("past")
      const line = fc.record({
        wallet: fc.constantFrom("real" as const, "real" as const, "bonus" as const),
        amount: fc.integer({ min: 1, max: 1000 }),
        // several entries at one time are common: a bet and its win
        after: fc.constantFrom(0, 0, 1, 7)
      })
      for (const [index, lines] of fc.sample(fc.array(line, { maxLength: 16 }), { numRuns: 12, seed: 7 }).entries()) {
        const playerId = yield* addPlayer(operator, `past_${index}`)
        const entries = yield* write(operator.id, playerId, lines)
        const moments = new Set([noon - 2_000_000, noon, ...entries.flatMap(({ at }) => [at - 1, at, at + 1])])
        for (const at of moments) {
          const until = (wallet: Line["wallet"]) =>
            entries.findLast((entry) => entry.wallet === wallet && entry.at <= at)
          const found = yield* ledger.balancesAt(operator.id, playerId, at)
          assert.deepInclude(found, {
            playerId,
            currency: "EUR",
            at,
            real: until("real")?.balanceAfter ?? 0,
            bonus: until("bonus")?.balanceAfter ?? 0
          })
          if (until("real") !== undefined) assert.strictEqual(found.realUpdatedAt, until("real")?.at)
          if (until("bonus") !== undefined) assert.strictEqual(found.bonusUpdatedAt, until("bonus")?.at)
        }
      }
    }))

  it.effect("include entries that another process has written", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const operator = yield* addOperator("elsewhere")
      const playerId = yield* addPlayer(operator, "ada")
      assert.deepInclude(yield* ledger.balancesAt(operator.id, playerId, noon), { real: 0, bonus: 0 })
      // the player is in memory here now, in the state before these entries
      yield* write(operator.id, playerId, [
        { wallet: "real", amount: 500, after: 1 },
        { wallet: "bonus", amount: 70, after: 1 }
      ])
      assert.deepInclude(yield* ledger.balancesAt(operator.id, playerId, noon), { real: 500, bonus: 70 })
    }))

  it.effect("read only a few database pages of a long ledger", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("long")
      const length = 20_000
      const pagesOf = Effect.fnUntraced(function*(playerId: number, at: number) {
        const select = selectBalancesAt(sql, operator.id, playerId, at)
        const rows = yield* sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${select}`
        const [{ "QUERY PLAN": plans }] = yield* Schema.decodeUnknownEffect(Plans)(rows)
        return plans.reduce((sum, { Plan }) => sum + Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"], 0)
      })
      const mixed = yield* addPlayer(operator, "mixed")
      yield* writeLong(operator.id, mixed, length, false)
      for (const share of [0, 0.1, 0.5, 0.999, 1]) {
        // fifteen halvings and two look-ups, of three or four pages each
        assert.isBelow(yield* pagesOf(mixed, noon - 10_000_000 + length * share), 120, `at ${share}`)
      }
      // the worst case: a bonus played for unrealistically long
      const playing = yield* addPlayer(operator, "playing")
      yield* writeLong(operator.id, playing, length, true)
      const ledger = yield* Ledger
      assert.deepInclude(yield* ledger.balancesAt(operator.id, playing, noon), { real: 1, bonus: length })
    }))
})
