/**
 * Rate limits per API key and per player, in windows of 60 seconds that start with a request. In a cluster one node counts all requests of a key, and
 * the node that owns a player counts the player's.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Forwarder } from "../cluster/Forwarder.ts"
import { monotonicClock } from "../platform/MonotonicClock.ts"
import { RecentMap } from "../platform/RecentMap.ts"

const windowMs = 60_000

/** Maximum number of windows. A key whose window is evicted starts a new one. */
const maxWindows = 100_000

/** Use of a rate limit in its current window. */
export interface RateLimitStatus {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Epoch milliseconds. */
  readonly resetsAt: number
}

interface Window {
  readonly startedAt: number
  taken: number
}

/** Windows by key id or player id. `now` in epoch milliseconds. */
export const makeRateWindows = () => {
  // Kept: windows, untold, silentUntil. Requests of a key in this minute, and nodes that did not count lately. Several nodes: counted by one node,
  // the owner of the key's number, or while it does not answer that of the next number; counts are told to all every 200 ms.
  const windows = new RecentMap<number, Window>(maxWindows / 2)

  const running = (id: number, now: number): Window | undefined => {
    const window = windows.get(id)
    // a clock set back ends a window, which would otherwise last until that time recurs
    return window !== undefined && window.startedAt <= now && now < window.startedAt + windowMs ? window : undefined
  }

  const status = (window: Window | undefined, limit: number, now: number, isAllowed: boolean): RateLimitStatus => ({
    isAllowed,
    limit,
    remaining: Math.max(0, limit - (window?.taken ?? 0)),
    resetsAt: (window?.startedAt ?? now) + windowMs
  })

  const start = (id: number, now: number): Window => {
    const window = { startedAt: now, taken: 0 }
    windows.set(id, window)
    return window
  }

  return {
    /** Counts a request, unless the window is exhausted. */
    take: (id: number, limit: number, now: number): RateLimitStatus => {
      const window = running(id, now) ?? start(id, now)
      if (window.taken >= limit) return status(window, limit, now, false)
      window.taken++
      return status(window, limit, now, true)
    },
    /** Status without counting. */
    peek: (id: number, limit: number, now: number): RateLimitStatus => status(running(id, now), limit, now, true),
    /** Adopts what another node has counted in a window that still runs: of two counts the higher one. */
    merge: (id: number, taken: number, startedAt: number, now: number): void => {
      if (now >= startedAt + windowMs) return
      const window = running(id, now)
      if (window !== undefined) window.taken = Math.max(window.taken, taken)
      // clocks of nodes differ a little
      else windows.set(id, { startedAt: Math.min(startedAt, now), taken })
    },
    /** Count and start of a running window. */
    read: (id: number, now: number): Readonly<Window> | undefined => running(id, now)
  }
}

/** Share of a key's rate limit for one player: a fifth, at least thirty requests a minute, at most the key's limit. */
export const playerShare = (keyLimit: number): number => Math.min(keyLimit, Math.max(30, Math.ceil(keyLimit / 5)))

const channel = "rate"
const countsChannel = "rate counts"
const playerChannel = "player rate"

/** Time limit of a count by another node, in ms. */
const timeoutMs = 400

/**
 * Nodes that count a key in turn: the owner of the key's number, and while that one does not answer the owner of the first of the next numbers that is
 * another node, the same at every node. Each node counting by itself would multiply the limit by their number: it does so when `maxAsked` did not answer,
 * or none is left among the owners of this many numbers.
 */
const numbers = 16
const maxAsked = 2

/** Time in ms for which a node that did not answer is passed over: longer than a call waits for all that it asks. */
const silentMs = 1500

/** Interval at which nodes tell each other their counts, so that whoever counts next goes on from there; and maximum keys told at once. */
const toldEveryMs = 200
const maxTold = 1000

const Status = Schema.fromJsonString(Schema.Struct({
  isAllowed: Schema.Boolean,
  limit: Schema.Number,
  remaining: Schema.Number,
  resetsAt: Schema.Number
}))
const decodeStatus = Schema.decodeUnknownOption(Status)

const Counts = Schema.fromJsonString(Schema.Array(Schema.Tuple([Schema.Int, Schema.Int, Schema.Finite])))
const decodeCounts = Schema.decodeUnknownOption(Counts)

