import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import type { Entry, EntryType } from "../../../src/domain/state/Change.ts"
import type { Refusal } from "../../../src/domain/Refusal.ts"
import { numberCursors } from "../../../src/store/Cursors.ts"
import type { Page } from "../../../src/store/Rows.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { Ledger, type LedgerFilters } from "../../../src/features/wallet/Ledger.ts"
import { rowsRead } from "../../kit/RowsRead.ts"
import { newPlayer } from "../../kit/players.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

interface Row {
  readonly seq: number
  readonly wallet: "real" | "bonus"
  readonly type: EntryType
  readonly at: number
}

const operatorId = 1
const start = Date.UTC(2026, 0, 1)
const hour = 3_600_000

/** Entries of all kinds, some of them rare; the writer's clock was set back now and then. */
const history = fc.sample(
  fc.record({
    wallet: fc.constantFrom("real" as const, "real" as const, "real" as const, "bonus" as const),
    type: fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom("casino_bet" as const, "casino_win" as const) },
      { weight: 1, arbitrary: fc.constantFrom("deposit" as const, "withdrawal" as const) }
    ),
    back: fc.oneof({ weight: 400, arbitrary: fc.constant(0) }, {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 300 })
    })
  }),
  { numRuns: 3000, seed: 7 }
).map(({ back, type, wallet }, index): Row => ({ seq: index + 1, wallet, type, at: start + (index - back) * hour }))

/** Number of entries inserted, by player: one with a long ledger, one with a short one. */
const written = new Map([[5, 0], [6, 0]])

const playerOf = (id: number) => ({ ...newPlayer(), id, operatorId, entrySeq: written.get(id) ?? 0 })

const layerActors = Layer.succeed(
  PlayerActors,
  PlayerActors.of({
    ask: () => Effect.die("nothing is asked"),
    create: () => Effect.die("nobody is created"),
    peek: (_, playerId) => playerOf(playerId),
    read: (_, playerId) => Effect.succeed(playerOf(playerId)),
    post: (_operatorId, _playerId, _step, done) => done(Exit.die("nothing is asked")),
    renew: () => undefined,
    resident: () => 0,
    writesStalledMs: () => 0
  })
)

