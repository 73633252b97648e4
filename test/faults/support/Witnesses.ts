/**
 * Players who bet one small amount after the other at any available node, each bet sent until it is done, recording its duration
 * and the node that did it: measures the cost of a fault for affected players, and for all others.
 */
import { Effect } from "effect"
import type { Chance } from "../../kit/Chance.ts"
import { callWallet, type Seat, settledOf } from "../../kit/Casino.ts"
import type { Caller } from "../../kit/HttpCalls.ts"
import type { HistoryLog } from "../../kit/History.ts"

/** A bet from its first sending to its answer, in milliseconds of the monotonic clock. */
interface Sighting {
  readonly from: number
  readonly to: number
  readonly attempts: number
  readonly servedBy: string | undefined
  /** The slowest of its sendings to each node, by the node's number. */
  readonly slowest: ReadonlyMap<number, number>
}

/** A node that can be called. */
export interface Asked {
  readonly number: number
  readonly provider: Caller
}

interface Witness {
  readonly seat: Seat
  readonly sightings: Array<Sighting>
  /** Start of its pending bet. */
  waitingSince: number | undefined
  balance: number
}

export interface Witnesses {
  readonly violations: ReadonlyArray<string>
  /** The slowest answer to these players since, among calls to other nodes than this one. */
  readonly slowest: (whose: ReadonlySet<number>, since: number, notAsked: number) => number
  /** The longest wait of these players since, including pending bets. */
  readonly waits: (whose: ReadonlySet<number>, since: number) => ReadonlyArray<number>
  /** The maximum number of sendings of one bet of these players since. */
  readonly mostAttempts: (whose: ReadonlySet<number>, since: number) => number
  /** Time from this moment to the first answer to each of these players by another node. */
  readonly servedAgain: (whose: ReadonlySet<number>, since: number, notBy: string) => ReadonlyArray<number | undefined>
  /** Players whose last bet this node did, and all others. */
  readonly of: (node: string) => readonly [ReadonlySet<number>, ReadonlySet<number>]
  /** Expected balances; an unanswered last bet may have been done besides. */
  readonly books: () => ReadonlyArray<
    { readonly playerId: number; readonly balance: number; readonly mayHaveMore: boolean }
  >
  readonly run: Effect.Effect<void>
}

const pauseMs = 150

/** Slower answers are logged, ms. */
const slowMs = 500

/** A provider's time-out before it resends its message. */
const patience = "3 seconds"

/** `nodes`: the nodes available now. A caller without an answer from one calls another. */
export const makeWitnesses = (options: {
  readonly seats: ReadonlyArray<Seat>
  readonly balance: number
  readonly nodes: () => ReadonlyArray<Asked>
  readonly chance: Chance
  readonly log: HistoryLog
  readonly isOver: () => boolean
}): Witnesses => {
  const witnesses = options.seats.map((seat): Witness => ({
    seat,
    sightings: [],
    waitingSince: undefined,
    balance: options.balance
  }))
  const violations: Array<string> = []

  const bet = Effect.fnUntraced(function*(witness: Witness, number: number) {
    const { seat } = witness
    const id = `witness-${seat.playerId}-${number}`
    const from = performance.now()
    witness.waitingSince = from
    const slowest = new Map<number, number>()
    let last: number | undefined
    for (let attempts = 1; !options.isOver(); attempts++) {
      const askable = options.nodes()
      const others = askable.filter((node) => node.number !== last)
      const asked = options.chance.pick(others.length === 0 ? askable : others)
      last = asked.number
      const sentAt = performance.now()
      const result = yield* Effect.result(
        callWallet(asked.provider, "bet", {
          request_id: id,
          transaction_id: id,
          session_token: seat.token,
          game_id: seat.game.externalId,
          round_id: id,
          amount: 1,
          currency: "EUR"
        }).pipe(Effect.timeout(patience))
      )
      slowest.set(asked.number, Math.max(slowest.get(asked.number) ?? 0, performance.now() - sentAt))
      if (result._tag === "Failure" || result.success.status === 503) {
        options.log.write({
          what: "witness",
          player: seat.playerId,
          asked: asked.number,
          ms: Math.round(performance.now()),
          waitedMs: Math.round(performance.now() - sentAt),
          because: result._tag === "Failure" ? result.failure.message : result.success.text
        })
        yield* Effect.sleep("20 millis")
        continue
      }
      const reply = result.success
      const waitedMs = Math.round(performance.now() - sentAt)
      if (waitedMs > slowMs) {
        options.log.write({
          what: "slow",
          player: seat.playerId,
          asked: asked.number,
          servedBy: reply.headers["x-served-by"],
          ms: Math.round(performance.now()),
          waitedMs
        })
      }
      const settled = yield* Effect.result(settledOf(reply))
      if (settled._tag === "Failure") return void violations.push(`${id}: ${reply.status} ${reply.text}`)
      const { balance } = settled.success
      if (balance !== --witness.balance) violations.push(`${id}: left ${balance}, due ${witness.balance}`)
      witness.sightings.push({ from, to: performance.now(), attempts, servedBy: reply.headers["x-served-by"], slowest })
      witness.waitingSince = undefined
      return
    }
  })

  const among = (whose: ReadonlySet<number>) => witnesses.filter(({ seat }) => whose.has(seat.playerId))
  return {
    violations,
    slowest: (whose, since, notAsked) =>
      Math.max(
        0,
        ...among(whose).flatMap(({ sightings }) =>
          sightings.filter(({ to }) => to >= since).flatMap(({ slowest }) =>
            [...slowest].flatMap(([number, ms]) => number === notAsked ? [] : [ms])
          )
        )
      ),
    waits: (whose, since) =>
      among(whose).map(({ sightings, waitingSince }) =>
        Math.max(
          0,
          waitingSince === undefined ? 0 : performance.now() - waitingSince,
          ...sightings.filter(({ to }) => to >= since).map(({ from, to }) => to - from)
        )
      ),
    mostAttempts: (whose, since) =>
      Math.max(
        0,
        ...among(whose).flatMap(({ sightings }) =>
          sightings.filter(({ to }) => to >= since).map(({ attempts }) => attempts)
        )
      ),
    servedAgain: (whose, since, notBy) =>
      among(whose).map(({ sightings }) => {
        const first = sightings.find(({ servedBy, to }) => to >= since && servedBy !== notBy)
        return first === undefined ? undefined : first.to - since
      }),
    of: (node) => {
      const [own, others] = [new Set<number>(), new Set<number>()]
      for (const { seat: { playerId }, sightings } of witnesses) {
        const set = sightings.at(-1)?.servedBy === node ? own : others
        set.add(playerId)
      }
      return [own, others]
    },
    books: () =>
      witnesses.map(({ balance, seat: { playerId }, waitingSince }) => ({
        playerId,
        balance,
        mayHaveMore: waitingSince !== undefined
      })),
    run: Effect.forEach(
      witnesses,
      (witness) =>
        Effect.gen(function*() {
          for (let number = 1; !options.isOver(); number++) {
            yield* bet(witness, number)
            yield* Effect.sleep(pauseMs)
          }
        }),
      { concurrency: "unbounded", discard: true }
    )
  }
}
