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
  "compliance.alert_created"
] as const

export type EventType = (typeof eventTypes)[number]

/** The type of test events that staff send to an endpoint; it cannot be subscribed to. */
export const pingType = "ping"

export const deliveryStatuses = ["pending", "delivered", "failed"] as const

/** `failed` is final until staff retry it. */
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** How long after each failed attempt the next one comes, in minutes. After the last of them there is none. */
const retryDelaysMinutes = [1, 2, 4, 8, 16, 32, 64] as const

/** When to try again after so many attempts, all of them failed, the last at `failedAt`; null: never. Epoch milliseconds. */
export const nextAttemptAt = (type: string, attempts: number, failedAt: number): number | null => {
  const delay = type === pingType ? undefined : retryDelaysMinutes[attempts - 1]
  return delay === undefined ? null : failedAt + delay * 60_000
}

/**
 * The body of a webhook (SPEC section 6.1). `data` is JSON as it was stored; it is not read again on its way out.
 * `createdAt` is the wire form of the instant.
 */
export const envelope = (
  event: { readonly id: number; readonly type: string; readonly createdAt: string; readonly data: string }
): string => {
  const { createdAt, data, id, type } = event
  return `{"id":"${id}","type":${JSON.stringify(type)},"api_version":"v1","created_at":"${createdAt}","data":${data}}`
}