/** Counts of this node's callers by the nodes of a cluster. */
const makeSharedTake = Effect.fnUntraced(function*(windows: ReturnType<typeof makeRateWindows>) {
  const forwarder = yield* Forwarder
  const clock = yield* Clock.Clock
  const monotonic = monotonicClock(clock)
  /** Keys whose counts the other nodes do not know yet. */
  const untold = new Set<number>()
  /** Monotonic ms until which a node is passed over; one of them stands for all unknown owners. */
  const silentUntil = new Map<string | undefined, number>()

  const takeHere = (keyId: number, limit: number, now: number): RateLimitStatus => {
    const status = windows.take(keyId, limit, now)
    if (status.isAllowed && untold.size < maxTold) untold.add(keyId)
    return status
  }

  // a call carries what its node knows: whoever counts now may not have heard it
  forwarder.serve(channel, ({ head }, done) => {
    const [keyId = 0, limit = 0, taken, startedAt] = head.split(" ").map(Number)
    const now = clock.currentTimeMillisUnsafe()
    if (taken !== undefined && startedAt !== undefined) windows.merge(keyId, taken, startedAt, now)
    const status = takeHere(keyId, limit, now)
    done({ status: 200, head: "", body: JSON.stringify(status) })
  })
  forwarder.serve(countsChannel, ({ body }, done) => {
    const now = clock.currentTimeMillisUnsafe()
    for (const [keyId, taken, startedAt] of Option.getOrElse(decodeCounts(body), () => [])) {
      windows.merge(keyId, taken, startedAt, now)
    }
    done({ status: 204, head: "", body: "" })
  })

  const tell = Effect.suspend(() => {
    if (untold.size === 0) return Effect.void
    const now = clock.currentTimeMillisUnsafe()
    const counts = [...untold].flatMap((keyId): ReadonlyArray<typeof Counts.Type[number]> => {
      const window = windows.read(keyId, now)
      return window === undefined ? [] : [[keyId, window.taken, window.startedAt]]
    })
    untold.clear()
    const call = { head: "", body: JSON.stringify(counts) }
    return forwarder.sendToAll(countsChannel, call, { isRepeatable: true, timeoutMs })
  })
  // in fibers of their own: a frozen node does not delay what the others are told
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(toldEveryMs), Effect.forkChild(tell))))

  const isSilent = (node: string | undefined): boolean => {
    const until = silentUntil.get(node)
    if (until === undefined) return false
    if (monotonic.currentTimeMillisUnsafe() < until) return true
    silentUntil.delete(node)
    return false
  }

  /** The first number whose owner is not passed over. */
  const numberFor = (keyId: number): number | undefined => {
    if (silentUntil.size === 0) return keyId
    for (let number = keyId; number < keyId + numbers; number++) {
      if (!isSilent(forwarder.ownerOf(number))) return number
    }
    return undefined
  }

  const takeFrom = (keyId: number, limit: number, now: number, asked: number): Effect.Effect<RateLimitStatus> => {
    const number = asked < maxAsked ? numberFor(keyId) : undefined
    if (number === undefined) return Effect.sync(() => takeHere(keyId, limit, now))
    const node = forwarder.ownerOf(number)
    const known = windows.read(keyId, now)
    const head = known === undefined ? `${keyId} ${limit}` : `${keyId} ${limit} ${known.taken} ${known.startedAt}`
    const call = { head, body: "" }
    return Effect.matchEffect(forwarder.send(number, channel, call, { isRepeatable: false, timeoutMs }), {
      onFailure: () => {
        silentUntil.set(node, monotonic.currentTimeMillisUnsafe() + silentMs)
        return takeFrom(keyId, limit, now, asked + 1)
      },
      onSuccess: ({ body }) => {
        const status = decodeStatus(body)
        if (status._tag === "None") return Effect.sync(() => takeHere(keyId, limit, now))
        const { limit: most, remaining, resetsAt } = status.value
        windows.merge(keyId, most - remaining, resetsAt - windowMs, now)
        return Effect.succeed(status.value)
      }
    })
  }
  return (keyId: number, limit: number, now: number) => takeFrom(keyId, limit, now, 0)
})

/** Counts a player's requests at the player's node; here while that one does not answer. */
const makeTakeOfPlayer = Effect.fnUntraced(function*(take: ReturnType<typeof makeRateWindows>["take"]) {
  const forwarder = yield* Forwarder
  const clock = yield* Clock.Clock
  forwarder.serve(playerChannel, ({ head }, done) => {
    const [playerId = 0, limit = 0] = head.split(" ").map(Number)
    done({ status: 200, head: "", body: JSON.stringify(take(playerId, limit, clock.currentTimeMillisUnsafe())) })
  })
  return (playerId: number, limit: number, now: number): Effect.Effect<RateLimitStatus> => {
    const here = Effect.sync(() => take(playerId, limit, now))
    if (forwarder.isHere(playerId)) return here
    const call = { head: `${playerId} ${limit}`, body: "" }
    return Effect.matchEffect(forwarder.send(playerId, playerChannel, call, { isRepeatable: false, timeoutMs }), {
      onFailure: () => here,
      onSuccess: ({ body }) => Option.match(decodeStatus(body), { onNone: () => here, onSome: Effect.succeed })
    })
  }
})

/**
 * Counts are in memory and lost by a restart. With several nodes, a key is counted by the node that owns the key's number, a player by the player's
 * node. While a key's node does not answer another one counts, the same for all nodes and from the count that they were told last.
 *
 *     const status = yield* limiter.take(apiKey.id, apiKey.rateLimitPerMinute, now)
 */
export class RateLimiter extends Context.Service<RateLimiter, {
  /** Counts a request, unless the window is exhausted. `now` in epoch milliseconds. */
  readonly take: (keyId: number, limit: number, now: number) => Effect.Effect<RateLimitStatus>
  /** As `take`, synchronously; undefined with several nodes, since another one may count. */
  readonly takeAtOnce: ((keyId: number, limit: number, now: number) => RateLimitStatus) | undefined
  /** Last known status, without counting. */
  readonly peek: (keyId: number, limit: number, now: number) => RateLimitStatus
  /** As `take`, for a player, whichever of the operator's keys issued the token. */
  readonly takeOfPlayer: (playerId: number, limit: number, now: number) => Effect.Effect<RateLimitStatus>
}>()("pitboss/auth/RateLimiter") {
  static readonly layer = Layer.effect(
    RateLimiter,
    Effect.gen(function*() {
      const windows = makeRateWindows()
      const { peek, take } = windows
      const takeOfPlayer = yield* makeTakeOfPlayer(makeRateWindows().take)
      const isAlone = (yield* Forwarder).node === undefined
      const takeShared = isAlone ? undefined : yield* makeSharedTake(windows)
      return RateLimiter.of({
        take: takeShared ?? ((keyId, limit, now) => Effect.sync(() => take(keyId, limit, now))),
        takeAtOnce: isAlone ? take : undefined,
        peek,
        takeOfPlayer
      })
    })
  )
}
