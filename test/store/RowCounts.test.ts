import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { makeRowCounts, splitDays } from "../../src/store/RowCounts.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

const day = 86_400_000
const start = Date.UTC(2026, 2, 30)

const statuses = ["active", "locked", "closed"] as const
const kycStatuses = ["not_started", "verified"] as const

layer(TestDatabase.layer, { excludeTestServices: true })("RowCounts", (it) => {
  // Goal: maintained counts equal those of the table, for any filter, after any change, and during compaction. Method: random
  // registrations and changes by SQL, many rows in a statement, then every filter against a count of the table.
  it.effect("counts rows per group exactly", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const countPlayers = yield* makeRowCounts("players", "player_counts", ["status", "kyc_status"])
      yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
        SELECT id, 'o' || id, 'O', 'EUR', now(), now() FROM generate_series(1, 2) id`
      const register = (from: number, to: number) =>
        sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
            created_at, updated_at, status)
          SELECT id, 1 + id % 2, 'u' || id, id || '@mail.example', 'A', 'B', DATE '1990-01-01', 'MT', 'EUR',
            to_timestamp(${
          start / 1000
        }::float8 + id * 3541), now(), CASE WHEN id % 7 = 0 THEN 'locked' ELSE 'active' END
          FROM generate_series(${from}::int, ${to}::int) id`
      const ranges = [
        [undefined, undefined],
        [start, start + 5 * day - 1],
        [start + day + 1, undefined],
        [start + day, start + day],
        [undefined, start + 9 * day + 5000],
        [start + day + 1, start + 9 * day + 5000]
      ] as const
      const compare = Effect.gen(function*() {
        for (const operatorId of [1, 2, undefined]) {
          for (const status of [undefined, ...statuses]) {
            for (const kyc of [undefined, ...kycStatuses]) {
              for (const [from, to] of ranges) {
                const [counted] = yield* sql<{ readonly total: number }>`SELECT count(*)::float8 AS total FROM players
                    WHERE (${operatorId ?? null}::int IS NULL OR operator_id = ${operatorId ?? null}::int)
                      AND (${status ?? null}::text IS NULL OR status = ${status ?? null}::text)
                      AND (${kyc ?? null}::text IS NULL OR kyc_status = ${kyc ?? null}::text)
                      AND created_at >= to_timestamp(${(from ?? 0) / 1000}::float8)
                      AND created_at <= to_timestamp(${(to ?? start * 2) / 1000}::float8)`
                const total = yield* countPlayers({
                  operatorId,
                  groups: { status, kyc_status: kyc },
                  createdFrom: from,
                  createdTo: to
                })
                assert.strictEqual(total, counted?.total, JSON.stringify({ operatorId, status, kyc, from, to }))
              }
            }
          }
        }
      })
      yield* compare
      yield* register(1, 300)
      yield* register(301, 301)
      yield* sql`UPDATE players SET status = 'closed' WHERE id % 5 = 0`
      yield* sql`UPDATE players SET kyc_status = 'verified', status = 'active' WHERE id % 3 = 0`
      yield* sql`UPDATE players SET status = status, city = 'X'`
      yield* Effect.flip(
        sql.withTransaction(Effect.andThen(register(302, 320), Effect.fail("the registrations do not happen")))
      )
      yield* compare

      // enough changes to trigger compaction
      for (let round = 0; round < 9; round++) {
        yield* sql`UPDATE players SET status = CASE status WHEN 'active' THEN 'locked' ELSE 'active' END`
      }
      yield* compare
      for (let tries = 0; tries < 500; tries++) {
        const [loose] = yield* sql`SELECT 1 FROM player_counts WHERE NOT folded AND operator_id = 1 LIMIT 1`
        if (loose === undefined) break
        yield* Effect.sleep("10 millis")
      }
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM player_counts WHERE NOT folded AND operator_id = 1`, [])
      yield* compare
    }), 60_000)

  // Goal: a period is covered exactly once by whole days and remainders. Method: random bounds; each instant near a bound is in
  // exactly one part, or in none outside.
  it("splits a time range into whole days and the remainders", () => {
    const instant = fc.integer({ min: start - 3 * day, max: start + 3 * day })
    fc.assert(
      fc.property(fc.option(instant, { nil: undefined }), fc.option(instant, { nil: undefined }), (from, to) => {
        const { days, rests } = splitDays(from, to)
        const parts = [...(days === undefined ? [] : [days]), ...rests]
        for (
          const edge of [from ?? start, to ?? start, start, ...parts.flatMap((part) => [part.from ?? 0, part.to ?? 0])]
        ) {
          for (const at of [edge - 1, edge, edge + 1]) {
            const holding = parts.filter((part) => at >= (part.from ?? -Infinity) && at < (part.to ?? Infinity)).length
            assert.strictEqual(holding, at >= (from ?? -Infinity) && at <= (to ?? Infinity) ? 1 : 0)
          }
        }
        assert.strictEqual((days?.from ?? 0) % day, 0)
        assert.strictEqual((days?.to ?? 0) % day, 0)
      })
    )
  })

  it("leaves the end of a range open after the year 9999, since PostgreSQL reads no later day", () => {
    const lastMinute = Date.UTC(9999, 11, 31, 23, 59)
    const dayAfter = Date.UTC(10_000, 0, 1)
    for (const to of [undefined, dayAfter - 1]) {
      assert.deepStrictEqual(splitDays(lastMinute, to), {
        days: undefined,
        rests: [{ from: lastMinute, to: undefined }]
      })
      assert.deepStrictEqual(splitDays(start, to), { days: { from: start, to: undefined }, rests: [] })
    }
  })
})
