/** Directory of all public key ids in memory: an unknown id is refused without a query. */
import { Clock, Deferred, Effect, FiberSet, type Scope } from "effect"
import { type Refusal, refuse } from "../domain/Refusal.ts"

/** Age from which the directory is renewed in the background while it is still used. */
const renewAfterMs = 1000

/** Age up to which the directory is used without waiting: changes by another process apply within this time. */
const freshMs = 2000

/** Duration from which a renewal counts as late, as does a failed one: an older directory is then used. */
const lateAfterMs = 500

/** Maximum age. Until then a key revoked elsewhere may sign while the database is unavailable, when nothing can commit. */
const maxAgeMs = 10_000

/** Age from which the directory is renewed for an unknown id, once for all waiting callers. */
const renewUnknownAfterMs = 100

/**
 * Maximum of early renewals for unknown ids, which find keys just created by another process; above it, unknown
 * ids are answered from the last reading.
 */
const maxEarlyRenewalsPerSecond = 20

/** Pause after a failed renewal. */
const pauseMs = 250

/** Maximum number of waits of a caller whose key changes meanwhile. */
const maxWaits = 5

type Unavailable = Refusal<"TRY_AGAIN">

const changesTooOften = refuse("TRY_AGAIN", "The key is being changed. Send the same request again.")

interface Row {
  readonly key: string
}

interface Entry<R, A> {
  readonly row: R
  /** Undefined until the key is first used. */
  value: A | undefined
}

export interface KeySource<R extends Row, A> {
  /** Changes with every row. */
  readonly version: Effect.Effect<string, Unavailable>
  readonly rows: Effect.Effect<ReadonlyArray<R>, Unavailable>
  /** Opens the secret of a row, or reuses the value of the key's earlier row. */
  readonly open: (row: R, earlier: { readonly row: R; readonly value: A } | undefined) => Effect.Effect<A, Unavailable>
}

export interface KeyDirectory<R extends Row, A> {
  /** Synchronous; undefined for an unknown or unused key and when the directory has to be renewed. `now` in epoch milliseconds. */
  readonly peek: (key: string, now: number) => A | undefined
  /** Row of a key as last read, however long ago and whatever became of it; undefined when there was none. */
  readonly lastRead: (key: string) => R | undefined
  /** Undefined for an unknown key. */
  readonly get: (key: string) => Effect.Effect<A | undefined, Unavailable>
  /** Evicts one key: its next caller waits for the stored one; other keys are unaffected. */
  readonly invalidate: (key: string) => void
  /** Evicts the keys of matching rows. */
  readonly invalidateWhere: (isMeant: (row: R) => boolean) => void
  /** Reads the directory now. */
  readonly refresh: Effect.Effect<void, Unavailable>
}

/** Age of a reading in ms, absolute: a clock set back counts as age. */
const ageMs = (loadedAt: number, now: number): number => Math.abs(now - loadedAt)

