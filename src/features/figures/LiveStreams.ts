/** Server-sent event streams that keep open back-office pages up to date (`docs/decisions/0050-live-figures.md`). */
import { Context, Effect, Layer, Ref, Stream } from "effect"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { monotonicMs } from "../../platform/MonotonicClock.ts"
import type { Scope } from "../../store/OperatorScope.ts"
import type { Actor } from "../../office/Actor.ts"
import { type ChangedKind, changedKinds } from "../../contract/figures/OverviewResource.ts"
import type { Role } from "../../domain/staff/Staff.ts"
import { overviewFor, Overviews, type Reading } from "./Overviews.ts"

/** Streams of a node, and of one member of staff at it. One more is refused with 429. */
const maxStreams = 200
const maxStreamsOfOne = 10

/** Intervals of polling, keep-alive comments and re-authentication of a stream. A reference, so that tests can shorten them. */
export const StreamPeriods = Context.Reference<{
  readonly everyMs: number
  readonly heartbeatMs: number
  readonly recheckMs: number
}>("pitboss/figures/StreamPeriods", {
  defaultValue: () => ({ everyMs: 2000, heartbeatMs: 15_000, recheckMs: 30_000 })
})

const full = refuse("RATE_LIMITED", `Too many live streams are open: one person has at most ${maxStreamsOfOne}.`, {
  retry_after_seconds: 30,
  max_streams: maxStreamsOfOne
})

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`

const sameSet = (a: Actor, b: Actor): boolean =>
  a.id === b.id && a.role === b.role && JSON.stringify(a.operators) === JSON.stringify(b.operators)

/** Events that bring a page from one reading to the next. The time of the reading alone changes nothing. */
const eventsBetween = (role: Role, before: Reading | undefined, after: Reading): ReadonlyArray<string> => {
  const stripped = ({ overview }: Reading): string => JSON.stringify({ ...overviewFor(role, overview), at: "" })
  const changed = before === undefined
    ? []
    : changedKinds.filter((kind: ChangedKind) => before.marks[kind] !== after.marks[kind])
  return [
    ...(before === undefined || stripped(before) !== stripped(after)
      ? [event("overview", JSON.stringify(overviewFor(role, after.overview)))]
      : []),
    ...changed.map((kind) => event("changed", JSON.stringify({ kind })))
  ]
}

/** State of a stream between two polls. Monotonic milliseconds. */
interface Progress {
  readonly reading: Reading | undefined
  readonly sentAt: number
  readonly checkedAt: number
}

export class LiveStreams extends Context.Service<LiveStreams, {
  /**
   * Events of the operators in scope until the caller disconnects, `again` (re-authentication) yields another actor or role, or the process drains
   * (`isDraining`). Fails with `RATE_LIMITED` at the maximum of streams per node or actor.
   */
  readonly open: (
    actor: Actor,
    scope: Scope,
    again: Effect.Effect<Actor, Refusal>,
    isDraining: () => boolean
  ) => Effect.Effect<Stream.Stream<string>, Refusal<"RATE_LIMITED">>
}>()("pitboss/figures/LiveStreams") {
  static readonly layer = Layer.effect(
    LiveStreams,
    Effect.gen(function*() {
      const overviews = yield* Overviews
      const { everyMs, heartbeatMs, recheckMs } = yield* StreamPeriods
      // Kept: open. How many live streams each member of staff has open. Several nodes: its own: 200 at a node, 10 of one member of staff at each.
      /** Number of open streams by actor. */
      const open = new Map<string, number>()

      const isFull = (label: string): boolean =>
        (open.get(label) ?? 0) >= maxStreamsOfOne ||
        [...open.values()].reduce((sum, count) => sum + count, 0) >= maxStreams

      const leave = (label: string): void => {
        const left = (open.get(label) ?? 1) - 1
        if (left > 0) open.set(label, left)
        else open.delete(label)
      }

      /** Why the stream ends; undefined while it goes on. */
      const reasonToEnd = Effect.fnUntraced(function*(actor: Actor, again: Effect.Effect<Actor, Refusal>) {
        return yield* Effect.match(again, {
          // while the database is unavailable the last authentication holds
          onFailure: ({ code }) => code === "TRY_AGAIN" || code === "RATE_LIMITED" ? undefined : "signed_out",
          onSuccess: (now) => sameSet(actor, now) ? undefined : "changed"
        })
      })

      const events = (
        actor: Actor,
        scope: Scope,
        again: Effect.Effect<Actor, Refusal>,
        isDraining: () => boolean
      ) =>
        Stream.unwrap(Effect.gen(function*() {
          const startedAt = yield* monotonicMs
          const progress = yield* Ref.make<Progress>({ reading: undefined, sentAt: startedAt, checkedAt: startedAt })
          const isOver = yield* Ref.make(false)
          const readChanges = Effect.gen(function*() {
            const { checkedAt, reading, sentAt } = yield* Ref.get(progress)
            const now = yield* monotonicMs
            const isDue = now - checkedAt >= recheckMs
            const reason = isDraining() ? "draining" : isDue ? yield* reasonToEnd(actor, again) : undefined
            if (reason !== undefined) {
              yield* Ref.set(isOver, true)
              return [event("end", JSON.stringify({ reason }))]
            }
            // a failed reading is repeated with the next check
            const next = (yield* Effect.option(overviews.read(scope))).pipe((found) =>
              found._tag === "Some" ? found.value : reading
            )
            const lines = next === undefined || next === reading ? [] : eventsBetween(actor.role, reading, next)
            const heartbeat = lines.length === 0 && now - sentAt >= heartbeatMs ? [": \n\n"] : lines
            yield* Ref.set(progress, {
              reading: next,
              sentAt: heartbeat.length > 0 ? now : sentAt,
              checkedAt: isDue ? now : checkedAt
            })
            return heartbeat
          })
          const later = Stream.fromEffect(Effect.andThen(Effect.sleep(everyMs), readChanges)).pipe(
            Stream.forever,
            Stream.takeUntilEffect(() => Ref.get(isOver))
          )
          return Stream.concat(Stream.make(["retry: 3000\n\n"]), Stream.concat(Stream.fromEffect(readChanges), later))
            .pipe(
              Stream.flatMap((lines) => Stream.fromIterable(lines))
            )
        }))

      return LiveStreams.of({
        open: (actor, scope, again, isDraining) =>
          Effect.suspend(() => {
            const { label } = actor
            if (isFull(label)) return Effect.fail(full)
            // counted when it is read: an answer that is never read counts nothing
            return Effect.succeed(Stream.unwrap(
              Effect.as(
                Effect.acquireRelease(
                  Effect.sync(() => open.set(label, (open.get(label) ?? 0) + 1)),
                  () => Effect.sync(() => leave(label))
                ),
                events(actor, scope, again, isDraining)
              )
            ))
          })
      })
    })
  )
}
