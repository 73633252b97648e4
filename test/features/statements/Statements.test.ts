import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { entryTypes, walletKinds } from "../../../src/domain/state/Change.ts"
import { Statements } from "../../../src/features/statements/Statements.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"
import { runs } from "../../kit/Runs.ts"

// Goal: a statement is the ledger of its days, whatever is in it and wherever the days begin. Method: ledgers of random entries over days, written as
// rows, against a plain reading of all of them.

const dayMs = 86_400_000
const opened = Date.parse("2026-11-01T00:00:00.000Z")
const now = opened + 30 * dayMs

const line = fc.record({
  wallet: fc.constantFrom(...walletKinds),
  type: fc.constantFrom(...entryTypes),
  amount: fc.integer({ min: -1000, max: 1000 }).filter((amount) => amount !== 0),
  // many at one time, some at a midnight and just before it, sessions with and without breaks
  after: fc.constantFrom(0, 0, 1, 60_000, 14 * 60_000, 15 * 60_000, 3_600_000, dayMs / 2, dayMs, 3 * dayMs)
})

const ledgers = fc.record({
  first: fc.constantFrom(opened, opened + 1, opened + dayMs - 1, opened + dayMs / 2),
  lines: fc.array(line, { maxLength: 40 }),
  from: fc.integer({ min: -3, max: 30 }),
  days: fc.integer({ min: 1, max: 30 })
})

type Ledger = typeof ledgers extends fc.Arbitrary<infer A> ? A : never

const entriesOf = ({ first, lines }: Pick<Ledger, "first" | "lines">) => {
  const balances = { real: 0, bonus: 0 }
  let at = first
  return lines.map(({ after, amount, type, wallet }, index) => ({
    seq: index + 1,
    wallet,
    type,
    amount,
    balanceAfter: balances[wallet] += amount,
    at: at += after
  }))
}

const write = Effect.fnUntraced(
  function*(operatorId: number, playerId: number, entries: ReturnType<typeof entriesOf>) {
    const sql = yield* SqlClient.SqlClient
    const rows = entries.map((entry) => ({ ...entry, at: new Date(entry.at) }))
    yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
      SELECT ${playerId}, seq, seq, ${operatorId}, wallet, type, amount, "balanceAfter", at
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        AS r(seq bigint, wallet text, type text, amount bigint, "balanceAfter" bigint, at timestamptz)`
    yield* sql`UPDATE accounts SET entry_seq = ${entries.length} WHERE player_id = ${playerId}`
  }
)

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Sessions as a person would count them. */
const sessionsOf = (bets: ReadonlyArray<number>) => {
  let count = 0
  let ms = 0
  for (const [index, at] of bets.entries()) {
    const gap = at - (bets[index - 1] ?? -Infinity)
    if (gap >= 15 * 60_000) count++
    else ms += gap
  }
  return { count, seconds: Math.floor(ms / 1000) }
}

// the clock first: jobs that run every minute must not catch up on half a century
const live = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(now))))

layer(live)("statements", (it) => {
  it.effect("8.2: the closing balance is the opening balance plus the amounts, and the entries equal the ledger's", () =>
    Effect.gen(function*() {
      const statements = yield* Statements
      const operator = yield* addOperator("stated")
      for (const [index, ledger] of fc.sample(ledgers, { numRuns: runs(60, 400), seed: 11 }).entries()) {
        const playerId = yield* addPlayer(operator, `stated_${index}`)
        const all = entriesOf(ledger)
        yield* write(operator.id, playerId, all)
        const begin = opened + ledger.from * dayMs
        const end = begin + ledger.days * dayMs
        const period = { from: dayOf(begin), to: dayOf(end - dayMs) }
        const { entries, head } = yield* statements.open(operator.id, playerId, period)
        const found = (yield* Stream.runCollect(entries)).flat()
        const within = all.filter(({ at }) => at >= begin && at < end)
        const until = (wallet: "real" | "bonus", at: number) =>
          all.findLast((entry) => entry.wallet === wallet && entry.at < at)?.balanceAfter ?? 0
        assert.deepStrictEqual(
          found.map(({ amount, balanceAfter, createdAt, seq, type, wallet }) => ({
            seq,
            wallet,
            type,
            amount,
            balanceAfter,
            at: createdAt
          })),
          within
        )
        assert.deepStrictEqual(head.opening, { real: until("real", begin), bonus: until("bonus", begin) })
        for (const wallet of walletKinds) {
          const sum = within.filter((entry) => entry.wallet === wallet).reduce((total, { amount }) => total + amount, 0)
          assert.strictEqual(head.closing[wallet], head.opening[wallet] + sum, wallet)
          assert.strictEqual(head.closing[wallet], until(wallet, end), wallet)
        }
        const { bonuses, corrections, deposits, net, withdrawals } = head.totals
        assert.strictEqual(
          deposits - withdrawals + net + bonuses + corrections,
          within.reduce((total, { amount }) => total + amount, 0)
        )
        assert.deepStrictEqual(
          head.sessions,
          sessionsOf(within.filter(({ type }) => type === "casino_bet").map(({ at }) => at))
        )
      }
    }))

  it.effect("8.1: a statement contains nothing that is committed while it is read", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const statements = yield* Statements
      const operator = yield* addOperator("meanwhile")
      const playerId = yield* addPlayer(operator, "ada")
      const many = entriesOf({
        first: opened,
        lines: Array.from(
          { length: 2500 },
          () => ({ wallet: "real", type: "casino_win", amount: 1, after: 1 } as const)
        )
      })
      yield* write(operator.id, playerId, many.slice(0, 2400))
      const { entries, head } = yield* statements.open(operator.id, playerId, { from: "2026-11-01", to: "2026-12-01" })
      yield* sql`DELETE FROM ledger_entries WHERE player_id = ${playerId}`
      yield* write(operator.id, playerId, many)
      const found = (yield* Stream.runCollect(entries)).flat()
      assert.deepStrictEqual([found.length, found.at(-1)?.balanceAfter, head.closing.real], [2400, 2400, 2400])
    }))

  it.effect("8.1: a statement with more entries than a document may have is refused, not cut", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const statements = yield* Statements
      const operator = yield* addOperator("many")
      const playerId = yield* addPlayer(operator, "ada")
      yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
        SELECT ${playerId}, n, n, ${operator.id}, 'real', 'casino_win', 1, n, ${new Date(
        opened
      )}::timestamptz + n * interval '1 s'
        FROM generate_series(1, 50001) n`
      yield* sql`UPDATE accounts SET entry_seq = 50001 WHERE player_id = ${playerId}`
      const all = { from: "2026-11-01", to: "2026-11-30" }
      const refused = yield* Effect.flip(statements.open(operator.id, playerId, all))
      assert.deepStrictEqual([refused.code, Object.keys(refused.details)], ["VALIDATION_FAILED", ["to"]])
      yield* sql`DELETE FROM ledger_entries WHERE player_id = ${playerId} AND seq = 50001`
      yield* sql`UPDATE accounts SET entry_seq = 50000 WHERE player_id = ${playerId}`
      const { entries } = yield* statements.open(operator.id, playerId, all)
      assert.strictEqual(yield* Stream.runFold(entries, () => 0, (sum, part) => sum + part.length), 50_000)
    }))
})
