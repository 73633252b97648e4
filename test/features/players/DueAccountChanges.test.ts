import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { exclusionRetentionMs } from "../../../src/domain/limit/DueChanges.ts"
import { toDate } from "../../../src/platform/Time.ts"
import { DueAccountChanges } from "../../../src/features/players/DueAccountChanges.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { addOperator, addPlayer, layerTestService } from "../../kit/TestService.ts"

// Goal: the job finds exactly the accounts with due changes, and writes the state that the actor then has.
// Method: table rows, one of each kind and neighbours that are not due; run the job twice.

const noon = Date.UTC(2026, 10, 20, 12)

// set before any timer has started
const layerAtNoon = layerTestService().pipe(Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon))))

layer(layerAtNoon)("account upkeep", (it) => {
  it.effect("applies only the changes that are due, and each of them once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const upkeep = yield* DueAccountChanges
      const operator = yield* addOperator("upkeep")
      const add = (name: string) => addPlayer(operator, name)
      const waiting = (effectiveAt: number) => JSON.stringify([{ field: "max_daily_bet", value: 900, effectiveAt }])
      const setLimits = (id: number, effectiveAt: number) =>
        sql`UPDATE players SET limits = '{"max_daily_bet": 100}', pending_limits = ${
          waiting(effectiveAt)
        }::text::jsonb WHERE id = ${id}`
      const setExclusion = (id: number, until: number) =>
        sql`UPDATE players SET exclusion_type = 'time_out', exclusion_since = ${toDate(0)}, exclusion_until = ${
          toDate(until)
        } WHERE id = ${id}`
      const setDocument = (id: number, expiresAt: number) =>
        sql`UPDATE players SET kyc_status = 'verified', document_expires_at = ${toDate(expiresAt)} WHERE id = ${id}`
      const raised = yield* add("raised")
      const notRaised = yield* add("not_raised")
      const ended = yield* add("ended")
      const notEnded = yield* add("not_ended")
      const expired = yield* add("expired")
      const valid = yield* add("valid")
      yield* setLimits(raised, noon)
      yield* setLimits(notRaised, noon + 1)
      yield* setExclusion(ended, noon - exclusionRetentionMs)
      yield* setExclusion(notEnded, noon - exclusionRetentionMs + 1)
      yield* setDocument(expired, noon)
      yield* setDocument(valid, noon + 1)

      assert.deepStrictEqual(yield* upkeep.run, { done: 3, hasMore: false })
      assert.deepStrictEqual(yield* upkeep.run, { done: 0, hasMore: false })

      const read = (id: number) => actors.read(operator.id, id)
      assert.deepInclude(yield* read(raised), { limits: { max_daily_bet: 900 }, pendingLimits: [] })
      assert.deepInclude(yield* read(notRaised), { limits: { max_daily_bet: 100 } })
      assert.isNull((yield* read(ended)).exclusion)
      assert.isNotNull((yield* read(notEnded)).exclusion)
      assert.deepInclude(yield* read(expired), { kycStatus: "expired", documentExpiresAt: null })
      assert.deepInclude(yield* read(valid), { kycStatus: "verified", documentExpiresAt: noon + 1 })
      const rows = yield* sql<{ readonly username: string; readonly kyc: string; readonly waits: boolean }>`
        SELECT username, kyc_status AS kyc, pending_limits <> '[]' AS waits FROM players WHERE operator_id = ${operator.id}
        AND (exclusion_until IS NOT NULL OR pending_limits <> '[]' OR kyc_status <> 'not_started') ORDER BY username`
      assert.deepStrictEqual(rows, [
        { username: "expired", kyc: "expired", waits: false },
        { username: "not_ended", kyc: "not_started", waits: false },
        { username: "not_raised", kyc: "not_started", waits: true },
        { username: "valid", kyc: "verified", waits: false }
      ])
      const log = yield* sql<
        { readonly actor: string }
      >`SELECT DISTINCT actor FROM audit_log WHERE operator_id = ${operator.id}`
      assert.deepStrictEqual(log, [{ actor: "scheduler" }])
    }))
})
