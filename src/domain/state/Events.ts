/** Webhook events and the schedule of their delivery attempts (SPEC section 6). */

/** SPEC section 6.2. */
export const eventTypes = [
  "player.registered",
  "deposit.paid",
  "withdrawal.requested",
  "withdrawal.paid",
  "withdrawal.rejected",
  "bonus.granted",
  "bonus.completed",
  "kyc.status_changed",
  "obligation.created",
  "obligation.met",
  "compliance.alert_created"
] as const

export type EventType = (typeof eventTypes)[number]

/** Type of the test events that staff send; no endpoint can subscribe to it. */
export const pingType = "ping"

/** States of a delivery: `retrying` between two attempts, `failed` is final until staff retry it. */
export const deliveryStatuses = ["pending", "retrying", "delivered", "failed"] as const

export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** Delay before each retry, in minutes; the attempt after the last one is final. */
const retryDelaysMinutes = [1, 2, 4, 8, 16, 32, 64] as const

/** Time of the next attempt after `attempts` failures, the last at `failedAt`; null when there is none. Epoch milliseconds. */
export const nextAttemptAt = (type: string, attempts: number, failedAt: number): number | null => {
  const delay = type === pingType ? undefined : retryDelaysMinutes[attempts - 1]
  return delay === undefined ? null : failedAt + delay * 60_000
}

/** Body of a webhook (SPEC section 6.1). `data` is the stored JSON text, not parsed again. `createdAt` is the instant in wire form. */
export const envelope = (
  event: { readonly id: number; readonly type: string; readonly createdAt: string; readonly data: string }
): string => {
  const { createdAt, data, id, type } = event
  return `{"id":"${id}","type":${JSON.stringify(type)},"api_version":"v1","created_at":"${createdAt}","data":${data}}`
}
