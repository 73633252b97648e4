/** End of the process: with the npm that started it, and in bounded time. */
import { Effect, Layer, Schedule } from "effect"

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

const isStartedByNpm = Effect.sync(() => process.env["npm_lifecycle_event"] !== undefined)

/** Read when the process begins: npm may be killed while the service still starts. */
const parent = process.ppid

/**
 * Drains as on SIGTERM when the parent process has ended. `npm start` passes SIGTERM and SIGINT on; a killed npm passes nothing on, and the
 * service would keep its ports and its database. A service started directly (`node src/main.ts`) belongs to its supervisor.
 */
export const layerEndWithParent = Layer.effectDiscard(Effect.gen(function*() {
  if (!(yield* isStartedByNpm)) return
  const watch = Effect.sync(() => process.ppid === parent).pipe(
    Effect.repeat({ while: (isThere) => isThere, schedule: Schedule.spaced("250 millis") }),
    Effect.andThen(Effect.logWarning("parent process ended, draining")),
    Effect.andThen(Effect.sync(() => process.kill(process.pid, "SIGTERM")))
  )
  yield* Effect.forkScoped(watch)
}))
