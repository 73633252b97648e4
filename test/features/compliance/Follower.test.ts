import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { type ComplianceEffect, makeEffectQueue } from "../../../src/features/compliance/internal/EffectQueue.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: every committed effect is judged exactly once, and none that was rolled back, for any order of commits of transactions
// that took their numbers, with concurrent followers, and wherever a follower dies. Method: random interleavings of real
// transactions, followers and crashes on a real database, beside a plain model of the committed effects. Judgements are
// recorded in the judging transaction, twice when an effect is judged twice.

/** Next step; numbers choose among the open transactions. */
type Happening =
  | { readonly _tag: "begin"; readonly effects: number }
  | { readonly _tag: "end"; readonly which: number; readonly how: "commit" | "rollback" }
  | { readonly _tag: "follow"; readonly limit: number; readonly dies: "never" | "before" | "after" }
  | { readonly _tag: "two follow" }

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant("begin" as const), effects: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("end" as const),
      which: fc.nat(5),
      how: fc.constantFrom("commit" as const, "commit" as const, "rollback" as const)
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant("follow" as const),
      limit: fc.integer({ min: 1, max: 4 }),
      dies: fc.constantFrom("never" as const, "never" as const, "before" as const, "after" as const)
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("two follow" as const) }) }
)

const dead = { _tag: "Dead" } as const

/** Maximum number of open transactions: fewer than the connections, so that followers find one. */
const maxOpen = 3

