/**
 * Sends events to operators' webhook endpoints (SPEC section 6). Processes share the work: each leases due deliveries; a stopping process finishes
 * or releases its leases; those of a killed one expire.
 *
 * One fiber does all database work in rounds: records results, fans events out into deliveries, and leases due ones. Attempts run concurrently with
 * it. A round begins when events were written, an attempt ended, or a second has passed; for events at most once in 100 ms.
 */
import { Cause, Clock, Context, Deferred, Effect, FiberSet, Latch, Layer, Metric, Schedule } from "effect"
import { nextAttemptAt } from "../../domain/state/Events.ts"
import { describeSqlError } from "../../platform/Database.ts"
import { Ids } from "../../platform/Ids.ts"
import { monotonicMs } from "../../platform/MonotonicClock.ts"
import { Outbox } from "../../store/Outbox.ts"
import { Attempts } from "./Attempts.ts"
import {
  type AttemptResult,
  makeDeliveryStore,
  type EndpointSlots,
  type TakenDelivery
} from "./internal/DeliveryStore.ts"
import { attemptSeconds, attemptsTotal, deliveriesTotal, inFlight as inFlightGauge } from "./internal/Metrics.ts"

export interface SenderOptions {
  /** Maximum deliveries in flight: in total, and per endpoint. */
  readonly maxInFlight: number
  readonly maxInFlightPerEndpoint: number
  /** Maximum for an endpoint without an answer to its last attempt, which blocks slots for the whole time-out. */
  readonly maxInFlightSilent: number
  /** Lease time of a delivery in ms, far longer than an attempt. */
  readonly leaseMs: number
  /** Polling interval, for retries and the events of other processes. */
  readonly pollMs: number
  /** Minimum time in ms between fan-outs for new events: each is a separate commit, which would otherwise accompany every deposit's. */
  readonly gatherMs: number
  /** Time limit in ms for attempts in flight at a shutdown. */
  readonly drainMs: number
}

const defaultSenderOptions: SenderOptions = {
  maxInFlight: 2000,
  maxInFlightPerEndpoint: 8,
  maxInFlightSilent: 2,
  leaseMs: 30_000,
  pollMs: 1000,
  gatherMs: 100,
  drainMs: 5500
}

/** An endpoint with deliveries in flight, or without an answer to its last attempt. */
interface Line {
  inFlight: number
  isSilent: boolean
}

const silentErrors = new Set(["timeout", "connection", "dns"])

