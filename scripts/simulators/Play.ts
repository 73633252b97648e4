/** A run: players come as their games are opened, and play until the time is over. */
import { Clock, Effect, Queue, Random } from "effect"
import type { Dialect, Grant, PlayedTransaction, Session } from "./Dialect.ts"
import { say, withProgress } from "./Report.ts"
import { type Seat, takeSeat } from "./Seat.ts"
import { forge, playFreeRounds, playStory } from "./Stories.ts"
import { makePace, Tally } from "./Tally.ts"

/** Players whose signatures are forged once: who sends many wrong ones is shut out. */
const maxForgeries = 3

export interface PlayOptions {
  /** The wallet's address, without a slash at the end. */
  readonly url: string
  readonly dialect: Dialect
  readonly opened: Queue.Dequeue<Session>
  readonly grants: Map<string, Grant>
  readonly notePlayed: (played: PlayedTransaction) => void
  /** Play begins when so many have opened a game. */
  readonly players: number
  readonly callsPerSecond: number
  readonly seconds: number
  readonly seed: number
}

/** Plays, and gives what was counted. */
export const play = Effect.fnUntraced(function*(options: PlayOptions) {
  const { callsPerSecond, dialect, grants, notePlayed, opened, players, seconds, seed, url } = options
  const tally = new Tally()
  const pace = makePace(callsPerSecond)
  const first: Array<Session> = []
  while (first.length < players) first.push(yield* Queue.take(opened))
  yield* say(`${players} players, ${callsPerSecond} calls a second for ${seconds} s, seed ${seed}`)
  const end_ms = (yield* Clock.currentTimeMillis) + seconds * 1000
  let seated = 0

  const freeRounds = Effect.fnUntraced(function*(seat: Seat) {
    const { gameId, playerRef } = seat.session()
    for (const grant of grants.values()) {
      if (grant.playerRef !== playerRef || grant.gameId !== gameId || !grants.delete(grant.reference)) continue
      yield* playFreeRounds(seat, grant)
      tally.countStory("free rounds")
    }
  })

  const playOne = Effect.fnUntraced(function*(session: Session) {
    const number = seated++
    const seat = yield* takeSeat({ url, dialect, session, tally, pace, notePlayed })
    if (!seat.isOpen) return
    if (number < maxForgeries) yield* forge(seat)
    while ((yield* Clock.currentTimeMillis) < end_ms) {
      tally.countStory(yield* playStory(seat))
      yield* freeRounds(seat)
    }
  })

  const seedOf = (session: Session) => `${seed} ${session.playerRef} ${session.gameId}`
  const playing = (session: Session) => Random.withSeed(playOne(session), seedOf(session))
  const others = Effect.forever(Effect.flatMap(Queue.take(opened), (session) => Effect.forkScoped(playing(session))))
  const { elapsed_ms } = yield* withProgress(
    tally,
    Effect.scoped(Effect.gen(function*() {
      yield* Effect.forkScoped(others)
      yield* Effect.forEach(first, playing, { concurrency: "unbounded", discard: true })
    }))
  )
  return { tally, elapsed_ms, players: seated }
})
