/**
 * Write health of the store, judged by its commits: with a full or hanging disk, or a lock, a store may answer every query and complete no commit.
 */
import { type Clock, Effect, Exit } from "effect"

/** Without a further failure for this long, a failed store counts as healthy again: there may be no caller left that writes. */
const forgottenAfterMs = 10_000

export interface WriteHealth {
  /** Runs a commit and records its outcome. */
  readonly commit: <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs a fence; its success does not prove that commits succeed. */
  readonly fence: <A, E extends { readonly _tag: string }>(write: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Milliseconds without a successful write: age of the oldest running one, or the duration of failures. */
  readonly stalledMs: () => number
}

/** `clock` must be monotonic. */
export const make = (clock: Clock.Clock): WriteHealth => {
  // Kept: running, failing. Whether commits get through. Several nodes: its own, for its own readiness.
  /** Running writes, oldest first. */
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
