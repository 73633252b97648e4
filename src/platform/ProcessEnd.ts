/** Ends the process together with the npm that started it, and in bounded time. */
import { Effect, Layer, Schedule } from "effect"

/**
 * Ends the process a fixed time after the beginning of its shutdown, even if something hangs, such as an unresponsive database. Acknowledged effects
 * are durable by then. Build it last, so that its time begins first.
 */
export const layerHardStop = (milliseconds: number) =>
  Layer.effectDiscard(Effect.addFinalizer(() =>
    Effect.sync(() => {
      setTimeout(() => process.exit(0), milliseconds).unref()
    })
  ))

const isStartedByNpm = Effect.sync(() => process.env["npm_lifecycle_event"] !== undefined)

/** Read at the start of the process: npm may be killed during the start of the service. */
const parent = process.ppid

/**
 * Drains as on SIGTERM when the parent process has ended. `npm start` forwards SIGTERM and SIGINT; a killed npm forwards nothing, and the service
 * would keep its ports and its database. A service started directly (`node src/main.ts`) belongs to its supervisor.
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
