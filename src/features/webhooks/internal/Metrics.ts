/** What the sending of webhooks measures of itself. */
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
  description: "Deliveries that are being tried by this process"
})

export const attemptSeconds = Metric.histogram("webhook_attempt_seconds", {
  description: "Time of one attempt to deliver",
  boundaries: Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 14 })
})

export const outboxLagSeconds = Metric.gauge("webhook_outbox_lag_seconds", {
  description: "Age of the oldest event that was not turned into deliveries yet"
})

export const deliveryLagSeconds = Metric.gauge("webhook_delivery_lag_seconds", {
  description: "How long the delivery that waits longest has been due"
})

export const outboxPending = Metric.gauge("webhook_outbox_pending", {
  description: "Events that were not turned into deliveries yet, counted up to 100000"
})

export const deliveriesPending = Metric.gauge("webhook_deliveries_pending", {
  description: "Deliveries that are still to succeed, counted up to 100000"
})
