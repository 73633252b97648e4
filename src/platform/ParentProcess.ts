/**
 * Ends the service with the npm that started it. `npm start` passes SIGTERM and SIGINT on; a killed npm passes nothing on, and the service
 * would keep its ports and its database. A service started directly (`node src/main.ts`) belongs to its supervisor.
 */
import { Effect, Layer, Schedule } from "effect"

const isStartedByNpm = Effect.sync(() => process.env["npm_lifecycle_event"] !== undefined)

/** Drains as on SIGTERM when the parent process is gone. */
export const layerEndWithParent = Layer.effectDiscard(Effect.gen(function*() {
  if (!(yield* isStartedByNpm)) return
  const parent = process.ppid
  const watch = Effect.sync(() => process.ppid === parent).pipe(
    Effect.repeat({ while: (isThere) => isThere, schedule: Schedule.spaced("250 millis") }),
    Effect.andThen(Effect.logWarning("parent process ended, draining")),
    Effect.andThen(Effect.sync(() => process.kill(process.pid, "SIGTERM")))
  )
  yield* Effect.forkScoped(watch)
}))
