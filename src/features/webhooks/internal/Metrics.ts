/** Webhook metrics: attempts, deliveries, and lag of outbox and deliveries. */
import { Metric } from "effect"

export const attemptsTotal = Metric.counter("webhook_attempts_total", {
  description: "Attempts to deliver an event, by result",
  incremental: true
})

export const deliveriesTotal = Metric.counter("webhook_deliveries_total", {
  description: "Deliveries that ended, by result",
  incremental: true
})

export const inFlight = Metric.gauge("webhook_deliveries_in_flight", {
  description: "Deliveries in flight from this process"
})

export const attemptSeconds = Metric.histogram("webhook_attempt_seconds", {
  description: "Time of one attempt to deliver",
  boundaries: Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 14 })
})

export const outboxLagSeconds = Metric.gauge("webhook_outbox_lag_seconds", {
  description: "Age of the oldest event without deliveries"
})

export const deliveryLagSeconds = Metric.gauge("webhook_delivery_lag_seconds", {
  description: "Time since the oldest pending delivery was due"
})

export const outboxPending = Metric.gauge("webhook_outbox_pending", {
  description: "Events without deliveries, counted up to 100000"
})

export const deliveriesPending = Metric.gauge("webhook_deliveries_pending", {
  description: "Pending deliveries, counted up to 100000"
})
