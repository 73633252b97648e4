// Holds players in memory and weighs them: the engine's own actors over the real loader and PostgreSQL, nothing else of
// the service. Needs --expose-gc, so that only what is reachable is weighed.
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { settle } from "../../../src/domain/Settlement.ts"
import { Placement } from "../../../src/engine/Placement.ts"
import { DatabaseUrl, layerDatabaseWith } from "../../../src/platform/Database.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { layerMigrations } from "../../../src/platform/Migrations.ts"
import { Secrets } from "../../../src/platform/Secrets.ts"
import { Settings } from "../../../src/platform/Settings.ts"
import { Outbox } from "../../../src/players/Outbox.ts"
import { PlayerActors } from "../../../src/players/PlayerActors.ts"
import type { ResidentsMessage } from "../ResidentsMessage.ts"

const options = Schema.decodeUnknownSync(Schema.Struct({
  DATABASE_URL: Schema.String,
  PLAYERS: Schema.NumberFromString,
  BETS: Schema.NumberFromString
}))(process.env)

const tell = (message: ResidentsMessage): void => {
  process.send?.(message)
}

const collectGarbage = globalThis.gc
if (collectGarbage === undefined) throw new Error("start with --expose-gc")

/** Bytes on the heap that are reachable, after the queues of the runtime have run empty. */
const weigh = Effect.gen(function*() {
  for (let pass = 0; pass < 4; pass++) {
    yield* Effect.sleep("100 millis")
    collectGarbage()
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { heap_bytes: heapUsed, rss_bytes: rss }
})

const firstPlayer = 1_000_000_000
const operatorId = 1

/** Players as they are after registration and a first deposit, in the tables the loader reads. */
const insertPlayers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
    VALUES (${operatorId}, 'bench', 'Bench', 'EUR', now(), now())`
  yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
      terms_accepted_at, created_at, updated_at)
    SELECT ${firstPlayer}::int8 + n, ${operatorId}, 'bench-' || n, 'bench-' || n || '@players.example', 'Bench',
      'Player', '1990-01-01', 'MT', 'EUR', now(), now(), now()
    FROM generate_series(0, ${options.PLAYERS - 1}::int4) AS n`
  yield* sql`INSERT INTO accounts (player_id, operator_id, version, entry_seq, wallet_seq, real_balance, provider_ids,
      real_updated_at, bonus_updated_at)
    SELECT ${firstPlayer}::int8 + n, ${operatorId}, 1, 1, 1, 1000000, '{1}', now(), now()
    FROM generate_series(0, ${options.PLAYERS - 1}::int4) AS n`
  yield* sql`ANALYZE players, accounts`
})

/** One bet of a player in a round of its own, settled by the rules of the service and committed to PostgreSQL. */
const bet = (player: number, number: number) =>
  settleBet(player, {
    action: "bet",
    providerId: 1,
    transactionId: `${player}-${number}`,
    currency: "EUR",
    game: { id: 1, providerId: 1, type: "rng", active: true },
    roundId: `round-${player}-${number}`,
    amount: 10,
    sessionExpiresAt: Number.MAX_SAFE_INTEGER,
    closesRound: false
  })

const settleBet = Effect.fnUntraced(
  function*(player: number, action: Parameters<typeof settle>[1] & { action: "bet" }) {
    const actors = yield* PlayerActors
    yield* actors.ask(operatorId, player, (state, context) => settle(state, action, context))
  }
)

const program = Effect.gen(function*() {
  yield* insertPlayers
  const actors = yield* PlayerActors
  const players = Array.from({ length: options.PLAYERS }, (_, index) => firstPlayer + index)
  const forAll = <E, R>(run: (player: number) => Effect.Effect<unknown, E, R>) =>
    Effect.forEach(players, run, { concurrency: 256, discard: true })

  const empty = yield* weigh
  yield* forAll((player) => actors.read(operatorId, player))
  const loaded = yield* weigh
  yield* forAll((player) => bet(player, 1))
  const played = yield* weigh
  for (let number = 2; number <= options.BETS; number++) yield* forAll((player) => bet(player, number))
  const full = yield* weigh
  // nobody asks: within two minutes the actors let go of what they only remembered of the store
  yield* Effect.sleep("125 seconds")
  const resting = yield* weigh
  tell({ type: "weighed", resident: actors.resident(), empty, loaded, played, full, resting })
})

const database = layerMigrations.pipe(
  Layer.provideMerge(layerDatabaseWith()),
  Layer.provide(Layer.succeed(DatabaseUrl, { url: Redacted.make(options.DATABASE_URL), embedded: false }))
)
const players = PlayerActors.layer.pipe(
  Layer.provide(Ids.layer),
  Layer.provide(Placement.layerHere),
  Layer.provide(Secrets.layer.pipe(Layer.provide(Settings.layerTest()))),
  Layer.provide(Outbox.layer),
  Layer.provideMerge(database)
)

process.on("disconnect", () => process.exit(0))
await Effect.runPromise(program.pipe(Effect.provide(players)))
