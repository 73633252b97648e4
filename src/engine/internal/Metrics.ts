/** What the engine measures of itself: per commit and per load, never per command. */
import { Metric } from "effect"

export const batchSize = Metric.histogram("journal_batch_units", {
  description: "Units in one group commit",
  boundaries: Metric.exponentialBoundaries({ start: 1, factor: 2, count: 12 })
})

export const commitSeconds = Metric.histogram("journal_commit_seconds", {
  description: "Time of one group commit",
  boundaries: Metric.exponentialBoundaries({ start: 0.0005, factor: 2, count: 14 })
})

export const residentActors = Metric.gauge("actors_resident", { description: "Players held in memory" })

export const waitingCommands = Metric.gauge("actors_commands_waiting", { description: "Commands in all mailboxes" })

export const actorLoads = Metric.counter("actors_loads_total", { description: "Players loaded", incremental: true })

export const actorReloads = Metric.counter("actors_reloads_total", {
  description: "Players reloaded after a rejected or unknown commit",
  incremental: true
})