const append = Effect.fnUntraced(function*(playerId: number, rows: ReadonlyArray<Row>) {
  const sql = yield* SqlClient.SqlClient
  const added = JSON.stringify(rows.slice(written.get(playerId) ?? 0))
  yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
    SELECT ${playerId}::int, seq, ${playerId}::int * 100000 + seq, ${operatorId}::int, wallet, type, 1, 1, to_timestamp(at / 1000.0)
    FROM json_to_recordset(${added}::text::json) AS row (seq bigint, wallet text, type text, at bigint)`
  written.set(playerId, rows.length)
})

const matches = ({ createdFrom, createdTo, type, wallet }: LedgerFilters) => (row: Row): boolean =>
  (type === undefined || row.type === type) && (wallet === undefined || row.wallet === wallet) &&
  (createdFrom === undefined || row.at >= createdFrom) && (createdTo === undefined || row.at <= createdTo)

const time = fc.noBias(fc.integer({ min: -400, max: 3100 })).map((hours) => start + hours * hour)
const filters: fc.Arbitrary<LedgerFilters> = fc.record({
  type: fc.option(fc.constantFrom(...(["casino_bet", "casino_win", "deposit", "withdrawal", "chargeback"] as const)), {
    nil: undefined,
    freq: 2
  }),
  wallet: fc.option(fc.constantFrom("real" as const, "bonus" as const), { nil: undefined, freq: 2 }),
  createdFrom: fc.option(time, { nil: undefined, freq: 2 }),
  createdTo: fc.option(time, { nil: undefined, freq: 2 })
})

layer(Ledger.layer.pipe(Layer.provide(layerActors), Layer.provideMerge(TestDatabase.layer)))("Ledger", (it) => {
  // Goal: pages, totals and cursors of a long ledger match its entries under any filter, also while it grows and when
  // times are not in the order of the numbers. Method: random filters and positions against a filter over the same entries in memory.
  it.effect("finds and counts the entries that match any filter", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const cases = fc.sample(
        fc.record({
          filters,
          page: fc.integer({ min: 1, max: 6 }),
          perPage: fc.noBias(fc.integer({ min: 1, max: 100 }))
        }),
        {
          numRuns: 40,
          seed: 11
        }
      )
      let found = 0
      for (const [playerId, length] of [[5, 2000], [5, 2303], [5, 2304], [5, 3000], [6, 300]] as const) {
        const rows = history.slice(0, length)
        yield* append(playerId, rows)
        for (const { filters, page, perPage } of cases) {
          const expected = rows.filter(matches(filters)).map(({ seq }) => seq).reverse()
          const listed = yield* ledger.list(operatorId, playerId, { ...filters, page, perPage })
          const what = JSON.stringify({ length, filters, page, perPage })
          assert.strictEqual(listed.total, expected.length, what)
          const offset = (page - 1) * perPage
          assert.deepStrictEqual(listed.items.map(({ seq }) => seq), expected.slice(offset, offset + perPage), what)
          found += listed.items.length

          const below = expected[Math.min(offset, expected.length - 1)]
          const cursor = below === undefined ? "" : numberCursors.write(below)
          const walked = yield* ledger.walk(operatorId, playerId, { ...filters, cursor, limit: perPage })
          const rest = expected.filter((seq) => below === undefined || seq < below)
          assert.deepStrictEqual(walked.items.map(({ seq }) => seq), rest.slice(0, perPage), what)
          const last = rest.length > perPage ? rest[perPage - 1] : undefined
          assert.strictEqual(walked.next, last === undefined ? null : numberCursors.write(last), what)
        }
      }
      assert.isAbove(found, 500, "hardly any page had entries")

      const blocks =
        yield* sql`SELECT player_id::float8 AS player, count(DISTINCT block)::float8 AS blocks, sum(entries)::float8 AS entries
        FROM ledger_blocks GROUP BY player_id`
      assert.deepStrictEqual(blocks, [{ player: 5, blocks: 11, entries: 11 * 256 }])
    }))

  // Goal: a part of a long ledger is found by its time, also where times are not in the order of the numbers. Method: random periods; every entry of one
  // lies between the numbers, which are few more than its entries.
  it.effect("finds the range of entry numbers of a period, even when times are not in the order of the numbers", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const periods = fc.sample(
        fc.record({ from: fc.option(time, { nil: undefined }), to: fc.option(time, { nil: undefined }) }),
        {
          numRuns: 60,
          seed: 12
        }
      )
      for (const [playerId, length] of [[5, 3000], [6, 300]] as const) {
        yield* append(playerId, history.slice(0, length))
        for (const period of periods) {
          const { from, to } = period
          const own = history.slice(0, length).filter(matches({ createdFrom: from, createdTo: to }))
          const { first, last } = yield* ledger.numbersWithin(playerId, period)
          const what = JSON.stringify({ length, period, first, last })
          for (const { seq } of own) assert.isTrue(seq >= first && seq <= last, `${seq} of ${what}`)
          // two blocks that it begins and ends in, and the longest time that the clock was set back
          assert.isAtMost(last - first + 1, own.length + 4 * 256 + 2 * 300, what)
        }
      }
    }))

  // Goal: pages read by shared statements are each request's own. Method: more pages of two players than one statement takes, asked for at once.
  it.effect("answers simultaneous page requests with each one's own entries", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      yield* append(5, history.slice(0, 3000))
      yield* append(6, history.slice(0, 300))
      const asked = Array.from(
        { length: 50 },
        (_, index) => ({ playerId: 5 + index % 2, page: 1 + index, perPage: 1 + index })
      )
      const pages = yield* Effect.forEach(asked, ({ playerId, ...query }) =>
        Effect.callback<Page<Entry>, Refusal>((resume) =>
          ledger.startList(operatorId, playerId, query)?.((exit) =>
            resume(exit)
          )
        ), { concurrency: "unbounded" })
      for (const [index, { items, total }] of pages.entries()) {
        const { page, perPage, playerId } = asked[index] ?? assert.fail("too many pages")
        const length = written.get(playerId) ?? 0
        const newest = length - (page - 1) * perPage
        const expected = Array.from({ length: perPage }, (_, back) =>
          newest - back).filter((seq) => seq > 0)
        assert.deepStrictEqual(
          items.map((entry) => [entry.playerId, entry.seq]),
          expected.map((seq) => [playerId, seq])
        )
        assert.strictEqual(total, length)
      }
    }))

  // Goal: the cost of a page does not grow with the ledger. Method: PostgreSQL counts the entries read for one.
  it.effect("reads a bounded number of entries for a page", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      yield* append(5, history)
      yield* ledger.list(operatorId, 5, { wallet: "real", page: 1, perPage: 1 })
      yield* sql`ANALYZE ledger_entries`
      const pages = [
        [25, ledger.list(operatorId, 5, { page: 1, perPage: 25 })],
        [25, ledger.list(operatorId, 5, { page: 60, perPage: 25 })],
        [26, ledger.walk(operatorId, 5, { cursor: numberCursors.write(1500), limit: 25 })],
        // the unfinished block twice, for the count and for the page, and one or two full ones
        [4 * 256, ledger.list(operatorId, 5, { type: "casino_bet", page: 1, perPage: 25 })],
        [4 * 256, ledger.walk(operatorId, 5, { type: "casino_bet", cursor: numberCursors.write(1500), limit: 25 })],
        [2 * 256, ledger.list(operatorId, 5, { type: "loyalty_exchange", page: 1, perPage: 25 })]
      ] as const
      for (const [index, [most, page]] of pages.entries()) {
        assert.isAtMost(yield* rowsRead("ledger_entries", page), most, `page ${index}`)
      }
    }))

  // Goal: the length of a ledger does not affect a filtered page. Method: the summaries are falsified, and the total follows them.
  it.effect("takes totals of filtered entries from block summaries", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      yield* append(5, history)
      const bets = () => ledger.list(operatorId, 5, { type: "casino_bet", page: 1, perPage: 1 })
      const { total } = yield* bets()
      yield* sql`UPDATE ledger_blocks SET entries = entries + 1 WHERE player_id = 5 AND type = 'casino_bet' AND wallet = 'real'`
      assert.strictEqual((yield* bets()).total, total + 11)
      yield* sql`DELETE FROM ledger_blocks`
      assert.strictEqual((yield* bets()).total, total)
    }))
})
