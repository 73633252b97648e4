/** Graceful shutdown: refuses new requests and asks callers to close their connections. */
import { Context, Effect, Layer } from "effect"
import { monotonicMs } from "../platform/MonotonicClock.ts"

/** Time limit of requests in flight, from the start of the shutdown. */
const graceMs = 8000

export class Drain extends Context.Service<Drain, {
  readonly isDraining: () => boolean
  /** Begins the drain, once; returns the milliseconds left for requests in flight. */
  readonly begin: Effect.Effect<number>
}>()("pitboss/http/Drain") {
  static readonly layer = Layer.sync(Drain, () => {
    // Kept: begunAt. Since when it takes no requests. Several nodes: its own.
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
