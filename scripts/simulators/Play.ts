/** A run: players come as their games are opened, and play until the time is over. */
import { Clock, Effect, Queue, Random } from "effect"
import { type Output, standardError } from "../../src/platform/Output.ts"
import type { Dialect, Grant, PlayedTransaction, Session } from "./Dialect.ts"
import { openPlayerSession, type PlayerSession, type PlayerSessionOptions } from "./PlayerSession.ts"
import { withProgress } from "./Report.ts"
import { makePace, RunStats } from "./RunStats.ts"
import { forge, playFreeRounds, playScenario, type Scenario } from "./Scenarios.ts"

/** Players whose signatures are forged once: who sends many wrong ones is shut out. */
const maxForgeries = 3

/** A player who can play, and what is known of the player besides. */
export interface Entrant extends Pick<PlayerSessionOptions, "opening" | "name" | "newId"> {
  readonly session: Session
  /** Before each round, such as a deposit where there is too little left. */
  readonly before?: (player: PlayerSession) => Effect.Effect<void>
  /** Scenarios besides those of every provider. */
  readonly scenarios?: ReadonlyArray<Scenario>
}

export interface PlayOptions {
  /** The wallet's address, without a slash at the end. */
  readonly url: string
  readonly dialect: Dialect
  readonly opened: Queue.Dequeue<Entrant>
  readonly grants: Map<string, Grant>
  readonly notePlayed: (played: PlayedTransaction) => void
  /** Play begins when so many have opened a game. */
  readonly players: number
  readonly callsPerSecond: number
  readonly seconds: number
  readonly seed: number
  /** Where the progress is told. */
  readonly progress?: Output
  readonly stats?: RunStats
  /** Waits for the turn of the next call; made of `callsPerSecond` unless others share it. */
  readonly pace?: Effect.Effect<void>
}

/** Plays, and gives what was counted. */
export const play = Effect.fnUntraced(function*(options: PlayOptions) {
  const { callsPerSecond, dialect, grants, notePlayed, opened, players, seconds, seed, url } = options
  const { pace = makePace(callsPerSecond), progress = standardError, stats = new RunStats() } = options
  const first: Array<Entrant> = []
  while (first.length < players) first.push(yield* Queue.take(opened))
  const end_ms = (yield* Clock.currentTimeMillis) + seconds * 1000
  const sessions: Array<PlayerSession> = []
  let entered = 0

  const freeRounds = Effect.fnUntraced(function*(player: PlayerSession) {
    const { gameId, playerRef } = player.session()
    for (const grant of grants.values()) {
      if (grant.playerRef !== playerRef || grant.gameId !== gameId || !grants.delete(grant.reference)) continue
      yield* playFreeRounds(player, grant)
      stats.countScenario("free rounds")
    }
  })

  const playOne = Effect.fnUntraced(function*(entrant: Entrant, number: number) {
    const player = yield* openPlayerSession({ url, dialect, stats, pace, notePlayed, ...entrant })
    sessions.push(player)
    if (!player.isOpen) return
    if (number < maxForgeries) yield* forge(player)
    while ((yield* Clock.currentTimeMillis) < end_ms) {
      if (entrant.before !== undefined) yield* entrant.before(player)
      stats.countScenario(yield* playScenario(player, entrant.scenarios))
      yield* freeRounds(player)
    }
  })

  const playing = (entrant: Entrant) =>
    Effect.suspend(() => {
      const number = entered++
      return Random.withSeed(playOne(entrant, number), `${seed} ${number}`)
    })
  const others = Effect.forever(Effect.flatMap(Queue.take(opened), (entrant) => Effect.forkScoped(playing(entrant))))
  const elapsed_ms = yield* withProgress(
    stats,
    progress,
    Effect.scoped(Effect.gen(function*() {
      yield* Effect.forkScoped(others)
      yield* Effect.forEach(first, playing, { concurrency: "unbounded", discard: true })
    }))
  )
  return { stats, elapsed_ms, players: entered, sessions }
})
