import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { JournalClient } from "../../src/platform/Database.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { noAnswer, toUnavailable, unresponsive, withDeadline } from "../../src/store/internal/StoreFailures.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { holdPlayer, lockAccount, untilSomeoneWaits } from "../kit/E2eHold.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

// Goal: an unresponsive database blocks no caller, not even while a cancellation is unanswered. Method: statements ended by
// the test, on the test's clock.
describe("a statement with a deadline", () => {
  it.effect("returns results and failures that arrive in time", () =>
    Effect.gen(function*() {
      for (const exit of [Exit.succeed(7), Exit.fail("refused"), Exit.die("broken")]) {
        assert.deepStrictEqual(yield* Effect.exit(withDeadline(exit, () => "late")), exit)
      }
      const answer = yield* Deferred.make<number>()
      const waiting = yield* Effect.forkChild(withDeadline(Deferred.await(answer), () => "late"))
      yield* TestClock.adjust("5999 millis")
      yield* settle
      assert.isUndefined(waiting.pollUnsafe())
      yield* Deferred.succeed(answer, 8)
      assert.strictEqual(yield* Fiber.join(waiting), 8)
    }))

  it.effect("fails after six seconds and is cancelled", () =>
    Effect.gen(function*() {
      const cancelled = yield* Deferred.make<void>()
      const statement = Effect.onInterrupt(Effect.never, () => Deferred.succeed(cancelled, undefined))
      // as the engine runs it: not to be interrupted from outside
      const waiting = yield* Effect.forkChild(
        Effect.uninterruptible(Effect.exit(withDeadline(statement, () => "late")))
      )
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), Exit.fail("late"))
      yield* Deferred.await(cancelled)
    }))

  it.effect("fails after six seconds even if it cannot be cancelled", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      const statement = Effect.uninterruptible(Deferred.await(answer))
      const waiting = yield* Effect.forkChild(Effect.exit(withDeadline(statement, () => "late")))
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), Exit.fail("late"))
      yield* Deferred.succeed(answer, undefined)
    }))

  it.effect("is reported as an unavailable store when it times out", () =>
    Effect.gen(function*() {
      const read = Effect.mapError(withDeadline(Effect.never, noAnswer), toUnavailable)
      const waiting = yield* Effect.forkChild(Effect.flip(read))
      yield* TestClock.adjust("6 seconds")
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "StoreUnavailable", reason: unresponsive })
    }))
})

// Goal: a transaction that holds a player's row delays that player alone, and leaves nothing half done. Method: a
// transaction that holds the row until the test lets it go.
layer(layerTestService(), { excludeTestServices: true })("a player's row locked by another transaction", (it) => {
  it.effect("fails changes of its player until it is unlocked, and none of another player", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* PlayerActors
      const operator = yield* addOperator("busy")
      const [held, free] = [yield* addPlayer(operator, "held"), yield* addPlayer(operator, "free")]
      const correct = (playerId: number) =>
        Effect.match(
          actors.ask(
            operator.id,
            playerId,
            correctionStep({ wallet: "real", amount: 5, reason: "r", actor: "staff:1" })
          ),
          { onFailure: ({ code }) => code, onSuccess: ({ balanceAfter }) => balanceAfter }
        )
      const release = yield* lockAccount(held)
      assert.deepStrictEqual(yield* Effect.all([correct(held), correct(free)], { concurrency: 2 }), ["TRY_AGAIN", 5])
      assert.strictEqual((yield* actors.read(operator.id, held)).real, 0)
      const entries = yield* sql`SELECT 1 FROM ledger_entries WHERE player_id = ${held}`
      assert.strictEqual(entries.length, 0)
      yield* release
      assert.strictEqual(yield* correct(held), 5)
      // known not to have been written: no fence was needed, which would have raised the version once more
      const [account] = yield* sql`SELECT version::float8 AS version FROM accounts WHERE player_id = ${held}`
      assert.deepStrictEqual(account, { version: 1 })
    }))
})

// Goal: a commit whose answer does not come in time may have happened or not; nobody guesses, and nothing is counted twice. Method: a
// write that a gate in the database keeps, given up on by the test's clock; on connections whose own time limit is longer than that.
layer(layerTestService())("a commit without an answer in time", (it) => {
  it.effect("has an unknown outcome, which the next command resolves", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const patient = Effect.provideService(makePlayerStore, JournalClient, sql)
      const actors = Context.get(yield* Layer.build(PlayerActors.layerOver(patient)), PlayerActors)
      const operator = yield* addOperator("silent")
      const playerId = yield* addPlayer(operator, "ada")
      const correct = actors.ask(
        operator.id,
        playerId,
        correctionStep({ wallet: "real", amount: 5, reason: "r", actor: "staff:1" })
      )
      const open = yield* holdPlayer(playerId)
      const refused = yield* Effect.forkChild(Effect.flip(correct))
      yield* TestClock.withLive(untilSomeoneWaits)
      yield* TestClock.adjust("6 seconds")
      const refusal = yield* Fiber.join(refused)
      assert.strictEqual(refusal.code, "TRY_AGAIN")
      assert.include(refusal.message, "not known yet")
      yield* open
      // while the commit holds the row, its player is refused
      const { balanceAfter } = yield* correct.pipe(
        Effect.tapError(() => TestClock.withLive(Effect.sleep("10 millis"))),
        Effect.retry({ times: 500 })
      )
      const entries = yield* sql<{ readonly sum: number; readonly count: number }>`
        SELECT sum(amount)::float8 AS sum, count(*)::float8 AS count FROM ledger_entries WHERE player_id = ${playerId}`
      assert.deepStrictEqual(entries[0], { sum: balanceAfter, count: balanceAfter / 5 })
      assert.strictEqual((yield* actors.read(operator.id, playerId)).real, balanceAfter)
      // the link of that commit may be there or not: what came after rests on a chain of its own, and every entry has its link
      const links =
        yield* sql`SELECT chain_id, link FROM chain_links WHERE ${playerId}::float8::bigint = ANY(player_ids)`
      assert.lengthOf(links, balanceAfter / 5)
      assert.strictEqual(new Set(links.map(({ chain_id }) => chain_id)).size, links.length)
    }))
})
