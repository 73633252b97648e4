/**
 * Whether the store takes what is to be written. A store can answer every question and still take nothing: a disk that is full or
 * stands still, a lock that nobody lets go. So the writes themselves are watched.
 */
import { type Clock, Effect, Exit } from "effect"

/** After this long without a further failure, a store that failed is given another chance: nobody may be left to write. */
const forgottenAfterMs = 10_000

export interface WriteHealth {
  /** Runs a commit and remembers how it went. */
  readonly commit: <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs a fence: another statement than a commit, perhaps on another connection, so that its success proves nothing of commits. */
  readonly fence: <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** For how long nothing could be written, in milliseconds: the longest that a write is on its way, or that writes have failed. */
  readonly stalledMs: () => number
}

/** `clock`: a monotonic one. */
export const make = (clock: Clock.Clock): WriteHealth => {
  /** Those on their way, the oldest first. */
  const running = new Set<{ readonly since: number }>()
  let failing: { readonly since: number; readonly until: number } | undefined

  /** A rejection is an answer: the store works. */
  const hasFailed = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): boolean => {
    if (Exit.isSuccess(exit)) return false
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "None" || failure.value._tag !== "Rejected"
  }

  const isRecent = (now: number): boolean => failing !== undefined && now - failing.until < forgottenAfterMs

  const watch = (provesCommits: boolean) => <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const begun = { since: clock.currentTimeMillisUnsafe() }
      running.add(begun)
      return Effect.onExit(write, (exit) =>
        Effect.sync(() => {
          running.delete(begun)
          const now = clock.currentTimeMillisUnsafe()
          const { since } = isRecent(now) ? failing ?? begun : begun
          if (hasFailed(exit)) failing = { since, until: now }
          else if (provesCommits) failing = undefined
        }))
    })

  return {
    commit: watch(true),
    fence: watch(false),
    stalledMs: () => {
      const now = clock.currentTimeMillisUnsafe()
      const [oldest] = running
      return Math.max(
        oldest === undefined ? 0 : now - oldest.since,
        isRecent(now) && failing !== undefined ? failing.until - failing.since : 0
      )
    }
  }
}