layer(TestDatabase.layer)("the compliance follower (judges committed changes by the alert rules)", (it) => {
  it.effect("judges each committed change exactly once despite failures", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* makeEffectQueue
      yield* sql`CREATE TABLE judged (subject_id bigint NOT NULL)`
      let subjects = 0

      const judge = (dies: "never" | "before" | "after") => (effects: ReadonlyArray<ComplianceEffect>) =>
        Effect.gen(function*() {
          if (dies === "before") return yield* Effect.fail(dead)
          for (const { subjectId } of effects) yield* sql`INSERT INTO judged VALUES (${subjectId})`
          if (dies === "after") return yield* Effect.fail(dead)
        })
      const follow = (limit: number, dies: "never" | "before" | "after" = "never") =>
        queue.work({ now: 0, limit }, judge(dies)).pipe(Effect.catchTag("Dead", () => Effect.succeed([])))

      /** Opens a transaction that has written effects; returns the function that ends it. */
      const begin = Effect.fnUntraced(function*(count: number) {
        const mine = Array.from({ length: count }, () => ++subjects)
        const scope = yield* Scope.make()
        const connection = yield* Scope.provide(sql.reserve, scope)
        const run = (statement: string) => connection.executeUnprepared(statement, [], undefined)
        yield* run("BEGIN")
        for (const subject of mine) {
          yield* run(`INSERT INTO compliance_effects (kind, player_id, subject_id, at)
            VALUES ('deposit', 1, ${subject}, now())`)
        }
        const end = (how: "commit" | "rollback") => Effect.andThen(run(how), Scope.close(scope, Exit.void))
        return { mine, end }
      })

      const runOnce = Effect.fnUntraced(function*(happenings: ReadonlyArray<Happening>) {
        yield* sql`TRUNCATE judged, compliance_effects`
        const committed: Array<number> = []
        const open: Array<Effect.Success<ReturnType<typeof begin>>> = []
        const end = Effect.fnUntraced(function*(which: number, how: "commit" | "rollback") {
          const [transaction] = open.splice(which % Math.max(1, open.length), 1)
          if (transaction === undefined) return
          yield* transaction.end(how)
          if (how === "commit") committed.push(...transaction.mine)
        })
        for (const next of happenings) {
          switch (next._tag) {
            case "begin":
              if (open.length < maxOpen) open.push(yield* begin(next.effects))
              break
            case "end":
              yield* end(next.which, next.how)
              break
            case "follow":
              yield* follow(next.limit, next.dies)
              break
            case "two follow":
              yield* Effect.all([follow(2), follow(2)], { concurrency: 2 })
              break
          }
          const seen = yield* sql<{ readonly subject: number }>`SELECT subject_id::float8 AS subject FROM judged`
          for (const { subject } of seen) assert.include(committed, subject, "nothing is judged before its commit")
        }
        while (open.length > 0) yield* end(0, "commit")
        while ((yield* follow(3)).length > 0) { /* until nothing is left */ }
        const judged = yield* sql<{ readonly subject: number }>`
          SELECT subject_id::float8 AS subject FROM judged ORDER BY subject_id`
        assert.deepStrictEqual(judged.map(({ subject }) => subject), committed.toSorted((a, b) => a - b))
        const left = yield* sql`SELECT 1 FROM compliance_effects`
        assert.strictEqual(left.length, 0)
      })

      const context = yield* Effect.context<never>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.array(happening, { minLength: 3, maxLength: 25 }),
            (happenings) => Effect.runPromiseWith(context)(runOnce(happenings))
          ),
          { numRuns: 40 }
        )
      )
    }), 300_000)

  it.effect("runs in one process at a time, and in another process when that one ends", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* makeEffectQueue
      yield* sql`INSERT INTO compliance_effects (kind, player_id, subject_id, at) VALUES ('deposit', 1, 1, now()), ('deposit', 1, 2, now())`
      const seen: Array<number> = []
      let enter = () => {}
      const entered = new Promise<void>((resolve) => (enter = resolve))
      const first = yield* Effect.forkChild(
        queue.work({ now: 0, limit: 1 }, () => Effect.andThen(Effect.sync(() => enter()), Effect.never)),
        { startImmediately: true }
      )
      yield* Effect.promise(() => entered)
      // there is another effect, with its row unlocked
      assert.deepStrictEqual(yield* queue.work({ now: 0, limit: 5 }, () => Effect.die("must not be asked")), [])
      yield* Fiber.interrupt(first)
      yield* queue.work({ now: 0, limit: 5 }, (effects) =>
        Effect.sync(() => {
          for (const { subjectId } of effects) seen.push(subjectId ?? 0)
        }))
      assert.deepStrictEqual(seen, [1, 2])
    }))

  it.effect("retries a change that it cannot judge after growing delays, and judges the others meanwhile", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* makeEffectQueue
      yield* sql`INSERT INTO compliance_effects (kind, player_id, subject_id, at) VALUES ('deposit', 1, 7, now()), ('deposit', 1, 8, now())`
      const work = (now: number) =>
        Effect.map(
          queue.work({ now, limit: 5 }, (effects) => Effect.fail({ _tag: "Seen", effects } as const)).pipe(
            Effect.catchTag("Seen", ({ effects }) => Effect.succeed(effects))
          ),
          (effects) => effects.map(({ subjectId }) => subjectId)
        )
      const [bad] = yield* sql<
        { readonly id: number }
      >`SELECT id::float8 AS id FROM compliance_effects ORDER BY id LIMIT 1`
      const effect = { id: bad?.id ?? 0, kind: "deposit", playerId: 1, subjectId: 7, fields: [], at: 0 } as const
      const minute = 60_000
      yield* queue.postpone(effect, 0)
      assert.deepStrictEqual(yield* work(minute - 1), [8])
      assert.deepStrictEqual(yield* work(minute), [7, 8])
      yield* queue.postpone(effect, minute)
      assert.deepStrictEqual(yield* work(3 * minute - 1), [8])
      for (let time = 0; time < 10; time++) yield* queue.postpone(effect, 0)
      assert.deepStrictEqual(yield* work(60 * minute - 1), [8])
      assert.deepStrictEqual(yield* work(60 * minute), [7, 8])
      // a clock that was a year ahead and has been corrected
      yield* queue.postpone(effect, 365 * 24 * 60 * minute)
      assert.deepStrictEqual(yield* work(0), [7, 8])
    }))

  it.effect("judges changes in the order of their ids, in whatever order the database returns them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* makeEffectQueue
      yield* sql`TRUNCATE compliance_effects`
      yield* sql`INSERT INTO compliance_effects (id, kind, player_id, at) OVERRIDING SYSTEM VALUE
        SELECT 1000 - i, 'kyc', 1, now() FROM generate_series(1, 5) i`
      const judged = yield* sql.withTransaction(Effect.gen(function*() {
        // as the rows lie in the table: the last number first
        yield* sql`SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_indexscan', 'enable_indexonlyscan']) name`
        return yield* queue.work({ now: 0, limit: 5 }, () => Effect.void)
      }))
      assert.deepStrictEqual(judged.map(({ id }) => id), [995, 996, 997, 998, 999])
    }))
})
