/** All capabilities of the service on a separate database, and the first rows of a test. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import type { Forwarder } from "../../src/cluster/Forwarder.ts"
import type { Nodes } from "../../src/cluster/Nodes.ts"
import type { Operator } from "../../src/domain/state/Operator.ts"
import type { Placement } from "../../src/engine/Placement.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Scheduler } from "../../src/platform/Scheduler.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerCapabilities } from "../../src/service.ts"
import { operatorOf } from "./Operators.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** The capabilities' own client, for a transaction that they take part in. */
export class ServiceSql extends Context.Service<ServiceSql, SqlClient.SqlClient>()("pitboss/test/ServiceSql") {}

/**
 * All capabilities, as the database role of the service, with settings for tests and the real source of randomness. To replay a run, put another `Entropy` in:
 * `layerTestService(Layer.succeed(Entropy, Entropy.fromBytes(…)))`. The scheduler has no jobs: tests run them explicitly.
 */
export const layerTestService = (
  entropy: Layer.Layer<Entropy> = Entropy.layer,
  capabilities = layerCapabilities,
  node: Layer.Layer<Forwarder | Nodes | Placement> = layerSingleNode
) =>
  Scheduler.layerIdle([]).pipe(
    Layer.provideMerge(
      Layer.provide(
        Layer.merge(capabilities, Layer.effect(ServiceSql, SqlClient.SqlClient)),
        TestDatabase.layerService
      )
    ),
    Layer.provideMerge(node),
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(Settings.layerTest()),
    Layer.provideMerge(entropy)
  )

/** Adds an operator. */
export const addOperator = Effect.fnUntraced(function*(slug: string, currency = "EUR") {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Ids
  const id = yield* ids.reserve(1)
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    VALUES (${id}, ${slug}, ${slug}, ${currency}, now(), now())`
  return operatorOf(id, { slug, name: slug, currency })
})

/** Adds a player with empty wallets; gives the id. */
export const addPlayer = Effect.fnUntraced(function*(operator: Operator, username: string) {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Ids
  const id = yield* ids.reserve(1)
  yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
      created_at, updated_at)
    VALUES (${id}, ${operator.id}, ${username}, ${`${username}@example.com`}, 'Ada', 'Player', '1990-01-01', 'MT',
      ${operator.currency}, now(), now())`
  yield* sql`INSERT INTO accounts (player_id, operator_id, real_updated_at, bonus_updated_at)
    VALUES (${id}, ${operator.id}, now(), now())`
  return id
})
