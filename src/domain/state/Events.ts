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
  "player.self_excluded",
  "player.register_excluded",
  "player.register_cleared",
  "obligation.created",
  "obligation.met",
  "limit.raise_confirmable",
  "reality_check.due",
  "player.dormant",
  "compliance.alert_created",
  "compliance.case_opened",
  "compliance.case_closed",
  "data_request.completed"
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
  event: {
    readonly id: number
    readonly type: string
    readonly createdAt: string
    /** Number among the player's events; null where no player is concerned. */
    readonly playerSequence: number | null
    readonly data: string
  }
): string => {
  const { createdAt, data, id, playerSequence, type } = event
  const sequence = playerSequence === null ? "" : `"player_sequence":${playerSequence},`
  return `{"id":"${id}","type":${
    JSON.stringify(type)
  },"api_version":"v1","created_at":"${createdAt}",${sequence}"data":${data}}`
}

/** What the order of events depends on. */
interface UnnumberedEvent {
  readonly id: number
  readonly playerId: number | null
  /** Version of the player's state that the event is of. */
  readonly playerVersion: number
  readonly createdAt: Date
}

/**
 * Events in the order in which they are numbered: by id, but those of one player by the order of their effects. Ids are taken in blocks by processes, so
 * that of a player who has moved to another node the later event may have the lower id. What changes no state, such as a case that is opened, has the
 * version of its player then, and of one version the earlier time comes first.
 */
export const inOrderOfEffects = <Event extends UnnumberedEvent>(events: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const byId = events.toSorted((one, other) => one.id - other.id)
  const ofPlayers = Map.groupBy(byId, ({ playerId }) => playerId)
  for (const [playerId, own] of ofPlayers) {
    if (playerId !== null) {
      own.sort((one, other) =>
        one.playerVersion - other.playerVersion || one.createdAt.getTime() - other.createdAt.getTime() ||
        one.id - other.id
      )
    }
  }
  const taken = new Map<number | null, number>()
  return byId.map((event) => {
    const place = taken.get(event.playerId) ?? 0
    taken.set(event.playerId, place + 1)
    return ofPlayers.get(event.playerId)?.[place] ?? event
  })
}
