/** Metrics of the actors, read at scrape time so that commands have no overhead. */
import { Effect, Metric } from "effect"
import { registerCounter, registerGauge } from "../../platform/Metrics.ts"

const residentGauge = Metric.gauge("actors_resident", { description: "Actors in memory" })
const waitingGauge = Metric.gauge("actors_commands_waiting", { description: "Commands in all mailboxes" })
const longestMailboxGauge = Metric.gauge("actors_longest_mailbox", { description: "Commands in the fullest mailbox" })
const stalledGauge = Metric.gauge("journal_stalled_seconds", {
  description: "Time without a successful write; 0 when the last commit succeeded"
})
const refusedTotal = Metric.counter("actors_refused_total", {
  description: "Commands refused because a mailbox, the memory or the service was full",
  incremental: true
})
const loadsTotal = Metric.counter("actors_loads_total", { description: "Actors loaded into memory", incremental: true })
const reloadsTotal = Metric.counter("actors_reloads_total", {
  description: "Actors loaded again after a rejected or unknown commit",
  incremental: true
})
const passivationsTotal = Metric.counter("actors_passivations_total", {
  description: "Actors removed from memory, idle or to make room",
  incremental: true
})

/** Counters since the start. */
export interface ActorCounts {
  refused: number
  loads: number
  reloads: number
  passivations: number
}

/** Exports them until the scope closes. */
export const registerActorMetrics = Effect.fnUntraced(function*(actors: {
  readonly resident: () => number
  readonly waiting: () => number
  readonly longestMailbox: () => number
  readonly counts: Readonly<ActorCounts>
  readonly stalledMs: () => number
}) {
  const { counts } = actors
  yield* registerGauge(residentGauge, actors.resident)
  yield* registerGauge(waitingGauge, actors.waiting)
  yield* registerGauge(longestMailboxGauge, actors.longestMailbox)
  yield* registerCounter(refusedTotal, () => counts.refused)
  yield* registerCounter(loadsTotal, () => counts.loads)
  yield* registerCounter(reloadsTotal, () => counts.reloads)
  yield* registerCounter(passivationsTotal, () => counts.passivations)
  yield* registerGauge(stalledGauge, () => actors.stalledMs() / 1000)
})
