/** The engine's actors without the rest of the service: on PostgreSQL with its loader, or in memory. */
import { Chain, ChainKey } from "../../../src/chain/Chain.ts"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ownPolicy, settle } from "../../../src/domain/settlement/Settlement.ts"
import { Placement } from "../../../src/engine/Placement.ts"
import { DatabaseUrl, layerDatabaseWith } from "../../../src/platform/Database.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { layerMigrations } from "../../../src/platform/Migrations.ts"
import { DigestKey, PersonalData } from "../../../src/platform/PersonalData.ts"
import { Entropy } from "../../../src/platform/Entropy.ts"
import { Secrets } from "../../../src/platform/Secrets.ts"
import { Settings } from "../../../src/platform/Settings.ts"
import * as MemoryPlayerStore from "../../../test/kit/MemoryPlayerStore.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { newPlayer } from "../../../test/kit/players.ts"

const firstPlayer = 1_000_000_000
const operatorId = 1
const providerId = 1
const gameId = 1
export const openingBalance = 1_000_000_000
export const stake = 10

/** The id of the player with this number, from 0. */
export const playerId = (number: number): number => firstPlayer + number

/** Players inserted by one statement: all at once can take longer than the statement timeout of the service's connections. */
const playersPerInsert = 1000

/** Players as they are after registration and a first deposit, in the tables the loader reads. */
export const insertPlayers = Effect.fnUntraced(function*(players: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    VALUES (${operatorId}, 'bench', 'Bench', 'EUR', now(), now())`
  for (let first = 0; first < players; first += playersPerInsert) {
    const last = Math.min(first + playersPerInsert, players) - 1
    yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
        created_at, updated_at)
      SELECT ${firstPlayer}::int8 + n, ${operatorId}, 'bench-' || n, 'bench-' || n || '@players.example', 'Bench',
        'Player', '1990-01-01', 'MT', 'EUR', now(), now()
      FROM generate_series(${first}::int4, ${last}::int4) AS n`
    yield* sql`INSERT INTO accounts (player_id, operator_id, version, entry_seq, wallet_seq, real_balance, provider_ids,
        real_updated_at, bonus_updated_at)
      SELECT ${firstPlayer}::int8 + n, ${operatorId}, 1, 1, 1, ${openingBalance}::int8, '{1}', now(), now()
      FROM generate_series(${first}::int4, ${last}::int4) AS n`
  }
  yield* sql`ANALYZE players, accounts`
})

/** One bet of a player in a round of its own, settled by the rules of the service. `id` is unique. */
export const placeBet = (actors: PlayerActors["Service"], player: number, id: string) =>
  actors.ask(operatorId, player, (state, context) =>
    settle(state, {
      action: "bet",
      policy: ownPolicy,
      providerId,
      transactionId: id,
      currency: "EUR",
      game: { id: gameId, providerId, type: "rng", category: "slots", active: true },
      roundId: id,
      amount: stake,
      session: { id: 1, expiresAt: Number.MAX_SAFE_INTEGER },
      closesRound: false
    }, context))

export const readPlayer = (actors: PlayerActors["Service"], player: number) => actors.read(operatorId, player)

const layerSecrets = Secrets.layer.pipe(Layer.provide(Settings.layerTest()))

/** Actors over PostgreSQL, through the service's own loader and journal. */
export const layerPostgres = (url: string) =>
  PlayerActors.layer.pipe(
    Layer.provide(Ids.layer),
    Layer.provide(Placement.layerHere),
    Layer.provide(PersonalData.layer.pipe(Layer.provide(DigestKey.layerTest), Layer.provideMerge(layerSecrets))),
    Layer.provide([Outbox.layer, ProfileBook.layerBuiltIn]),
    Layer.provide(Chain.layer.pipe(Layer.provide([ChainKey.layerTest, Entropy.layer]))),
    Layer.provideMerge(
      layerMigrations.pipe(
        Layer.provideMerge(layerDatabaseWith()),
        Layer.provide(Layer.succeed(DatabaseUrl, { url: Redacted.make(url), embedded: false }))
      )
    )
  )

/**
 * Actors on the store in memory, for the cost of the engine and the rules alone. A commit takes one turn of the event loop, so
 * that the next one gathers meanwhile as on PostgreSQL. Ids come from a counter.
 */
export const layerMemory = (players: number) =>
  PlayerActors.layerOver(Effect.gen(function*() {
    const store = MemoryPlayerStore.make({ commit: (run) => Effect.andThen(Effect.yieldNow, run) })
    for (let number = 0; number < players; number++) {
      yield* store.add(
        newPlayer({ id: playerId(number), operatorId, real: openingBalance, entrySeq: 1, providerIds: [providerId] })
      )
    }
    return store
  })).pipe(Layer.provide([Ids.layerTest(), Placement.layerHere]))
