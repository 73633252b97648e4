import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audit } from "../kit/HistoryAudit.ts"
import { seedOfRun } from "../kit/Chance.ts"
import { runCycle } from "../faults/support/Cycle.ts"
import { run, type RunOutcome } from "../faults/support/Run.ts"
import { whyNoSmallDisk } from "../faults/support/SmallDisk.ts"
import { makeRunFolder, withWorld } from "../faults/support/World.ts"

// Goal: through faults of the service and its dependencies, acknowledged effects are stored once, with the ids and balances
// of their answers; refused ones are not; and one order explains all answers. Method: the service as a process, clients that play
// through HTTP as operators, providers and staff and record every answer, and real faults, timed by the number of requests that
// the clients send and record. `npm run faults` does the same for longer.

const seed = seedOfRun()

/** Fails with the findings of a run, for the reader of a failed test. */
const assertClean = ({ cycles, failure, folder }: RunOutcome, count: number): void => {
  if (failure !== undefined) {
    const { violations, concerned, cycle, databaseLines, kind } = failure
    assert.fail(
      [
        `seed ${seed}, cycle ${cycle}, ${kind ?? "calm"}: see ${folder ?? ""}`,
        ...violations,
        ...concerned.slice(0, 100),
        "log of PostgreSQL:",
        ...databaseLines
      ].join("\n")
    )
  }
  assert.lengthOf(cycles, count)
  for (const { effects, kind, ordered, triedAgain, lost } of cycles) {
    assert.isAbove(effects, 0)
    assert.isAbove(ordered, 0)
    // the fault had an effect
    if (kind !== "clock-step" && kind !== "postgres-hang") assert.isAbove(triedAgain + lost, 0, kind)
  }
}

describe("a service under load", () => {
  const kinds = [
    "service-kill",
    "service-kill",
    "postgres-kill",
    "backend-kill",
    "connection-cut",
    "postgres-hang",
    "clock-step"
  ] as const

  it.live(
    `loses nothing and books nothing twice when it or its database is killed, hangs, is cut off or has its clock set (E2E_SEED=${seed})`,
    Effect.fnUntraced(function*() {
      const plan = { seed, cycles: kinds.length, kinds, isShort: true, keepsFolder: false, onCycle: () => {} }
      assertClean(yield* run(plan), kinds.length)
    }),
    900_000
  )

  const noDisk = whyNoSmallDisk()
  const reason = noDisk === undefined ? "" : `: ${noDisk}`

  it.live.skipIf(noDisk !== undefined)(
    `loses nothing and books nothing twice when its disk is full${reason} (E2E_SEED=${seed})`,
    Effect.fnUntraced(function*() {
      const kinds = ["full-disk"] as const
      const plan = { seed, cycles: 1, kinds, isShort: true, keepsFolder: false, onCycle: () => {} }
      assertClean(yield* run(plan), 1)
    }),
    900_000
  )
})

// Goal: the comparison finds violations. Method: a cycle without faults; then the tables are changed by SQL, one change
// after the other, and each is named.
describe("a service without faults", () => {
  it.live(
    `has a linearizable history, and every change made to its ledger and tables is detected (E2E_SEED=${seed})`,
    () =>
      Effect.scoped(Effect.gen(function*() {
        const folder = yield* makeRunFolder
        yield* withWorld(folder, false, (world) =>
          Effect.gen(function*() {
            const { beginning, history, outcome } = yield* runCycle(world, {
              seed,
              number: 1,
              kind: undefined,
              isShort: true
            })
            assert.deepStrictEqual(outcome.violations, [])
            assert.isAbove(outcome.ordered, 400)
            assert.strictEqual(outcome.lost, 0)

            const sql = yield* SqlClient.SqlClient
            const changes = [
              {
                change: sql`DELETE FROM provider_transactions WHERE transaction_id =
                (SELECT min(transaction_id) FROM provider_transactions WHERE kind = 'win')`,
                found: "acknowledged and lost"
              },
              {
                change: sql`UPDATE ledger_entries SET amount = amount + 1 WHERE seq = 1`,
                found: "the chain breaks"
              },
              {
                change: sql`UPDATE accounts SET wallet_seq = wallet_seq + 1`,
                found: "actions, wallet_seq"
              },
              {
                change:
                  sql`DELETE FROM events WHERE id = (SELECT min(id) FROM events WHERE type = 'withdrawal.requested')`,
                found: "0 times, due 1 times"
              },
              {
                change: sql`UPDATE payment_requests SET status = 'cancelled' WHERE type = 'deposit'`,
                found: "what was acknowledged last made it paid"
              },
              {
                change: sql`INSERT INTO audit_log (id, at, actor, action, operator_id, player_id, subject, salt)
                  SELECT -1, at, actor, action, operator_id, player_id, subject, salt FROM audit_log
                  WHERE action LIKE 'payment.%' ORDER BY id LIMIT 1`,
                found: "the audit log says"
              },
              {
                change: sql`UPDATE players SET limits = '{}', exclusion_until = NULL`,
                found: "is undefined, acknowledged was"
              },
              { change: sql`DELETE FROM idempotency_keys`, found: "0 stored answers" }
            ]
            let before = outcome.violations
            for (const { change, found } of changes) {
              yield* change
              const { violations } = yield* audit(history, beginning)
              const isNew = violations.some((violation) => violation.includes(found) && !before.includes(violation))
              assert.isTrue(isNew, `${found}: ${violations.join("\n")}`)
              before = violations
            }
          }))
      })),
    900_000
  )
})
