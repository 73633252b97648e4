import { Effect, Scheduler } from "effect"

/** Runs a function at the end of this turn of the event loop. */
export const makeTurnEnd = Effect.map(Scheduler.Scheduler, (scheduler) => {
  const dispatcher = scheduler.makeDispatcher()
  return (act: () => void): void => dispatcher.scheduleTask(act, 0)
})
