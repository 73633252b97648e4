import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { settle } from "../../src/domain/settlement/Settlement.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { lockAccount } from "../kit/E2eHold.ts"
import { bet } from "../kit/Messages.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

/** Separate actors over the database, with their statements recorded; nothing is in their memory. */
const makeService = Effect.gen(function*() {
  const counts = { commits: 0, rejected: 0, examinations: 0, lookUps: 0 }
  const counted = Effect.map(makePlayerStore, (store): Effect.Success<typeof makePlayerStore> => ({
    ...store,
    commit: (units) => {
      counts.commits++
      return Effect.tapErrorTag(store.commit(units), "Rejected", () => Effect.sync(() => void counts.rejected++))
    },
    examine: (units, because) => {
      counts.examinations++
      return store.examine(units, because)
    },
    lookUp: (player, query, known) => {
      counts.lookUps++
      return store.lookUp(player, query, known)
    }
  }))
  const context = yield* Layer.build(Layer.fresh(PlayerActors.layerOver(counted)))
  return { actors: Context.get(context, PlayerActors), counts }
})

const fund = correctionStep({ wallet: "real", amount: 1000, reason: "r", actor: "staff:1" })

layer(layerTestService(), { excludeTestServices: true })("a rejected commit on PostgreSQL", (it) => {
  // Goal: bets of idle players, all sent again at once, are replayed, and the database rolls back no more than a batch
  // or two. Method: two hundred players bet through one service, then all of it again at once through another that has them in memory
  // without their bets, with new bets of fifty others.
  it.effect("takes a few SQL statements for hundreds of simultaneous retries", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("storm")
      const players = yield* Effect.forEach(
        Array.from({ length: 250 }, (_, index) => `player ${index}`),
        (name) => addPlayer(operator, name),
        { concurrency: 5 }
      )
      const retried = players.slice(0, 200)
      const first = yield* makeService
      const ask = ({ actors }: typeof first, playerId: number) =>
        actors.ask(operator.id, playerId, (player, context) => settle(player, bet(`storm ${playerId}`, 10), context))
      yield* Effect.forEach(players, (playerId) => first.actors.ask(operator.id, playerId, fund), {
        concurrency: "unbounded"
      })
      const answers = yield* Effect.forEach(retried, (playerId) => ask(first, playerId), { concurrency: "unbounded" })
      const again = yield* makeService
      yield* Effect.forEach(players, (playerId) => again.actors.read(operator.id, playerId), {
        concurrency: "unbounded"
      })
      const repeated = yield* Effect.forEach(players, (playerId) => ask(again, playerId), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        repeated.slice(0, 200),
        answers.map((reply) => ({ ...reply, status: "replayed" }))
      )
      for (const playerId of players) assert.strictEqual((yield* again.actors.read(operator.id, playerId)).real, 990)
      // the first command commits alone, all others gather behind it
      assert.isAtMost(again.counts.rejected, 2)
      assert.isAtMost(again.counts.commits, 4)
      assert.strictEqual(again.counts.lookUps, 0)
    }))

  // Goal: a locked row stops its player alone. Method: hold it in another transaction; others bet again and again,
  // in commits of their own, which the store has to reject once at most.
  it.effect("delays only the player whose row is locked", () =>
    Effect.gen(function*() {
      const operator = yield* addOperator("held")
      const [held, ...others] = yield* Effect.forEach(["a", "b", "c", "d"], (name) => addPlayer(operator, name))
      if (held === undefined) return assert.fail("no player")
      const { actors, counts } = yield* makeService
      const players = [held, ...others]
      yield* Effect.forEach(players, (playerId) => actors.ask(operator.id, playerId, fund), {
        concurrency: "unbounded"
      })
      let sent = 0
      const ask = (playerId: number) =>
        actors.ask(operator.id, playerId, (player, context) => settle(player, bet(`held ${++sent}`, 1), context))
      const release = yield* lockAccount(held)
      const waiting = yield* Effect.forkChild(Effect.result(ask(held)))
      for (let turn = 0; turn < 50; turn++) yield* Effect.forEach(others, ask, { concurrency: "unbounded" })
      assert.strictEqual(counts.rejected, 1)
      const refused = yield* Fiber.join(waiting)
      assert.isTrue(Result.isFailure(refused) && refused.failure.code === "TRY_AGAIN")
      assert.strictEqual((yield* Effect.flip(ask(held))).code, "TRY_AGAIN")
      assert.strictEqual(counts.rejected, 1)
      yield* release
      yield* ask(held)
      assert.strictEqual((yield* actors.read(operator.id, held)).real, 999)
    }))

  // Goal: a value that no column can hold is a defect of its command: it is not retryable, and its neighbours are written. Method: a
  // rule that makes such a value, between two corrections of its player and beside another player.
  for (const [name, broken] of [["column", { amount: 2 ** 64 }], ["wire type", { createdAt: 1.5 }]] as const) {
    it.effect(`is a defect of the command whose value fits no ${name}, and other commands of the commit are written`, () =>
      Effect.gen(function*() {
        const operator = yield* addOperator(name)
        const [player, other] = [yield* addPlayer(operator, "a"), yield* addPlayer(operator, "b")]
        const { actors } = yield* makeService
        const correct = (playerId: number) => actors.ask(operator.id, playerId, fund)
        const asked = actors.ask(operator.id, player, (state, context) => {
          const decision = fund(state, context)
          return decision._tag !== "Accept" || decision.change === null ? decision : {
            ...decision,
            change: {
              ...decision.change,
              entries: decision.change.entries.map((entry) => ({ ...entry, ...broken }))
            }
          }
        })
        yield* actors.read(operator.id, player)
        yield* actors.read(operator.id, other)
        const [, , bad] = yield* Effect.all([
          correct(other),
          correct(player),
          Effect.exit(asked),
          correct(player),
          correct(other)
        ], { concurrency: "unbounded" })
        assert.isTrue(Exit.hasDies(bad))
        assert.deepStrictEqual(
          [(yield* actors.read(operator.id, player)).real, (yield* actors.read(operator.id, other)).real],
          [2000, 2000]
        )
      }))
  }

  // Goal: a stored row that cannot be decoded fails its own command alone. Method: a bet whose row is corrupted by hand, retried after
  // its player was passivated, beside a correction of another one.
  it.effect("fails only for the player whose stored row cannot be decoded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("unreadable")
      const [player, other] = [yield* addPlayer(operator, "a"), yield* addPlayer(operator, "b")]
      const first = yield* makeService
      const spoiled = ({ actors }: typeof first) =>
        actors.ask(operator.id, player, (state, context) => settle(state, bet("spoiled", 10), context))
      yield* first.actors.ask(operator.id, player, fund)
      yield* spoiled(first)
      yield* sql`UPDATE provider_transactions SET created_at = 'infinity' WHERE player_id = ${player}`
      const { actors } = yield* makeService
      yield* Effect.forEach([player, other], (playerId) => actors.read(operator.id, playerId))
      const correct = actors.ask(operator.id, other, fund)
      const [, failed, written] = yield* Effect.all([
        correct,
        Effect.exit(spoiled({ ...first, actors })),
        correct
      ], { concurrency: "unbounded" })
      assert.isTrue(Exit.isFailure(failed))
      assert.strictEqual(written.balanceAfter, 2000)
    }))
})