/** Reads all keys with one statement, and again only when a cheap version query reports a change; one at a time. */
export const makeKeyDirectory = <R extends Row, A>(
  source: KeySource<R, A>
): Effect.Effect<KeyDirectory<R, A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    // Kept: run, entries, version, loadedAt, begun, loaded, early, changed, announcements, renewal, renewedAt, failed. Keys of operators and
    // providers. Several nodes: read again when the database says that they changed: within 2 s; while the database is away at most 10 s.
    const run = yield* FiberSet.makeRuntime<never>()
    const clock = yield* Clock.Clock

    let entries = new Map<string, Entry<R, A>>()
    let version: string | undefined
    let loadedAt = Number.NEGATIVE_INFINITY
    /** Number of readings begun, and that of the current one. */
    let begun = 0
    let loaded = 0
    let early = { second: 0, renewals: 0 }
    /** Keys announced as changed, with the number of the announcement. */
    const changed = new Map<string, number>()
    let announcements = 0
    let renewal: Deferred.Deferred<void, Unavailable> | undefined
    let renewedAt = 0
    let failed: { readonly at: number; readonly attempt: Deferred.Deferred<void, Unavailable> } | undefined

    const reopen = Effect.fnUntraced(function*(row: R, earlier: Entry<R, A> | undefined) {
      if (earlier?.value === undefined) return { row, value: undefined }
      const opened = source.open(row, { row: earlier.row, value: earlier.value })
      return { row, value: yield* Effect.orElseSucceed(opened, () => undefined) }
    })

    const read = Effect.gen(function*() {
      const startedAfter = announcements
      const reading = ++begun
      const startedAt = clock.currentTimeMillisUnsafe()
      // read before the rows: a change in between is detected by the next comparison
      const found = yield* source.version
      if (found !== version) {
        const next = new Map<string, Entry<R, A>>()
        for (const row of yield* source.rows) next.set(row.key, yield* reopen(row, entries.get(row.key)))
        entries = next
        version = found
      }
      loadedAt = startedAt
      loaded = reading
      // announcements made during the reading may concern newer rows
      for (const [key, announcement] of changed) if (announcement <= startedAfter) changed.delete(key)
    })

    /** Renews the directory, once for all waiting callers. */
    const renew = (): Deferred.Deferred<void, Unavailable> => {
      if (renewal !== undefined) return renewal
      if (failed !== undefined && ageMs(failed.at, clock.currentTimeMillisUnsafe()) < pauseMs) return failed.attempt
      renewedAt = clock.currentTimeMillisUnsafe()
      const done = renewal = Deferred.makeUnsafe<void, Unavailable>()
      run(
        read.pipe(
          Effect.onExit((exit) =>
            Effect.sync(() => {
              renewal = undefined
              failed = exit._tag === "Success" ? undefined : { at: clock.currentTimeMillisUnsafe(), attempt: done }
              Deferred.doneUnsafe(done, exit)
            })
          ),
          Effect.ignoreCause
        )
      )
      return done
    }

    const isLate = (now: number): boolean =>
      failed !== undefined || renewal !== undefined && ageMs(renewedAt, now) >= lateAfterMs

    /** Entry of a key; undefined when it is unknown or announced as changed, or the directory is too old. */
    const held = (key: string, now: number): Entry<R, A> | undefined => {
      if (ageMs(loadedAt, now) > renewAfterMs) renew()
      const age = ageMs(loadedAt, now)
      const serves = age <= freshMs || age <= maxAgeMs && isLate(now)
      return !serves || changed.size > 0 && changed.has(key) ? undefined : entries.get(key)
    }

    const peek = (key: string, now: number): A | undefined => held(key, now)?.value

    /** Whether a young directory is renewed for an unknown id; a running renewal is shared. */
    const mayRenewEarly = (now: number): boolean => {
      if (renewal !== undefined) return true
      const second = Math.floor(now / 1000)
      if (early.second !== second) early = { second, renewals: 0 }
      return ++early.renewals <= maxEarlyRenewalsPerSecond
    }

    const get = Effect.fnUntraced(function*(key: string) {
      const begunBefore = begun
      for (let waits = 0; waits < maxWaits; waits++) {
        // the real time, also in a request that goes by its operator's
        const now = clock.currentTimeMillisUnsafe()
        const entry = held(key, now)
        if (entry !== undefined) return entry.value ??= yield* source.open(entry.row, undefined)
        const isYoung = ageMs(loadedAt, now) <= renewUnknownAfterMs
        if (isYoung && !changed.has(key) && (loaded > begunBefore || !mayRenewEarly(now))) return undefined
        const renewed = Deferred.await(renew())
        const mayServe = entries.has(key) && !changed.has(key) && ageMs(loadedAt, now) <= maxAgeMs
        yield* mayServe ? Effect.ignore(Effect.timeoutOption(renewed, lateAfterMs)) : renewed
        // read after the call: a missing key is unknown
        if (loaded > begunBefore && !changed.has(key) && !entries.has(key)) return undefined
      }
      return yield* Effect.fail(changesTooOften)
    })

    const announce = (key: string): void => {
      changed.set(key, announcements)
    }

    return {
      peek,
      lastRead: (key) => entries.get(key)?.row,
      get,
      invalidate: (key) => {
        announcements++
        announce(key)
      },
      invalidateWhere: (isMeant) => {
        announcements++
        for (const [key, { row }] of entries) if (isMeant(row)) announce(key)
      },
      refresh: Effect.suspend(() => Deferred.await(renew()))
    }
  })
