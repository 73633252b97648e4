import { Context, Effect, Layer } from "effect"
import { monotonicMs } from "../platform/MonotonicClock.ts"

/** How long requests in flight have to end, from the moment the service begins to go down. */
const graceMs = 8000

/**
 * Whether the service is on its way out: it then takes no new requests and asks its callers to let go of their
 * connections.
 */
export class Drain extends Context.Service<Drain, {
  readonly isDraining: () => boolean
  /** Begins, unless that has happened; gives the milliseconds left for what is in flight. */
  readonly begin: Effect.Effect<number>
}>()("pitboss/http/Drain") {
  static readonly layer = Layer.sync(Drain, () => {
    let begunAt: number | undefined
    return {
      isDraining: () => begunAt !== undefined,
      begin: Effect.map(monotonicMs, (now) => {
        begunAt ??= now
        return Math.max(0, begunAt + graceMs - now)
      })
    }
  })
}
