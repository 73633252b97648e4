import { Effect, Layer } from "effect"

/**
 * Ends the process at a fixed time after its shutdown began, whatever still hangs: a database that never answers must not hold it.
 * Acknowledged effects are durable by then. Build it last, so that its time begins first.
 */
export const layerHardStop = (milliseconds: number) =>
  Layer.effectDiscard(Effect.addFinalizer(() =>
    Effect.sync(() => {
      setTimeout(() => process.exit(0), milliseconds).unref()
    })
  ))
