import { Effect, Layer } from "effect"

/**
 * Ends the process this long after it began to go down, however much still hangs: a service that was told to stop must not be
 * held by a database that never answers. What was acknowledged is durable by then, and what was not was never promised. Build
 * it last, so that its time begins first.
 */
export const layerHardStop = (milliseconds: number) =>
  Layer.effectDiscard(Effect.addFinalizer(() =>
    Effect.sync(() => {
      setTimeout(() => process.exit(0), milliseconds).unref()
    })
  ))
