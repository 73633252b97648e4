import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BonusGrants } from "../../../src/features/bonuses/BonusGrants.ts"
import { BonusCosts } from "../../../src/features/reports/BonusCosts.ts"
import { iso } from "../../../src/platform/Time.ts"
import { chanceOf, seedOfRun } from "../../kit/Chance.ts"
import { runs } from "../../kit/Runs.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"
import { adminQuery } from "../../kit/TestServer.ts"

// Goal: the maintained totals equal the sums of the grants, whenever the job runs, is cut off or runs twice. Method: random grants,
// ends, late changes and reversals by SQL, some of them older than the totals; the report against the statement that reads every grant.

const dayMs = 86_400_000
const start = Date.UTC(2026, 2, 30, 22)
const seed = seedOfRun()

const players = 6
const bonuses = 4

const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    SELECT id, 'o' || id, 'O', 'EUR', now(), now() FROM generate_series(1, 2) id`
  yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency, is_test,
      created_at, updated_at)
    SELECT id, 1 + id % 2, 'u' || id, id || '@mail.example', 'A', 'B', DATE '1990-01-01', 'MT',
      CASE WHEN id % 3 = 0 THEN 'USD' ELSE 'EUR' END, id = 5, now(), now()
    FROM generate_series(1, ${players}::int) id`
  yield* sql`INSERT INTO accounts (player_id, operator_id, bonus_balance, real_updated_at, bonus_updated_at)
    SELECT id, operator_id, 100 + id, now(), now() FROM players`
  yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at, updated_at)
    SELECT id, 1 + id % 2, 'B' || id, 'no_deposit', 100, 20, 7, now(), now() FROM generate_series(1, ${bonuses}::int) id`
})

/** Grants of one operator's bonuses to its players. */
const grant = (from: number, to: number, at: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`INSERT INTO player_bonuses (id, operator_id, player_id, bonus_id, name, type, state, amount, wager_requirement, wagered,
          max_bet, max_conversion, valid_days, contributions, open_rounds, converted, forfeited, created_at)
        SELECT g, p.operator_id, p.id, 3 - p.operator_id + g % 7 % 2 * 2, 'B', 'no_deposit', 'pending',
          10 + g, 0, 0, 0, 0, 7, '{}', 0, 0, 0, ${new Date(at)}
        FROM generate_series(${from}::int, ${to}::int) g JOIN players p ON p.id = 1 + g % ${players}::int`
  )

/** Sums over every single grant. */
const plain = Effect.fnUntraced(function*(operator: number, from: string, to: string, test: boolean) {
  const sql = yield* SqlClient.SqlClient
  const within = (column: "created_at" | "finished_at") =>
    sql`b.${sql(column)} >= ${from}::text::timestamptz AND b.${
      sql(column)
    } < ${to}::text::timestamptz + interval '1 day'`
  return yield* sql`SELECT b.bonus_id::float8 AS bonus_id, p.currency,
      (count(*) FILTER (WHERE ${within("created_at")}))::float8 AS granted,
      coalesce(sum(b.amount) FILTER (WHERE ${within("created_at")}), 0)::float8 AS granted_amount,
      coalesce(sum(b.converted) FILTER (WHERE ${within("finished_at")}), 0)::float8 AS converted,
      coalesce(sum(b.forfeited) FILTER (WHERE ${within("finished_at")}), 0)::float8 AS forfeited,
      (count(*) FILTER (WHERE b.state <> 'finished'))::float8 AS running,
      coalesce(sum(CASE b.state WHEN 'activated' THEN a.bonus_balance WHEN 'pending' THEN b.amount END), 0)::float8 AS liability
    FROM player_bonuses b JOIN players p ON p.id = b.player_id JOIN accounts a ON a.player_id = p.id
    WHERE b.operator_id = ${operator} AND (${test} OR NOT p.is_test)
    GROUP BY b.bonus_id, p.currency
    HAVING count(*) FILTER (WHERE ${within("created_at")} OR ${within("finished_at")} OR b.state <> 'finished') > 0
    ORDER BY b.bonus_id, p.currency`
})

const day = (from: number): string => iso(start + from * dayMs).slice(0, 10)

const compare = Effect.fnUntraced(function*(step: string) {
  const { readLiabilities, report } = yield* BonusCosts
  yield* readLiabilities
  let lines = 0
  for (const operator of [1, 2]) {
    for (const [first, last] of [[0, 9], [2, 2], [3, 5], [20, 21]] as const) {
      for (const includeTestPlayers of [true, false]) {
        const [from, to] = [day(first), day(last)]
        const rows = yield* report(operator, { from, to, includeTestPlayers })
        lines += rows.length
        assert.deepStrictEqual(
          rows.map(({ liability_at: _, name: __, type: ___, ...row }) => row),
          [...yield* plain(operator, from, to, includeTestPlayers)] as unknown,
          `E2E_SEED=${seed}, ${step}, operator ${operator}, ${from} to ${to}`
        )
      }
    }
  }
  return lines
})

layer(
  Layer.merge(BonusCosts.layer, BonusGrants.layer).pipe(
    Layer.provide(TestDatabase.layerService),
    Layer.provideMerge(Layer.effectDiscard(scene)),
    Layer.provideMerge(TestDatabase.layer)
  ),
  {
    excludeTestServices: true
  }
)(
  "bonus costs",
  (it) => {
    it.effect(
      "equal the costs computed from the grants, after any change and while the summing job runs",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { addUp } = yield* BonusCosts
          const chance = chanceOf("bonus costs", seed)
          let granted = 0
          const at = () => new Date(start + chance.below(10 * dayMs))
          const change: { readonly [name: string]: () => Effect.Effect<unknown, unknown, SqlClient.SqlClient> } = {
            grant: () => grant(++granted, granted, at().getTime()),
            start: () =>
              sql`UPDATE player_bonuses b SET state = 'activated', started_at = now(), expires_at = now()
            WHERE id = ${chance.between(1, granted)} AND state = 'pending'
              AND NOT EXISTS (SELECT FROM player_bonuses o WHERE o.player_id = b.player_id AND o.state = 'activated')`,
            wager: () => sql`UPDATE player_bonuses SET wagered = wagered + 1 WHERE state = 'activated'`,
            end: () =>
              sql`UPDATE player_bonuses SET state = 'finished', result = ${
                chance.pick(["converted", "lost", "expired", "cancelled"])
              }, finished_at = ${at()}, converted = ${chance.below(50)}, forfeited = ${chance.below(50)}
            WHERE id % 5 = ${chance.below(5)} AND state <> 'finished'`,
            late: () =>
              sql`UPDATE player_bonuses SET converted = converted + 7, forfeited = 0 WHERE id = ${
                chance.between(1, granted)
              }`,
            reverse: () =>
              sql`UPDATE player_bonuses SET state = 'pending', started_at = NULL, expires_at = NULL, result = NULL, finished_at = NULL,
              converted = 0
            WHERE id = ${chance.between(1, granted)} AND state = 'finished'`,
            addUp: () => addUp,
            both: () => Effect.all([addUp, addUp], { concurrency: 2 }),
            undone: () =>
              Effect.flip(sql.withTransaction(Effect.andThen(
                sql`UPDATE player_bonuses SET state = 'finished', result = 'lost', finished_at = now() WHERE state <> 'finished'`,
                Effect.andThen(addUp, Effect.fail("cut off"))
              )))
          }
          let lines = 0
          for (let turn = 0; turn < runs(60, 120); turn++) {
            const name = chance.pickBy([
              ["grant", 8],
              ["start", 4],
              ["wager", 2],
              ["end", 4],
              ["late", 3],
              ["reverse", 2],
              ["addUp", 1],
              ["both", 1],
              ["undone", 1]
            ])
            yield* (change[name] ?? change["grant"] ?? (() => Effect.void))()
            if (turn % 10 === 9) lines += yield* compare(`turn ${turn} of ${name}`)
          }
          assert.isAbove(lines, runs(40, 100))
          assert.deepStrictEqual((yield* addUp).hasMore, false)
          assert.deepStrictEqual(
            yield* sql`SELECT 1 FROM bonus_cost_changes`,
            []
          )
          yield* compare("added up")
        }),
      60_000
    )

    it.effect("show a null liability, not 0, until the job has read the many active grants of a bonus", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { readLiabilities, report } = yield* BonusCosts
        const { show } = yield* BonusGrants
        const days = { from: day(0), to: day(9), includeTestPlayers: false }
        const costs = Effect.map(report(2, days), (rows) => rows.filter(({ bonus_id: id }) => id === 1))
        yield* grant(10_001, 16_000, start)
        yield* sql`DELETE FROM bonus_liabilities`
        const before = yield* costs
        assert.isNotEmpty(before)
        for (const { granted, liability, liability_at: at, running } of before) {
          assert.isAbove(granted, 0)
          assert.deepStrictEqual([running, liability, at], [null, null, null])
        }
        assert.isNull((yield* show(1)).liability)
        yield* readLiabilities
        for (const { liability, running } of yield* costs) assert.isAbove(Math.min(liability ?? 0, running ?? 0), 0)
        assert.isNotEmpty((yield* show(1)).liability)
      }))

    it.effect("leave database connections to other queries, however many reports run at the same time", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { report } = yield* BonusCosts
        const { show } = yield* BonusGrants
        const reports = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE bonus_costs IN ACCESS EXCLUSIVE MODE`
          const one = report(1, { from: day(0), to: day(1), includeTestPlayers: true })
          const asked = yield* Effect.forkChild(
            Effect.all(Array.from({ length: 10 }, () => one), { concurrency: "unbounded" }),
            {
              startImmediately: true
            }
          )
          yield* show(1)
          return asked
        }))
        assert.lengthOf(yield* Fiber.join(reports), 10)
      }))

    it.effect("lose no change of a grant, and count none twice, when the database aborts the job that sums them", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const { addUp } = yield* BonusCosts
        // more than one answer reads
        yield* grant(1001, 4000, start)
        const [locked, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const lock = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE bonus_costs IN ACCESS EXCLUSIVE MODE`
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(mayEnd)
        })))
        yield* Deferred.await(locked)
        const job = yield* Effect.forkChild(Effect.exit(addUp))
        for (let ended = 0; ended === 0;) {
          const rows = yield* adminQuery(
            url,
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%bonus_cost_changes%'`
          )
          ended = rows.length
        }
        const ended = yield* Fiber.join(job)
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Fiber.join(lock)
        assert.isTrue(Exit.isFailure(ended))
        assert.isNotEmpty(yield* sql`SELECT 1 FROM bonus_cost_changes`)
        yield* compare("cut off")
        yield* addUp
        assert.deepStrictEqual(yield* sql`SELECT 1 FROM bonus_cost_changes`, [])
        yield* compare("run again")
      }))
  }
)
