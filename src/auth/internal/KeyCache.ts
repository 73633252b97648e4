import { Clock, Deferred, Effect, FiberSet, type Scope, Semaphore } from "effect"
import { type Refusal, refuse } from "../../domain/Refusal.ts"

/** Entries older than this are renewed in the background while they still serve. */
const renewAfterMs = 1000

/** Entries older than this no longer serve: what another process changed is felt after at most so long. */
const maxAgeMs = 2000

const maxKnown = 10_000
const maxUnknown = 10_000

/** How many callers with keys never seen before may wait at a time. */
const maxStrangers = 1000

const tooManyStrangers = refuse("TRY_AGAIN", "Too many unknown keys are being looked up. Send the same request again.")

interface Held<A> {
  readonly value: A
  readonly loadedAt: number
}

/** What belongs to public keys, read from the database when first asked for and remembered for a moment. */
export interface KeyCache<A> {
  /** At once; undefined when the database has to be asked: then `get`. `now` in epoch milliseconds. */
  readonly peek: (key: string, now: number) => A | undefined
  /** Undefined when there is no such key. */
  readonly get: (key: string) => Effect.Effect<A | undefined, Refusal<"TRY_AGAIN">>
  /** Forgets a key, or all keys: whoever asks next gets what the database holds now. */
  readonly invalidate: (key?: string) => void
}

/** How old what was read then is; a clock that was set back makes it as old as it was set back. */
const ageMs = (loadedAt: number, now: number): number => Math.abs(now - loadedAt)

const keepWithin = (map: Map<string, unknown>, max: number): void => {
  for (const key of map.keys()) {
    if (map.size <= max) break
    map.delete(key)
  }
}

/**
 * Keys that exist and keys that do not are remembered apart, and looked up in lines of their own, so that a caller with
 * invented keys neither drives out nor delays those with real ones.
 */
export const makeKeyCache = <A>(
  load: (key: string) => Effect.Effect<A | undefined, Refusal<"TRY_AGAIN">>
): Effect.Effect<KeyCache<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime<never>()
    const renewals = yield* Semaphore.make(4)
    const strangers = yield* Semaphore.make(2)

    const known = new Map<string, Held<A>>()
    const unknown = new Map<string, number>()
    const loads = new Map<string, Deferred.Deferred<A | undefined, Refusal<"TRY_AGAIN">>>()
    let waitingStrangers = 0
    let generation = 0

    const keep = (key: string, value: A | undefined, loadedAt: number): void => {
      known.delete(key)
      unknown.delete(key)
      if (value === undefined) {
        unknown.set(key, loadedAt)
        keepWithin(unknown, maxUnknown)
      } else {
        known.set(key, { value, loadedAt })
        keepWithin(known, maxKnown)
      }
    }

    const read = Effect.fnUntraced(function*(key: string) {
      for (;;) {
        const startedIn = generation
        const loadedAt = yield* Clock.currentTimeMillis
        const value = yield* load(key)
        // What was read before a change was announced may be what it was before the change.
        if (startedIn !== generation) continue
        keep(key, value, loadedAt)
        return value
      }
    })

    /** Reads a key once, however many ask; what it returns completes when that is done. */
    const fetch = (key: string): Deferred.Deferred<A | undefined, Refusal<"TRY_AGAIN">> => {
      const current = loads.get(key)
      if (current !== undefined) return current
      const done = Deferred.makeUnsafe<A | undefined, Refusal<"TRY_AGAIN">>()
      const isStranger = !known.has(key)
      if (isStranger && waitingStrangers >= maxStrangers) {
        Deferred.doneUnsafe(done, Effect.fail(tooManyStrangers))
        return done
      }
      loads.set(key, done)
      if (isStranger) waitingStrangers++
      run(
        (isStranger ? strangers : renewals).withPermits(1)(read(key)).pipe(
          Effect.onExit((exit) =>
            Effect.sync(() => {
              if (isStranger) waitingStrangers--
              loads.delete(key)
              Deferred.doneUnsafe(done, exit)
            })
          ),
          Effect.ignoreCause
        )
      )
      return done
    }

    const peek = (key: string, now: number): A | undefined => {
      const held = known.get(key)
      if (held === undefined || ageMs(held.loadedAt, now) > maxAgeMs) return undefined
      if (ageMs(held.loadedAt, now) > renewAfterMs) fetch(key)
      return held.value
    }

    const get = Effect.fnUntraced(function*(key: string) {
      const now = yield* Clock.currentTimeMillis
      const value = peek(key, now)
      if (value !== undefined) return value
      const missedAt = unknown.get(key)
      if (missedAt !== undefined && ageMs(missedAt, now) <= maxAgeMs) return undefined
      return yield* Deferred.await(fetch(key))
    })

    const invalidate = (key?: string): void => {
      generation++
      if (key === undefined) {
        known.clear()
        unknown.clear()
      } else {
        known.delete(key)
        unknown.delete(key)
      }
    }

    return { peek, get, invalidate }
  })
