import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { cycleLength } from "../../bench/data/Cycle.ts"
import { generate } from "../../bench/data/Generate.ts"
import { heavyPlayer, playerId } from "../../bench/data/GeneratorSql.ts"
import { linkStatements } from "../../bench/data/LinkSql.ts"
import { readCases, reportCases, staffCases } from "../../bench/scenarios/ReadCases.ts"
import { ChainKey } from "../../src/chain/Chain.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { makeRowCounts } from "../../src/store/RowCounts.ts"
import { addOperator, layerTestService } from "../kit/TestService.ts"
import { Ledger } from "../../src/features/wallet/Ledger.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

layer(LedgerAudit.layer.pipe(Layer.provideMerge(layerTestService())), { timeout: 120_000 })(
  "the generated casino",
  (it) => {
    // Goal: generated data could have been written by the service. Method: generate and link little of it; `ledger verify`
    // finds no violation, the tables' structure is complete, and every kind of entry exists.
    it.effect("has a ledger without violations", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const operators = [yield* addOperator("big"), yield* addOperator("small")]
        const structure = sql`SELECT 'index' AS kind, indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT 'constraint', conrelid::regclass || pg_get_constraintdef(oid) FROM pg_constraint
          WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT 'table', tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1, 2`
        const before = yield* structure
        const { made, shape } = yield* generate({
          url: Redacted.value(url),
          players: 400,
          entries: 20_000,
          endsAt: Date.UTC(2026, 5, 1),
          operatorIds: operators.map(({ id }) => id),
          progress: () => {}
        })
        assert.deepStrictEqual(yield* structure, before)
        assert.strictEqual(made.players, 400)
        assert.approximately(made.entries, 20_000, 2000)
        // a filtered look at the long ledger has it summed up
        const filtered = yield* (yield* Ledger).list(
          operators[0]?.id ?? 0,
          playerId(shape, heavyPlayer(shape).number),
          {
            type: "casino_rollback",
            page: 1,
            perPage: 1
          }
        )
        assert.strictEqual(filtered.total, heavyPlayer(shape).entries / cycleLength)
        const [chain] = yield* sql<
          { readonly id: number; readonly pages: number }
        >`SELECT nextval('chain_ids')::float8 AS id,
          (pg_relation_size('ledger_entries') / 8192)::float8 AS pages`
        const key = (yield* ChainKey).key.export()
        const statements = linkStatements({ chainId: chain?.id ?? 0, key, pages: chain?.pages ?? 0 })
        yield* sql.withTransaction(Effect.forEach(
          ["SET LOCAL session_replication_role = replica", ...statements.filter((text) => !text.startsWith("VACUUM"))],
          (text) => sql.unsafe(text),
          { discard: true }
        ))
        const { entries, players, violations } = yield* (yield* LedgerAudit).verify(undefined)
        assert.deepStrictEqual(violations, [])
        assert.deepStrictEqual({ entries, players }, { entries: made.entries, players: made.players })

        const kinds = yield* sql<
          { readonly kind: string }
        >`SELECT DISTINCT wallet || ' ' || type AS kind FROM ledger_entries`
        assert.sameMembers(kinds.map(({ kind }) => kind), [
          "real deposit",
          "real withdrawal",
          "real casino_bet",
          "real casino_win",
          "real casino_rollback",
          "bonus bonus_correction_up",
          "bonus casino_bet",
          "bonus casino_win"
        ])
        const [heavy] = yield* sql`SELECT entry_seq::float8 AS entries, operator_id::float8 AS operator FROM accounts
        WHERE player_id = ${playerId(shape, heavyPlayer(shape).number)}`
        assert.deepStrictEqual(heavy, { entries: heavyPlayer(shape).entries, operator: operators[0]?.id })
        // times rise with the numbers, up to the end
        const late = yield* sql`SELECT 1 FROM ledger_entries one JOIN ledger_entries next
        ON next.player_id = one.player_id AND next.seq = one.seq + 1 WHERE next.created_at < one.created_at
        UNION ALL SELECT 1 FROM ledger_entries WHERE created_at > to_timestamp(${shape.endsAt / 1000}::float8)`
        assert.deepStrictEqual(late, [])

        const countPlayers = yield* makeRowCounts("players", "player_counts", ["status", "kyc_status"])
        assert.strictEqual(yield* countPlayers({ operatorId: undefined, groups: {} }), 400)
        const countPayments = yield* makeRowCounts("payment_requests", "payment_counts", ["type", "status"])
        assert.strictEqual(yield* countPayments({ operatorId: undefined, groups: {} }), made.payments)

        const usual = [playerId(shape, 1)]
        for (const { name, uris } of [...readCases(shape, usual), ...reportCases(shape), ...staffCases(shape, usual)]) {
          assert.isAbove(uris.length, 0, name)
          for (const uri of uris) assert.match(uri, /^\/(api\/v1\/operator|backoffice\/v1)\/[a-z0-9/-]+\?/, name)
        }
        // among few entries no player is a usual one
        for (const { name, uris } of [...readCases(shape, []), ...staffCases(shape, [])]) {
          assert.isAbove(uris.length, 0, name)
        }
      }), 120_000)
  }
)
