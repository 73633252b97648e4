import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerPersonal } from "../../kit/Personal.ts"
import { Compliance } from "../../../src/features/compliance/Compliance.ts"
import { CaseOrders } from "../../../src/features/cases/CaseOrders.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { layerNoCases, layerNoScreenings } from "../../kit/NoCases.ts"
import { Holds } from "../../../src/features/compliance/Holds.ts"
import type { Finding } from "../../../src/domain/compliance/AlertRules.ts"
import { makeAlertStore } from "../../../src/features/compliance/internal/AlertStore.ts"
import { refuse } from "../../../src/domain/Refusal.ts"
import { Ids, IdsUnavailable } from "../../../src/platform/Ids.ts"
import { Forwarder } from "../../../src/cluster/Forwarder.ts"
import { RemoteCommands } from "../../../src/store/RemoteCommands.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { TestDatabase } from "../../kit/TestDatabase.ts"

// Goal: effects that failed for an external reason are retried at once when it has passed, a player whose actor fails delays no
// other, and an occurrence closed by staff is raised again when it gets worse, once per severity. Method: the real
// follower on a real database, with ids and actors that fail when the test says so.

const world = { hasIds: true, asked: Array<number>(), broken: new Set<number>() }

const layerIds = Layer.effect(
  Ids,
  Effect.map(Ids, (ids) =>
    Ids.of({
      ...ids,
      reserve: (count) =>
        Effect.suspend(() =>
          world.hasIds ? ids.reserve(count) : Effect.fail(new IdsUnavailable({ reason: "out of ids" }))
        )
    }))
).pipe(Layer.provide(Ids.layerTest(1000)))

const layerActors = Layer.succeed(
  PlayerActors,
  PlayerActors.of({
    ask: (_, playerId) =>
      Effect.suspend(() => {
        world.asked.push(playerId)
        return world.broken.has(playerId)
          ? Effect.die(new Error("this player cannot be asked"))
          : Effect.fail(refuse("TRY_AGAIN", "not now"))
      }),
    create: () => Effect.die("nobody is created"),
    peek: () => undefined,
    read: () => Effect.die("nothing is read"),
    post: (_operatorId, _playerId, _step, done) => done(Exit.die("nothing is asked")),
    renew: () => undefined,
    resident: () => 0,
    writesStalledMs: () => 0
  })
)

const at = new Date(0)

const layerPlayers = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at) VALUES (1, 'o', 'o', 'EUR', ${at}, ${at})`
  for (const id of [1, 2, 3]) {
    yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
        created_at, updated_at)
      VALUES (${id}, 1, ${`u${id}`}, ${`u${id}@example.com`}, ${`Ada${id}`}, 'Player', '1990-01-01', 'MT', 'EUR', ${at}, ${at})`
  }
  yield* sql`DELETE FROM compliance_effects`
}))

const services = Compliance.layer.pipe(
  Layer.provide(Holds.layer),
  Layer.provide([CaseOrders.layer, layerNoCases, layerNoScreenings, ProfileBook.layerBuiltIn]),
  Layer.provide(RemoteCommands.layer.pipe(Layer.provide(Forwarder.layerNone))),
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(layerIds),
  Layer.provide(layerActors),
  Layer.provideMerge(layerPlayers),
  Layer.provide(layerPersonal),
  Layer.provideMerge(TestDatabase.layer)
)

layer(services)("a run of the compliance follower (judges committed changes by the alert rules)", (it) => {
  it.effect("fails entirely while no alert ids can be reserved, without setting any change aside", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { run } = yield* Compliance
      yield* sql`INSERT INTO payment_requests (id, operator_id, player_id, type, status, amount, currency, created_at, updated_at)
        VALUES (10, 1, 1, 'deposit', 'paid', 200000, 'EUR', ${at}, ${at})`
      world.hasIds = false
      assert.isTrue(Exit.isFailure(yield* Effect.exit(run)))
      world.hasIds = true
      yield* run
      const alerts = yield* sql`SELECT rule, payment_request_id::float8 AS payment FROM compliance_alerts`
      assert.deepStrictEqual(alerts, [{ rule: "large_deposit", payment: 10 }])
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM compliance_effects`, [])
    }))

  it.effect("requests the withdrawal holds of the other players when that of one player fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { run } = yield* Compliance
      for (const id of [1, 2, 3]) {
        yield* sql`INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold,
            created_at, updated_at)
          VALUES (${id}, 1, ${id}, 'structuring', 'x', 'low', 'open', '{}', 'wanted', ${at}, ${at})`
      }
      world.broken.add(1)
      assert.deepStrictEqual(yield* run, { done: 0, hasMore: false })
      assert.sameMembers(world.asked, [1, 2, 3])
    }))

  it.effect("raises a closed alert again only at a higher severity, once per severity", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { raise } = yield* makeAlertStore
      const of = (playerId: number, severity: Finding["severity"]) => ({
        subject: { operatorId: 1, playerId },
        finding: {
          rule: "deposit_velocity",
          severity,
          occurrence: "a window",
          paymentId: null,
          details: {},
          stopsWithdrawals: false
        } as const
      })
      const find = (...severities: ReadonlyArray<Finding["severity"]>) =>
        sql.withTransaction(raise(severities.map((severity) => of(2, severity)), 0))
      const closeAll = sql`UPDATE compliance_alerts SET status = 'closed', closed_at = ${at}
        WHERE rule = 'deposit_velocity' AND status <> 'closed'`
      const alerts = sql`SELECT severity, status FROM compliance_alerts WHERE rule = 'deposit_velocity' ORDER BY id`
      assert.strictEqual(yield* find("low", "low"), 1)
      assert.strictEqual(yield* find("low", "medium"), 0)
      yield* closeAll
      assert.strictEqual(yield* find("low", "medium"), 0)
      assert.strictEqual(yield* find("high"), 1)
      assert.strictEqual(yield* find("high", "critical", "low"), 0)
      assert.deepStrictEqual(yield* alerts, [
        { severity: "medium", status: "closed" },
        { severity: "critical", status: "open" }
      ])
      yield* closeAll
      assert.strictEqual(yield* find("medium", "high", "critical"), 0)
      // a player's closed alert has no effect on another player
      assert.strictEqual(yield* sql.withTransaction(raise([of(2, "low"), of(3, "low")], 0)), 1)
      const [told] = yield* sql`SELECT count(*)::float8 AS count FROM events WHERE player_id = 2`
      assert.deepStrictEqual(told, { count: 2 })
    }))
})
