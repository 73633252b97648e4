// Holds players in memory and weighs them: the engine's own actors over the real loader and PostgreSQL, nothing else of
// the service. Needs --expose-gc, so that only what is reachable is weighed.
import { Effect, Schema } from "effect"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import type { ResidentsMessage } from "../ResidentsMessage.ts"
import { insertPlayers, layerPostgres, placeBet, playerId, readPlayer } from "./PlayerEngine.ts"

const options = Schema.decodeUnknownSync(Schema.Struct({
  DATABASE_URL: Schema.String,
  PLAYERS: Schema.NumberFromString,
  BETS: Schema.NumberFromString
}))(process.env)

const send = (message: ResidentsMessage): void => {
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

const program = Effect.gen(function*() {
  yield* insertPlayers(options.PLAYERS)
  const actors = yield* PlayerActors
  const players = Array.from({ length: options.PLAYERS }, (_, index) => playerId(index))
  const bet = (player: number, number: number) => placeBet(actors, player, `${player}-${number}`)
  const forAll = <E, R>(run: (player: number) => Effect.Effect<unknown, E, R>) =>
    Effect.forEach(players, run, { concurrency: 256, discard: true })

  const empty = yield* weigh
  yield* forAll((player) => readPlayer(actors, player))
  const loaded = yield* weigh
  yield* forAll((player) => bet(player, 1))
  const played = yield* weigh
  for (let number = 2; number <= options.BETS; number++) yield* forAll((player) => bet(player, number))
  const full = yield* weigh
  // idle: within two minutes the actors drop carried rows of the store
  yield* Effect.sleep("125 seconds")
  const resting = yield* weigh
  send({ type: "weighed", resident: actors.resident(), empty, loaded, played, full, resting })
})

process.on("disconnect", () => process.exit(0))
await Effect.runPromise(program.pipe(Effect.provide(layerPostgres(options.DATABASE_URL))))