export class WebhookSender extends Context.Service<WebhookSender, {
  /** Sends all due deliveries and waits until none is in flight. */
  readonly flush: Effect.Effect<void>
  /** Stops leasing. Deliveries in flight may end while other parts of the service shut down. */
  readonly beginDrain: Effect.Effect<void>
}>()("pitboss/webhooks/WebhookSender") {
  static readonly layerWith = (options: Partial<SenderOptions> = {}) =>
    Layer.effect(
      WebhookSender,
      Effect.gen(function*() {
        const { drainMs, gatherMs, leaseMs, maxInFlight, maxInFlightPerEndpoint, maxInFlightSilent, pollMs } = {
          ...defaultSenderOptions,
          ...options
        }
        const store = yield* makeDeliveryStore
        const attempts = yield* Attempts
        const outbox = yield* Outbox
        const sender = yield* (yield* Ids).reserve(1)
        // Kept: running, inFlight, lines, candidates, results, hasEvents, isPollDue, drainBegunAt, isReleasing, waiters. Deliveries that this sender
        // has leased. Several nodes: its own: a delivery is leased by one node at a time, by rows that others skip; what a dead node leased is due
        // again.
        const running = yield* FiberSet.make<void>()
        const wake = yield* Latch.make(true)
        const eventsCommitted = yield* Latch.make(false)

        const inFlight = new Map<number, number>()
        const lines = new Map<number, Line>()
        /** Endpoints that may have due deliveries. */
        const candidates = new Set<number>()
        const results: Array<
          { readonly endpointId: number; readonly result: AttemptResult; readonly isSilent: boolean }
        > = []
        let hasEvents = true
        let isPollDue = true
        let drainBegunAt: number | undefined
        let isReleasing = false
        const waiters: Array<Deferred.Deferred<void>> = []

        const lineOf = (endpointId: number): Line => {
          const found = lines.get(endpointId)
          if (found !== undefined) return found
          const line: Line = { inFlight: 0, isSilent: false }
          lines.set(endpointId, line)
          return line
        }

        const attemptOnce = Effect.fnUntraced(function*({ attempts: before, ...delivery }: TakenDelivery) {
          const begunAt = yield* monotonicMs
          const sentAt = yield* Clock.currentTimeMillis
          const { body, error, status } = yield* attempts.attempt(delivery)
          yield* Effect.annotateCurrentSpan({
            ...(status === null ? undefined : { "http.response.status_code": status }),
            ...(error === null ? undefined : { "error.type": error })
          })
          const endedAt = yield* Clock.currentTimeMillis
          const durationMs = Math.round((yield* monotonicMs) - begunAt)
          const next = error === null ? null : nextAttemptAt(delivery.event.type, before + 1, endedAt)
          results.push({
            endpointId: delivery.endpoint.id,
            isSilent: error !== null && silentErrors.has(error),
            result: {
              id: delivery.id,
              attempts: before,
              status: error === null ? "delivered" : next === null ? "failed" : "pending",
              nextAttemptAt: next,
              responseStatus: status,
              error,
              body,
              sentAt,
              durationMs,
              endedAt
            }
          })
          wake.openUnsafe()
          yield* Metric.update(attemptSeconds, ((yield* monotonicMs) - begunAt) / 1000)
          yield* Metric.update(Metric.withAttributes(attemptsTotal, { result: error ?? "delivered" }), 1)
        })

        /** Records results; deliveries stay in flight until then. */
        const recordResults = Effect.gen(function*() {
          const batch = [...results]
          if (batch.length === 0) return
          yield* store.record(sender, batch.map(({ result }) => result))
          // further results may have arrived meanwhile
          results.splice(0, batch.length)
          for (const { endpointId, isSilent, result } of batch) {
            inFlight.delete(result.id)
            const line = lineOf(endpointId)
            line.inFlight--
            line.isSilent = isSilent
            if (line.inFlight === 0 && !isSilent) lines.delete(endpointId)
            if (result.status !== "pending") {
              yield* Metric.update(Metric.withAttributes(deliveriesTotal, { result: result.status }), 1)
            }
          }
        })

        const fanOut = Effect.gen(function*() {
          if (!hasEvents) return
          hasEvents = false
          const fannedOut = yield* store.fanOut(yield* Clock.currentTimeMillis).pipe(
            Effect.tapError(() => Effect.sync(() => hasEvents = true))
          )
          for (const endpointId of fannedOut.endpointIds) candidates.add(endpointId)
          // the rest is left to the next round, so that due deliveries do not wait for it
          if (fannedOut.hasMore) {
            hasEvents = true
            wake.openUnsafe()
          }
        })

        /** Free slots per candidate, shared evenly when insufficient. */
        const findSlots = (): ReadonlyArray<EndpointSlots> => {
          const free: Array<EndpointSlots> = []
          let left = maxInFlight - inFlight.size
          let others = candidates.size
          for (const endpointId of candidates) {
            if (left <= 0) break
            const line = lines.get(endpointId)
            const capacity = line?.isSilent === true ? maxInFlightSilent : maxInFlightPerEndpoint
            const share = Math.max(1, Math.floor(left / others--))
            const slots = Math.min(capacity - (line?.inFlight ?? 0), share)
            if (slots <= 0) continue
            free.push({ endpointId, slots })
            left -= slots
          }
          return free
        }

        const takeDue = Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          if (isPollDue) {
            isPollDue = false
            for (const endpointId of yield* store.endpointsDue(now)) candidates.add(endpointId)
          }
          const free = findSlots()
          if (free.length === 0) return
          const taken = yield* store.take({ free, sender, now, until: now + leaseMs })
          const takenOf = new Map<number, number>()
          for (const delivery of taken) {
            const { id } = delivery.endpoint
            takenOf.set(id, (takenOf.get(id) ?? 0) + 1)
            // leased again because its result, still pending, was not recorded in time
            if (inFlight.has(delivery.id)) continue
            inFlight.set(delivery.id, id)
            lineOf(id).inFlight++
            yield* FiberSet.run(
              running,
              Effect.withSpan(attemptOnce(delivery), `webhook ${delivery.event.type}`, {
                root: true,
                kind: "client",
                attributes: {
                  "pitboss.delivery_id": delivery.id,
                  "pitboss.endpoint_id": id,
                  "pitboss.attempt": delivery.attempts + 1
                }
              })
            )
          }
          for (const { endpointId, slots } of free) {
            // moved to the end for the next round, or removed when it has no more due deliveries
            candidates.delete(endpointId)
            if (takenOf.get(endpointId) === slots) candidates.add(endpointId)
          }
        })

        /** Interrupts the remaining attempts; their deliveries are due again at once. */
        const releaseRest = Effect.gen(function*() {
          yield* FiberSet.clear(running)
          yield* recordResults
          yield* store.release(sender, [...inFlight.keys()])
          inFlight.clear()
        })

        const round = Effect.gen(function*() {
          wake.closeUnsafe()
          const waitersBefore = waiters.length
          yield* recordResults
          if (isReleasing) yield* releaseRest
          if (drainBegunAt === undefined) yield* fanOut
          if (drainBegunAt === undefined) yield* takeDue
          yield* Metric.update(inFlightGauge, inFlight.size)
          if (inFlight.size === 0 && (drainBegunAt !== undefined || !hasEvents)) {
            for (const waiter of waiters.splice(0, waitersBefore)) yield* Deferred.succeed(waiter, undefined)
          }
        }).pipe(
          Effect.catch((error) =>
            Effect.annotateLogs(Effect.logWarning("webhook delivery run postponed"), {
              reason: error._tag === "SqlError" ? describeSqlError(error) : error.reason
            })
          ),
          // the next round may succeed: the loop must not end while the service runs
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.logError("webhook delivery run failed", cause)
          )
        )

        const untilIdle = Effect.gen(function*() {
          const waiter = yield* Deferred.make<void>()
          waiters.push(waiter)
          wake.openUnsafe()
          yield* Deferred.await(waiter)
        })

        yield* outbox.listen(() => eventsCommitted.openUnsafe())
        // the first at once; events within the pause are batched
        yield* Effect.forkScoped(Effect.forever(Effect.gen(function*() {
          yield* eventsCommitted.await
          eventsCommitted.closeUnsafe()
          hasEvents = true
          wake.openUnsafe()
          yield* Effect.sleep(gatherMs)
        })))
        yield* Effect.forkScoped(Effect.repeat(
          Effect.sync(() => {
            hasEvents = true
            isPollDue = true
            wake.openUnsafe()
          }),
          Schedule.spaced(pollMs)
        ))
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(wake.await, round)))

        const beginDrain = Effect.map(monotonicMs, (now) => {
          drainBegunAt ??= now
        })

        // deliveries in flight end or are released; remaining leases expire
        yield* Effect.addFinalizer(() =>
          Effect.gen(function*() {
            yield* beginDrain
            const now = yield* monotonicMs
            const ended = yield* Effect.timeoutOption(untilIdle, Math.max(0, (drainBegunAt ?? now) + drainMs - now))
            if (ended._tag === "Some") return
            // also by the rounds: a running one may still be leasing deliveries
            isReleasing = true
            yield* untilIdle
          }).pipe(Effect.interruptible, Effect.timeoutOption(drainMs + 1000), Effect.ignore)
        )

        const flush = Effect.suspend(() => {
          hasEvents = true
          isPollDue = true
          return untilIdle
        })

        return WebhookSender.of({ flush, beginDrain })
      })
    )

  static readonly layer = WebhookSender.layerWith()
}
